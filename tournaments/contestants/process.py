"""The program of an isolated agent: a warden and, as its child, the process that runs the agent's code.

Started by `family` as ``python -m``. The warden forks before anything of the agent is loaded. In a sandbox it stops
and continues all processes on order. It ends everything that the agent has started when the agent's process or the run
ends: in a sandbox it is the first process, whose end kills all others; elsewhere orphans become its children. Only the
standard library is imported here, which keeps the warden of every agent small.
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
_MAX_MEMORY = 1 << 40  # MiB: larger limits would overflow the system call
_ROUNDS = 100

CONTINUE, STOP = b"c", b"s"


def main(control: str, program: str, *arguments: str) -> None:
    """Run a module's `main` in a child process, and obey orders until the child or the run ends.

    Parameters
    ----------
    control : str
        File descriptor of the pipe of orders.
    program : str
        A module of `tournaments.contestants`.
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
        os.setsid()  # a signal to its group must not stop the warden
        die_with(warden)
        _run(program, arguments)
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # the streams belong to the agent
        os.dup2(nothing, stream)
    status = _watch(orders, agent)
    if warden > 1:
        _end_children()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _run(program: str, arguments: Sequence[str]) -> None:
    importlib.import_module(f"plurispiel.tournaments.contestants.{program}").main(*arguments)


def _watch(orders: int, agent: int) -> int:
    """Return the status of the agent's process, obeying orders until it ends or the pipe of orders is closed."""
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
        if os.getpid() == 1:  # outside a sandbox, -1 would reach every process of the user
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGSTOP if given.endswith(STOP) else signal.SIGCONT)


def _end_children() -> None:
    """End the processes that the agent has started: as a subreaper, this process is the parent of orphans."""
    with contextlib.suppress(ChildProcessError):
        for _ in range(_ROUNDS):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for child in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """Return the children of this process."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stream:
            if int(stream.read().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(entry))
    return found


def close_to_others() -> None:
    """Keep other processes of the user out of this one's memory and open files, where the system allows it."""
    set_option(_PR_SET_DUMPABLE, 0)


def leave_keyring() -> None:
    """Join a new session keyring: through the user's, agents could pass messages out of any sandbox."""
    number = _KEYCTL.get(os.uname().machine) if sys.platform == "linux" else None
    if number is not None:
        ctypes.CDLL(None).syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)


def set_option(option: int, value: int = 1) -> None:
    """Set an option of this process (`man prctl`); does nothing outside Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; where it cannot, the end of its input ends it."""
    set_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if sys.platform == "linux" and os.getppid() != parent:  # it ended before the option was set
        os._exit(1)


def limit_memory(mebibytes: int) -> None:
    """Limit this process to so many MiB beyond its present memory, where the system can."""
    try:
        import resource

        with open("/proc/self/statm") as stream:
            pages = int(stream.read().split()[5])
    except (ImportError, OSError):
        return
    limit = pages * resource.getpagesize() + min(mebibytes, _MAX_MEMORY) * _MIB
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main(*sys.argv[1:])
