"""Plays hands and measures agents: duplicate groups, AIVAT, exploitability, statistics.

No module schedules matches, or writes files other than caches.

Names are imported when they are first used, because every process of an agent from outside needs `hand` only.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurispiel.evaluation.agent_strategy import strategy_from_agent
    from plurispiel.evaluation.aivat import Aivat, Score
    from plurispiel.evaluation.best_response import Exploitability, exploitability
    from plurispiel.evaluation.compliance import check_agent
    from plurispiel.evaluation.duplicate import play_group
    from plurispiel.evaluation.hand import Hand, deal_deck, play_hand
    from plurispiel.evaluation.local_best_response import MENUS, GroupScore, LocalBestResponse, Prober
    from plurispiel.evaluation.public_best_response import subgame_best_response
    from plurispiel.evaluation.statistics import Estimate, bootstrap_interval, estimate_mean, one_tailed_p
    from plurispiel.evaluation.value_functions import Checkdown, ValueFunction

__all__ = [
    "MENUS",
    "Aivat",
    "Checkdown",
    "Estimate",
    "Exploitability",
    "GroupScore",
    "Hand",
    "LocalBestResponse",
    "Prober",
    "Score",
    "ValueFunction",
    "bootstrap_interval",
    "check_agent",
    "deal_deck",
    "estimate_mean",
    "exploitability",
    "one_tailed_p",
    "play_group",
    "play_hand",
    "strategy_from_agent",
    "subgame_best_response",
]

_MODULES = {
    "Aivat": "aivat",
    "Checkdown": "value_functions",
    "Estimate": "statistics",
    "Exploitability": "best_response",
    "GroupScore": "local_best_response",
    "Hand": "hand",
    "LocalBestResponse": "local_best_response",
    "MENUS": "local_best_response",
    "Prober": "local_best_response",
    "Score": "aivat",
    "ValueFunction": "value_functions",
    "bootstrap_interval": "statistics",
    "check_agent": "compliance",
    "deal_deck": "hand",
    "estimate_mean": "statistics",
    "exploitability": "best_response",
    "one_tailed_p": "statistics",
    "play_group": "duplicate",
    "play_hand": "hand",
    "strategy_from_agent": "agent_strategy",
    "subgame_best_response": "public_best_response",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
