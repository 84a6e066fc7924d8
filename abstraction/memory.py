"""How much memory there is, and how much this process has."""

import os
import sys


def available_bytes() -> float:
    """Return the bytes that can be had now, as the system tells them; infinitely many where it does not."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return float("inf")


def resident_bytes() -> int:
    """Return the bytes of memory that this process takes: now, or at most so far where the system tells only that."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
