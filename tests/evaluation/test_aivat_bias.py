"""AIVAT brings no bias: means over all deals of small games are the true ones, exactly."""

import functools
import os

import numpy as np
import pytest
from aivat_tables import KUHN3, SHORT_LEDUC, Noise, Remembering, Zero, distinct_decks, equilibrium, forms
from reference.poker_game import PokerGame

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import KUHN, LEDUC, HoldemRules
from plurispiel.agents.base import Agent, RangeAgent, Strategy
from plurispiel.agents.baselines.simple import RaiseAgent, RandomAgent
from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.situations import NO_CARD, Situation
from plurispiel.evaluation.value_functions import Checkdown, ValueFunction

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


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


def value_functions(rules, agents):
    found = [Zero(), Noise(), Expected("exact", PokerGame(rules, agents)), Checkdown()]
    if agents[1] is not agents[0]:  # else self-play has the exact values
        found.append(Expected("self-play", PokerGame(rules, [agents[0]] * rules.num_seats)))
    return found


@pytest.mark.parametrize(
    ("rules", "opponent"),
    [
        pytest.param(KUHN, "equilibrium", id="kuhn-equilibrium"),
        pytest.param(KUHN, "uniform", id="kuhn-uniform"),
        pytest.param(KUHN3, "equilibrium", id="kuhn3-equilibrium"),
        pytest.param(KUHN3, "uniform", id="kuhn3-uniform"),
        pytest.param(SHORT_LEDUC, "equilibrium", id="short-leduc-equilibrium", marks=jit_only),
        pytest.param(LEDUC, "equilibrium", id="leduc-equilibrium", marks=[jit_only, pytest.mark.slow]),
        pytest.param(LEDUC, "uniform", id="leduc-uniform", marks=[jit_only, pytest.mark.slow]),
    ],
)
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
        if rules.num_board_cards and value_function.name in ("exact", "self-play"):  # each correction takes luck away
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
@pytest.mark.slow  # the enumerations above say more
def test_hands_that_are_played_average_to_the_true_value():
    monte_carlo(3_000)


@jit_only
@pytest.mark.slow
def test_many_hands_that_are_played_average_to_the_true_value():
    monte_carlo(100_000)


class WrongBeforeTheBoard(Checkdown):
    """Checkdown, but kings are worth one chip too much until the board comes."""

    deal_mean = ValueFunction.deal_mean
    next_board_means = ValueFunction.next_board_means

    def values(self, situation):
        values = super().values(situation)
        return values if situation.board else values + (situation.rules.combos[:, 0] // 4 == 2)


class WrongMeans(WrongBeforeTheBoard):
    """The same error in the means over boards, which are then not those of the values used after the board."""

    def next_board_means(self, situation, num_cards):
        return self.values(situation)


@jit_only
def test_an_error_before_the_board_brings_bias_only_if_it_is_in_the_means_over_boards():
    agents = [TightAggressiveAgent(), RandomAgent()]
    means, _ = enumerate_scores(LEDUC, agents, WrongBeforeTheBoard())
    assert abs(means - means[:, :1]).max() <= 1e-12
    means, _ = enumerate_scores(LEDUC, agents, WrongMeans())
    assert abs(means[:, 4] - means[:, 0]).min() > 0.02


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


@pytest.mark.slow
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
