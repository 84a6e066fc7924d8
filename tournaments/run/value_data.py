"""Value data that are solved in several processes, a shard at a time."""

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path

from plurispiel.agents.values.data_set import DataConfig, Shard, fill_shard, missing_shards, sample
from plurispiel.agents.values.solved_situation import solve_exactly
from plurispiel.tournaments.run.pool import done_in_pool

__all__ = ["solve_situations"]


def solve_situations(
    folder: Path, config: DataConfig, counts: dict[str, int], workers: int, on_solved: Callable[[str], None]
) -> None:
    """Solve the situations that a data set lacks; the data do not depend on the number of workers.

    Parameters and errors are as in `data_set.sample`. With several workers, `on_solved` is called for all situations of
    a shard when the shard is done.

    Raises
    ------
    OSError
        If a worker died. The shards that were done are there.
    """
    missing = list(missing_shards(folder, config, counts)) if workers > 1 else []
    if len(missing) < 2:
        sample(folder, config, counts, solve_exactly, on_solved)
        return
    for split, count in counts.items():
        for _ in range(count - sum(shard.size for shard in missing if shard.split == split)):
            on_solved(split)
    fill = functools.partial(_fill, folder, config)
    with contextlib.closing(done_in_pool(fill, missing, min(workers, len(missing)))) as solved:
        for shard, _ in solved:
            for _ in range(shard.size):
                on_solved(shard.split)


def _fill(folder: Path, config: DataConfig, shard: Shard) -> None:
    fill_shard(folder, config, shard, solve_exactly)
