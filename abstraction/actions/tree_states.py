"""The betting states and bet sizes at the decisions of a betting tree."""

import functools

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["TreeStates", "raise_size"]

MAX_KEPT_STATES = 4096


class TreeStates:
    """The betting states and bet sizes at a tree's decisions.

    ``state(node)`` returns a `BettingState`, which must not be changed, and ``sizes(node)`` the raises of a decision as
    shares of the pot after calling. Recent results are kept.

    Parameters
    ----------
    rules : HoldemRules
        The game of the tree.
    tree : BettingTree
    """

    def __init__(self, rules: HoldemRules, tree: BettingTree):
        self.rules = rules
        self.tree = tree
        self.state = functools.lru_cache(MAX_KEPT_STATES)(self._state)
        self.sizes = functools.lru_cache(MAX_KEPT_STATES)(self._sizes)

    def child(self, node: int, action: int) -> int:
        """Return the node after an action of a decision, or -1 if the decision does not offer the action."""
        actions = self.tree.actions(node).tolist()
        return int(self.tree.first_child[node]) + actions.index(action) if action in actions else -1

    def raises(self, node: int) -> list[int]:
        """Return the raise-to totals of a decision, ascending."""
        return [action for action in self.tree.actions(node).tolist() if action > CALL]

    def _state(self, node: int) -> BettingState:
        if node == 0:
            return BettingState(self.rules)
        state = self.state(int(self.tree.parent[node])).copy()
        state.apply_legal(int(self.tree.action[node]))
        return state

    def _sizes(self, node: int) -> tuple[float, ...]:
        """Return the raises of a decision as shares of the pot after calling."""
        state = self.state(node)
        return tuple(raise_size(state, total) for total in self.raises(node))


def raise_size(state: BettingState, total: int) -> float:
    """Return the size of a raise to `total`: the chips on top of a call, as a share of the pot after that call.

    With this measure, the minimum defence frequency against a raise of x is proportional to 1 / (1 + x), as
    `lower_share` assumes.
    """
    most = int(state.array[betting_layout.MAX_CONTRIB])
    contributions = state.contributions
    return (total - most) / (sum(contributions) + most - contributions[state.actor])
