"""Values of self-play against plain recursion over every deal and all play, and AIVAT with them."""

import dataclasses
import functools
import os

import numpy as np
import pytest
from random_blueprint import random_blueprint
from reference.poker_game import PokerGame, decks

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Action
from plurispiel.agents.baselines.simple import CallAgent, RandomAgent
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.evaluation import betting_lines
from plurispiel.evaluation._hand_plan_kernels import KINDS, NUM_ACTIONS, SEATING
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.blueprint_values import BlueprintValues
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.line_places import LinePlaces
from plurispiel.evaluation.situations import NO_CARD, SEAT, Situation
from plurispiel.evaluation.value_functions import Checkdown, ValueQuestion

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="random words overflow on purpose, which numpy alone reports"
)

LEDUC3 = dataclasses.replace(LEDUC, blinds=(1, 1, 1), num_ranks=4)
KUHN3 = dataclasses.replace(KUHN, blinds=(1, 1, 1), num_ranks=4)
ALL = 10**9
MENU = GameMenu((StreetMenu(("0.5p 1p allin", "allin")), StreetMenu(("1p allin", "allin"), multiway=("1p",))))


def small_blueprint(rules, seed=1):
    return random_blueprint(rules, game_menu(rules), cards=lossless_buckets(rules), seed=seed)


@functools.cache
def holdem_blueprint(rules):
    return random_blueprint(rules, MENU, cards=single_buckets(rules))


def situation_of(rules, deck, seat, actions, board_size):
    """Return what a seat is asked after some actions, with so many board cards of the deck seen."""
    state = BettingState(rules)
    taken = []
    for action in actions:
        taken.append(Action(state.actor, action, state.street))
        state.apply(action)
    shown = rules.num_seats * rules.num_hole_cards
    hole_cards = deck[:shown].reshape(rules.num_seats, rules.num_hole_cards).copy()
    hole_cards[seat] = NO_CARD
    board = tuple(deck[shown : shown + board_size].tolist())
    return Situation(rules, seat, hole_cards, board, tuple(taken), state.array.tolist())


def situations_of(rules, hand, seat):
    """Yield what a seat is asked in a hand: after every action, and after every board card."""
    state = BettingState(rules)
    for number in range(len(hand.actions) + 1):
        actions = [action.action for action in hand.actions[:number]]
        street = 0 if number == 0 else hand.actions[number - 1].street
        sizes = {rules.board_size(street), rules.board_size(min(state.street, rules.num_streets - 1))}
        for size in sorted(sizes):
            yield situation_of(rules, hand.deck, seat, actions, size)
        if number < len(hand.actions):
            state.apply(hand.actions[number].action)


@pytest.mark.parametrize("rules", [LEDUC, KUHN3], ids=["leduc", "kuhn3"])
def test_exact_values_are_those_of_plain_recursion(rules):
    blueprint = small_blueprint(rules)
    agent = BlueprintAgent(blueprint)
    agent.restart(rules, 0, np.random.default_rng(0))
    game = PokerGame(rules, [agent] * rules.num_seats)
    values = BlueprintValues(blueprint, num_worlds=8, small=ALL, num_hands=ALL)
    rng = np.random.default_rng(3)
    compared = 0
    everything = decks(rules)
    for deck in (everything[k] for k in rng.choice(len(everything), 6, replace=False)):
        values.restart(rng)
        for hand, _ in game.hands(deck):
            for seat in range(rules.num_seats):
                for situation in situations_of(rules, hand, seat):
                    own = values.values(situation)
                    for combo in np.flatnonzero(situation.holdable()).tolist():
                        other = hand.deck.copy()
                        other[seat] = rules.combos[combo, 0]
                        expected = game.value(other, len(situation.board), situation.actions, seat)
                        assert own[combo] == pytest.approx(expected, abs=1e-6)  # the agent rounds to float32
                        compared += 1
    assert compared > 2000


