"""Players that connect by themselves: a port for each of these players, and the player's stand-in at our table."""

import ipaddress
import socket
import time

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Event, View
from plurispiel.evaluation.hand import AgentFault, HandEnd, RemoteAgent
from plurispiel.tournaments.deal.clocks import PlayerClock
from plurispiel.tournaments.formats.lines import BadLine
from plurispiel.tournaments.formats.match_state import is_version
from plurispiel.tournaments.formats.told_hand import ToldHand
from plurispiel.tournaments.remote.connection import Connection

LOOPBACK = "127.0.0.1"
"""The address that only programs on this machine can reach."""

_PAUSE_S = 0.05
_VERSION_S = 10.0  # seconds for the first line: a connection that sends nothing must not block the port


class NoPlayer(OSError):
    """No player connects to a port in time."""


def is_loopback(address: str) -> bool:
    """Return whether only programs on this machine can reach an address.

    Raises
    ------
    ValueError
        If the text is not a numerical address.
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise ValueError(f"an address to listen on is written like {LOOPBACK} or ::1, got {address[:80]!r}") from None


class TcpSeat(RemoteAgent):
    """The stand-in for a player that connects to a port. It takes one connection, and listens only while it has none.

    `observe`, `act` and `show_end` raise `AgentFault` for a fault of the player. After any fault except an illegal
    action, the connection is closed. The player may connect again.

    Parameters
    ----------
    address : str
        The address to listen on.
    port : int
        The port; with 0 the system chooses one.
    clock : PlayerClock
        The player's time.

    Attributes
    ----------
    port : int
        The port.
    hand_number : int
        The number of the next hand in the lines to the player; the caller sets it before the hand.

    Raises
    ------
    OSError
        If the system does not let the seat listen, as when the port is taken; the message names address and port.
    """

    name = "tcp"

    def __init__(self, address: str, port: int, clock: PlayerClock):
        self.hand_number = 0
        self._address = address
        self._clock = clock
        self._connection: Connection | None = None
        self._lost = ""  # the fault for which the last connection was closed
        self._listener: socket.socket | None = self._listen(port)
        self.port: int = self._listener.getsockname()[1]

    def await_player(self, seconds: float) -> bool:
        """Wait until a player is connected and has told its version. Return whether the player connected in this call.

        Connections that do not begin with ``VERSION:2.x.y`` are closed.

        Raises
        ------
        NoPlayer
            If no player connects within `seconds`.
        OSError
            If the seat no longer listens at the port, and the system does not let it listen again.
        """
        if self._connection is not None:
            return False
        self._listener = listener = self._listener or self._listen(self.port)
        end = time.monotonic() + seconds
        refused = ""
        while (left := end - time.monotonic()) > 0.0:
            listener.settimeout(left)
            try:
                stream, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:  # the connection is gone again, or the system has no room for it
                time.sleep(_PAUSE_S)
                continue
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(stream)
            try:
                line = connection.read_line(min(_VERSION_S, max(0.0, end - time.monotonic())))
                if line is not None and is_version(line):
                    self._connection, self._lost = connection, ""
                    self._unlisten()
                    return True
                refused = f"; a connection began with {(line or '')[:40]!r}, not VERSION:2.x.y"
            except (OSError, BadLine) as error:
                refused = f"; a connection told no version: {error}"
            connection.close()
        if self._lost:
            late = f"did not connect again within {seconds:g} s after its fault ({self._lost})"
            raise NoPlayer(f"the player of port {self.port} {late}{refused}")
        raise NoPlayer(f"no player connected to port {self.port} within {seconds:g} s{refused}")

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand."""
        super().restart(rules, seat, rng)
        self._clock.begin_hand()
        self._hand = ToldHand(rules, seat, self.hand_number)

    def observe(self, event: Event) -> None:
        """Tell the player the new state, if the event leads to one (`ToldHand.observe`)."""
        if self._hand.observe(event):
            self._send()

    def act(self, view: View) -> int:
        """Wait for the player's answer to the last state."""
        with self._clock.running() as seconds:
            end = time.monotonic() + seconds
            while True:
                connection = self._connected()
                try:
                    line = connection.read_line(max(0.0, end - time.monotonic()))
                    if line is None:
                        raise AgentFault("crash", "the player closed the connection")
                    action = self._hand.answer(line, view.public)
                except TimeoutError:
                    raise self._fault("timeout", f"act: no answer within {seconds:.3g} s") from None
                except BadLine as error:
                    raise self._fault("protocol", f"act: {error}") from None
                except OSError as error:
                    raise self._fault("crash", f"act: the connection was lost: {error.strerror or error}") from None
                except AgentFault as fault:
                    if fault.kind != "illegal":
                        raise self._fault(fault.kind, f"act: {fault.message}") from None
                    raise
                if action is not None:
                    return action

    def show_end(self, end: HandEnd) -> None:
        """Tell a connected player the end of the hand."""
        if self._connection is not None:
            self._hand.end(end)
            self._send()

    def disconnect(self) -> None:
        """Close the connection, if there is one, and listen again, so that the player can connect again.

        Raises
        ------
        OSError
            If the system does not let the seat listen again.
        """
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._listener = self._listener or self._listen(self.port)

    def close(self) -> None:
        """Close the connection and the port."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._unlisten()

    def _connected(self) -> Connection:
        if self._connection is None:
            raise AgentFault("crash", "the player is not connected")
        return self._connection

    def _send(self) -> None:
        """Send the last state; a player that does not read it within the time of an answer is at fault."""
        try:
            self._connected().send_line(self._hand.line, self._clock.response_s)
        except TimeoutError as error:
            raise self._fault("timeout", f"observe: {error}") from None
        except OSError as error:
            raise self._fault("crash", f"observe: the connection was lost: {error.strerror or error}") from None

    def _fault(self, kind: str, text: str) -> AgentFault:
        self._lost = f"{kind}: {text}"
        self.disconnect()
        return AgentFault(kind, text)

    def _listen(self, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._address else socket.AF_INET
        try:
            return socket.create_server((self._address, port), family=family, backlog=1)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OSError(f"cannot listen on {self._address} port {port}: {reason}") from None

    def _unlisten(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.close()
