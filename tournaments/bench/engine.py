"""Speed of the engine: hand ranks, whole random hands, refereed tournaments."""

import tempfile
import time
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.playout import play_random_hands
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.tournaments.bench.hand_rank import bench_hand_rank
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import Block
from plurispiel.tournaments.run.store import RunStore

_LINEUP = ("tag", "call", "random", "raise", "fold", "tag")
_LINEUP_WITH_EQUITY = ("tag", "equity", "random", "raise", "fold", "call")


def bench_engine(seconds: float = 1.0) -> list[Measurement]:
    """Return the rates of the engine.

    Each rate of hand ranks and random hands is measured for about `seconds`. The length of a tournament, in decks, is
    proportional to `seconds`.
    """
    rows = bench_hand_rank(seconds)
    for name, rules in (("heads-up", HUNL), ("six-handed", SIXMAX)):
        rows.append(_random_hands(name, rules, seconds))
    rows.append(_tournament(_LINEUP, "duplicate", seconds, 800))
    rows.append(_tournament(_LINEUP[:2], "duplicate", seconds, 2_400))
    rows.append(_tournament(_LINEUP_WITH_EQUITY, "duplicate", seconds, 80))
    rows.append(_tournament(_LINEUP_WITH_EQUITY, "aivat_duplicate", seconds, 40))
    return rows


def _random_hands(name: str, rules: HoldemRules, seconds: float) -> Measurement:
    batch = 100_000
    play_random_hands(rules, 1, np.random.SeedSequence(0))
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while not rates or time.perf_counter() < end:
        begin = time.perf_counter()
        play_random_hands(rules, batch, np.random.SeedSequence(len(rates)))
        rates.append(batch / (time.perf_counter() - begin))
    return Measurement(f"random hands {name}, one kernel", float(np.median(rates)) / 1e6, "M/s")


def _tournament(agents: tuple[str, ...], score: str, seconds: float, decks_per_second: int) -> Measurement:
    config = TournamentConfig(agents=agents, score=score, decks=max(8, int(5 * seconds * decks_per_second)))
    workers = num_processors()
    first: list[float] = []  # processor time of this process, the main process of the run, after the first block

    def begin(block: Block, rows: np.ndarray) -> None:
        if not first:
            first.append(time.process_time())

    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder), config)
        try:
            play_run(config, store, Conduct(workers), begin)
            own = time.process_time() - first[0]
            elapsed = store.seconds()
        finally:
            store.close()
    hands = config.decks * config.seats
    scored = ", AIVAT" * config.uses_aivat
    note = f"{hands:,} hands, {workers} workers, refereed{scored}; main process {1e6 * own / hands:.0f} µs a hand"
    return Measurement(f"tournament {','.join(agents)}", hands / elapsed, "hands/s", note)
