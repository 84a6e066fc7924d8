"""The handlers of the requests of the lobby and of the tables."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from plurispiel.tournaments.contestants.outside_options import OutsideOptions
from plurispiel.tournaments.web.history import FILE, PlayStore
from plurispiel.tournaments.web.messages import MAX_FRAME, parse_message
from plurispiel.tournaments.web.play_setting import LISTED, Order, SessionChoice, Sit, checked, lobby_choices
from plurispiel.tournaments.web.table import OpenTables


class PlayPages:
    """Lobby and tables.

    Parameters
    ----------
    folder : Path
        The folder of ``play.sqlite``.
    agents : sequence of str
        Specs of agents that the server lists besides `play_setting.LISTED`.
    outside : OutsideOptions
        How agents from outside run.
    """

    def __init__(self, folder: Path, agents: Sequence[str] = (), outside: OutsideOptions | None = None):
        self._folder = folder
        self._listed = tuple(dict.fromkeys([*LISTED, *agents]))
        self._outside = outside or OutsideOptions()
        self._tables = OpenTables()
        self._choices: dict[str, Any] | None = None

    def routes(self) -> list[BaseRoute]:
        """Return the routes of lobby and tables."""
        return [
            Route("/api/lobby", self.lobby),
            Route("/api/sit", self.sit, methods=["POST"]),
            Route("/api/continue", self.go_on, methods=["POST"]),
            Route("/api/leave", self.leave, methods=["POST"]),
            Route("/api/export", self.export, methods=["POST"]),
            WebSocketRoute("/table", self.table),
        ]

    @contextlib.asynccontextmanager
    async def life(self, app: object) -> AsyncIterator[None]:
        """End all tables with the server."""
        try:
            yield
        finally:
            await self._tables.close()

    async def lobby(self, request: Request) -> Response:
        """Answer with the choices, the open tables and the sessions; begin to load a table's process."""
        loading = asyncio.ensure_future(self._tables.prepare())
        if self._choices is None:
            self._choices = await asyncio.to_thread(lobby_choices, self._listed)
        sessions = await asyncio.to_thread(self._in_store, PlayStore.sessions)
        for session in sessions:  # a hand that is not over is void only when its table has ended
            session["void"] -= session["session"] in self._tables.in_hand()
        await loading
        return JSONResponse({**self._choices, "open": self._tables.numbers(), "sessions": sessions})

    async def sit(self, request: Request) -> Response:
        """Open a new table, and answer with its session."""
        sit = await asyncio.to_thread(checked, parse_message(Sit, await request.body()), self._listed)
        return JSONResponse({"session": await self._tables.open(self._order(sit, 0))})

    async def go_on(self, request: Request) -> Response:
        """Open the table of an earlier session, unless it is open."""
        session = parse_message(SessionChoice, await request.body()).session
        if session not in self._tables.numbers():
            sit, _ = await asyncio.to_thread(self._in_store, PlayStore.sit_of, session)
            await asyncio.to_thread(checked, sit, self._listed)
            await self._tables.open(self._order(None, session))
        return JSONResponse({"session": session})

    async def leave(self, request: Request) -> Response:
        """Close a table."""
        await self._tables.leave(parse_message(SessionChoice, await request.body()).session)
        return JSONResponse({})

    async def export(self, request: Request) -> Response:
        """Answer with the hands of a session as a file's name and text."""
        session = parse_message(SessionChoice, await request.body()).session
        name, text = await asyncio.to_thread(self._in_store, PlayStore.export, session)
        return JSONResponse({"name": name, "text": text})

    async def table(self, socket: WebSocket) -> None:
        """Serve a table to a page."""
        await socket.accept()
        try:
            session = parse_message(SessionChoice, (await socket.receive_text()).encode(), MAX_FRAME).session
            await self._tables.find(session).serve(socket)
        except WebSocketDisconnect:
            return
        except (ValueError, KeyError) as error:  # a KeyError: the frame is no text
            reason = str(error) if isinstance(error, ValueError) else "a frame must be text"
            with contextlib.suppress(RuntimeError):  # the page has left
                await socket.close(4400, reason.encode()[:120].decode(errors="ignore"))

    def _in_store(self, ask: Any, *arguments: object) -> Any:
        with contextlib.closing(PlayStore(self._folder / FILE)) as store:
            return ask(store, *arguments)

    def _order(self, sit: Sit | None, session: int) -> str:
        return Order(sit, session, str(self._folder.absolute()), self._outside).text()
