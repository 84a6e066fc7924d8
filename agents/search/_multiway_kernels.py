"""Kernels of Monte Carlo CFR on one street with any number of players: all hands of one seat against sampled hands.

A traversal deals a hand from its range to every live seat but the traverser, and then the rest of the board. The
traverser's actions are all followed, for all of its hands at once. One action is sampled at each decision of another
seat. So values are chips without reach weights: outcomes of chance and actions of other seats are drawn as often as
they are likely (external sampling). Regrets and averages are weighted by the number of the iteration (Linear CFR).

At a leaf each seat that can still act chooses a continuation strategy, unseen by the others, and the rest of the hand
is rolled out with the choices.

A decision or a leaf has a table for each seat that chooses there: `num_combos` rows, one cell for each choice.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.hand_rank_kernels import fill_ranks
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import next_below, next_float, next_word
from plurispiel.agents.blueprint.roll_out_kernels import add_values, fill_buckets, fill_end
from plurispiel.agents.blueprint.roll_outs import RollOutSeats, RollOutSums, Stakes, Worlds
from plurispiel.agents.blueprint.traversal_kernels import draw_by_regrets, match_regrets

DECISION, END, LEAF = 0, 1, 2
"""Kinds of node."""

_MAX_DEALS = 1000  # attempts at a deal: without a limit, ranges without compatible hands would be dealt for ever


class StreetTables(NamedTuple):
    """The regrets of a search, and the strategies that it may not change.

    Attributes
    ----------
    regrets : float32[num_cells]
        Regrets of actions at decisions, then of choices at leaves.
    frozen : float32[num_decision_cells]
        For the cells of decisions, the probabilities of frozen rows; -1 in rows that may change.
    """

    regrets: np.ndarray
    frozen: np.ndarray


class Traversal(NamedTuple):
    """One traversal of the street.

    Attributes
    ----------
    seat : int
        The traverser.
    weight : float
        The iteration's weight: its number.
    hands : int32[num_hands]
        The traverser's combos that are possible in the deal.
    seed : uint64
        Seed of the roll-outs. All leaves and all choices share it, so that actions differ by their merits and less by
        luck.
    """

    seat: int
    weight: float
    hands: np.ndarray
    seed: np.uint64


@kernel
def deal_others(game, live, seat, cumulative, stream, work):
    """Deal hands to all live seats but one, and the rest of the board; return whether compatible hands were found.

    Parameters
    ----------
    game : StreetGame
    live : int
        The set of seats that have not folded, as a bit mask.
    seat : int
        The seat that gets no hand; -1 deals to all live seats.
    cumulative : float64[num_seats, num_combos]
        Running sums of each seat's range.
    stream : uint64[4]
    work : MultiwayWorkspace
        Modified in place: `dealt`, `used`, `boards`.
    """
    num_seats, num_combos = cumulative.shape
    num_hole = game.combos.shape[1]
    # All hands are drawn independently, and all are drawn again if two share a card. Drawing seat by seat from the
    # hands still possible would bias deals: a first hand that blocks many others would be too likely.
    for _ in range(_MAX_DEALS):
        work.used[:] = False
        for k in range(game.num_dealt):
            work.used[work.boards[0, k]] = True
        is_free = True
        for other in range(num_seats):
            work.dealt[other] = -1
            if not is_free or other == seat or not live >> other & 1:
                continue
            row = cumulative[other]
            # The first sum strictly above the point is drawn. So a combo of weight 0, which repeats the sum before it,
            # is never drawn.
            point = next_float(stream) * row[num_combos - 1]
            low, high = 0, num_combos - 1
            while low < high:
                middle = (low + high) >> 1
                if row[middle] > point:
                    high = middle
                else:
                    low = middle + 1
            work.dealt[other] = low
            for k in range(num_hole):
                card = game.combos[low, k]
                is_free = is_free and not work.used[card]
                work.used[card] = True
        if is_free:
            break
    else:
        return False
    # The board comes after the hands: given compatible hands, all run-outs are equally likely.
    for k in range(game.num_dealt, work.boards.shape[1]):
        card = game.deck[next_below(stream, len(game.deck))]
        while work.used[card]:
            card = game.deck[next_below(stream, len(game.deck))]
        work.boards[0, k] = card
        work.used[card] = True
    return True


@kernel
def prepare_deal(tables, game, roll_game, cards, beliefs, seat, work):
    """Rank all combos on the dealt board, and list the traverser's possible combos; return the number of these.

    Modified in place in `work`: `ranks`, `buckets`, `used`, `free`, `dealt_ranks`, `hands`.

    Parameters
    ----------
    tables : tuple of arrays
        The result of `rank_tables`.
    game : StreetGame
    roll_game, cards
        The blueprint's game and bucket table, as `fill_buckets` takes them.
    beliefs : float64[num_seats, num_combos]
    seat : int
        The traverser.
    work : MultiwayWorkspace
    """
    combos = game.combos
    num_seats, num_combos = beliefs.shape
    fill_ranks(tables, combos, work.boards, work.ranks)
    if game.has_leaves:
        fill_buckets(roll_game, cards, work.boards, work.buckets)  # roll-outs alone read buckets
    work.used[:] = False
    for other in range(num_seats):
        work.dealt_ranks[other] = -1
        if work.dealt[other] >= 0:
            work.dealt_ranks[other] = np.int64(work.ranks[0, work.dealt[other]])
            for k in range(combos.shape[1]):
                work.used[combos[work.dealt[other], k]] = True
    count = 0
    for combo in range(num_combos):
        is_free = work.ranks[0, combo] != 0 and beliefs[seat, combo] > 0.0  # rank 0: shares a card with the board
        for k in range(combos.shape[1]):
            is_free = is_free and not work.used[combos[combo, k]]
        work.free[combo] = is_free
        work.hands[count] = combo  # written without a branch; if the combo is not free, the next one overwrites it
        count += is_free
    return count


@kernel(inline=True)
def _draw(tables, cell, num_actions, is_frozen, stream):
    """Return an action drawn from a frozen row, or in proportion to positive regrets."""
    if not (is_frozen and tables.frozen[cell] >= 0.0):
        return draw_by_regrets(tables.regrets, cell, num_actions, stream)
    point = next_float(stream)
    for a in range(num_actions - 1):
        point -= tables.frozen[cell + a]
        if point < 0.0:
            return a
    return num_actions - 1  # rounding can leave `point` at 0 or above


@kernel(inline=True)
def _match(tables, cell, num_actions, is_frozen, strategy):
    """Write a row's current strategy, or its frozen strategy, and return whether the row is not frozen."""
    if is_frozen and tables.frozen[cell] >= 0.0:
        for a in range(num_actions):
            strategy[a] = tables.frozen[cell + a]
        return False
    match_regrets(tables.regrets, cell, num_actions, strategy)
    return True


