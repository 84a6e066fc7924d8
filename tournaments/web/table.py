"""The server's side of the tables: a process for each (`dealer`), whose views go to all pages that show the table.

The server computes nothing, and passes whole views on as the process prints them. So a page that comes later, or again,
shows the same as all others.
"""

import asyncio
import contextlib
import json
import os
import sys
from dataclasses import asdict

from starlette.websockets import WebSocket

from plurispiel.tournaments.web.messages import MAX_FRAME, parse_message
from plurispiel.tournaments.web.play_setting import Move

MAX_TABLES = 3
"""Number of tables that may be open together."""

ALIVE_S = 1.0
"""Seconds without news after which a page is sent a sign of life."""

_MAX_LINE = 1 << 24
_LOAD_S = 900.0  # kernels are compiled on the first use of an agent
_END_S = 3.0


class TableProcess:
    """A process of `dealer`, which waits for its order while it loads."""

    def __init__(self, process: asyncio.subprocess.Process):
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    @classmethod
    async def start(cls) -> "TableProcess":
        """Start a process."""
        command = [sys.executable, "-m", "plurispiel.tournaments.web.dealer", str(os.getpid())]
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *command,
                stdin=pipe,
                stdout=pipe,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_MAX_LINE,
                start_new_session=True,  # Ctrl-C goes to the server, which ends its children
            )
        )

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.returncode is None

    def tell(self, line: str) -> None:
        """Write a line to the process."""
        with contextlib.suppress(OSError, RuntimeError):
            self._input.write(line.encode() + b"\n")

    async def hear(self) -> tuple[str, str]:
        """Return the next line as its kind and the rest; empty texts at the end."""
        kind, _, rest = (await self._output.readline()).decode().rstrip("\n").partition(" ")
        return kind, rest

    async def close(self) -> None:
        """End the process, and wait for its end."""
        self._input.close()
        try:
            await asyncio.wait_for(self._process.wait(), _END_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class OpenTable:
    """A table that is played at: the latest view, and the pages that look at it.

    Parameters
    ----------
    process : TableProcess
        The process, which has printed its line ``table``.
    facts : str
        The facts of the table as JSON.

    Attributes
    ----------
    broken : str
        Why the table has ended; empty while it goes on.
    """

    def __init__(self, process: TableProcess, facts: str):
        self._process = process
        self._facts = facts
        self._view = ""
        self._errors: dict[int, list[str]] = {}
        self._changes: dict[int, asyncio.Event] = {}
        self._last_page = 0
        self.broken = ""
        self._hearing = asyncio.ensure_future(self._hear())

    @property
    def is_in_hand(self) -> bool:
        """Whether a hand is dealt and not over, or the first hand is still to come."""
        return not self._view or "end" not in json.loads(self._view)

    async def serve(self, socket: WebSocket) -> None:
        """Send the view to a page whenever it changes, and take the page's moves, until the page leaves.

        Raises
        ------
        ValueError
            If a move is malformed, or the table ends.
        """
        self._last_page += 1
        page = self._last_page
        change = self._changes[page] = asyncio.Event()
        errors = self._errors[page] = []
        listening = asyncio.ensure_future(self._listen(socket, page))
        seen = ""
        try:
            await socket.send_text(f'{{"type": "table", "facts": {self._facts}}}')
            while not listening.done():
                change.clear()
                if self.broken:
                    raise ValueError(self.broken)
                while errors:
                    await socket.send_text(errors.pop(0))
                if self._view != seen:
                    seen = self._view
                    await socket.send_text(seen)
                waiting = asyncio.ensure_future(change.wait())
                done, _ = await asyncio.wait({waiting, listening}, timeout=ALIVE_S, return_when="FIRST_COMPLETED")
                if not done:
                    await socket.send_text('{"type": "alive"}')
                waiting.cancel()
            listening.result()
        finally:
            listening.cancel()
            del self._changes[page], self._errors[page]

    async def close(self, reason: str) -> None:
        """End the table; its pages are told the reason."""
        self.broken = self.broken or reason
        await self._process.close()
        await self._hearing
        self._wake()

    async def _listen(self, socket: WebSocket, page: int) -> None:
        while (message := await socket.receive())["type"] == "websocket.receive":
            if message.get("text") is None:
                raise ValueError("a frame must be text")
            move = parse_message(Move, message["text"].encode(), MAX_FRAME)
            self._process.tell(json.dumps({"page": page, "move": asdict(move)}))

    async def _hear(self) -> None:
        """Keep the latest view until the process ends."""
        while True:
            kind, rest = await self._process.hear()
            if kind == "view":
                self._view = rest
            elif kind.startswith("error"):
                page, _, said = rest.partition(" ")
                if int(page) in self._errors:
                    self._errors[int(page)].append(said)
            else:
                self.broken = self.broken or (rest if kind == "broken" else "the table's process has ended")
            self._wake()
            if self.broken:
                return

    def _wake(self) -> None:
        for change in self._changes.values():
            change.set()


class OpenTables:
    """All open tables by their session, and a spare process, which loads before a table needs it."""

    def __init__(self) -> None:
        self._open: dict[int, OpenTable] = {}
        self._spare: TableProcess | None = None
        self._opening = asyncio.Lock()

    async def prepare(self) -> None:
        """Start a spare process, unless there is one."""
        if self._opening.locked():
            return
        async with self._opening:
            await self._prepared()

    async def open(self, order: str) -> int:
        """Open a table, and return its session.

        Parameters
        ----------
        order : str
            The text of a `play_setting.Order`.

        Raises
        ------
        ValueError
            If there are too many tables, or the table's process refuses the order.
        """
        async with self._opening:
            if len(self.numbers()) >= MAX_TABLES:
                raise ValueError(f"{MAX_TABLES} tables are open; leave one of them first")
            process, self._spare = await self._prepared(), None
            process.tell(order)
            try:
                kind, rest = await asyncio.wait_for(process.hear(), _LOAD_S)
            except TimeoutError:
                kind, rest = "", f"the agents were not loaded within {_LOAD_S:g} s"
            if kind != "table":
                await process.close()
                raise ValueError(rest or "the table's process has ended")
            session = int(json.loads(rest)["session"])
            self._open[session] = OpenTable(process, rest)
            return session

    def in_hand(self) -> list[int]:
        """Return the sessions of the tables at which a hand is not over."""
        return [session for session in self.numbers() if self._open[session].is_in_hand]

    def numbers(self) -> list[int]:
        """Return the sessions of all open tables."""
        for session in [session for session, table in self._open.items() if table.broken]:
            del self._open[session]
        return list(self._open)

    def find(self, session: int) -> OpenTable:
        """Return an open table.

        Raises
        ------
        ValueError
            If the session has no open table.
        """
        if session not in self._open:
            raise ValueError("this table is not open: continue it in the lobby. A hand that was not over is void")
        return self._open[session]

    async def leave(self, session: int) -> None:
        """Close a table, if it is open."""
        if (table := self._open.pop(session, None)) is not None:
            await table.close("you have left this table")

    async def close(self) -> None:
        """Close all tables."""
        for session in list(self._open):
            await self.leave(session)
        if self._spare is not None:
            await self._spare.close()

    async def _prepared(self) -> TableProcess:
        if self._spare is None or not self._spare.is_running:
            self._spare = await TableProcess.start()
        return self._spare
