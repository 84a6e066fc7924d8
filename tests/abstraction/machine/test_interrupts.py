"""Interrupts that wait, and handlers that are as before."""

import os
import signal
import threading
import time

import pytest

from plurispiel.abstraction.machine.interrupts import SIGNALS, interruptible, interrupts_held, undisturbed

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals on this system")


def test_held_interrupts_come_afterwards():
    done = []
    with interruptible() as obeyed:
        with pytest.raises(KeyboardInterrupt):
            with interrupts_held():
                os.kill(os.getpid(), signal.SIGTERM)
                os.kill(os.getpid(), signal.SIGTERM)
                done.append("all")
        os.kill(os.getpid(), signal.SIGHUP)  # soon after: for nothing
        time.sleep(0.01)
    for number, handler in HANDLERS.items():
        signal.signal(number, handler)
    assert done == ["all"] and obeyed == [signal.SIGTERM]


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
