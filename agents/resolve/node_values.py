"""Values under the average strategies: at a node of a subgame's first street, or after new cards at the street's end.

One measuring walk leaves the values of terminal nodes and of the street's ends in the workspace of the first street.
The walk does not keep the values of decisions, since decisions of equal depth share rows. This module computes the
values of decisions again.
"""

import copy
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, STREET_END
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.lanes import LANES
from plurispiel.agents.resolve.street import SolverStreet, Workspace
from plurispiel.agents.resolve.vector_cfr_kernels import BEST, OWN
from plurispiel.agents.resolve.visits import OneRunOut
from plurispiel.agents.resolve.walk import Measure, Walk

__all__ = ["BEST", "OWN", "NodeValues", "measure_node"]


class NodeValues(NamedTuple):
    """Values at a node under the average strategies, for both seats.

    Attributes
    ----------
    values : float64[2, 2, num_combos]
        For each seat, the counterfactual values of its best response (`BEST`) and of its average strategy (`OWN`).
        `BEST` follows locks. Divided by `facing`, the values are chips of the whole hand. `measure_node` leaves out the
        seat's half of the dead chips; `VectorSolver.values_after` adds it.
    reach : float64[2, num_combos]
        Each seat's weight of each combo at the node: its range times its average strategy on the way.
    facing : float64[2, num_combos]
        For each seat and combo, the weight of the other seat's compatible hands at the node.
    actions : float64[num_actions, num_combos]
        The actor's counterfactual value of each action, if both seats play their average strategies after it. Chips
        are counted as in `values`. There are no rows if the node is no decision or the actor is not measured.
    """

    values: np.ndarray
    reach: np.ndarray
    facing: np.ndarray
    actions: np.ndarray


def measure_node(
    walk: Walk,
    rules: HoldemRules,
    board: tuple[int, ...],
    path: Sequence[int],
    dealt: tuple[int, ...],
    seats: Sequence[int] = (0, 1),
) -> NodeValues:
    """Return the values at a node.

    Parameters
    ----------
    walk : Walk
        The walk of a solver whose ranges and plans are prepared for a measurement.
    rules : HoldemRules
    board : tuple of int
        The board of the first street.
    path : sequence of int
        The actions from the root to the node.
    dealt : tuple of int
        At an end of the street, the new cards of the next street; elsewhere empty.
    seats : sequence of int
        The seats whose values are measured, one walk for each; the values of another seat are 0.

    Raises
    ------
    ValueError
        If the actions are not on offer, or there are new cards elsewhere than at an end of the street. Also if no new
        cards are given at an end, or the new cards cannot be dealt or are left out of the sample.
    """
    street = walk.streets[0]
    node = _follow(street, path)
    is_end = street.betting.nodes.kind[node] == STREET_END
    if is_end != bool(dealt):
        raise ValueError(
            "new cards come at an end of the street and only there, "
            f"got {len(dealt)} new cards after the actions {list(path)}"
        )
    task, chance = Measure(), 1.0
    if dealt:
        number, later = _only(walk.streets[1], dealt)
        task, chance = Measure(OneRunOut(number)), float(later.arrays.deals.weight[number])
        walk = copy.copy(walk)
        walk.streets = [street, later, *walk.streets[2:]]
    hands = rank_hands(rules, board + dealt)
    free = np.zeros(rules.num_combos)
    free[hands.combos] = 1.0
    values, reach = np.zeros((2, 2, rules.num_combos)), np.zeros((2, rules.num_combos))
    actions = np.zeros((0, rules.num_combos))
    work = walk.workspaces[0][0]
    for seat in seats:
        walk.values(seat, task)
        reader, combos = _NodeReader(street, work, seat), street.deals.arrays.seats[seat].combos
        values[seat][:, combos] = reader.value(node) / chance
        if street.betting.nodes.kind[node] == seat:
            below = [reader.value(child)[-1] for child in reader.children(node)]
            actions = np.zeros((len(below), rules.num_combos))
            actions[:, combos] = below
    for seat in range(2):  # each walk passes both seats' reach down
        row = int(street.layout.reach_row[seat, node])
        reach[seat, street.deals.arrays.seats[seat].combos] = _row(work.reach[seat], street, seat, row)
    reach *= free
    facing = np.zeros_like(reach)
    facing[:, hands.combos] = fold_mass(hands, reach[::-1, hands.combos])
    return NodeValues(values * free, reach, facing, actions * free)


