"""Kernels of external-sampling MCCFR on a betting tree with buckets: deals, traversals, averages, discounts.

A cell is a (decision, action, bucket): ``base[street] + bucket * pairs[street] + row[node] + a``. Values are chips
of the traverser, sampled with everybody else's probabilities and so weighted by nothing.
"""

import numpy as np

from plurispiel.abstraction._jit import kernel
from plurispiel.abstraction.holdem._betting_kernels import FOLD
from plurispiel.abstraction.holdem._boards_kernels import PERMUTATION_BITS, board_rank
from plurispiel.abstraction.holdem._hand_rank_kernels import rank_word
from plurispiel.abstraction.xoshiro import deal, next_float


@kernel
def deal_hand(tables, game, cards, stream, work):
    """Deal a hand, and find every seat's buckets and rank.

    Parameters
    ----------
    tables : RankTables
    game : GameArrays
    cards : CardArrays
    stream : uint64[4]
    work : TraversalWorkspace
        Modified in place: `deck`, `buckets`, `ranks`.
    """
    num_hole, num_seats = game.num_hole_cards, game.num_seats
    deal(stream, work.deck, num_seats * num_hole + game.num_board_cards)
    board = work.deck[num_seats * num_hole : num_seats * num_hole + game.num_board_cards]
    word = tables.starts[num_hole + game.num_board_cards]
    masks = np.int64(0)
    for k in range(game.num_board_cards):
        word += tables.words[board[k]]
        masks |= tables.masks[board[k]]
    for seat in range(num_seats):
        hole = work.deck[seat * num_hole : (seat + 1) * num_hole]
        seat_word, seat_masks = word, masks
        for k in range(num_hole):
            seat_word += tables.words[hole[k]]
            seat_masks |= tables.masks[hole[k]]
        work.ranks[seat] = rank_word(tables, seat_word, seat_masks)
        work.combos[seat] = board_rank(game.num_suits, hole)
    _fill_buckets(game, cards, 0, cards.entries[0], cards.rows[0], board, work)
    if game.num_streets > 1:
        _fill_buckets(game, cards, 1, cards.entries[1], cards.rows[1], board, work)
    if game.num_streets > 2:
        _fill_buckets(game, cards, 2, cards.entries[2], cards.rows[2], board, work)
    if game.num_streets > 3:
        _fill_buckets(game, cards, 3, cards.entries[3], cards.rows[3], board, work)


@kernel(inline=True)
def _fill_buckets(game, cards, street, entries, rows, board, work):
    """Write every seat's bucket on one street. Modified in place: `work.buckets`."""
    entry = np.int64(entries[board_rank(game.num_suits, board[: game.board_sizes[street]])])
    row = rows[entry >> PERMUTATION_BITS]
    relabel = cards.relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
    for seat in range(game.num_seats):
        work.buckets[seat, street] = row[relabel[work.combos[seat]]]


@kernel(inline=True)
def end_value(tree, end, seat, num_seats, ranks):
    """Return the chips that a seat, which has not folded, wins at an end of the betting."""
    contributions, folded = tree.contributions[end], np.int64(tree.folded[end])
    own = contributions[seat]
    pot = np.int64(0)
    best, num_winners = np.int64(-1), 0
    level = True
    num_live = 0
    for other in range(num_seats):
        pot += contributions[other]
        if folded >> other & 1 == 0:
            num_live += 1
            level &= contributions[other] == own
            if ranks[other] > best:
                best, num_winners = ranks[other], 1
            elif ranks[other] == best:
                num_winners += 1
    if num_live == 1:
        return np.float64(pot - own)
    if level:
        return pot / num_winners - own if ranks[seat] == best else -np.float64(own)
    # Side pots: layer by layer up to the own contribution.
    value = 0.0
    floor = np.int64(0)
    while floor < own:
        ceiling = np.int64(own)
        num_sharing, num_winners, best = 0, 0, np.int64(-1)
        for other in range(num_seats):
            if contributions[other] > floor:
                num_sharing += 1
                ceiling = min(ceiling, np.int64(contributions[other]))
                if folded >> other & 1 == 0:
                    if ranks[other] > best:
                        best, num_winners = ranks[other], 1
                    elif ranks[other] == best:
                        num_winners += 1
        size = ceiling - floor
        value += size * (num_sharing - num_winners) / num_winners if ranks[seat] == best else -np.float64(size)
        floor = ceiling
    return value


