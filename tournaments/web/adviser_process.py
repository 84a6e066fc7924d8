"""The process of an adviser: ``python -m ...adviser_process NAME``.

It reads questions as lines of JSON, and answers each by a line. It ends with the pipe of its questions, so it never
outlives the server. A line that cancels a question ends the question's computation, and the adviser keeps the results
of earlier questions.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO

from plurispiel.abstraction.machine.interrupts import leave_to_parent
from plurispiel.tournaments.web.asked_hand import read_asked_hand
from plurispiel.tournaments.web.messages import Question

if TYPE_CHECKING:
    from plurispiel.tournaments.web.advice import Adviser


_SIGNAL = getattr(signal, "SIGUSR1", signal.SIGTERM)  # raised by this process in its own main thread
_NICENESS = 5


def make_adviser(name: str) -> "Adviser":
    """Return the adviser of a name. `spot_advice` is imported only for the adviser ``spot``."""
    if name == "spot":
        from plurispiel.tournaments.web.spot_advice import SpotAdviser

        return SpotAdviser()
    from plurispiel.tournaments.web import advice

    makers = {"blueprint": advice.blueprint_adviser, "search": advice.search_adviser}
    return makers.get(name, advice.continual_adviser)()


class _Cancelled(BaseException):
    """Ends a computation from within. It is no `Exception`, which code inside the computation could catch."""


class AdviserProcess:
    """Answers questions in the main thread, and reads further questions in another thread.

    Parameters
    ----------
    adviser : Adviser
    questions, answers : binary streams
    """

    def __init__(self, adviser: "Adviser", questions: BinaryIO, answers: BinaryIO):
        self._adviser = adviser
        self._questions = questions
        self._answers = answers
        self._waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._computing: int | None = None

    def run(self) -> None:
        """Load everything that the adviser needs, report that it is ready, and answer until the process ends."""
        signal.signal(_SIGNAL, self._stop)
        threading.Thread(target=self._hear, daemon=True).start()
        began = time.perf_counter()
        self._adviser.warm()
        self._say({"ready": round(time.perf_counter() - began, 2)})
        while True:
            asked = self._waiting.get()
            number = asked["id"]
            try:
                self._computing = number
                answer = {} if number in self._cancelled else self._answer(asked)
                self._computing = None
            except _Cancelled:
                self._computing = None
                answer = {}
            self._cancelled.discard(number)
            self._say({"id": number, **answer})

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            question = Question(**asked["question"])
            return {"advice": self._adviser.advise(read_asked_hand(question), asked["decision"], asked["seconds"])}
        except ValueError as error:
            return {"trouble": str(error)}
        except Exception as error:  # the traceback goes to standard error, and never to the page
            traceback.print_exc()
            return {"trouble": f"the adviser failed: {type(error).__name__}"}

    def _hear(self) -> None:
        for line in self._questions:
            said = json.loads(line)
            if "cancel" in said:
                self._cancelled.add(said["cancel"])
                if self._computing == said["cancel"]:
                    signal.raise_signal(_SIGNAL) if os.name == "nt" else signal.pthread_kill(
                        threading.main_thread().ident or 0, _SIGNAL
                    )
            else:
                self._waiting.put(said)
        os._exit(0)  # the server has ended

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._computing in self._cancelled:
            raise _Cancelled

    def _say(self, message: dict[str, Any]) -> None:
        self._answers.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        self._answers.flush()


def main(name: str) -> None:
    """Run the process of an adviser."""
    leave_to_parent()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)  # so that the pages stay quick
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other prints go to standard error
    AdviserProcess(make_adviser(name), sys.stdin.buffer, answers).run()


if __name__ == "__main__":
    main(sys.argv[1])
