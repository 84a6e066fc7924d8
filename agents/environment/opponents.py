"""Opponents that act inside kernels: ``random``, ``call``, ``fold``, ``raise``, ``tag`` and blueprints.

Their strategies are those of the agents of these names. Only a blueprint differs: it has no defence, and where a row is
missing, it acts uniformly, as in `agents.blueprint.match`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions import tree_kernels
from plurispiel.abstraction.actions.tree import GameMenu
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.baselines.tight_aggressive import has_starting_hands, starting_hands
from plurispiel.agents.blueprint.blueprint import Blueprint, load_blueprint
from plurispiel.agents.blueprint.cards import CardArrays
from plurispiel.agents.blueprint.library import find_blueprint
from plurispiel.agents.blueprint.match import dealt_game
from plurispiel.agents.blueprint.traversal_tree import DealtGame
from plurispiel.agents.blueprint.untrained import untrained_blueprint
from plurispiel.agents.environment import opponent_kernels as kernels

__all__ = ["KINDS", "OpponentWorkspace", "KernelOpponents", "find_opponents", "new_workspace"]

KINDS = {
    "random": kernels.RANDOM,
    "call": kernels.CALLER,
    "fold": kernels.FOLDER,
    "raise": kernels.RAISER,
    "tag": kernels.TAG,
}
"""The kinds of opponents by name, besides blueprints."""

_SMALL = 1 << 25
"""A blueprint's arrays are converted by `_alike` if they have at most this many bytes together."""


class KernelOpponents(NamedTuple):
    """The opponents of a learner as kernels read them.

    Attributes
    ----------
    kinds : int64[num_opponents]
        The kind of each opponent, in the order of the seats after the learner's.
    beaten : float64[num_combos] or float64[0]
        The result of `starting_hands`; empty in a game without ranked starting hands.
    combos : uint8[num_combos, num_hole_cards]
    deck : uint8[num_cards]
        The combos and the cards of the game.
    has_tree : bool
        Whether a blueprint plays. If not, `dealt` and `rows` are those of an untrained blueprint, and are not used.
    dealt : DealtGame
    rows : float32 or uint8[num_cells]
    nodes : int64[num_tables]
        The node of each table in the blueprint's tree.
    missing : int64[num_tables]
        Number of decisions at each table for which the blueprint had no row.
    """

    kinds: np.ndarray
    beaten: np.ndarray
    combos: np.ndarray
    deck: np.ndarray
    has_tree: bool
    dealt: DealtGame
    rows: np.ndarray
    nodes: np.ndarray
    missing: np.ndarray


class OpponentWorkspace(NamedTuple):
    """Memory of one decision.

    Attributes
    ----------
    offered : int64[MAX_ACTIONS]
        The actions on offer.
    row : float64[1, 3]
        Probabilities of fold, call and raise.
    combo : int64[1]
        The index of the actor's hole cards in the array that ranks them: their combo in `starting_hands`, 0 in
        `strength`.
    strength, outs : float64[1]
        The strength of the actor's hole cards, and their number of outs.
    hole_cards : uint8[1, num_hole_cards]
        The actor's hole cards.
    """

    offered: np.ndarray
    row: np.ndarray
    combo: np.ndarray
    strength: np.ndarray
    outs: np.ndarray
    hole_cards: np.ndarray


def find_opponents(
    rules: HoldemRules, names: Sequence["str | Blueprint"], num_tables: int
) -> tuple[KernelOpponents, GameMenu | None]:
    """Return the opponents of a learner, and the menu of the blueprint among them, if any.

    Parameters
    ----------
    names : sequence of (str or Blueprint)
        One of `KINDS`, ``blueprint:NAME``, or a blueprint, for each opponent.

    Raises
    ------
    ValueError
        If there is no such opponent, two blueprints differ, or a blueprint is for another game, has no configuration or
        lacks its bucket table.
    ArtefactRefused
        If a blueprint is damaged.
    """
    kinds = []
    blueprint: Blueprint | None = None
    for name in names:
        if isinstance(name, str) and name in KINDS:
            kinds.append(KINDS[name])
            continue
        if isinstance(name, str):
            head, _, argument = name.partition(":")
            if head != "blueprint" or not argument or "?" in argument:
                known = ", ".join(KINDS)
                raise ValueError(f"opponents in kernels are {known} and blueprint:NAME, without options, got {name!r}")
            name = load_blueprint(find_blueprint(argument))
        if blueprint not in (None, name) and not (name.digest and name.digest == blueprint.digest):
            raise ValueError("all blueprints at one table must be the same")
        blueprint = blueprint or name
        kinds.append(kernels.BLUEPRINT)
    menu = None
    if blueprint is not None:
        if blueprint.rules != rules:
            raise ValueError(f"the blueprint is for another game: {blueprint.rules}, not {rules}")
        if blueprint.config is None:
            raise ValueError("a blueprint without its configuration has no menu: give it a config")
        menu = blueprint.config.game_menu
    playing = blueprint or untrained_blueprint()
    dealt, rows = _alike(dealt_game(playing), playing.rows)
    opponents = KernelOpponents(
        kinds=np.array(kinds, np.int64),
        beaten=np.array(starting_hands()) if has_starting_hands(rules) else np.empty(0),
        combos=np.array(rules.combos),
        deck=np.array(rules.cards),
        has_tree=blueprint is not None,
        dealt=dealt,
        rows=rows,
        nodes=np.zeros(num_tables, np.int64),
        missing=np.zeros(num_tables, np.int64),
    )
    return opponents, menu


def _alike(dealt: DealtGame, rows: np.ndarray) -> tuple[DealtGame, np.ndarray]:
    """Return a game and the rows of a blueprint; if they are small, with the same types of arrays for all games.

    Kernels are compiled for each combination of types, which takes seconds.
    """
    cards = dealt.cards
    if sum(each.nbytes for each in (rows, *cards.rows, *cards.entries)) > _SMALL:
        return dealt, rows
    entries = tuple(each.astype(np.int32) for each in cards.entries)
    buckets = tuple(each.astype(np.uint32) for each in cards.rows)
    return dealt._replace(cards=CardArrays(cards.relabel.copy(), entries, buckets)), rows.astype(np.float32)


def new_workspace(rules: HoldemRules) -> OpponentWorkspace:
    """Return the memory of one decision."""
    return OpponentWorkspace(
        offered=np.empty(tree_kernels.MAX_ACTIONS, np.int64),
        row=np.empty((1, 3)),
        combo=np.zeros(1, np.int64),
        strength=np.empty(1),
        outs=np.empty(1),
        hole_cards=np.empty((1, rules.num_hole_cards), np.uint8),
    )
