"""Kernels of external-sampling MCCFR on a betting tree with buckets: deals, traversals, averages, discounts.

The cell of action a at a decision in a bucket has the index ``base[street] + bucket * pairs[street] + row[node] + a``.
Values are the traverser's chips; chance and opponents are sampled, so no reach weights appear.

A decision has a record (`traversal_tree.TraversalTree`). From bit 0 on, the record's first word holds the street (2
bits), the seat to act (6 bits) and the number of actions (8 bits). Two more bits tell whether the first action is a
fold, and whether a call is offered. The first word of an end's record is negative.

References
----------
M. Lanctot, K. Waugh, M. Zinkevich, M. Bowling: Monte Carlo Sampling for Regret Minimization in Extensive Games. NIPS
(2009), section 3.2. N. Brown, T. Sandholm: Superhuman AI for multiplayer poker. Science 365 (2019), supplementary
material, Algorithm 1.
"""

import numpy as np

from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_rank
from plurispiel.abstraction.holdem.hand_rank_kernels import rank_word
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.prefetch import prefetch
from plurispiel.abstraction.machine.xoshiro import deal, next_float

WORD, FIRST_CHILD, ROW, PAID = 0, 1, 2, 3
"""Words of a decision's record."""

NUMBER, POT, LEVEL = 1, 2, 3
"""Words of an end's record.

The level is the contribution that all live seats have in common. It is -1 if the live seats' contributions differ, or
if the pot is above 2^31 - 1 chips.
"""

CHILD, CELL, PLACE, COUNT, EXPLORED = 0, 1, 2, 3, 4
"""Entries of a frame. A frame describes an open decision, whose actions are still being followed.

`CHILD` is the decision's first child, `CELL` the first cell of its row, and `PLACE` the index of the action being
followed. `COUNT` is the number of actions, and `EXPLORED` the bit set of the actions to follow.
"""

SLOT, SEAT_SHIFT, COUNT_SHIFT, FOLD_BIT, CALL_BIT = 0xFF, 2, 8, 1 << 16, 1 << 17
"""Parts of a decision's word. The slot is the seat and the street together, an index into the workspace's buckets."""
_INT32_MAX = 2**31 - 1
_MAX_VISITS = 2.0**22


@kernel
def pack_nodes(tree, nodes):
    """Write the records of a betting tree, see `TraversalTree`.

    Parameters
    ----------
    tree : BettingTree
    nodes : int32[num_nodes, 4]
        Modified in place.
    """
    num_seats = tree.contributions.shape[1]
    for node in range(len(nodes)):
        # The `first_child` of an end is its number: the row of its contributions.
        first = np.int64(tree.first_child[node])
        nodes[node, FIRST_CHILD] = first
        if tree.actor[node] >= 0:
            word = np.int64(tree.street[node]) | np.int64(tree.actor[node]) << SEAT_SHIFT
            word |= np.int64(tree.num_actions[node]) << COUNT_SHIFT
            folds = np.int64(tree.action[first] == FOLD)
            calls = folds < tree.num_actions[node] and tree.action[first + folds] == CALL
            nodes[node, WORD] = word | (FOLD_BIT if folds else 0) | (CALL_BIT if calls else 0)
            nodes[node, ROW] = tree.row[node]
            nodes[node, PAID] = tree.paid[node]
            continue
        live, pot, level = np.int64(0), np.int64(0), np.int64(-2)  # -2: no live seat yet; -1: contributions differ
        for seat in range(num_seats):
            paid = np.int64(tree.contributions[first, seat])
            pot += paid
            if tree.folded[first] >> seat & 1 == 0:
                live |= np.int64(1 << seat)
                level = paid if level == -2 or level == paid else np.int64(-1)
        # The complement is negative whoever is left, so one comparison tells an end from a decision.
        nodes[node, WORD] = ~live
        nodes[node, POT] = min(pot, _INT32_MAX)
        # With equal contributions there are no side pots, and `end_value` needs no layers.
        nodes[node, LEVEL] = level if pot <= _INT32_MAX else -1


