"""The processes of a contestant: its agent's, and all that it starts; they run while it is asked something."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from plurispiel.tournaments.contestants.process import CONTINUE, STOP
from plurispiel.tournaments.contestants.sandbox import Sandbox

_END_S = 2.0
_SIGNALLED = 128  # a shell's way to tell that a process was ended by a signal, and bubblewrap's


class Family:
    """An agent's process, just started, under a warden (`process`), both in a sandbox if there is one.

    Parameters
    ----------
    program : sequence of str
        A module of this package for contestants, and the arguments of its `main`.
    spec : str
        The agent's spec.
    sandbox : Sandbox, optional
    rivals : sequence of str
        Specs of the agents whose files it must not see.
    mebibytes : int
        What it may keep in its private folder, in a sandbox.
    errors : int or file
        Where what it prints goes.

    Attributes
    ----------
    process : Popen
        The first process, whose streams are the agent's.
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
        module = "plurispiel.tournaments.contestants.process"
        command = [sys.executable, "-P", "-u", "-m", module, str(theirs), *program]
        environment = None
        if sandbox is not None:
            command = sandbox.command(command, spec, rivals, mebibytes)
            environment = sandbox.environment()
        try:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=environment,
                start_new_session=True,
                pass_fds=(theirs,) if has_warden else (),
            )
        except BaseException:
            self._close_orders()
            raise
        finally:
            if has_warden:
                os.close(theirs)

    def has_started(self, agent: int) -> None:
        """Take note of the agent's process, as it names itself before its code is loaded."""
        if not self._has_warden:
            return
        if self._sandbox is None:
            self._agent = agent
            return
        try:
            (warden,) = _children(self.process.pid)
            (self._agent,) = _children(warden)  # its number in the sandbox is another
            self._offspring = _Offspring(warden, self._agent)
        except (OSError, ValueError):  # the kernel keeps no such lists
            self._asks_warden = True

    def go_on(self) -> None:
        """Let all go on."""
        self._signal(signal.SIGCONT)
        self._order(CONTINUE)

    def stop(self) -> None:
        """Stop all: in a sandbox every process there, elsewhere the agent's group."""
        self._signal(signal.SIGSTOP)
        if self._offspring is not None and self._offspring.is_seen():
            self._offspring.close()
            self._offspring = None
            self._asks_warden = True
        self._order(STOP)

    def dismiss(self) -> None:
        """Have all end soon."""
        if not self._has_warden:
            self.process.kill()
        self._close_orders()  # the warden's sign to end them

    def close(self) -> None:
        """End all, and what belongs to them: nothing is left when this returns."""
        self.dismiss()
        if self._offspring is not None:
            self._offspring.close()
            self._offspring = None
        try:
            self.process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:  # it has not begun to listen, or somebody has stopped it
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def exit_code(self, seconds: float) -> int | None:
        """Return how the agent's process has ended, a signal as a negative number; None if it has not."""
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        return _SIGNALLED - code if code > _SIGNALLED else code

    def _signal(self, number: int) -> None:
        """Send a signal to the agent's group."""
        if self._agent is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._agent, number)

    def _order(self, order: bytes) -> None:
        """Have the warden reach all in the sandbox, if there are more than the agent's process: it takes a while."""
        if self._asks_warden:
            with contextlib.suppress(OSError):
                os.write(self._orders, order)

    def _close_orders(self) -> None:
        if self._orders >= 0:
            os.close(self._orders)
            self._orders = -1


class _Offspring:
    """Whether the agent of a sandbox has started processes, told from outside in a few microseconds.

    Those that have lost their parents are children of the warden; the others are listed by thread.
    """

    def __init__(self, warden: int, agent: int):
        self._agent = agent
        self._wards = os.open(_children_file(warden, warden), os.O_RDONLY)
        self._lists: list[int] = []
        self._num_links = 0

    def is_seen(self) -> bool:
        """Return whether there are any, or that cannot be told."""
        threads = f"/proc/{self._agent}/task"
        try:
            if (num_links := os.stat(threads).st_nlink) != self._num_links:
                self._num_links = num_links
                self._close_lists()
                for thread in os.listdir(threads):
                    self._lists.append(os.open(_children_file(self._agent, int(thread)), os.O_RDONLY))
            if any(os.pread(each, 1, 0) for each in self._lists):
                return True
            return os.pread(self._wards, 64, 0).count(b" ") > 1
        except OSError:  # a thread has ended
            return True

    def close(self) -> None:
        """Look no more."""
        os.close(self._wards)
        self._close_lists()

    def _close_lists(self) -> None:
        while self._lists:
            os.close(self._lists.pop())


def _children_file(pid: int, thread: int) -> str:
    return f"/proc/{pid}/task/{thread}/children"


def _children(pid: int) -> list[int]:
    """Return the children of a process of one thread."""
    with open(_children_file(pid, pid)) as stream:
        return [int(word) for word in stream.read().split()]
