"""The pages' server: files from a fixed table, the runs of a folder, and a run that is watched while it is played.

The server itself plays no hands: it reads stores and replays pasted hands in threads. Reports, replays of a run's hands
and advice come from other processes.
"""

import asyncio
import contextlib
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.tournaments.report.hand_viewer import VIEWER_SCRIPTS
from plurispiel.tournaments.run.folder_lock import is_locked
from plurispiel.tournaments.web.advisers import Advisers
from plurispiel.tournaments.web.analyzer import pasted_hands
from plurispiel.tournaments.web.dashboard import Runs, last_lines, run_figures, stamp
from plurispiel.tournaments.web.gate import Gate
from plurispiel.tournaments.web.messages import MAX_FRAME, Chosen, ChosenHand, Enter, Pasted, Question, parse_message
from plurispiel.tournaments.web.play_pages import PlayPages
from plurispiel.tournaments.web.spots import SPOT_FILES, SpotPages

ENTRANCE = "/enter"
"""The path that the printed address names."""

_STATIC = Path(__file__).parent / "static"
_REPORT = Path(__file__).parent.parent / "report"
_FILES = {
    "/": (_STATIC / "index.html", "text/html"),
    ENTRANCE: (_STATIC / "enter.html", "text/html"),
    "/enter.js": (_STATIC / "enter.js", "text/javascript"),
    "/page.css": (_REPORT / "page.css", "text/css"),
    **{f"/{name}": (_REPORT / name, "text/javascript") for name in VIEWER_SCRIPTS},
    "/figures.js": (_STATIC / "figures.js", "text/javascript"),
    "/server.js": (_STATIC / "server.js", "text/javascript"),
    "/advisers.js": (_STATIC / "advisers.js", "text/javascript"),
    "/dashboard.js": (_STATIC / "dashboard.js", "text/javascript"),
    "/play.js": (_STATIC / "play.js", "text/javascript"),
    "/play_table.js": (_STATIC / "play_table.js", "text/javascript"),
    "/play.css": (_STATIC / "play.css", "text/css"),
    "/analyzer.js": (_STATIC / "analyzer.js", "text/javascript"),
    "/pages.js": (_STATIC / "pages.js", "text/javascript"),
    "/web.css": (_STATIC / "web.css", "text/css"),
    "/icon.svg": (_STATIC / "icon.svg", "image/svg+xml"),
    **SPOT_FILES,
}
"""All files of the page by path, with their types."""

_ENTER = "/api/enter"
_INTERVAL_S = 1.0
_WORK_S = 600.0


class Pages:
    """The handlers of the pages' requests.

    Parameters
    ----------
    folder : Path
        The folder of the runs.
    key : str
        The key of `Gate`.
    say : callable, optional
        Called with a line when the advisers have been loaded. They are loaded in the background from the start of the
        server. Without `say` an adviser is loaded when it is first asked.

    Attributes
    ----------
    spots : SpotPages
        The spot explorer's part.
    token : str
        The token that is exchanged for the key; empty after the exchange.
    """

    def __init__(self, folder: Path, key: str, say: Callable[[str], None] | None = None):
        self._runs = Runs(folder)
        self.spots = SpotPages(folder)
        self._key = key
        self._reading = asyncio.Lock()  # one thread reads at a time
        self._working = asyncio.Lock()
        self._say = say
        self._advisers = Advisers()
        self.token = secrets.token_urlsafe(32)

    @contextlib.asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Load the advisers while the server runs, and end their processes with the server."""
        warming = asyncio.create_task(self._warm())
        try:
            yield
        finally:
            warming.cancel()
            await asyncio.wait([warming])
            await self._advisers.close()

    async def _warm(self) -> None:
        if self._say is not None:
            loaded = [f"{name} {seconds:.1f} s" async for name, seconds in self._advisers.warm()]
            self._say(f"the advisers for hands are loaded: {', '.join(loaded)}")

    async def enter(self, request: Request) -> Response:
        """Answer the token with the key, once."""
        given = parse_message(Enter, await request.body()).token.encode()
        if not self.token or not secrets.compare_digest(given, self.token.encode()):
            return _error(403, "this address has been used, or is wrong: start plurispiel web again for a new one")
        self.token = ""
        return JSONResponse({"key": self._key})

    async def list_runs(self, request: Request) -> Response:
        """Answer with the runs of the folder."""
        return JSONResponse({"runs": await self._read(self._runs.listed)})

    async def read_pasted(self, request: Request) -> Response:
        """Answer with the stories, for the hand viewer, of hands given as text."""
        text = parse_message(Pasted, await request.body()).hands
        return JSONResponse(await self._read(pasted_hands, text))

    async def make_report(self, request: Request) -> Response:
        """Make the report of a run, and answer with its path."""
        chosen = parse_message(Chosen, await request.body())
        return await self._work(chosen.run, "cli", "report", "--json")

    async def show_hands(self, request: Request) -> Response:
        """Answer with hands of a run for the hand viewer, among them the one that is named."""
        chosen = parse_message(ChosenHand, await request.body())
        return await self._work(chosen.run, "web.run_hands", *([f"--hand={chosen.hand}"] if chosen.hand else []))

    async def _work(self, run: str, module: str, *words: str) -> Response:
        """Answer with the JSON that a module prints about a run; one process works at a time."""
        folder = await self._read(self._runs.find, run)
        if self._working.locked():
            return _error(409, "another report or replay is being made; try again when it is done")
        async with self._working:
            code, out, err = await _printed(module, *words, str(folder.absolute()))
        if code:
            lines = err.strip().splitlines()
            return _error(500, printable(lines[-1])[:400] if lines else f"the process ended with {code}")
        return Response(out, media_type="application/json")

    async def advise(self, socket: WebSocket) -> None:
        """Answer questions about decisions of hands, as the advisers' answers come, until the page leaves."""
        await socket.accept()
        answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        answers.put_nowait({"type": "ready"})

        async def send() -> None:
            while True:
                try:
                    async with asyncio.timeout(_INTERVAL_S):
                        answer = await answers.get()
                except TimeoutError:
                    answer = {"type": "alive"}
                await socket.send_json(answer)

        sending = asyncio.create_task(send())
        try:
            async with _closed_if_refused(socket):
                while True:
                    text = await socket.receive_text()
                    question = parse_message(Question, text.encode(), MAX_FRAME)
                    self._advisers.ask(socket, question, answers.put_nowait)
        finally:
            self._advisers.leave(socket)
            sending.cancel()

    async def watch(self, socket: WebSocket) -> None:
        """Send a run's figures and the last lines of its log, at first and after changes, until the page leaves."""
        await socket.accept()
        async with _closed_if_refused(socket):
            text = await socket.receive_text()
            name = parse_message(Chosen, text.encode(), MAX_FRAME).run
            await self._push(socket, await self._read(self._runs.find, name), name)

    async def _push(self, socket: WebSocket, folder: Path, name: str) -> None:
        leaving = asyncio.ensure_future(socket.receive())
        try:
            seen, printed = None, []
            while not leaving.done():
                now, log = await self._read(_signs, folder)
                if now != seen:
                    seen, printed = now, log
                    figures = await self._read(run_figures, folder, name)
                    await socket.send_json({"type": "figures", **figures, "log": log})
                elif log != printed:
                    printed = log
                    await socket.send_json({"type": "log", "log": log})
                else:
                    await socket.send_json({"type": "alive"})
                await asyncio.wait([leaving], timeout=_INTERVAL_S)
            if leaving.result()["type"] != "websocket.disconnect":
                raise ValueError("a watched run takes no further frames")
        finally:
            leaving.cancel()

    async def _read(self, read: Callable[..., Any], *arguments: object) -> Any:
        async with self._reading:
            return await asyncio.to_thread(read, *arguments)


