"""The solution of a data set's situations by other processes, a piece of a shard at a time."""

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from plurispiel.agents.continual.depth_limited import solve_to_street_end
from plurispiel.agents.values.data_set import (
    FLUSH_SECONDS,
    DataConfig,
    Shard,
    Situations,
    append_to_shard,
    joined,
    missing_shards,
    num_there,
    sample,
    situations_digest,
    solve_numbers,
)
from plurispiel.agents.values.distillation import distilled_evs
from plurispiel.agents.values.drawn_situation import DrawnSituation
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.net_file import StoredNet, load_net, net_digest
from plurispiel.agents.values.solved_situation import Solved, solve_exactly
from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import in_order
from plurispiel.tournaments.labour.travel import Site
from plurispiel.tournaments.labour.work import Labour, refuse_mixed

__all__ = ["SituationsWork", "solve_situations"]


_PIECE = 16
"""The number of situations in a job. One exact solution on the turn takes ten seconds, a shard of them takes hours."""


class Missing(NamedTuple):
    """Some situations that a shard lacks: those from number `begin` up to, but not including, `end`."""

    shard: Shard
    begin: int
    end: int


@dataclass(frozen=True)
class SituationsWork:
    """The solution of situations: jobs are `Missing`, and results `Situations`.

    Attributes
    ----------
    config : DataConfig
    teacher : Path or None
        Folder of the network that gives values, as in `solve_situations`.
    """

    config: DataConfig
    teacher: Path | None

    @contextmanager
    def begin(self) -> Iterator[Callable[[Missing], Situations]]:
        """Yield the function that solves the situations of a job."""
        solver = functools.partial(_solve, self.teacher)

        def solve(job: Missing) -> Situations:
            return solve_numbers(self.config, job.shard.split, range(job.begin, job.end), solver)

        yield solve

    logs = None
    outsiders = None

    @property
    def paths(self) -> list[Path]:
        """The folder of the network, if the level needs one."""
        return [] if self.teacher is None else [self.teacher.resolve()]

    def departing(self) -> "SituationsWork":
        """Return the work with an absolute path."""
        return self if self.teacher is None else dataclasses.replace(self, teacher=self.teacher.resolve())

    def moved(self, site: Site) -> "SituationsWork":
        """Return the work made by `departing`, with the path of the network on the machine on which it has arrived.

        Raises
        ------
        ValueError
            If the network differs on this machine.
        """
        if self.teacher is None:
            return self
        folder = Path(site.paths[str(self.teacher)])
        if net_digest(folder) != self.config.teacher:
            raise ValueError("the network of the command differs on this machine")
        return dataclasses.replace(self, teacher=folder)

    def essence(self, result: Situations) -> bytes:
        """Return the digest of the situations."""
        return situations_digest(result).encode()


def solve_situations(
    folder: Path,
    config: DataConfig,
    counts: dict[str, int],
    workers: int,
    on_solved: Callable[[str], None],
    teacher: Path | None = None,
    *,
    until: float | None = None,
    labour: Labour | None = None,
) -> None:
    """Solve the situations that a data set lacks; the data do not depend on the workers.

    Parameters and errors are as in `data_set.sample`. With several workers, `on_solved` is called for all situations of
    a piece of a shard when the piece is done. Pieces are written about every `FLUSH_SECONDS`, and when their shard is
    full.

    Parameters
    ----------
    workers : int
        The number of worker processes; with 1, situations are solved in this process. Ignored with `labour`.
    teacher : Path, optional
        Folder of the network that gives values; None for exact solutions. A level at the end of a street takes the
        network for the start of the next street. A level at the start of a street takes the network for that street's
        end.
    until : float, optional
        The time of `time.monotonic` at which solving ends. The situation in progress, or with several workers the next
        piece, is still finished. If this time is past already, nothing is solved.
    labour : Labour, optional
        The executor that solves the situations; None for the `workers`.

    Raises
    ------
    ValueError
        If the machines of `labour` may compute results that differ in the last digits.
    WorkerFailed
        If a worker died (an OSError); the situations that were written stay.
    """
    refuse_mixed(labour, "data sets")
    missing = list(missing_shards(folder, config, counts)) if workers > 1 or labour else []
    jobs = [piece for shard in missing for piece in _pieces(shard, num_there(folder, config, shard))]
    if not labour and len(jobs) < 2:
        sample(folder, config, counts, functools.partial(_solve, teacher), on_solved, until)
        return
    for split, count in counts.items():
        for _ in range(count - sum(job.end - job.begin for job in jobs if job.shard.split == split)):
            on_solved(split)
    if until is not None and time.monotonic() >= until:
        return
    with (
        contextlib.nullcontext(labour) if labour else local_labour(min(workers, len(jobs))) as solvers,
        contextlib.closing(in_order(solvers, SituationsWork(config, teacher), jobs)) as solved,
    ):
        pieces: list[Situations] = []
        kept = time.monotonic()
        for job, situations in solved:
            if not pieces:
                begin = job.begin
            pieces.append(situations)
            now = time.monotonic()
            is_over = until is not None and now >= until
            if is_over or now - kept >= FLUSH_SECONDS or job.end == job.shard.first + job.shard.size:
                append_to_shard(folder, config, job.shard, begin, joined(pieces))
                pieces, kept = [], now
            for _ in range(job.end - job.begin):
                on_solved(job.shard.split)
            if is_over:
                return


def _pieces(shard: Shard, there: int) -> Iterator[Missing]:
    """Yield the situations that a shard lacks, a piece at a time."""
    begin, end = shard.first + there, shard.first + shard.size
    for first in range(begin, end, _PIECE):
        yield Missing(shard, first, min(first + _PIECE, end))


def _solve(teacher: Path | None, level: Level, situation: DrawnSituation) -> Solved:
    if teacher is None:
        return solve_exactly(level, situation)
    stored = _net(teacher)
    return distilled_evs(stored.net, situation) if level.teacher else solve_to_street_end(level, situation, stored)


@functools.lru_cache(maxsize=1)
def _net(folder: Path) -> StoredNet:
    return load_net(folder)
