"""A seat at the table of GTO Wizard's benchmark for researchers: heads-up no-limit hold'em with 200 big blinds.

``POST /hands`` begins a hand, ``POST /hands/ID/act`` takes an action, ``GET /hands/in-progress`` lists the hands that
are not over, and ``GET /results`` names the bot to which the key belongs. A reply has the betting as a list such as
``["b300", "c", "_", "k"]``, and at the end our net chips and the service's own AIVAT estimate. The key is sent in the
header ``X-API-KEY``.

References
----------
The service's description at https://researcher.gtowizard.com/openapi.json
"""

import urllib.parse
from types import NoneType
from typing import Any

from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.tournaments.formats.match_state import MatchState
from plurispiel.tournaments.formats.street_bets import read_street_bets, write_street_bet
from plurispiel.tournaments.remote.http import BadStatus, HttpClient
from plurispiel.tournaments.remote.service import Account, cards_of, checked_state, disagreement, field, is_new
from plurispiel.tournaments.remote.table import HandBroken, TableError

URL = "https://researcher.gtowizard.com"
RULES: HoldemRules = HUNL
KEY = "GTOWIZARD_API_KEY"
"""The environment variable with the key."""

REQUESTS = (
    "GET /results  (once, for the name of the bot)",
    "GET /hands/in-progress  (to finish a hand that was left open)",
    "POST /hands  (at the start of each hand)",
    "POST /hands/ID/act  (for each action of ours)",
)
"""All requests that a table sends, in words; each has the header ``X-API-KEY``."""

_GAME = "HUNL 200BB"
_CONFLICT = 409
_NOT_FOUND = 404
_SEATS = {"BB": 0, "SB": 1, "BTN": 1}
_MAX_MOVES = 400
_MAX_NAME = 80


