"""Lines of the ACPC's protocol: a dealer's MATCHSTATE, which has the state of a hand, and the player's answer.

The dealer writes ``MATCHSTATE:1:17:r300c/c:|AsKd/Td9d6h``: the player's seat, the number of the hand, the betting, and
the hole cards by seat with the board. The player repeats the line and appends its action: ``...:c``, or ``r900`` for a
raise to 900 chips over the whole hand (``r`` in a limit game). Betting and cards are written as in logs (module
`acpc`). Of the hole cards a player sees its own, and after a showdown those of every seat that has not folded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action
from plurispiel.evaluation.replay import RAISE, Betting
from plurispiel.tournaments.formats.acpc import read_betting, read_cards, write_betting, write_cards
from plurispiel.tournaments.formats.lines import MAX_LINE

VERSION = "VERSION:2.0.0"
"""The first line that a player writes; this is the version of the protocol that this package speaks."""

_VERSION = re.compile(r"VERSION:2\.\d{1,9}\.\d{1,9}", re.ASCII)
_MAX_DIGITS = 10
_FIELDS = "MATCHSTATE:seat:hand:betting:cards"


@dataclass(frozen=True, slots=True)
class MatchState:
    """A hand as one seat sees it.

    Attributes
    ----------
    seat : int
        The seat to which the hand is told.
    number : int
        The number of the hand in the match, from 0.
    betting : Betting
        The replayed betting.
    hole_cards : tuple of tuple of int
        The cards of each seat; empty for a seat whose cards are hidden.
    board : tuple of int
        The board cards dealt so far.
    """

    seat: int
    number: int
    betting: Betting
    hole_cards: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]

    @property
    def is_own_turn(self) -> bool:
        """Whether `seat` is to act."""
        return self.betting.state.actor == self.seat


def read_match_state(text: str, rules: HoldemRules) -> MatchState:
    """Return the state in a MATCHSTATE line without its end.

    The line has to show the seat's own cards and, at a showdown, those of all seats that have not folded. During the
    hand it must show no other hole cards. At the end it may show any, as some dealers show cards of folded seats.

    Raises
    ------
    ValueError
        If the line is malformed or too long, the rules do not allow the betting, a card appears twice, or cards are
        missing or shown too early.
    """
    if len(text) >= MAX_LINE:
        raise ValueError(f"a line has at most {MAX_LINE} bytes, got {text[:40]!r}...")
    fields = text.split(":")
    if len(fields) != 5 or fields[0] != "MATCHSTATE":
        raise ValueError(f"a state is written {_FIELDS}, got {text[:80]!r}")
    _, seat_text, number_text, betting_text, cards_text = fields
    seat, number = _number(seat_text, "seat"), _number(number_text, "hand")
    if seat >= rules.num_seats:
        raise ValueError(f"the game has the seats 0 to {rules.num_seats - 1}, got {seat}")
    betting = read_betting(betting_text, rules)
    hole_cards, board = read_cards(cards_text, betting)
    is_over = betting.state.is_over
    for other, (cards, folded) in enumerate(zip(hole_cards, betting.state.folded, strict=True)):
        is_due = other == seat or (is_over and betting.showdown and not folded)
        if len(cards) != rules.num_hole_cards if is_due or (cards and is_over) else cards:
            count = rules.num_hole_cards if is_due or is_over else "no"
            raise ValueError(f"seat {seat} sees {count} hole cards of seat {other} here, got {cards_text[:80]!r}")
    seen = [card for cards in (*hole_cards, board) for card in cards]
    if len(set(seen)) != len(seen):
        raise ValueError(f"a card appears twice in {cards_text[:80]!r}")
    return MatchState(seat, number, betting, hole_cards, board)


def is_version(text: str) -> bool:
    """Return whether a line is a player's first line, with a version of the protocol that is spoken here: 2.x.y.

    >>> is_version("VERSION:2.0.0"), is_version("VERSION:1.0.0")
    (True, False)
    """
    return _VERSION.fullmatch(text) is not None


def write_match_state(
    rules: HoldemRules,
    seat: int,
    number: int,
    actions: Sequence[Action],
    street: int,
    seen: Sequence[Sequence[int]],
    board: Sequence[int],
) -> str:
    """Return a MATCHSTATE line without its end.

    Parameters
    ----------
    seat : int
        The seat to which the line is written.
    number : int
        The number of the hand.
    actions : sequence of Action
        All actions so far.
    street : int
        The street that the betting has reached, at a showdown the last one.
    seen : sequence of sequence of int
        Hole cards by seat; empty for a seat whose cards `seat` may not see (`seen_cards`).
    board : sequence of int
        The board, whose cards after `street` are left out.

    Raises
    ------
    ValueError
        If the game deals board cards before the first betting.
    """
    betting, cards = write_betting(rules, actions, street), write_cards(rules, seen, board, street)
    return f"MATCHSTATE:{seat}:{number}:{betting}:{cards}"


def seen_cards(
    hole_cards: Sequence[Sequence[int]], seat: int, folded: Sequence[bool] | None = None
) -> list[Sequence[int]]:
    """Return hole cards by seat, without the cards that a seat does not see.

    Parameters
    ----------
    hole_cards : sequence of sequence of int
        The cards of every seat.
    seat : int
        The seat that sees.
    folded : sequence of bool, optional
        At a showdown, whether each seat has folded; by default there is no showdown.
    """
    return [
        cards if other == seat or (folded is not None and not folded[other]) else ()
        for other, cards in enumerate(hole_cards)
    ]


def read_action(text: str, rules: HoldemRules) -> int:
    """Return the action that a player has written: 0, 1, the chips of a raise, or `RAISE` in a limit game.

    A raise to 0 or 1 chips becomes a raise to 2. Whether the action is legal is not checked.

    Raises
    ------
    ValueError
        If the text is not an action.
    """
    if text in ("f", "c"):
        return FOLD if text == "f" else CALL
    size = text[1:]
    if text[:1] == "r" and rules.is_limit == (not size):
        if rules.is_limit:
            return RAISE
        if size.isascii() and size.isdigit() and len(size) <= _MAX_DIGITS:
            return max(int(size), CALL + 1)  # 0 and 1 are fold and call; no raise is to fewer than 2
    raises = "r" if rules.is_limit else "r and chips over the whole hand"
    raise ValueError(f"an action is written f, c or {raises}, got {text[:40]!r}")


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise ValueError(f"the {what} in {_FIELDS} is a number, got {text[:40]!r}")
    return int(text)
