"""Ctrl-C, SIGTERM and SIGHUP: how they end a command, and how they are held back where they would do harm."""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP
"""The signals that ask a command to end."""

_PATIENCE_S = 5.0
_Result = TypeVar("_Result")
_undisturbed: list[threading.Thread] = []


@contextlib.contextmanager
def interruptible() -> Iterator[list[int]]:
    """Let each of `SIGNALS` raise KeyboardInterrupt in the block.

    A signal that is ignored (SIGHUP under nohup), or that has a handler of the caller, is left as it is. After a signal
    that raised, further signals are dropped for five seconds: they would only interrupt the orderly end. If any signal
    raised, all signals changed here are ignored after the block. In a thread other than the main one nothing changes.

    Yields
    ------
    list of int
        The numbers of the signals that raised so far; the list grows during the block.
    """
    obeyed: list[int] = []
    since = -_PATIENCE_S

    def obey(number: int, frame: object) -> None:
        nonlocal since
        if time.monotonic() < since + _PATIENCE_S:
            return
        since = time.monotonic()
        obeyed.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield obeyed
        return
    usual = (signal.SIG_DFL, signal.default_int_handler)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in handlers.items():
        if handler in usual:
            signal.signal(number, obey)
    try:
        yield obeyed
    finally:
        for number, handler in handlers.items():
            if handler in usual:
                signal.signal(number, signal.SIG_IGN if obeyed else handler)  # ignored until Python has ended


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold interrupts back during the block, and deliver them to this process afterwards.

    Of interrupts that another thread received, only the first is delivered. In processes started in the block,
    interrupts stay blocked. On Windows, and in a thread other than the main one, nothing is held back.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    # Signals are blocked because child processes inherit the mask. Signals are also recorded, because another thread of
    # this process may receive a signal: the mask holds for the main thread only.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    # A handler that was not installed from Python is None here, and could not be put back: it stays.
    handlers = {number: handler for number in SIGNALS if (handler := signal.getsignal(number)) is not None}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if held:
        signal.raise_signal(held[0])


def undisturbed(work: Callable[[], _Result]) -> _Result:
    """Return the result of work that cannot be interrupted, such as compilation; the wait for it may be interrupted.

    If the caller is the main thread, the work runs in another thread. An interrupt then ends the wait, not the work;
    `leave` can end the program while the work is still running.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # the main thread handles signals
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    _undisturbed[:] = [*(each for each in _undisturbed if each.is_alive()), thread]
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def await_input(descriptor: int) -> None:
    """Wait until a file descriptor can be read; an interrupt ends the wait, whenever and in whichever thread it comes.

    A blocking read alone can lose an interrupt: Python's handlers run between the main thread's steps, and a signal
    that comes after the last step before the read, or to another thread, is handled only after the read. On Windows,
    and in a thread other than the main one, nothing is waited for.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        return
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)  # each signal with a handler writes a byte
    try:
        while descriptor not in select.select([descriptor, woken], [], [])[0]:
            os.read(woken, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(wake)
        os.close(woken)


def leave_to_parent() -> None:
    """Ignore interrupts in this process, as its parent will end it; programs that it starts get interrupts as usual."""
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: None)  # unlike SIG_IGN, not inherited by programs started here
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def leave(code: int) -> int | NoReturn:
    """Return an exit code; if work of `undisturbed` is still running, end the program at once with that code."""
    if any(thread.is_alive() for thread in _undisturbed):
        os._exit(code)  # a compilation that outlives the interpreter crashes
    return code
