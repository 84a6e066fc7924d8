"""How an agent plays: the usual frequencies, counted by position."""

from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import MAX_CHIPS
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
"""Columns of a table of counts; a row is a seat."""

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


def position_names(num_seats: int) -> list[str]:
    """Return what each seat is called.

    >>> position_names(6)
    ['SB', 'BB', 'UTG', 'HJ', 'CO', 'BTN']
    >>> position_names(2)
    ['BB', 'BTN']
    """
    if num_seats == 2:
        return ["BB", "BTN"]
    late = ["LJ", "HJ", "CO", "BTN"]
    behind = num_seats - 2
    if behind <= 3:
        return ["SB", "BB", *late[4 - behind :]]
    early = ["UTG", *(f"UTG+{k}" for k in range(1, behind))]
    num_late = min(behind - 1, 4)
    return ["SB", "BB", *early[: behind - num_late], *late[4 - num_late :]]


def new_counts(num_seats: int) -> np.ndarray:
    """Return an empty table: int64[num_seats, len(COUNTERS)]."""
    return np.zeros((num_seats, len(COUNTERS)), dtype=np.int64)


def hand_counts(hand: Hand) -> list[list[int]]:
    """Return what each seat did in one hand: a row of `COUNTERS` for each seat, all 0 or 1.

    VPIP: called or raised before the flop (posting a blind or checking does not count). First in: the
    first to act with everybody before it folded. 3-bet: raised over exactly one raise before the flop.
    Donk bet: bet into the last raiser of the street before, who was still to act and had chips left.
    Chances and successes count once a hand.
    """
    rules = hand.rules
    stacks = rules.stacks or (MAX_CHIPS,) * rules.num_seats
    counts = [[0] * len(COUNTERS) for _ in range(rules.num_seats)]
    highest = rules.big_blind
    contributions = list(rules.blinds)
    folded = hand.folded
    entered = False
    street = num_raises = 0
    raiser = previous_raiser = -1
    acted: set[int] = set()
    for seat, action, action_street in hand.actions:
        row = counts[seat]
        if action_street != street:
            street = action_street
            previous_raiser = raiser
            raiser = -1
            num_raises = 0
            acted = set()
        if street == 0:
            if action > CALL or (action == CALL and contributions[seat] < highest):
                row[_VPIP] = 1
                if action > CALL:
                    row[_RAISED_PREFLOP] = 1
            if not entered:
                row[_FIRST_IN_CHANCE] = 1
                if action > CALL:
                    row[_FIRST_IN_RAISE] = 1
                elif action == CALL and contributions[seat] < highest:
                    row[_FIRST_IN_LIMP] = 1
            entered = entered or action != FOLD
            if num_raises == 1:  # whoever raised first is not asked again before the second raise
                row[_THREE_BET_CHANCE] = 1
                if action > CALL:
                    row[_THREE_BET] = 1
        elif num_raises == 0 and previous_raiser >= 0 and seat != previous_raiser:
            if previous_raiser not in acted and contributions[previous_raiser] < stacks[previous_raiser]:
                row[_DONK_BET_CHANCE] = 1
                if action > CALL:
                    row[_DONK_BET] = 1
        acted.add(seat)
        if action == CALL:
            contributions[seat] = min(highest, stacks[seat])
        elif action > CALL:
            contributions[seat] = highest = action
            num_raises += 1
            raiser = seat
    for seat, row in enumerate(counts):
        row[_HANDS] = 1
        row[_SHOWDOWN] = int(hand.showdown and seat not in folded)
    return counts


@dataclass(frozen=True)
class PlayStatistics:
    """Frequencies of one agent over its hands, in 0..1; None where there was no chance.

    Attributes
    ----------
    counts : int64[num_seats, len(COUNTERS)]
    """

    counts: np.ndarray

    def share(self, successes: str, chances: str, seat: int | None = None) -> float | None:
        """Return successes per chance, over all seats or at one."""
        rows = self.counts if seat is None else self.counts[seat : seat + 1]
        possible = int(rows[:, _COLUMN[chances]].sum())
        return int(rows[:, _COLUMN[successes]].sum()) / possible if possible else None

    def record(self) -> dict:
        """Return the frequencies as plain values, first-in shares by position."""
        names = position_names(len(self.counts))
        return {
            "vpip": self.share("vpip", "hands"),
            "pfr": self.share("raised_preflop", "hands"),
            "first_in_raise": {n: self.share("first_in_raises", "first_in_chances", s) for s, n in enumerate(names)},
            "first_in_limp": {n: self.share("first_in_limps", "first_in_chances", s) for s, n in enumerate(names)},
            "three_bet": self.share("three_bets", "three_bet_chances"),
            "donk_bet": self.share("donk_bets", "donk_bet_chances"),
            "showdown": self.share("showdowns", "hands"),
        }
