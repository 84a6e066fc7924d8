"""Lines of text as bytes: where a line ends, and which sizes and characters the ACPC's protocol allows."""

MAX_LINE = 4096
"""Largest number of bytes of a line, its end included. The ACPC's dealer has this limit, too."""


class BadLine(ValueError):
    """A line is too long, or holds bytes that are no printable ASCII."""


def line_size(received: bytes | bytearray) -> int:
    """Return the size of the first line in received bytes, with its end; 0 if the line is incomplete.

    Raises
    ------
    BadLine
        If the line is longer than `MAX_LINE` bytes.
    """
    size = received.find(b"\n", 0, MAX_LINE) + 1
    if size == 0 and len(received) >= MAX_LINE:
        raise BadLine(f"a line has at most {MAX_LINE} bytes, got one that begins {bytes(received[:40])!r}")
    return size


def line_text(line: bytes) -> str:
    """Return the text of a line without its end.

    Raises
    ------
    BadLine
        If the line holds a byte that is no printable ASCII.
    """
    text = line.rstrip(b"\r\n")
    if not (text.isascii() and text.decode().isprintable()):
        raise BadLine(f"lines are printable ASCII, got {text[:40]!r}")
    return text.decode()
