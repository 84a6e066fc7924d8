"""Stand-ins for the missing rows of a blueprint.

A row is missing if training never visited it, or if `pack_blueprint` dropped it.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.translation import Place, Translation
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Strategy
from plurispiel.agents.baselines.tight_aggressive import has_starting_hands, starting_hands
from plurispiel.agents.blueprint import _blueprint_kernels as kernels
from plurispiel.agents.blueprint.blueprint import Blueprint, row_sums
from plurispiel.agents.blueprint.like_decisions import LikeDecisions

__all__ = ["LIKE", "OFF_TREE", "SOURCES", "STRENGTH", "KeptRows", "defended_share", "kept_rows"]

SOURCES = (
    "row",
    "bucket",
    "sibling",
    "earlier",
    "strength",
    "off the tree",
    "crowded",
    "small bet",
    "large bet",
    "like decision",
)
"""The sources of a hand's strategy.

- ``row``: the hand's own row, which a defence may have changed;
- ``bucket``, ``sibling``, ``earlier``: a stand-in, see `KeptRows`;
- ``strength``: the strength of the hand, as there is neither a row nor a stand-in;
- ``off the tree``: the hand's strength, compared with the rest of the range, as the tree has no decision like this one;
- ``crowded``: the equity of the hand, as more seats than in the tree are in the hand on the flop or later;
- ``small bet``: the bet is below the smallest size, and the strongest hands go on (see the module `defence`);
- ``large bet``: an off-tree bet above the largest size below the all-in; the rows at this size and at the all-in
  decide whether to go on;
- ``like decision``: the row of the most similar decision, as the tree has none here (see the module `like_decisions`).
"""

EARLIER, STRENGTH, OFF_TREE, CROWDED = map(SOURCES.index, ("earlier", "strength", "off the tree", "crowded"))
SMALL_BET, LARGE_BET, LIKE = map(SOURCES.index, ("small bet", "large bet", "like decision"))
MAX_TABLE = 2048
"""The largest number of buckets on a street for which the strategies of all buckets at a decision are cached.

The cache holds 1,024 decisions: some 80 MB with this many buckets and five actions. Without abstraction, a street of
hold'em after the first has far more buckets.
"""

MAX_PLACES = 256
"""The largest number of places without board cards whose strategies `KeptRows.keep` holds.

A strategy takes some 50 KB in hold'em.
"""

MAX_BOARD_PLACES = 16
"""The largest number of places with board cards whose strategies `KeptRows.keep` holds.

The places of one deck are few. More memory than the processor's cache holds would cost more time than it saves.
"""

BUCKET_SPAN = 0.05
"""The largest distance between a bucket and its stand-in, as a share of the street's number of buckets."""

_MAX_KEPT_GAMES = 16


def defended_share(pot: int, to_call: int) -> float:
    """Return the minimum defence frequency, 1 - to_call / pot.

    The chips to call count as the bet, also against a raise. If a smaller share of hands continues, a bet of this size
    with any two cards makes a profit.

    Parameters
    ----------
    pot : int
        Chips in the middle, the bet included.
    to_call : int
        Chips that a call costs.
    """
    return 1.0 - to_call / pot


class _BucketRows(NamedTuple):
    """The strategy and the source of each bucket at a decision, with the dtypes of `KeptRows.find`.

    `is_whole` tells whether every bucket has its own row, without a stand-in.
    """

    rows: np.ndarray
    sources: np.ndarray
    is_whole: bool


class _Cells(NamedTuple):
    """The layout of a decision's rows.

    `first` is the index of the row's first cell in bucket 0. `pairs` is the distance in cells between the rows of
    consecutive buckets.
    """

    street: int
    first: int
    pairs: int
    num_actions: int


class _Kind(NamedTuple):
    """The properties of a decision that a sibling must share to be its stand-in."""

    seat: int
    street: int
    can_fold: bool
    can_raise: bool


