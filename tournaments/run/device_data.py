"""Value data by PyTorch: processes draw situations, and a device finds the values of many situations together."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.values.batches.hand_orders import HandOrders, order_rows
from plurispiel.agents.values.batches.networks import BatchNet
from plurispiel.agents.values.batches.shards import draw_shard, solved_situations, start_of
from plurispiel.agents.values.batches.solver import BatchSolver, SolvedBatch
from plurispiel.agents.values.data_set import (
    DataConfig,
    Shard,
    Situations,
    joined,
    keep_shard,
    missing_shards,
    num_there,
)
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import as_done
from plurispiel.tournaments.labour.work import Calls

__all__ = ["order_tables", "solve_on_device"]

_Drawn = tuple[Shard, Situations]

_CLASSES_AT_ONCE = 500
_SHARDS_AT_ONCE = 5
"""The number of shards in a batch.

Situations with the same betting are solved together. A batch has a few hundred situations with each betting.
"""


def order_tables(rules: HoldemRules, sizes: Sequence[int], workers: int) -> dict[int, np.ndarray]:
    """Return the tables that `HandOrders` takes, by size of the board: int16[num_board_classes, 2, num_combos] each."""
    found: dict[int, np.ndarray] = {}
    for size in sizes:
        count = len(board_classes(size, rules.num_suits, rules.num_ranks).boards)
        table = np.empty((count, 2, rules.num_combos), np.int16)
        step = max(1, min(_CLASSES_AT_ONCE, count // (4 * workers)))
        jobs = [(size, first, min(count, first + step)) for first in range(0, count, step)]
        work = Calls(functools.partial(_order_rows, rules))
        with local_labour(workers) as labour, contextlib.closing(as_done(labour, work, jobs)) as done:
            for (_, first, end), rows in done:
                table[first:end] = rows
        found[size] = table
    return found


def _order_rows(rules: HoldemRules, job: tuple[int, int, int]) -> np.ndarray:
    return order_rows(rules, *job)


def solve_on_device(
    folder: Path,
    config: DataConfig,
    counts: dict[str, int],
    orders: HandOrders,
    teacher: StoredNet | None,
    workers: int,
    on_solved: Callable[[str], None] = lambda split: None,
    *,
    until: float | None = None,
) -> None:
    """Find the values of the situations that a data set lacks.

    Parameters
    ----------
    folder, config, counts
        As in `data_set.sample`.
    orders : HandOrders
        Has tables for all sizes of boards of the level; without them solving takes long.
    teacher : StoredNet or None
        The network with the digest `config.teacher`.
    workers : int
        The number of processes that draw situations.
    on_solved : callable
        Called once with the split for each situation: at the start for those that the data set has, and for the others
        of a shard when the shard is written.
    until : float, optional
        The time of `time.monotonic` from which on no further batch is begun.
    """
    level = config.find_level()
    solver = BatchSolver(level, orders, None if teacher is None else BatchNet(teacher.net, orders.device))
    missing = list(missing_shards(folder, config, counts, on_solved))
    if not missing:
        return
    work = Calls(functools.partial(draw_shard, config))
    with (
        local_labour(min(workers, len(missing))) as labour,
        contextlib.closing(as_done(labour, work, missing)) as drawn,
    ):
        for batch in _batches(drawn, missing):
            whole = joined([each for _, each in batch])
            start = start_of(whole)
            solved = solver.distil(start) if level.teacher else solver.solve(start)
            first = 0
            for shard, each in batch:
                rows = slice(first, first + len(each.pots))
                first = rows.stop
                some = SolvedBatch(*(column[rows] for column in solved))
                there = num_there(folder, config, shard)  # solved again, but counted before
                keep_shard(folder, config, shard, solved_situations(each, some))
                for _ in range(shard.size - there):
                    on_solved(shard.split)
            if until is not None and time.monotonic() >= until:
                return


def _batches(drawn: Iterator[tuple[Shard, Situations]], order: Sequence[Shard]) -> Iterator[list[_Drawn]]:
    """Yield batches of drawn shards in the given order, so that a stop leaves no gap."""
    waiting: dict[Shard, Situations] = {}
    batch: list[_Drawn] = []
    places = iter(order)
    following = next(places, None)
    for found, situations in drawn:
        waiting[found] = situations
        while following is not None and following in waiting:
            batch.append((following, waiting.pop(following)))
            following = next(places, None)
            if len(batch) == _SHARDS_AT_ONCE:
                yield batch
                batch = []
    if batch:
        yield batch
