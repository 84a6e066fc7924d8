"""Ctrl-C, SIGTERM and SIGHUP: how a command ends by them, and the moments when they would do harm."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP
"""What asks a command to end."""

_PATIENCE_S = 5.0
_Result = TypeVar("_Result")
_undisturbed: list[threading.Thread] = []


@contextlib.contextmanager
def interruptible() -> Iterator[list[int]]:
    """Let each of `SIGNALS` raise KeyboardInterrupt, but for those that are ignored, as SIGHUP is under nohup.

    More of them while the first is being obeyed are taken for impatience: they would only break the ending off.

    Yields
    ------
    list of int
        The signals that were obeyed.
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
                signal.signal(number, signal.SIG_IGN if obeyed else handler)  # Python's own end takes a while


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold interrupts back: processes started here never get them, this one gets the first afterwards."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    # Blocked for what is started here; recorded for us, as any other thread of ours may still take the signal.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if handlers[number] is not signal.SIG_IGN:
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
    """Return what work comes to that an interrupt must not fall into, but need not wait for: the compiler's.

    It is done in a thread. An interrupt ends the wait for it, not the work; `leave` then ends the program.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they are for the thread that waits
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


def leave_to_parent() -> None:
    """Let interrupts do nothing to this process, whose parent ends it, and what it starts be as if it were not so."""
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: None)  # unlike what is ignored, not handed on to programs
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def leave(code: int) -> int | NoReturn:
    """Return an exit code; end the program with it at once if work goes on that was interrupted."""
    if any(thread.is_alive() for thread in _undisturbed):
        os._exit(code)  # the compiler does not survive Python's end
    return code
