"""The choice of hands that the viewer shows."""

import re
from collections import Counter
from typing import NamedTuple

from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.kept_hands import KeptGroup, kept_groups
from plurispiel.tournaments.run.schedule import make_lineups
from plurispiel.tournaments.run.store import RunStore

MAX_HANDS = 100
"""Largest number of hands of a run in the viewer."""

MAX_CANDIDATES = 2_000
"""Largest number of kept groups among which hands are chosen; later groups, by line-up and deck, are ignored."""

_PER_GROUP = 2
"""Largest number of hands chosen from one group, besides the wanted hands."""

_BUSY = 14
"""Decisions of a hand beyond this number, not counting folds, do not make the hand more interesting."""

_ID = re.compile(r"(?:([A-Z])\.)?(\d{1,9})\.(\d{1,9})\.(\d{1,3})")


class HandId(NamedTuple):
    """The numbers of a hand's line-up, deck and rotation in its run, each from 0."""

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
    """Return the run's letter and the hand of a name such as ``A.0.12.3``; a name without a letter means run A.

    Raises
    ------
    ValueError
        If the text is not of the form ``LINEUP.DECK.ROTATION`` or ``RUN.LINEUP.DECK.ROTATION``.
    """
    found = _ID.fullmatch(text.strip())
    if not found:
        raise ValueError(
            f"a hand is named LINEUP.DECK.ROTATION, with several runs RUN.LINEUP.DECK.ROTATION (A.0.12.3), got {text!r}"
        )
    return found[1] or "A", HandId(*map(int, found.groups()[1:]))


def choose_hands(run: RunRecord, store: RunStore, count: int, wanted: list[HandId]) -> list[HandId]:
    """Return the wanted hands, filled up to `count` hands, sorted by deck, line-up and rotation.

    The other hands are chosen among the hands that the run kept, at most `_PER_GROUP` from a group. Hands of groups
    whose strategies were recorded during play come first, then hands with more decisions other than folds (up to
    `_BUSY`), then hands in which a seat won more chips. If the run kept no hands, hands of the first decks are taken.

    Parameters
    ----------
    count : int
        Number of hands to return: more if more are wanted, fewer if the run has fewer to choose from.
    wanted : list of HandId
        Hands that must be returned, also beyond `count`.

    Raises
    ------
    ValueError
        If the run does not hold a wanted hand, or hands that it kept cannot be read.
    """
    for hand in wanted:
        if not store.holds(hand.lineup, hand.deck) or hand.rotation >= run.config.seats:
            raise ValueError(
                f"{run.folder} holds no hand {hand.text(run.letter)}: its line-up, deck or rotation has not been played"
            )
    ranked = []
    told = store.told()
    for number, group in enumerate(kept_groups(store)):
        if number == MAX_CANDIDATES:
            break
        is_told = (group.lineup, group.deck) in told
        for rotation in range(len(group.hands)):
            ranked.append(((is_told, *_interest(group, rotation)), HandId(group.lineup, group.deck, rotation)))
    if not ranked:  # without kept hands, nothing tells which are more interesting
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
    """Return the number of decisions that were not folds, at most `_BUSY`, and the most chips that a seat won."""
    hand = group.hands[rotation]
    return min(_BUSY, sum(action != FOLD for action in hand.actions)), max(hand.payoffs)
