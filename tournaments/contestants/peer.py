"""The process at the other end of a loopback connection, found in Linux's tables of connections in ``/proc``."""

import contextlib
import os
import socket
from collections.abc import Iterator

__all__ = ["is_descendant"]

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")  # a program may reach an IPv4 address by a socket of IPv6
_LOCAL, _REMOTE, _INODE = 1, 2, 9  # columns of the tables


def is_descendant(connection: socket.socket, ancestor: int) -> bool:
    """Return whether a descendant of the process `ancestor` holds the other end of a connection.

    True also if the system cannot tell: outside Linux, or if a descendant hides its open files.

    Parameters
    ----------
    connection : socket.socket
        An accepted IPv4 connection over loopback.
    ancestor : int
        A process id.
    """
    ours, theirs = (f"{end[1]:04X}" for end in (connection.getsockname(), connection.getpeername()))
    if not os.path.exists(_TABLES[0]):
        return True
    wanted = {f"socket:[{inode}]" for inode in _inodes(theirs, ours)}
    for process in _descendants(ancestor):
        folder = f"/proc/{process}/fd"
        try:
            for number in os.listdir(folder):
                with contextlib.suppress(FileNotFoundError):  # closed in the meantime
                    if os.readlink(f"{folder}/{number}") in wanted:
                        return True
        except PermissionError:
            return True
        except OSError:  # ended in the meantime
            continue
    return False


def _inodes(local: str, remote: str) -> Iterator[str]:
    """Yield the inodes of sockets with a local and a remote port, both in four hexadecimal digits as in the tables."""
    for table in _TABLES:
        with contextlib.suppress(OSError), open(table) as stream:
            for line in stream:
                columns = line.split()
                if columns[_LOCAL].endswith(f":{local}") and columns[_REMOTE].endswith(f":{remote}"):
                    yield columns[_INODE]


def _descendants(ancestor: int) -> list[int]:
    """Return the ids of the processes below a process."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stream:
            # ID (NAME) STATE PARENT ...; the name may hold blanks and brackets
            parents[int(entry)] = int(stream.read().rpartition(")")[2].split()[1])
    found: list[int] = []
    for process in parents:
        above = parents.get(process)
        while above not in (None, 0, ancestor):
            above = parents.get(above)
        if above == ancestor:
            found.append(process)
    return found
