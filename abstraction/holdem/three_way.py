"""Values of folds and showdowns among three players, with exact card removal, ties, side pots and folded chips."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import _three_way_kernels as kernels
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import RankedHands, rank_hands

__all__ = ["pair_masses", "three_way_values"]

WEAKER, NOT_STRONGER, ALL = kernels.WEAKER, kernels.NOT_STRONGER, kernels.ALL


class _PairSums(NamedTuple):
    """Sums for `_three_way_kernels.fill_pair_masses`, named by the symbols S, C and D at the top of that module.

    The sums here include the hands with the cards x and y, which the sums there leave out.

    Attributes
    ----------
    number : int64[52, 52]
        Index of the hand with two given cards; -1 if there is none.
    totals : float64[3, 2]
        S for each set of hands and each range.
    mass : float64[3, 2, 52]
        C for each set, range and card.
    both : float64[3]
        D for each set.
    ends : int64[3]
        Index after the last hand of each set; the sets are relative to the hand whose pairs are summed.
    """

    number: np.ndarray
    totals: np.ndarray
    mass: np.ndarray
    both: np.ndarray
    ends: np.ndarray


def pair_masses(hands: RankedHands, first: npt.ArrayLike, second: npt.ArrayLike) -> np.ndarray:
    """Return, for each hand, the total weight of the pairs of hands that the two other players can hold beside it.

    Such a pair shares no card with the hand, and its two hands share no card. Its weight is the product of the weights
    of its two hands.

    Parameters
    ----------
    hands : RankedHands
        With two hole cards.
    first, second : array-like of float, [num_hands]
        The ranges of the two other players, in the order of `hands`.

    Returns
    -------
    float64[3, 3, num_hands]
        Axis 0 is the set of hands counted in the first range, axis 1 the set counted in the second, axis 2 the hand h.
        The sets are the hands that h beats (`WEAKER`), the hands that h beats or ties with (`NOT_STRONGER`), and `ALL`
        hands. If both other players have folded, the counterfactual value of h is its payoff in chips times entry
        ``[ALL, ALL, h]``.

    Raises
    ------
    ValueError
        If a range has another number of hands, or hands have one hole card.
    """
    reach = np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
    if reach.shape != (2, len(hands.combos)):
        raise ValueError(f"a range has a weight for each of the {len(hands.combos)} hands, got {reach.shape[1:]}")
    if len(hands.cards) and hands.cards.max() >= kernels.NUM_CARDS:
        raise ValueError("three-way values are for two hole cards, got hands of one")
    work = _PairSums(
        number=np.empty((kernels.NUM_CARDS, kernels.NUM_CARDS), np.int64),
        totals=np.empty((kernels.NUM_SETS, 2)),
        mass=np.empty((kernels.NUM_SETS, 2, kernels.NUM_CARDS)),
        both=np.empty(kernels.NUM_SETS),
        ends=np.empty(kernels.NUM_SETS, np.int64),
    )
    out = np.empty((kernels.NUM_SETS, kernels.NUM_SETS, len(hands.combos)))
    kernels.fill_pair_masses(hands.cards, hands.groups, reach, work, out)
    return out


def three_way_values(
    hands: RankedHands,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    contributions: Sequence[float],
    *,
    folded: Sequence[float] = (),
) -> np.ndarray:
    """Return the counterfactual value of each hand at a showdown of three, in chips: float64[num_hands].

    Parameters
    ----------
    hands, first, second
        As in `pair_masses`.
    contributions : sequence of float
        Chips put in by the hand's owner, by the player with range `first` and by the player with range `second`.
    folded : sequence of float
        Chips put in by each seat that has folded. If one of the two other players has folded, that player's chips are
        here, and the player's entry of `contributions` is 0.

    Raises
    ------
    ValueError
        As in `pair_masses`.
    """
    masses = pair_masses(hands, first, second)
    own, *others = contributions
    values = -own * masses[ALL, ALL]
    below = 0.0
    levels = sorted(set(contributions))
    for level in levels:
        top = np.inf if level == levels[-1] else level  # chips above the last level belong to the top layer
        chips = sum(min(put_in, top) - min(put_in, below) for put_in in (*contributions, *folded))
        if own >= level:
            values += chips * _share(masses, others[0] >= level, others[1] >= level)
        below = level
    return values


def warmup() -> None:
    """Compile every kernel that this module calls."""
    hands = rank_hands(HUNL, parse_cards("QsJh2h7c3d"))
    weights = np.ones(len(hands.combos))
    three_way_values(hands, weights, weights, (1.0, 1.0, 1.0))


def _share(masses: np.ndarray, first_plays: bool, second_plays: bool) -> np.ndarray:
    """Return the share of a layer of the pot that each hand wins, summed over weighted pairs of the others' hands.

    A layer is a main or side pot: the chips between two levels of contribution. The hand's owner can win it, and so can
    each other player whose argument (`first_plays`, `second_plays`) is true.
    """
    if not first_plays and not second_plays:
        return masses[ALL, ALL]
    if not second_plays:
        return (masses[WEAKER, ALL] + masses[NOT_STRONGER, ALL]) / 2.0
    if not first_plays:
        return (masses[ALL, WEAKER] + masses[ALL, NOT_STRONGER]) / 2.0
    beats = masses[WEAKER, WEAKER]
    ties_first, ties_second = masses[NOT_STRONGER, WEAKER] - beats, masses[WEAKER, NOT_STRONGER] - beats
    ties_both = masses[NOT_STRONGER, NOT_STRONGER] - beats - ties_first - ties_second
    return beats + (ties_first + ties_second) / 2.0 + ties_both / 3.0