@kernel
def deal_hand(tables, game, cards, stream, work):
    """Deal a hand, and look up every seat's buckets and rank.

    Parameters
    ----------
    tables : RankTables
    game : GameArrays
    cards : CardArrays
    stream : uint64[4]
        Modified in place.
    work : TraversalWorkspace
        Modified in place: `deck`, `combos`, `ranks`, `buckets`, `starts`.
    """
    num_hole, num_seats = game.num_hole_cards, game.num_seats
    deal(stream, work.deck, num_seats * num_hole + game.num_board_cards)
    board = work.deck[num_seats * num_hole : num_seats * num_hole + game.num_board_cards]
    word = tables.starts[num_hole + game.num_board_cards]
    masks = np.int64(0)
    # The words that give a hand's rank are sums over its cards, so the board's part is computed once for all seats.
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
    find_buckets(game, cards, board, work)


@kernel(inline=True)
def find_buckets(game, cards, board, work):
    """Look up the buckets of the hands in ``work.combos``. Modified in place: ``work.buckets``, ``work.starts``."""
    # Written out: a kernel cannot index a tuple of arrays of different types with a variable.
    _fill_buckets(game, cards, 0, cards.entries[0], cards.rows[0], board, work)
    if game.num_streets > 1:
        _fill_buckets(game, cards, 1, cards.entries[1], cards.rows[1], board, work)
    if game.num_streets > 2:
        _fill_buckets(game, cards, 2, cards.entries[2], cards.rows[2], board, work)
    if game.num_streets > 3:
        _fill_buckets(game, cards, 3, cards.entries[3], cards.rows[3], board, work)


@kernel(inline=True)
def _fill_buckets(game, cards, street, entries, rows, board, work):
    """Write every seat's bucket on one street. Modified in place: `work.buckets`, `work.starts`."""
    entry = np.int64(entries[board_rank(game.num_suits, board[: game.board_sizes[street]])])
    row = rows[entry >> PERMUTATION_BITS]
    relabel = cards.relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
    for seat in range(game.num_seats):
        bucket = np.int64(row[relabel[work.combos[seat]]])
        slot = street | seat << SEAT_SHIFT
        work.buckets[slot] = bucket
        work.starts[slot] = game.base[street] + bucket * game.pairs[street]


@kernel(inline=True)
def draw_row(rows, cell, num_actions, stream):
    """Return the index of an action drawn from a row, -1 for a missing row."""
    total = 0.0
    for a in range(num_actions):
        total += rows[cell + a]
    if total <= 0.0:
        return -1
    point = next_float(stream) * total
    last = 0
    for a in range(num_actions):
        if rows[cell + a] > 0:
            last = a  # rounding can leave `point` at 0 or above: then the last possible action is taken
            point -= rows[cell + a]
            if point < 0.0:
                return a
    return last


@kernel(inline=True)
def end_value(tree, node, seat, num_seats, ranks):
    """Return the net chips of a seat that has not folded at an end of the betting."""
    live = ~np.int64(tree.nodes[node, WORD])
    pot, level = np.int64(tree.nodes[node, POT]), np.int64(tree.nodes[node, LEVEL])
    if level < 0:
        return layered_value(tree.contributions[tree.nodes[node, NUMBER]], live, seat, num_seats, ranks)
    rank, num_winners = ranks[seat], 1
    live ^= 1 << seat
    other = 0
    while live != 0:
        if live & 1:
            if ranks[other] > rank:
                return -np.float64(level)
            num_winners += ranks[other] == rank
        live >>= 1
        other += 1
    return pot / num_winners - level


@kernel(inline=True)
def layered_value(contributions, live, seat, num_seats, ranks):
    """Return the net chips of a seat that has not folded, with side pots, layer by layer up to its contribution."""
    contribution = np.int64(contributions[seat])
    if live == 1 << seat:
        pot = np.int64(0)
        for other in range(num_seats):
            pot += contributions[other]
        return np.float64(pot - contribution)
    value = 0.0
    floor = np.int64(0)
    # A layer lies between two neighbouring contributions. All seats that reach the layer pay its size into it, and the
    # best hands of those that have not folded share it.
    # The seat itself reaches every layer below its contribution, so a layer has a winner and no division is by 0.
    while floor < contribution:
        ceiling = contribution
        num_sharing, num_winners, best = 0, 0, np.int64(-1)
        for other in range(num_seats):
            if contributions[other] > floor:
                num_sharing += 1  # folded seats too: their chips are part of the layer
                ceiling = min(ceiling, np.int64(contributions[other]))
                if live >> other & 1:
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
    """Write the strategy of regret matching, uniform if no regret is positive; return whether any is positive."""
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
    """Return the index of an action drawn from a strategy."""
    point = next_float(stream)
    for a in range(num_actions - 1):
        point -= strategy[a]
        if point < 0.0:
            return a
    return num_actions - 1


