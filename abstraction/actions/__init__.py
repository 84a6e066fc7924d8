"""The action abstraction: menus of bet sizes, the betting tree of a menu, and the translation of off-tree bets."""

from plurispiel.abstraction.actions.mapping import translate
from plurispiel.abstraction.actions.menu import BetMenu, BetSize, parse_sizes, raise_totals
from plurispiel.abstraction.actions.translation import Translation
from plurispiel.abstraction.actions.tree import BettingTree, GameMenu, StreetMenu, build_tree, game_menu, tree_size
from plurispiel.abstraction.actions.tree_states import TreeStates

__all__ = [
    "BetMenu",
    "BetSize",
    "BettingTree",
    "GameMenu",
    "StreetMenu",
    "Translation",
    "TreeStates",
    "build_tree",
    "game_menu",
    "parse_sizes",
    "raise_totals",
    "translate",
    "tree_size",
]
