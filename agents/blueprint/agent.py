"""A blueprint at the table."""

import functools

import numpy as np

from plurispiel.agents.base import PublicState, RangeAgent, Strategy
from plurispiel.agents.blueprint.blueprint import Blueprint

__all__ = ["BlueprintAgent"]


class BlueprintAgent(RangeAgent):
    """Plays a blueprint in its own game, where every action is one of its tree.

    Parameters
    ----------
    blueprint : Blueprint
    """

    name = "blueprint"

    def __init__(self, blueprint: Blueprint):
        self._blueprint = blueprint
        self._row = functools.lru_cache(maxsize=64)(blueprint.cards.row)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the blueprint's strategy with one row for each of ``combo_ids``.

        Raises
        ------
        ValueError
            If an action of the hand is not in the tree.
        """
        node = self.find_node(tuple(action for _, action, _ in public.actions))
        buckets = self._row(public.board, public.street)[combo_ids]
        probabilities = self._blueprint.strategy(node, buckets).astype(np.float64)
        total = probabilities.sum(axis=1, keepdims=True)
        probabilities = np.where(
            total > 0.0, probabilities / np.where(total > 0.0, total, 1.0), 1.0 / len(probabilities[0])
        )
        return Strategy(self._blueprint.tree.actions(node).astype(np.int64), probabilities)

    def find_node(self, actions: tuple[int, ...]) -> int:
        """Return the node that some actions from the start of the hand lead to."""
        tree, node = self._blueprint.tree, 0
        for action in actions:
            found = np.flatnonzero(tree.actions(node) == action)
            if not len(found):
                raise ValueError(f"the blueprint's tree has no action {action} there; it has {tree.actions(node)}")
            node = int(tree.first_child[node]) + int(found[0])
        return node