class KeptRows:
    """A blueprint's rows, with stand-ins for missing rows.

    There are three kinds of stand-in; the first kind that exists is taken.

    1. ``bucket``: at the same decision, the row of the nearest bucket that has a row, if the distance is at most
       `BUCKET_SPAN`. This kind needs buckets that are sorted by strength: those of bucket tables, after the first
       street.
    2. ``sibling``: the hand's row at a decision that differs in the size of the street's last raise alone. Of the
       siblings with a row, that with the nearest size is taken.
    3. ``earlier``: the hand's row at the last earlier decision of the same seat that has a row.

    Parameters
    ----------
    blueprint : Blueprint
    states : TreeStates
        The betting states of the blueprint's tree.

    Attributes
    ----------
    transfer : callable
        Maps a source decision and a target decision to the shares by which each action of the source is divided among
        the target's actions: float64[num_actions at source, num_actions at target].
    at_places : dict of Place to Strategy
        The agents' strategies at places before the first board cards, as far as `keep` was called.
    at_boards : dict of (Place, board) to Strategy
        The same at places with board cards. Only the newest are held: they serve the hands of one deck.
    translation : callable
        Returns the `Translation` of a game into the blueprint's tree.
    """

    def __init__(self, blueprint: Blueprint, states: TreeStates):
        self._blueprint = blueprint
        self.states = states
        self.like = LikeDecisions(blueprint)
        rules = blueprint.rules
        self._board_sizes = [rules.board_size(street) for street in range(rules.num_streets)]
        self._buckets = functools.lru_cache(256)(self._make_buckets)
        self._cells = functools.lru_cache(4096)(self._find_cells)
        self._played = functools.lru_cache(1 << 14)(self._play)
        self._table = functools.lru_cache(1024)(self._make_table)
        self._siblings = functools.lru_cache(1024)(self._find_siblings)
        self.transfer = functools.lru_cache(1024)(self._make_transfer)
        self.translation = functools.lru_cache(_MAX_KEPT_GAMES)(self._make_translation)
        self.at_places: dict[Place, Strategy] = {}
        self.at_boards: dict[tuple[Place, tuple[int, ...]], Strategy] = {}

    def keep(self, place: Place, board: tuple[int, ...], strategy: Strategy) -> None:
        """Keep the strategy of all combos at a place with a board, and make its arrays read-only."""
        strategy.actions.setflags(write=False)
        strategy.probabilities.setflags(write=False)
        if board:
            if len(self.at_boards) >= MAX_BOARD_PLACES:
                del self.at_boards[next(iter(self.at_boards))]
            self.at_boards[place, board] = strategy
            return
        if len(self.at_places) >= MAX_PLACES:
            self.at_places.clear()
        self.at_places[place] = strategy

    def row(self, node: int, board: tuple[int, ...], combo_id: int) -> tuple[float, ...] | None:
        """Return one combo's own row at a decision, as `find` would, or None if the row is missing.

        For a single combo, this method is many times faster than `find`; it never takes a stand-in.
        """
        street, first, pairs, num_actions = self._cells(node)
        bucket = self._buckets(board[: self._board_sizes[street]], street)[combo_id]
        cell = first + int(bucket) * pairs
        return self._played(self._blueprint.rows[cell : cell + num_actions].tobytes())

    def find(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strategies of combos at a decision.

        Parameters
        ----------
        node : int
            The decision's node in the tree.
        board : tuple of int
            The board, with at least the cards of the decision's street.
        combo_ids : int64[n]

        Returns
        -------
        float64[n, num_actions]
            A row for each of `combo_ids`, which sums to 1; zeros for a combo without a row or stand-in.
        int8[n]
            The source of each row, as an index into `SOURCES`; `STRENGTH` for a combo without a row or stand-in.
        """
        buckets = self._buckets_at(node, board, combo_ids)
        if self._blueprint.cards.num_buckets[self._blueprint.tree.street[node]] <= MAX_TABLE:
            table = self._table(node)
            rows = table.rows.take(buckets, axis=0)  # ten times faster than rows[buckets]
            if table.is_whole:
                return rows, np.zeros(len(buckets), np.int8)
            sources = table.sources[buckets]
        else:
            rows, sources = self.in_buckets(node, buckets)
        missing = np.flatnonzero(sources == STRENGTH)
        if len(missing):
            stand_ins = self._earlier(node, board, combo_ids[missing])
            sums = row_sums(stand_ins)
            is_found = sums > 0.0
            rows[missing[is_found]] = stand_ins[is_found] / sums[is_found, None]
            sources[missing[is_found]] = EARLIER
        return rows, sources

    def strength_order(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return numbers that order combos by their strength, ascending: float64[num_combos].

        Before the flop of hold'em the numbers are those of `starting_hands`. Between the first and the last street they
        are the buckets, if these come from a bucket table: such buckets are sorted by strength and take draws into
        account. In all other cases the numbers are those of `made_strength`.
        """
        rules = self._blueprint.rules
        if not board and has_starting_hands(rules):
            return starting_hands()
        if street in range(1, rules.num_streets - 1) and self._blueprint.cards.model:
            return self._buckets(board, street).astype(np.float64)
        return made_strength(rules, board)

    def _find_cells(self, node: int) -> _Cells:
        """Return the layout of a decision's rows."""
        tree, game = self._blueprint.tree, self._blueprint.game
        street = int(tree.street[node])
        first = int(game.base[street]) + int(tree.row[node])
        return _Cells(street, first, int(game.pairs[street]), int(tree.num_actions[node]))

    def _play(self, kept: bytes) -> tuple[float, ...] | None:
        """Return the strategy of a stored row, given as the bytes of its cells; None for a row of zeros."""
        cells = np.frombuffer(kept, self._blueprint.rows.dtype)
        rows = np.empty((1, len(cells)), np.float32)
        kernels.read_rows(cells, 0, 0, np.zeros(1, np.int64), rows)
        # The same operations in the same order as `in_buckets`: `act` and `range_strategy` must agree bit for bit.
        rows = rows.astype(np.float64)
        total = row_sums(rows)[0]
        return tuple((rows[0] / total).tolist()) if total else None

    def earlier_decisions(self, node: int) -> list[int]:
        """Return the earlier decisions of the seat that acts at a decision, the last one first."""
        tree = self._blueprint.tree
        decisions, at = [], int(tree.parent[node])
        while at >= 0:
            if tree.actor[at] == tree.actor[node]:
                decisions.append(at)
            at = int(tree.parent[at])
        return decisions

    def _make_table(self, node: int) -> _BucketRows:
        num_buckets = self._blueprint.cards.num_buckets[self._blueprint.tree.street[node]]
        rows, sources = self.in_buckets(node, np.arange(num_buckets))
        return _BucketRows(rows, sources, not sources.any())

    def in_buckets(self, node: int, buckets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strategies of buckets at a decision as `find` does, without stand-ins from earlier decisions."""
        rows = self._blueprint.strategy(node, buckets).astype(np.float64)
        sources = np.zeros(len(buckets), np.int8)
        missing = np.flatnonzero(row_sums(rows) == 0.0)
        for number, stand_in in enumerate((self._near_buckets, self._sibling_rows), start=1):
            if not len(missing):
                break
            stand_ins = stand_in(node, buckets[missing])
            rows[missing] = stand_ins
            sources[missing] = number
            missing = missing[row_sums(stand_ins) == 0.0]
        sources[missing] = STRENGTH
        sums = row_sums(rows)
        sums[missing] = 1.0
        rows /= sums[:, None]
        return rows, sources

    def _make_buckets(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return the bucket of each combo: int64[num_combos].

        Combos that share a card with the board get an arbitrary bucket.
        """
        row = self._blueprint.cards.row(board, street).astype(np.int64)
        return np.minimum(row, self._blueprint.cards.num_buckets[street] - 1, out=row)

    def _buckets_at(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> np.ndarray:
        """Return the buckets of combos on the street of a decision: int64[n].

        `board` may also have cards of later streets.
        """
        street = int(self._blueprint.tree.street[node])
        return self._buckets(board[: self._board_sizes[street]], street).take(combo_ids)

    def _near_buckets(self, node: int, buckets: np.ndarray) -> np.ndarray:
        """Return, for each bucket, the row of the nearest bucket that has a row at the decision.

        The row is zeros if the nearest such bucket is further away than `BUCKET_SPAN`.
        """
        street = int(self._blueprint.tree.street[node])
        num_actions = int(self._blueprint.tree.num_actions[node])
        rows = np.zeros((len(buckets), num_actions))
        if not (street and self._blueprint.cards.model):  # only a table's buckets after the first street are sorted
            return rows
        num_buckets = self._blueprint.cards.num_buckets[street]
        table = self._blueprint.strategy(node, np.arange(num_buckets)).astype(np.float64)
        kept = np.flatnonzero(row_sums(table))
        if len(kept):
            following = np.searchsorted(kept, buckets)
            below, above = kept[np.maximum(following - 1, 0)], kept[np.minimum(following, len(kept) - 1)]
            nearest = np.where(abs(buckets - below) <= abs(above - buckets), below, above)
            is_near = abs(nearest - buckets) <= BUCKET_SPAN * num_buckets
            rows[is_near] = table[nearest[is_near]]
        return rows

    def _sibling_rows(self, node: int, buckets: np.ndarray) -> np.ndarray:
        """Return each bucket's row at the first sibling that has one, mapped to the actions of `node`."""
        return self._from_first_of(self._siblings(node), node, len(buckets), lambda _, missing: buckets[missing])

    def _earlier(self, node: int, board: tuple[int, ...], combo_ids: np.ndarray) -> np.ndarray:
        """Return each combo's row at the seat's last earlier decision that has one, mapped to the actions of `node`."""
        decisions = self.earlier_decisions(node)
        return self._from_first_of(
            decisions,
            node,
            len(combo_ids),
            lambda decision, missing: self._buckets_at(decision, board, combo_ids[missing]),
        )

    def _from_first_of(
        self, decisions: list[int], node: int, number: int, buckets: Callable[[int, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Return each hand's row at the first of some decisions that has one, mapped to the actions of `node`.

        Hands without a row at any of the decisions get zeros.

        Parameters
        ----------
        number : int
            Number of hands.
        buckets : callable
            Maps a decision and the indices of some hands to the buckets of these hands at the decision.
        """
        rows = np.zeros((number, int(self._blueprint.tree.num_actions[node])))
        missing = np.arange(number)
        for decision in decisions:
            if not len(missing):
                break
            kept = self._blueprint.strategy(decision, buckets(decision, missing)).astype(np.float64)
            # Column by column: a matrix product rounds a row differently alone than in a batch, and `act` and
            # `range_strategy` must agree bit for bit.
            parts = zip(kept.T, self.transfer(decision, node), strict=True)
            stand_ins = functools.reduce(np.add, (column[:, None] * shares for column, shares in parts))
            rows[missing] = stand_ins
            missing = missing[row_sums(stand_ins) == 0.0]
        return rows

    def _find_siblings(self, node: int) -> list[int]:
        """Return the siblings of a decision, those with the nearest size of the last raise first."""
        tree, states = self._blueprint.tree, self.states
        answers, at = [], node
        while at > 0 and tree.action[at] <= CALL and tree.street[tree.parent[at]] == tree.street[node]:
            answers.append(int(tree.action[at]))
            at = int(tree.parent[at])
        if at == 0 or tree.street[tree.parent[at]] != tree.street[node]:
            return []
        parent, total = int(tree.parent[at]), int(tree.action[at])
        others = sorted(states.raises(parent), key=lambda other: abs(other - total))[1:]  # without `total` itself
        siblings = []
        for other in others:
            sibling = states.child(parent, other)
            for answer in reversed(answers):
                sibling = states.child(sibling, answer) if sibling >= 0 and tree.actor[sibling] >= 0 else -1
            # After another size, the seat may be unable to raise, or the street may be over: that node is no stand-in.
            if sibling >= 0 and self._kind(sibling) == self._kind(node):
                siblings.append(sibling)
        return siblings

    def _kind(self, node: int) -> _Kind | None:
        """Return the kind of a decision, None for an end."""
        tree = self._blueprint.tree
        if tree.actor[node] < 0:
            return None
        folds = bool(tree.actions(node)[0] == FOLD)
        return _Kind(int(tree.actor[node]), int(tree.street[node]), folds, bool(self.states.raises(node)))

    def _make_translation(self, rules: HoldemRules) -> Translation:
        return Translation(rules, self.states)

    def _make_transfer(self, source: int, target: int) -> np.ndarray:
        """Return how the probability of each action at `source` is divided among the actions at `target`.

        Folds, calls and raises are mapped to actions of the same kind where the target has one, else to check or call.
        If the target offers neither check nor call, its first action takes their place. A check becomes a fold or a
        call where the target faces a bet and the source does not.

        Returns
        -------
        float64[num_actions at source, num_actions at target]
            Rows sum to 1.
        """
        tree, states = self._blueprint.tree, self.states
        actions, targets = tree.actions(source).tolist(), tree.actions(target).tolist()
        call = targets.index(CALL) if CALL in targets else 0
        first_raise = len(targets) - len(states.raises(target))
        sizes, target_sizes = states.sizes(source), np.array(states.sizes(target))
        transfer = np.zeros((len(actions), len(targets)))
        for column, action in enumerate(actions):
            # Raises are matched by their shares of the pot, as the pots of the two decisions differ.
            if action > CALL and len(target_sizes):
                size = sizes[column - len(actions)]
                transfer[column, first_raise + np.argmin(abs(target_sizes - size))] = 1.0
            elif action == FOLD and targets[0] == FOLD:
                transfer[column, 0] = 1.0
            elif action == CALL and targets[0] == FOLD and actions[0] != FOLD:  # only the target faces a bet
                state = states.state(target)
                share = defended_share(sum(state.contributions), state.to_call)
                transfer[column, 0] = 1.0 - share
                transfer[column, call] += share
            else:
                transfer[column, call] = 1.0
        return transfer


@functools.lru_cache(4)
def kept_rows(blueprint: Blueprint) -> KeptRows:
    """Return the `KeptRows` that all agents of a blueprint in a process share."""
    return KeptRows(blueprint, TreeStates(blueprint.rules, blueprint.tree))
