"""Lines over a socket: ends of lines, limits of size and time, and a side that goes away."""

import socket

import pytest

from plurispiel.tournaments.formats.lines import MAX_LINE, BadLine
from plurispiel.tournaments.remote.connection import Connection, connect


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    connection = Connection(ours)
    yield connection, theirs
    connection.close()
    theirs.close()


def test_lines_of_either_end_come_through_in_pieces_and_together(pair):
    connection, other = pair
    other.sendall(b"one\r\ntw")
    assert connection.read_line(1.0) == "one"
    other.sendall(b"o\n\nthree\r\r\nrest")
    assert [connection.read_line(1.0) for _ in range(3)] == ["two", "", "three"]
    other.shutdown(socket.SHUT_WR)
    assert connection.read_line(1.0) is None and connection.read_line() is None


def test_lines_are_written_with_both_ends(pair):
    connection, other = pair
    connection.send_line("MATCHSTATE", 1.0)
    assert other.recv(100) == b"MATCHSTATE\r\n"


@pytest.mark.parametrize("data", [b"x" * MAX_LINE, b"x" * 10_000 + b"\n", b"a\x00b\n", b"\xff\n", b"\x1b[2J\n"])
def test_lines_that_are_none(pair, data):
    connection, other = pair
    other.sendall(data)
    with pytest.raises(BadLine):
        connection.read_line(5.0)


def test_half_a_line_is_waited_for_no_longer_than_said(pair):
    connection, other = pair
    other.sendall(b"half")
    with pytest.raises(TimeoutError, match="no whole line within 0.05 s"):
        connection.read_line(0.05)
    other.sendall(b" more\n")
    assert connection.read_line(1.0) == "half more"


def test_a_side_that_does_not_read(pair):
    connection, _ = pair
    with pytest.raises(TimeoutError, match="a line was not read within 0.05 s"):
        for _ in range(10_000):
            connection.send_line("x" * 4_000, 0.05)


def test_a_side_that_is_gone(pair):
    connection, other = pair
    other.close()
    with pytest.raises(OSError):
        for _ in range(2):
            connection.send_line("x", 1.0)
    assert connection.read_line(1.0) is None


def test_nobody_at_the_address():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OSError, match=f"cannot connect to 127.0.0.1:{port}: Connection refused"):
        connect("127.0.0.1", port, 1.0)


def test_no_test_reaches_out():
    with pytest.raises(AssertionError, match="a test reaches out to '192.0.2.1'"):
        connect("192.0.2.1", 80, 1.0)
    with socket.socket() as stream, pytest.raises(AssertionError, match="reaches out"):
        stream.connect(("192.0.2.1", 80))
    for host in ("", "0.0.0.0", "192.0.2.1"):
        with socket.socket() as stream, pytest.raises(AssertionError, match="reaches out"):
            stream.bind((host, 0))
