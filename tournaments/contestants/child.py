"""The process of an isolated agent, as the run sees it: a `Child` starts it, exchanges bytes with it, and ends it.

A `Child` knows no protocol. Its caller sends bytes, and says where an answer ends.
"""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from plurispiel.evaluation.hand import AgentFault
from plurispiel.tournaments.contestants.family import Family
from plurispiel.tournaments.contestants.sandbox import Sandbox

__all__ = ["MAX_OUTPUT", "Child", "Died"]

MAX_OUTPUT = 1 << 20
"""Largest number of bytes that an agent may print during a question, and largest number of bytes in a log."""

_CHUNK = 1 << 16  # largest number of bytes that one read takes from a pipe
_MAX_WORDS = 1 << 12  # bytes of the last prints that are kept for messages
_GLANCE_S = 0.2  # seconds between two checks of whether a silent process has ended
_GRACE_S = 1.0  # seconds to wait for the exit code of a process that has closed a pipe


class Died(Exception):
    """The process has ended, or has closed a pipe.

    Attributes
    ----------
    signal : int
        The signal that ended the process; 0 for any other end.
    """

    def __init__(self, text: str, number: int = 0):
        super().__init__(text)
        self.signal = number


class Child:
    """The process of an isolated agent, with its warden (`Family`), started on construction.

    Parameters
    ----------
    program : sequence of str
        A module of `tournaments.contestants` and the arguments of its `main`, which answers on standard output.
    spec : str
        The agent's spec.
    memory : int
        Size limit in MiB of each private folder in the sandbox.
    log : Path, optional
        File to which the agent's prints on standard error are appended, up to `MAX_OUTPUT` bytes.
    sandbox : Sandbox, optional
        The sandbox around the process; by default none.
    rivals : sequence of str
        Specs of agents whose files the sandbox masks.

    Attributes
    ----------
    is_closed : bool
        Whether `close` has been called.
    """

    def __init__(
        self,
        program: Sequence[str],
        spec: str,
        memory: int,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        self._log = log
        self._family = Family(program, spec, sandbox, rivals, memory)
        process = self._family.process
        assert process.stdin is not None and process.stderr is not None
        self._input, self._answers, self._prints = process.stdin, self._family.answers, process.stderr
        for pipe in (self._input, self._answers, self._prints):
            os.set_blocking(pipe.fileno(), False)
        self._unsent = bytearray()
        self._received = bytearray()
        self._last_words = b""
        self.is_closed = False

    @property
    def pid(self) -> int:
        """The id of the process that was started: the sandbox's if there is one, otherwise the warden's."""
        return self._family.process.pid

    @property
    def last_line(self) -> str:
        """The last line that the agent printed on standard error; empty if it printed nothing."""
        return (self._last_words.decode(errors="replace").strip().splitlines() or [""])[-1]

    def has_unasked(self) -> bool:
        """Return whether the process has written bytes beyond its last answer; call it before the next question."""
        with contextlib.suppress(OSError):
            self._received += self._answers.read(_CHUNK) or b""
        return bool(self._received)

    def has_started(self, agent: int) -> None:
        """Note the id of the agent's process, as that process sees it, before any code of the agent runs."""
        self._family.has_started(agent)

    def go_on(self) -> None:
        """Continue the agent's processes."""
        self._family.go_on()

    def stop(self) -> None:
        """Stop the agent's processes until `go_on`."""
        self._family.stop()

    def send(self, data: bytes) -> None:
        """Send bytes to the process. Bytes that the full pipe does not take are sent by `receive` or `flush`.

        Raises
        ------
        Died
            If the process has closed its input.
        """
        self._unsent += data
        self._write()

    def flush(self, what: str, seconds: float) -> None:
        """Wait until the pipe has taken all bytes of `send`; the arguments and errors are those of `receive`."""
        self._converse(lambda: not self._unsent, what, seconds)

    def receive(self, size_of: Callable[[bytearray], int], what: str, seconds: float) -> bytes:
        """Return the next answer; texts printed in the meantime are appended to the log.

        Parameters
        ----------
        size_of : callable
            Takes the bytes received so far, and returns the size of the answer at their start, even if its end is
            missing; 0 if the size is not known yet. An exception of this function leaves the process running.
        what : str
            The kind of question, for messages.
        seconds : float
            Longest time for the answer.

        Raises
        ------
        Died
            If the process ends, or closes its pipe.
        AgentFault
            If there is no whole answer in time, or the agent prints too much. The process is ended then.
        """
        size = 0

        def is_whole() -> bool:
            nonlocal size
            size = size_of(self._received)
            return 0 < size <= len(self._received)

        self._converse(is_whole, what, seconds)
        answer = bytes(self._received[:size])
        del self._received[:size]
        return answer

    def death(self) -> Died:
        """Return the exception for a process that has ended or closed a pipe, with the cause as its text."""
        code = self._family.exit_code(_GRACE_S)
        with contextlib.suppress(OSError):
            self._keep(self._prints.read(_CHUNK) or b"")
        if code is None:
            return Died("its process closed its pipe")
        if code >= 0:
            return Died(f"its process ended (exit code {code})")
        with contextlib.suppress(ValueError):
            return Died(f"its process was ended by {signal.Signals(-code).name}", -code)
        return Died(f"its process was ended by signal {-code}", -code)

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended by itself, `seconds` at most."""
        self._family.exit_code(seconds)

    def close(self) -> None:
        """End the process and everything that it has started."""
        if self.is_closed:
            return
        self.is_closed = True
        with contextlib.suppress(OSError, ValueError):
            self._keep(self._prints.read(_CHUNK) or b"")
        self._family.close()

    def _converse(self, is_done: Callable[[], bool], what: str, seconds: float) -> None:
        """Write, read and log until `is_done`; the arguments and errors are those of `receive`."""
        if is_done():
            return
        limit = time.monotonic() + seconds
        printed = 0
        with selectors.PollSelector() as selector:  # needs fewer system calls than the default, and pipes are few
            selector.register(self._answers, selectors.EVENT_READ)
            selector.register(self._prints, selectors.EVENT_READ)
            if self._unsent:
                selector.register(self._input, selectors.EVENT_WRITE)
            while not is_done():
                left = limit - time.monotonic()
                if left <= 0:
                    self.close()
                    raise AgentFault("timeout", f"{what}: no answer within {seconds:g} s")
                ready = [key.fileobj for key, _ in selector.select(min(left, _GLANCE_S))]
                if not ready and self._family.process.poll() is not None:
                    raise self.death()  # the pipes may still be open, held by a fork of the ended process
                if self._prints in ready:
                    data = self._prints.read(_CHUNK)
                    printed += len(data or b"")
                    if not data:
                        selector.unregister(self._prints)
                    self._keep(data or b"")
                    if printed > MAX_OUTPUT:
                        self.close()
                        raise AgentFault("output", f"{what}: it printed more than {MAX_OUTPUT >> 20} MiB")
                if self._input in ready:
                    self._write()
                    if not self._unsent:
                        selector.unregister(self._input)
                if self._answers in ready:
                    data = self._answers.read(_CHUNK)
                    if not data:
                        raise self.death()
                    self._received += data

    def _write(self) -> None:
        """Write as many of the unsent bytes as the pipe takes."""
        while self._unsent:
            try:
                count = self._input.write(self._unsent)
            except OSError:
                raise self.death() from None
            if count is None:  # the pipe is full
                return
            del self._unsent[:count]

    def _keep(self, data: bytes) -> None:
        """Append printed bytes to the log."""
        self._last_words = (self._last_words + data)[-_MAX_WORDS:]
        if self._log is None or not data:
            return
        with contextlib.suppress(OSError):  # an unwritable log must not affect a hand
            self._log.parent.mkdir(exist_ok=True)
            with open(self._log, "ab") as stream:
                stream.write(data[: max(0, MAX_OUTPUT - stream.tell())])