@pytest.mark.parametrize("rules", [LEDUC, KUHN3], ids=["leduc", "kuhn3"])
def test_seat_values_sum_to_zero(rules):
    values = BlueprintValues(small_blueprint(rules), num_worlds=8, small=ALL, num_hands=ALL)
    found = [values.deal_mean(rules, seat) for seat in range(rules.num_seats)]
    assert sum(found) == pytest.approx(0.0, abs=1e-9)
    assert max(map(abs, found)) > 0.01


@pytest.mark.parametrize("in_part", [False, True], ids=["a part of the actions", "a part of the hands"])
@pytest.mark.parametrize("rules", [LEDUC, LEDUC3], ids=["leduc", "leduc3"])
def test_drawn_values_have_the_exact_mean(rules, in_part):
    blueprint = small_blueprint(rules)
    exact = BlueprintValues(blueprint, num_worlds=8, small=ALL, num_hands=ALL)
    drawn = BlueprintValues(blueprint, num_worlds=2, worlds_per_combo=1, small=0, num_hands=2)
    deck = deal_deck(rules, np.random.default_rng(17))
    situation = situation_of(rules, deck, 0, (), 0)
    expected, holdable = exact.values(situation), situation.holdable()
    question = ValueQuestion(situation, 0, holdable / holdable.sum() if in_part else None)
    samples = []
    for seed in range(2000):
        drawn.restart(np.random.default_rng(seed))
        samples.append(drawn.answers([question])[0][holdable])
    assert not in_part or (np.array(samples) == 0.0).any()
    mean, deviation = np.mean(samples, axis=0), np.std(samples, axis=0)
    assert deviation.min() > 0.1
    assert (np.abs(mean - expected[holdable]) < 4.5 * deviation / len(samples) ** 0.5).all()


@pytest.mark.parametrize("rules", [LEDUC, KUHN3], ids=["leduc", "kuhn3"])
def test_hands_that_are_asked_have_the_same_values_as_among_all(rules):
    blueprint = small_blueprint(rules)
    deck = decks(rules)[5]
    situation = situation_of(rules, deck, 0, (), 0)
    every = BlueprintValues(blueprint, num_worlds=2, small=0, num_hands=ALL).values(situation)
    values = BlueprintValues(blueprint, num_worlds=2, small=0, num_hands=ALL)
    asked = np.zeros(rules.num_combos, np.bool_)
    for combo in np.flatnonzero(situation.holdable()):
        asked[combo] = True
        assert values.values(situation._replace(asked=asked.copy()))[asked].tolist() == every[asked].tolist()


@pytest.mark.parametrize("opponent", [pytest.param(CallAgent, marks=pytest.mark.slow), RandomAgent])
def test_aivat_with_drawn_values_is_unbiased(opponent):
    """In all seats of a deck, with seat values that are wrong but sum to 0: what is wrong cancels out."""
    blueprint = small_blueprint(LEDUC)
    agents = [BlueprintAgent(blueprint), opponent()]
    aivat = Aivat(
        LEDUC, BlueprintValues(blueprint, (5.0, -5.0), num_worlds=2, worlds_per_combo=1, small=0, num_hands=2)
    )
    rng = np.random.default_rng(8)
    raw, estimates = [], []
    for number in range(800):
        deck = deal_deck(LEDUC, rng)
        aivat.restart(np.random.default_rng([9, number]))
        sums = np.zeros(2)
        for order in (agents, agents[::-1]):
            hand = play_hand(LEDUC, order, deck, [rng, rng])
            score = aivat.scores(hand, order)[order.index(agents[0])]
            sums += score.payoff, score.estimate
        raw.append(sums[0])
        estimates.append(sums[1])
    difference = np.array(estimates) - raw
    assert abs(difference.mean()) < 4.5 * difference.std() / len(raw) ** 0.5
    assert difference.std() > 0.5


