"""Kernels of Monte Carlo CFR on one street with any number of players: all hands of one against sampled hands.

An iteration deals hands to everybody but the traverser, by what is believed of them, and the rest of the board. The
traverser's actions are followed for all of its hands at once; of the others' one is drawn. At a leaf each player who
can still act has chosen how the blueprint goes on for it, and the rest is rolled out. Regrets and averages are weighted
by the number of the iteration (linear CFR).

A decision or a leaf has a table for each seat that chooses there: `num_combos` rows of so many entries.
"""

import numpy as np

from plurispiel.abstraction.holdem.hand_rank_kernels import fill_ranks
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import next_below, next_float, next_word
from plurispiel.agents.blueprint.roll_out_kernels import add_values, fill_buckets, fill_end
from plurispiel.agents.blueprint.roll_outs import RollOutSeats, RollOutSums, Stakes, Worlds
from plurispiel.agents.blueprint.traversal_kernels import draw_by_regrets, match_regrets

DECISION, END, LEAF = 0, 1, 2
"""Kinds of node."""

_MAX_DEALS = 1000


@kernel
def deal_others(game, combos, live, seat, cumulative, stream, work):
    """Deal hands to the live seats but one, and the rest of the board; return whether that worked.

    All are dealt by themselves and again while any two share a card: so joint chances are right.

    Parameters
    ----------
    game : StreetGame
    combos : uint8[num_combos, num_hole_cards]
    live : int
        The set of seats that have not folded.
    cumulative : float64[num_seats, num_combos]
        Sums of beliefs.
    stream : uint64[4]
    work : MultiwayWorkspace
        Modified in place: `held`, `used`, `boards`.
    """
    num_seats, num_combos = cumulative.shape
    num_hole = combos.shape[1]
    for _ in range(_MAX_DEALS):
        work.used[:] = False
        for k in range(game.num_dealt):
            work.used[work.boards[0, k]] = True
        is_free = True
        for other in range(num_seats):
            work.held[other] = -1
            if not is_free or other == seat or not live >> other & 1:
                continue
            row = cumulative[other]
            point = next_float(stream) * row[num_combos - 1]
            low, high = 0, num_combos - 1
            while low < high:
                middle = (low + high) >> 1
                if row[middle] > point:
                    high = middle
                else:
                    low = middle + 1
            work.held[other] = low
            for k in range(num_hole):
                card = combos[low, k]
                is_free = is_free and not work.used[card]
                work.used[card] = True
        if is_free:
            break
    else:
        return False
    for k in range(game.num_dealt, work.boards.shape[1]):
        card = game.deck[next_below(stream, len(game.deck))]
        while work.used[card]:
            card = game.deck[next_below(stream, len(game.deck))]
        work.boards[0, k] = card
        work.used[card] = True
    return True


@kernel
def prepare_deal(tables, combos, game, roll_game, cards, beliefs, seat, work):
    """Find out what the dealt cards mean to everybody, and list the hands that the traverser may hold.

    Modified in place: `work.ranks`, `buckets`, `free`, `known`, `hands`. Returns the number of hands.
    """
    num_seats, num_combos = beliefs.shape
    fill_ranks(tables, combos, work.boards, work.ranks)
    if game.has_leaves:
        fill_buckets(roll_game, cards, work.boards, work.buckets)
    work.used[:] = False
    for other in range(num_seats):
        work.known[other] = -1
        if work.held[other] >= 0:
            work.known[other] = np.int64(work.ranks[0, work.held[other]])
            for k in range(combos.shape[1]):
                work.used[combos[work.held[other], k]] = True
    count = 0
    for combo in range(num_combos):
        is_free = work.ranks[0, combo] != 0 and beliefs[seat, combo] > 0.0
        for k in range(combos.shape[1]):
            is_free = is_free and not work.used[combos[combo, k]]
        work.free[combo] = is_free
        work.hands[count] = combo
        count += is_free
    return count


