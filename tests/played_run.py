"""Runs that tests play."""

import contextlib

from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore


def play(folder, keep="sample", **settings):
    """Play a tournament in this process and return its folder."""
    config = TournamentConfig(**{"score": "aivat_duplicate"} | settings)
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(keep=keep))
    return folder
