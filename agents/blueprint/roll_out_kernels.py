"""Kernels of roll-outs: the value of every hand of one seat against known hands, over sampled boards.

A world is a whole board and a random number at every decision. The *own* seat is the seat whose hands are valued: all
its actions are followed, each with the hands that take it. One action of another seat is drawn, or all are followed
where the subtree is small. A seat may have a bias: a factor that makes one kind of action likelier, as the continuation
strategies of a search need.

The actions are those of the tree. Values are in chips of the hand at the table, whose game may have other stacks and
blinds than the tree's. `_chips` converts contributions, and no seat puts in more than its stack at the table. A seat
that is all-in at the table calls wherever the tree still lets it act.
"""

import numpy as np

from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_rank
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.blueprint.traversal_kernels import (
    CALL_BIT,
    COUNT_SHIFT,
    FIRST_CHILD,
    FOLD_BIT,
    NUMBER,
    PAID,
    ROW,
    SEAT_SHIFT,
    SLOT,
    WORD,
    layered_value,
)

_STREET = 3
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@kernel
def count_nodes(tree, sizes, depths):
    """Write the number of nodes in the subtree of each node, and the number of decisions above it.

    Parameters
    ----------
    tree : BettingTree
    sizes, depths : int32[num_nodes]
        Modified in place.
    """
    sizes[:] = 1
    # Parents precede their children: one pass down for depths, one back up for sizes.
    depths[0] = 0
    for node in range(1, len(sizes)):
        depths[node] = depths[tree.parent[node]] + 1
    for node in range(len(sizes) - 1, 0, -1):
        sizes[tree.parent[node]] += sizes[node]


@kernel
def turn_rows(tree, game, decisions, street, num_buckets, rows, turned):
    """Write one street's rows decision by decision instead of bucket by bucket, with missing rows filled in.

    A missing row becomes the row of the nearest bucket at the same decision. If no bucket has a row there, the row
    gives probability 1 to the first action that is no fold: a check or call, if the tree offers one. Roll-outs read the
    rows of many buckets of one decision, which lie side by side in the new order.

    Parameters
    ----------
    tree : BettingTree
    decisions : int32[n]
        The street's decisions in the order of their rows.
    rows, turned : float32 or uint8[num_cells]
        Modified in place: `turned`.
    """
    for d in range(len(decisions)):
        node = np.int64(decisions[d])
        num_actions = np.int64(tree.num_actions[node])
        start = game.base[street] + np.int64(tree.row[node]) * num_buckets
        num_kept = 0
        for bucket in range(num_buckets):
            cell = game.base[street] + bucket * game.pairs[street] + tree.row[node]
            total = 0.0
            for a in range(num_actions):
                turned[start + bucket * num_actions + a] = rows[cell + a]
                total += rows[cell + a]
            num_kept += total > 0.0
        if num_kept == num_buckets:
            continue
        call = np.int64(tree.action[np.int64(tree.first_child[node])] == 0)
        for bucket in range(num_buckets):
            cell = game.base[street] + bucket * game.pairs[street] + tree.row[node]
            total = 0.0
            for a in range(num_actions):
                total += rows[cell + a]
            if total > 0.0:
                continue
            nearest = np.int64(-1)
            for step in range(1, num_buckets if num_kept else 0):
                # A table's buckets after the first street are in order of strength: neighbours hold similar hands.
                for other in (bucket - step, bucket + step):
                    if nearest < 0 and 0 <= other < num_buckets:
                        cell = game.base[street] + other * game.pairs[street] + tree.row[node]
                        total = 0.0
                        for a in range(num_actions):
                            total += rows[cell + a]
                        if total > 0.0:
                            nearest = np.int64(other)
                if nearest >= 0:
                    break
            for a in range(num_actions):
                place = start + bucket * num_actions + a
                if nearest < 0:
                    turned[place] = a == call
                else:
                    turned[place] = rows[game.base[street] + nearest * game.pairs[street] + tree.row[node] + a]


