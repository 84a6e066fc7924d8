import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.agents import Agent, Decision, PublicState, RangeAgent, Strategy
from plurispiel.agents.baselines.tight_aggressive import starting_hands
from plurispiel.agents.specs import BUILT_IN, make_agent
from plurispiel.evaluation.compliance import check_agent
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.streams import Seeded, Streams

ODD_DECK = HoldemRules(
    blinds=(100, 50), stacks=(600, 900), first_seats=(1, 0, 0), board_cards=(0, 3, 1), num_suits=3, num_ranks=6
)
THREE_CARDS = HoldemRules(
    blinds=(10, 20, 0),
    stacks=(400, 300, 500),
    first_seats=(2, 0),
    board_cards=(0, 2),
    num_suits=2,
    num_ranks=7,
    num_hole_cards=3,
)
GAMES = [HUNL, SIXMAX, LEDUC, KUHN, HULH, no_limit_holdem(3, 2_000), SIXMAX.with_menu("fchpa"), ODD_DECK, THREE_CARDS]


def public_after(rules, actions, board=""):
    state = BettingState(rules)
    for action in actions:
        state.apply(action)
    return PublicState(rules, state.array.tolist(), parse_cards(board))


@pytest.mark.parametrize("name", BUILT_IN)
def test_keeps_the_contract(name):
    report = check_agent(lambda: make_agent(name), GAMES, num_hands=60, num_decks=6)
    assert report.violations == []
    assert report.tells_range
    assert report.decisions > 500


@pytest.mark.parametrize(
    ("name", "games", "tells_range"),
    [
        ("openspiel:uniform_random", [LEDUC, KUHN, HUNL.with_menu("fchpa")], False),
        ("openspiel:fixed_action_preference?actions=2:1:0", [LEDUC, SIXMAX.with_menu("fcpa")], False),
        ("openspiel:uniform_restricted_actions?policy_name=HalfCallHalfRaise", [LEDUC, HULH], False),
        ("openspiel:cfr?iterations=5", [LEDUC, KUHN], True),
    ],
)
def test_openspiel_s_agents_keep_the_contract(name, games, tells_range):
    report = check_agent(lambda: make_agent(name), games, num_hands=60, num_decks=6)
    assert report.violations == []
    assert report.tells_range == tells_range


@pytest.mark.parametrize("part", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BUILT_IN)
def test_acts_as_it_says_over_100000_decisions(name, part):
    """By default over a fifth of them."""
    games = [(LEDUC, 36_000), (KUHN, 30_000), (SIXMAX.with_menu("fcpa"), 2_000), (HUNL, 3_000)]
    decisions = 0
    for rules, num_hands in games:  # fold rarely gets to act twice
        report = check_agent(lambda: make_agent(name), [rules], num_hands=num_hands // part, num_decks=5)
        assert report.violations == []
        decisions += report.decisions
    assert decisions >= 100_000 // part


class Cheat(RangeAgent):
    """Reports one thing and does another."""

    def strategy(self, public, combo_ids):
        return Strategy(np.array([CALL]), np.ones((len(combo_ids), 1)))


class Liar(Cheat):
    def act(self, view):
        return FOLD if view.public.can_fold else CALL


class Shy(Cheat):
    """Raises half as often as it says."""

    def strategy(self, public, combo_ids):
        row = [0.5, 0.5] if public.max_raise else [1.0]
        actions = [CALL, public.min_raise] if public.max_raise else [CALL]
        return Strategy(np.array(actions), np.tile(row, (len(combo_ids), 1)))

    def act(self, view):
        raises = view.public.max_raise and self.rng.random() < 0.25
        return view.public.min_raise if raises else CALL


class Peeker(Cheat):
    """Its reported strategy depends on its own cards."""

    def observe(self, event):
        if hasattr(event, "hole_cards"):
            self.high = max(event.hole_cards) // 4

    def strategy(self, public, combo_ids):
        return Strategy(np.array([CALL]), np.full((len(combo_ids), 1), 1.0 + self.high * 1e-12))


class SizePeeker(Cheat):
    """The sizes it may raise to depend on its own cards."""

    def observe(self, event):
        if hasattr(event, "hole_cards"):
            self.high = max(event.hole_cards)

    def strategy(self, public, combo_ids):
        low = public.min_raise or CALL
        highest = low + self.high if public.max_raise > low + 51 else low
        return Strategy(np.array([low]), np.ones((len(combo_ids), 1)), np.array([highest]))


class Forgetful(Agent):
    """Remembers the hand before."""

    hands = 0

    def act(self, view):
        self.hands += 1
        return view.public.raise_by_pot(1.0) if self.hands % 2 else CALL


class Confused(Cheat):
    def act(self, view):
        return Decision(CALL, (CALL, 5), (0.5, 0.5))


class Lengthy(Cheat):
    def act(self, view):
        return Decision(CALL, (CALL,), (1.0, 0.0))


class Nonsense(Cheat):
    def strategy(self, public, combo_ids):
        return Strategy(np.array([CALL]), np.full((len(combo_ids), 1), np.nan))

    def act(self, view):
        return CALL


class Wild(Agent):
    def act(self, view):
        return -3


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Liar, "no chance"),
        (Shy, "range_strategy expects"),
        (Peeker, "depends on the cards held"),
        (SizePeeker, "depends on the cards held"),
        (Forgetful, "plays differently"),
        (Confused, "probabilities of a decision differ"),
        (Lengthy, "probabilities of a decision differ"),
        (Nonsense, "no probabilities"),
        (Wild, "illegal: -3 is not legal"),
    ],
)
def test_a_broken_contract_is_found(agent, message):
    report = check_agent(agent, [HUNL], num_hands=120)
    assert any(message in violation for violation in report.violations), report.violations