@kernel(inline=True)
def _draw(regrets, frozen, cell, num_actions, is_frozen, stream):
    """Return an action drawn from a frozen row, or in proportion to positive regrets."""
    if not (is_frozen and frozen[cell] >= 0.0):
        return draw_by_regrets(regrets, cell, num_actions, stream)
    point = next_float(stream)
    for a in range(num_actions - 1):
        point -= frozen[cell + a]
        if point < 0.0:
            return a
    return num_actions - 1


@kernel(inline=True)
def _match(regrets, frozen, cell, num_actions, is_frozen, strategy):
    """Write a row's strategy, and return whether it is free to change."""
    if is_frozen and frozen[cell] >= 0.0:
        for a in range(num_actions):
            strategy[a] = frozen[cell + a]
        return False
    match_regrets(regrets, cell, num_actions, strategy)
    return True


@kernel(inline=True)
def _mix(regrets, frozen, table, num_actions, is_frozen, weight, hands, below, strategy, values):
    """Write what hands win by their strategies, and learn. Modified in place: `regrets`, `values`."""
    for k in range(len(hands)):
        hand = np.int64(hands[k])
        cell = table + hand * num_actions
        is_open = _match(regrets, frozen, cell, num_actions, is_frozen, strategy)
        value = 0.0
        for a in range(num_actions):
            value += strategy[a] * below[a, hand]
        values[hand] = value
        if is_open:
            for a in range(num_actions):
                regrets[cell + a] += np.float32(weight * (below[a, hand] - value))


@kernel(inline=True)
def _fill_leaf(
    tree, roll, node, seat, num_seats, num_policies, factor, weight, seed, hands, regrets, frozen, stream, work, values
):
    """Write what hands win at a leaf, where everybody chooses how to go on, and learn to choose."""
    work.biases[:] = 0
    work.tree_held[:] = -1
    live = np.int64(tree.live[node])
    for other in range(num_seats):
        place = np.int64(tree.tree_seats[node, other])
        if other == seat or place < 0 or not live >> other & 1:
            continue
        work.tree_held[place] = work.held[other]
        table = np.int64(tree.tables[node, other])
        if table >= 0:
            cell = table + work.held[other] * num_policies
            work.biases[place] = _draw(regrets, frozen, cell, num_policies, False, stream)
    own, table = np.int64(tree.tree_seats[node, seat]), np.int64(tree.tables[node, seat])
    level = work.below[work.below.shape[0] - 1]
    stakes = Stakes(
        tree.paid[node],
        tree.put_in[node],
        tree.most_paid[node],
        tree.most_put_in[node],
        tree.stacks[node],
        tree.scales[node],
    )
    seats = RollOutSeats(own, work.tree_held, work.biases, factor)
    worlds, sums = Worlds(work.ranks, work.buckets, work.free), RollOutSums(work.totals, work.counts)
    for policy in range(num_policies if table >= 0 else 1):
        work.biases[own] = policy
        for k in range(len(hands)):
            work.totals[hands[k]] = 0.0
        add_values(roll, seats, stakes, worlds, work.free, np.int64(tree.places[node]), 0, seed, work.roll, sums)
        for k in range(len(hands)):
            level[policy, hands[k]] = work.totals[hands[k]]
    if table >= 0:
        _mix(regrets, frozen, table, num_policies, False, weight, hands, level, work.strategy, values)
    else:
        for k in range(len(hands)):
            values[hands[k]] = level[0, hands[k]]