@pytest.mark.parametrize("rules", [LEDUC, HUNL], ids=["leduc", "hold'em"])
def test_in_self_play_errors_of_values_cancel(rules):
    """The estimate is near the seat's mean in every hand, with values of a few hands on a single board each.

    Equal it is not: agents read rows in another precision, and never fold aces.
    """
    blueprint = small_blueprint(rules) if rules is LEDUC else holdem_blueprint(rules)
    values = BlueprintValues(blueprint, (1.0, -1.0), num_worlds=3, worlds_per_combo=1, num_hands=4)
    aivat, rng = Aivat(rules, values), np.random.default_rng(3)
    payoffs, errors = [], []
    for _ in range(30):
        agents = [BlueprintAgent(blueprint), BlueprintAgent(blueprint)]
        hand = play_hand(rules, agents, deal_deck(rules, rng), rng.spawn(2))
        payoffs.append(hand.payoffs[0])
        scores = aivat.scores(hand, agents, (0, 1))
        errors.append([scores[0].estimate - 1.0, scores[1].estimate + 1.0])
    assert np.abs(errors).max() < 0.01 * np.std(payoffs)


class SeatBySeat(BlueprintValues):
    """Answers the questions of one seat after another, by the values of all combos."""

    def sums(self, asked):
        weighted, single = np.empty(asked.number), np.empty(asked.number)
        everything, table = list(asked), asked.table[: asked.number]
        for seat in range(asked.rules.num_seats):
            whose = np.flatnonzero(table[:, SEAT] == seat).tolist()
            questions = []
            for number in whose:
                situation, num_cards, weights, own = everything[number]
                factor = asked.factors[number]
                questions.append(ValueQuestion(situation, num_cards, weights * factor if factor else None, own))
            for number, values in zip(whose, self.answers(questions), strict=True):
                _, _, weights, own = everything[number]
                weighted[number], single[number] = dot(weights, values), values[own]
        return weighted, single


@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six seats"])
def test_all_seats_at_once_have_the_scores_of_one_seat_after_another(rules):
    blueprint = holdem_blueprint(rules)
    agents = [CallAgent(), RandomAgent(), *(BlueprintAgent(blueprint) for _ in range(rules.num_seats - 2))]
    both = [Aivat(rules, kind(blueprint, (0.0,) * rules.num_seats)) for kind in (BlueprintValues, SeatBySeat)]
    rng, met = np.random.default_rng(6), set()
    for number in range(4):
        deck = deal_deck(rules, rng)
        for aivat in both:
            aivat.restart(np.random.default_rng(number))
        for shift in range(2):  # the second hand of a deck finds what the first has left
            seated = [*agents[shift:], *agents[:shift]]
            hand = play_hand(rules, seated, deck, rng.spawn(rules.num_seats))
            found, wanted = (aivat.scores(hand, seated, [0]) for aivat in both)
            assert found == wanted
            met.update(term.kind for score in found for term in score.terms)
    assert met >= {"deal", "board", "action"}


def test_seatings_keep_their_numbers_when_lines_are_forgotten(monkeypatch):
    """Groups of known cards are kept by the number of the seating, also when a deck's earlier lines are forgotten."""
    monkeypatch.setattr(betting_lines, "_MAX_LINES", 0)
    menu = GameMenu((StreetMenu(("1p",), callers=(3,)), StreetMenu(("1p allin",), multiway=("1p",))))
    blueprint = random_blueprint(SIXMAX, menu, cards=single_buckets(SIXMAX))
    lines, numbers = betting_lines.BettingLines(SIXMAX), {}
    places = LinePlaces(lines, blueprint, hand_in_tree(SIXMAX, blueprint), {})
    agents = [CallAgent(), CallAgent(), *(RandomAgent() for _ in range(4))]
    rng = np.random.default_rng(6)
    for _ in range(300):
        hand = play_hand(SIXMAX, [agents[k] for k in rng.permutation(6)], deal_deck(SIXMAX, rng), rng.spawn(6))
        for line in lines.along(hand.actions):
            places.add(line)
            row = places.rows[line.number]
            if row[NUM_ACTIONS]:
                assert numbers.setdefault(tuple(row[KINDS + 6 :].tolist()), row[SEATING]) == row[SEATING]
    assert sorted(numbers.values()) == list(range(len(numbers))) and len(numbers) > 2