@kernel(inline=True)
def draw_by_regrets(regrets, cell, num_actions, stream):
    """Return the index of an action drawn by regret matching: uniformly if no regret is positive."""
    # One pass to sum and one to draw: writing the strategy first, as the traverser has to, costs a division per action.
    total = 0.0
    for a in range(num_actions):
        total += max(np.float64(regrets[cell + a]), 0.0)
    point = next_float(stream)
    if total <= 0.0:
        return np.int64(point * num_actions)
    point *= total
    for a in range(num_actions - 1):
        point -= max(np.float64(regrets[cell + a]), 0.0)
        if point < 0.0:
            return a
    return num_actions - 1


@kernel(inline=True)
def _explored(tree, game, settings, regrets, cell, first, word, num_actions, matched, strategy):
    """Return the bit set of actions that a pruning traversal follows (TRAVERSE-MCCFR-P). Modified in place: `strategy`.

    As in the supplement, actions with very negative regret are skipped, except on the last street. Folds and actions
    that end the betting are never skipped. Regret matching gives the skipped actions probability 0 if any regret is
    positive. If none is (`matched` is False), the followed actions get equal probabilities here.
    """
    everything = (1 << num_actions) - 1
    if word & (1 << SEAT_SHIFT) - 1 == game.num_streets - 1:
        return everything
    explored, count = 0, 0
    for a in range(num_actions):
        ends = tree.nodes[first + a, WORD] < 0 or (a == 0 and word & FOLD_BIT)
        if ends or regrets[cell + a] > settings.prune_below:
            explored |= 1 << a
            count += 1
    if count == 0:  # every action is bad: without an action to follow there would be no value
        return everything
    if count < num_actions and not matched:
        for a in range(num_actions):
            strategy[a] = 1.0 / count if explored >> a & 1 else 0.0
    return explored


@kernel(inline=True)
def _add_visit(regrets, cell, num_actions, strategy, visits):
    """Add the current strategy of a visited row to its sums in `visits`. Modified in place: `strategy`, `visits`."""
    match_regrets(regrets, cell, num_actions, strategy)
    total = 0.0
    for a in range(num_actions):
        visits[cell + a] += strategy[a]
        total += visits[cell + a]
    if total > _MAX_VISITS:  # float32 loses small additions to large sums: the visits so far count half from here on
        for a in range(num_actions):
            visits[cell + a] *= 0.5


