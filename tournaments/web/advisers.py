"""The server's side of the advisers, each a process: takes questions to them, and each answer back to its asker.

An asker has at most one question to an adviser, and a new question replaces it. Where the new question does not begin
with the decision that is being computed, this computation is cancelled. So a page that moves on never waits for an
answer that nobody looks at.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from plurispiel.tournaments.web.messages import Question

__all__ = ["ADVISERS", "Advisers"]

ADVISERS = ("blueprint", "search", "continual", "spot")
"""The advisers' names."""

_COMMAND = (sys.executable, "-m", "plurispiel.tournaments.web.adviser_process")
_MAX_ANSWER = 1 << 20
_PATIENCE_S = 3.0
"""Time in which a cancelled computation has to end before its process is ended."""

Tell = Callable[[dict[str, Any]], None]
"""Takes a message for an asker."""


class AdviserFailed(Exception):
    """An adviser's process has ended."""


@dataclass
class _Asked:
    """A question in progress: its decisions are those that are still to be answered."""

    question: Question
    tell: Tell


class Advisers:
    """All advisers of a server. Their processes begin when they are first asked, or at `warm`.

    Parameters
    ----------
    command : sequence of str, optional
        The command of a process, to which the adviser's name is added; by default that of `adviser_process`.
    """

    def __init__(self, command: Sequence[str] = _COMMAND):
        self._advisers = {name: _Adviser(name, [*command, name]) for name in ADVISERS}

    def ask(self, asker: object, question: Question, tell: Tell) -> None:
        """Take a question, in place of the asker's earlier question to this adviser.

        `tell` is called with ``{"type": "thinking"}`` when a decision's computation begins, and with ``{"type":
        "advice"}`` or ``{"type": "trouble"}`` for each decision. Each message names the adviser, the hand, the seconds
        and the decision.

        Raises
        ------
        ValueError
            If there is no such adviser.
        """
        if question.adviser not in self._advisers:
            raise ValueError(f"advisers are {', '.join(ADVISERS)}, got {question.adviser[:80]!r}")
        self._advisers[question.adviser].ask(asker, question, tell)

    def leave(self, asker: object) -> None:
        """Forget all questions of an asker."""
        for adviser in self._advisers.values():
            adviser.leave(asker)

    async def warm(self) -> AsyncIterator[tuple[str, float]]:
        """Start one process after the other, and yield each adviser's name and seconds when it is ready.

        By then its kernels are compiled and kept on disk. Each process but the first is ended again, unless it has a
        question to answer.
        """
        for name, adviser in self._advisers.items():
            with contextlib.suppress(AdviserFailed):
                yield name, await adviser.warm(stays=name == ADVISERS[0])

    async def close(self) -> None:
        """End all processes."""
        for adviser in self._advisers.values():
            await adviser.close()


class _Adviser:
    def __init__(self, name: str, command: list[str]):
        self._name = name
        self._command = command
        self._asked: dict[object, _Asked] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._ready_s: float | None = None
        self._lock = asyncio.Lock()  # held while the process is started and while it answers
        self._working: asyncio.Task[None] | None = None
        self._number = 0
        self._now: tuple[object, Question] | None = None  # the asker and the question of the computation in progress
        self._is_cancelled = False

    def ask(self, asker: object, question: Question, tell: Tell) -> None:
        if self._now and self._now[0] is asker and not _begins_with(question, self._now[1]):
            self._cancel()
        self._asked.pop(asker, None)
        if question.decisions:
            self._asked[asker] = _Asked(question, tell)
            if self._working is None or self._working.done():
                self._working = asyncio.create_task(self._work())

    def leave(self, asker: object) -> None:
        self._asked.pop(asker, None)
        if self._now and self._now[0] is asker:
            self._cancel()

    async def warm(self, *, stays: bool) -> float:
        async with self._lock:
            await self._start()
            seconds = self._ready_s
            assert seconds is not None
            if not stays and not self._asked:
                await self._end()
        return seconds

    async def close(self) -> None:
        self._asked.clear()
        if self._working is not None:
            self._working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._working
        await self._end()

    async def _work(self) -> None:
        """Answer all questions, a decision of each asker in turn."""
        while self._asked:
            asker, asked = next(iter(self._asked.items()))
            question = asked.question
            decision = question.decisions[0]
            about = {"adviser": self._name, "hand": question.hand, "seconds": question.seconds, "decision": decision}
            async with self._lock:
                self._now, self._is_cancelled = (asker, question), False
                try:
                    process = await self._start()
                    if self._is_cancelled:
                        answer = {}
                    else:
                        asked.tell({"type": "thinking", **about})
                        answer = await self._answer(process, question, decision)
                except AdviserFailed as error:
                    answer = {"trouble": str(error)}
                finally:
                    self._now = None
            if answer:  # a cancelled question has no answer
                kind = "advice" if "advice" in answer else "trouble"
                asked.tell({"type": kind, **about, **answer})
            if self._asked.get(asker) is asked:  # not replaced in the meantime
                del self._asked[asker]
                if len(question.decisions) > 1:
                    asked.question = replace(question, decisions=question.decisions[1:])
                    self._asked[asker] = asked
            elif asker in self._asked:
                again = self._asked[asker]
                if answer and again.question.decisions[0] == decision and _begins_with(again.question, question):
                    # The same decision was asked again while it was computed: the answer holds for both.
                    again.question = replace(again.question, decisions=again.question.decisions[1:])
                    if not again.question.decisions:
                        del self._asked[asker]

    async def _answer(self, process: asyncio.subprocess.Process, question: Question, decision: int) -> dict[str, Any]:
        self._number += 1
        number = self._number
        sent = {"id": number, "question": asdict(question), "decision": decision, "seconds": question.seconds}
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(sent).encode() + b"\n")
        line = await process.stdout.readline()
        if not line:
            await self._end()
            if self._is_cancelled:
                return {}
            raise AdviserFailed(f"the process of {self._name} has ended; the next question starts it again")
        answer = json.loads(line)
        assert answer.pop("id") == number
        return answer

    def _cancel(self) -> None:
        process, number = self._process, self._number
        self._is_cancelled = True
        if process is None or process.stdin is None or self._ready_s is None:
            return  # nothing has been asked yet
        process.stdin.write(json.dumps({"cancel": number}).encode() + b"\n")

        def end() -> None:
            if self._process is process and self._number == number and self._now is not None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()

        asyncio.get_running_loop().call_later(_PATIENCE_S, end)

    async def _start(self) -> asyncio.subprocess.Process:
        """Return the process, started and ready."""
        if self._process is None or self._process.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            self._ready_s = None
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, limit=_MAX_ANSWER
            )
        if self._ready_s is None:
            assert self._process.stdout is not None
            line = await self._process.stdout.readline()
            if not line:
                await self._end()
                raise AdviserFailed(f"the process of {self._name} does not start")
            self._ready_s = json.loads(line)["ready"]
        return self._process

    async def _end(self) -> None:
        process, self._process, self._ready_s = self._process, None, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _begins_with(question: Question, other: Question) -> bool:
    """Return whether two questions are equal, apart from the decisions after the first."""
    same = replace(other, decisions=question.decisions)
    return same == question and question.decisions[:1] == other.decisions[:1]
