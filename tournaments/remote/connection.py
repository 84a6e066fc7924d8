"""A connection by which two programs exchange lines of text of limited size, within time limits of the caller."""

import select
import socket
import time

from plurispiel.tournaments.formats.lines import line_size, line_text

_CHUNK = 1 << 16


class Connection:
    """A connected socket, read and written by lines.

    Lines end with LF. A CR before the LF is written, and is optional in a line that is read.

    Parameters
    ----------
    stream : socket
        A connected stream socket, which belongs to this object from now on.
    """

    def __init__(self, stream: socket.socket):
        self._stream = stream
        self._stream.setblocking(False)
        self._received = bytearray()
        self._is_over = False

    def send_line(self, text: str, seconds: float) -> None:
        """Send a line.

        Raises
        ------
        TimeoutError
            If the line cannot be sent within `seconds`, because the other side does not read.
        OSError
            If the connection is lost.
        """
        rest = memoryview(text.encode() + b"\r\n")
        end = time.monotonic() + seconds
        while rest:
            try:
                rest = rest[self._stream.send(rest) :]
            except (BlockingIOError, InterruptedError):
                if not self._wait(False, end):
                    raise TimeoutError(f"a line was not read within {seconds:g} s") from None

    def read_line(self, seconds: float | None = None) -> str | None:
        """Return the next line without its end; None if the other side has closed the connection.

        If the connection is closed within a line, the incomplete line is dropped.

        Parameters
        ----------
        seconds : float, optional
            Longest time until the line is complete; by default without limit.

        Raises
        ------
        TimeoutError
            If there is no whole line within `seconds`.
        BadLine
            If the line is longer than `lines.MAX_LINE` bytes, or holds a byte that is no printable ASCII.
        OSError
            If the connection is lost.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while (size := line_size(self._received)) == 0:
            if self._is_over:
                return None
            if not self._wait(True, end):
                raise TimeoutError(f"no whole line within {seconds:g} s")
            try:
                data = self._stream.recv(_CHUNK)
            except (BlockingIOError, InterruptedError):
                continue
            self._is_over = not data
            self._received += data
        line = bytes(self._received[:size])
        del self._received[:size]
        return line_text(line)

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def _wait(self, to_read: bool, end: float | None) -> bool:
        """Wait until the socket can be read or written; False if the time `end` comes first."""
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0.0:
            return False
        reads, writes = ([self._stream], []) if to_read else ([], [self._stream])
        return any(select.select(reads, writes, [], left))


def connect(host: str, port: int, seconds: float) -> Connection:
    """Return a connection to an address.

    Raises
    ------
    OSError
        If the host is unknown, nobody listens, or there is no answer within `seconds`; the message names the address.
    """
    try:
        stream = socket.create_connection((host, port), timeout=seconds)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(f"cannot connect to {host}:{port}: {reason}") from None
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(stream)