@kernel(inline=True)
def match_regrets(regrets, cell, num_actions, strategy):
    """Write the strategy proportional to positive regrets, uniform without any, and return whether there is one."""
    total = 0.0
    for a in range(num_actions):
        positive = max(np.float64(regrets[cell + a]), 0.0)
        strategy[a] = positive
        total += positive
    if total > 0.0:
        for a in range(num_actions):
            strategy[a] /= total
        return True
    for a in range(num_actions):
        strategy[a] = 1.0 / num_actions
    return False


@kernel(inline=True)
def _draw(strategy, num_actions, stream):
    """Return an action drawn from a strategy."""
    point = next_float(stream)
    for a in range(num_actions - 1):
        point -= strategy[a]
        if point < 0.0:
            return a
    return num_actions - 1


@kernel(inline=True)
def _explore(tree, game, settings, regrets, cell, node, matched, explored, strategy):
    """Mark the actions that a pruning traversal follows. Modified in place: `explored`, `strategy`.

    Actions of very negative regret are left out, but not on the last street nor where they end the hand. Their
    probability is 0, unless no regret is positive: then those that are left share it.
    """
    num_actions = tree.num_actions[node]
    last_street = tree.street[node] == game.num_streets - 1
    count = 0
    for a in range(num_actions):
        child = tree.first_child[node] + a
        ends = tree.action[child] == FOLD or tree.actor[child] < 0
        explored[a] = last_street or ends or regrets[cell + a] > settings.prune_below
        count += explored[a]
    if count == num_actions:
        return
    if count == 0:
        for a in range(num_actions):
            explored[a] = True
        return
    if not matched:
        for a in range(num_actions):
            strategy[a] = 1.0 / count if explored[a] else 0.0


@kernel
def traverse(tree, game, settings, regrets, stream, work, traverser, prune):
    """Walk the betting of a dealt hand for one seat, update its regrets and return how many nodes were met.

    Parameters
    ----------
    tree : BettingTree
    game : GameArrays
    settings : TraversalSettings
    regrets : int32 or float64[num_cells]
        Modified in place.
    stream : uint64[4]
    work : TraversalWorkspace
    traverser : int
    prune : bool
    """
    nodes, cells, places, counts = work.nodes, work.cells, work.places, work.counts
    values, strategies, explored = work.values, work.strategies, work.explored
    buckets, ranks = work.buckets, work.ranks
    node, depth, value = np.int64(0), -1, 0.0
    num_nodes = 0
    descending = True
    while True:
        if descending:
            num_nodes += 1
            actor = tree.actor[node]
            if actor < 0:
                value = end_value(tree, tree.first_child[node], traverser, game.num_seats, ranks)
                if depth < 0:
                    return num_nodes
                descending = False
                continue
            street, num_actions = tree.street[node], np.int64(tree.num_actions[node])
            cell = game.base[street] + buckets[actor, street] * game.pairs[street] + tree.row[node]
            strategy = strategies[depth + 1]
            matched = match_regrets(regrets, cell, num_actions, strategy)
            if actor != traverser:
                node = np.int64(tree.first_child[node]) + _draw(strategy, num_actions, stream)
                continue
            depth += 1
            nodes[depth], cells[depth], counts[depth] = node, cell, num_actions
            places[depth] = -1
            for a in range(num_actions):
                explored[depth, a] = True
            if prune:
                _explore(tree, game, settings, regrets, cell, node, matched, explored[depth], strategy)
            descending = False
        else:
            values[depth, places[depth]] = value
        node, place = nodes[depth], places[depth] + 1
        while place < counts[depth] and not explored[depth, place]:
            place += 1
        places[depth] = place
        if place < counts[depth]:
            child = np.int64(tree.first_child[node]) + place
            if tree.action[child] == FOLD:
                num_nodes += 1
                value = -np.float64(tree.paid[node])
            else:
                node = child
                descending = True
            continue
        mean = 0.0
        for a in range(counts[depth]):
            if explored[depth, a]:
                mean += strategies[depth, a] * values[depth, a]
        cell = cells[depth]
        for a in range(counts[depth]):
            if explored[depth, a]:
                change = values[depth, a] - mean
                if settings.rounds:
                    change = np.rint(change)
                regrets[cell + a] = min(max(regrets[cell + a] + change, settings.floor), settings.ceiling)
        value = mean
        depth -= 1
        if depth < 0:
            return num_nodes


