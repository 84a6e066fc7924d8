"""Kernels of the public-tree best response: reach goes down a street's betting, values come up.

All vectors of a board are in the order of `showdown.RankedHands`; rows may be longer than the number of hands.
`betting_tree.StreetNodes` describes the layout of a street's nodes. Values are counterfactual: weighted by the other
seat's reach.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END
from plurispiel.abstraction.holdem.showdown_kernels import fill_fold_mass, fill_showdown_margin
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.base import SUM_TOLERANCE

BEST = 0
OWN = 1
"""Kinds of values: of the best response, and of the seat's own strategy."""


class FacingReach(NamedTuple):
    """The other seat's reach on one board, as `add_street_values` takes it.

    Attributes
    ----------
    reach : float64[num_rows, at least num_hands]
        The reach of each hand; rows are numbered as in `StreetNodes.rows`.
    fold_rows, showdown_rows : int32[num_fold_rows], int32[num_showdown_rows]
        The rows of `reach` at folds and at showdowns, each row once.
    """

    reach: np.ndarray
    fold_rows: np.ndarray
    showdown_rows: np.ndarray


@kernel
def gather_reach(combos, by_combo, rows, reach, alive):
    """Sort one seat's reach at the roots into the order of a board's hands.

    Parameters
    ----------
    combos : int32[num_hands]
        The combo of each of the board's hands.
    by_combo : float64[num_roots, num_combos]
        The reach of each combo at each root.
    rows : int32[num_roots]
        The row of `reach` for each root.
    reach : float64[num_rows, at least num_hands]
        The reach of each hand. Modified in place.
    alive : bool[at least num_rows]
        Whether any hand has reach in a row. Modified in place.
    """
    for root in range(len(rows)):
        source, target = by_combo[root], reach[rows[root]]
        found = False
        for k in range(len(combos)):
            weight = source[combos[k]]
            target[k] = weight
            found |= weight != 0.0
        alive[rows[root]] = found


@kernel
def split_reach(combos, probabilities, columns, rows, row, strategy, reach, alive, sums):
    """Divide a seat's reach among the actions of one of its decisions.

    Parameters
    ----------
    combos : int32[num_hands]
        The combo of each of the board's hands.
    probabilities : float64[num_combos, num_columns]
        The reported probability of each column's action with each combo.
    columns : int32[num_columns]
        The child node of each column's action; -1 if the action is not legal. Several columns may have the same node.
        For a child node without a column nothing is written: its row stays not alive.
    rows : int32[num_nodes]
        The seat's rows of `StreetNodes`.
    row : int
        The row of the reach to divide.
    strategy : float64[num_nodes, at least num_hands]
        The probability of the action that leads to each node. Modified in place.
    reach : float64[num_rows, at least num_hands]
        The seat's reach with each hand; the rows of the child nodes are written. Modified in place.
    alive : bool[at least num_rows]
        Whether any hand has reach in a row; False for the rows of the child nodes on entry. Modified in place.
    sums : float64[at least num_hands]
        Workspace.

    Returns
    -------
    bool
        Whether every hand has a distribution over legal actions.
    """
    num_hands = len(combos)
    weights = reach[row]
    wrong = False
    for k in range(num_hands):
        sums[k] = 0.0
    for column in range(len(columns)):
        node = columns[column]
        if node < 0:
            for k in range(num_hands):
                wrong |= not abs(probabilities[combos[k], column]) <= SUM_TOLERANCE  # so that NaN fails
            continue
        into, target = strategy[node], reach[rows[node]]
        again = False  # a second column of the same action
        for other in range(column):
            again |= columns[other] == node
        if again:
            for k in range(num_hands):  # the loop below adds `into` to `sums` a second time, now with both columns
                sums[k] -= into[k]
                into[k] += probabilities[combos[k], column]
        else:
            for k in range(num_hands):  # a loop of its own: the gather does not vectorise, the loop below does
                into[k] = probabilities[combos[k], column]
        found = False
        for k in range(num_hands):
            weight = weights[k] * into[k]
            target[k] = weight
            sums[k] += into[k]
            found |= weight != 0.0
            wrong |= into[k] < -SUM_TOLERANCE
        alive[rows[node]] = found
    for k in range(num_hands):
        wrong |= not abs(sums[k] - 1.0) <= SUM_TOLERANCE
    return not wrong


@kernel
def scatter_reach(combos, rows, reach, alive, by_combo):
    """Sort one seat's reach at the ends of a street back into the order of combos.

    Parameters
    ----------
    combos : int32[num_hands]
        The combo of each of the board's hands.
    rows : int32[num_ends]
        The row of `reach` for each end.
    reach : float64[num_rows, at least num_hands]
        The reach of each hand.
    alive : bool[at least num_rows]
        Whether any hand has reach in a row; other rows hold garbage.
    by_combo : float64[num_ends, num_combos]
        All zeros on entry. Modified in place.
    """
    for end in range(len(rows)):
        if alive[rows[end]]:
            source, target = reach[rows[end]], by_combo[end]
            for k in range(len(combos)):
                target[combos[k]] = source[k]


