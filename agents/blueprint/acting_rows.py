"""The rows that a blueprint acts by at every decision of its tree, as tables for kernels.

The rows are those that `BlueprintAgent.range_strategy` reports: the stored rows, and stand-ins for missing rows
(`fallback`). A missing row that has no stand-in of the kinds ``bucket`` and ``sibling`` is *open*. An open row may
differ between the combos of a bucket, so kernels fill it for each combo, from the hand's row at an earlier decision. If
the hand's rows at all earlier decisions are missing too, the hand calls, checks or folds by its strength.

A `DefendingAgent` changes rows by its range. `DefendedDecisions` has the decisions at which the agent does so, the
least shares that go on, and the order in which buckets call.
"""

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint import acting_rows_kernels as kernels
from plurispiel.agents.blueprint.acting_rows_kernels import EarlierRows
from plurispiel.agents.blueprint.agent import BlueprintAgent, is_late
from plurispiel.agents.blueprint.blueprint import Blueprint, street_cells
from plurispiel.agents.blueprint.defence import call_chances
from plurispiel.agents.blueprint.fallback import STRENGTH, defended_share, kept_rows

__all__ = ["NONE_DEFENDED", "ActingRows", "DefendedDecisions", "StreetRows"]


class DefendedDecisions(NamedTuple):
    """The decisions of one street at which a `DefendingAgent` changes rows by its range.

    Attributes
    ----------
    nodes : int32[n]
    shares : float64[n]
        The least share of the range that goes on.
    places : uint16 or uint32[num_buckets, n]
        The place of each bucket in the order of `call_chances`, 0 for the highest; equal for equal chances.
    """

    nodes: np.ndarray
    shares: np.ndarray
    places: np.ndarray


NONE_DEFENDED = DefendedDecisions(np.empty(0, np.int32), np.empty(0), np.empty((0, 0), np.uint16))
"""No decision."""


class StreetRows(NamedTuple):
    """The rows of one street.

    Attributes
    ----------
    table : float[num_buckets, num_pairs]
        The probability of each action of each decision. The columns of a decision begin at its `BettingTree.row`. Open
        rows are zeros.
    open_nodes : int32[num_open]
        The decisions that have open rows.
    is_open : bool[num_buckets, num_open]
        Whether a bucket's row is open at each of `open_nodes`.
    earlier : EarlierRows
        For each of `open_nodes`, the earlier decisions from which the open rows are filled.
    defended : DefendedDecisions
    """

    table: np.ndarray
    open_nodes: np.ndarray
    is_open: np.ndarray
    earlier: EarlierRows
    defended: DefendedDecisions = NONE_DEFENDED


