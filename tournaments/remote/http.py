"""Requests with JSON bodies to a service over HTTP; replies are limited in time and in size.

Certificates are verified, redirects are refused, and no proxy is used. The request is sent again after a wait if the
service is busy, or if the connection is refused or lost before a reply's body has begun. There are six attempts at
most. A wait is drawn uniformly from 0 to a bound that doubles each time ("full jitter").
"""

import http.client
import io
import ipaddress
import json
import random
import socket
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

from plurispiel.abstraction.machine.artefact import read_json
from plurispiel.tournaments.remote.table import HandBroken, TableError

MAX_REPLY = 256 << 10
"""Largest number of bytes of a reply, its headers included."""

TIMEOUT_S = 30.0
"""Seconds that an attempt may take by default, from connecting to the end of the reply."""

MAX_TIMEOUT_S = 600.0
"""Largest timeout that can be set."""

BUSY = frozenset({429, 500, 502, 503, 504})
"""The statuses after which a request is repeated."""

_ATTEMPTS = 6
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 30.0
_MAX_QUOTE = 120
_OK = range(200, 300)


class BadStatus(TableError):
    """A service has refused a request.

    Attributes
    ----------
    status : int
        The status code of HTTP.
    """

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[1])


class BadReply(HandBroken):
    """A reply is too long or too slow, is cut off, is no HTTP or no JSON, or repeats the key."""