@kernel
def learn(tree, roll, seat, num_policies, factor, weight, count, regrets, frozen, stream, work):
    """Walk the street for one seat with the cards that were dealt.

    Parameters
    ----------
    tree : StreetTree
    roll : RollOutTables
    num_policies, factor : int, float
        Continuations at leaves, and how much likelier each makes its kind of action.
    weight : float
        Of this iteration.
    count : int
        Of `work.hands`.
    regrets : float32[num_cells]
        Modified in place.
    frozen : float32[cells of decisions]
        Strategies that are held; negative where a row is free.
    stream : uint64[4]
    work : MultiwayWorkspace
    """
    num_seats = tree.contributions.shape[1]
    hands = work.hands[:count]
    values = work.values
    seed = next_word(stream)
    node, depth = np.int64(0), -1
    while True:
        while tree.kinds[node] == DECISION and tree.actors[node] != seat:
            other = np.int64(tree.actors[node])
            num_actions = np.int64(tree.num_actions[node])
            cell = np.int64(tree.tables[node, other]) + work.held[other] * num_actions
            drawn = _draw(regrets, frozen, cell, num_actions, tree.is_frozen[node], stream)
            node = np.int64(tree.first_child[node]) + drawn
        if tree.kinds[node] == DECISION:
            depth += 1
            work.nodes[depth], work.numbers[depth] = node, 0
            node = np.int64(tree.first_child[node])
            continue
        if tree.kinds[node] == END or not np.int64(tree.live[node]) >> seat & 1:
            live = np.int64(tree.live[node])
            fill_end(tree.contributions[node], live, seat, work.ranks[0], hands, work.known, work.ends, values)
        else:
            _fill_leaf(
                tree,
                roll,
                node,
                seat,
                num_seats,
                num_policies,
                factor,
                weight,
                seed,
                hands,
                regrets,
                frozen,
                stream,
                work,
                values,
            )
        # `values` holds what the action that was followed is worth.
        while depth >= 0:
            node, number = work.nodes[depth], work.numbers[depth]
            num_actions = np.int64(tree.num_actions[node])
            for k in range(len(hands)):
                work.below[depth, number, hands[k]] = values[hands[k]]
            if number + 1 < num_actions:
                work.numbers[depth] = number + 1
                node = np.int64(tree.first_child[node]) + number + 1
                break
            table = np.int64(tree.tables[node, seat])
            is_frozen = tree.is_frozen[node]
            _mix(
                regrets,
                frozen,
                table,
                num_actions,
                is_frozen,
                weight,
                hands,
                work.below[depth],
                work.strategy,
                values,
            )
            depth -= 1
        else:
            return


@kernel
def add_averages(tree, seat, num_policies, weight, beliefs, regrets, frozen, sums, work):
    """Add a seat's current strategies to their sums, by its own reach. Modified in place: `sums`.

    Parameters
    ----------
    sums : float32[cells of decisions] or float32[num_cells]
    beliefs : float64[num_combos]
        Hands of weight 0 are left alone.
    """
    num_combos = len(beliefs)
    reach = work.reach
    for combo in range(num_combos):
        reach[0, combo] = beliefs[combo] > 0.0
    for node in range(len(tree.kinds)):
        if tree.kinds[node] == END or not 0 <= tree.tables[node, seat] < len(sums):
            continue
        here = reach[tree.reach_rows[node, seat]]
        if tree.kinds[node] == LEAF:
            for combo in range(num_combos):
                if here[combo] > 0.0:
                    cell = np.int64(tree.tables[node, seat]) + combo * num_policies
                    _match(regrets, frozen, cell, num_policies, False, work.strategy)
                    for a in range(num_policies):
                        sums[cell + a] += np.float32(weight * here[combo] * work.strategy[a])
            continue
        num_actions = np.int64(tree.num_actions[node])
        table, first = np.int64(tree.tables[node, seat]), np.int64(tree.first_child[node])
        for combo in range(num_combos):
            if not here[combo] > 0.0:
                for a in range(num_actions):
                    reach[tree.reach_rows[first + a, seat], combo] = 0.0
                continue
            cell = table + combo * num_actions
            _match(regrets, frozen, cell, num_actions, tree.is_frozen[node], work.strategy)
            for a in range(num_actions):
                share = here[combo] * work.strategy[a]
                sums[cell + a] += np.float32(weight * share)
                reach[tree.reach_rows[first + a, seat], combo] = share
