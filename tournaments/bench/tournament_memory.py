"""Peak memory of tournaments with AIVAT: it should not grow with the number of hands."""

import concurrent.futures
import multiprocessing
import tempfile
from pathlib import Path

from plurispiel.abstraction.machine.memory import peak_bytes, peak_child_bytes
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

_LINEUP = ("blueprint", "tag")
_HANDS_A_SECOND = 1_000
_TIMES = 3
_WORKERS = 2


def bench_tournament_memory(seconds: float = 1.0) -> list[Measurement]:
    """Return the peaks of a run of 1,000 hands for each second of `seconds`, and of a run of three times as many.

    The runs are heads-up with AIVAT and two workers. Each run has a new process, whose peak is its own.
    """
    few = max(2, round(_HANDS_A_SECOND * seconds / 2))
    peaks = [_peaks_of_new_process(decks) for decks in (few, _TIMES * few)]
    rows = []
    for whose, first, last in zip(("main process", "largest worker"), *peaks, strict=True):
        growth = f"{(last - first) / 2**20:+.1f} MiB"
        for decks, peak, note in ((few, first, "peak"), (_TIMES * few, last, f"peak, {growth}")):
            rows.append(Measurement(f"{2 * decks:,} hands with AIVAT, {whose}", peak / 2**20, "MiB", note))
    return rows


def tournament_peaks(decks: int) -> tuple[int, int]:
    """Play a run in this process, and return its peak and the largest of its workers, in bytes."""
    config = TournamentConfig(agents=_LINEUP, decks=decks, score="aivat_duplicate", values="checkdown", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder), config)
        try:
            play_run(config, store, Conduct(_WORKERS))
        finally:
            store.close()
    return peak_bytes(), peak_child_bytes()


def _peaks_of_new_process(decks: int) -> tuple[int, int]:
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(tournament_peaks, decks).result()
