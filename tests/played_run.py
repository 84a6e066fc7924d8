"""Runs that tests play."""

import contextlib
import sqlite3
from dataclasses import fields
from operator import attrgetter

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore


def play(folder, keep="sample", **settings):
    """Play a tournament in this process, an agent from outside in one of its own, and return the run's folder."""
    config = TournamentConfig(**{"score": "aivat_zero_sum"} | settings)
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(keep=keep, processes="one"))
    return folder


def num_stored(folder):
    """Return how many decks a run has stored so far, of which another process may be the player."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)) as database:
            return database.execute("SELECT COALESCE(SUM(num_decks), 0) FROM blocks WHERE lineup = 0").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def group_rows(folder):
    """Return all that a run has stored of its groups, but for the time they took."""
    with contextlib.closing(RunStore.reading(folder)) as store:
        return [(*key, *_UNTIMED(score)) for *key, score in store.agent_scores()]


_UNTIMED = attrgetter(*(field.name for field in fields(AgentScore) if field.compare))
