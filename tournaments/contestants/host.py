"""The host: the program in an isolated agent's process that builds the agent and passes it the run's requests.

Frames (`wire`) arrive on standard input and leave on standard output. Both streams are moved to other descriptors
before any code of the agent runs. Texts that the agent prints go to standard error.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import numpy as np

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Strategy, View
from plurispiel.agents.factory import make_agent
from plurispiel.agents.user_code import search_in
from plurispiel.evaluation.hand import AgentFault, action_of, error_text, observes
from plurispiel.tournaments.contestants import wire
from plurispiel.tournaments.contestants.process import limit_memory

_Answer = tuple[wire.Message, tuple[np.ndarray, ...]]

_MAX_SIMPLE = 50
"""Largest number of modules that come with a simple agent (`_load_kernels`)."""


def main() -> None:
    """Answer requests until the input ends."""
    Host(*private_streams()).serve()


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move standard input and output to new streams, and return these.

    Afterwards standard input is empty, and standard output leads to standard error.
    """
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return source, sink


class Host:
    """Answers the requests to one agent.

    Every request has a ``number``, which the answer repeats, and may have ``events``, which the agent observes first.
    If observing an event raises an exception, the agent still observes the other events. The answer is then a fault,
    and the task is not done. At most one of six entries names the task: ``hello`` (return the process id), ``load``
    (build the agent of a spec), ``restart`` (begin a hand), ``act`` (return a decision), ``range`` (return the reported
    strategy of a public state) or ``expected`` (return the expected strategies of a list of public states). All other
    entries are arguments of the task. A request has one answer, except that ``expected`` has one for each state, until
    the first fault.
    """

    _rules: HoldemRules
    _seat: int

    def __init__(self, source: BinaryIO, sink: BinaryIO):
        self._source = source
        self._sink = sink
        self._pid = os.getpid()
        self._agent = Agent()
        self._forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_parent=self._note_fork)

    def serve(self) -> None:
        """Answer requests, one after another, until the input ends."""
        while frame := self._read():
            request, _ = wire.decode(frame)
            number = {"number": request["number"]}
            try:
                for answer, arrays in self._answers(request):
                    self._reply(request, wire.encode(number | answer, arrays))
            except BaseException as error:  # anything that the agent raises becomes an answer
                self._reply(request, wire.encode(number | _blame(request, error)))

    def _reply(self, request: wire.Message, reply: bytes) -> None:
        if os.getpid() != self._pid:
            os._exit(0)  # the agent forked this process: the copy must not answer
        if self._forked:
            fault = ["fork", f"{_kind(request)}: it forked its process"]
            reply = wire.encode({"number": request["number"], "fault": fault})
        self._sink.write(reply)
        self._sink.flush()

    def _read(self) -> bytes:
        """Return the next frame; empty at the end of the input."""
        head = self._source.read(8)
        size = wire.frame_size(head)
        return head + self._source.read(size - len(head)) if size else b""

    def _answers(self, request: wire.Message) -> Iterator[_Answer]:
        """Yield each answer to a request, with the arrays that follow it."""
        faults = []
        for event in request.get("events", ()):
            try:
                self._agent.observe(wire.read_event(event))
            except BaseException as error:
                faults.append(_blame({"observe": True}, error))
        if faults:
            yield faults[0], ()
            return
        if "expected" in request:
            for message in request["expected"]:
                yield _told(self._agent.expected_strategy(wire.read_public(self._rules, message)))
            return
        yield self._answer(request)

    def _answer(self, request: wire.Message) -> _Answer:
        """Return the answer to a request that has a single answer."""
        if "act" in request:
            public = wire.read_public(self._rules, request["act"])
            decision = self._agent.act(View(public, self._seat, parse_cards(request["hole_cards"])))
            action = action_of(decision)
            probabilities = [float(p) for p in getattr(decision, "probabilities", ())]
            actions = [int(a) for a in getattr(decision, "actions", ())]
            return {"decision": [action, actions, probabilities]}, ()
        if "range" in request:
            return _told(self._agent.range_strategy(wire.read_public(self._rules, request["range"])))
        if "restart" in request:
            self._rules, self._seat = wire.read_rules(request["restart"]), request["seat"]
            rng = np.random.Generator(np.random.PCG64(0))
            rng.bit_generator.state = request["rng"]
            self._agent.restart(self._rules, self._seat, rng)
        if "hello" in request:
            return {"pid": os.getpid()}, ()
        if "load" in request:
            if "folder" in request:  # with a sandbox: the folder in which the run was started
                search_in(request["folder"])
            limit_memory(request["memory"])
            known = set(sys.modules)
            self._agent = make_agent(request["load"])
            _load_kernels([module for name, module in sys.modules.items() if name not in known])
            report = getattr(self._agent, "range_strategy", Agent.range_strategy)
            tells = getattr(report, "__func__", report) is not Agent.range_strategy
            return {"observes": observes(self._agent), "tells": tells}, ()
        return {}, ()

    def _note_fork(self) -> None:
        self._forked = True


def _load_kernels(modules: list[ModuleType]) -> None:
    """Import the kernels of the betting if an agent may call them; `modules` are those that came with the agent.

    Kernels need numba, which takes longer to import than all else, and an answer has less time than the start. An agent
    of few modules whose texts do not name the betting starts without numba.
    """
    if len(modules) > _MAX_SIMPLE or any(b"betting" in _source(module).lower() for module in modules):
        from plurispiel.abstraction.holdem import betting_state, hand_ranks  # noqa: F401 - for later calls


def _source(module: ModuleType) -> bytes:
    """Return the text of a module of Python; the text is empty for other modules, and for files that cannot be read."""
    file = getattr(module, "__file__", None)
    with contextlib.suppress(OSError):
        if isinstance(file, str) and file.endswith(".py"):
            return Path(file).read_bytes()
    return b""


def _told(strategy: Strategy | None) -> _Answer:
    """Return the answer with a reported strategy."""
    return {"told": strategy is not None}, () if strategy is None else wire.strategy_arrays(strategy)


def _kind(request: wire.Message) -> str:
    words = ("hello", "load", "restart", "act", "range", "expected")
    return next((word for word in words if word in request), "observe")


def _blame(request: wire.Message, error: BaseException) -> wire.Message:
    """Return the answer for an exception: ``fault`` with kind and message, or ``refused`` if the spec names no agent.

    An exception of the agent's own code becomes the ``__cause__`` of `make_agent`'s ValueError. If this ValueError has
    no ``__cause__``, the spec is wrong.
    """
    kind = _kind(request)
    if isinstance(error, AgentFault):
        return {"fault": [error.kind, error.message]}
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        return {"fault": ["memory", f"{kind}: out of memory"]}
    if kind == "load" and isinstance(error, ValueError):
        return {"fault": ["load", str(error)]} if error.__cause__ is not None else {"refused": str(error)}
    return {"fault": ["load" if kind == "load" else "exception", f"{kind}: {error_text(error)}"]}