class ActingRows:
    """The rows by which the agent of a blueprint acts.

    Parameters
    ----------
    blueprint : Blueprint
    dtype : data type
        Type of the tables: float32 or float64.
    defence : float
        That of `DefendingAgent`; 0 for `BlueprintAgent`.

    Attributes
    ----------
    blueprint : Blueprint
    defence : float
    street : callable
        Maps a street to its `StreetRows`, which are computed once.

    Raises
    ------
    ValueError
        By `street`, `rows_on` and `strategy`, if a decision of the street with open rows offers no call. Also if there
        is a defence, and a decision at which it may change rows has open rows.
    """

    def __init__(self, blueprint: Blueprint, dtype: npt.DTypeLike = np.float64, defence: float = 0.0):
        self.blueprint = blueprint
        self.defence = defence
        self._dtype = np.dtype(dtype)
        self._kept = kept_rows(blueprint)
        self.street = functools.cache(self._street)

    def preflop(self, node: int) -> np.ndarray:
        """Return the rows of all combos at a decision before the flop: float64[num_combos, num_actions]."""
        agent = BlueprintAgent(self.blueprint)
        seat = int(self.blueprint.tree.actor[node])
        agent.restart(self.blueprint.rules, seat, np.random.default_rng(0))
        strategy = agent.range_strategy(self._public(node))
        actions = self.blueprint.tree.actions(node)
        return np.stack([strategy.probability(action) for action in actions.tolist()], axis=1)

    def buckets(self, street: int, board: tuple[int, ...]) -> np.ndarray:
        """Return the bucket of each combo: int32[num_combos]; combos with a card of the board get an arbitrary one."""
        cards = self.blueprint.cards
        return np.minimum(cards.row(board, street), cards.num_buckets[street] - 1).astype(np.int32)

    def rows_on(self, street: int, boards: list[tuple[int, ...]]) -> tuple[StreetRows, np.ndarray]:
        """Return a street's rows, and the bucket of each combo on each board: int32[num_boards, num_combos]."""
        return self.street(street), np.stack([self.buckets(street, board) for board in boards])

    def strengths(self, board: tuple[int, ...]) -> np.ndarray:
        """Return the strength by which combos without a row call or fold: float64[num_combos]."""
        return made_strength(self.blueprint.rules, board)

    def strength_order(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return numbers that order combos by their strength, as a `DefendingAgent` does: float64[num_combos]."""
        return self._kept.strength_order(board, street)

    def strategy(self, node: int, board: tuple[int, ...]) -> np.ndarray:
        """Return the rows of all combos at a decision on the flop or later: float64[num_combos, num_actions].

        They are rows without defence. The rows of combos that share a card with the board are arbitrary.
        """
        rules, tree = self.blueprint.rules, self.blueprint.tree
        street = int(tree.street[node])
        found = self.street(street)
        boards = [board[: rules.board_size(number)] for number in range(street + 1)]
        buckets = np.stack([self.buckets(number, known) for number, known in enumerate(boards)])
        columns = int(tree.row[node]) + np.arange(int(tree.num_actions[node]))
        rows = found.table[buckets[street]][:, columns].astype(np.float64)
        for number in np.flatnonzero(found.open_nodes == node):  # one or none
            combos = np.flatnonzero(found.is_open[buckets[street], number])
            kernels.fill_open_rows(found.earlier, number, buckets, self.strengths(boards[street]), combos, rows)
        return rows

    def _public(self, node: int, board: tuple[int, ...] = ()) -> PublicState:
        """Return the public state at a decision of the tree."""
        tree = self.blueprint.tree
        actions, at = [], node
        while at > 0:
            parent = int(tree.parent[at])
            actions.append(Action(int(tree.actor[parent]), int(tree.action[at]), int(tree.street[parent])))
            at = parent
        state = self._kept.states.state(node)
        return PublicState(self.blueprint.rules, state.array.tolist(), board, tuple(reversed(actions)))

    def _street(self, street: int) -> StreetRows:
        """Return the rows of a street."""
        blueprint = self.blueprint
        num_buckets = blueprint.cards.num_buckets[street]
        cells = street_cells(blueprint.tree, blueprint.game, street, num_buckets)
        nodes = blueprint.decisions(street)
        table = np.zeros((num_buckets, cells.pairs), self._dtype)
        missing = np.zeros((num_buckets, len(nodes)), np.bool_)
        kernels.fill_acting_rows(cells, blueprint.rows, table, missing)
        is_open = np.zeros_like(missing)
        for number in np.flatnonzero(missing.any(axis=0)).tolist():
            node, buckets = int(nodes[number]), np.flatnonzero(missing[:, number])
            rows, sources = self._kept.in_buckets(node, buckets)
            first = int(cells.rows[number])
            table[buckets, first : first + rows.shape[1]] = rows
            is_open[buckets[sources == STRENGTH], number] = True
        kept = is_open.any(axis=0)
        earlier = self._earlier(nodes[kept].tolist())
        return StreetRows(table, nodes[kept].astype(np.int32), is_open[:, kept], earlier, self._defended(street))

    def _defended(self, street: int) -> DefendedDecisions:
        """Return the decisions of a street at which the agent may change rows by its range."""
        rules, tree, states = self.blueprint.rules, self.blueprint.tree, self._kept.states
        if not self.defence or not is_late(rules, street):
            return NONE_DEFENDED
        nodes = [node for node in self.blueprint.decisions(street).tolist() if tree.actions(node)[0] == FOLD]
        every = np.arange(self.blueprint.cards.num_buckets[street])
        places = np.empty((len(every), len(nodes)), np.uint16 if len(every) <= 2**16 else np.uint32)
        shares = np.empty(len(nodes))
        for number, node in enumerate(nodes):
            rows, sources = self._kept.in_buckets(node, every)
            actions = tree.actions(node).tolist()
            if (sources == STRENGTH).any() or CALL not in actions:
                raise ValueError(
                    f"this blueprint lacks rows at decisions that its defence, {self.defence:g}, changes; train it "
                    "longer, pack it with all rows (plurispiel blueprint pack --least 0), or measure it without, "
                    "?defence=0"
                )
            places[:, number] = np.unique(-call_chances(rows, actions.index(CALL)), return_inverse=True)[1]
            state = states.state(node)
            shares[number] = self.defence * defended_share(sum(state.contributions), state.to_call)
        return DefendedDecisions(np.array(nodes, np.int32), shares, places)

    def _earlier(self, decisions: list[int]) -> EarlierRows:
        """Return the earlier decisions from which the open rows of some decisions are filled."""
        blueprint, states = self.blueprint, self._kept.states
        tree, game = blueprint.tree, blueprint.game
        first, sources, transfers, transfer_first, calls, thresholds = [0], [], [], [0], [], []
        for node in decisions:
            actions = tree.actions(node).tolist()
            if CALL not in actions:
                raise ValueError(
                    "this blueprint lacks rows at decisions without a call; train it longer, or pack it with all rows"
                )
            calls.append(actions.index(CALL))
            state = states.state(node)
            folds = actions[0] == FOLD
            thresholds.append(1.0 - defended_share(sum(state.contributions), state.to_call) if folds else -1.0)
            for source in self._kept.earlier_decisions(node):
                street = int(tree.street[source])
                cell = int(game.base[street]) + int(tree.row[source])
                sources.append((street, cell, int(game.pairs[street]), int(tree.num_actions[source])))
                transfers.append(self._kept.transfer(source, node).ravel())
                transfer_first.append(transfer_first[-1] + transfers[-1].size)
            first.append(len(sources))
        return EarlierRows(
            blueprint.rows,
            np.array(first),
            np.array(sources, np.int64).reshape(-1, 4),
            np.array(transfer_first),
            np.concatenate([*transfers, np.empty(0)]),
            np.array([int(tree.num_actions[node]) for node in decisions], np.int64),
            np.array(calls, np.int64),
            np.array(thresholds, np.float64),
        )