@kernel
def add_street_values(nodes, hands, facing, alive, strategy, end_values, work, seat, weight, totals):
    """Add one seat's values at the roots of a street to their totals over boards.

    Parameters
    ----------
    nodes : StreetNodes
        The street's betting tree.
    hands : RankedHands
        The hands of the board.
    facing : FacingReach
        The other seat's reach, which weights the values.
    alive : bool[2, num_rows]
        For each seat and row, whether any of the seat's hands has reach there. Nodes that the other seat does not reach
        are skipped: their values are 0. At its own decisions that the seat does not reach, its agent was not asked,
        and the values `OWN` are 0.
    strategy : float64[num_nodes, at least num_hands]
        For each hand, the probability of the action that leads to each node.
    end_values : float64[2, num_ends, num_combos]
        Values at the ends of the street, `BEST` and `OWN`.
    work : _ValueWorkspace
        Arrays that are overwritten.
    seat : int
        The seat whose values are added.
    weight : float
        Factor of the values when they are added to `totals`.
    totals : float64[2, num_roots, num_combos]
        Modified in place.
    """
    others_alive = alive[1 - seat]
    reach = facing.reach
    num_rows = _select_rows(facing.fold_rows, others_alive, work.rows)
    fill_fold_mass(hands.cards, reach, work.rows[:num_rows], work.card_mass, work.mass)
    num_rows = _select_rows(facing.showdown_rows, others_alive, work.rows)
    fill_showdown_margin(hands.cards, hands.groups, reach, work.rows[:num_rows], work.card_mass, work.margin)
    _back_up(nodes, hands.combos, alive, strategy, end_values, work, seat, weight, totals)


@kernel
def _select_rows(rows, alive, selected):
    """Write the rows that are alive to the front of `selected` and return their number."""
    num_selected = 0
    for row in rows:
        if alive[row]:
            selected[num_selected] = row
            num_selected += 1
    return num_selected


@kernel
def _back_up(nodes, combos, alive, strategy, end_values, work, seat, weight, totals):
    """Carry the values from the ends of the betting up to its roots; parameters as in `add_street_values`.

    Nodes are visited in reverse order, so that all nodes below a node are visited before the node itself. Therefore
    ``work.values`` needs only one vector for each depth and kind of value, the vector of the node whose children are
    being added.
    """
    num_hands = len(combos)
    others_rows, own_rows = nodes.rows[1 - seat], nodes.rows[seat]
    others_alive, own_alive = alive[1 - seat], alive[seat]
    values, started = work.values, work.started
    started[:] = False
    for node in range(len(nodes.kind) - 1, -1, -1):
        row = others_rows[node]
        if not others_alive[row]:
            continue
        kind, depth, parent = nodes.kind[node], nodes.depth[node], nodes.parent[node]
        best, own, stake = values[BEST, depth], values[OWN, depth], 1.0
        started[depth] = False
        if kind == STREET_END:
            by_combo_best, by_combo_own = end_values[BEST, nodes.end[node]], end_values[OWN, nodes.end[node]]
            for k in range(num_hands):
                best[k] = by_combo_best[combos[k]]
                own[k] = by_combo_own[combos[k]]
        elif kind == SHOWDOWN:
            # Several nodes share a row, so the row is not scaled in place: `stake` scales the values below.
            best = own = work.margin[row]
            stake = nodes.stake[node]
        elif kind == FOLD_END:
            best = own = work.mass[row]
            stake = nodes.stake[node] if seat == 0 else -nodes.stake[node]
        if parent < 0:
            best_total, own_total = totals[BEST, nodes.number[node]], totals[OWN, nodes.number[node]]
            stake *= weight
            for k in range(num_hands):
                best_total[combos[k]] += stake * best[k]
                own_total[combos[k]] += stake * own[k]
            continue
        above_best, above_own = values[BEST, depth - 1], values[OWN, depth - 1]
        acts = nodes.kind[parent] == seat
        if not started[depth - 1]:
            started[depth - 1] = True
            for k in range(num_hands):
                above_best[k] = stake * best[k]
                above_own[k] = 0.0 if acts else stake * own[k]
        elif acts:
            for k in range(num_hands):
                # For each hand by itself, against the whole range: one choice in each infoset (Johanson et al. 2011).
                above_best[k] = max(above_best[k], stake * best[k])
        else:  # the other seat's probabilities are in its reach already, so its actions just add up
            for k in range(num_hands):
                above_best[k] += stake * best[k]
                above_own[k] += stake * own[k]
        if acts and own_alive[own_rows[node]]:
            into = strategy[node]
            for k in range(num_hands):
                above_own[k] += into[k] * (stake * own[k])
