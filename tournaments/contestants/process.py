"""The program of an isolated agent: a warden and, as its child, the process that runs the agent's code.

`family` starts this module as ``python -m``. The warden forks before any code of the agent is loaded. In a sandbox, the
warden obeys the run's orders to stop and to continue all other processes of the sandbox. When the agent's process or
the run ends, the warden ends all processes that the agent has started. In a sandbox the warden is process 1, whose end
kills all other processes. Without a sandbox, orphaned processes become children of the warden, which kills its
children. Apart from the small module `interrupts`, only the standard library is imported here, which keeps every warden
small.
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
_ROUNDS = 100  # rounds of kills: the children of a killed process become the warden's, and need another round

CONTINUE, STOP = b"c", b"s"
"""Orders to the warden, one byte each."""


def main(control: str, output: str, program: str, *arguments: str) -> None:
    """Run a module's `main` in a child process, and obey orders until the child or the run ends.

    The warden then exits with the child's exit code, or with 128 plus the number of the signal that ended the child.
    Outside Linux the module runs in this process, without a warden.

    Parameters
    ----------
    control : str
        File descriptor from which the orders are read.
    output : str
        File descriptor of the child's standard output. Neither `control` nor `output` is used outside Linux.
    program : str
        A module of `tournaments.contestants`.
    *arguments : str
        Arguments of the module's `main`.
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
        os.dup2(int(output), 1)
        os.close(int(output))
        os.setsid()  # a signal to the agent's process group must not stop the warden
        die_with(warden)
        _run(program, arguments)
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (*range(3), int(output)):  # the standard streams belong to the agent
        os.dup2(nothing, stream)
    status = _watch(orders, agent)
    if warden > 1:  # when process 1 of a sandbox ends, all other processes of the sandbox end
        _end_children()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _run(program: str, arguments: Sequence[str]) -> None:
    importlib.import_module(f"plurispiel.tournaments.contestants.{program}").main(*arguments)


def _watch(orders: int, agent: int) -> int:
    """Obey orders until the agent's process or the run ends, and return the wait status of the agent's process.

    When the run ends, the pipe of orders closes, and the agent's process is killed.
    """
    ended = os.pidfd_open(agent)
    events = select.poll()
    events.register(orders, select.POLLIN)
    events.register(ended, select.POLLIN)
    while True:
        ready = dict(events.poll())
        received = os.read(orders, 64) if orders in ready else b"no order"
        if not received:  # the pipe is closed
            os.kill(agent, signal.SIGKILL)
        if not received or ended in ready:
            return os.waitpid(agent, 0)[1]
        if os.getpid() == 1:  # outside a sandbox, -1 would reach every process of the user
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGSTOP if received.endswith(STOP) else signal.SIGCONT)


def _end_children() -> None:
    """Kill the children of this process, round by round.

    This process is a subreaper. Orphans of killed processes therefore become its children, and a later round kills
    them.
    """
    with contextlib.suppress(ChildProcessError):
        for _ in range(_ROUNDS):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for child in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    """Return the ids of the children of this process."""
    children = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stream:
            # ID (NAME) STATE PARENT ...; the name may hold blanks and brackets
            if int(stream.read().rpartition(")")[2].split()[1]) == os.getpid():
                children.append(int(entry))
    return children


def close_to_others() -> None:
    """Deny other processes of the user access to the memory and open files of this process, if the system can."""
    set_option(_PR_SET_DUMPABLE, 0)


def leave_keyring() -> None:
    """Join a new session keyring on Linux: through the user's keyring, agents could pass messages out of a sandbox."""
    number = _KEYCTL.get(os.uname().machine) if sys.platform == "linux" else None
    if number is not None:
        ctypes.CDLL(None).syscall(number, _KEYCTL_JOIN_SESSION_KEYRING, None)


def set_option(option: int, value: int = 1) -> None:
    """Set an option of this process (`man prctl`); does nothing outside Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends.

    Outside Linux this does nothing. A `host` ends anyway when its input ends.
    """
    set_option(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if sys.platform == "linux" and os.getppid() != parent:  # the parent ended before the option was set
        os._exit(1)


def limit_memory(mebibytes: int) -> None:
    """Limit the data segment of this process to its present size plus `mebibytes` (MiB), if the system can."""
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