def test_a_seat_that_tells_nothing_is_valued_with_its_own_cards_alone():
    blueprint = holdem_blueprint(HUNL)
    values = BlueprintValues(blueprint, (0.0, 0.0))
    deck = deal_deck(HUNL, np.random.default_rng(4))
    situation = situation_of(HUNL, deck, 0, (), 0)
    own = HUNL.combo_id(deck[:2].tolist())
    found = values.answers([ValueQuestion(situation, 0, None, own)])[0]
    assert np.flatnonzero(found).tolist() == [own]
    weights = situation.holdable() / situation.holdable().sum()
    several = values.answers([ValueQuestion(situation, 0, weights, own)])[0]
    assert 100 < np.count_nonzero(several) < 500 and several[own] != 0.0


@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six seats"])
def test_values_before_the_flop_are_the_mean_of_those_behind_it(rules):
    blueprint = holdem_blueprint(rules)
    values = BlueprintValues(blueprint, (0.0,) * rules.num_seats, num_worlds=4, small=20)
    rng = np.random.default_rng(2)
    actions = (CALL, CALL) if rules.num_seats == 2 else (FOLD, FOLD, FOLD, CALL, CALL, CALL)
    differences = []
    deck = deal_deck(rules, rng)
    shown = rules.num_seats * rules.num_hole_cards
    situation = situation_of(rules, deck, 1, actions, 0)
    asked = np.zeros(rules.num_combos, np.bool_)
    asked[np.flatnonzero(situation.holdable())[::100]] = True
    situation = situation._replace(asked=asked)
    for seed in range(900):
        values.restart(np.random.default_rng(seed))
        before = values.next_board_means(situation, 3)
        board = rng.permutation([card for card in range(52) if card not in deck[:shown].tolist()])[:3]
        after = situation._replace(board=tuple(board.tolist()))
        held = asked & after.holdable()
        differences.append(np.where(held, values.values(after) - before, np.nan))
    found = np.array(differences)[:, asked]
    count = (~np.isnan(found)).sum(axis=0)
    assert count.min() > 600
    assert (np.abs(np.nanmean(found, axis=0)) < 4.5 * np.nanstd(found, axis=0) / count**0.5).all()


def test_bets_off_the_tree_count_as_the_nearest_and_scale_the_pot():
    blueprint = holdem_blueprint(HUNL)
    values = BlueprintValues(blueprint, (0.0, 0.0), num_worlds=4)
    deck = deal_deck(HUNL, np.random.default_rng(4))
    on_tree = values.values(situation_of(HUNL, deck, 0, (300,), 0))
    off_tree = values.values(situation_of(HUNL, deck, 0, (310,), 0))
    held = situation_of(HUNL, deck, 0, (), 0).holdable()
    assert off_tree[held] == pytest.approx((on_tree[held] + 100) * 410 / 400 - 100)


def test_where_no_decision_is_left_values_are_those_of_checking_down():
    blueprint = holdem_blueprint(HUNL)
    deck = deal_deck(HUNL, np.random.default_rng(4))
    for actions in [(20_000, CALL), (FOLD,), (CALL, CALL, CALL, CALL, CALL, CALL, CALL, CALL)]:
        situation = situation_of(HUNL, deck, 1, actions, 5)
        values = BlueprintValues(blueprint, (0.0, 0.0)).values(situation)
        assert values.tolist() == Checkdown().values(situation).tolist()