@kernel
def traverse_betting(tree, game, settings, regrets, visits, stream, work, traverser, prune):
    """Traverse the betting of a dealt hand for one seat and update its regrets (Algorithm 1, TRAVERSE-MCCFR).

    Parameters
    ----------
    tree : TraversalTree
    game : GameArrays
    settings : TraversalSettings
    regrets : int32 or float64[num_cells]
        Modified in place.
    visits : float32[num_cells]
        Strategy sums of the streets after `settings.last_average_street`. Each visit of another seat's row adds the
        row's current strategy. Empty if these streets are not averaged by visits, or not yet. Modified in place.
    stream : uint64[4]
    work : TraversalWorkspace
    traverser : int
    prune : bool
        Whether to skip actions with very negative regret.

    Returns
    -------
    num_nodes, num_visits : int
        The number of nodes met, ends included, and the number of the traverser's decisions among them.

    Notes
    -----
    Every action of the traverser is followed, except pruned ones; for other seats one action is drawn. A sampled regret
    needs no weight: the probability of the sample is the reach of chance and the others, which cancels (Lanctot et al.,
    section 3.2).

    In `visits` the rows of the seats that draw their actions are averaged, as in external sampling for two players
    (Lanctot et al., section 3.2): such a row is visited in proportion to the reach of its own seat. With more seats the
    reach of the other seats that draw enters, too; Brown and Sandholm avoid that by snapshots.

    Algorithm 1 plays on after the traverser's fold. Here the walk ends at the fold, because nothing later changes the
    value.

    The stack is explicit and lies in the workspace: kernels allocate nothing.
    """
    frames, values, strategies = work.frames, work.values, work.strategies
    starts, ranks = work.starts, work.ranks
    node, depth, value = np.int64(0), -1, 0.0
    num_nodes = num_visits = 0
    while True:
        while True:  # down to an end, where the value is known
            num_nodes += 1
            word = np.int64(tree.nodes[node, WORD])
            if word < 0:
                value = end_value(tree, node, traverser, game.num_seats, ranks)
                break
            first, num_actions = np.int64(tree.nodes[node, FIRST_CHILD]), word >> COUNT_SHIFT & 0xFF
            # Nearly every read of a large tree misses the cache: ask for the children before they are needed.
            prefetch(tree.nodes, 4 * first)
            cell = starts[word & SLOT] + tree.nodes[node, ROW]
            if (word & SLOT) >> SEAT_SHIFT != traverser:
                if len(visits) and word & (1 << SEAT_SHIFT) - 1 > settings.last_average_street:
                    _add_visit(regrets, cell, num_actions, work.opponent, visits)
                node = first + draw_by_regrets(regrets, cell, num_actions, stream)
                continue
            # Kept for the way up: the mean needs the same strategy then, and other threads may change the regrets.
            strategy = strategies[depth + 1]
            matched = match_regrets(regrets, cell, num_actions, strategy)
            # The cells of the next decisions lie far apart: while one action is followed, those of the others load.
            for child in range(first, first + num_actions):
                below = np.int64(tree.nodes[child, WORD])
                if below >= 0:
                    prefetch(regrets, starts[below & SLOT] + tree.nodes[child, ROW])
            depth += 1
            explored = (1 << num_actions) - 1
            if prune:
                explored = _explored(tree, game, settings, regrets, cell, first, word, num_actions, matched, strategy)
            frame = frames[depth]
            frame[CHILD], frame[CELL], frame[COUNT], frame[EXPLORED] = first, cell, num_actions, explored
            place = 0
            if word & FOLD_BIT:  # a fold's value is known without a visit: minus the seat's contribution
                num_nodes += 1
                value = -np.float64(tree.nodes[node, PAID])
                values[depth, 0] = value
                if explored == 1:
                    frame[PLACE] = 0
                    break
                place = 1
            # The loop ends: some action is explored, and after a fold (never pruned) `explored` has another bit.
            while explored >> place & 1 == 0:
                place += 1
            frame[PLACE] = place
            node = first + place
        while depth >= 0:  # up to a decision with an action left
            frame = frames[depth]
            place, explored = frame[PLACE], frame[EXPLORED]
            values[depth, place] = value
            place += 1
            if explored >> place != 0:
                while explored >> place & 1 == 0:
                    place += 1
                frame[PLACE] = place
                node = frame[CHILD] + place
                break
            # An action that is not explored has probability 0 here, so the mean over the others is the whole mean
            # (TRAVERSE-MCCFR-P, line 17). Its regret stays: line 21 changes explored actions only.
            mean = 0.0
            for a in range(frame[COUNT]):
                if explored >> a & 1:
                    mean += strategies[depth, a] * values[depth, a]
            cell = frame[CELL]
            for a in range(frame[COUNT]):
                if explored >> a & 1:
                    change = values[depth, a] - mean
                    if settings.rounds:  # int32: truncation would bias every regret towards zero
                        change = np.rint(change)
                    # Bounded on both sides, so that int32 cannot overflow and a pruned action can come back. The
                    # supplement's floor is -310,000,000, a little below its pruning threshold of -300,000,000.
                    regrets[cell + a] = min(max(regrets[cell + a] + change, settings.floor), settings.ceiling)
            value = mean
            num_visits += 1
            depth -= 1
        if depth < 0:
            return num_nodes, num_visits


@kernel
def add_strategy(tree, game, last_street, regrets, sums, stream, work, seat):
    """Add a seat's current strategy to its average at every decision it reaches on a deal (UPDATE-STRATEGY).

    Parameters
    ----------
    tree : TraversalTree
    last_street : int
        The last street that has sums here.
    sums : float64[cells of the streets up to last_street]
        Modified in place.
    stream : uint64[4]
    work : TraversalWorkspace
    seat : int

    Notes
    -----
    The seat's own actions are sampled and all actions of the others are followed. So the probability of meeting a
    decision is the seat's own reach. Algorithm 1 counts the sampled action; adding the whole strategy has the same mean
    and less variance.
    """
    frames, strategy = work.frames, work.strategies[0]
    depth = 0
    node = np.int64(0)
    while True:
        while True:
            word = np.int64(tree.nodes[node, WORD])
            if word < 0 or word & (1 << SEAT_SHIFT) - 1 > last_street:
                break
            first, num_actions = np.int64(tree.nodes[node, FIRST_CHILD]), word >> COUNT_SHIFT & 0xFF
            if (word & SLOT) >> SEAT_SHIFT != seat:
                # Another seat: remember where its next action is, and follow the first.
                frames[depth, CHILD], frames[depth, PLACE], frames[depth, COUNT] = first, 0, num_actions
                depth += 1
                node = first
                continue
            cell = work.starts[word & SLOT] + tree.nodes[node, ROW]
            match_regrets(regrets, cell, num_actions, strategy)
            for a in range(num_actions):
                sums[cell + a] += strategy[a]
            place = _draw(strategy, num_actions, stream)
            if place == 0 and word & FOLD_BIT:  # folded: no decisions of the seat follow
                break
            node = first + place
        while depth > 0 and frames[depth - 1, PLACE] + 1 == frames[depth - 1, COUNT]:
            depth -= 1
        if depth == 0:
            return
        frames[depth - 1, PLACE] += 1
        node = frames[depth - 1, CHILD] + frames[depth - 1, PLACE]


