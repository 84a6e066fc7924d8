"""The gate before all pages: an ASGI application that refuses all requests but those of the user who runs the server.

A port of 127.0.0.1 is open to every page of every browser on the machine, and to all users of the machine. So a request
must name this server as its host, must not come from another site, and must hold the *key*, which only the page in the
user's browser knows. Cookies would be sent to every port of 127.0.0.1, so the key is a header, and the first frame of a
WebSocket. Files of the page hold no secret and need no key.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from plurispiel.tournaments.web.messages import MAX_BODY, MAX_FRAME, Greeting, parse_message

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

KEY_HEADER = "x-plurispiel-key"
"""The name of the header that holds the key."""

MAX_SOCKETS = 8
"""Number of WebSockets that may be open together.

A tab needs two while it shows a hand of a run. It needs one for a run, a pasted hand, a table or the spot explorer.
"""

BURST, PER_SECOND = 100, 20
"""The number of requests that may come at once, and the number a second that may come on average."""

POLICY_ERROR = 4403
"""The code with which a WebSocket is closed if its first frame is not the key."""

_MAX_PATH = 2048
_PATIENCE_S = 10.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Gate:
    """Lets a request through to the pages, or answers it with the reason for its refusal.

    Parameters
    ----------
    app : callable
        The ASGI application of the pages.
    port : int
        The port of this server on 127.0.0.1.
    key : str
        The key, in ASCII.
    open_paths : collection of str
        Paths that need no key.
    entrance : str
        The path of `open_paths` that may be opened from a file, or by a link on a page of another site.
    """

    def __init__(self, app: Application, port: int, key: str, open_paths: Collection[str], entrance: str):
        self._app = app
        self._hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
        self._origins = [f"http://{host}" for host in self._hosts]
        self._key = key.encode()
        self._open_paths = frozenset(open_paths)
        self._entrance = entrance
        self._num_sockets = 0
        self._allowance, self._counted_at = float(BURST), time.monotonic()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a connection, by the ASGI specification."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._request(scope, receive, send)

    async def _request(self, scope: Message, receive: Receive, send: Send) -> None:
        async def send_strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        status, reason = self._refusal(scope)
        body = b""
        if not status:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    body = await _whole_body(scope, receive)
            except TimeoutError:
                status, reason = 408, f"the body did not arrive within {_PATIENCE_S:g} s"
            except ValueError as error:
                status, reason = 413, str(error)
        if status:
            await _answer(status, reason, send_strictly)
            return
        is_read = False

        async def receive_again() -> Message:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive_again, send_strictly)

    async def _socket(self, scope: Message, receive: Receive, send: Send) -> None:
        """Accept a WebSocket of the page, wait for the key, and pass all later messages on."""
        status, _ = self._refusal(scope)
        if status or self._num_sockets >= MAX_SOCKETS:
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # it is not accepted yet, so the answer is 403
            return
        self._num_sockets += 1
        try:
            connect = await receive()
            await send({"type": "websocket.accept"})
            if not await self._is_greeted(receive):
                await send({"type": "websocket.close", "code": POLICY_ERROR, "reason": "the key is wrong"})
                return
            is_connected = False

            async def receive_rest() -> Message:
                nonlocal is_connected
                if is_connected:
                    return await receive()
                is_connected = True
                return connect

            async def send_rest(message: Message) -> None:
                if message["type"] != "websocket.accept":
                    await send(message)

            await self._app(scope, receive_rest, send_rest)
        finally:
            self._num_sockets -= 1

    async def _is_greeted(self, receive: Receive) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                first = await receive()
            text = first.get("text") if first["type"] == "websocket.receive" else None
            return text is not None and self._is_key(parse_message(Greeting, text.encode(), MAX_FRAME).key.encode())
        except (TimeoutError, ValueError):
            return False

    def _refusal(self, scope: Message) -> tuple[int, str]:
        """Return the status and reason with which a request is refused; 0 and an empty text if it is not refused."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        is_socket, path = scope["type"] == "websocket", scope["path"]
        hosts, origins, sites = (headers.get(name, []) for name in ("host", "origin", "sec-fetch-site"))
        keys = headers.get(KEY_HEADER, [])
        if not self._has_allowance():
            return 429, f"more than {PER_SECOND} requests a second"
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 403, f"the host is not {self._hosts[0]}"
        if not is_socket and scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "the method is none of GET, HEAD and POST"
        if len(scope["raw_path"]) + len(scope["query_string"]) > _MAX_PATH:
            return 414, f"the address has more than {_MAX_PATH:,} bytes"
        needs_origin = is_socket or scope["method"] == "POST"
        if len(origins) > 1 or any(origin not in self._origins for origin in origins) or (needs_origin and not origins):
            return 403, "the request does not come from this server's page"
        if path != self._entrance and any(site not in ("same-origin", "none") for site in sites):
            return 403, "the request comes from another site"
        if not is_socket and path not in self._open_paths:
            if len(keys) != 1 or not self._is_key(keys[0].encode("latin-1")):
                return 403, "the key is missing or wrong: open the address that plurispiel web has printed"
        return 0, ""

    def _is_key(self, given: bytes) -> bool:
        return secrets.compare_digest(given, self._key)

    def _has_allowance(self) -> bool:
        now = time.monotonic()
        self._allowance = min(float(BURST), self._allowance + PER_SECOND * (now - self._counted_at))
        self._counted_at = now
        if self._allowance < 1.0:
            return False
        self._allowance -= 1.0
        return True


async def _whole_body(scope: Message, receive: Receive) -> bytes:
    """Return the body of a request; raise ValueError as soon as it is too long."""
    too_long = ValueError(f"a body has at most {MAX_BODY:,} bytes")
    for name, value in scope["headers"]:
        if name == b"content-length" and int(value) > MAX_BODY:  # the server has checked that it is a number
            raise too_long
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY:
            raise too_long
    return body


async def _answer(status: int, text: str, send: Send) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
