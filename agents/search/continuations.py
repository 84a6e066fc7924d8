"""The continuation strategies among which players choose at the frontier of a depth-limited subgame.

After a leaf no single strategy is assumed: each player left chooses one of k versions of the blueprint, unseen by the
others. So the values found before the leaf hold against players who can still adapt after it. Sources: Brown and
Sandholm, "Superhuman AI for multiplayer poker", 2019, and Brown, Sandholm and Amos, "Depth-limited solving for
imperfect-information games", 2018.
"""

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD

RAISE = CALL + 1
"""The smallest action number that is a raise; all above are raises, too."""

CONTINUATIONS = ("blueprint", "fold", "call", "raise")
"""Names of the policies, in their order: the blueprint, then the action that each of the others prefers."""

BIAS = 5.0
"""The factor of the preferred action's probability, before the row is normalised again; as in the paper."""


def continuation_strategies(
    strategy: np.ndarray,
    actions: np.ndarray,
    *,
    first: np.ndarray | None = None,
    num_continuations: int = len(CONTINUATIONS),
    bias: float = BIAS,
) -> np.ndarray:
    """Return the continuation strategies of a blueprint's strategy.

    Parameters
    ----------
    strategy : float[..., A]
        The blueprint's probabilities. Those of an infoset sum to 1, or to 0 where it has none.
    actions : int[A]
        The actions of the last axis: 0 fold, 1 check or call, above it a raise of any size.
    first : int[I + 1], optional
        If the last axis holds several infosets side by side, the offset of each, then A. By default it holds one.
    num_continuations : int
        The number of `CONTINUATIONS` to return, the first of them first.
    bias : float

    Returns
    -------
    float[num_continuations, ..., A]
        In the strategy's precision. Where an infoset does not offer a policy's action, or the blueprint never
        takes it, the policy is the blueprint, bit for bit.

    Raises
    ------
    ValueError
        If `num_continuations` or `bias` is out of range, or the shapes of the arrays do not fit.

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
    totals = np.add.reduceat(strategy, first[:-1], axis=-1)  # 1, or 0 for an infoset without a strategy
    for policy, kind in zip(found[1:], (FOLD, CALL, RAISE), strict=False):
        policy[:] = np.where(kinds == kind, strategy * strategy.dtype.type(bias), strategy)
        sums = np.add.reduceat(policy, first[:-1], axis=-1)
        # Scaled to the old total, not to 1: where nothing was preferred, both sums have the same bits, the factor is
        # exactly 1 and the policy is the blueprint bit for bit.
        factors = np.divide(totals, sums, out=np.ones_like(sums), where=sums > 0.0)
        policy *= np.repeat(factors, lengths, axis=-1)
    return found
