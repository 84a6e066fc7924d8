"""The executor of a run's jobs on one machine: this process, or worker processes."""

from plurispiel.tournaments.labour.team import Team
from plurispiel.tournaments.labour.work import Alone

__all__ = ["local_labour"]


def local_labour(workers: int) -> Alone | Team:
    """Return the executor for a number of workers: worker processes, or this process if the number is 1 or less.

    The caller has to shut the executor down.
    """
    return Alone() if workers <= 1 else Team(workers)