@kernel(inline=True)
def _mix(tables, first, num_actions, is_frozen, walk, below, strategy, values):
    """Write the values of the traverser's hands if it plays its strategy, and add to regrets of rows not frozen.

    Parameters
    ----------
    first : int
        First cell of the traverser's table at the node.
    walk : Traversal
    below : float64[num_actions, num_combos]
        The value of each action for each hand.
    strategy : float64[num_actions]
        Workspace.
    values : float64[num_combos]
        Modified in place, as are the regrets of `tables`.
    """
    for k in range(len(walk.hands)):
        hand = np.int64(walk.hands[k])
        cell = first + hand * num_actions
        is_open = _match(tables, cell, num_actions, is_frozen, strategy)
        value = 0.0
        for a in range(num_actions):
            value += strategy[a] * below[a, hand]
        values[hand] = value
        if is_open:
            for a in range(num_actions):
                # Linear CFR: iteration t adds t * r. In external sampling, r needs no importance weight.
                tables.regrets[cell + a] += np.float32(walk.weight * (below[a, hand] - value))


@kernel(inline=True)
def _fill_leaf(tree, game, roll, tables, node, walk, stream, work):
    """Write the values of the traverser's hands at a leaf, and add to the regrets of the traverser's choice there.

    Modified in place: the regrets of `tables`, and `work`, where `values` has the result.
    """
    num_policies = game.num_policies
    work.biases[:] = 0
    work.tree_dealt[:] = -1
    live = np.int64(tree.live[node])
    for other in range(tree.tree_seats.shape[1]):
        tree_seat = np.int64(tree.tree_seats[node, other])
        if other == walk.seat or tree_seat < 0 or not live >> other & 1:
            continue
        work.tree_dealt[tree_seat] = work.dealt[other]  # roll-outs number seats as the blueprint's tree does
        # The other seat's choice is drawn once for all choices of the traverser: neither sees the other's choice.
        table = np.int64(tree.tables[node, other])
        if table >= 0:
            cell = table + work.dealt[other] * num_policies
            work.biases[tree_seat] = _draw(tables, cell, num_policies, False, stream)
    own, table = np.int64(tree.tree_seats[node, walk.seat]), np.int64(tree.tables[node, walk.seat])
    level = work.below[work.below.shape[0] - 1]
    stakes = Stakes(
        tree.paid[node],
        tree.put_in[node],
        tree.most_paid[node],
        tree.most_put_in[node],
        tree.stacks[node],
        tree.scales[node],
    )
    seats = RollOutSeats(own, work.tree_dealt, work.biases, game.bias)
    worlds, sums = Worlds(work.ranks, work.buckets, work.free), RollOutSums(work.totals, work.counts)
    # The traverser branches over its choices, too. If the opponent alone chooses, as in "Depth-limited solving for
    # imperfect-information games" (Brown, Sandholm and Amos, 2018), the searcher becomes too defensive (supplement of
    # the Pluribus paper, footnote 1).
    for policy in range(num_policies if table >= 0 else 1):  # a seat that is all-in has nothing to choose
        work.biases[own] = policy
        for k in range(len(walk.hands)):
            work.totals[walk.hands[k]] = 0.0
        place = np.int64(tree.places[node])
        add_values(roll, seats, stakes, worlds, work.reaches, place, 0, walk.seed, work.roll, sums)
        for k in range(len(walk.hands)):
            level[policy, walk.hands[k]] = work.totals[walk.hands[k]]
    if table >= 0:
        _mix(tables, table, num_policies, False, walk, level, work.strategy, work.values)
    else:
        for k in range(len(walk.hands)):
            work.values[walk.hands[k]] = level[0, walk.hands[k]]


