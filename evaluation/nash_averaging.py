"""Nash averaging: ratings of agents against the equilibrium of the game in which two players choose an agent each.

A mean over opponents changes when a copy of an opponent joins. A Nash average stays the same if the equilibrium is
unique up to the copies: original and copies then share the weight of the original. Here the matrix of payoffs is
antisymmetric, so that the game is symmetric and has the value 0. The game's equilibria form a polytope, and the
equilibrium of maximum entropy is unique. Where the polytope has several points, a copy may change which point has the
maximum entropy.
"""

from typing import NamedTuple

import numpy as np

_NO_PAYOFF = 1e-9
"""Numbers up to this share of the largest payoff count as 0: the sum of an agent's payoff and its opponent's, and
singular values."""
_NO_SHARE = 1e-6
"""Shares up to this number are rounding of a linear program and count as 0."""
_MAX_RESIDUAL = 1e-5
"""Largest payoff, as a share of the largest in the matrix, that an agent may win against the equilibrium."""


class NashAverage(NamedTuple):
    """The equilibrium of maximum entropy, and each agent's payoff against it.

    Attributes
    ----------
    shares : float64[num_agents]
        Probability of each agent in the equilibrium; the shares sum to 1.
    ratings : float64[num_agents]
        Mean payoff of each agent against the equilibrium, in the unit of the payoffs: 0 for agents with a share, and at
        most 0 for all agents.
    """

    shares: np.ndarray
    ratings: np.ndarray


def nash_average(payoffs: np.ndarray) -> NashAverage:
    """Return the Nash average of a matrix of payoffs.

    Parameters
    ----------
    payoffs : float64[num_agents, num_agents]
        The mean payoff of the row's agent against the column's agent, antisymmetric.

    Raises
    ------
    ValueError
        If the matrix is empty, or not square, finite and antisymmetric.
    ArithmeticError
        If the equilibrium is not found to the accuracy of a hundred-thousandth of the largest payoff.

    Notes
    -----
    D. Balduzzi, K. Tuyls, J. Perolat, T. Graepel: Re-evaluating Evaluation, NeurIPS 2018. The equilibria are all shares
    p >= 0 that sum to 1 and lose against no agent: p A >= 0. A linear program finds the *support*, the agents that some
    equilibrium plays. Within the support the entropy is maximised by its dual problem.

    >>> rock_paper_scissors = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    >>> nash_average(rock_paper_scissors).shares.round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    payoffs = np.asarray(payoffs, dtype=np.float64)
    if payoffs.ndim != 2 or payoffs.shape[0] != payoffs.shape[1] or not payoffs.size:
        raise ValueError(f"payoffs are a square matrix with a row for each agent, got the shape {payoffs.shape}")
    largest = float(abs(payoffs).max())
    if not np.isfinite(largest) or abs(payoffs + payoffs.T).max() > _NO_PAYOFF * largest:
        raise ValueError("payoffs must be finite and antisymmetric: what one agent wins, the other loses")
    if largest == 0.0:
        return NashAverage(np.full(len(payoffs), 1.0 / len(payoffs)), np.zeros(len(payoffs)))
    if len(winners := np.flatnonzero((payoffs > 0.0).sum(axis=1) == len(payoffs) - 1)):
        shares = np.zeros(len(payoffs))
        shares[winners] = 1.0  # the only equilibrium: an agent that beats all others
        return NashAverage(shares, payoffs @ shares)
    scaled = payoffs / largest
    support = _support(scaled)
    shares = np.zeros(len(payoffs))
    shares[support] = _shares(scaled, support)
    if (shares @ scaled).min() < -_MAX_RESIDUAL:
        raise ArithmeticError("no equilibrium of maximum entropy was found; are payoffs of very different size?")
    return NashAverage(shares, payoffs @ shares)


def _support(payoffs: np.ndarray) -> np.ndarray:
    """Return the agents that an equilibrium plays with positive probability: bool[num_agents].

    By Tucker's theorem on antisymmetric matrices there is an x >= 0 with y = x A >= 0 and x + y > 0. As x y = 0, either
    x_i > 0 (some equilibrium plays agent i) or y_i > 0 (no equilibrium does). Positive multiples of x have the same
    property, so the program may require x + y >= 1.
    """
    from scipy.optimize import linprog

    num_agents = len(payoffs)
    identity = np.eye(num_agents)
    found = linprog(
        np.ones(num_agents),  # the smallest sum, which keeps the numbers small
        A_ub=-np.vstack([payoffs.T, identity + payoffs.T]),
        b_ub=-np.concatenate([np.zeros(num_agents), np.ones(num_agents)]),
    )
    if found.x is not None:
        return found.x > found.x @ payoffs
    # Payoffs of very different size make x too large for the solver. Then a program for each agent finds the agent's
    # largest share in any equilibrium, which is at most 1.
    largest = np.zeros(num_agents)
    for agent in range(num_agents):
        found = linprog(
            -identity[agent],
            A_ub=-payoffs.T,
            b_ub=np.zeros(num_agents),
            A_eq=np.ones((1, num_agents)),
            b_eq=[1.0],
        )
        largest[agent] = 0.0 if found.x is None else found.x[agent]
    return largest > _NO_SHARE


def _shares(payoffs: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return the shares of the agents in the support: float64[num_supported].

    Every equilibrium wins exactly 0 against every agent in the support. In most cases these equations alone determine
    the shares.
    """
    _, sizes, directions = np.linalg.svd(payoffs[np.ix_(support, support)].T)
    if (sizes <= _NO_PAYOFF).sum() == 1:
        return directions[-1] / directions[-1].sum()
    return _of_maximum_entropy(payoffs, support)


def _of_maximum_entropy(payoffs: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return the shares of maximum entropy where many equilibria have this support: float64[num_supported].

    With a multiplier for each agent's payoff, the shares of maximum entropy are proportional to
    exp(payoffs @ multipliers). The multipliers minimise the logarithm of the sum of these exponentials. They may
    have any sign for agents in the support, whose payoff is 0. They are at least 0 for other agents, whose payoff may
    be negative.
    """
    from scipy.optimize import Bounds, minimize
    from scipy.special import logsumexp, softmax

    rows = payoffs[support]

    def value_and_slope(multipliers: np.ndarray) -> tuple[float, np.ndarray]:
        return float(logsumexp(rows @ multipliers)), softmax(rows @ multipliers) @ rows

    found = minimize(
        value_and_slope,
        np.zeros(len(payoffs)),
        jac=True,
        bounds=Bounds(np.where(support, -np.inf, 0.0), np.inf),
        method="L-BFGS-B",
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 0.0, "gtol": 1e-12},
    )
    return softmax(rows @ found.x)
