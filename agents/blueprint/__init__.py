"""Blueprints: strategies of abstract games, learnt by MCCFR before play."""

from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets, table_buckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer

__all__ = ["Blueprint", "BlueprintAgent", "CardBuckets", "Schedule", "Trainer", "lossless_buckets", "table_buckets"]
