"""Frequencies of play by position: VPIP, PFR, 3-bets and more."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import rules_array
from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import KUHN, MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.base import Action
from plurispiel.evaluation.hand import Hand

COUNTERS = (
    "hands",
    "vpip",
    "raised_preflop",
    "first_in_chances",
    "first_in_raises",
    "first_in_limps",
    "three_bet_chances",
    "three_bets",
    "donk_bet_chances",
    "donk_bets",
    "showdowns",
)
"""Columns of a table of counts, whose rows are seats."""

_COLUMN = {name: k for k, name in enumerate(COUNTERS)}
(
    _HANDS,
    _VPIP,
    _RAISED_PREFLOP,
    _FIRST_IN_CHANCE,
    _FIRST_IN_RAISE,
    _FIRST_IN_LIMP,
    _THREE_BET_CHANCE,
    _THREE_BET,
    _DONK_BET_CHANCE,
    _DONK_BET,
    _SHOWDOWN,
) = range(len(COUNTERS))


def new_counts(num_seats: int) -> np.ndarray:
    """Return an empty table: int64[num_seats, len(COUNTERS)]."""
    return np.zeros((num_seats, len(COUNTERS)), dtype=np.int64)


def hand_counts(hand: Hand) -> np.ndarray:
    """Return the counts of one hand: uint8[num_seats, len(COUNTERS)], all 0 or 1.

    VPIP: the seat called or raised before the flop (posting a blind or checking does not count). First in: all seats
    that acted earlier folded. 3-bet: the seat raised before the flop after exactly one raise. Donk bet: the seat made
    the first bet of a street, before the last raiser of the previous street had acted, and that raiser had chips left.
    Chances and successes count once a hand.
    """
    counts = np.zeros((hand.rules.num_seats, len(COUNTERS)), dtype=np.uint8)
    actions = np.fromiter(chain.from_iterable(hand.actions), dtype=np.int64, count=3 * len(hand.actions))
    _count(rules_array(hand.rules), actions, hand.showdown, np.zeros(MAX_SEATS, dtype=np.int64), counts)
    return counts


@dataclass(frozen=True)
class PlayStatistics:
    """Frequencies of one agent over its hands.

    Attributes
    ----------
    counts : int64[num_seats, len(COUNTERS)]
        Sums of `hand_counts` over the agent's hands, by seat.
    """

    counts: np.ndarray

    def share(self, successes: str, chances: str, seat: int | None = None) -> float | None:
        """Return successes per chance, in 0..1, over all seats or at one; None if there was no chance."""
        rows = self.counts if seat is None else self.counts[seat : seat + 1]
        possible = int(rows[:, _COLUMN[chances]].sum())
        return int(rows[:, _COLUMN[successes]].sum()) / possible if possible else None

    def record(self, rules: HoldemRules) -> dict:
        """Return the frequencies as plain values, 0..1 or None. First-in raises and limps are given by position.

        Parameters
        ----------
        rules : HoldemRules
            The game of the hands, which names the positions of the seats.
        """
        names = seat_positions(rules)
        return {
            "vpip": self.share("vpip", "hands"),
            "pfr": self.share("raised_preflop", "hands"),
            "first_in_raise": {n: self.share("first_in_raises", "first_in_chances", s) for s, n in enumerate(names)},
            "first_in_limp": {n: self.share("first_in_limps", "first_in_chances", s) for s, n in enumerate(names)},
            "three_bet": self.share("three_bets", "three_bet_chances"),
            "donk_bet": self.share("donk_bets", "donk_bet_chances"),
            "showdown": self.share("showdowns", "hands"),
        }


def warmup() -> None:
    """Compile every kernel of this module."""
    hand_counts(Hand(KUHN, KUHN.cards[:2], (Action(0, CALL, 0), Action(1, CALL, 0)), (-1.0, 1.0), True))


@kernel
def _count(rules, actions, showdown, paid, counts):
    """Write the counts of a hand (`hand_counts`).

    Parameters
    ----------
    actions : int64[3 * n]
        Seat, action and street of each action.
    paid : int64[MAX_SEATS]
        Workspace: the chips that each seat has put in.
    counts : uint8[num_seats, len(COUNTERS)]
        Zeros, modified in place.
    """
    num_seats = rules[betting_layout.NUM_SEATS]
    highest = 0
    for seat in range(num_seats):
        paid[seat] = rules[betting_layout.BLIND + seat]
        highest = max(highest, paid[seat])
        counts[seat, _HANDS] = 1
        counts[seat, _SHOWDOWN] = showdown
    entered = False
    street = num_raises = 0
    raiser = previous_raiser = -1
    acted = 0  # a bit set of the seats that acted on this street
    for k in range(0, actions.shape[0], 3):
        seat, action = actions[k], actions[k + 1]
        if actions[k + 2] != street:
            street = actions[k + 2]
            previous_raiser = raiser
            raiser = -1
            num_raises = 0
            acted = 0
        raises = action > CALL
        if street == 0:
            calls = action == CALL and paid[seat] < highest
            counts[seat, _VPIP] |= calls or raises
            counts[seat, _RAISED_PREFLOP] |= raises
            if not entered:
                counts[seat, _FIRST_IN_CHANCE] = 1
                counts[seat, _FIRST_IN_RAISE] = raises
                counts[seat, _FIRST_IN_LIMP] = calls
            entered = entered or action != FOLD
            if num_raises == 1:  # the first raiser itself cannot act again before a second raise
                counts[seat, _THREE_BET_CHANCE] = 1
                counts[seat, _THREE_BET] |= raises
        elif num_raises == 0 and previous_raiser >= 0 and seat != previous_raiser:
            if (
                acted >> previous_raiser & 1 == 0
                and paid[previous_raiser] < rules[betting_layout.STACK + previous_raiser]
            ):
                counts[seat, _DONK_BET_CHANCE] = 1
                counts[seat, _DONK_BET] |= raises
        acted |= 1 << seat
        if action == FOLD:
            counts[seat, _SHOWDOWN] = 0
        elif action == CALL:
            paid[seat] = min(highest, rules[betting_layout.STACK + seat])
        else:
            paid[seat] = highest = action
            num_raises += 1
            raiser = seat