class HttpClient:
    """Sends requests to one service, one at a time, each over a connection of its own.

    Parameters
    ----------
    url : str
        The address of the service (`service_url`).
    headers : mapping of str to str
        Headers of every request.
    secret : str
        A key among the headers. In replies it is replaced by asterisks before they are kept or read.
    timeout : float
        Seconds that each attempt may take.
    wait : callable
        Waits for a number of seconds.

    Attributes
    ----------
    replies : list of str
        The bodies of the replies since the list was cleared, also of replies that refuse a request or cannot be used,
        up to `MAX_REPLY` bytes each. A body that did not arrive whole is kept as far as it came.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        secret: str = "",
        timeout: float = TIMEOUT_S,
        wait: Callable[[float], None] = time.sleep,
    ):
        self.replies: list[str] = []
        self._url = urllib.parse.urlsplit(url)
        self._headers = {"Accept": "application/json", "Connection": "close", **headers}
        self._secret = secret
        self._timeout = timeout
        self._wait = wait
        self._context = ssl.create_default_context() if self._url.scheme == "https" else None
        self._rng = random.Random()

    @property
    def host(self) -> str:
        """The host, with a port if the address names one."""
        return self._url.netloc

    def get(self, path: str) -> Any:
        """Return the reply to a GET request: a JSON value. Errors as in `post`."""
        return self._repeated("GET", path, None, frozenset())

    def post(self, path: str, body: Mapping[str, Any], busy: frozenset[int] = frozenset()) -> Any:
        """Return the reply to a POST request: a JSON value.

        Parameters
        ----------
        path : str
            The path below the service's address, with a leading slash.
        body : mapping
            The body, as plain values.
        busy : frozenset of int
            Further statuses that mean that the service is busy.

        Raises
        ------
        BadReply
            If the reply cannot be used. The service may have carried out the request.
        BadStatus
            If the service refuses the request, or is still busy after the last attempt.
        TableError
            If the service cannot be reached, or the connection is refused or lost at every attempt.
        """
        return self._repeated("POST", path, json.dumps(body).encode(), busy)

    def _repeated(self, method: str, path: str, body: bytes | None, busy: frozenset[int]) -> Any:
        error: TableError | None = None
        for attempt in range(_ATTEMPTS):
            if error is not None:
                self._wait(self._rng.uniform(0.0, min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** (attempt - 1))))
            try:
                status, text = self._request(method, path, body)
            except ConnectionError as lost:
                error = TableError(f"{self.host}: the connection failed: {lost.strerror or type(lost).__name__}")
                continue
            if status in _OK:
                return self._parsed(text)
            error = BadStatus(status, f"{self.host} refuses {method} {path} with status {status}{_quoted(text)}")
            if status not in BUSY | busy:
                break
        assert error is not None
        raise error

    def _request(self, method: str, path: str, body: bytes | None) -> tuple[int, str]:
        """Return the status and the body of the reply to one request."""
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = _Connection(self._url, self._context, time.monotonic() + self._timeout)
        data = b""
        is_whole = False
        try:
            connection.request(method, self._url.path.rstrip("/") + path, body, headers)
            response = connection.getresponse()
            while piece := response.read1(1 << 16):
                data += piece
            is_whole = response.length in (None, 0)
            status = response.status
        except ConnectionError as error:
            if data:
                raise BadReply(f"{self.host}: a reply is cut off") from error
            raise
        except TimeoutError:
            raise BadReply(f"{self.host} sent no whole reply within {self._timeout:g} s") from None
        except ssl.SSLError as error:
            raise TableError(f"{self.host}: {error.reason or 'no secure connection'}: {_one_line(error)}") from None
        except http.client.HTTPException as error:
            raise BadReply(f"{self.host}: a reply is no HTTP: {type(error).__name__}") from None
        except _TooLong:
            raise BadReply(f"{self.host} sent a reply of more than {MAX_REPLY >> 10} KiB") from None
        except OSError as error:
            raise TableError(f"{self.host} cannot be reached: {error.strerror or error}") from None
        finally:
            connection.end()
            text = data.decode(errors="replace")
            if self._secret:
                text = text.replace(self._secret, "***")
            if data:
                self.replies.append(text)
        if not is_whole:
            raise BadReply(f"{self.host}: a reply is cut off")
        return status, text

    def _parsed(self, text: str) -> Any:
        try:
            value = read_json(text.encode())
        except (ValueError, RecursionError):
            raise BadReply(f"{self.host}: a reply is no JSON{_quoted(text)}") from None
        # A reply may spell the key with escapes of JSON. Then asterisks have not replaced the key in the reply's text.
        if self._secret and self._secret in json.dumps(value):
            raise BadReply(f"{self.host}: a reply repeats the key")
        return value


def service_url(text: str) -> str:
    """Return the address of a service on this machine, which a user may give in place of the real one.

    Raises
    ------
    ValueError
        If the address is not ``http://``, a loopback address and a port.
    """
    try:
        url = urllib.parse.urlsplit(text)
        host, port = url.hostname or "", url.port
        if host == "localhost":  # a name could lead elsewhere
            text, host = text.replace(host, "127.0.0.1", 1), "127.0.0.1"
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local, port = False, None
    if not is_local or port is None or url.scheme != "http" or url.username or url.query or url.fragment:
        raise ValueError(f"a base URL is an address of this machine, as http://127.0.0.1:8080, got {text[:80]!r}")
    return text


class _TooLong(OSError):
    """A reply has more than `MAX_REPLY` bytes."""


class _Connection(http.client.HTTPConnection):
    """A connection with one deadline for everything: connecting, sending and reading."""

    def __init__(self, url: urllib.parse.SplitResult, context: ssl.SSLContext | None, end: float):
        super().__init__(url.hostname or "", url.port or (443 if context else 80))
        self._context = context
        self._end = end
        self._stream: socket.socket | None = None

    def connect(self) -> None:
        stream = socket.create_connection((self.host, self.port), timeout=_left(self._end))
        self._stream = stream
        if self._context is not None:
            stream = self._context.wrap_socket(stream, server_hostname=self.host, do_handshake_on_connect=False)
            self._stream = stream
            stream.settimeout(_left(self._end))
            stream.do_handshake()
        self.sock = _TimedSocket(stream, self._end)

    def end(self) -> None:
        """Close the socket; `close` leaves it open, because `http.client` calls `close` before a reply is read."""
        self.close()
        if self._stream is not None:
            self._stream.close()


class _TimedSocket:
    """The part of a socket that `http.client` uses, with one deadline for all, and a limit of bytes read."""

    def __init__(self, stream: socket.socket, end: float):
        self._stream = stream
        self._end = end

    def sendall(self, data: bytes) -> None:
        self._stream.settimeout(_left(self._end))
        self._stream.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._stream, self._end))

    def close(self) -> None:
        """Do nothing: a reply may still be read, and `_Connection.end` closes the socket."""


class _TimedReader(io.RawIOBase):
    """Reads a socket until a point of time, and at most `MAX_REPLY` bytes."""

    def __init__(self, stream: socket.socket, end: float):
        self._stream = stream
        self._end = end
        self._num_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._stream.settimeout(_left(self._end))
        size = self._stream.recv_into(buffer)
        self._num_bytes += size
        if self._num_bytes > MAX_REPLY:
            raise _TooLong
        return size


def _left(end: float) -> float:
    """Return the seconds until a point of time.

    Raises
    ------
    TimeoutError
        If that point has passed.
    """
    left = end - time.monotonic()
    if left <= 0.0:
        raise TimeoutError
    return left


def _quoted(text: str) -> str:
    return f": {_one_line(text)!r}" if text.strip() else ""


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:_MAX_QUOTE]
