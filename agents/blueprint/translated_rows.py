"""A blueprint's strategies at decisions with other bet sizes than those of its tree."""

from collections.abc import Iterator

import numpy as np

from plurispiel.abstraction.actions.translation import BetweenNodes, Place, Translation
from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.agents.base import Strategy
from plurispiel.agents.blueprint.blueprint import Blueprint

__all__ = ["TranslatedRows", "nearest_action", "nearest_rows", "rows_in_tree"]


class TranslatedRows:
    """A blueprint's strategies in the betting of another game or tree.

    The translation finds the blueprint's decision. Each bet of this decision counts as the nearest size that the other
    game or tree offers.

    Parameters
    ----------
    blueprint : Blueprint
    translation : Translation
        Finds the blueprint's decisions for hands of the other game.
    """

    def __init__(self, blueprint: Blueprint, translation: Translation):
        self._blueprint = blueprint
        self._translation = translation

    def at(self, place: Place, actions: tuple[int, ...]) -> np.ndarray | None:
        """Return the strategy of each of the blueprint's buckets at a place: float64[num_buckets, num_actions].

        A row that the blueprint lacks is zeros. None if the blueprint's tree has no such decision, or no seat for a
        player who is still in the hand.

        Parameters
        ----------
        actions : tuple of int
            The actions on offer, which are the columns of the result.
        """
        node, known, columns, num_left_out, between = self._translation.answers(place)
        if node is None or num_left_out:
            return None
        buckets = np.arange(self._blueprint.cards.num_buckets[int(self._blueprint.tree.street[node])])
        rows = np.zeros((len(buckets), len(actions)))
        for column, row in zip(columns, self._blueprint.strategy(node, buckets).T, strict=True):
            rows[:, nearest_action(actions, known[column])] += row
        return rows if between is None else self._folding(rows, actions, between, buckets)

    def _folding(
        self, rows: np.ndarray, actions: tuple[int, ...], between: BetweenNodes, buckets: np.ndarray
    ) -> np.ndarray:
        """Return rows with new probabilities of a fold, for decisions after a bet between two sizes of the tree.

        A row's new probability is the mean of the blueprint's folds after the lower and the upper size. The mean is
        weighted by the probabilities of the two sizes. The row's other actions share the remaining probability in the
        same proportions as before. If the row had only a fold, the call gets the remaining probability.
        """
        folds = (1.0 - between.share) * self._folds(between.upper, buckets)
        if between.lower is not None:
            folds += between.share * self._folds(between.lower, buckets)
        is_row = rows.sum(axis=1) > 0.0
        fold, call = actions.index(FOLD), nearest_action(actions, CALL)
        rows[:, fold] = 0.0
        rows[is_row & (rows.sum(axis=1) == 0.0), call] = 1.0
        rows = normalised(rows, rows) * (1.0 - folds)[:, None]
        rows[is_row, fold] = folds[is_row]
        return rows

    def _folds(self, node: int, buckets: np.ndarray) -> np.ndarray:
        """Return each bucket's probability of a fold at a decision, 0 for missing rows: float64[num_buckets]."""
        if self._blueprint.tree.actions(node)[0] != FOLD:
            return np.zeros(len(buckets))
        return self._blueprint.strategy(node, buckets)[:, 0].astype(np.float64)


def nearest_action(actions: tuple[int, ...], action: int) -> int:
    """Return the index of the action nearest to `action`.

    That is the action itself if it is offered, else the raise of the nearest size. A fold that is not offered becomes
    the call, and so does a raise where no raise is offered. A call that is not offered becomes the fold.
    """
    raises = [each for each in actions if each > CALL]
    if action in actions:
        return actions.index(action)
    if action <= CALL or not raises:
        return actions.index(CALL if CALL in actions else FOLD)
    return actions.index(min(raises, key=lambda each: abs(each - action)))


def nearest_rows(strategy: Strategy, actions: tuple[int, ...]) -> np.ndarray:
    """Return a strategy in other actions: float64[num_combos, len(actions)].

    Each action of the strategy counts as the nearest of `actions` (`nearest_action`).
    """
    rows = np.zeros((len(strategy.probabilities), len(actions)))
    for column, action in enumerate(strategy.actions.tolist()):
        rows[:, nearest_action(actions, action)] += strategy.probabilities[:, column]
    return rows


def rows_in_tree(blueprint: Blueprint, tree: BettingTree) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the decisions of another tree of the blueprint's game, each with the blueprint's strategy there.

    The strategy of each bucket is a row of float64[num_buckets, num_actions], as from `TranslatedRows.at`. Decisions
    that have no counterpart in the blueprint's tree are left out. An off-tree bet counts as the likelier of two sizes.
    """
    translation = Translation(blueprint.rules, TreeStates(blueprint.rules, blueprint.tree))
    translated = TranslatedRows(blueprint, translation)
    waiting = [(0, translation.root(-1))]
    while waiting:  # depth first: few places wait at a time
        node, place = waiting.pop()
        actions = tuple(tree.actions(node).tolist())
        rows = translated.at(place, actions)
        if rows is not None:
            yield node, rows
        for child, action in enumerate(actions, int(tree.first_child[node])):
            if tree.actor[child] >= 0:
                waiting.append((child, translation.follow(place, action, 0.5, -1)))
