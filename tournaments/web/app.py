"""The pages' server: files from a fixed table, the runs of a folder, and a run that is watched while it is played.

The server computes no hands: it reads stores in threads, and a report is made by a process of its own.
"""

import asyncio
import json
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

from plurispiel.tournaments.web.analyzer import pasted_hands
from plurispiel.tournaments.web.dashboard import Runs, run_figures, stamp
from plurispiel.tournaments.web.gate import Gate
from plurispiel.tournaments.web.messages import MAX_FRAME, Chosen, Enter, Pasted, parse_message

ENTRANCE = "/enter"
"""The path that the printed address names."""

_STATIC = Path(__file__).parent / "static"
_REPORT = Path(__file__).parent.parent / "report"
_FILES = {
    "/": (_STATIC / "index.html", "text/html"),
    ENTRANCE: (_STATIC / "enter.html", "text/html"),
    "/enter.js": (_STATIC / "enter.js", "text/javascript"),
    "/elements.js": (_STATIC / "elements.js", "text/javascript"),
    "/server.js": (_STATIC / "server.js", "text/javascript"),
    "/dashboard.js": (_STATIC / "dashboard.js", "text/javascript"),
    "/page.css": (_REPORT / "page.css", "text/css"),
    "/viewer.js": (_REPORT / "viewer.js", "text/javascript"),
    "/analyzer.js": (_STATIC / "analyzer.js", "text/javascript"),
    "/pages.js": (_STATIC / "pages.js", "text/javascript"),
    "/web.css": (_STATIC / "web.css", "text/css"),
    "/icon.svg": (_STATIC / "icon.svg", "image/svg+xml"),
}
"""All files of the page by path, with their types."""

_ENTER = "/api/enter"
_INTERVAL_S = 1.0
_REPORT_S = 600.0


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
        self._reporting = asyncio.Lock()
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
        name = parse_message(Chosen, await request.body()).run
        folder = await self._read(self._runs.find, name)
        if self._reporting.locked():
            return _error(409, "another report is being made")
        async with self._reporting:
            code, out, err = await _report(folder)
        if code:
            return _error(500, err.strip().splitlines()[-1][:400] if err.strip() else f"the report ended with {code}")
        return JSONResponse({"report": json.loads(out)["report"]})

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


def make_app(pages: Pages, port: int, key: str) -> Gate:
    """Return the application behind its gate.

    Parameters
    ----------
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
        Route("/api/report", pages.make_report, methods=["POST"]),
        WebSocketRoute("/watch", pages.watch),
    ]
    app = Starlette(routes=routes, exception_handlers={ValueError: _bad_request, OSError: _failed})
    return Gate(app, port, key, [*_FILES, _ENTER], ENTRANCE)


def _file(path: Path, kind: str) -> Callable[[Request], Awaitable[Response]]:
    body = path.read_bytes()

    async def answer(request: Request) -> Response:
        return Response(body, media_type=kind)

    return answer


async def _report(folder: Path) -> tuple[int, str, str]:
    """Run `plurispiel report` on a folder in a process of its own; return its exit code and output."""
    command = [sys.executable, "-m", "plurispiel.tournaments.cli", "report", str(folder.absolute()), "--json"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    try:
        out, err = await asyncio.wait_for(process.communicate(), _REPORT_S)
    except TimeoutError:
        return 1, "", f"the report was not finished within {_REPORT_S:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")


def _error(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status)


async def _bad_request(request: Request, error: Exception) -> Response:
    return _error(400, str(error))


async def _failed(request: Request, error: Exception) -> Response:
    return _error(500, getattr(error, "strerror", None) or "the file cannot be read")
