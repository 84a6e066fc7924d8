"""Counterfactual value networks: solved situations, training, and networks that give the values of all hands."""

from plurispiel.agents.values.distillation import distil
from plurispiel.agents.values.drawn_situation import DrawnSituation, draw_situation
from plurispiel.agents.values.levels import LEVELS, Level
from plurispiel.agents.values.net import ValueNet
from plurispiel.agents.values.net_file import StoredNet, load_net
from plurispiel.agents.values.training import TrainingConfig
from plurispiel.agents.values.training_run import make_net

__all__ = [
    "LEVELS",
    "Level",
    "DrawnSituation",
    "StoredNet",
    "TrainingConfig",
    "ValueNet",
    "distil",
    "draw_situation",
    "load_net",
    "make_net",
]
