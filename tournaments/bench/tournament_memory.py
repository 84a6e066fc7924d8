"""Memory of a tournament with AIVAT: it should not grow with the number of hands."""

import multiprocessing
import tempfile
from pathlib import Path

import numpy as np

from plurispiel.abstraction.machine.memory import anonymous_bytes
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import Block
from plurispiel.tournaments.run.store import RunStore

_LINEUP = ("blueprint", "tag")
_HANDS_A_SECOND = 1_000
_TIMES = 3
_WORKERS = 2


def bench_tournament_memory(seconds: float = 1.0) -> list[Measurement]:
    """Return the most memory that processes took in a run, until a third of its hands were played and until the end.

    The third is 1,000 hands for each second of `seconds`. The run is heads-up with AIVAT and two workers. Memory is
    read at the end of each block of hands. Both figures count the kernels that a worker compiles. Memory-mapped files
    do not count (`anonymous_bytes`): processes share their pages, and more pages are loaded as hands need them.
    """
    few = max(2, round(_HANDS_A_SECOND * seconds / 2))
    most = memory_of_run([few, _TIMES * few])
    rows = []
    for whose, (first, last) in zip(("main process", "largest worker"), zip(*most, strict=True), strict=True):
        growth = f"{(last - first) / 2**20:+.1f} MiB"
        for decks, size, note in ((few, first, "most until then"), (_TIMES * few, last, f"most until then, {growth}")):
            rows.append(Measurement(f"{2 * decks:,} hands with AIVAT, {whose}", size / 2**20, "MiB", note))
    return rows


def memory_of_run(decks: list[int]) -> list[tuple[int, int]]:
    """Play a run in this process and its workers.

    Parameters
    ----------
    decks : list of int
        Numbers of decks, ascending; the last is the number of decks of the run.

    Returns
    -------
    list of (int, int)
        For each number of decks, the most memory until then in bytes: of this process, and of the largest worker. It is
        read at the end of each block.
    """
    config = TournamentConfig(agents=_LINEUP, decks=decks[-1], score="aivat_duplicate", values="checkdown", seed=1)
    most = [(0, 0) for _ in decks]
    done = 0

    def measure(block: Block, rows: np.ndarray) -> None:
        nonlocal done
        done += block.num_decks
        now = (
            anonymous_bytes(),
            max((anonymous_bytes(child.pid or 0) for child in multiprocessing.active_children()), default=0),
        )
        for k, number in enumerate(decks):
            if done <= number:
                most[k] = max(most[k][0], now[0]), max(most[k][1], now[1])

    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder), config)
        try:
            play_run(config, store, Conduct(_WORKERS), measure)
        finally:
            store.close()
    return most
