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
        has_warden = sys.platform == "linux"
        theirs, self._orders = os.pipe() if has_warden else (-1, -1)
        command = [
            sys.executable,
            "-P",
            "-u",
            "-m",
            "plurispiel.tournaments.contestants.process",
            str(theirs),
            *program,
        ]
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
        if self._sandbox is None and sys.platform == "linux":
            self._agent = agent

    def go_on(self) -> None:
        """Let all go on."""
        self._signal(signal.SIGCONT, CONTINUE)

    def stop(self) -> None:
        """Stop all: in a sandbox every process there, elsewhere the agent's group."""
        self._signal(signal.SIGSTOP, STOP)

    def dismiss(self) -> None:
        """Have all end soon."""
        if self._orders < 0:
            self.process.kill()
        self._close_orders()  # the warden's sign to end them

    def close(self) -> None:
        """End all, and what belongs to them: nothing is left when this returns."""
        self.dismiss()
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

    def _signal(self, number: int, order: bytes) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError, BrokenPipeError):
            if self._sandbox is not None:
                os.write(self._orders, order)
            elif self._agent is not None:
                os.killpg(self._agent, number)

    def _close_orders(self) -> None:
        if self._orders >= 0:
            os.close(self._orders)
            self._orders = -1
