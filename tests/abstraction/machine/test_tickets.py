"""Numbers that threads take from a counter."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.tickets import new_tickets, take_ticket


@kernel
def _take_all(tickets, taken):
    """Count how often each number is taken."""
    number = take_ticket(tickets)
    while number < len(taken):
        taken[number] += 1
        number = take_ticket(tickets)


@pytest.mark.parametrize("threads", [1, 4])
def test_each_number_is_taken_once(threads):
    tickets, taken = new_tickets(), np.zeros(1_000 if os.environ.get("NUMBA_DISABLE_JIT") else 1_000_000, np.int64)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: _take_all(tickets, taken), range(threads)))
    assert (taken == 1).all()
    assert tickets[0] == len(taken) + threads
