"""The zero-sum correction: the sum of all scores at a table is luck, and is taken off the scores.

Let X_c be the score of contestant c in a duplicate group, in chips: its payoffs with corrections of mean zero (AIVAT).
The payoffs of a hand sum to zero, so the *table sum* Z = sum_c X_c consists of corrections alone, and has mean 0. The
corrected score

    X_c - beta_c Z

therefore has the mean of X_c for every beta_c that does not depend on this group. Its variance is lowest with beta_c =
Cov(X_c, Z) / Var(Z), a control variate. An agent that reports no strategy keeps the luck of its own actions and part of
the luck of its cards in X_c, and the same luck is in Z. With little other luck in Z, beta_c is near 1, and the
corrected score is nearly X_c - Z, which is minus the sum of the other scores.

**Coefficients.** The coefficients of a group are fitted on earlier groups alone, namely those before its block of decks
in the schedule. Given the past they are constants, so the corrected scores less their mean are martingale differences.
The scores are therefore unbiased and uncorrelated, do not change when more groups follow, and may enter anytime-valid
intervals. The fit is least squares, whose coefficients sum to 1 over a table, because the scores sum to Z. With m
earlier groups the fit has the weight m / (m + 20), and a prior has the rest. Contestants that report no strategy, if
any, have the prior 1 together if they hold half of the seats or more, as one of two seats heads-up. Else they have 1/2
together. The contestants that report then hold most seats. They have the rest, because Z also contains the luck that
AIVAT leaves in their scores (`tournaments/bench/README.md` has the measurement). Both among the contestants that report
and among the others, all seats have equal shares. The prior stands alone while Z hardly varies, as between two
contestants without reports, whose corrections of chance mirror each other. If a coefficient lies outside [-0.5, 1.5],
all coefficients of the table move towards the prior, just as far as needed. Each of these steps keeps the sum of a
table's coefficients at 1. So the table's corrected scores sum to 0.

Z must not contain the report of an agent that may gain by inventing it. With an invented report the mean of Z is not 0,
and the scores of all other agents would move. If an agent is not trusted, callers therefore leave the corrections that
need its reports out of the scores that they pass.

References
----------
S. Asmussen and P. W. Glynn: Stochastic Simulation (2007), chapter V.2, control variates. N. Burch et al.: AIVAT: A New
Variance Reduction Technique for Agent Evaluation in Imperfect Information Games, AAAI (2018), for the corrections.
"""

import numpy as np

PRIOR_GROUPS = 20
"""Weight of the prior, in groups."""

LOWEST, HIGHEST = -0.5, 1.5
"""Range of the coefficients."""

_LEAST_SPREAD = 0.01
"""Smallest spread of Z at which coefficients are fitted, as a share of the largest spread of a contestant's score."""


def prior_coefficients(seats: np.ndarray, silent: np.ndarray) -> np.ndarray:
    """Return the prior of each contestant; the priors of a table sum to 1.

    Contestants that report no strategy, if any, have 1 together if they hold half of the seats or more, and else 1/2.
    The contestants that report have the rest. Both among the contestants that report and among the others, all seats
    have equal shares.

    Parameters
    ----------
    seats : int64[num_contestants]
        The number of seats of each contestant. A common factor of all numbers does not matter.
    silent : bool[..., num_contestants]
        Whether each contestant's score lacks the corrections that need its own strategy.

    Returns
    -------
    float64[..., num_contestants]

    >>> prior_coefficients(np.array([1, 1]), np.array([[False, False], [True, False], [True, True]])).tolist()
    [[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]
    >>> prior_coefficients(np.array([1, 1, 4]), np.array([[True, False, False], [True, True, True]])).round(3).tolist()
    [[0.5, 0.1, 0.4], [0.167, 0.167, 0.667]]
    """
    untold = seats * silent
    told = seats - untold
    num_untold, num_told = (each.sum(axis=-1, keepdims=True) for each in (untold, told))
    share = np.where(num_untold >= num_told, 1.0, np.where(num_untold > 0, 0.5, 0.0))
    return share * untold / np.maximum(num_untold, 1) + (1.0 - share) * told / np.maximum(num_told, 1)


def coefficients(scores: np.ndarray, num_earlier: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the coefficients of all contestants in all groups.

    Parameters
    ----------
    scores : float64[num_groups, num_contestants]
        The scores of everybody at the table, in chips of a group, in the order of the schedule.
    num_earlier : int64[num_groups]
        For each group, the number of groups before its block, on which its coefficients are fitted.
    prior : float64[num_groups, num_contestants] or float64[num_contestants]
        The prior coefficients, which sum to 1 (`prior_coefficients`).

    Returns
    -------
    float64[num_groups, num_contestants]
        Rows that sum to 1. Later groups have no influence on a row, not even in its last bit.
    """
    if not len(scores):
        return np.empty(scores.shape)
    # Spreads do not change if the first group's scores are subtracted from all groups. The sums of squares below are
    # then small even if the means are large, so that their differences keep enough digits.
    centred = scores - scores[0]
    sums = centred.sum(axis=1, keepdims=True)

    def before(values: np.ndarray) -> np.ndarray:
        totals = np.cumsum(values, axis=0)  # cumsum adds in order: the first sums do not depend on later groups
        return np.concatenate([np.zeros((1, values.shape[1])), totals])[num_earlier]

    count = np.maximum(num_earlier, 1)[:, None]
    total, totals = before(sums), before(centred)
    spread = before(sums * sums) - total * total / count
    spreads = before(centred * centred) - totals * totals / count
    shared = before(centred * sums) - totals * total / count
    is_fitted = spread > _LEAST_SPREAD**2 * np.maximum(spreads.max(axis=1, keepdims=True), 0.0)
    fitted = np.where(is_fitted, shared / np.where(is_fitted, spread, 1.0), prior)
    step = (fitted - prior) * (count / (count + PRIOR_GROUPS))
    room = np.where(step > 0.0, HIGHEST - prior, prior - LOWEST)
    shrink = np.min(room / np.maximum(abs(step), 1e-300), axis=1, keepdims=True)
    return prior + step * np.minimum(shrink, 1.0)


def zero_sum_scores(scores: np.ndarray, num_earlier: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the scores less their share of the table sum: float64[num_groups, num_contestants], with rows of sum 0.

    The parameters are those of `coefficients`.

    >>> scores = np.array([[3.0, -1.0], [-5.0, 1.0]])  # the first agent reports no strategy
    >>> zero_sum_scores(scores, np.array([0, 0]), np.array([1.0, 0.0])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return scores - coefficients(scores, num_earlier, prior) * scores.sum(axis=1, keepdims=True)