@pytest.mark.parametrize(
    ("rules", "actions", "others"),
    [
        (HUNL, (900, CALL), (350, CALL)),
        (SIXMAX, (FOLD, CALL, CALL, FOLD, FOLD, CALL), (FOLD, 350, FOLD, FOLD, FOLD, CALL)),
    ],
    ids=["another pot", "a caller left out"],
)
def test_where_the_tree_says_little_values_are_those_of_checking_down(rules, actions, others):
    menu = GameMenu((StreetMenu(("1p",), callers=(0,)), StreetMenu(("1p",))))
    blueprint = random_blueprint(rules, menu, cards=single_buckets(rules))
    values = BlueprintValues(blueprint, (0.0,) * rules.num_seats)
    deck = deal_deck(rules, np.random.default_rng(4))
    for taken, same in ((actions, True), (others, False)):
        situation = situation_of(rules, deck, 1, taken, 3)
        held = situation.holdable()
        alike = values.values(situation)[held].tolist() == Checkdown().values(situation)[held].tolist()
        assert alike == same


def test_a_seat_that_folded_has_lost_what_it_paid():
    blueprint = holdem_blueprint(SIXMAX)
    deck = deal_deck(SIXMAX, np.random.default_rng(4))
    values = BlueprintValues(blueprint, (0.0,) * 6).values(situation_of(SIXMAX, deck, 0, (FOLD,) * 5, 0))
    assert set(values.tolist()) == {-50.0}


def test_rows_that_were_never_learnt_are_those_of_the_nearest_bucket():
    blueprint = small_blueprint(LEDUC)
    game, tree = blueprint.game, blueprint.tree
    rows = blueprint.rows.copy()
    table = rows[: game.base[1]].reshape(-1, game.pairs[0])
    counts = int(tree.num_actions[0])
    filled = rows.copy()
    filled[: game.base[1]].reshape(-1, game.pairs[0])[2, :counts] = table[1, :counts]
    table[2, :counts] = 0
    holey, whole = (dataclasses.replace(blueprint, rows=found) for found in (rows, filled))
    situation = situation_of(LEDUC, decks(LEDUC)[9], 0, (), 0)
    found = [
        BlueprintValues(one, num_worlds=8, small=ALL, num_hands=ALL).values(situation).tolist()
        for one in (holey, whole)
    ]
    assert found[0] == found[1]
    assert found[0] != BlueprintValues(blueprint, num_worlds=8, small=ALL, num_hands=ALL).values(situation).tolist()


def test_all_that_decides_values_is_in_their_digest():
    blueprint = small_blueprint(LEDUC)
    other = dataclasses.replace(blueprint, digest="another")
    made = [
        BlueprintValues(blueprint, (0.0, 0.0)),
        BlueprintValues(other, (0.0, 0.0)),
        BlueprintValues(blueprint, (1.0, -1.0)),
        BlueprintValues(blueprint, (0.0, 0.0), num_worlds=5),
        BlueprintValues(blueprint, (0.0, 0.0), small=3),
        BlueprintValues(blueprint, (0.0, 0.0), worlds_per_combo=1),
        BlueprintValues(blueprint, (0.0, 0.0), num_hands=200),
    ]
    assert len({values.digest for values in made}) == len(made)
    assert made[0].digest == BlueprintValues(blueprint, (0.0, 0.0)).digest


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="bucket table"):
        BlueprintValues(random_blueprint(HUNL), (0.0, 0.0))
    with pytest.raises(ValueError, match="2 numbers with the sum 0"):
        BlueprintValues(small_blueprint(LEDUC), (1.0, 2.0))
    with pytest.raises(ValueError, match="0 or above 1, got 1"):
        BlueprintValues(small_blueprint(LEDUC), num_worlds=1)


@pytest.mark.parametrize("num_worlds", [-1, 1])
def test_run_outs_on_which_a_combo_may_be_impossible_are_refused(num_worlds):
    with pytest.raises(ValueError, match=f"num_worlds is 0 or above 1, got {num_worlds}"):
        BlueprintValues(small_blueprint(LEDUC), num_worlds=num_worlds)
