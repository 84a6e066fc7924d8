"""The boards that a walk visits after one board, in chunks that threads take."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.tickets import new_tickets
from plurispiel.agents.resolve.visits import LaterVisits, Visits

__all__ = ["ChunkQueue", "deep_queue", "flat_queue"]


class ChunkQueue(NamedTuple):
    """Boards to visit on the last street, or on the last two streets.

    Attributes
    ----------
    tickets : int64[1]
        The number of the chunk that the next thread takes (`take_ticket`); past the last chunk when none is left.
    chunk_first : int64[num_chunks + 1]
        The index of each chunk's first entry in `boards`, then the number of entries.
    boards, factors : int64[n], float[n]
        The boards of the street before the last, as in `Visits`. If the last street alone is walked, both arrays are
        empty, and each chunk is one entry of `later_first`.
    later_first : int64[n + 1]
        The index in `later_boards` of the first board after each entry of `boards`, then the number of these boards.
    later_boards, later_factors : int64[m], float[m]
        The boards of the last street, as in `Visits`.
    times : float
        The product of the factors of the boards before these streets.
    """

    tickets: np.ndarray
    chunk_first: np.ndarray
    boards: np.ndarray
    factors: np.ndarray
    later_first: np.ndarray
    later_boards: np.ndarray
    later_factors: np.ndarray
    times: np.floating


def flat_queue(parts: list[Visits], times: float) -> ChunkQueue:
    """Return a queue of boards of the last street; each of `parts` is a chunk."""
    later = _joined(parts)
    nothing = Visits(later.boards[:0], later.factors[:0])
    return ChunkQueue(new_tickets(), np.arange(len(parts) + 1), *nothing, *later, later.factors.dtype.type(times))


def deep_queue(parts: list[Visits], run_outs: LaterVisits, times: float) -> ChunkQueue:
    """Return a queue of boards of the street before the last, with run-outs after each; each of `parts` is a chunk."""
    upper = _joined(parts)
    return ChunkQueue(
        new_tickets(), upper.first, upper.boards, upper.factors, *run_outs, upper.factors.dtype.type(times)
    )


def _joined(parts: list[Visits]) -> LaterVisits:
    """Return chunks of boards as one array, and where each chunk begins."""
    first = np.cumsum([0, *(len(part.boards) for part in parts)])
    boards, factors = zip(*parts, strict=True)
    return LaterVisits(first, np.concatenate(boards), np.concatenate(factors))
