"""The person's seat at a table in the browser: an agent that shows its view, and waits for the page's moves."""

import queue
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, Event, View
from plurispiel.tournaments.play.dealing import Seating
from plurispiel.tournaments.play.prompt import UnknownKey, parse_key
from plurispiel.tournaments.web.assistant import Assistant, Help
from plurispiel.tournaments.web.play_setting import ASSISTS, HELPING, PACES, Move
from plurispiel.tournaments.web.view import Sight, legal_moves

_LATE = "this was decided already, by an earlier key or in another tab"

_Accepted = TypeVar("_Accepted")


class Said(NamedTuple):
    """A move, and the number of the page that made it."""

    page: int
    move: Move


Inbox = queue.SimpleQueue[Said | Help]
"""The moves of the pages and the assistant's help, in the order in which they came."""


class BrowserPerson(Agent):
    """Shows the events of a hand as they come, and waits for a move at each decision.

    Each wait has a *number*. An ``act`` or ``next`` with another number is refused: it is late, or another tab was
    faster. Help and pace may be changed at any time.

    Parameters
    ----------
    inbox : Inbox
        Moves and help.
    show : callable
        Takes a view, as plain values.
    refuse : callable
        Takes the number of a page, and the reason for which the page's move is refused.
    assistant : Assistant
        Answers questions for help.

    Attributes
    ----------
    pace, assist : str
        As in `play_setting.Sit`.
    is_assisted : bool
        Whether ranges or advice were asked for at a decision of this hand.
    """

    def __init__(
        self,
        inbox: Inbox,
        show: Callable[[dict[str, Any]], None],
        refuse: Callable[[int, str], None],
        assistant: Assistant,
    ):
        self._inbox = inbox
        self._show = show
        self._refuse = refuse
        self._assistant = assistant
        self._number = 0
        self._more: dict[str, Any] = {}
        self._wants: dict[str, Any] = {}
        self._help: dict[str, Any] = {}
        self._view: View | None = None
        self.pace, self.assist = "at once", "off"
        self.is_assisted = False

    def sit(self, seating: Seating, rng: np.random.Generator, more: dict[str, Any]) -> None:
        """Take a seat for the next hand.

        Parameters
        ----------
        rng : Generator
            The adviser's random stream.
        more : dict
            Further entries of all views of the hand.
        """
        self._seating = seating
        self._more = more
        self._assistant.begin_hand(seating, rng)
        self.is_assisted = False

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand; `rng` is not used."""
        super().restart(rules, seat, rng)
        self._sight = Sight(rules, self._seating)
        self._has_folded = False

    def observe(self, event: Event) -> None:
        """Show an event, and wait a moment after the action of somebody else, unless this seat has folded."""
        self._sight.observe(event)
        self._push()
        if isinstance(event, Action):
            if event.seat == self.seat:
                self._has_folded = event.action == FOLD
            elif not self._has_folded:
                time.sleep(PACES[self.pace])

    def act(self, view: View) -> int:
        """Wait for a legal action from the page, and return it; illegal ones are refused."""
        self._view = view
        action = self._wait("act", {"legal": legal_moves(view.public)}, lambda text: parse_key(text, view.public))
        self._view = None
        return action

    def end(self, end: dict[str, Any]) -> None:
        """Show the end of the hand, given as an entry of the view."""
        self._more = self._more | {"end": end}
        self._push()

    def wait_for_next(self, more: dict[str, Any]) -> None:
        """Show further entries of the view, and wait until the person wants the next hand."""
        self._more = self._more | more
        self._wait("next", {}, lambda text: text)

    def _wait(self, wanted: str, legal: dict[str, Any], accept: Callable[[str], _Accepted]) -> _Accepted:
        """Wait for a move of the type `wanted`, and return the result of `accept` on its action."""
        self._number += 1
        self._wants = {"wants": wanted, **legal}
        self._ask_for_help()
        self._push()
        while True:
            found = self._inbox.get()
            if isinstance(found, Help):
                if found.number == self._number and self.assist in HELPING:
                    self._help = self._help | found.content
                    self._push()
                continue
            page, move = found
            if move.type in ("assist", "pace"):
                self._change(page, move)
            elif move.type not in ("act", "next"):
                self._refuse(page, f"a move is act, next, assist or pace, got {move.type[:20]!r}")
            elif move.number != self._number or move.type != wanted:
                self._refuse(page, _LATE)
            else:
                try:
                    accepted = accept(move.action)
                except UnknownKey as error:
                    self._refuse(page, str(error))
                    continue
                self._wants, self._help = {}, {}
                return accepted

    def _change(self, page: int, move: Move) -> None:
        """Change the pace or the amount of help."""
        known = ASSISTS if move.type == "assist" else tuple(PACES)
        if move.action not in known:
            self._refuse(page, f"the {move.type} must be one of {', '.join(known)}, got {move.action[:20]!r}")
            return
        if move.type == "pace":
            self.pace = move.action
        else:
            self.assist = move.action
            self._ask_for_help()
        self._push()

    def _ask_for_help(self) -> None:
        self._help = {}
        if self._view is not None and self.assist in HELPING:
            self.is_assisted = True
            self._assistant.ask(self._number, self._view, self.assist)

    def _push(self) -> None:
        settings = {"number": self._number, "pace": self.pace, "assist": self.assist, "assisted": self.is_assisted}
        helped = {"help": self._help} if self._view is not None and self.assist in HELPING else {}
        self._show({**self._sight.view(), **settings, **self._wants, **helped, **self._more})