@kernel
def fill_buckets(game, cards, boards, buckets):
    """Write the bucket of every combo on every street of whole boards.

    Parameters
    ----------
    game : GameArrays
    cards : CardArrays
    boards : uint8[num_boards, num_board_cards]
    buckets : int32[num_boards, num_streets, num_combos]
        Modified in place.
    """
    for b in range(len(boards)):
        _fill_row(game, cards.relabel, cards.entries[0], cards.rows[0], boards[b], 0, buckets[b])
        if game.num_streets > 1:
            _fill_row(game, cards.relabel, cards.entries[1], cards.rows[1], boards[b], 1, buckets[b])
        if game.num_streets > 2:
            _fill_row(game, cards.relabel, cards.entries[2], cards.rows[2], boards[b], 2, buckets[b])
        if game.num_streets > 3:
            _fill_row(game, cards.relabel, cards.entries[3], cards.rows[3], boards[b], 3, buckets[b])


@kernel(inline=True)
def _fill_row(game, relabel, entries, rows, board, street, buckets):
    entry = np.int64(entries[board_rank(game.num_suits, board[: game.board_sizes[street]])])
    row = rows[entry >> PERMUTATION_BITS]
    renamed = relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
    for combo in range(buckets.shape[1]):
        buckets[street, combo] = row[renamed[combo]]


@kernel(inline=True)
def _point(seed, node, world, num_worlds):
    """Return the random number of a decision in a world: systematic sampling, evenly spaced over the worlds.

    A hash of seed and node (the mixer of SplitMix64) gives the offset and the order of the worlds. So a decision has
    the same number in a world whichever hand is valued: all hands are compared with common random numbers.
    """
    word = seed + np.uint64(node) * _GOLDEN
    word = (word ^ (word >> _S30)) * _MIX1
    word = (word ^ (word >> _S27)) * _MIX2
    word ^= word >> _S31
    shift = np.int64((word & _LOW) * np.uint64(num_worlds) >> _S32)
    step = np.int64(word >> _S32 & np.uint64(1023)) * 2 + 1  # odd: no place comes twice if `num_worlds` is 2^k
    place = (world * step + shift) % num_worlds
    return (place + np.float64(word >> _S32) * 2.0**-32) / num_worlds


@kernel(inline=True)
def first_cell(tables, node):
    """Return the index of the first cell of a decision's rows."""
    street = np.int64(tables.tree.nodes[node, WORD]) & _STREET
    return tables.game.base[street] + np.int64(tables.tree.nodes[node, ROW]) * tables.num_buckets[street]


@kernel(inline=True)
def _weight(word, place, bias, factor):
    """Return the factor of an action under a bias, `factor` if the action is of the kind `bias`, else 1.

    Kinds are 1 for folds, 2 for checks and calls, and 3 for raises; a bias of 0 is no bias.
    """
    folds = np.int64(word & FOLD_BIT != 0)
    if place == 0 and folds:
        kind = 1
    elif place == folds and word & CALL_BIT:
        kind = 2
    else:
        kind = 3
    return factor if kind == bias else 1.0


@kernel(inline=True)
def _row_sum(rows, cell, num_actions, word, bias, factor):
    # Needed to normalise: a bias changes the sum (the Pluribus supplement multiplies one kind by 5), and a row of uint8
    # sums only nearly to 255.
    total = 0.0
    if bias == 0:
        for a in range(num_actions):
            total += rows[cell + a]
    else:
        for a in range(num_actions):
            total += _weight(word, a, bias, factor) * rows[cell + a]
    return total


@kernel(inline=True)
def _chips(stakes, seat, paid):
    """Return a seat's contribution at the table, converted from its contribution in the tree.

    Chips beyond the largest contribution at the start of the roll-out are scaled by the ratio of the pots. Smaller
    contributions are interpolated, so that a seat that has called in the tree has called in the hand.
    """
    before = stakes.paid[seat]
    if paid >= stakes.most_paid:
        chips = stakes.most_put_in + np.int64(np.rint((paid - stakes.most_paid) * stakes.scale))
    else:
        share = (paid - before) / (stakes.most_paid - before)
        chips = stakes.put_in[seat] + np.int64(np.rint(share * (stakes.most_put_in - stakes.put_in[seat])))
    return min(stakes.stacks[seat], chips)


