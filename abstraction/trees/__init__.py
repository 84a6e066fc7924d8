"""Games as trees: their histories, infosets, public states and sequence form, and the ladder of named games."""

from plurispiel.abstraction.trees.game_tree import GameTree, flatten, strategy_from_policy, uniform_strategy
from plurispiel.abstraction.trees.ladder import LADDER, find_game
from plurispiel.abstraction.trees.public_states import PublicStates, public_states
from plurispiel.abstraction.trees.sequence_form import SequenceForm, sequence_form

__all__ = [
    "LADDER",
    "GameTree",
    "PublicStates",
    "SequenceForm",
    "find_game",
    "flatten",
    "public_states",
    "sequence_form",
    "strategy_from_policy",
    "uniform_strategy",
]
