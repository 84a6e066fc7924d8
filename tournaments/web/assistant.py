"""Help while the person thinks: the opponents' ranges, and the advice of an agent.

All help comes from separate processes. The adviser's process is told what the person's seat is told. The processes
that report ranges are told public information alone.
"""

import base64
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.base import Deal, PublicState, Strategy, View
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import AgentFault
from plurispiel.tournaments.contestants.isolated import IsolatedAgent
from plurispiel.tournaments.contestants.speaker import public_events
from plurispiel.tournaments.play.adviser import HintAdviser
from plurispiel.tournaments.play.dealing import Seating
from plurispiel.tournaments.run.hand_story import FULL_BYTE, cell_names, combo_cells


class Help(NamedTuple):
    """A part of the help for a decision of the person.

    `number` tells the decision: it is the number of the wait for the person's move (`seat.BrowserPerson`).
    """

    number: int
    content: dict[str, Any]


class _Question(NamedTuple):
    """A question for help at a decision."""

    number: int
    view: View
    level: str
    seating: Seating
    rng: np.random.Generator


class Assistant:
    """Answers questions for help, one after another, in a thread of its own.

    Parameters
    ----------
    rules : HoldemRules
        The game.
    opponents : sequence of str
        The spec of each opponent. Ranges are shown only for agents of this package that report their strategies.
    adviser : str
        The spec of the agent that gives advice.
    isolate : callable
        Returns the agent of a spec, which runs in a process of its own.
    deliver : callable
        Takes each part of the help as soon as it is ready.
    """

    def __init__(
        self,
        rules: HoldemRules,
        opponents: Sequence[str],
        adviser: str,
        isolate: Callable[[str], IsolatedAgent],
        deliver: Callable[[Help], object],
    ):
        self._rules = rules
        self._opponents = opponents
        self._adviser = adviser
        self._isolate = isolate
        self._deliver = deliver
        self._questions: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._agents: dict[tuple[str, str], IsolatedAgent] = {}
        self._answers: dict[tuple[int, int], Strategy | None] = {}

    def begin_hand(self, seating: Seating, rng: np.random.Generator) -> None:
        """Take the players of the next hand, and the random stream that the adviser uses in this hand."""
        self._seating, self._rng = seating, rng

    def ask(self, number: int, view: View, level: str) -> None:
        """Ask for help at a decision; `level` is ``range`` or ``advice``."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        self._questions.put(_Question(number, view, level, self._seating, self._rng))

    def close(self) -> None:
        """End the thread and the processes."""
        if self._thread is not None:
            self._questions.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        # The agents' processes end with the thread that started them, so this thread alone asks them.
        hand = 0
        with contextlib.ExitStack() as processes:
            self._processes = processes
            while (question := self._questions.get()) is not None:
                if not self._questions.empty():
                    continue  # a later question makes this one void
                if question.seating.number != hand:
                    hand = question.seating.number
                    self._answers.clear()
                if question.level == "advice":
                    self._deliver(Help(question.number, {"advice": self._advice(question)}))
                self._deliver(Help(question.number, {"ranges": self._ranges(question)}))

    def _agent(self, spec: str, purpose: str) -> IsolatedAgent:
        """Return the agent of a spec for a purpose, ``advice`` or ``range``.

        Each purpose has a process of its own: the process that gives advice knows the person's cards.
        """
        if (spec, purpose) not in self._agents:
            agent = self._agents[spec, purpose] = self._isolate(spec)
            self._processes.callback(agent.close)
        return self._agents[spec, purpose]

    def _advice(self, question: _Question) -> dict[str, Any]:
        """Return ``name``, ``shares`` (actions in words with probabilities) and ``trouble`` (the error, or empty)."""
        name, view = parse_spec(self._adviser).title, question.view
        adviser = HintAdviser(self._agent(self._adviser, "advice"), name)
        adviser.restart(self._rules, view.seat, question.rng)
        adviser.observe(Deal(view.hole_cards))
        for event in public_events(view.public):
            adviser.observe(event)
        shares, trouble = adviser.shares(view)
        return {"name": printable(name), "shares": [list(each) for each in shares], "trouble": printable(trouble)[:300]}

    def _ranges(self, question: _Question) -> list[dict[str, Any]]:
        """Return a record for each opponent who has not folded.

        A record holds ``seat``, and either ``grid`` (the range, for `report.grid.js`) or ``trouble``, the reason for
        which there is no range.
        """
        public = question.view.public
        is_free = self._rules.free_combos([*public.board, *question.view.hole_cards])
        ranges: list[dict[str, Any]] = []
        for seat, player in enumerate(question.seating.turn):
            if not player or public.folded[seat]:
                continue
            spec = self._opponents[player - 1]
            try:
                reach = None if parse_spec(spec).is_foreign else self._reach(spec, seat, public)
            except (AgentFault, ValueError) as error:  # a ValueError: the agent does not load
                ranges.append({"seat": seat, "trouble": printable(str(error))[:300]})
                continue
            if reach is None:
                ranges.append({"seat": seat, "trouble": "this agent does not tell its strategy"})
            else:
                ranges.append({"seat": seat, "grid": range_grid(self._rules, reach * is_free, is_free)})
        return ranges

    def _reach(self, spec: str, seat: int, public: PublicState) -> np.ndarray | None:
        """Return, for each combo, the probability of all actions that an opponent has taken in this hand.

        The result is None if the opponent reports no strategy.
        """
        rules, state = self._rules, BettingState(self._rules)
        reach = np.ones(rules.num_combos)
        for k, action in enumerate(public.actions):
            if action.seat == seat:
                if (seat, k) not in self._answers:
                    board = public.board[: rules.board_size(action.street)]
                    before = PublicState(rules, state.array.tolist(), board, public.actions[:k])
                    self._answers[seat, k] = self._strategy(spec, seat, before)
                strategy = self._answers[seat, k]
                if strategy is None:
                    return None
                reach *= strategy.probability(action.action)
            state.apply_legal(action.action)
        return reach

    def _strategy(self, spec: str, seat: int, public: PublicState) -> Strategy | None:
        agent = self._agent(spec, "range")
        agent.restart(self._rules, seat, np.random.default_rng(0))  # not the seat's stream, which only the seat knows
        for event in public_events(public):
            agent.observe(event)
        return agent.expected_strategy(public)


def range_grid(rules: HoldemRules, reach: np.ndarray, is_free: np.ndarray) -> dict[str, Any]:
    """Return a range as a grid with a single action (`hand_story.decision_grid`).

    Parameters
    ----------
    reach : float64[num_combos]
        The weight of each combo, 0 for combos that are not free.
    is_free : bool[num_combos]
        Combos that the seat may hold.
    """
    cells, num_cells = combo_cells(rules), len(cell_names(rules))
    num_free = np.bincount(cells[is_free], minlength=num_cells)
    means = np.bincount(cells, weights=reach, minlength=num_cells) / np.maximum(num_free, 1)
    shares = np.rint(FULL_BYTE * np.column_stack([means, num_free > 0])).astype(np.uint8)
    return {
        "actions": ["in the range"],
        "kinds": [2],
        "cell": None,
        "shares": base64.b64encode(shares.tobytes()).decode(),
    }
