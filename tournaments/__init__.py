"""Tournaments between agents, the command line, and its main commands as Python functions.

Each exported name is imported when it is first used, so that ``plurispiel --help`` answers at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurispiel.tournaments.api.exploitability import ExploitabilityResult, measure_exploitability
    from plurispiel.tournaments.api.lbr import LbrResult, run_lbr
    from plurispiel.tournaments.api.replay import ReplayResult, replay_hands
    from plurispiel.tournaments.api.tournament import forecast_tournament, run_tournament
    from plurispiel.tournaments.api.tournament_result import AgentResult, TournamentResult

__all__ = [
    "AgentResult",
    "ExploitabilityResult",
    "LbrResult",
    "ReplayResult",
    "TournamentResult",
    "forecast_tournament",
    "measure_exploitability",
    "replay_hands",
    "run_lbr",
    "run_tournament",
]

_MODULES = {
    "AgentResult": "tournament_result",
    "ExploitabilityResult": "exploitability",
    "LbrResult": "lbr",
    "ReplayResult": "replay",
    "TournamentResult": "tournament_result",
    "forecast_tournament": "tournament",
    "measure_exploitability": "exploitability",
    "replay_hands": "replay",
    "run_lbr": "lbr",
    "run_tournament": "tournament",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.api.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
