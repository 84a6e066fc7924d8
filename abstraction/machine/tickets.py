"""A counter that hands out each number once, to threads that run kernels without the GIL."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config as _config
from numba.extending import intrinsic

__all__ = ["new_tickets", "take_ticket"]


@intrinsic
def _compiled_take(typing_context: Any, tickets: Any) -> Any:
    if not isinstance(tickets, types.Array) or tickets.dtype != types.int64:
        return None

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(tickets), codegen


def _plain_take(tickets: np.ndarray) -> int:
    tickets[0] += 1
    return int(tickets[0]) - 1


take_ticket = _plain_take if _config.DISABLE_JIT else _compiled_take
"""``take_ticket(tickets)`` returns the next number, 0 at first. `tickets` is modified in place.

A compiled kernel takes the number in one atomic step. With ``NUMBA_DISABLE_JIT`` the step is not atomic.
"""


def new_tickets() -> np.ndarray:
    """Return a counter at 0 for `take_ticket`: int64[1]."""
    return np.zeros(1, np.int64)
