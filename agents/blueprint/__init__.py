"""Blueprints: strategies of abstract games, learnt by MCCFR before play."""

from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.blueprint import Blueprint, load_blueprint
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets, table_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, read_blueprint_config, read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.library import find_blueprint
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer

__all__ = [
    "Blueprint",
    "BlueprintAgent",
    "BlueprintConfig",
    "CardBuckets",
    "Schedule",
    "Trainer",
    "find_blueprint",
    "load_blueprint",
    "lossless_buckets",
    "make_trainer",
    "read_blueprint_config",
    "read_preset",
    "table_buckets",
]
