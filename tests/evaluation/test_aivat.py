"""AIVAT by full enumeration of Kuhn and Leduc, by Monte Carlo, and at its edges."""

import dataclasses
import functools
import os

import numpy as np
import pytest
from reference.poker_game import PokerGame, decks

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import Agent, RangeAgent, Strategy
from plurispiel.agents.baselines.equity import EquityAgent
from plurispiel.agents.baselines.simple import CallAgent, FoldAgent, RaiseAgent, RandomAgent
from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent
from plurispiel.agents.openspiel import PolicyAgent
from plurispiel.agents.tabular.solution import solution_of
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.value_functions import NO_CARD, Checkdown, Situation, ValueFunction

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

KUHN3 = dataclasses.replace(KUHN, blinds=(1, 1, 1), num_ranks=4)
FORMS = ("raw", "imaginary", "chance", "chance and own", "full")


class Remembering(RangeAgent):
    """Another agent of a game with one hole card, asked once for each public state, suits aside.

    Solvers break ties between equal hands by rounding; here hands of one rank play alike.
    """

    def __init__(self, agent):
        self.agent = agent
        self.told = {}

    def range_strategy(self, public):
        key = (tuple(card // 4 for card in public.board), public.actions)
        if key not in self.told:
            told = self.agent.range_strategy(public)
            ranks = public.rules.combos[:, 0] // 4
            free = public.rules.free_combos(public.board)
            rows = [told.probabilities[free & (ranks == rank)].mean(axis=0) for rank in ranks]
            self.told[key] = Strategy(told.actions, np.array(rows), told.highest)
        return self.told[key]

    def strategy(self, public, combo_ids):
        told = self.range_strategy(public)
        return Strategy(told.actions, told.probabilities[combo_ids])


class Expected(ValueFunction):
    """The true expectation under given strategies, or noise added to nothing."""

    def __init__(self, name, game, factor=1.0):
        self.name = name
        self.game = game
        self.factor = factor
        self.memory = {}

    def values(self, situation):
        key = (situation.seat, situation.hole_cards.tobytes(), situation.board, situation.actions)
        if key not in self.memory:
            values = np.zeros(situation.rules.num_combos)
            for combo in np.flatnonzero(situation.holdable()).tolist():
                hole_cards = situation.hole_cards.copy()
                hole_cards[situation.seat] = situation.rules.combos[combo]
                deck = np.zeros(situation.rules.num_dealt_cards, dtype=np.uint8)
                deck[: hole_cards.size] = hole_cards.ravel()
                deck[hole_cards.size :][: len(situation.board)] = situation.board
                values[combo] = self.game.value(deck, len(situation.board), situation.actions, situation.seat)
            self.memory[key] = values * self.factor
        return self.memory[key]


class Zero(ValueFunction):
    """Knows nothing."""

    name = "zero"

    def values(self, situation):
        return np.zeros(situation.rules.num_combos)


class Noise(ValueFunction):
    """Random numbers that depend on nothing but the ranks in sight and the actions."""

    name = "noise"
    num_samples = 64

    def __init__(self, scale=3.0):
        self.scale = scale

    def values(self, situation):
        others = np.sort(situation.hole_cards // 4, axis=1).ravel().tolist()
        words = [
            *others,
            99,
            *sorted(card // 4 for card in situation.board),
            98,
            *(a.action for a in situation.actions),
        ]
        by_rank = np.random.default_rng([situation.seat, *words]).normal(size=13)
        return self.scale * by_rank[situation.rules.combos // 4].sum(axis=1)


@functools.cache
def distinct_decks(rules):
    """Return one deck for each deal of ranks, and the chance of that deal."""
    found = {}
    ends = [rules.num_hole_cards * seat for seat in range(1, rules.num_seats + 1)]
    ends += [ends[-1] + rules.board_size(street) for street in range(rules.num_streets - 1)]
    for deck in decks(rules):
        dealt = b"".join(bytes(np.sort(part // 4)) for part in np.split(deck, ends))
        found.setdefault(dealt, [deck, 0])[1] += 1
    total = sum(count for _, count in found.values())
    return [(deck, count / total) for deck, count in found.values()]


def enumerate_scores(rules, agents, value_function):
    """Return every seat's mean and standard deviation in each form: float64[num_seats, 8] both."""
    game = PokerGame(rules, agents)
    aivat = Aivat(rules, value_function)
    rows, chances = [], []
    for deck, chance in distinct_decks(rules):
        aivat.restart(np.random.default_rng(0))
        for hand, reach in game.hands(deck):
            rows.append([forms(score) for score in aivat.scores(hand, agents, range(rules.num_seats))])
            chances.append(chance * np.prod(reach))
    rows, chances = np.array(rows), np.array(chances)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    means = np.tensordot(chances, rows, axes=1)
    return means, np.sqrt(np.tensordot(chances, (rows - means) ** 2, axes=1))


def forms(score):
    assert score.refused == ""
    return (
        score.payoff,
        score.payoff + score.imaginary_hands,
        score.payoff + score.true_chance,
        score.payoff + score.true_chance + score.true_own_actions,
        score.estimate - score.other_actions,
        score.estimate,
        score.reduced,
        score.reduced + score.true_own_actions,
    )


@functools.cache
def equilibrium(rules):
    """Return the average strategy of 3,000 iterations of CFR+ as an agent."""
    name = "leduc_poker" if rules is LEDUC else game_string(rules)
    tree = flatten(name)
    solver = make_solver(tree, "cfr+")
    solver.run(3_000)
    return Remembering(PolicyAgent(solution_of(tree, solver), name))


def value_functions(rules, agents):
    own = PokerGame(rules, [agents[0]] * rules.num_seats)
    return [Zero(), Noise(), Expected("self-play", own), Expected("exact", PokerGame(rules, agents)), Checkdown()]


@pytest.mark.parametrize("opponent", ["equilibrium", "uniform"])
@pytest.mark.parametrize("rules", [KUHN, KUHN3, pytest.param(LEDUC, marks=jit_only)], ids=["kuhn", "kuhn3", "leduc"])
def test_no_form_is_biased(rules, opponent):
    ours = equilibrium(rules)
    theirs = ours if opponent == "equilibrium" else Remembering(RandomAgent())
    agents = [ours] + [theirs] * (rules.num_seats - 1)
    spread = {}
    for value_function in value_functions(rules, agents):
        means, deviations = enumerate_scores(rules, agents, value_function)
        assert abs(means - means[:, :1]).max() <= 1e-12, value_function.name
        assert abs(means[:, 0].sum()) <= 1e-12
        spread[value_function.name] = deviations
        print(opponent, value_function.name, abs(means - means[:, :1]).max(), deviations[0].round(4).tolist())
        if rules is LEDUC and value_function.name in ("exact", "self-play"):  # each correction takes luck away
            raw, imaginary, chance, chance_and_own, full = deviations[0, :5]
            assert max(imaginary, chance) < raw and full < chance_and_own < chance
            if opponent == "equilibrium":  # indifferent among its actions against our whole range
                assert full <= 0.02
    assert spread["zero"][:, 4] == pytest.approx(spread["zero"][:, 1], abs=1e-12)  # imaginary hands alone
    assert (spread["exact"][:, 4] < 0.7 * spread["exact"][:, 0]).all()
    assert (spread["exact"][:, 4] < spread["noise"][:, 4]).all()
    if rules.num_seats == 2:
        assert (spread["exact"][:, [5, 7]] < 1e-9).all()  # nothing is left to luck
        assert (spread["exact"][:, 6] < spread["exact"][:, 2]).all()  # the opponent's word helps who tells nothing
    assert (spread["exact"][:, 5] < spread["exact"][:, 4] + 1e-12).all()


@pytest.mark.parametrize("rules", [KUHN, pytest.param(LEDUC, marks=jit_only)], ids=["kuhn", "leduc"])
def test_who_tells_nothing_is_corrected_by_what_a_trusted_opponent_tells(rules):
    """The reduced form is the same whether the agent tells its strategy or not, hand by hand."""
    ours, theirs = Remembering(TightAggressiveAgent()), Remembering(RandomAgent())
    game, aivat = PokerGame(rules, [ours, theirs]), Aivat(rules)
    differ = 0
    for deck, _ in distinct_decks(rules):
        aivat.restart(np.random.default_rng(0))
        for hand, _ in game.hands(deck):
            told = aivat.scores(hand, [ours, theirs], (0, 1))[0]
            silent = aivat.scores(hand, [Agent(), theirs], (1,))[0]
            alone = aivat.scores(hand, [Agent(), theirs])[0]
            assert silent.estimate is alone.estimate is None
            assert silent.reduced == pytest.approx(told.reduced, abs=1e-12)
            assert alone.reduced == silent.payoff + silent.true_chance  # nobody is trusted
            differ += alone.reduced != silent.reduced
    assert differ > 0


def monte_carlo(num_hands):
    ours, theirs = equilibrium(LEDUC), Remembering(RandomAgent())
    truth, _ = enumerate_scores(LEDUC, [ours, theirs], Checkdown())
    rng = np.random.default_rng(7)
    rngs = rng.spawn(2)
    aivat = Aivat(LEDUC)
    scores = []
    for _ in range(num_hands):
        hand = play_hand(LEDUC, [ours, theirs], deal_deck(LEDUC, rng), rngs)
        scores.append([forms(score) for score in aivat.scores(hand, [ours, theirs], (0, 1))])
    scores = np.array(scores)
    error = scores.std(axis=0, ddof=1) / num_hands**0.5
    assert (abs(scores.mean(axis=0) - truth) <= 4.0 * error).all()
    assert (error[:, 4] < 0.7 * error[:, 0]).all()


@jit_only
def test_hands_that_are_played_average_to_the_true_value():
    monte_carlo(3_000)


@jit_only
@pytest.mark.slow
def test_many_hands_that_are_played_average_to_the_true_value():
    monte_carlo(100_000)


TINY_NO_LIMIT = HoldemRules(blinds=(1, 1), stacks=(5, 5), num_suits=1, num_ranks=3, num_hole_cards=1)
SIDE_POTS = HoldemRules(
    blinds=(1, 2, 0),
    stacks=(3, 6, 4),
    first_seats=(2, 0),
    board_cards=(0, 1),
    num_suits=1,
    num_ranks=4,
    num_hole_cards=1,
    betting_abstraction="fcpa",
)


class Skewed(RangeAgent):
    """Raises with high cards to sizes out of overlapping ranges, folds low ones."""

    def strategy(self, public, combo_ids):
        high = (public.rules.combos[combo_ids] // 4).mean(axis=1) / public.rules.num_ranks
        columns = (
            [0.5 * (1 - high), 0.2 + 0.3 * high] if public.can_fold else [np.full(len(combo_ids), 0.7 - 0.2 * high)]
        )
        lows = highs = [FOLD, CALL] if public.can_fold else [CALL]
        if public.max_raise:
            rest = 1.0 - sum(columns)
            middle = (public.min_raise + public.max_raise) // 2
            columns = [*columns, rest * high, rest * (1 - high)]
            lows, highs = [*lows, public.min_raise, middle], [*highs, public.max_raise, public.max_raise]
        else:
            columns[-1] = 1.0 - sum(columns[:-1])
        return Strategy(np.array(lows), np.stack(columns, axis=1), np.array(highs))


@pytest.mark.parametrize("agent", [RandomAgent, Skewed])
def test_raises_out_of_a_range_of_sizes_bring_no_bias(agent):
    agents = [Remembering(agent()), Remembering(RandomAgent())]
    game = PokerGame(TINY_NO_LIMIT, agents)
    for value_function in (Expected("exact", game), Checkdown(), Noise()):
        means, _ = enumerate_scores(TINY_NO_LIMIT, agents, value_function)
        assert abs(means - means[:, :1]).max() <= 1e-12


def test_side_pots_bring_no_bias():
    agents = [Remembering(agent()) for agent in (RandomAgent, RandomAgent, RaiseAgent)]
    for value_function in (Checkdown(), Noise()):
        means, deviations = enumerate_scores(SIDE_POTS, agents, value_function)
        assert abs(means - means[:, :1]).max() <= 1e-12
    wide = enumerate_scores(SIDE_POTS, agents, Noise(30.0))[0]
    assert abs(wide - means[:, :1]).max() <= 1e-11


SHORT_DECK = HoldemRules(  # three all-ins of different sizes, hands of four cards, two of them on the board at once
    blinds=(1, 2, 0),
    stacks=(3, 7, 5),
    first_seats=(2, 0),
    board_cards=(0, 2),
    num_suits=2,
    num_ranks=4,
    num_hole_cards=2,
    betting_abstraction="fcpa",
)


class NoiseOfAllDeals(Noise):
    """Noise whose mean over the deals is exact; by default it is sampled, and unbiased over samples only."""

    def deal_mean(self, rules, seat):
        return _deal_mean(self, rules, seat)


@functools.cache
def _deal_mean(value_function, rules, seat):
    cards = rules.num_seats * rules.num_hole_cards
    total = 0.0
    for deck, chance in distinct_decks(rules):
        hole_cards = deck[:cards].reshape(rules.num_seats, -1).copy()
        own = rules.combo_id(hole_cards[seat].tolist())
        hole_cards[seat] = NO_CARD
        total += chance * value_function.values(Situation(rules, seat, hole_cards, (), (), []))[own]
    return total


@jit_only
@pytest.mark.parametrize(
    ("agent", "value_function"),
    [
        (RaiseAgent, Checkdown),
        pytest.param(Skewed, Checkdown, marks=pytest.mark.slow),
        pytest.param(Skewed, NoiseOfAllDeals, marks=pytest.mark.slow),
    ],
)
def test_side_pots_with_two_hole_cards_bring_no_bias(agent, value_function):
    agents = [RandomAgent(), agent(), Skewed()]
    means, deviations = enumerate_scores(SHORT_DECK, agents, value_function())
    assert abs(means - means[:, :1]).max() <= 1e-12
    if value_function is Checkdown:
        assert (deviations[:, 4] < deviations[:, 0]).all()


class Silent(Agent):
    """Calls, and tells nothing."""

    def act(self, view):
        return CALL


class Told(Agent):
    """Calls, and tells whatever it is given to tell."""

    def __init__(self, tell):
        self.tell = tell

    def act(self, view):
        return CALL

    def range_strategy(self, public):
        return self.tell(public)


def score_of(rules, agent, others, seed=1):
    agents = [agent, *others]
    rng = np.random.default_rng(seed)
    hand = play_hand(rules, agents, deal_deck(rules, rng), rng.spawn(rules.num_seats))
    aivat = Aivat(rules)
    return aivat.scores(hand, agents)[0], hand


@jit_only
@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six"])
def test_an_agent_that_tells_nothing_gets_the_correction_of_chance_only(rules):
    others = [TightAggressiveAgent() for _ in range(rules.num_seats - 1)]
    silent, hand = score_of(rules, Silent(), others)
    told, same = score_of(rules, CallAgent(), others)
    assert hand.actions == same.actions
    assert silent.estimate is silent.chance is silent.imaginary_hands is silent.own_actions is None
    assert silent.true_own_actions is None and silent.refused == ""
    assert silent.true_chance == told.true_chance != 0.0
    assert told.estimate is not None and told.estimate != told.payoff


@jit_only
def test_what_an_agent_says_is_checked():
    def rows(*columns):
        return np.tile(np.array(columns, dtype=float), (1326, 1))

    told = {
        "no probabilities": lambda public: Strategy(np.array([CALL]), rows(0.9)),
        "its rows are no probabilities": lambda public: Strategy(np.array([CALL, 300]), rows(1.5, -0.5)),
        "got shapes": lambda public: Strategy(np.array([CALL]), np.ones((7, 1))),
        "not legal": lambda public: Strategy(np.array([CALL, 31]), rows(0.5, 0.5)),
        "does not name 1": lambda public: Strategy(np.array([300]), rows(1.0)),
        "probability 0 with every hand": lambda public: Strategy(np.array([CALL, 300]), rows(0.0, 1.0)),
        "ZeroDivisionError": lambda public: 1 / 0,
        "AttributeError": lambda public: "raise",
        "NaN is none": lambda public: Strategy(np.array([CALL]), rows(np.nan)),
    }
    for what, tell in told.items():
        score, _ = score_of(HUNL, Told(tell), [CallAgent()])
        assert score.estimate is None, what
        assert score.refused, what
        assert np.isfinite(score.true_chance)
        if "NaN" not in what and "no prob" not in what:
            assert what in score.refused


@jit_only
def test_rows_of_hands_on_the_board_mean_nothing():
    def tell(public):
        probabilities = np.ones((1326, 1))
        probabilities[[bool(set(cards) & set(public.board)) for cards in public.rules.combos.tolist()]] = np.nan
        return Strategy(np.array([CALL]), probabilities)

    score, hand = score_of(HUNL, Told(tell), [CallAgent()])
    assert hand.showdown and score.refused == ""
    assert score.estimate == score_of(HUNL, CallAgent(), [CallAgent()])[0].estimate


@jit_only
def test_a_seat_that_committed_a_fault_is_not_scored_by_its_strategy():
    class Illegal(CallAgent):
        def act(self, view):
            return 10**9 if view.public.board else CALL

    score, hand = score_of(HUNL, Illegal(), [CallAgent()])
    assert hand.faults and score.estimate is None
    assert "fault" in score.refused


@jit_only
def test_decisions_are_kept_with_their_probabilities():
    score, hand = score_of(SIXMAX, RandomAgent(), [CallAgent() for _ in range(5)])
    own = [action for action in hand.actions if action.seat == 0]
    assert len(score.decisions) == len(own)
    for (played, actions, probabilities), action in zip(score.decisions, own, strict=True):
        assert sum(probabilities) == pytest.approx(1.0)
        assert actions[played] == action.action if action.action <= CALL else actions[played] <= action.action


def test_hands_of_one_deck_share_their_values():
    asked = []

    class Counting(Zero):
        def deal_mean(self, rules, seat):
            asked.append(seat)
            return 0.0

    aivat = Aivat(SIXMAX, Counting())
    rng = np.random.default_rng(3)
    agents = [FoldAgent() for _ in range(6)]
    hand = play_hand(SIXMAX, agents, deal_deck(SIXMAX, rng), rng.spawn(6))
    first = [aivat.scores(hand, agents) for _ in range(3)][0]
    assert asked == list(range(6))
    aivat.restart(rng)
    assert aivat.scores(hand, agents) == first
    aivat.scores(hand, agents)
    assert len(asked) == 12


@jit_only
@pytest.mark.parametrize("agent", [TightAggressiveAgent, EquityAgent, RandomAgent])
def test_holdem_means_agree_with_raw(agent):
    agents = [agent(), CallAgent(), RaiseAgent()]
    rules = HoldemRules(blinds=(50, 100, 0), stacks=(2_000,) * 3, first_seats=(2, 0, 0, 0), board_cards=(0, 3, 1, 1))
    rng = np.random.default_rng(12)
    rngs = rng.spawn(3)
    plain, scaled, noise = Aivat(rules), Aivat(rules, Scaled(10.0)), Aivat(rules, Noise(500.0))
    differences = []
    for _ in range(40):
        hand = play_hand(rules, agents, deal_deck(rules, rng), rngs)
        scores = [aivat.scores(hand, agents)[0] for aivat in (plain, scaled, noise)]
        differences.append([score.estimate - score.payoff for score in scores])
    differences = np.array(differences)
    error = differences.std(axis=0, ddof=1) / len(differences) ** 0.5
    assert (abs(differences.mean(axis=0)) < 4.0 * error).all()


class Scaled(Checkdown):
    """Checkdown's values times a factor."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def values(self, situation):
        return self.factor * super().values(situation)

    def deal_mean(self, rules, seat):
        return self.factor * super().deal_mean(rules, seat)


@jit_only
def test_terms_sum_to_the_corrections_and_belong_to_events():
    agents = [TightAggressiveAgent(), RandomAgent(), CallAgent()]
    rules = no_limit_holdem(3)
    aivat = Aivat(rules)
    kinds = set()
    for seed in range(6):
        rngs = [np.random.default_rng((seed, seat)) for seat in range(4)]
        hand = play_hand(rules, agents, deal_deck(rules, rngs[3]), rngs[:3])
        for seat, score in enumerate(aivat.scores(hand, agents, {0, 1})):
            sums = dict.fromkeys(("deal", "board", "action", "other", "showdown"), 0.0)
            true_sums = dict(sums)
            for term in score.terms:
                sums[term.kind] += term.chips
                true_sums[term.kind] += term.true_chips
                assert term.kind != "action" or hand.actions[term.num_actions].seat == seat
                assert term.kind != "other" or hand.actions[term.num_actions].seat in {0, 1} - {seat}
            assert score.chance == pytest.approx(sums["deal"] + sums["board"], abs=1e-9)
            assert score.true_chance == pytest.approx(true_sums["deal"] + true_sums["board"], abs=1e-9)
            assert score.own_actions == pytest.approx(sums["action"], abs=1e-9)
            assert score.true_own_actions == pytest.approx(true_sums["action"], abs=1e-9)
            assert score.other_actions == pytest.approx(sums["other"], abs=1e-9)
            assert score.imaginary_hands == pytest.approx(sums["showdown"], abs=1e-9)
            assert [term.num_actions for term in score.terms] == sorted(term.num_actions for term in score.terms)
            kinds |= sums.keys() & {term.kind for term in score.terms}
        said = aivat.announced
        assert [len(seat) for seat in said] == [sum(a.seat == k for a in hand.actions) for k in range(3)]
    assert len(kinds) == 5