class GtoWizardTable:
    """A `ServiceTable` of GTO Wizard's benchmark.

    Parameters
    ----------
    client : HttpClient
        Sends the requests, with the key.
    """

    def __init__(self, client: HttpClient):
        self.client = client
        self.hand_id = ""
        self.opponent = ""
        self.corrected: float | None = None
        self._own_name = ""
        self._version = ""
        self._has_asked = False

    def open(self, number: int) -> MatchState:
        """Begin a hand; if the service says that too many hands are open, wait and ask again."""
        self.client.replies.clear()
        self._ask_name()
        self.hand_id = ""
        reply = self.client.post("/hands", {"game_name": _GAME}, busy=frozenset({_CONFLICT}))
        state = self._state(number, reply, None, None)
        if not is_new(state):
            raise disagreement(self.client.host, ValueError("its new hand already has an action of ours"))
        return state

    def reopen(self, number: int, hand_id: str) -> MatchState:
        """Continue a hand in progress; raise `HandBroken` if the service does not list the hand any more."""
        self.client.replies.clear()
        self._ask_name()
        self.hand_id = hand_id
        replies = self._get("/hands/in-progress")
        if not isinstance(replies, list):
            raise TableError(f"{self.client.host}: the hands in progress are a list, got {str(replies)[:40]!r}")
        for reply in replies:
            if isinstance(reply, dict) and str(reply.get("hand_id")) == hand_id:
                return self._state(number, reply, None, None)
        raise HandBroken(f"the program was ended within hand {hand_id}, which the service no longer lists as open")

    def act(self, state: MatchState, action: int) -> MatchState:
        """Take an action."""
        move = write_street_bet(action, state.betting)
        body = {"action": move[0]} | ({"amount": int(move[1:])} if move[1:] else {})
        try:
            reply = self.client.post(f"/hands/{self.hand_id}/act", body)
        except BadStatus as error:
            if error.status == _CONFLICT:
                raise HandBroken(f"{self.client.host} says that hand {self.hand_id} is over already") from None
            raise HandBroken(str(error)) from None
        except TableError as error:
            raise HandBroken(str(error)) from None
        return self._state(state.number, reply, state, action)

    def _ask_name(self) -> None:
        """Ask for the name of our bot and the opponent's version, once."""
        if self._has_asked:
            return
        try:
            reply = self._get("/results")
        except BadStatus as error:
            if error.status != _NOT_FOUND:  # there are no results before the first hand
                raise
            reply = {}
        self._has_asked = True
        self.client.replies.clear()
        if isinstance(reply, dict):
            name, version = reply.get("name"), reply.get("gto_wizard_version")
            self._own_name = name if isinstance(name, str) else ""
            self._version = f" version {version}" if type(version) is int else ""

    def _get(self, path: str) -> Any:
        """Return the reply to a GET request about the game; raise `TableError` for a reply that cannot be used."""
        try:
            return self.client.get(f"{path}?{urllib.parse.urlencode({'game_name': _GAME})}")
        except HandBroken as error:
            raise TableError(str(error)) from None

    def _state(self, number: int, reply: Any, before: MatchState | None, taken: int | None) -> MatchState:
        try:
            hand_id = str(field(reply, "hand_id", int, str))
            if not (0 < len(hand_id) <= _MAX_NAME and hand_id.isascii() and hand_id.replace("-", "").isalnum()):
                raise ValueError(f"a hand's name has letters, digits and hyphens, got {hand_id[:40]!r}")
            if self.hand_id and hand_id != self.hand_id:
                raise ValueError(f"the reply is about hand {hand_id}, not about hand {self.hand_id}")
            self.hand_id = hand_id
            _check_game(field(reply, "game", dict))
            game_state = field(reply, "game_state", dict)
            account = self._account(game_state)
            state = checked_state(number, account, before, taken)
            score = field(game_state, "aivat_score", int, float, NoneType)
            self.corrected = None if score is None or account.winnings is None else float(score)
            return state
        except ValueError as error:
            raise disagreement(self.client.host, error) from None

    def _account(self, state: dict[str, Any]) -> Account:
        history = field(state, "action_history", list)
        if len(history) > _MAX_MOVES or not all(isinstance(move, str) for move in history):
            raise ValueError(f"the history is a list of at most {_MAX_MOVES} texts")
        is_over = field(state, "is_hand_over", bool)
        winnings = field(state, "winnings", int, float, NoneType)
        own, other = self._players(field(state, "players", list))
        return Account(
            _SEATS[own["position"]],
            read_street_bets(history, "_", RULES),
            cards_of(field(own, "hole_cards", str)),
            cards_of(field(other, "hole_cards", str, NoneType)),
            cards_of(field(state, "board_cards", str, NoneType)),
            winnings if is_over else None,
        )

    def _players(self, players: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return our player and the opponent.

        Our player has the name that the service told. If no player has that name, our player is the one whose cards are
        shown, and that player's name replaces it.
        """
        if len(players) != 2:
            raise ValueError(f"two players are expected, got {len(players)}")
        names = [field(player, "name", str) for player in players]
        seats = [_SEATS.get(field(player, "position", str)) for player in players]
        if sorted(seats, key=str) != [0, 1]:
            raise ValueError("the players' positions are not SB and BB")
        if self._own_name not in names:
            shown = [player["name"] for player in players if player.get("hole_cards")]
            if len(shown) != 1:
                raise ValueError("the reply does not show which player is ours")
            self._own_name = shown[0]
        if names.count(self._own_name) != 1:
            raise ValueError(f"both players are named {self._own_name[:_MAX_NAME]!r}")
        own = names.index(self._own_name)
        self.opponent = names[1 - own][:_MAX_NAME] + self._version
        return players[own], players[1 - own]


def _check_game(game: dict[str, Any]) -> None:
    """Raise ValueError if a game is not the one that the agent plays."""
    blinds, stack = field(game, "blinds", list), field(game, "starting_stack", int, float)
    stacks = RULES.stacks or ()
    is_known = all(type(blind) in (int, float) for blind in blinds) and sorted(blinds) == sorted(RULES.blinds)
    if not is_known or {stack} != set(stacks):
        raise ValueError(
            f"the game has blinds {RULES.blinds} and stacks {stacks[0]}, got {str(blinds)[:40]} and {stack}"
        )
