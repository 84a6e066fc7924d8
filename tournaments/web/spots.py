"""The spot explorer's part of the server: a socket for each desk (`spot_desk`), and the requests to the desk."""

import asyncio
import contextlib
import dataclasses
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from plurispiel.tournaments.web.messages import MAX_BODY, MAX_FRAME, parse_message
from plurispiel.tournaments.web.solving import DeskProcess

_STATIC = Path(__file__).parent / "static"

SPOT_FILES = {
    f"/{path.name}": (path, "text/css" if path.suffix == ".css" else "text/javascript")
    for path in (
        _STATIC / name
        for name in (
            *("spot.css", "spot_range.js", "spot_form.js", "spot_grid.js", "spot_combos.js", "spot_tree.js"),
            *("spot_chart.js", "spot_play.js", "spots.js"),
        )
    )
}
"""Files of the explorer's page by path, with their types."""

MAX_DESKS = 2
"""The number of desks that may be open together: each may take most of the memory."""

_INTERVAL_S = 1.0
_NODE = {"most": 512}


@dataclass(frozen=True)
class NewDesk:
    """The second frame of a desk's socket, after `messages.Greeting`: an empty object."""


@dataclass(frozen=True)
class DeskRequest:
    """A request to a desk; `desk` is the name that the desk's first event told."""

    desk: str


@dataclass(frozen=True)
class Checked(DeskRequest):
    """A spot in the form of a spot's file, to check or to solve."""

    spot: Mapping[str, Any]


@dataclass(frozen=True)
class RangeText(DeskRequest):
    """A range as text."""

    text: str = field(metadata={"most": MAX_BODY})


@dataclass(frozen=True)
class RangeWeights(DeskRequest):
    """A range as the weights of all combos."""

    weights: tuple[float, ...] = field(metadata={"most": 1, "length": 1326})


@dataclass(frozen=True)
class PreflopLine(DeskRequest):
    """A line of actions before the flop, in a bundled blueprint."""

    blueprint: str
    line: tuple[str, ...] = field(metadata={"most": 16, "length": 64})


@dataclass(frozen=True)
class GoOn(DeskRequest):
    """The exploitability, in % of the pot, to which solving goes on."""

    target_pct: float = field(metadata={"least": 1e-6, "most": 100})


@dataclass(frozen=True)
class AtNode(DeskRequest):
    """A decision of the solution."""

    node: str = field(metadata=_NODE)


@dataclass(frozen=True)
class AfterAction(AtNode):
    """An action of a decision."""

    word: str


@dataclass(frozen=True)
class LockedNode(AtNode):
    """The probabilities to lock at a decision; negative for hands that stay free."""

    probabilities: tuple[float, ...] = field(metadata={"least": -1, "most": 1, "length": 1326 * 16})


@dataclass(frozen=True)
class Named(DeskRequest):
    """The name of a solution to save."""

    name: str


@dataclass(frozen=True)
class Listed(DeskRequest):
    """A spot of the list, to open."""

    name: str
    kind: str


@dataclass(frozen=True)
class PlayedSeat(DeskRequest):
    """The seat of a person who plays."""

    seat: str


@dataclass(frozen=True)
class Acted(DeskRequest):
    """The action of a person who plays."""

    word: str


_REQUESTS: dict[str, type[DeskRequest]] = {
    **{"check": Checked, "solve": Checked, "stop": DeskRequest, "go_on": GoOn},
    **{"read_range": RangeText, "write_range": RangeWeights, "preflop": PreflopLine},
    **{"look": AtNode, "cards": AfterAction, "lock": LockedNode},
    **{"listed": DeskRequest, "save": Named, "open": Listed, "deal": PlayedSeat, "act": Acted},
}
"""The record of each kind of request; the kinds are methods of `spot_desk.SpotDesk`."""


class SpotPages:
    """The handlers of the requests of the explorer's page.

    Parameters
    ----------
    folder : Path
        The folder of solutions and spot files.

    Attributes
    ----------
    desks : dict of str to DeskProcess
        The desks by name; a name is told to the page that opened the desk, and to no other.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._num_desks = 0
        self.desks: dict[str, DeskProcess] = {}

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the requests and of the socket."""
        return [
            WebSocketRoute("/desk", self.watch),
            *(Route(f"/api/spot/{kind}", self._answer(kind), methods=["POST"]) for kind in _REQUESTS),
        ]

    async def watch(self, socket: WebSocket) -> None:
        """Open a desk, and send its events until the page leaves; then the desk's process is killed."""
        await socket.accept()
        try:
            parse_message(NewDesk, (await socket.receive_text()).encode(), MAX_FRAME)
        except WebSocketDisconnect:
            return
        except (ValueError, KeyError):  # a KeyError: the frame is no text
            await socket.close(4400, "a desk is opened by an empty object")
            return
        if self._num_desks >= MAX_DESKS:
            await socket.close(4400, f"{MAX_DESKS} explorers are open: close another page first")
            return
        self._num_desks += 1
        name = secrets.token_urlsafe(16)
        try:
            desk = self.desks[name] = await DeskProcess.start(self._folder)
            try:
                await socket.send_json({"type": "desk", "desk": name})
                await _push(socket, desk)
            finally:
                del self.desks[name]
                await asyncio.shield(desk.end())
        except WebSocketDisconnect:
            pass
        finally:
            self._num_desks -= 1

    def _answer(self, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            fields = dataclasses.asdict(parse_message(_REQUESTS[kind], await request.body()))
            desk = self.desks.get(fields.pop("desk"))
            if desk is None:
                raise ValueError("the desk is gone: load the page again")
            return JSONResponse(await desk.ask(kind, fields))

        return answer


async def _push(socket: WebSocket, desk: DeskProcess) -> None:
    """Send a desk's events, and a sign of life after a second without one, until the page leaves or the desk ends."""
    leaving = asyncio.ensure_future(socket.receive())
    coming = asyncio.ensure_future(desk.events.get())
    try:
        while True:
            await asyncio.wait([leaving, coming], timeout=_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                if leaving.result()["type"] != "websocket.disconnect":
                    await socket.close(4400, "a desk takes no further frames")
                return
            if not coming.done():
                await socket.send_json({"type": "alive"})
                continue
            event = coming.result()
            if event is None:
                await socket.send_json({"type": "lost"})
                await socket.close(1011, "the solver has ended")
                return
            await socket.send_json(event)
            coming = asyncio.ensure_future(desk.events.get())
    finally:
        for task in (leaving, coming):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect):
                await task
