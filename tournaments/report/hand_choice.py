"""Which hands of a run the viewer shows."""

import re
from collections import Counter
from typing import NamedTuple

from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.kept_hands import KeptGroup, kept_groups
from plurispiel.tournaments.run.schedule import make_lineups
from plurispiel.tournaments.run.store import RunStore

MAX_HANDS = 100
MAX_LOOKED_AT = 2_000
"""Groups among which hands are chosen."""

_PER_GROUP = 2
_BUSY = 14
_ID = re.compile(r"(?:([A-Z])\.)?(\d{1,9})\.(\d{1,9})\.(\d{1,3})")


class HandId(NamedTuple):
    """Where a hand stands in a run: line-up, deck and rotation, each from 0."""

    lineup: int
    deck: int
    rotation: int

    def text(self, letter: str) -> str:
        """Return the hand's name in a permalink.

        >>> HandId(0, 12, 3).text("A")
        'A.0.12.3'
        """
        return f"{letter}.{self.lineup}.{self.deck}.{self.rotation}"


def parse_hand(text: str) -> tuple[str, HandId]:
    """Return the run's letter, by default A, and the hand.

    Raises
    ------
    ValueError
        If the text names no hand.
    """
    found = _ID.fullmatch(text.strip())
    if not found:
        raise ValueError(f"a hand is named LINEUP.DECK.ROTATION, behind RUN. of several runs (A.0.12.3), got {text!r}")
    return found[1] or "A", HandId(*map(int, found.groups()[1:]))


def choose_hands(run: RunRecord, store: RunStore, count: int, wanted: list[HandId]) -> list[HandId]:
    """Return the hands that were asked for, then others, in the schedule's order.

    Preferred are those whose strategies were written down in play, if there are some, and then those with most action.

    Raises
    ------
    ValueError
        If a hand that was asked for is none of the run.
    """
    for hand in wanted:
        if not store.holds(hand.lineup, hand.deck) or hand.rotation >= run.config.seats:
            raise ValueError(f"{run.folder} holds no hand {hand.text(run.letter)}")
    ranked = []
    told = store.told()
    for number, group in enumerate(kept_groups(store)):
        if number == MAX_LOOKED_AT:
            break
        is_told = (group.lineup, group.deck) in told
        for rotation in range(len(group.hands)):
            ranked.append(((is_told, *_interest(group, rotation)), HandId(group.lineup, group.deck, rotation)))
    if not ranked:  # nothing is kept: any are as good as others
        lineups = range(len(make_lineups(run.config)))
        some = [(deck, lineup) for deck in range(count) for lineup in lineups if store.holds(lineup, deck)]
        ranked = [((False, 0, 0.0), HandId(lineup, deck, deck % run.config.seats)) for deck, lineup in some]
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    chosen = list(dict.fromkeys(wanted))
    taken: Counter[tuple[int, int]] = Counter()
    for _, hand in ranked:
        if len(chosen) >= max(count, len(wanted)):
            break
        if hand not in chosen and taken[hand[:2]] < _PER_GROUP:
            taken[hand[:2]] += 1
            chosen.append(hand)
    return sorted(chosen, key=lambda hand: (hand.deck, hand.lineup, hand.rotation))


def _interest(group: KeptGroup, rotation: int) -> tuple[int, float]:
    """Return how much went on in a hand: decisions that were no folds, and the chips that changed hands."""
    hand = group.hands[rotation]
    return min(_BUSY, sum(action != FOLD for action in hand.actions)), max(hand.payoffs)
