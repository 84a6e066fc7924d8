"""The continuation strategies among which players choose at the frontier of a depth-limited subgame.

At a leaf, each player who can still act chooses one of k versions of the blueprint for the rest of the hand, unseen by
the others. So the strategy found before the leaf takes into account that the others can adapt to it after the leaf.

References
----------
N. Brown and T. Sandholm: Superhuman AI for multiplayer poker. Science (2019), the *Pluribus* paper.
N. Brown, T. Sandholm and B. Amos: Depth-limited solving for imperfect-information games. NeurIPS (2018).
"""

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD

RAISE = CALL + 1
"""Actions with this number or a larger one are raises."""

CONTINUATIONS = ("blueprint", "fold", "call", "raise")
"""Names of the policies, in their order: the blueprint, then three policies named by the action that each prefers."""

BIAS = 5.0
"""The factor on the preferred action's probability, before the row is normalised again; as in the Pluribus paper."""


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
        The blueprint's probabilities. In each infoset they sum to 1, or to 0 if the blueprint has no strategy there.
    actions : int[A]
        The action of each of the A entries of the last axis: 0 fold, 1 check or call, 2 and above a raise.
    first : int[I + 1], optional
        If the last axis holds I infosets side by side, the index of each infoset's first entry, then A. By default
        the last axis is one infoset.
    num_continuations : int
        The number of policies to return, from the start of `CONTINUATIONS`.
    bias : float
        The factor on the preferred action's probability, above 0.

    Returns
    -------
    float[num_continuations, ..., A]
        Probabilities with the data type of `strategy`. Where an infoset does not offer a policy's preferred action,
        or the blueprint never takes that action, the policy is the blueprint, bit for bit.

    Raises
    ------
    ValueError
        If `num_continuations` or `bias` is out of range, or the arrays do not fit each other.

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
        raise ValueError(f"strategy's last axis needs an action for each entry, got {strategy.shape}, {actions.shape}")
    first = np.array([0, len(actions)]) if first is None else first
    if first[0] != 0 or first[-1] != len(actions) or (np.diff(first) < 1).any():
        raise ValueError(f"first holds offsets that must ascend from 0 to {len(actions)}, got {first}")
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
