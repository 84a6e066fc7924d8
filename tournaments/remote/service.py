"""The interface of a web service's table, and the check whether a hand as the service tells it follows our rules."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.evaluation.replay import TOLERANCE, Betting, replay_hand
from plurispiel.tournaments.formats.match_state import MatchState
from plurispiel.tournaments.remote.http import HttpClient
from plurispiel.tournaments.remote.table import HandBroken, check_follows


class ServiceTable(Protocol):
    """A seat at a service's heads-up table.

    All methods wait until the seat is to act or the hand is over. They raise `HandBroken` if this hand cannot be
    finished or scored. `open` and `reopen` raise `TableError` if the service cannot be reached or refuses the request.

    Attributes
    ----------
    client : HttpClient
        The client that sends the requests. `client.replies` holds the replies about the present hand.
    hand_id : str
        The service's name for the present hand; empty if it has none.
    opponent : str
        The opponent's name and version, as far as the service tells them.
    corrected : float or None
        The service's own estimate of our winnings in the present hand, with luck removed, in chips. None before the end
        of the hand, or if the service gives no estimate.
    """

    client: HttpClient
    hand_id: str
    opponent: str
    corrected: float | None

    def open(self, number: int) -> MatchState:
        """Begin the hand with this number."""

    def reopen(self, number: int, hand_id: str) -> MatchState:
        """Continue a hand that an earlier process began."""

    def act(self, state: MatchState, action: int) -> MatchState:
        """Take a legal action at the state that was returned last, and return the next state of the hand."""


class Account(NamedTuple):
    """A hand as a service tells it, with the betting replayed by our rules.

    Attributes
    ----------
    seat : int
        Our seat.
    betting : Betting
        The replayed betting.
    own, other : tuple of int
        Our hole cards, and the opponent's; empty while they are hidden.
    board : tuple of int
        The board cards.
    winnings : float or None
        Our net chips; None while the hand is not over.
    """

    seat: int
    betting: Betting
    own: tuple[int, ...]
    other: tuple[int, ...]
    board: tuple[int, ...]
    winnings: float | None


def checked_state(
    number: int, account: Account, before: MatchState | None = None, taken: int | None = None
) -> MatchState:
    """Return the state of a hand, if the service's account agrees with our rules.

    Parameters
    ----------
    number : int
        The number of the hand.
    before : MatchState, optional
        The previous state; by default the hand has just begun, or is continued after an interruption.
    taken : int, optional
        Our action at `before`.

    Raises
    ------
    ValueError
        If the account contradicts the rules, itself, `before` or `taken`.
    """
    seat, betting, own, other, board, winnings = account
    is_over, showdown = betting.state.is_over, betting.state.is_over and betting.showdown
    if len(own) != betting.rules.num_hole_cards or len(other) not in (0, len(own)):
        raise ValueError(
            f"a player holds {betting.rules.num_hole_cards} cards, got {len(own)} of ours and"
            f" {len(other)} of the opponent's"
        )
    if len(board) != betting.board_size:
        raise ValueError(f"after this betting the board has {betting.board_size} cards, got {len(board)}")
    if other and not is_over:
        raise ValueError("the opponent's cards are shown before the end of the hand")
    if showdown and not other:
        raise ValueError("a showdown without the opponent's cards")
    if len({*own, *other, *board}) != len(own) + len(other) + len(board):
        raise ValueError("a card appears twice")
    if is_over != (winnings is not None):
        raise ValueError(f"by our rules the hand is {'' if is_over else 'not '}over, the service says otherwise")
    if not is_over and betting.state.actor != seat:
        raise ValueError("the opponent is to act, and has not acted")
    state = MatchState(seat, number, betting, (own, other) if seat == 0 else (other, own), board)
    if before is not None:
        check_follows(before, state)
        known = len(before.betting.sizes)
        if taken is not None and betting.sizes[known : known + 1] != (taken,):
            raise ValueError("the service's history lacks our last action")
        if seat in betting.seats[known + 1 :]:
            raise ValueError("the service's history has an action of our seat that we did not take")
    if winnings is not None:
        payoff = replay_hand(betting, state.hole_cards, board).payoffs[seat]
        if abs(payoff - winnings) > TOLERANCE:
            raise ValueError(f"by our rules the hand pays {payoff:+,g} chips, the service says {winnings:+,.6g}")
    return state


def is_new(state: MatchState) -> bool:
    """Return whether our seat has not acted in a hand yet."""
    return state.seat not in state.betting.seats


def disagreement(host: str, error: ValueError) -> HandBroken:
    """Return the exception for an account that contradicts our rules."""
    return HandBroken(f"{host}: {' '.join(str(error).split())[:300]}")


def field(record: Any, name: str, *kinds: type) -> Any:
    """Return a field of a reply, which must have one of the types; a missing field counts as null (NoneType).

    Raises
    ------
    ValueError
        If the reply is no object, or the field is of another type.
    """
    if not isinstance(record, dict):
        raise ValueError(f"an object is expected, got {str(record)[:40]!r}")
    value = record.get(name)
    if type(value) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds if kind is not type(None))
        raise ValueError(f"{name!r} has to be of type {wanted}, got {str(value)[:40]!r}")
    return value


def cards_of(value: str | Sequence[Any] | None) -> tuple[int, ...]:
    """Return the cards of a text such as ``AhKd`` or a list such as ``["Ah", "Kd"]``; none for None.

    Raises
    ------
    ValueError
        If the value holds anything else, or a card appears twice.
    """
    if not value:
        return ()
    if not isinstance(value, str):
        if not all(isinstance(card, str) and len(card) == 2 for card in value):
            raise ValueError(f"cards are a list of texts such as 'Ah', got {str(value)[:40]!r}")
        value = "".join(value)
    return parse_cards(value[:40])
