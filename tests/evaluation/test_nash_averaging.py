"""Nash averaging on games with known answers, and its two promises: copies change nothing, and entropy is greatest."""

import numpy as np
import pytest
from scipy.optimize import linprog

from plurispiel.evaluation.nash_averaging import nash_average

ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def with_copies(payoffs, of):
    """Return the payoffs of agents that are copies of those with the numbers in `of`."""
    return payoffs[np.ix_(of, of)]


def antisymmetric(rng, num_agents, draw):
    upper = np.triu(draw(rng, (num_agents, num_agents)), 1)
    return upper - upper.T


def entropy_missed(payoffs, shares):
    """Return how much the entropy rises, to first order, on the way to the best other equilibrium: 0 at the maximum."""
    size = len(payoffs)
    costs = np.where(shares > 1e-13, np.log(np.maximum(shares, 1e-300)), -1e3)
    best = linprog(costs, A_ub=-payoffs.T, b_ub=np.zeros(size), A_eq=np.ones((1, size)), b_eq=[1.0])
    held = shares[shares > 0.0]
    return -best.fun + held @ np.log(held)


def test_rock_paper_scissors():
    average = nash_average(1000.0 * ROCK_PAPER_SCISSORS)
    assert average.shares == pytest.approx([1 / 3] * 3)
    assert average.ratings == pytest.approx([0.0] * 3, abs=1e-6)


def test_copies_share_the_weight_of_the_original():
    average = nash_average(with_copies(ROCK_PAPER_SCISSORS, [0, 0, 0, 1, 1, 2]))
    assert average.shares == pytest.approx([1 / 9] * 3 + [1 / 6] * 2 + [1 / 3])


@pytest.mark.parametrize("seed", range(5))
def test_copies_change_no_rating(seed):
    rng = np.random.default_rng(seed)
    payoffs = antisymmetric(rng, 6, lambda rng, shape: rng.normal(scale=300.0, size=shape))
    of = [0, 1, 2, 3, 4, 5, *rng.integers(6, size=4)]
    alone, together = nash_average(payoffs), nash_average(with_copies(payoffs, of))
    assert together.ratings == pytest.approx(alone.ratings[of], abs=1e-4)
    assert np.bincount(of, together.shares) == pytest.approx(alone.shares, abs=1e-6)


def test_the_best_agent_has_all_shares():
    payoffs = np.array([[0.0, 5.0, 9.0], [-5.0, 0.0, 4.0], [-9.0, -4.0, 0.0]])
    average = nash_average(payoffs)
    assert average.shares.tolist() == [1.0, 0.0, 0.0]
    assert average.ratings.tolist() == [0.0, -5.0, -9.0]


def test_a_dominated_agent_has_no_share():
    payoffs = np.zeros((4, 4))
    payoffs[:3, :3] = ROCK_PAPER_SCISSORS
    payoffs[3, :3], payoffs[:3, 3] = -0.5, 0.5
    average = nash_average(payoffs)
    assert average.shares == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])
    assert average.ratings == pytest.approx([0.0, 0.0, 0.0, -0.5], abs=1e-9)


def test_equal_agents_share_equally():
    assert nash_average(np.zeros((4, 4))).shares.tolist() == [0.25] * 4
    assert nash_average(np.zeros((1, 1))).shares.tolist() == [1.0]
    # The first two draw with each other and beat the third.
    average = nash_average(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [-1.0, -1.0, 0.0]]))
    assert average.shares == pytest.approx([0.5, 0.5, 0.0])


def test_the_entropy_is_greatest_among_all_equilibria():
    """With small whole payoffs many games have many equilibria."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        payoffs = antisymmetric(rng, int(rng.integers(2, 10)), lambda rng, shape: rng.integers(-1, 2, shape) * 1.0)
        shares = nash_average(payoffs).shares
        assert shares.sum() == pytest.approx(1.0) and (shares >= 0.0).all()
        assert (shares @ payoffs).min() > -1e-7
        assert entropy_missed(payoffs, shares) < 1e-6


def test_payoffs_of_very_different_size_have_an_equilibrium():
    rng = np.random.default_rng(0)
    for _ in range(30):
        payoffs = antisymmetric(rng, 6, lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.uniform(0, 4, shape))
        average = nash_average(payoffs)
        assert average.shares.sum() == pytest.approx(1.0)
        assert average.ratings.max() < 1e-4 * abs(payoffs).max()


@pytest.mark.parametrize(
    "payoffs",
    [np.ones((2, 2)), np.zeros((2, 3)), np.zeros((0, 0)), np.zeros(3), np.array([[0.0, np.nan], [np.nan, 0.0]])],
)
def test_other_matrices_are_refused(payoffs):
    with pytest.raises(ValueError, match="payoffs"):
        nash_average(payoffs)
