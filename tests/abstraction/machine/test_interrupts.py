"""Interrupts that wait, and handlers that are as before."""

import contextlib
import os
import select
import signal
import threading

import pytest

from plurispiel.abstraction.machine.interrupts import (
    SIGNALS,
    await_input,
    interruptible,
    interrupts_held,
    undisturbed,
)

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals on this system")


def by_another_thread(number):
    def send():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])  # a thread inherits the mask
        signal.raise_signal(number)

    thread = threading.Thread(target=send)
    thread.start()
    thread.join()


# `os.kill` would leave it to the system which thread takes the signal, and when.
@pytest.mark.parametrize("send", [signal.raise_signal, by_another_thread])
def test_held_interrupts_come_afterwards(send):
    done = []
    with interruptible() as obeyed:
        with pytest.raises(KeyboardInterrupt):
            with interrupts_held():
                send(signal.SIGTERM)
                send(signal.SIGTERM)
                done.append("all")
        send(signal.SIGHUP)  # soon after: for nothing
    for number, handler in HANDLERS.items():
        signal.signal(number, handler)
    assert done == ["all"] and obeyed == [signal.SIGTERM]


def test_a_handler_that_is_not_pythons_stays(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: None if number == signal.SIGHUP else HANDLERS[number])
    with interrupts_held():
        pass
    monkeypatch.undo()
    assert {number: signal.getsignal(number) for number in SIGNALS} == HANDLERS


HANDLERS = {number: signal.getsignal(number) for number in SIGNALS}


def test_without_an_interrupt_handlers_are_as_before():
    before = [signal.getsignal(number) for number in SIGNALS]
    with interruptible() as obeyed, interrupts_held():
        pass
    assert obeyed == [] and [signal.getsignal(number) for number in SIGNALS] == before


def test_what_is_undisturbed_comes_back_or_fails_as_it_does():
    assert undisturbed(lambda: threading.current_thread() is threading.main_thread()) is False
    assert undisturbed(lambda: [1]) == [1]
    with pytest.raises(ValueError, match="no such thing"):
        undisturbed(lambda: int("no such thing"))


def test_an_interrupt_that_another_thread_takes_ends_the_wait_for_input(usual_signals):
    silent, speaker = os.pipe()
    late = threading.Timer(10, os.write, (speaker, b"the interrupt is lost"))
    taker = threading.Timer(0.2, by_another_thread, (signal.SIGTERM,))
    descriptor = signal.set_wakeup_fd(-1)
    try:
        with interruptible() as obeyed, pytest.raises(KeyboardInterrupt):
            taker.start()
            late.start()
            await_input(silent)
            os.read(silent, 1)
        assert obeyed == [signal.SIGTERM] and signal.set_wakeup_fd(-1) == -1
        assert select.select([silent], [], [], 0)[0] == []
    finally:
        late.cancel()
        signal.set_wakeup_fd(descriptor)
        os.close(silent)
        os.close(speaker)


def test_a_signal_that_raises_nothing_does_not_end_the_wait_for_input(usual_signals):
    reader, writer = os.pipe()
    signal.signal(signal.SIGHUP, lambda number, frame: None)
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, reader)
        stack.callback(os.close, writer)
        for delay, call in (
            (0.1, lambda: by_another_thread(signal.SIGHUP)),
            (0.3, lambda: os.write(writer, b"a line")),
        ):
            timer = threading.Timer(delay, call)
            stack.callback(timer.join)
            timer.start()
        await_input(reader)
        assert os.read(reader, 9) == b"a line"
        os.write(writer, b"another")
        await_input(reader)  # at once
        assert os.read(reader, 9) == b"another"
