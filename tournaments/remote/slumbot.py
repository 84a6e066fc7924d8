"""A seat at the table of Slumbot, a heads-up no-limit bot with stacks of 200 big blinds, over its web interface.

``POST /api/new_hand`` begins a hand and ``POST /api/act`` takes an action. Each reply has the whole betting, such as
``b200c/kb200``, our cards and the board, and at the end of the hand also the opponent's cards and our net chips. A
token names the session; a reply may replace it by a new token. A hand that was left unfinished cannot be continued.

References
----------
E. Jackson: the sample client at https://www.slumbot.com
"""

import re
from types import NoneType
from typing import Any

from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.tournaments.formats.match_state import MatchState
from plurispiel.tournaments.formats.street_bets import read_street_bets, write_street_bet
from plurispiel.tournaments.remote.http import HttpClient
from plurispiel.tournaments.remote.service import Account, cards_of, checked_state, disagreement, field, is_new
from plurispiel.tournaments.remote.table import HandBroken, TableError

URL = "https://slumbot.com"
RULES: HoldemRules = HUNL

REQUESTS = ("POST /api/new_hand  (at the start of each hand)", "POST /api/act  (for each action of ours)")
"""All requests that a table sends, in words."""

_MAX_BETTING = 1000
_MAX_TOKEN = 200


class SlumbotTable:
    """A `ServiceTable` of Slumbot.

    Parameters
    ----------
    client : HttpClient
        Sends the requests.
    """

    def __init__(self, client: HttpClient):
        self.client = client
        self.hand_id = ""
        self.opponent = "Slumbot"
        self.corrected: float | None = None
        self._token: str | None = None

    def open(self, number: int) -> MatchState:
        """Begin a hand."""
        self.client.replies.clear()
        reply = self.client.post("/api/new_hand", {"token": self._token} if self._token else {})
        if self._token and isinstance(reply, dict) and reply.get("error_msg"):  # the session may have expired
            self._token = None
            reply = self.client.post("/api/new_hand", {})
        if isinstance(reply, dict) and reply.get("error_msg"):
            raise TableError(f"{self.client.host} begins no hand: {str(reply['error_msg'])[:200]!r}")
        state = self._state(number, reply, None, None)
        if not is_new(state):
            raise disagreement(self.client.host, ValueError("its new hand already has an action of ours"))
        return state

    def reopen(self, number: int, hand_id: str) -> MatchState:
        """Raise `HandBroken`, because the service does not show an unfinished hand again."""
        self.client.replies.clear()
        raise HandBroken("the program was ended within this hand, and the service does not show it again")

    def act(self, state: MatchState, action: int) -> MatchState:
        """Take an action."""
        move = write_street_bet(action, state.betting)
        try:
            reply = self.client.post("/api/act", {"token": self._token, "incr": move})
        except TableError as error:
            raise HandBroken(str(error)) from None
        if isinstance(reply, dict) and reply.get("error_msg"):
            raise HandBroken(f"{self.client.host} refuses {move}: {str(reply['error_msg'])[:200]!r}")
        return self._state(state.number, reply, state, action)

    def _state(self, number: int, reply: Any, before: MatchState | None, taken: int | None) -> MatchState:
        try:
            token = field(reply, "token", str, NoneType)
            if token is not None:
                if not (0 < len(token) <= _MAX_TOKEN and token.isascii() and token.isprintable()):
                    raise ValueError(f"a token has 1 to {_MAX_TOKEN} printable characters, got {token[:40]!r}")
                self._token = token
            elif self._token is None:
                raise ValueError("the first reply has no token")
            return checked_state(number, _account(reply, before), before, taken)
        except ValueError as error:
            raise disagreement(self.client.host, error) from None


def _account(reply: Any, before: MatchState | None) -> Account:
    text = field(reply, "action", str)
    moves = re.findall(r"b\d*|.", text[:_MAX_BETTING], re.DOTALL | re.ASCII)
    seat = field(reply, "client_pos", int, *(() if before is None else (NoneType,)))
    if before is not None and seat is None:
        seat = before.seat
    if seat not in (0, 1):
        raise ValueError(f"'client_pos' is 0 or 1, got {seat}")
    own = cards_of(field(reply, "hole_cards", list, *(() if before is None else (NoneType,))))
    if before is not None and not own:
        own = before.hole_cards[before.seat]
    return Account(
        seat,
        read_street_bets(moves, "/", RULES),
        own,
        cards_of(field(reply, "bot_hole_cards", list, NoneType)),
        cards_of(field(reply, "board", list)),
        field(reply, "winnings", int, float, NoneType),
    )