@kernel
def learn(tree, game, roll, tables, seat, weight, count, stream, work):
    """Traverse the street for one seat with the cards that were dealt.

    Parameters
    ----------
    tree : StreetTree
    game : StreetGame
    roll : RollOutTables
    tables : StreetTables
        Regrets are modified in place.
    seat : int
        The traverser.
    weight : float
        The iteration's weight: its number.
    count : int
        Number of hands in `work.hands`.
    stream : uint64[4]
    work : MultiwayWorkspace
        Modified in place: `values` ends as the values of the hands at the root.
    """
    walk = Traversal(seat, weight, work.hands[:count], next_word(stream))
    node, depth = np.int64(0), -1
    while True:
        # Down: one sampled action at each decision of another seat, the first action at each of the traverser's.
        while tree.kinds[node] == DECISION and tree.actors[node] != seat:
            other = np.int64(tree.actors[node])
            num_actions = np.int64(tree.num_actions[node])
            cell = np.int64(tree.tables[node, other]) + work.dealt[other] * num_actions
            drawn = _draw(tables, cell, num_actions, tree.is_frozen[node], stream)
            node = np.int64(tree.first_child[node]) + drawn
        if tree.kinds[node] == DECISION:
            depth += 1
            work.nodes[depth], work.numbers[depth] = node, 0
            node = np.int64(tree.first_child[node])
            continue
        live = np.int64(tree.live[node])
        # After its fold the traverser loses what it put in, whatever comes: no roll-out is needed.
        if tree.kinds[node] == END or not live >> seat & 1:
            ranks, known, paid = work.ranks[0], work.dealt_ranks, tree.contributions[node]
            fill_end(paid, live, seat, ranks, walk.hands, known, work.ends, work.values)
        else:
            _fill_leaf(tree, game, roll, tables, node, walk, stream, work)
        # Up: `values` are those of the action just followed. The decision's next action is followed; when no action is
        # left, the mean over all actions becomes the value of the decision.
        while depth >= 0:
            node, number = work.nodes[depth], work.numbers[depth]
            num_actions = np.int64(tree.num_actions[node])
            for k in range(len(walk.hands)):
                work.below[depth, number, walk.hands[k]] = work.values[walk.hands[k]]
            if number + 1 < num_actions:
                work.numbers[depth] = number + 1
                node = np.int64(tree.first_child[node]) + number + 1
                break
            # The strategy is computed only on the way up: recall within a street is perfect, so nothing below the
            # decision has changed its regrets.
            first, below = np.int64(tree.tables[node, seat]), work.below[depth]
            _mix(tables, first, num_actions, tree.is_frozen[node], walk, below, work.strategy, work.values)
            depth -= 1
        else:
            return


