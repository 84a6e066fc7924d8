"""The continuation policies among which players choose at the frontier of a depth-limited subgame.

Behind a leaf nobody follows one known strategy: each player left picks, unseen by the others, one of k versions of
the blueprint, so that the values found before the leaf hold against players who may still adapt behind it (Brown
and Sandholm, "Superhuman AI for multiplayer poker", 2019, and Brown, Sandholm and Amos, "Depth-limited solving for
imperfect-information games", 2018).
"""

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD

RAISE = CALL + 1
"""The least of our actions that raises; all above are raises, too."""

CONTINUATIONS = ("blueprint", "fold", "call", "raise")
"""Names of the policies, in their order: the blueprint, then the action that each of the others prefers."""

BIAS = 5.0
"""How much likelier, before the probabilities are scaled to 1 again, the preferred action becomes."""


def continuation_strategies(
    strategy: np.ndarray,
    actions: np.ndarray,
    *,
    first: np.ndarray | None = None,
    num_continuations: int = len(CONTINUATIONS),
    bias: float = BIAS,
) -> np.ndarray:
    """Return the continuation policies of a strategy.

    Parameters
    ----------
    strategy : float[..., A]
        The blueprint's probabilities. Those of an infoset sum to 1, or to 0 where it has none.
    actions : int[A]
        Our actions of the last axis: 0 fold, 1 check or call, more a raise of any size.
    first : int[I + 1], optional
        Where the probabilities of several infosets stand side by side: the offset of each, and A.
    num_continuations : int
        How many of `CONTINUATIONS`, from the first on.
    bias : float

    Returns
    -------
    float[num_continuations, ..., A]
        In the strategy's precision. Where an infoset does not offer a policy's action, or the blueprint never
        takes it, the policy is the blueprint, bit by bit.

    Raises
    ------
    ValueError
        If there are no such policies, or the arrays do not belong together.

    Examples
    --------
    >>> continuation_strategies(np.array([0.5, 0.4, 0.1]), np.array([0, 1, 300])).round(3)
    array([[0.5  , 0.4  , 0.1  ],
           [0.833, 0.133, 0.033],
           [0.192, 0.769, 0.038],
           [0.357, 0.286, 0.357]])
    """
    if not 1 <= num_continuations <= len(CONTINUATIONS):
        raise ValueError(f"there are 1..{len(CONTINUATIONS)} continuations, got {num_continuations}")
    if not bias > 0.0:
        raise ValueError(f"bias must be positive, got {bias}")
    if strategy.shape[-1:] != actions.shape:
        raise ValueError(f"a strategy of {strategy.shape[-1:]} actions needs as many, got {actions.shape}")
    first = np.array([0, len(actions)]) if first is None else first
    if first[0] != 0 or first[-1] != len(actions) or (np.diff(first) < 1).any():
        raise ValueError(f"offsets must ascend from 0 to {len(actions)}, got {first}")
    lengths = np.diff(first)
    kinds = np.minimum(actions, RAISE)
    found = np.empty((num_continuations, *strategy.shape), dtype=strategy.dtype)
    found[0] = strategy
    totals = np.add.reduceat(strategy, first[:-1], axis=-1)
    for policy, kind in zip(found[1:], (FOLD, CALL, RAISE), strict=False):
        policy[:] = np.where(kinds == kind, strategy * strategy.dtype.type(bias), strategy)
        sums = np.add.reduceat(policy, first[:-1], axis=-1)
        factors = np.divide(totals, sums, out=np.ones_like(sums), where=sums > 0.0)
        policy *= np.repeat(factors, lengths, axis=-1)
    return found
