"""The interface of a table that somebody else runs."""

from typing import Protocol

from plurispiel.tournaments.formats.match_state import MatchState


class TableError(OSError):
    """The other side of a table has gone, or contradicts the rules, so that the hand cannot be finished."""


class RemoteTable(Protocol):
    """One seat at a table that somebody else runs.

    The methods wait, and return when the seat is to act or the hand is over. They raise `TableError`.
    """

    def new_hand(self) -> MatchState | None:
        """Return the next hand; None if the match is over."""

    def act(self, state: MatchState, action: int) -> MatchState:
        """Take a legal action at the state that was returned last, and return the next state of the hand."""

    def close(self) -> None:
        """Leave the table."""
