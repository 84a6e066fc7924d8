"""Runs with an agent that commits faults now and then."""

import contextlib
import json
import sys

from played_run import group_rows

from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

SOMETIMES = """
from plurispiel.agents import Agent

class Bot(Agent):
    def __init__(self, share: float = 0.1):
        self.share = share

    def act(self, view):
        if self.rng.random() < self.share:
            raise RuntimeError("sometimes")
        return 1 if self.rng.random() < 0.8 else view.public.raise_by_pot(0.5)
"""


def timeless(folder):
    results = json.loads((folder / "results.json").read_text())
    return {key: value for key, value in results.items() if key not in ("seconds", "hands_per_second")}


def play(folder, config, **conduct):
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(**conduct))
    return group_rows(folder)


def total_faults(rows, agent):
    return sum(row[6] for row in rows if row[2] == agent)


def command(*arguments):
    return [sys.executable, "-m", "plurispiel.tournaments.cli", "tournament", *map(str, arguments)]
