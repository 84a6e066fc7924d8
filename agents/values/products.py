"""Products of rows and a matrix, which are the same bits on every processor and with any number of threads."""

from collections.abc import Callable

import numpy as np

from plurispiel.abstraction.machine.threads import run_chunks
from plurispiel.agents.values import net_kernels as kernels

__all__ = ["products"]


def products(rows: np.ndarray, matrix: np.ndarray, *, threads: int = 1) -> np.ndarray:
    """Return the products of rows and a matrix, to the digits of float32: float64[..., m].

    Each number of a row is multiplied, and added to the sums, in order. Zeros in rows cost little time.

    Parameters
    ----------
    rows : float[..., k]
    matrix : float32[k, m]
        Finite.
    threads : int

    Raises
    ------
    ValueError
        If rows do not fit the matrix.

    Examples
    --------
    >>> products(np.array([1.0, 0.0]), np.ones((2, 3), np.float32))
    array([1., 1., 1.])
    """
    flat = np.array(rows.reshape(-1, rows.shape[-1]), np.float32, order="C")
    if len(matrix) != flat.shape[1]:  # kernels check no bounds
        raise ValueError(f"the matrix takes rows of {len(matrix):,} numbers, got {flat.shape[1]:,}")
    found = np.empty((len(flat), matrix.shape[1]), np.float32)

    def make_worker() -> Callable[[slice], None]:
        places = np.empty(kernels.BLOCK, np.int64)
        return lambda part: kernels.fill_products(flat[part], matrix, places, found[part])

    run_chunks(make_worker, len(flat), chunk=max(1, -(-len(flat) // threads)), threads=threads)
    return found.astype(np.float64).reshape(*rows.shape[:-1], matrix.shape[1])


def warmup() -> None:
    """Compile every kernel that this module calls."""
    products(np.ones(1), np.ones((1, 1), np.float32))
