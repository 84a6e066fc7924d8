"""Kernels of roll-outs: the value of every hand of one seat against known hands, over sampled boards.

A world is a whole board and a random number at every decision. The *own* seat is the seat whose hands are valued: its
actions are followed, each with the hands that take it. A hand of large *reach* takes all its actions, any other hand
some of them that are drawn (`_list_actions`). At a decision of another seat, one action is drawn, or all are followed
where the subtree is small. A seat may have a bias: a factor that makes one kind of action likelier, as the continuation
strategies of a search need.

The actions are those of the tree. Values are in chips of the hand at the table, whose game may have other stacks and
blinds than the tree's. `_chips` converts contributions, and no seat puts in more than its stack at the table. A seat
that is all-in at the table calls wherever the tree still lets it act.
"""

import numpy as np

from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_rank
from plurispiel.abstraction.holdem.rules import MAX_SEATS
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

EVERY_ACTION = 1e300
"""The reach of hands that follow all their actions, however deep the tree is."""

NUM_ENDS = 2 * MAX_SEATS + 1
"""The largest number of different values that a seat's hands can have at one end; see `fill_end`."""

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
        _fill_row(game, cards.relabel, cards.entries[0], cards.rows[0], boards, b, 0, buckets)
        if game.num_streets > 1:
            _fill_row(game, cards.relabel, cards.entries[1], cards.rows[1], boards, b, 1, buckets)
        if game.num_streets > 2:
            _fill_row(game, cards.relabel, cards.entries[2], cards.rows[2], boards, b, 2, buckets)
        if game.num_streets > 3:
            _fill_row(game, cards.relabel, cards.entries[3], cards.rows[3], boards, b, 3, buckets)


@kernel(inline=True)
def _fill_row(game, relabel, entries, rows, boards, b, street, buckets):
    """Write the bucket of every combo on one street of board `b`; a copy if board `b - 1` has the same cards there."""
    size = game.board_sizes[street]
    is_same = b > 0
    for k in range(size):
        is_same = is_same and boards[b, k] == boards[b - 1, k]
    if is_same:
        for combo in range(buckets.shape[2]):
            buckets[b, street, combo] = buckets[b - 1, street, combo]
        return
    entry = np.int64(entries[board_rank(game.num_suits, boards[b, :size])])
    row = rows[entry >> PERMUTATION_BITS]
    renamed = relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
    for combo in range(buckets.shape[2]):
        buckets[b, street, combo] = row[renamed[combo]]


@kernel(inline=True)
def _word(seed, node):
    """Return a hash of seed and node: the mixer of SplitMix64."""
    word = seed + np.uint64(node) * _GOLDEN
    word = (word ^ (word >> _S30)) * _MIX1
    word = (word ^ (word >> _S27)) * _MIX2
    return word ^ (word >> _S31)


