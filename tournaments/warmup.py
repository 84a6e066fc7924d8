"""Get every kernel ready: compiled, or loaded from the cache."""

import importlib
import time

from plurispiel.tournaments.interrupts import interrupts_held

_MODULES = (
    "abstraction.game_tree",
    "abstraction.holdem.hand_rank",
    "abstraction.holdem.boards",
    "abstraction.holdem.showdown",
    "abstraction.holdem.betting",
    "abstraction.holdem.playout",
    "abstraction.holdem.histories",
    "abstraction.cards.features",
    "agents.tight_aggressive",
    "agents.tabular",
    "evaluation.replay",
    "evaluation.best_response",
    "evaluation.public_best_response",
    "evaluation.value_functions",
)
"""Every module with kernels; a test finds one that is missing."""


def warmup() -> float:
    """Compile, or load from the cache, every kernel of the package, and return the seconds it took."""
    start = time.perf_counter()
    for module in _MODULES:
        with interrupts_held():  # one that falls into the compiler's callbacks would be lost
            importlib.import_module(f"plurispiel.{module}").warmup()
    return time.perf_counter() - start
