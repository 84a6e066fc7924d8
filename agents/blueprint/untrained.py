"""An untrained blueprint of a small game, for calls that need any blueprint, such as those that compile kernels."""

from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer


def untrained_blueprint(*, exact: bool = False) -> Blueprint:
    """Return an untrained blueprint of `LEDUC`. Its rows are uint8, or float32 with `exact`."""
    plan = Schedule(1, num_snapshots=0)
    return Trainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), plan, exact=exact).blueprint()
