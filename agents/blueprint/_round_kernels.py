"""Kernels of public chance sampling on the CPU: the betting rounds of a tree, and one board's regrets in a round.

Arguments that recur:

rounds : BettingRounds
hands : RoundHands
spot : int
    The number of a round.
street : int
    The street whose rounds are visited.
tickets : int64[1]
    A counter (`take_ticket`), from which threads take the rounds of a street.
reaches : RoundReaches
regrets, sums : float[pairs * blocks, 16]
    The tables of the round's street, with the buckets in blocks of sixteen.
work : RoundWorkspace
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import (
    LANES,
    clear,
    larger,
    load,
    spread,
    store,
    transpose_in,
    transpose_out,
    where_positive,
)
from plurispiel.abstraction.machine.tickets import take_ticket

DECISION, SHOWN, FOLDED, NEXT_ROUND = 0, 1, 2, 3
"""The kinds of nodes of a round."""


@kernel
def find_rounds(tree, num_streets, rounds, nodes):
    """Fill all arrays of `rounds` from a betting tree for two, and return the number of rounds and of their nodes.

    Parameters
    ----------
    tree : BettingTree
    nodes : int32[len(rounds.kind)]
        Workspace: the node of the tree in each place.
    """
    num_rounds, size = np.int64(1), np.int64(1)
    nodes[0] = 0
    rounds.root[0] = 0
    spot = np.int64(0)
    rounds.street_first[0] = 0
    street = np.int64(0)
    place = np.int64(0)
    while spot < num_rounds:
        root = rounds.root[spot]
        while street < tree.street[root]:
            street += 1
            rounds.street_first[street] = spot
        if spot:
            nodes[size] = root
            size += 1
        rounds.first[spot] = place
        while place < size:
            node = np.int64(nodes[place])
            rounds.seat[place] = tree.actor[node]
            rounds.num_actions[place] = tree.num_actions[node]
            if tree.actor[node] < 0:
                end = np.int64(tree.first_child[node])
                first, second = tree.contributions[end, 0], tree.contributions[end, 1]
                if tree.folded[end]:
                    rounds.kind[place] = FOLDED
                    won = -first if tree.folded[end] == 1 else second
                    rounds.chips[place, 0], rounds.chips[place, 1] = won, -won
                else:
                    rounds.kind[place] = SHOWN  # chips that the other seat cannot match are returned
                    rounds.chips[place, 0] = rounds.chips[place, 1] = min(first, second)
            elif tree.street[node] != street:
                rounds.kind[place] = NEXT_ROUND
                rounds.link[place] = num_rounds
                rounds.root[num_rounds] = node
                num_rounds += 1
            else:
                rounds.kind[place] = DECISION
                rounds.link[place] = size - rounds.first[spot]
                rounds.pair[place] = tree.row[node]
                for a in range(tree.num_actions[node]):
                    nodes[size] = tree.first_child[node] + a
                    size += 1
            place += 1
        spot += 1
    rounds.first[num_rounds] = size
    while street < num_streets:
        street += 1
        rounds.street_first[street] = num_rounds
    return num_rounds, size


@kernel
def open_rounds(street, tickets, work, rounds, hands, regrets, reaches):
    """Write the reach of both seats at the roots of the rounds that follow the rounds of a street to `reaches`."""
    spot = rounds.street_first[street] + take_ticket(tickets)
    while spot < rounds.street_first[street + 1]:
        _open_round(rounds, hands, spot, regrets, work, reaches)
        spot = rounds.street_first[street] + take_ticket(tickets)


@kernel
def _open_round(rounds, hands, spot, regrets, work, reaches):
    first, last = np.int64(rounds.first[spot]), np.int64(rounds.first[spot + 1])
    if reaches.counts[spot, 0] or reaches.counts[spot, 1]:
        _pass_down(rounds, first, last, regrets, work)
    for place in range(first, last):
        if rounds.kind[place] == NEXT_ROUND:
            below = np.int64(rounds.link[place])
            for seat in range(2):
                count, row = np.int64(0), _row(place - first, seat, work)
                for j in range(reaches.counts[spot, seat]):
                    k = np.int64(reaches.hands[spot, seat, j])
                    bucket = hands.buckets[k]
                    reach = reaches.reach[spot, seat, j] * work.probs[row + bucket // LANES, bucket % LANES]
                    if reach > 0:
                        reaches.hands[below, seat, count] = k
                        reaches.reach[below, seat, count] = reach
                        count += 1
                reaches.counts[below, seat] = count


@kernel(inline=True)
def _row(node, seat, work):
    """Return the first block of a node and a seat in ``work.probs`` and ``work.found``."""
    return (2 * np.int64(node) + seat) * work.num_blocks


@kernel
def _pass_down(rounds, first, last, regrets, work):
    """Fill ``work.probs`` and ``work.chosen`` for the nodes of a round by regret matching."""
    probs, chosen, blocks = work.probs, work.chosen, work.num_blocks
    zero, one = spread(probs, probs.dtype.type(0)), spread(probs, probs.dtype.type(1))
    for block in range(2 * blocks):
        store(probs, block, one)
    for place in range(first, last):
        if rounds.kind[place] != DECISION:
            continue
        seat, num_actions = np.int64(rounds.seat[place]), np.int64(rounds.num_actions[place])
        child, pair = np.int64(rounds.link[place]), np.int64(rounds.pair[place])
        share = spread(probs, probs.dtype.type(1) / probs.dtype.type(num_actions))
        own_row, other_row = _row(place - first, seat, work), _row(place - first, 1 - seat, work)
        for block in range(blocks):
            own, other = load(probs, own_row + block), load(probs, other_row + block)
            total = zero
            for a in range(num_actions):
                total = total + larger(load(regrets, (pair + a) * blocks + block), zero)
            for a in range(num_actions):
                positive = larger(load(regrets, (pair + a) * blocks + block), zero)
                strategy = where_positive(total, positive / total, share)
                store(chosen, (child + a) * blocks + block, strategy)
                store(probs, _row(child + a, seat, work) + block, own * strategy)
                store(probs, _row(child + a, 1 - seat, work) + block, other)


@kernel
def close_rounds(street, tickets, work, rounds, hands, regrets, sums, weights, reaches, values):
    """Add one board's regrets and strategies of a street to the tables, and write the values at the rounds' roots.

    Parameters
    ----------
    regrets, sums
        Modified in place.
    weights : float[2]
        The weights of the regrets and of the sums.
    values : float[num_rounds, 2, num_hands]
        The value of each seat's hands at the root of each round, in chips times the other seat's reach. Those of the
        rounds that follow are read, those of this street are written.
    """
    spot = rounds.street_first[street] + take_ticket(tickets)
    while spot < rounds.street_first[street + 1]:
        _close_round(rounds, hands, spot, regrets, sums, weights, reaches, values, work)
        spot = rounds.street_first[street] + take_ticket(tickets)


@kernel
def _close_round(rounds, hands, spot, regrets, sums, weights, reaches, values, work):
    first, last = np.int64(rounds.first[spot]), np.int64(rounds.first[spot + 1])
    num_hands, blocks = len(hands.buckets), work.num_blocks
    if not (reaches.counts[spot, 0] or reaches.counts[spot, 1]):
        values[spot] = 0
        return
    _pass_down(rounds, first, last, regrets, work)
    _add_reach(hands, spot, reaches, work)
    _add_ends(rounds, hands, spot, reaches, work)
    for seat in range(2):
        total = values[spot, seat]
        _add_lanes(work, seat, total)
        for place in range(first, last):
            if rounds.kind[place] == NEXT_ROUND:
                below, row = values[np.int64(rounds.link[place]), seat], _row(place - first, seat, work)
                clear(work.found, row, blocks)
                for k in range(num_hands):
                    bucket = hands.buckets[k]
                    block, lane = row + bucket // LANES, bucket % LANES
                    work.found[block, lane] += below[k]
                    total[k] += below[k] * work.probs[block, lane]
    _pass_up(rounds, spot, reaches, regrets, sums, weights, work)


@kernel
def _add_reach(hands, spot, reaches, work):
    """Write the reach of both seats by bucket to ``work.here``."""
    clear(work.here, np.int64(0), np.int64(len(work.here)))
    for seat in range(2):
        first = seat * work.num_blocks
        for j in range(reaches.counts[spot, seat]):
            bucket = hands.buckets[reaches.hands[spot, seat, j]]
            work.here[first + bucket // LANES, bucket % LANES] += reaches.reach[spot, seat, j]


@kernel
def _add_lanes(work, seat, total):
    """Write the sum of the sixteen lanes of a seat's half of ``work.roots`` for each hand to `total`."""
    spare, first = work.spare, seat * len(total)
    for start in range(0, len(total), LANES):
        transpose_in(work.roots, work.lanes, np.int64(0), np.int64(first + start), spare, np.int64(0))
        won = load(spare, 0)
        for lane in range(1, LANES):
            won = won + load(spare, lane)
        store(spare, 0, won)
        for k in range(LANES):
            total[start + k] = spare[0, k]


