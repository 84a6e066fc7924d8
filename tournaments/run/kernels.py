"""Compile kernels, or load them from the cache, before a command needs them."""

import functools
import importlib
import time
from collections.abc import Sequence

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.agents.factory import prepare_stored

LOADING = "loading kernels (the first run on a machine compiles them) ..."
"""The message to print before `warmup_play`, which may take a minute."""

PLAY = (
    "abstraction.machine.sums",
    "abstraction.holdem.hand_ranks",
    "abstraction.holdem.betting",
    "abstraction.cards.features",
    "agents.baselines.tight_aggressive",
    "evaluation.announced",
    "evaluation.correction_walk",
    "evaluation.play_statistics",
    "evaluation.value_functions",
)
"""The modules whose kernels a tournament needs, besides the kernels of stored strategies and of blueprint values."""

CARDS = (
    "abstraction.machine.sums",
    "abstraction.holdem.hand_ranks",
    "abstraction.holdem.boards",
    "abstraction.cards.river",
    "abstraction.cards.run_outs",
    "abstraction.cards.distances",
    "abstraction.cards.buckets",
)
"""The modules whose kernels build bucket tables."""

TRAINING = (
    "abstraction.holdem.hand_ranks",
    "abstraction.actions.tree",
    "agents.blueprint.trainer",
    "agents.blueprint.match",
)
"""The modules whose kernels train blueprints by external sampling."""

PUBLIC_TRAINING = (*TRAINING[:2], "agents.blueprint.public_trainer", "agents.blueprint.match")
"""The modules whose kernels train blueprints by public chance sampling."""

MODULES = (
    *PLAY,
    *CARDS[3:],
    "abstraction.trees.game_tree",
    *TRAINING[1:],
    "agents.blueprint.public_trainer",
    "abstraction.holdem.boards",
    "abstraction.holdem.single_hand",
    "abstraction.holdem.showdown",
    "abstraction.holdem.three_way",
    "abstraction.holdem.playout",
    "abstraction.trees.holdem_histories",
    "agents.tabular.solvers",
    "agents.search.exact.search",
    "agents.resolve.vector_cfr",
    "agents.resolve.bucket_shares",
    "agents.search.multiway",
    "agents.continual.end_net_leaves",
    "agents.continual.resolver",
    "agents.environment.observation",
    "agents.environment.batch",
    "evaluation.replay",
    "evaluation.blueprint_values",
    "evaluation.best_response",
    "evaluation.public_best_response",
    "abstraction.holdem.all_in_margins",
    "evaluation.flop_best_response",
    "tournaments.formats.acpc",
)
"""The modules whose `warmup` compiles all kernels; a slow test looks for commands that compile more."""


def warmup(modules: Sequence[str] = MODULES) -> float:
    """Compile the kernels of modules, or load them from the cache, and return the seconds that this took."""
    start = time.perf_counter()
    for module in modules:
        undisturbed(importlib.import_module(f"plurispiel.{module}").warmup)
    return time.perf_counter() - start


def warmup_play(specs: Sequence[str], rules: HoldemRules) -> None:
    """Load the kernels of `PLAY`, and prepare the stored strategies of agents for a game.

    The errors are those of `prepare_stored`.
    """
    warmup(PLAY)
    for spec in dict.fromkeys(specs):
        undisturbed(functools.partial(prepare_stored, spec, rules))
