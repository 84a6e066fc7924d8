"""A spot desk as the server sees it: a process of its own that answers requests and sends events.

When the page leaves, the process is killed, which frees its memory.
"""

import asyncio
import contextlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

_MAX_LINE = 1 << 24
_PATIENCE_S = 120.0


class DeskLost(ValueError):
    """The process of a desk has ended."""


class DeskProcess:
    """The process of a desk.

    Attributes
    ----------
    events : asyncio.Queue
        The events that the process sends; None when it has ended.
    """

    def __init__(self, process: asyncio.subprocess.Process):
        self.events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._process = process
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls, folder: Path) -> "DeskProcess":
        """Start the process of a desk for the solutions of a folder."""
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-m", "plurispiel.tournaments.web.solver_process", str(folder.absolute())]
        return cls(
            await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, limit=_MAX_LINE
            )
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    async def ask(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises
        ------
        ValueError
            If the request is refused, with the reason. Also if there is no answer within 120 s.
        DeskLost
            If the process ends before it answers.
        """
        number = next(self._numbers)
        found = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            with contextlib.suppress(ConnectionError):
                assert self._process.stdin is not None
                self._process.stdin.write(
                    json.dumps({"number": number, "kind": kind, "fields": fields}).encode() + b"\n"
                )
                await self._process.stdin.drain()
            if self._reader.done():
                raise DeskLost("the solver has ended")
            message = await asyncio.wait_for(found, _PATIENCE_S)
        except TimeoutError:
            raise ValueError(f"the solver did not answer within {_PATIENCE_S:g} s") from None
        finally:
            del self._waiting[number]
        if "error" in message:
            raise ValueError(message["error"])
        return message["answer"]

    async def end(self) -> None:
        """Kill the process, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._reader

    async def _read(self) -> None:
        """Pass answers and events on until the process ends."""
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError):  # a line longer than any answer
            while line := await self._process.stdout.readline():
                message = json.loads(line)
                if message["type"] != "answer":
                    self.events.put_nowait(message)
                elif message["number"] in self._waiting:
                    self._waiting[message["number"]].set_result(message)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(DeskLost("the solver has ended"))
        self.events.put_nowait(None)