@kernel
def run_iterations(dealt, settings, span, regrets, sums, visits, stream, work, counters):
    """Do a span of iterations: in each, deal a hand, traverse it once for every seat, and perhaps update the averages.

    Parameters
    ----------
    dealt : DealtGame
    settings : TraversalSettings
    span : IterationSpan
    regrets : int32 or float64[num_cells]
        Modified in place.
    sums : float64[cells up to settings.last_average_street]
        Modified in place.
    visits : float32[num_cells] or float32[0]
        Strategy sums of later streets, as in `traverse_betting`; empty if they are averaged by snapshots. Modified in
        place.
    stream : uint64[4]
        Modified in place.
    work : TraversalWorkspace
    counters : int64[at least 3]
        First the numbers of traversals, of nodes met, and of the traversers' decisions. Modified in place.
    """
    tree, game = dealt.tree, dealt.game
    for iteration in range(span.first, span.last):
        # Algorithm 1 samples chance anew in each traversal. Here the traversals of all seats share one deal: each by
        # itself still sees a random deal, and draws new actions of its opponents.
        deal_hand(dealt.tables, game, dealt.cards, stream, work)
        averaged = visits if iteration >= span.average_from else visits[:0]
        for seat in range(game.num_seats):
            # One traversal in twenty follows every action (the supplement's 5 %), so that pruned actions can recover.
            prune = iteration >= span.prune_from and next_float(stream) < settings.prune_share
            num_nodes, num_visits = traverse_betting(tree, game, settings, regrets, averaged, stream, work, seat, prune)
            counters[0] += 1
            counters[1] += num_nodes
            counters[2] += num_visits
        if iteration >= span.average_from and iteration % settings.average_every == 0:
            for seat in range(game.num_seats):
                add_strategy(tree, game, settings.last_average_street, regrets, sums, stream, work, seat)


@kernel
def discount_cells(cells, factor, rounds):
    """Multiply all cells by a factor. Modified in place: `cells`.

    If `rounds`, cells are rounded to whole numbers. Zeros are not written: a page that was never written takes no
    memory. The factor after t iterations is (t / I) / (t / I + 1) in Algorithm 1, line 21, with discounts every I
    iterations. The factors together give each interval a weight proportional to its number.
    """
    for c in range(len(cells)):
        if cells[c] != 0:
            cells[c] = np.rint(cells[c] * factor) if rounds else cells[c] * factor


@kernel
def add_snapshot(cells, highest, regrets, sums, strategy):
    """Add the current strategy of one street to its sums, except rows that no traversal has visited.

    Parameters
    ----------
    cells : StreetCells
    highest : float
        The number that stands for probability 1: 1 in float32 sums, 255 in uint16 sums.
    regrets : float64 or int32[num_cells]
    sums : float32 or uint16[num_cells]
        For each cell, the sum of its probabilities in all snapshots, in units of 1 / highest. Modified in place.
    strategy : float64[MAX_ACTIONS]
        Workspace.
    """
    for bucket in range(cells.num_buckets):
        for d in range(len(cells.rows)):
            num_actions = np.int64(cells.num_actions[d])
            cell = cells.base + bucket * cells.pairs + cells.rows[d]
            visited = False
            for a in range(num_actions):
                visited |= regrets[cell + a] != 0
            if visited:
                match_regrets(regrets, cell, num_actions, strategy)
                for a in range(num_actions):
                    value = strategy[a] * highest
                    sums[cell + a] += value if highest == 1.0 else np.rint(value)
