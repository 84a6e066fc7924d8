"""A seat at the table of an ACPC dealer: the player's side of the protocol.

The player first writes the version of the protocol. It reads a state at the beginning of a hand and after every action,
and answers the states at which its own seat is to act. Every state has to follow from the state before.
"""

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.tournaments.formats.acpc import write_action
from plurispiel.tournaments.formats.lines import BadLine
from plurispiel.tournaments.formats.match_state import VERSION, MatchState, read_match_state
from plurispiel.tournaments.remote.connection import Connection
from plurispiel.tournaments.remote.table import TableError, check_follows

_SEND_S = 30.0  # seconds within which a line to the dealer must be sent


class AcpcTable:
    """A `RemoteTable` whose dealer speaks the ACPC's protocol.

    Parameters
    ----------
    connection : Connection
        The connection to the dealer.
    rules : HoldemRules
        The game that the dealer deals.

    Raises
    ------
    TableError
        If the connection is lost.
    """

    def __init__(self, connection: Connection, rules: HoldemRules):
        self._connection = connection
        self._rules = rules
        self._line = ""
        self._state: MatchState | None = None
        self._send(VERSION)

    def new_hand(self) -> MatchState | None:
        """Return the first state of the next hand at which the seat is to act or the hand is over.

        None if the dealer has ended the match.
        """
        self._state = None
        state = self._next()
        return state and self._own_turn(state)

    def act(self, state: MatchState, action: int) -> MatchState:
        """Answer the state that was read last; return the next at which the seat is to act or the hand is over."""
        self._send(f"{self._line}:{write_action(action, self._rules)}")
        return self._own_turn(self._following())

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _own_turn(self, state: MatchState) -> MatchState:
        """Return the first state, from `state` on, at which the seat is to act or the hand is over."""
        while not (state.is_own_turn or state.betting.state.is_over):
            state = self._following()
        return state

    def _following(self) -> MatchState:
        """Return the next state of this hand."""
        state = self._next()
        if state is None:
            assert self._state is not None
            raise TableError(f"the dealer ended the connection during hand {self._state.number}")
        return state

    def _next(self) -> MatchState | None:
        """Return the next state; None at the end of the connection."""
        while True:
            try:
                line = self._connection.read_line()
            except BadLine as error:
                raise TableError(f"the dealer's line makes no sense: {error}") from None
            except OSError as error:
                where = f" during hand {self._state.number}" if self._state is not None else ""
                raise TableError(f"the connection to the dealer was lost{where}: {error.strerror or error}") from None
            if line is None:
                return None
            if line and not line.startswith(("#", ";")):  # dealers may send comments
                break
        try:
            state = read_match_state(line, self._rules)
            if self._state is not None:
                check_follows(self._state, state)
        except ValueError as error:
            raise TableError(f"the dealer's state contradicts the rules of the game: {error}; it is {line}") from None
        self._line, self._state = line, state
        return state

    def _send(self, text: str) -> None:
        try:
            self._connection.send_line(text, _SEND_S)
        except OSError as error:
            raise TableError(f"the connection to the dealer was lost: {error.strerror or error}") from None
