"""Get kernels ready: compiled, or loaded from the cache."""

import functools
import importlib
import time
from collections.abc import Sequence

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.agents.specs import prepare_stored

LOADING = "loading kernels (the first run on a machine compiles them) ..."
"""What is said before `warmup_play`, which may take a minute."""

PLAY = (
    "abstraction.holdem.hand_rank",
    "abstraction.holdem.betting",
    "abstraction.cards.features",
    "agents.baselines.tight_aggressive",
    "evaluation.aivat",
    "evaluation.play_statistics",
    "evaluation.value_functions",
)
"""Modules with kernels that a tournament plays with."""

CARDS = (
    "abstraction.holdem.hand_rank",
    "abstraction.holdem.boards",
    "abstraction.cards.river",
    "abstraction.cards.run_outs",
    "abstraction.cards.distances",
    "abstraction.cards.buckets",
)
"""Modules with kernels that build card abstractions."""

TRAINING = (
    "abstraction.holdem.hand_rank",
    "abstraction.actions.tree",
    "agents.blueprint.trainer",
    "agents.blueprint.match",
)
"""Modules with kernels that train blueprints."""

MODULES = (
    *PLAY,
    *CARDS[2:],
    "abstraction.trees.game_tree",
    *TRAINING[1:],
    "abstraction.holdem.boards",
    "abstraction.holdem.showdown",
    "abstraction.holdem.three_way",
    "abstraction.holdem.playout",
    "abstraction.trees.holdem_histories",
    "agents.tabular.solvers",
    "agents.search.exact.search",
    "agents.resolve.vector_cfr",
    "evaluation.replay",
    "evaluation.blueprint_values",
    "evaluation.best_response",
    "evaluation.public_best_response",
    "tournaments.formats.acpc",
)
"""Every module with kernels; a test finds one that is missing."""


def warmup(modules: Sequence[str] = MODULES) -> float:
    """Compile, or load from the cache, the kernels of modules, and return the seconds it took."""
    start = time.perf_counter()
    for module in modules:
        undisturbed(importlib.import_module(f"plurispiel.{module}").warmup)
    return time.perf_counter() - start


def warmup_play(specs: Sequence[str], rules: HoldemRules) -> None:
    """Get kernels ready to play a game: those of `PLAY`, and what agents need that keep a strategy."""
    warmup(PLAY)
    for spec in dict.fromkeys(specs):
        undisturbed(functools.partial(prepare_stored, spec, rules))
