"""Kernels of the public-tree best response: reach goes down a street's betting, values come up.

All vectors of a board are in the order of `showdown.RankedHands`; a row may be longer than the hands are
many. `betting_tree.StreetNodes` says how a street's nodes are laid out.
"""

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END
from plurispiel.abstraction.holdem.showdown_kernels import fill_fold_mass, fill_showdown_margin
from plurispiel.abstraction.machine.jit import kernel

BEST = 0
OWN = 1
"""Kinds of values: of the best response, and of the seat's own strategy."""

TOLERANCE = 1e-6
"""How far the probabilities of a hand may be from a sum of 1."""


@kernel
def gather_reach(combos, by_combo, rows, reach, alive):
    """Bring one seat's reach at the roots into the order of a board's hands.

    Parameters
    ----------
    combos : int32[num_hands]
    by_combo : float64[num_roots, num_combos]
    rows : int32[num_roots]
        Where it goes.
    reach : float64[num_rows, at least num_hands]
    alive : bool[at least num_rows]
        Whether any hand comes there. Modified in place, as `reach`.
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
    probabilities : float64[num_combos, num_columns]
    columns : int32[num_columns]
        The node behind each column's action; -1 if the action is not legal. Nodes behind actions without a
        column are left alone: nobody comes there.
    rows : int32[num_nodes]
        The seat's, of `StreetNodes`.
    row : int
        The reach to divide.
    strategy : float64[num_nodes, at least num_hands]
        The probability of the action into each node. Modified in place.
    reach : float64[num_rows, at least num_hands]
    alive : bool[at least num_rows]
        False behind this decision before. Modified in place.
    sums : float64[at least num_hands]
        Workspace.

    Returns
    -------
    bool
        Whether the probabilities of every hand are some: of legal actions, not negative, with the sum 1.
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
                wrong |= not abs(probabilities[combos[k], column]) <= TOLERANCE  # so that NaN is wrong
            continue
        into, target = strategy[node], reach[rows[node]]
        again = False  # a second column of the same action
        for other in range(column):
            again |= columns[other] == node
        if again:
            for k in range(num_hands):
                sums[k] -= into[k]
                into[k] += probabilities[combos[k], column]
        else:
            for k in range(num_hands):  # by itself, for only the rest can take several hands at a time
                into[k] = probabilities[combos[k], column]
        found = False
        for k in range(num_hands):
            weight = weights[k] * into[k]
            target[k] = weight
            sums[k] += into[k]
            found |= weight != 0.0
            wrong |= into[k] < -TOLERANCE
        alive[rows[node]] = found
    for k in range(num_hands):
        wrong |= not abs(sums[k] - 1.0) <= TOLERANCE
    return not wrong


@kernel
def scatter_reach(combos, rows, reach, alive, by_combo):
    """Bring one seat's reach at the ends of a street back into the order of combos.

    Parameters
    ----------
    combos : int32[num_hands]
    rows : int32[num_ends]
    reach : float64[num_rows, at least num_hands]
    alive : bool[at least num_rows]
        Other rows have not been written.
    by_combo : float64[num_ends, num_combos]
        All zeros before. Modified in place.
    """
    for end in range(len(rows)):
        if alive[rows[end]]:
            source, target = reach[rows[end]], by_combo[end]
            for k in range(len(combos)):
                target[combos[k]] = source[k]


@kernel
def add_values(nodes, hands, reach, alive, strategy, fold_rows, showdown_rows, end_values, work, seat, weight, totals):
    """Add one seat's values at the roots of a street to their totals over boards.

    Parameters
    ----------
    nodes : StreetNodes
    hands : RankedHands
    reach : float64[num_rows, at least num_hands]
        The other seat's; the values are weighted by it.
    alive : bool[2, num_rows]
        Where the other does not come, all values are 0 and nothing is looked at; where the seat itself does
        not, it has no strategy of its own, and the values of that are left at 0.
    strategy : float64[num_nodes, at least num_hands]
    fold_rows, showdown_rows : int32[n]
        The rows of the other's reach at folds and at showdowns.
    end_values : float64[2, num_ends, num_combos]
        Values at the ends of the street, `BEST` and `OWN`.
    work : ValueWorkspace
    seat : int
        Whose values.
    weight : float
        Multiplies what is added.
    totals : float64[2, num_roots, num_combos]
        Modified in place.
    """
    others_alive = alive[1 - seat]
    num_rows = _select_rows(fold_rows, others_alive, work.rows)
    fill_fold_mass(hands.cards, reach, work.rows[:num_rows], work.card_mass, work.mass)
    num_rows = _select_rows(showdown_rows, others_alive, work.rows)
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
    """Carry the values from the ends of the betting up to its roots; parameters as in `add_values`.

    It goes backwards through the nodes. ``work.values`` holds those of the one node at each depth whose
    children are being added: when a node comes, all below it have been.
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
                above_best[k] = max(above_best[k], stake * best[k])
        else:
            for k in range(num_hands):
                above_best[k] += stake * best[k]
                above_own[k] += stake * own[k]
        if acts and own_alive[own_rows[node]]:
            into = strategy[node]
            for k in range(num_hands):
                above_own[k] += into[k] * (stake * own[k])
