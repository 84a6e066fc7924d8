"""Addresses and ports of the dealer; players at them are tested with `plurispiel deal`."""

import socket

import pytest

from plurispiel.tournaments.deal.clocks import PlayerClock
from plurispiel.tournaments.deal.server import TcpSeat, is_loopback


def test_addresses():
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.1")))


def test_a_port_is_open_until_somebody_has_told_a_version_and_again_after_a_fault():
    seat = TcpSeat("127.0.0.1", 0, PlayerClock(1.0, 1.0))
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", seat.port)) as first:
            first.sendall(b"VERSION:2.0.0\n")
            assert seat.await_player(5.0) and not seat.await_player(5.0)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", seat.port))
        seat.disconnect()
    seat.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", seat.port))