@kernel
def _add_ends(rounds, hands, spot, reaches, work):
    """Compute the values of a round's folds and showdowns for both seats, sixteen ends at a time.

    The values by bucket are written to ``work.found``, and those at the root added to ``work.roots``.
    """
    first, last = np.int64(rounds.first[spot]), np.int64(rounds.first[spot + 1])
    taken, is_first = np.int64(0), True
    for kind in range(SHOWN, FOLDED + 1):
        for place in range(first, last):
            if rounds.kind[place] == kind:
                work.ends[taken] = place
                taken += 1
                if taken == LANES:
                    _visit_ends(rounds, hands, spot, taken, reaches, is_first, work)
                    taken, is_first = np.int64(0), False
    if taken or is_first:  # a round without ends needs zeros
        _visit_ends(rounds, hands, spot, taken, reaches, is_first, work)


@kernel
def _visit_ends(rounds, hands, spot, taken, reaches, is_first, work):
    """Compute the values of the ends in ``work.ends``; showdowns stand before folds."""
    half = np.int64(len(work.roots) // 2)
    _take_ends(rounds, np.int64(rounds.first[spot]), taken, work)
    is_shown = taken and rounds.kind[work.ends[0]] == SHOWN
    for seat in range(2):
        clear(work.won, np.int64(0), np.int64(len(work.won)))
        count = np.int64(reaches.counts[spot, 1 - seat])
        if count:  # otherwise the other seat never plays to here, and all values are 0
            others, reach = reaches.hands[spot, 1 - seat], reaches.reach[spot, 1 - seat]
            _add_hands(hands, others, reach, count, seat, is_shown, is_first, work)
        elif is_first:
            clear(work.roots, seat * half, half)
        for block in range(work.num_blocks):
            transpose_out(work.won, LANES * block, work.found, work.rows[seat], np.int64(0), np.int64(block))


@kernel
def _take_ends(rounds, first, taken, work):
    """Write the probabilities and chips of the ends in ``work.ends`` to the lanes; the last node's row has zeros."""
    for seat in range(2):
        for lane in range(LANES):
            node, chips, is_shown = work.most_nodes, np.int32(0), False
            if lane < taken:
                place = work.ends[lane]
                node, chips, is_shown = place - first, rounds.chips[place, seat], rounds.kind[place] == SHOWN
            work.rows[seat, lane] = _row(node, seat, work)
            work.chips[seat, lane] = chips
            work.chips[2, lane] = is_shown
        for block in range(work.num_blocks):
            into = LANES * (seat * work.num_blocks + block)
            transpose_in(work.probs, work.rows[seat], np.int64(0), np.int64(block), work.plays, into)


@kernel
def _add_hands(hands, others, reach, count, seat, is_shown, is_first, work):
    """Add the values of a seat's hands at sixteen ends.

    At a fold, a hand's value is the reach of all hands of the other seat that share no card with it, times the chips.
    At a showdown, it is the reach of weaker hands minus that of stronger hands, without those that share a card. Both
    are a sum over all hands, minus the sums over the hands with each card of the hand. In such a sum, a hand of the
    other seat counts +1 at a fold. At a showdown, it counts -1 before its rank, 0 at its rank and +1 after.

    Parameters
    ----------
    others, reach, count : int32[num_hands], float[num_hands], int
        The hands of the other seat that reach the round, by rank, their reach and their number.
    is_shown : bool
        Whether a showdown is among the ends.
    is_first : bool
        Whether ``work.roots`` is written, not added to.
    """
    mass, shown, chips = work.mass, load(work.chips, 2), load(work.chips, seat)
    mine, root = seat * len(work.won), seat * (len(work.roots) // 2)
    zero = spread(mass, mass.dtype.type(0))
    total = zero
    clear(mass, np.int64(0), np.int64(len(mass)))
    for j in range(count):
        weight = _weight(hands, others, reach, j, seat, work)
        weight = where_positive(shown, zero - weight, weight)
        total = total + weight
        _add_to_cards(hands, others[j], weight, mass)
    num_hands, start = np.int64(len(hands.buckets)), np.int64(0)
    at_rank, next_other = np.int64(0), np.int64(0)
    bucket = np.int64(hands.buckets[0])
    won, play = load(work.won, bucket), load(work.plays, mine + bucket)
    while start < num_hands:
        stop = num_hands
        if is_shown:
            # Hands of the other seat at the rank that was visited last come to stand below.
            for j in range(at_rank, next_other):
                weight = where_positive(shown, _weight(hands, others, reach, j, seat, work), zero)
                total = total + weight
                _add_to_cards(hands, others[j], weight, mass)
            at_rank = next_other
            if next_other < count:
                stop = np.int64(hands.rank_start[others[next_other]])
                if stop == start:
                    stop = np.int64(hands.rank_stop[others[next_other]])
                    while next_other < count and others[next_other] < stop:
                        weight = where_positive(shown, _weight(hands, others, reach, next_other, seat, work), zero)
                        total = total + weight
                        _add_to_cards(hands, others[next_other], weight, mass)
                        next_other += 1
        for k in range(start, stop):
            if hands.buckets[k] != bucket:  # hands of neighbouring ranks mostly share a bucket
                store(work.won, bucket, won)
                bucket = np.int64(hands.buckets[k])
                won, play = load(work.won, bucket), load(work.plays, mine + bucket)
            held = load(mass, np.int64(hands.holes[k, 0])) + load(mass, np.int64(hands.holes[k, 1]))
            value = (total - held) * chips
            won = won + value
            if is_first:
                store(work.roots, root + k, value * play)
            else:
                store(work.roots, root + k, load(work.roots, root + k) + value * play)
        start = stop
    store(work.won, bucket, won)
    # At a fold, the same hand was subtracted twice, once for each of its cards.
    for j in range(count):
        bucket, into = np.int64(hands.buckets[others[j]]), root + np.int64(others[j])
        value = where_positive(shown, zero, _weight(hands, others, reach, j, seat, work)) * chips
        store(work.won, bucket, load(work.won, bucket) + value)
        store(work.roots, into, load(work.roots, into) + value * load(work.plays, mine + bucket))


@kernel(inline=True)
def _weight(hands, others, reach, j, seat, work):
    """Return the reach of a hand of the other seat at sixteen ends."""
    theirs = (1 - seat) * len(work.won) + np.int64(hands.buckets[others[j]])
    return spread(work.plays, reach[j]) * load(work.plays, theirs)


@kernel(inline=True)
def _add_to_cards(hands, k, weight, mass):
    """Add a hand's reach to the sums of its cards."""
    one, two = np.int64(hands.holes[k, 0]), np.int64(hands.holes[k, 1])
    store(mass, one, load(mass, one) + weight)
    store(mass, two, load(mass, two) + weight)


@kernel
def _pass_up(rounds, spot, reaches, regrets, sums, weights, work):
    """Compute the values of decisions from those of their children, and add regrets and strategies to the tables.

    A seat's regrets are 0 if the other seat does not reach the round, its strategies have no weight if it does not
    itself: then the tables, whose reading and writing takes much of the time, are left alone.
    """
    first, last = np.int64(rounds.first[spot]), np.int64(rounds.first[spot + 1])
    found, probs, chosen, blocks = work.found, work.probs, work.chosen, work.num_blocks
    regret_weight, sum_weight = spread(found, weights[0]), spread(found, weights[1])
    zero = spread(found, found.dtype.type(0))
    for place in range(last - 1, first - 1, -1):
        if rounds.kind[place] != DECISION:
            continue
        seat, num_actions = np.int64(rounds.seat[place]), np.int64(rounds.num_actions[place])
        child, pair = np.int64(rounds.link[place]), np.int64(rounds.pair[place])
        own_row, other_row = _row(place - first, seat, work), _row(place - first, 1 - seat, work)
        has_regrets = reaches.counts[spot, 1 - seat] > 0
        is_summed = weights[1] > 0 and reaches.counts[spot, seat] > 0
        for block in range(blocks):
            own, other = zero, zero
            for a in range(num_actions):
                strategy = load(chosen, (child + a) * blocks + block)
                own = own + load(found, _row(child + a, seat, work) + block) * strategy
                other = other + load(found, _row(child + a, 1 - seat, work) + block)
            store(found, own_row + block, own)
            store(found, other_row + block, other)
            for a in range(num_actions if has_regrets else 0):
                into = (pair + a) * blocks + block
                gain = load(found, _row(child + a, seat, work) + block) - own
                store(regrets, into, load(regrets, into) + gain * regret_weight)
            here = load(work.here, seat * blocks + block) * sum_weight
            for a in range(num_actions if is_summed else 0):
                into = (pair + a) * blocks + block
                store(sums, into, load(sums, into) + here * load(probs, _row(child + a, seat, work) + block))