@kernel
def add_strategy(tree, game, last_street, regrets, sums, stream, work, seat):
    """Add one seat's strategy, where it plays to on a dealt hand, to its average: all lines of the others.

    Parameters
    ----------
    last_street : int
        The last street with an average.
    sums : float64[cells of these streets]
        Modified in place.
    stream : uint64[4]
    work : TraversalWorkspace
    seat : int

    Notes
    -----
    The own action is drawn (Brown and Sandholm 2019, Algorithm 1), so that a decision is met in proportion to the
    own reach; its whole strategy is added instead of the one action.
    """
    nodes, places, strategy = work.nodes, work.places, work.strategies[0]
    depth = 0
    nodes[0], places[0] = 0, 0
    while depth >= 0:
        node = nodes[depth]
        actor, street, num_actions = tree.actor[node], tree.street[node], np.int64(tree.num_actions[node])
        if actor < 0 or street > last_street or places[depth] == num_actions:
            depth -= 1
            continue
        first = np.int64(tree.first_child[node])
        if actor == seat:
            cell = game.base[street] + work.buckets[actor, street] * game.pairs[street] + tree.row[node]
            match_regrets(regrets, cell, num_actions, strategy)
            for a in range(num_actions):
                sums[cell + a] += strategy[a]
            place = _draw(strategy, num_actions, stream)
            places[depth] = num_actions
            if tree.action[first + place] == FOLD:
                continue
        else:
            place = places[depth]
            places[depth] += 1
        depth += 1
        nodes[depth], places[depth] = first + place, 0


@kernel
def run_iterations(
    tables, tree, game, cards, settings, regrets, sums, first, last, prune_from, average_from, stream, work, counters
):
    """Do iterations: deal, and traverse once for every seat.

    Parameters
    ----------
    tables : RankTables
    cards : CardArrays
    sums : float64[cells up to settings.last_average_street]
    first, last : int
        Numbers of the first iteration and the one after the last.
    prune_from, average_from : int
        First iterations that prune, and that may add to the average.
    stream : uint64[4]
        Modified in place.
    work : TraversalWorkspace
    counters : int64[2]
        Traversals and nodes. Modified in place.
    """
    for iteration in range(first, last):
        deal_hand(tables, game, cards, stream, work)
        for seat in range(game.num_seats):
            prune = iteration >= prune_from and next_float(stream) < settings.prune_share
            counters[1] += traverse(tree, game, settings, regrets, stream, work, seat, prune)
            counters[0] += 1
        if iteration >= average_from and iteration % settings.average_every == 0:
            for seat in range(game.num_seats):
                add_strategy(tree, game, settings.last_average_street, regrets, sums, stream, work, seat)


@kernel
def discount_cells(cells, factor, rounds):
    """Multiply all cells; memory that was never touched stays so. Modified in place: `cells`."""
    for c in range(len(cells)):
        if cells[c] != 0:
            cells[c] = np.rint(cells[c] * factor) if rounds else cells[c] * factor


@kernel
def add_snapshot(tree, game, decisions, first_street, num_buckets, regrets, sums, strategy):
    """Add the current strategy of the later streets to their sums.

    Parameters
    ----------
    decisions : int32[n]
        Decision nodes of the streets from `first_street` on.
    num_buckets : int64[num_streets]
    sums : float32[num_cells]
        By cell. Modified in place. Decisions where nothing was learnt are left alone.
    strategy : float64[MAX_ACTIONS]
        Workspace.
    """
    for d in range(len(decisions)):
        node = np.int64(decisions[d])
        street, num_actions = tree.street[node], np.int64(tree.num_actions[node])
        if street < first_street:
            continue
        for bucket in range(num_buckets[street]):
            cell = game.base[street] + bucket * game.pairs[street] + tree.row[node]
            visited = False
            for a in range(num_actions):
                visited |= regrets[cell + a] != 0
            if visited:
                match_regrets(regrets, cell, num_actions, strategy)
                for a in range(num_actions):
                    sums[cell + a] += np.float32(strategy[a])
