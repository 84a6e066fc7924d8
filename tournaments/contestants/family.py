"""An agent's process and all processes that it starts, which are stopped between the questions to the agent.

Without a sandbox, only the processes of the agent's process group are stopped.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from plurispiel.tournaments.contestants.process import CONTINUE, STOP
from plurispiel.tournaments.contestants.sandbox import Sandbox

_END_S = 2.0  # seconds for the warden to end all processes before its process group is killed
_SIGNALLED = 128  # added to a signal's number in exit codes, by shells and bubblewrap


class Family:
    """An agent's process and its warden (module `process`), both started on construction, in a sandbox if one is given.

    `stop` stops the agent's process group by a signal. In a sandbox, the warden also stops all other processes that the
    agent has started. Orders to the warden are slow, so it gets none while the agent is known to have started no
    process.

    Parameters
    ----------
    program : sequence of str
        A module of `tournaments.contestants` and the arguments of its `main`.
    spec : str
        The agent's spec.
    sandbox : Sandbox, optional
        The sandbox around both processes; by default none.
    rivals : sequence of str
        Specs of agents whose files the sandbox masks.
    mebibytes : int
        Size limit in MiB of each private folder in the sandbox.
    errors : int or file
        Target of standard error, to which the agent prints.

    Attributes
    ----------
    process : Popen
        The first process, which is bubblewrap, or the warden if there is no sandbox. Its standard input leads to the
        agent.
    answers : file
        What the agent writes to its standard output. It ends when the agent closes its output.
    """

    def __init__(
        self,
        program: Sequence[str],
        spec: str,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
        mebibytes: int = 1024,
        errors: int | IO[bytes] = subprocess.PIPE,
    ):
        self._sandbox = sandbox
        self._agent: int | None = None
        self._offspring: _Offspring | None = None
        self._asks_warden = False
        self._has_warden = has_warden = sys.platform == "linux"
        theirs, self._orders = os.pipe() if has_warden else (-1, -1)
        # bubblewrap keeps its own standard output open, but not the other files that it passes on. Only a pipe of its
        # own tells at once that the agent has closed its output.
        ours, output = os.pipe() if has_warden else (-1, -1)
        module = "plurispiel.tournaments.contestants.process"
        command = [sys.executable, "-P", "-u", "-m", module, str(theirs), str(output), *program]
        environment = None
        try:
            if sandbox is not None:
                command = sandbox.command(command, spec, rivals, mebibytes)
                environment = sandbox.environment()
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL if has_warden else subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=environment,
                start_new_session=True,
                pass_fds=(theirs, output) if has_warden else (),
            )
        except BaseException:
            self._close_orders()
            if has_warden:
                os.close(ours)
            raise
        finally:
            if has_warden:
                os.close(theirs)
                os.close(output)
        answers = open(ours, "rb", buffering=0) if has_warden else self.process.stdout  # noqa: SIM115
        assert answers is not None
        self.answers: IO[bytes] = answers

    def has_started(self, agent: int) -> None:
        """Note the process id `agent`, which the agent's process has reported before any code of the agent runs."""
        if not self._has_warden:
            return
        if self._sandbox is None:
            self._agent = agent
            return
        try:
            (warden,) = _children(self.process.pid)
            (self._agent,) = _children(warden)  # not `agent`: process ids differ inside the sandbox
            self._offspring = _Offspring(warden, self._agent)
        except (OSError, ValueError):  # a kernel without lists of children
            self._asks_warden = True

    def go_on(self) -> None:
        """Continue all processes."""
        self._signal(signal.SIGCONT)
        self._order(CONTINUE)

    def stop(self) -> None:
        """Stop all processes in the sandbox; without a sandbox, only the processes of the agent's process group.

        Outside Linux nothing is stopped.
        """
        self._signal(signal.SIGSTOP)
        if self._offspring is not None and self._offspring.is_seen():
            self._offspring.close()
            self._offspring = None
            self._asks_warden = True
        self._order(STOP)

    def dismiss(self) -> None:
        """Have the warden kill all processes, and do not wait for their end.

        Outside Linux there is no warden, and only the first process is killed.
        """
        if not self._has_warden:
            self.process.kill()
        self._close_orders()  # when the pipe of orders closes, the warden kills all processes

    def close(self) -> None:
        """End all processes, and wait until the first process has ended."""
        self.dismiss()
        if self._offspring is not None:
            self._offspring.close()
            self._offspring = None
        try:
            self.process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:  # the warden does not listen yet, or was stopped
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for pipe in (self.process.stdin, self.answers, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def exit_code(self, seconds: float) -> int | None:
        """Return the exit code of the first process, negative for a signal; None if it still runs after `seconds`.

        The first process exits as the agent's process does. A code of 128 plus the number of a signal is taken for that
        signal; other codes above 128, such as 255, are exit codes.
        """
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        return _SIGNALLED - code if code - _SIGNALLED in signal.valid_signals() else code

    def _signal(self, number: int) -> None:
        """Send a signal to the agent's process group."""
        if self._agent is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._agent, number)

    def _order(self, order: bytes) -> None:
        """Send an order to the warden of a sandbox, unless the agent is known to have started no process."""
        if self._asks_warden:
            with contextlib.suppress(OSError):
                os.write(self._orders, order)

    def _close_orders(self) -> None:
        if self._orders >= 0:
            os.close(self._orders)
            self._orders = -1


class _Offspring:
    """Detects from outside the sandbox, in a few microseconds, whether the agent has started processes.

    The kernel lists the children of every thread in a file of `/proc`, which is kept open. A process whose parent has
    ended becomes a child of the warden. Therefore, if any process that the agent has started exists, a thread of the
    agent has a child, or the warden has a child besides the agent.

    Parameters
    ----------
    warden, agent : int
        Process ids outside the sandbox.
    """

    def __init__(self, warden: int, agent: int):
        self._agent = agent
        self._wards = os.open(_children_file(warden, warden), os.O_RDONLY)
        self._lists: list[int] = []
        self._num_links = 0

    def is_seen(self) -> bool:
        """Return whether a process that the agent has started exists; True also if the system cannot tell."""
        threads = f"/proc/{self._agent}/task"
        try:
            if (num_links := os.stat(threads).st_nlink) != self._num_links:  # the number of threads has changed
                self._num_links = num_links
                self._close_lists()
                for thread in os.listdir(threads):
                    self._lists.append(os.open(_children_file(self._agent, int(thread)), os.O_RDONLY))
            if any(os.pread(each, 1, 0) for each in self._lists):
                return True
            return os.pread(self._wards, 64, 0).count(b" ") > 1  # a blank follows each id, and one id is the agent's
        except OSError:  # a thread has ended in the meantime
            return True

    def close(self) -> None:
        """Close the lists of children."""
        os.close(self._wards)
        self._close_lists()

    def _close_lists(self) -> None:
        while self._lists:
            os.close(self._lists.pop())


def _children_file(pid: int, thread: int) -> str:
    return f"/proc/{pid}/task/{thread}/children"


def _children(pid: int) -> list[int]:
    """Return the ids of the children of a process with a single thread."""
    with open(_children_file(pid, pid)) as stream:
        return [int(word) for word in stream.read().split()]
