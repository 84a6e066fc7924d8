"""The interface of a table that somebody else runs."""

from typing import Protocol

from plurispiel.tournaments.formats.match_state import MatchState


class TableError(OSError):
    """The other side of a table cannot be reached, refuses to play on, or contradicts the rules."""


class HandBroken(TableError):
    """A hand cannot be finished or scored, but the next one can be played."""


class RemoteTable(Protocol):
    """One seat at a table that somebody else runs.

    `new_hand` and `act` wait, and return when the seat is to act or the hand is over. They raise `TableError` if the
    hand cannot be begun or finished.
    """

    def new_hand(self) -> MatchState | None:
        """Begin the next hand and return its state; None if the match is over."""

    def act(self, state: MatchState, action: int) -> MatchState:
        """Take a legal action at the state that was returned last, and return the next state of the hand."""

    def close(self) -> None:
        """Leave the table."""


def check_follows(before: MatchState, state: MatchState) -> None:
    """Raise ValueError if a state cannot follow another state of the same hand."""
    if (state.number, state.seat) != (before.number, before.seat):
        raise ValueError(f"another hand or seat follows, but hand {before.number} of seat {before.seat} is not over")
    if state.betting.sizes[: len(before.betting.sizes)] != before.betting.sizes:
        raise ValueError("earlier actions have changed")
    if (
        state.board[: len(before.board)] != before.board
        or state.hole_cards[state.seat] != before.hole_cards[before.seat]
    ):
        raise ValueError("cards have changed")
