"""The pages' server: files from a fixed table, the runs of a folder, and a run that is watched while it is played.

The server computes no hands: it reads stores in threads, and a report is made by a process of its own.
"""

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.tournaments.report.hand_viewer import VIEWER_SCRIPTS
from plurispiel.tournaments.web.analyzer import pasted_hands
from plurispiel.tournaments.web.dashboard import Runs, run_figures, stamp
from plurispiel.tournaments.web.gate import Gate
from plurispiel.tournaments.web.messages import MAX_FRAME, Chosen, Enter, Pasted, parse_message
from plurispiel.tournaments.web.play_pages import PlayPages

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
    "/dashboard.js": (_STATIC / "dashboard.js", "text/javascript"),
    "/play.js": (_STATIC / "play.js", "text/javascript"),
    "/play_table.js": (_STATIC / "play_table.js", "text/javascript"),
    "/play.css": (_STATIC / "play.css", "text/css"),
    "/analyzer.js": (_STATIC / "analyzer.js", "text/javascript"),
    "/pages.js": (_STATIC / "pages.js", "text/javascript"),
    "/web.css": (_STATIC / "web.css", "text/css"),
    "/icon.svg": (_STATIC / "icon.svg", "image/svg+xml"),
}
"""All files of the page by path, with their types."""

_ENTER = "/api/enter"
_INTERVAL_S = 1.0
_WORK_S = 600.0


class Pages:
    """What the pages ask for.

    Parameters
    ----------
    folder : Path
        The folder of the runs.
    key : str
        The key of `Gate`.

    Attributes
    ----------
    token : str
        The token that is exchanged for the key; empty when that has happened.
    """

    def __init__(self, folder: Path, key: str):
        self._runs = Runs(folder)
        self._key = key
        self._reading = asyncio.Lock()  # one thread reads at a time
        self._working = asyncio.Lock()
        self.token = secrets.token_urlsafe(32)

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
        """Answer hands as text with their stories for the hand viewer."""
        text = parse_message(Pasted, await request.body()).hands
        return JSONResponse(await self._read(pasted_hands, text))

    async def make_report(self, request: Request) -> Response:
        """Make the report of a run, and answer with its path."""
        return await self._work(request, "cli", "report", "--json")

    async def show_hands(self, request: Request) -> Response:
        """Answer with hands of a run for the hand viewer."""
        return await self._work(request, "web.run_hands")

    async def _work(self, request: Request, module: str, *words: str) -> Response:
        """Answer with the JSON that a module prints about a run; one process works at a time."""
        folder = await self._read(self._runs.find, parse_message(Chosen, await request.body()).run)
        if self._working.locked():
            return _error(409, "another report or replay is being made; try again when it is done")
        async with self._working:
            code, out, err = await _printed(module, *words, str(folder.absolute()))
        if code:
            lines = err.strip().splitlines()
            return _error(500, printable(lines[-1])[:400] if lines else f"the process ended with {code}")
        return Response(out, media_type="application/json")

    async def watch(self, socket: WebSocket) -> None:
        """Send the figures of a run, again each time the run has grown, until the page leaves."""
        await socket.accept()
        try:
            text = await socket.receive_text()
            name = parse_message(Chosen, text.encode(), MAX_FRAME).run
            await self._push(socket, await self._read(self._runs.find, name), name)
        except WebSocketDisconnect:
            return
        except (ValueError, KeyError) as error:  # a KeyError: the frame is no text
            reason = str(error) if isinstance(error, ValueError) else "a frame must be text"
            await socket.close(4400, reason.encode()[:120].decode(errors="ignore"))

    async def _push(self, socket: WebSocket, folder: Path, name: str) -> None:
        leaving = asyncio.ensure_future(socket.receive())
        try:
            seen: Any = None
            while not leaving.done():
                now = stamp(folder)
                if now == seen:
                    await socket.send_json({"type": "alive"})
                else:
                    seen = now
                    await socket.send_json({"type": "figures", **await self._read(run_figures, folder, name)})
                await asyncio.wait([leaving], timeout=_INTERVAL_S)
            if leaving.result()["type"] != "websocket.disconnect":
                raise ValueError("a watched run takes no further frames")
        finally:
            leaving.cancel()

    async def _read(self, read: Callable[..., Any], *arguments: object) -> Any:
        async with self._reading:
            return await asyncio.to_thread(read, *arguments)


def make_app(pages: Pages, play: PlayPages, port: int, key: str) -> Gate:
    """Return the application behind its gate.

    Parameters
    ----------
    pages, play
        What the pages ask for.
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
        *play.routes(),
    ]
    app = Starlette(routes=routes, lifespan=play.life, exception_handlers={ValueError: _bad_request, OSError: _failed})
    return Gate(app, port, key, [*_FILES, _ENTER], ENTRANCE)


def _file(path: Path, kind: str) -> Callable[[Request], Awaitable[Response]]:
    body = path.read_bytes()

    async def answer(request: Request) -> Response:
        return Response(body, media_type=kind)

    return answer


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