def test_random_is_uniform_over_a_finite_menu():
    strategy = make_agent("random").range_strategy(public_after(SIXMAX.with_menu("fchpa"), []))
    assert strategy.actions.tolist() == [FOLD, CALL, 225, 350, 10_000]
    assert (strategy.probabilities == 0.2).all()
    assert strategy.highest is None
    leduc = make_agent("random").range_strategy(public_after(LEDUC, []))
    assert leduc.actions.tolist() == [CALL, 3]
    assert (leduc.probabilities == 0.5).all()


def test_random_in_full_no_limit_draws_the_size_uniformly():
    strategy = make_agent("random").range_strategy(public_after(SIXMAX, []))
    assert strategy.actions.tolist() == [FOLD, CALL, 200]
    assert strategy.highest.tolist() == [FOLD, CALL, 10_000]
    assert strategy.probabilities.shape == (1326, 3)
    np.testing.assert_allclose(strategy.probability(9_999), 1 / 3 / 9_801)
    np.testing.assert_allclose(strategy.probability(199), 0)
    np.testing.assert_allclose(strategy.probability(FOLD), 1 / 3)


def test_fold_checks_when_that_is_free():
    fold = make_agent("fold")
    assert fold.action(public_after(SIXMAX, [])) == FOLD
    assert fold.action(public_after(SIXMAX, [CALL] * 5)) == CALL


def test_raise_bets_the_pot():
    raiser = make_agent("raise")
    assert raiser.action(public_after(SIXMAX, [])) == 350
    assert raiser.action(public_after(HUNL, [CALL, CALL], "2c7d9h")) == 300
    assert raiser.action(public_after(HUNL, [20_000])) == CALL


def test_chen_s_count_orders_starting_hands():
    places = starting_hands()

    def place(text):
        return places[HUNL.combo_id(parse_cards(text))]

    order = ["AsAh", "KsKh", "QsQh", "AsKs", "JsJh", "AsKh", "8s8h", "Ts9s", "7c2d"]
    assert [place(text) for text in order] == sorted((place(text) for text in order), reverse=True)
    assert place("AsAh") == pytest.approx(1 - 3 / 1326)
    assert places.mean() == pytest.approx(0.5)
    assert place("KcQc") == place("KdQd")


def test_tag_opens_more_hands_nearer_to_the_button():
    tag = make_agent("tag")
    shares = []
    for num_folds in range(5):
        strategy = tag.range_strategy(public_after(SIXMAX, [FOLD] * num_folds))
        shares.append(strategy.probabilities[:, -1].mean())
    assert shares == sorted(shares)
    assert 0.1 < shares[0] < 0.2
    assert 0.25 < shares[3] < 0.35


def test_tag_never_folds_aces_before_the_flop():
    aces = SIXMAX.combo_id(parse_cards("AsAh"))
    tag = make_agent("tag")
    for actions in ([], [350], [350, 1_200], [350, 1_200, 4_000], [10_000]):
        strategy = tag.range_strategy(public_after(SIXMAX, actions))
        assert strategy.probabilities[aces, 0] == 0.0


def test_tag_bets_the_nuts_and_folds_air():
    tag = make_agent("tag")
    board = "QsJh2h"
    sets, air = HUNL.combo_id(parse_cards("QhQd")), HUNL.combo_id(parse_cards("5c3d"))
    first = tag.range_strategy(public_after(HUNL, [CALL, CALL], board))
    assert first.actions.tolist() == [CALL, 232]
    assert first.probabilities[sets].tolist() == [0.0, 1.0]
    facing = tag.range_strategy(public_after(HUNL, [CALL, CALL, 300], board))
    assert facing.probabilities[air].tolist() == [1.0, 0.0, 0.0]


def test_equity_weighs_the_price():
    equity = make_agent("equity")
    board = "QsJh2h7c3d"
    facing = public_after(HUNL, [CALL] * 2 + [CALL] * 4 + [400], board)
    strategy = equity.range_strategy(facing)
    assert strategy.actions.tolist()[1:] == [CALL, FOLD]
    folded = strategy.probabilities[:, 2].astype(bool)
    nuts, air = HUNL.combo_id(parse_cards("QhQd")), HUNL.combo_id(parse_cards("5c4d"))
    assert folded[air]
    assert not folded[nuts]


def match(rules, hero, villain, num_decks):
    """Return the hero's rate against copies of the villain in big blinds a hand, over duplicate groups."""
    agents = [make_agent(hero), *[make_agent(villain) for _ in range(rules.num_seats - 1)]]
    contestants = [0, *[1] * (rules.num_seats - 1)]
    streams = Streams(rules.num_seats, Seeded(7))
    rates = []
    for deck in range(num_decks):
        score = play_group(rules, lambda rotation: agents, contestants, streams, (deck,), lambda *_: None)[0]
        rates.append(score.chips / score.hands / rules.big_blind)
    return estimate_mean(np.array(rates))


@pytest.mark.parametrize("villain", ["call", "random", "raise", "fold"])
@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six-handed"])
def test_tag_beats_the_simple_agents(rules, villain):
    result = match(rules, "tag", villain, 3_000 if rules is HUNL else 1_500)
    assert result.mean > result.ci95 > 0