@kernel
def add_averages(tree, game, tables, seat, weight, beliefs, sums, work):
    """Add a seat's current or frozen strategies to `sums`, weighted by the seat's reach and by `weight`.

    Parameters
    ----------
    tree : StreetTree
    game : StreetGame
    tables : StreetTables
    seat : int
    weight : float
        The iteration's weight: its number.
    beliefs : float64[num_combos]
        The seat's range; combos of weight 0 are skipped.
    sums : float32[num_decision_cells] or float32[num_cells]
        Modified in place. With the cells of decisions only, choices at leaves get no averages.
    work : MultiwayWorkspace
    """
    num_combos, num_policies = len(beliefs), game.num_policies
    reach = work.reach
    for combo in range(num_combos):
        # 1 and not the belief: a combo's belief would be the same factor in all its rows, and cancels in each row.
        reach[0, combo] = beliefs[combo] > 0.0
    for node in range(len(tree.kinds)):  # parents come first, so that reach is known
        if tree.kinds[node] == END or not 0 <= tree.tables[node, seat] < len(sums):
            continue
        here = reach[tree.reach_rows[node, seat]]
        if tree.kinds[node] == LEAF:
            for combo in range(num_combos):
                if here[combo] > 0.0:
                    cell = np.int64(tree.tables[node, seat]) + combo * num_policies
                    _match(tables, cell, num_policies, False, work.strategy)
                    for a in range(num_policies):
                        sums[cell + a] += np.float32(weight * here[combo] * work.strategy[a])
            continue
        num_actions = np.int64(tree.num_actions[node])
        table, first = np.int64(tree.tables[node, seat]), np.int64(tree.first_child[node])
        for combo in range(num_combos):
            if not here[combo] > 0.0:
                # Rows of the workspace hold the reach of an earlier call until they are written.
                for a in range(num_actions):
                    reach[tree.reach_rows[first + a, seat], combo] = 0.0
                continue
            cell = table + combo * num_actions
            _match(tables, cell, num_actions, tree.is_frozen[node], work.strategy)
            for a in range(num_actions):
                share = here[combo] * work.strategy[a]
                sums[cell + a] += np.float32(weight * share)
                reach[tree.reach_rows[first + a, seat], combo] = share