def make_app(pages: Pages, play: PlayPages, port: int, key: str) -> Gate:
    """Return the gate, which passes requests on to the application of the pages.

    Parameters
    ----------
    pages, play
        The handlers of the pages' requests.
    port : int
        The port of the server.
    key : str
        The key of the gate.
    """
    routes = [
        *(Route(path, _file(*found)) for path, found in _FILES.items()),
        Route(_ENTER, pages.enter, methods=["POST"]),
        Route("/api/runs", pages.list_runs),
        Route("/api/hands", pages.read_pasted, methods=["POST"]),
        Route("/api/run-hands", pages.show_hands, methods=["POST"]),
        Route("/api/report", pages.make_report, methods=["POST"]),
        WebSocketRoute("/watch", pages.watch),
        WebSocketRoute("/advise", pages.advise),
        *play.routes(),
        *pages.spots.routes(),
    ]

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        async with play.life(app), pages.life():
            yield

    app = Starlette(routes=routes, lifespan=life, exception_handlers={ValueError: _bad_request, OSError: _failed})
    return Gate(app, port, key, [*_FILES, _ENTER], ENTRANCE)


@contextlib.asynccontextmanager
async def _closed_if_refused(socket: WebSocket) -> AsyncIterator[None]:
    """End quietly when the page leaves, and close the socket with the reason when a frame is refused."""
    try:
        yield
    except WebSocketDisconnect:
        return
    except (ValueError, KeyError) as error:  # a KeyError: the frame is binary
        reason = str(error) if isinstance(error, ValueError) else "a frame must be text"
        await socket.close(4400, reason.encode()[:120].decode(errors="ignore"))


def _file(path: Path, kind: str) -> Callable[[Request], Awaitable[Response]]:
    body = path.read_bytes()

    async def answer(request: Request) -> Response:
        return Response(body, media_type=kind)

    return answer


def _signs(folder: Path) -> tuple[Any, list[str]]:
    """Return values that change when a run grows or its play begins or ends, and the last lines of its log."""
    return (stamp(folder), is_locked(folder)), last_lines(folder / "logs")


async def _printed(module: str, *words: str) -> tuple[int, bytes, str]:
    """Run a module of this package in a process of its own; return its exit code, output and messages."""
    command = [sys.executable, "-m", f"plurispiel.tournaments.{module}", *words]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    try:
        out, err = await asyncio.wait_for(process.communicate(), _WORK_S)
    except TimeoutError:
        return 1, b"", f"it was not finished within {_WORK_S:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out, err.decode(errors="replace")


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)


async def _bad_request(request: Request, error: Exception) -> Response:
    return _error(400, str(error))


async def _failed(request: Request, error: Exception) -> Response:
    return _error(500, getattr(error, "strerror", None) or "the file cannot be read")