@kernel(inline=True)
def _follow(tables, seats, stakes, small, node, buckets, point):
    """Return the next node where the walk must branch or end: an end, an own decision or the root of a small subtree.

    On the way there, other seats' actions are drawn.

    Parameters
    ----------
    point : tuple
        The arguments `seed`, `world` and `num_worlds` of `_point`.
    """
    tree, rows = tables.tree, tables.rows
    seed, world, num_worlds = point
    while tree.nodes[node, WORD] >= 0:
        word = np.int64(tree.nodes[node, WORD])
        seat = (word & SLOT) >> SEAT_SHIFT
        first = np.int64(tree.nodes[node, FIRST_CHILD])
        combo = seats.combos[seat]
        is_all_in = _chips(stakes, seat, np.int64(tree.nodes[node, PAID])) == stakes.stacks[seat]
        # A seat that is all-in at the table has no decision there, even where the tree lets it act. It calls, and can
        # win only the pots that it has paid into. A seat without a combo is empty, and checks and calls, too.
        if is_all_in or (seat != seats.own and combo < 0):
            node = first + (word & FOLD_BIT != 0)
            continue
        if seat == seats.own or tables.sizes[node] <= small:
            break
        num_actions = word >> COUNT_SHIFT & 0xFF
        cell = first_cell(tables, node) + np.int64(buckets[word & _STREET, combo]) * num_actions
        bias = seats.biases[seat]
        rest = _point(seed, node, world, num_worlds) * _row_sum(rows, cell, num_actions, word, bias, seats.factor)
        # Rounding may leave `rest` at 0 or above: then the last action of positive probability is taken.
        drawn = np.int64(0)
        for a in range(num_actions):
            if rows[cell + a] > 0:
                drawn = np.int64(a)
                rest -= _weight(word, a, bias, seats.factor) * rows[cell + a]
                if rest < 0.0:
                    break
        node = first + drawn
    return node


@kernel
def add_values(tables, seats, stakes, worlds, asked, node, small, seed, work, sums):
    """Add the value of every hand of the own seat from a node on, summed over all worlds.

    Parameters
    ----------
    tables : RollOutTables
    seats : RollOutSeats
    stakes : Stakes
    worlds : Worlds
    asked : bool[num_combos]
        Whether to value each combo; the other combos cost nothing.
    node : int
        The node where the roll-outs begin.
    small : int
        In subtrees with at most this many nodes, all actions of the other seats are followed.
    seed : uint64
        Determines the random number of each decision and world, see `_point`.
    work : RollOutWorkspace
        Modified in place.
    sums : RollOutSums
        Modified in place.

    Notes
    -----
    The walk is depth-first with an explicit stack, and has two states. While `descending`, it has just arrived at a
    node and looks for the next end or decision. Otherwise ``values[depth]`` holds the values of an action just
    finished, which are added to those of the decision one level above. In both states the walk then turns to the next
    action of the decision at `depth`. If no action is left, it ascends by one level.
    """
    tree, game, rows = tables.tree, tables.game, tables.rows
    own, combos, biases, factor = seats.own, seats.combos, seats.biases, seats.factor
    num_worlds, _, num_combos = worlds.buckets.shape
    lists, num_listed, listed = work.lists, work.num_listed, work.listed
    for world in range(num_worlds):
        ranks, buckets = worlds.ranks[world], worlds.buckets[world]
        count = 0
        for combo in range(num_combos):
            if asked[combo] and worlds.free[combo] and ranks[combo] != 0:
                lists[0, count] = combo
                count += 1
        num_listed[0], listed[0] = count, 0
        for other in range(game.num_seats):
            work.ranks[other] = np.int64(ranks[combos[other]]) if combos[other] >= 0 else -1
        point = seed, world, num_worlds
        depth, at, descending = 0, np.int64(node), True
        while True:
            if descending:
                at = _follow(tables, seats, stakes, small, at, buckets, point)
                hands = lists[listed[depth], : num_listed[listed[depth]]]
                if tree.nodes[at, WORD] < 0:
                    live = ~np.int64(tree.nodes[at, WORD])
                    paid = tree.contributions[tree.nodes[at, NUMBER]]
                    for other in range(game.num_seats):
                        work.chips[other] = _chips(stakes, other, np.int64(paid[other]))
                    fill_end(work.chips, live, own, ranks, hands, work.ranks, work.ends, work.values[depth])
                    descending = False
                else:
                    work.nodes[depth], work.places[depth] = at, -1  # no action followed yet
                    for k in range(len(hands)):
                        work.values[depth, hands[k]] = 0.0
            if not descending:
                if depth == 0:  # the root itself is done
                    break
                depth -= 1
                at = work.nodes[depth]
            word = np.int64(tree.nodes[at, WORD])
            num_actions = word >> COUNT_SHIFT & 0xFF
            first, row = first_cell(tables, at), buckets[word & _STREET]
            seat = (word & SLOT) >> SEAT_SHIFT
            place, bias = np.int64(work.places[depth]), biases[seat]
            if not descending:
                hands = lists[listed[depth + 1], : num_listed[listed[depth + 1]]]
                here, below = work.values[depth], work.values[depth + 1]
                weight = _weight(word, place, bias, factor)
                if seat == own:  # each hand by its own probability of the action
                    for k in range(len(hands)):
                        hand = hands[k]
                        cell = first + np.int64(row[hand]) * num_actions
                        here[hand] += weight * rows[cell + place] * work.scales[depth, hand] * below[hand]
                else:  # a seat with a known hand, in a small subtree: the mean over its actions
                    cell = first + np.int64(row[combos[seat]]) * num_actions
                    share = weight * rows[cell + place] / _row_sum(rows, cell, num_actions, word, bias, factor)
                    for k in range(len(hands)):
                        here[hands[k]] += share * below[hands[k]]
            elif seat == own:  # on arrival: rows are normalised once, not again for each action
                for k in range(len(hands)):
                    cell = first + np.int64(row[hands[k]]) * num_actions
                    total = _row_sum(rows, cell, num_actions, word, bias, factor)
                    work.scales[depth, hands[k]] = 1.0 / total
            # The next action that any of the hands here takes with positive probability.
            hands = lists[listed[depth], : num_listed[listed[depth]]]
            descending = False
            while not descending and place + 1 < num_actions:
                place += 1
                if seat == own:
                    count = 0
                    for k in range(len(hands)):
                        # Written always, and overwritten by the next hand unless `count` advances: no branch.
                        lists[depth + 1, count] = hands[k]
                        count += rows[first + np.int64(row[hands[k]]) * num_actions + place] > 0
                    num_listed[depth + 1], listed[depth + 1] = count, depth + 1
                    descending = count > 0
                else:
                    listed[depth + 1] = listed[depth]  # another seat's action removes no hands: the list is shared
                    descending = rows[first + np.int64(row[combos[seat]]) * num_actions + place] > 0
            if descending:
                work.places[depth] = place
                at = np.int64(tree.nodes[at, FIRST_CHILD]) + place
                depth += 1
        for k in range(num_listed[0]):
            sums.totals[lists[0, k]] += work.values[0, lists[0, k]]
            sums.counts[lists[0, k]] += 1.0