@kernel(inline=True)
def _point(seed, node, world, num_worlds):
    """Return the random number of a decision in a world: systematic sampling, evenly spaced over the worlds.

    A hash of seed and node gives the offset and the order of the worlds. So a decision has
    the same number in a world whichever hand is valued: all hands are compared with common random numbers.
    """
    word = _word(seed, node)
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
    if bias == 0:
        sum_of_row = 0  # stays an integer for rows of uint8: the same sum as in float64, and faster
        for a in range(num_actions):
            sum_of_row += rows[cell + a]
        return np.float64(sum_of_row)
    total = 0.0
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
def add_values(tables, seats, stakes, worlds, reaches, node, small, seed, work, sums):
    """Add the value of every hand of the own seat from a node on, summed over all worlds.

    Parameters
    ----------
    tables : RollOutTables
    seats : RollOutSeats
    stakes : Stakes
    worlds : Worlds
    reaches : float64[num_combos]
        About how many actions each combo may follow at a time, see `_list_actions`: `EVERY_ACTION` for all, at least 1
        for any other combo to value. Combos with a reach of 0 are not valued, and take no time.
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

    Lists of combos lie one after the other in ``work.lists``. On arrival at an own decision, the lists of all its
    actions are written together, because a combo's row is then read once only.
    """
    tree, game, rows = tables.tree, tables.game, tables.rows
    own, combos, biases, factor = seats.own, seats.combos, seats.biases, seats.factor
    num_worlds, _, num_combos = worlds.buckets.shape
    lists, starts, num_listed = work.lists, work.starts, work.num_listed
    num_every = 0
    for combo in range(num_combos):
        lists[num_every] = combo  # overwritten by the next combo unless `num_every` advances: no branch
        num_every += (reaches[combo] > 0.0) & worlds.free[combo]
    for world in range(num_worlds):
        ranks, buckets = worlds.ranks[world], worlds.buckets[world]
        starts[0], count = num_every, 0
        for k in range(num_every):
            lists[num_every + count] = lists[k]
            work.reaches[num_every + count] = reaches[lists[k]]
            count += ranks[lists[k]] != 0
        num_listed[0], work.tops[0] = count, num_every + count
        for other in range(game.num_seats):
            work.ranks[other] = np.int64(ranks[combos[other]]) if combos[other] >= 0 else -1
        point = seed, world, num_worlds
        depth, at, descending = 0, np.int64(node), True
        while True:
            if descending:
                at = _follow(tables, seats, stakes, small, at, buckets, point)
                hands = lists[starts[depth] : starts[depth] + num_listed[depth]]
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
            seat = (word & SLOT) >> SEAT_SHIFT
            place, bias = np.int64(work.places[depth]), biases[seat]
            if not descending:
                start, end = starts[depth + 1], starts[depth + 1] + num_listed[depth + 1]
                hands, here, below = lists[start:end], work.values[depth], work.values[depth + 1]
                if seat == own:  # each hand by its own probability of the action
                    chances = work.chances[start:end]
                    for k in range(len(hands)):
                        here[hands[k]] += chances[k] * below[hands[k]]
                else:  # a seat with a known hand, in a small subtree: the mean over its actions
                    cell = first_cell(tables, at) + np.int64(buckets[word & _STREET, combos[seat]]) * num_actions
                    share = _weight(word, place, bias, factor) * rows[cell + place]
                    share /= _row_sum(rows, cell, num_actions, word, bias, factor)
                    for k in range(len(hands)):
                        here[hands[k]] += share * below[hands[k]]
            elif seat == own:
                _list_actions(tables, work, depth, at, buckets, bias, factor, point)
            # The next action of positive probability: for any hand here, or for the other seat's known hand.
            descending = False
            while not descending and place + 1 < num_actions:
                place += 1
                if seat == own:
                    descending = work.numbers[depth, place] > 0
                else:
                    cell = first_cell(tables, at) + np.int64(buckets[word & _STREET, combos[seat]]) * num_actions
                    descending = rows[cell + place] > 0
            if descending:
                work.places[depth] = place
                if seat == own:
                    starts[depth + 1] = work.tops[depth] + place * num_listed[depth]
                    num_listed[depth + 1] = work.numbers[depth, place]
                    work.tops[depth + 1] = work.tops[depth] + num_actions * num_listed[depth]
                else:  # another seat's action removes no hands: the list is shared
                    starts[depth + 1], num_listed[depth + 1] = starts[depth], num_listed[depth]
                    work.tops[depth + 1] = work.tops[depth]
                at = np.int64(tree.nodes[at, FIRST_CHILD]) + place
                depth += 1
        for k in range(starts[0], starts[0] + num_listed[0]):
            sums.totals[lists[k]] += work.values[0, lists[k]]
            sums.counts[lists[k]] += 1.0


@kernel(inline=True)
def sum_rows(rows, num_actions, word, bias, factor, hands, buckets, cells, totals):
    """Write the index of the first cell of each hand's row at a decision, and the sum of the row under a bias.

    Parameters
    ----------
    rows : float32 or uint8[n]
        The rows of the decision, from its first cell on.
    num_actions, word : int
        The decision's number of actions, and its word in the tree.
    bias, factor
        As in `RollOutSeats`, for the seat to act.
    hands : uint32[num_hands]
    buckets : int32[num_combos]
        The bucket of each combo on the decision's street.
    cells : uint32[num_hands]
        The indices, counted from the start of `rows`. Modified in place.
    totals : float64[num_hands]
        The sums. Modified in place.
    """
    for k in range(len(hands)):
        cells[k] = buckets[hands[k]] * num_actions
        totals[k] = 0.0
    # The hands are in the inner loops: there are few actions, and the end of a short loop is hard to predict.
    for a in range(num_actions):
        weight, column = _weight(word, a, bias, factor), rows[a:]
        for k in range(len(hands)):
            totals[k] += weight * column[cells[k]]


