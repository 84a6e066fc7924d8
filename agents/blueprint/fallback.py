"""What stands in for rows of a blueprint that were dropped or never visited."""

import functools

import numpy as np

from plurispiel.abstraction.actions.translation import TreeStates
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.blueprint.blueprint import Blueprint, row_sums

__all__ = ["OFF_TREE", "SOURCES", "STRENGTH", "KeptRows", "defended_share"]

SOURCES = ("row", "bucket", "sibling", "earlier", "strength", "off the tree")
"""Where a hand's strategy comes from: its own row, the stand-ins in their order, no decision of the tree."""

STRENGTH, OFF_TREE = SOURCES.index("strength"), SOURCES.index("off the tree")
BUCKET_SPAN = 0.05
"""Share of a street's buckets within which one stands in for another."""


def defended_share(pot: int, to_call: int) -> float:
    """Return the share of hands that must not fold, lest any two cards could bet: by chips in the middle, bet included.

    It is pot / (pot + bet) with the pot before the bet.
    """
    return 1.0 - to_call / pot


class KeptRows:
    """A blueprint's rows, and stand-ins for those that it has not.

    In this order: the nearest bucket with a row at the same decision, where buckets are sorted by strength; the
    decision behind the nearest other size of the last raise; the seat's last decision before with a row.

    Parameters
    ----------
    blueprint : Blueprint
    states : TreeStates
        Of the blueprint's tree.
    """

    def __init__(self, blueprint: Blueprint, states: TreeStates):
        self._blueprint = blueprint
        self._states = states
        self._row = functools.lru_cache(256)(self._make_row)
        self._siblings = functools.lru_cache(1024)(self._find_siblings)
        self._transfer = functools.lru_cache(1024)(self._make_transfer)

    def find(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strategies of combos at a decision.

        Returns
        -------
        float64[n, num_actions]
            Rows that sum to 1; zeros where not even a stand-in was found.
        int8[n]
            Place in `SOURCES`; `STRENGTH` where there is none.
        """
        rows = self._look_up(node, board, combo_ids)
        sources = np.zeros(len(combo_ids), np.int8)
        missing = np.flatnonzero(row_sums(rows) == 0.0)
        for number, stand_in in enumerate((self._near_buckets, self._behind_siblings, self._earlier), start=1):
            if not len(missing):
                break
            found = stand_in(node, board, combo_ids[missing])
            rows[missing] = found
            sources[missing] = number
            missing = missing[row_sums(found) == 0.0]
        sources[missing] = STRENGTH
        sums = row_sums(rows)
        sums[missing] = 1.0
        rows /= sums[:, None]
        return rows, sources

    def _make_row(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return the bucket of each combo; combos that touch the board have any that there is."""
        row = self._blueprint.cards.row(board, street)
        return np.minimum(row, self._blueprint.cards.num_buckets[street] - 1)

    def _look_up(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> np.ndarray:
        """Return rows as they are kept at a decision on this street or an earlier one."""
        street = int(self._blueprint.tree.street[node])
        seen = board[: self._blueprint.rules.board_size(street)]
        return self._blueprint.strategy(node, self._row(seen, street)[combo_ids]).astype(np.float64)

    def _near_buckets(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> np.ndarray:
        street = int(self._blueprint.tree.street[node])
        num_actions = int(self._blueprint.tree.num_actions[node])
        found = np.zeros((len(combo_ids), num_actions))
        if not (street and self._blueprint.cards.model):  # tables are sorted by strength, but for starting hands
            return found
        num_buckets = self._blueprint.cards.num_buckets[street]
        table = self._blueprint.strategy(node, np.arange(num_buckets)).astype(np.float64)
        kept = np.flatnonzero(row_sums(table))
        if len(kept):
            buckets = self._row(board, street)[combo_ids].astype(np.int64)
            place = np.searchsorted(kept, buckets)
            below, above = kept[np.maximum(place - 1, 0)], kept[np.minimum(place, len(kept) - 1)]
            nearest = np.where(abs(buckets - below) <= abs(above - buckets), below, above)
            is_near = abs(nearest - buckets) <= BUCKET_SPAN * num_buckets
            found[is_near] = table[nearest[is_near]]
        return found

    def _behind_siblings(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> np.ndarray:
        return self._from_first_of(self._siblings(node), node, board, combo_ids)

    def _earlier(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> np.ndarray:
        tree = self._blueprint.tree
        decisions, at = [], int(tree.parent[node])
        while at >= 0:
            if tree.actor[at] == tree.actor[node]:
                decisions.append(at)
            at = int(tree.parent[at])
        return self._from_first_of(decisions, node, board, combo_ids)

    def _from_first_of(
        self, decisions: list[int], node: int, board: tuple[int, ...], combo_ids: np.ndarray
    ) -> np.ndarray:
        """Return each combo's row at the first of some decisions that has one, with the actions of another."""
        found = np.zeros((len(combo_ids), int(self._blueprint.tree.num_actions[node])))
        missing = np.arange(len(combo_ids))
        for decision in decisions:
            if not len(missing):
                break
            kept = self._look_up(decision, board, combo_ids[missing])
            # Column by column: a matrix product rounds one row alone otherwise than among others.
            parts = zip(kept.T, self._transfer(decision, node), strict=True)
            rows = functools.reduce(np.add, (column[:, None] * shares for column, shares in parts))
            found[missing] = rows
            missing = missing[row_sums(rows) == 0.0]
        return found

    def _find_siblings(self, node: int) -> list[int]:
        """Return the decisions behind other sizes of the last raise on the street, the nearest size first."""
        tree, states = self._blueprint.tree, self._states
        answers, at = [], node
        while at > 0 and tree.action[at] <= CALL and tree.street[tree.parent[at]] == tree.street[node]:
            answers.append(int(tree.action[at]))
            at = int(tree.parent[at])
        if at == 0 or tree.street[tree.parent[at]] != tree.street[node]:
            return []
        parent, total = int(tree.parent[at]), int(tree.action[at])
        others = sorted(states.raises(parent), key=lambda other: abs(other - total))[1:]
        siblings = []
        for other in others:
            sibling = states.child(parent, other)
            for answer in reversed(answers):
                sibling = states.child(sibling, answer) if sibling >= 0 and tree.actor[sibling] >= 0 else -1
            if sibling >= 0 and self._kind(sibling) == self._kind(node):
                siblings.append(sibling)
        return siblings

    def _kind(self, node: int) -> tuple[int, int, bool, bool]:
        """Return what two decisions must share to stand in for each other: seat, street, kinds of action."""
        tree = self._blueprint.tree
        if tree.actor[node] < 0:
            return -1, -1, False, False
        folds = bool(tree.actions(node)[0] == FOLD)
        return int(tree.actor[node]), int(tree.street[node]), folds, bool(self._states.raises(node))

    def _make_transfer(self, source: int, target: int) -> np.ndarray:
        """Return what each action of a decision becomes at another, by kind: float64[num_actions, num_actions]."""
        tree, states = self._blueprint.tree, self._states
        actions, targets = tree.actions(source).tolist(), tree.actions(target).tolist()
        call = targets.index(CALL) if CALL in targets else 0
        first_raise = len(targets) - len(states.raises(target))
        sizes, target_sizes = states.sizes(source), np.array(states.sizes(target))
        transfer = np.zeros((len(actions), len(targets)))
        for place, action in enumerate(actions):
            if action > CALL and len(target_sizes):
                size = sizes[place - len(actions)]
                transfer[place, first_raise + np.argmin(abs(target_sizes - size))] = 1.0
            elif action == FOLD and targets[0] == FOLD:
                transfer[place, 0] = 1.0
            elif action == CALL and targets[0] == FOLD and actions[0] != FOLD:  # a check answers no bet
                state = states.state(target)
                share = defended_share(sum(state.contributions), state.to_call)
                transfer[place, 0] = 1.0 - share
                transfer[place, call] += share
            else:
                transfer[place, call] = 1.0
        return transfer
