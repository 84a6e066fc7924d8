"""Bots of MIT's Pokerbots, started as ``RUN PORT``; we are their engine.

The bot connects to `relay`. The bot gets a line for each of its decisions and a line at the end of the hand. A line
holds ``T`` with the seconds that the bot has left, and the clauses of all events since the last line. The bot answers
each line with a line, which is ``K`` at the end of a hand. After the last hand of a match the bot is told to quit
(``Q``), and is restarted.
"""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.agent_files import program_of
from plurispiel.agents.base import Deal, Event, View
from plurispiel.agents.pokerbots import Pokerbot, check_pokerbots_game
from plurispiel.evaluation.hand import AgentFault, HandEnd
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.contestants.child import Died
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.relayed_agent import RelayedAgent
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.formats.pokerbots import end_clauses, hand_clauses, read_answer

__all__ = ["PokerbotsBot"]

_QUIT_S = 1.0  # seconds that a bot has to end by itself
_OVER = "K"  # acknowledges the end of a hand


class PokerbotsBot(RelayedAgent):
    """A bot of MIT's Pokerbots. The parameters are those of `IsolatedAgent`."""

    def __init__(
        self,
        spec: str,
        limits: Limits,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        super().__init__(spec, limits, log, sandbox, rivals)
        self._bot: Pokerbot | None = None  # the bot in the running process
        self._num_hands = 0  # hands that the running process has been told
        self._num_told = 0  # clauses of this hand that the running process has been told
        self._clock = 0.0  # seconds that the running process has left
        self._hole_cards: tuple[int, ...] = ()

    def load(self, rules: HoldemRules | None = None) -> None:
        """Start the bot, and wait until it has connected.

        Raises
        ------
        ValueError
            If the bot does not exist, or the game is not one of Pokerbots.
        AgentFault
            If the bot's code fails, or the bot does not connect in time.
        """
        if rules is not None:
            check_pokerbots_game(rules)
        super().load(rules)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        AgentFault
            If the bot does not start, or the game is not one of Pokerbots.
        """
        self._hole_cards = ()
        try:
            check_pokerbots_game(rules)
        except ValueError as error:
            raise AgentFault("load", str(error)) from None
        super().restart(rules, seat, rng)
        if self._bot is not None and self._num_hands >= self._bot.hands:
            self.close()
        self._num_told = 0
        self._ask(lambda: None, "load")

    def observe(self, event: Event) -> None:
        """Keep the hole cards."""
        if isinstance(event, Deal):
            self._hole_cards = event.hole_cards

    def act(self, view: View) -> int:
        """Ask for a decision."""
        public = view.public
        betting = replay_betting(public.rules, [action.action for action in public.actions])
        clauses = hand_clauses(
            public.rules, view.seat, view.hole_cards, public.actions, public.street, tuple(public.board)
        )

        def ask() -> int:
            with self._blamed("act"):
                return read_answer(self._exchange(clauses, "act"), betting)

        return self._ask(ask, "act")

    def show_end(self, end: HandEnd) -> None:
        """Tell the end of the hand, unless the process has ended or has not been dealt the hand."""
        if self.pid is None or not self._hole_cards:
            return
        clauses = hand_clauses(self.rules, self.seat, self._hole_cards, end.actions, end.street, end.board)
        clauses += end_clauses(self.rules, self.seat, end)

        def ask() -> None:
            with self._blamed("end"):
                answer = self._exchange(clauses, "end")
                if answer != _OVER:
                    raise AgentFault("illegal", f"the end of a hand is acknowledged by {_OVER}, got {answer[:60]!r}")

        self._ask(ask, "end")

    def close(self) -> None:
        """Tell the bot to quit, wait a moment for its process to end by itself, and then end the process."""
        if self.pid is not None:
            with contextlib.suppress(Died):
                self._child.go_on()
                self.send(b"Q\n")
                self._child.wait(_QUIT_S)
        super().close()

    def _greet(self) -> None:
        super()._greet()
        bot = program_of(self._spec)
        assert isinstance(bot, Pokerbot)
        self._bot = bot
        self._num_hands = self._num_told = 0
        self._clock = bot.match_clock(self._seconds)
        self._child.stop()

    def _exchange(self, clauses: list[str], what: str) -> str:
        """Send the clauses that the process has not been told, and return its answer.

        Parameters
        ----------
        clauses : list of str
            All clauses of the hand so far. A process that was started within the hand is told all of them.
        what : str
            The kind of question, for messages.
        """
        message = " ".join([f"T{max(0.0, self._clock):.3f}", *clauses[self._num_told :]])
        self._num_hands += not self._num_told
        self._num_told = len(clauses)
        begin = time.monotonic()
        self._refuse_unasked()
        self.send(f"{message}\n".encode())
        self._child.go_on()
        try:
            answer = self._read(what, max(0.0, min(self._seconds, self._clock)))
        except AgentFault as fault:
            if fault.kind == "timeout" and self._clock < self._seconds:
                raise AgentFault("timeout", f"{what}: the clock of its match has run out") from None
            raise
        self._clock -= time.monotonic() - begin
        self._refuse_unasked()
        self._child.stop()
        return answer

    def _load_text(self, cause: str, words: str) -> str:
        text = super()._load_text(cause, words)
        with contextlib.suppress(ValueError):
            bot = program_of(self._spec)
            text += bot.hint if isinstance(bot, Pokerbot) else ""
        return text