@kernel(inline=True)
def _list_actions(tables, work, depth, at, buckets, bias, factor, point):
    """Write the list of each action of an own decision: the hands that take the action, and their factors.

    A hand of reach r takes an action of probability p with the chance min(1, r * p). The factor is p divided by this
    chance, so that the value keeps its expectation. Below the action, the hand's reach is max(1, r * p). The draw is
    systematic: while the products r * p of the hand's actions are added up, the hand takes an action whenever the sum
    passes a whole number. The sum begins with a random number below 1.
    """
    word = np.int64(tables.tree.nodes[at, WORD])
    num_actions, first, row = word >> COUNT_SHIFT & 0xFF, first_cell(tables, at), buckets[word & _STREET]
    start, count, top = work.starts[depth], work.num_listed[depth], work.tops[depth]
    hands, rows, totals = work.lists[start : start + count], tables.rows[first:], work.totals[:count]
    cells, reaches, rests, least = work.cells[:count], work.reaches[start : start + count], work.rests, work.least
    sum_rows(rows, num_actions, word, bias, factor, hands, row, cells, totals)
    seed, world, num_worlds = point
    first_point = _word(seed + np.uint64(world), at)
    for k in range(count):
        totals[k] = 1.0 / totals[k]
        # A hash of the combo, so that a hand has the same number in all roll-outs through this decision and world: then
        # errors cancel. Evenly spread numbers by the place in the list leave more of the errors.
        mixed = (first_point ^ (np.uint64(hands[k]) * _GOLDEN)) * _MIX1
        rests[k] = np.float64((mixed ^ (mixed >> _S27)) * _MIX2 >> _S32) * 2.0**-32
        least[k] = 1.0 / reaches[k]
    for a in range(num_actions):
        weight, column, begin = _weight(word, a, bias, factor), rows[a:], top + a * count
        taking, chances, number = work.lists[begin : begin + count], work.chances[begin : begin + count], np.uint64(0)
        following = work.reaches[begin : begin + count]
        for k in range(count):
            chance = weight * column[cells[k]] * totals[k]
            reach = reaches[k] * chance
            rest = rests[k] + reach
            whole = np.floor(rest)
            rests[k] = rest - whole
            # Written always, and overwritten by the next hand unless the number advances: no branch.
            taking[number] = hands[k]
            chances[number] = max(chance, least[k])
            following[number] = max(reach, 1.0)
            number += np.uint64(whole > 0.0)
        work.numbers[depth, a] = number


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
    hands : int32 or uint32[n]
        The combos of `own` to value.
    known : int64[num_seats]
        The hand rank of each seat's known hand; the entry of `own` is overwritten.
    ends : float64[3 * MAX_SEATS + 1]
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
    rivals, count, rival = ends[NUM_ENDS:], 0, 0
    for seat in range(num_seats):
        if live >> seat & 1 and seat != own:
            rivals[count] = known[seat]
            count += 1
            rival = seat
    if count == 1:
        loss, tie, win = duel_values(contributions, own, rival)
        beaten = known[rival]
        for k in range(len(hands)):
            rank = np.int64(ranks[hands[k]])
            values[hands[k]] = win if rank > beaten else (tie if rank == beaten else loss)
        return
    # As the own seat's rank rises, the value changes only where the rank ties or passes that of another seat. So there
    # are at most two values for each of the other seats, and one more; each is computed once.
    ends[:NUM_ENDS] = np.nan
    for k in range(len(hands)):
        rank = np.int64(ranks[hands[k]])
        step = 0
        for r in range(count):
            step += (rank > rivals[r]) + (rank >= rivals[r])
        if np.isnan(ends[step]):
            known[own] = rank
            ends[step] = layered_value(contributions, live, own, num_seats, known)
        values[hands[k]] = ends[step]


@kernel(inline=True)
def duel_values(contributions, own, rival):
    """Return the net chips of a seat if it loses to, ties with or beats the only other seat that has not folded.

    The three are those of `layered_value`, to the bit: all sums are of whole numbers and halves.

    Parameters
    ----------
    contributions : int64[num_seats]
        Chips that each seat has put in.
    own, rival : int
        The two seats.
    """
    put_in = contributions[own]
    matched = min(put_in, contributions[rival])
    both, alone = np.int64(0), np.int64(0)  # chips of folded seats in the layers of both seats, and of `own` alone
    for seat in range(len(contributions)):
        if seat != own and seat != rival:
            chips = min(put_in, contributions[seat])
            both += min(matched, chips)
            alone += chips - min(matched, chips)
    return np.float64(alone - matched), alone + 0.5 * both, np.float64(alone + both + matched)
