"""Interrupts that wait, and handlers that are as before."""

import signal
import threading

import pytest

from plurispiel.abstraction.machine.interrupts import SIGNALS, interruptible, interrupts_held, undisturbed

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
