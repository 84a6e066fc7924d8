"""The labour of one machine."""

from plurispiel.tournaments.labour.team import Team
from plurispiel.tournaments.labour.work import Alone

__all__ = ["local_labour"]


def local_labour(workers: int) -> Alone | Team:
    """Return this process if there is one worker or none, else worker processes; the caller ends them."""
    return Alone() if workers <= 1 else Team(workers)
