"""The zero-sum correction brings no bias: means over all deals of small games are the true ones, exactly."""

import os

import numpy as np
import pytest
from aivat_tables import KUHN3, SHORT_LEDUC, Noise, Remembering, distinct_decks, equilibrium
from reference.poker_game import PokerGame

from plurispiel.abstraction.holdem.rules import KUHN, LEDUC
from plurispiel.agents.base import Agent
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.value_functions import Checkdown
from plurispiel.evaluation.zero_sum import coefficients

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def enumerate_tables(rules, agents, silent, value_function):
    """Return the chance of every hand, its payoffs, and its scores, reduced for the seats in `silent`."""
    game, aivat = PokerGame(rules, agents), Aivat(rules, value_function)
    telling = [Agent() if seat in silent else agent for seat, agent in enumerate(agents)]
    trusted = set(range(rules.num_seats)) - set(silent)
    chances, payoffs, scores = [], [], []
    for deck, chance in distinct_decks(rules):
        aivat.restart(np.random.default_rng(0))
        for hand, reach in game.hands(deck):
            found = aivat.scores(hand, telling, trusted)
            chances.append(chance * np.prod(reach))
            payoffs.append(hand.payoffs)
            scores.append([one.reduced if seat in silent else one.estimate for seat, one in enumerate(found)])
    return np.array(chances), np.array(payoffs), np.array(scores)


@pytest.mark.parametrize(
    ("rules", "values"),
    [
        (KUHN, Checkdown),
        (KUHN, Noise),
        (KUHN3, Checkdown),
        (KUHN3, Noise),
        pytest.param(SHORT_LEDUC, Checkdown, marks=jit_only),
    ],
    ids=["kuhn", "kuhn, noise", "kuhn3", "kuhn3, noise", "short leduc"],
)
def test_fixed_coefficients_bring_no_bias_and_the_best_take_luck_away(rules, values):
    agents = [equilibrium(rules)] + [Remembering(RandomAgent())] * (rules.num_seats - 1)
    for num_silent in range(rules.num_seats + 1):
        silent = range(num_silent)
        chances, payoffs, scores = enumerate_tables(rules, agents, silent, values())
        table, truth = scores.sum(axis=1), chances @ payoffs
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)
        assert abs(chances @ table) <= 1e-12
        for betas in (np.full(rules.num_seats, 1 / rules.num_seats), np.linspace(-0.5, 1.5, rules.num_seats)):
            corrected = scores - betas * table[:, None]
            np.testing.assert_allclose(chances @ corrected, truth, atol=1e-12)
        centred = scores - chances @ scores
        spread = chances @ table**2
        if spread < 1e-12:  # two silent seats of one game may mirror each other
            continue
        best = (chances * table) @ centred / spread
        assert best.sum() == pytest.approx(1.0)
        left = chances @ (centred - best * table[:, None]) ** 2
        assert (left <= chances @ centred**2 + 1e-12).all()
        if num_silent == 1 and rules.num_seats == 2:  # most of what is in the sum is the silent seat's luck
            assert left[0] < 0.8 * (chances @ centred[:, 0] ** 2)


@jit_only
def test_fitted_coefficients_bring_no_bias():
    """Two groups of eight hands and one hand more, drawn with their chances: the mean over runs is the truth."""
    agents = [equilibrium(LEDUC), Remembering(RandomAgent())]
    chances, payoffs, scores = enumerate_tables(LEDUC, agents, (0,), Checkdown())
    truth = chances @ payoffs
    rng = np.random.default_rng(4)
    last = []
    for _ in range(1_000):
        drawn = scores[rng.choice(len(chances), size=16, p=chances / chances.sum())]
        betas = coefficients(np.vstack([drawn, drawn[:1]]), np.repeat([0, 8, 16], [8, 8, 1]), np.array([1.0, 0.0]))
        # Given the fitted coefficients, the mean over the next hand is known exactly.
        last.append(chances @ (scores - betas[-1] * scores.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(last, np.tile(truth, (1_000, 1)), atol=1e-12)
