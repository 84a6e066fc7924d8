"""Tournaments between agents, the command line, and its main commands as Python functions.

Each exported name is imported when it is first used. ``plurispiel --help`` therefore need not wait for these imports.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurispiel.tournaments.api.cluster import connect_cluster
    from plurispiel.tournaments.api.exploitability import ExploitabilityResult, measure_exploitability
    from plurispiel.tournaments.api.lbr import LbrResult, run_lbr
    from plurispiel.tournaments.api.league import (
        add_to_league,
        create_league,
        league_standings,
        play_league,
        remove_from_league,
    )
    from plurispiel.tournaments.api.league_result import LeagueAgent, LeagueResult
    from plurispiel.tournaments.api.replay import ReplayResult, replay_hands
    from plurispiel.tournaments.api.spot_sweep import SpotSweep, run_spot_sweep
    from plurispiel.tournaments.api.tournament import forecast_tournament, run_tournament
    from plurispiel.tournaments.labour.work import Borrowed
    from plurispiel.tournaments.run.tournament_result import AgentResult, TournamentResult

__all__ = [
    "AgentResult",
    "Borrowed",
    "ExploitabilityResult",
    "LbrResult",
    "LeagueAgent",
    "LeagueResult",
    "ReplayResult",
    "SpotSweep",
    "TournamentResult",
    "add_to_league",
    "connect_cluster",
    "create_league",
    "forecast_tournament",
    "league_standings",
    "measure_exploitability",
    "play_league",
    "remove_from_league",
    "replay_hands",
    "run_lbr",
    "run_spot_sweep",
    "run_tournament",
]

_MODULES = {
    "AgentResult": "run.tournament_result",
    "Borrowed": "labour.work",
    "ExploitabilityResult": "api.exploitability",
    "LbrResult": "api.lbr",
    "LeagueAgent": "api.league_result",
    "LeagueResult": "api.league_result",
    "ReplayResult": "api.replay",
    "SpotSweep": "api.spot_sweep",
    "TournamentResult": "run.tournament_result",
    "add_to_league": "api.league",
    "connect_cluster": "api.cluster",
    "create_league": "api.league",
    "forecast_tournament": "api.tournament",
    "league_standings": "api.league",
    "measure_exploitability": "api.exploitability",
    "play_league": "api.league",
    "remove_from_league": "api.league",
    "replay_hands": "api.replay",
    "run_lbr": "api.lbr",
    "run_spot_sweep": "api.spot_sweep",
    "run_tournament": "api.tournament",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
