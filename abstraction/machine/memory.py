"""Memory: the available bytes, the bytes that this process takes, and arrays that take memory only where written to."""

import mmap
import os
import sys

import numpy as np
import numpy.typing as npt


def available_bytes() -> float:
    """Return the bytes that can be allocated without swapping.

    Where the system does not report this number, return the size of the machine's memory, or infinity if that size is
    unknown too. The memory limit of a container is not considered.
    """
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
    """Return the bytes of memory that this process takes now; without ``/proc``, return `peak_bytes`."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return peak_bytes()


def anonymous_bytes(process: int | str = "self") -> int:
    """Return the bytes of a process's own memory, without shared memory and without files mapped into memory.

    Mapped files are, for example, libraries and blueprints.

    Parameters
    ----------
    process : int, optional
        The number of the process; by default this process.

    Returns
    -------
    int
        Bytes; 0 without ``/proc``, and for a process that has ended.
    """
    return _status_bytes("RssAnon", process)


def peak_bytes() -> int:
    """Return the peak of this process's memory in bytes; 0 where the system does not report it."""
    # `getrusage` comes second: its peak includes the memory of the process that started this one.
    return _status_bytes("VmHWM") or _peak("RUSAGE_SELF")


def peak_child_bytes() -> int:
    """Return the largest peak of memory among child processes that have ended, in bytes; 0 if none is reported.

    A child's peak is at least the memory that this process took when it started the child.
    """
    return _peak("RUSAGE_CHILDREN")


def _status_bytes(field: str, process: int | str = "self") -> int:
    """Return a number of bytes in ``/proc/PROCESS/status``; 0 if it is not there."""
    try:
        with open(f"/proc/{process}/status") as file:
            return next((1024 * int(line.split()[1]) for line in file if line.startswith(f"{field}:")), 0)
    except (OSError, ValueError, IndexError):
        return 0


def _peak(whose: str) -> int:
    try:
        import resource
    except ImportError:  # the module does not exist on Windows
        return 0
    peak = resource.getrusage(getattr(resource, whose)).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def sparse_zeros(count: int, dtype: npt.DTypeLike) -> np.ndarray:
    """Return `count` zeros in an array that on Linux takes memory only for the pages of 4 KiB that are written to.

    `numpy.zeros` may put large arrays into pages of 2 MiB. Such pages are faster, but a few scattered writes soon make
    the whole array take memory. Systems other than Linux get the array of `numpy.zeros`.
    """
    if count == 0 or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(count, dtype)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(-1, count * np.dtype(dtype).itemsize, flags=flags)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype)
