"""Runs that tests play."""

import contextlib
import sqlite3

from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore


def play(folder, keep="sample", **settings):
    """Play a tournament in this process and return its folder."""
    config = TournamentConfig(**{"score": "aivat_zero_sum"} | settings)
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(keep=keep))
    return folder


def num_stored(folder):
    """Return how many decks a run has stored so far, of which another process may be the player."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)) as database:
            return database.execute("SELECT COUNT(DISTINCT deck) FROM groups").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def group_rows(folder):
    """Return all that a run has stored of its groups, but for the time they took."""
    columns = "lineup, deck, agent, hands, chips, chips_squared, faults, play, first_fault, fault_kinds"
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        return database.execute(f"SELECT {columns} FROM groups ORDER BY lineup, deck, agent").fetchall()