class _NodeReader:
    """Reads values from the workspace of a measuring walk, and computes the values of decisions from them."""

    def __init__(self, street: SolverStreet, work: Workspace, seat: int):
        self._street, self._work, self._seat = street, work, seat
        self._known: dict[int, np.ndarray] = {}

    def value(self, node: int) -> np.ndarray:
        """Return both kinds of values of a node, `BEST` first: float64[2, num_hands], or one row if both are equal."""
        if node not in self._known:
            self._known[node] = self._computed(node)
        return self._known[node]

    def _computed(self, node: int) -> np.ndarray:
        street, seat, layout = self._street, self._seat, self._street.layout
        kind = street.betting.nodes.kind[node]
        if kind >= FOLD_END:
            row, chips = int(layout.value_row[seat, node]), float(layout.scale[seat, node])
            first = _row(self._work.values, street, seat, row).astype(np.float64) * chips
            if row < int(layout.slot_row[seat]):
                return first[None]
            second = _row(self._work.values, street, seat, row + int(self._work.slots[seat]))
            return np.stack([first, second.astype(np.float64) * chips])
        children = self.children(node)
        below = [self.value(child) for child in children]
        if kind != seat:
            return sum(below[1:], start=below[0])
        rows = [_row(self._work.shares, street, seat, int(layout.reach_row[seat, child])) for child in children]
        mixed = sum((row * each for row, each in zip(rows[1:], below[1:], strict=True)), start=rows[0] * below[0])
        lock = int(layout.locked[node])
        if lock == 1:
            return mixed
        best = functools.reduce(np.maximum, (each[BEST] for each in below))
        if lock:
            best = np.where(_row(street.arrays.locked_hands[seat], street, seat, lock - 2) > 0.0, mixed[BEST], best)
        return np.stack([best, mixed[-1]])

    def children(self, node: int) -> list[int]:
        """Return the children of a decision, in the order of the actions."""
        layout = self._street.layout
        return layout.children[layout.child_first[node] : layout.child_first[node + 1]].tolist()


def _row(array: np.ndarray, street: SolverStreet, seat: int, row: int) -> np.ndarray:
    """Return the entries of all of a seat's hands in a row of the first street's workspace: float[num_hands]."""
    hands = street.deals.arrays.seats[seat]
    blocks = int(hands.block[1])
    return array[row * blocks : (row + 1) * blocks].reshape(blocks * LANES)[: int(hands.first[1])]


def _follow(street: SolverStreet, path: Sequence[int]) -> int:
    decisions = {decision.node: decision for decision in street.betting.decisions}
    node = 0
    for action in path:
        if node not in decisions or action not in decisions[node].children:
            raise ValueError(f"the street does not offer the actions {list(path)}")
        node = decisions[node].children[action]
    return node


def _only(street: SolverStreet, dealt: tuple[int, ...]) -> tuple[int, SolverStreet]:
    """Return the number of the board that represents new cards, and a copy of the street.

    In the copy, the board represents these cards alone.
    """
    renamings, cards = street.deals.renamings[0], tuple(sorted(dealt))
    if cards not in renamings:
        raise ValueError(f"the cards {list(dealt)} cannot be dealt, or are left out of the sample")
    number, _ = renamings[cards]
    place = [taken for taken, (board, _) in renamings.items() if board == number].index(cards)
    deals = street.arrays.deals
    member = int(deals.member_first[number]) + place
    seats = []
    for hands in deals.seats:
        first, last = hands.target_first[member : member + 2].tolist()
        # `leave_board` reads the targets of the members from `member_first[number]` to `member_first[number + 1] - 1`.
        # In the copy, this is member 0 alone, and `targets` has no other entries than this member's.
        starts = np.zeros_like(hands.target_first)
        starts[1:] = last - first
        seats.append(hands._replace(target_first=starts, targets=hands.targets[first:last].copy()))
    one = copy.copy(street)
    member_first = np.zeros_like(deals.member_first)
    member_first[number + 1 :] = 1
    one.arrays = street.arrays._replace(deals=deals._replace(seats=(seats[0], seats[1]), member_first=member_first))
    return number, one
