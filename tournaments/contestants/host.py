"""The host: the program in an isolated agent's process that builds the agent and passes it the run's requests.

Frames (`wire`) arrive on standard input and leave on standard output. Both streams are moved to other descriptors
before any code of the agent runs. Texts that the agent prints go to standard error.
"""

import os
from typing import BinaryIO

import numpy as np

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, View
from plurispiel.agents.specs import make_agent, search_in
from plurispiel.evaluation.hand import AgentFault, action_of, error_text
from plurispiel.tournaments.contestants import wire
from plurispiel.tournaments.contestants.process import limit_memory


def main() -> None:
    """Answer requests until the input ends."""
    Host(*private_streams()).serve()


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return copies of standard input and output. Then make the input empty, and send the output to standard error."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return source, sink


class Host:
    """Answers the requests to one agent.

    Every request has a ``number``, which the answer repeats, and may have ``events``, which the agent observes first.
    At most one of five entries names the task: ``hello`` (return the process id), ``load`` (build the agent of a spec),
    ``restart`` (begin a hand), ``act`` (return a decision) or ``range`` (return the reported strategy). All other
    entries are arguments of the task.
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
                answer, arrays = self._answer(request)
                reply = wire.encode(number | answer, arrays)
            except BaseException as error:  # anything that the agent raises becomes an answer
                reply = wire.encode(number | _blame(request, error))
            if os.getpid() != self._pid:
                os._exit(0)  # the agent forked this process: the copy must not answer
            if self._forked:
                reply = wire.encode(number | {"fault": ["fork", f"{_kind(request)}: it forked its process"]})
            self._sink.write(reply)
            self._sink.flush()

    def _read(self) -> bytes:
        """Return the next frame; empty at the end of the input."""
        head = self._source.read(8)
        size = wire.frame_size(head)
        return head + self._source.read(size - len(head)) if size else b""

    def _answer(self, request: wire.Message) -> tuple[wire.Message, tuple[np.ndarray, ...]]:
        """Return the answer to a request, and the arrays that follow it."""
        for event in request.get("events", ()):
            try:
                self._agent.observe(wire.read_event(event))
            except BaseException as error:
                return _blame({"observe": True}, error), ()
        if "act" in request:
            public = wire.read_public(self._rules, request["act"])
            decision = self._agent.act(View(public, self._seat, parse_cards(request["hole_cards"])))
            action = action_of(decision)
            probabilities = [float(p) for p in getattr(decision, "probabilities", ())]
            actions = [int(a) for a in getattr(decision, "actions", ())]
            return {"decision": [action, actions, probabilities]}, ()
        if "range" in request:
            strategy = self._agent.range_strategy(wire.read_public(self._rules, request["range"]))
            return {"told": strategy is not None}, () if strategy is None else wire.strategy_arrays(strategy)
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
            self._agent = make_agent(request["load"])
            observe = getattr(type(self._agent), "observe", Agent.observe)
            report = getattr(type(self._agent), "range_strategy", Agent.range_strategy)
            return {"observes": observe is not Agent.observe, "tells": report is not Agent.range_strategy}, ()
        return {}, ()

    def _note_fork(self) -> None:
        self._forked = True


def _kind(request: wire.Message) -> str:
    return next((word for word in ("hello", "load", "restart", "act", "range") if word in request), "observe")


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
