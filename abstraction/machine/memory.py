"""How much memory there is, how much this process has, and arrays that take no more than is written to."""

import mmap
import os
import sys

import numpy as np
import numpy.typing as npt


def available_bytes() -> float:
    """Return the bytes that can be taken without swapping, else all there are; infinitely many if nobody tells."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def resident_bytes() -> int:
    """Return the bytes of memory that this process takes: now, or at most so far where the system tells only that."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return peak_bytes()


def peak_bytes() -> int:
    """Return the most bytes of memory that this process has taken; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def sparse_zeros(count: int, dtype: npt.DTypeLike) -> np.ndarray:
    """Return an array of zeros that takes memory for what is written to only, where the system can do that (Linux).

    In pages of 4 KiB. `numpy.zeros` has large arrays in pages of 2 MiB, which are faster, but which a few writes here
    and there soon fill.
    """
    if count == 0 or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(count, dtype)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(-1, count * np.dtype(dtype).itemsize, flags=flags)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype)
