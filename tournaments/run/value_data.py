"""Value data that are solved by other processes, a shard at a time."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from plurispiel.agents.values.data_set import (
    DataConfig,
    Shard,
    Situations,
    append_to_shard,
    missing_shards,
    num_there,
    sample,
    situations_digest,
    solve_numbers,
)
from plurispiel.agents.values.solved_situation import solve_exactly
from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import as_done
from plurispiel.tournaments.labour.travel import Site
from plurispiel.tournaments.labour.work import Labour

__all__ = ["SituationsWork", "solve_situations"]


class Missing(NamedTuple):
    """The situations that a shard lacks: those from number `begin` up to, but not with, `end`."""

    shard: Shard
    begin: int
    end: int


@dataclass(frozen=True)
class SituationsWork:
    """The solution of situations: jobs are `Missing`, and results `Situations`."""

    config: DataConfig

    @contextmanager
    def begin(self) -> Iterator[Callable[[Missing], Situations]]:
        """Return the function that solves the situations of a job."""

        def solve(job: Missing) -> Situations:
            return solve_numbers(self.config, job.shard.split, range(job.begin, job.end), solve_exactly)

        yield solve

    paths = ()
    logs = None
    reaches_network = False

    def departing(self) -> "SituationsWork":
        """Return the work, which names no files."""
        return self

    def moved(self, site: Site) -> "SituationsWork":
        """Return the work, which is the same everywhere."""
        return self

    def essence(self, result: Situations) -> bytes:
        """Return the digest of the situations."""
        return situations_digest(result).encode()


def solve_situations(
    folder: Path,
    config: DataConfig,
    counts: dict[str, int],
    workers: int,
    on_solved: Callable[[str], None],
    labour: Labour | None = None,
) -> None:
    """Solve the situations that a data set lacks; the data do not depend on who solves them.

    Parameters and errors are as in `data_set.sample`. With several workers, `on_solved` is called for all situations of
    a shard when the shard is done.

    Parameters
    ----------
    workers : int
        Worker processes; with 1, situations are solved in this process.
    labour : Labour, optional
        Solves the situations, instead of worker processes.

    Raises
    ------
    WorkerFailed
        If a worker died; an OSError. The shards that were done are there.
    """
    missing = list(missing_shards(folder, config, counts)) if workers > 1 or labour else []
    if not labour and len(missing) < 2:
        sample(folder, config, counts, solve_exactly, on_solved)
        return
    for split, count in counts.items():
        for _ in range(count - sum(shard.size for shard in missing if shard.split == split)):
            on_solved(split)
    jobs = [
        Missing(shard, shard.first + num_there(folder, config, shard), shard.first + shard.size) for shard in missing
    ]
    with (
        contextlib.nullcontext(labour) if labour else local_labour(min(workers, len(missing))) as solvers,
        contextlib.closing(as_done(solvers, SituationsWork(config), jobs)) as solved,
    ):
        for job, situations in solved:
            append_to_shard(folder, config, job.shard, situations)
            for _ in range(job.shard.size):
                on_solved(job.shard.split)
