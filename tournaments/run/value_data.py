"""Value data that are solved in several processes, a shard at a time."""

import contextlib
import functools
import time
from collections.abc import Callable
from pathlib import Path

from plurispiel.agents.continual.depth_limited import solve_to_street_end
from plurispiel.agents.values.data_set import DataConfig, Shard, fill_shard, missing_shards, sample
from plurispiel.agents.values.distillation import distilled_evs
from plurispiel.agents.values.drawn_situation import DrawnSituation
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.net_file import StoredNet, load_net
from plurispiel.agents.values.solved_situation import Solved, solve_exactly
from plurispiel.tournaments.run.pool import done_in_pool

__all__ = ["solve_situations"]


def solve_situations(
    folder: Path,
    config: DataConfig,
    counts: dict[str, int],
    workers: int,
    on_solved: Callable[[str], None],
    teacher: Path | None = None,
    *,
    until: float | None = None,
) -> None:
    """Solve the situations that a data set lacks; the data do not depend on the number of workers.

    Parameters and errors are as in `data_set.sample`. With several workers, `on_solved` is called for all situations of
    a shard when the shard is done.

    Parameters
    ----------
    teacher : Path, optional
        Folder of the network that gives values: at the end of a street, that for the start of the next one; at the
        start of a street, that for its end.
    until : float, optional
        The time of `time.monotonic` at which solving stops, with several workers and shards.

    Raises
    ------
    OSError
        If a worker died. The shards that were done are there.
    """
    missing = list(missing_shards(folder, config, counts)) if workers > 1 else []
    if len(missing) < 2:
        sample(folder, config, counts, functools.partial(_solve, teacher), on_solved)
        return
    for split, count in counts.items():
        for _ in range(count - sum(shard.size for shard in missing if shard.split == split)):
            on_solved(split)
    fill = functools.partial(_fill, folder, config, teacher)
    with contextlib.closing(done_in_pool(fill, missing, min(workers, len(missing)))) as solved:
        for shard, _ in solved:
            for _ in range(shard.size):
                on_solved(shard.split)
            if until is not None and time.monotonic() >= until:
                return


def _fill(folder: Path, config: DataConfig, teacher: Path | None, shard: Shard) -> None:
    fill_shard(folder, config, shard, functools.partial(_solve, teacher))


def _solve(teacher: Path | None, level: Level, situation: DrawnSituation) -> Solved:
    if teacher is None:
        return solve_exactly(level, situation)
    stored = _net(teacher)
    return distilled_evs(stored.net, situation) if level.teacher else solve_to_street_end(level, situation, stored)


@functools.lru_cache(maxsize=1)
def _net(folder: Path) -> StoredNet:
    return load_net(folder)
