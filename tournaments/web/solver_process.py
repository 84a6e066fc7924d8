"""The process of a spot desk: ``python -m ...solver_process FOLDER``.

Requests come as lines of JSON on standard input, ``{"number": 3, "kind": "look", "fields": {...}}``; the server has
checked them. Answers and events are lines on standard output. An answer to a request is ``{"type": "answer",
"number": 3, "answer": {...}}``. If the request is refused, the answer has the key ``error`` in place of ``answer``.

The process ends as soon as its input ends, as when the server ends. The server kills the process when the page leaves.
"""

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

from plurispiel.agents.resolve import vector_cfr
from plurispiel.tournaments.web.spot_desk import SpotDesk

KINDS = (
    *("check", "read_range", "write_range", "preflop", "solve", "stop", "go_on", "open", "look", "cards", "lock"),
    *("listed", "save", "deal", "act"),
)
"""The requests, which are names of methods of `SpotDesk`."""


def main(folder: Path) -> None:
    """Answer requests until the input ends."""
    # Anything that a library prints must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        text = json.dumps(message, allow_nan=False)
        with lock:
            answers.write(text + "\n")
            answers.flush()

    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            requests.put(json.loads(line))
        os._exit(0)  # a solver may be at work in another thread

    threading.Thread(target=read, daemon=True).start()
    desk = SpotDesk(folder, send)

    def prepare() -> None:
        vector_cfr.prepare()
        send({"type": "ready"})

    threading.Thread(target=prepare, daemon=True).start()  # kernels are loaded while the page is looked at
    while True:
        if desk.has_work and requests.empty():
            desk.work()
            continue
        request = requests.get()
        try:
            assert request["kind"] in KINDS
            answer = {"answer": getattr(desk, request["kind"])(**request["fields"])}
        except (ValueError, MemoryError, OSError) as error:
            answer = {"error": str(error) or type(error).__name__}
        send({"type": "answer", "number": request["number"], **answer})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