@kernel(inline=True)
def fill_end(contributions, live, own, ranks, hands, known, ends, values):
    """Write the net chips of each hand of a seat at an end of the betting, against known hands.

    Parameters
    ----------
    contributions : int64[num_seats]
        Chips that each seat has put in.
    live : int
        The set of seats that have not folded, as a bit mask.
    own : int
        The seat whose hands are valued.
    ranks : uint16[num_combos]
        The hand rank of each combo on the board.
    hands : int32[n]
        The combos of `own` to value.
    known : int64[num_seats]
        The hand rank of each seat's known hand; the entry of `own` is overwritten.
    ends : float64[2 * MAX_SEATS + 1]
        Workspace.
    values : float64[num_combos]
        Modified in place.
    """
    num_seats = len(contributions)
    if live >> own & 1 == 0 or live == 1 << own:
        won = -np.float64(contributions[own])
        if live == 1 << own:
            won = layered_value(contributions, live, own, num_seats, known)
        for k in range(len(hands)):
            values[hands[k]] = won
        return
    # As the own seat's rank rises, the value changes only where the rank ties or passes that of another seat. So there
    # are at most two values for each of the other seats, and one more; each is computed once.
    ends[:] = np.nan
    for k in range(len(hands)):
        rank = np.int64(ranks[hands[k]])
        step = 0
        for seat in range(num_seats):
            if live >> seat & 1 and seat != own:
                step += (rank > known[seat]) + (rank >= known[seat])
        if np.isnan(ends[step]):
            known[own] = rank
            ends[step] = layered_value(contributions, live, own, num_seats, known)
        values[hands[k]] = ends[step]
