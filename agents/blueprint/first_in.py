"""Preflop strategies with the 169 starting hands, at the first decision of each seat if all seats before it fold."""

import numpy as np

from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.cards.preflop import preflop_classes, preflop_names
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.agents.base import Strategy
from plurispiel.agents.baselines.tight_aggressive import has_starting_hands
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.fallback import KeptRows

__all__ = ["first_in", "shares"]


def first_in(blueprint: Blueprint) -> dict[str, Strategy]:
    """Return, by position, each seat's strategy at its first decision if all seats before it fold.

    The seats are in the order of acting, without the big blind.

    A strategy has a row for each of the 169 starting hands, in the order of `preflop_names`. The row is that of
    `KeptRows.find`: zeros for a hand without a row or stand-in.

    Raises
    ------
    ValueError
        If the game's starting hands are not those of hold'em.
    """
    rules, tree = blueprint.rules, blueprint.tree
    if not has_starting_hands(rules):
        raise ValueError("only hold'em with two hole cards and 52 cards has the 169 starting hands")
    names = seat_positions(rules)
    # Any combo of a class will do: before the flop renaming suits changes nothing.
    combos = np.unique(preflop_classes(), return_index=True)[1]
    states = TreeStates(rules, tree)
    kept = KeptRows(blueprint, states)
    strategies: dict[str, Strategy] = {}
    node = 0
    # When all have folded to it, the big blind has won and decides nothing.
    while node >= 0 and tree.actor[node] >= 0 and names[tree.actor[node]] not in ("BB", *strategies):
        rows, _ = kept.find(node, (), combos)
        strategies[names[tree.actor[node]]] = Strategy(tree.actions(node).astype(np.int64), rows)
        node = states.child(node, FOLD)
    return strategies


def shares(strategy: Strategy) -> dict[str, dict[str, float]]:
    """Return the probabilities of ``fold``, ``call`` and ``raise`` of each starting hand, by its name such as AKs.

    `strategy` is one of those that `first_in` returns.
    """
    columns = {"fold": strategy.actions == FOLD, "call": strategy.actions == CALL, "raise": strategy.actions > CALL}
    return {
        name: {kind: float(row[chosen].sum()) for kind, chosen in columns.items()}
        for name, row in zip(preflop_names(), strategy.probabilities, strict=True)
    }
