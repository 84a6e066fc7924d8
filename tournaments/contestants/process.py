"""The program of a contestant: a warden, and under it the process that runs the agent's code.

Started by `family` as ``python -m``. The warden starts the other one before anything of the agent is loaded, stops and
continues what the agent runs when it is told to (in a sandbox), and ends all that the agent has started when the
agent's process ends, or the run: in a sandbox the warden is the first process, without which the others cannot be;
elsewhere orphans become its children. Only the standard library is imported here, as there is a warden for every agent.
"""

import contextlib
import ctypes
import importlib
import os
import select
import signal
import sys
from collections.abc import Sequence

from plurispiel.abstraction.machine.interrupts import leave_to_parent

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_KEYCTL = {"x86_64": 250, "aarch64": 219}  # the numbers of the system call
_KEYCTL_JOIN_SESSION_KEYRING = 1
_MIB = 1 << 20
_MOST_MEMORY = 1 << 40  # MiB: what the system's numbers hold
_ROUNDS = 100

CONTINUE, STOP = b"c", b"s"


def main(control: str, program: str, *arguments: str) -> None:
    """Run a module's `main` in a process of its own, and obey orders about it until it, or who gives them, ends.

    Parameters
    ----------
    control : str
        The open pipe from which orders come.
    program : str
        A module of this package, for contestants.
    """
    close_to_others()
    leave_keyring()
    leave_to_parent()
    if sys.platform != "linux":
        _run(program, arguments)
        return
    set_option(_PR_SET_CHILD_SUBREAPER)
    orders = int(control)
    warden = os.getpid()
    agent = os.fork()
    if agent == 0:
        os.close(orders)
        os.setsid()  # whoever stops it does not stop us
        die_with(warden)
        _run(program, arguments)
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # they are the agent's
        os.dup2(nothing, stream)
    status = _watch(orders, agent)
    if warden > 1:
        _end_children()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _run(program: str, arguments: Sequence[str]) -> None:
    importlib.import_module(f"plurispiel.tournaments.contestants.{program}").main(*arguments)


def _watch(orders: int, agent: int) -> int:
    """Obey orders until the agent's process ends, or there is nobody to give them, and return its status."""
    ended = os.pidfd_open(agent)
    events = select.poll()
    events.register(orders, select.POLLIN)
    events.register(ended, select.POLLIN)
    while True:
        ready = dict(events.poll())
        given = os.read(orders, 64) if orders in ready else b"none"
        if not given:
            os.kill(agent, signal.SIGKILL)
        if not given or ended in ready:
            return os.waitpid(agent, 0)[1]
        if os.getpid() == 1:  # else we would reach everybody
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGSTOP if given.endswith(STOP) else signal.SIGCONT)


def _end_children() -> None:
    """End what the agent has started: whatever of it has lost its parent is our child."""
    with contextlib.suppress(ChildProcessError):
        for _ in range(_ROUNDS):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for child in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """Return our children."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stream:
            if int(stream.read().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(entry))
    return found


def close_to_others() -> None:
    """Let nobody of the same user look into this process or its open files, where the system can see to that."""
    set_option(_PR_SET_DUMPABLE, 0)


def leave_keyring() -> None:
    """Have a keyring of our own: that of the user's session keeps what one agent tells the next, in any sandbox."""
    number = _KEYCTL.get(os.uname().machine) if sys.platform == "linux" else None
    if number is not None:
        ctypes.CDLL(None).syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)


def set_option(option: int, value: int = 1) -> None:
    """Set an option of this process (`man prctl`); nothing where there are none."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with(parent: int) -> None:
    """Have the system end this process when its parent ends, where it can; else it ends when its input does."""
    set_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if sys.platform == "linux" and os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def limit_memory(mebibytes: int) -> None:
    """Let this process take so much more memory than it has now, where the system can tell."""
    try:
        import resource

        with open("/proc/self/statm") as stream:
            pages = int(stream.read().split()[5])
    except (ImportError, OSError):
        return
    limit = pages * resource.getpagesize() + min(mebibytes, _MOST_MEMORY) * _MIB
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main(*sys.argv[1:])
