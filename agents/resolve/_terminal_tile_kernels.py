"""Kernels that lay out, fill and empty the tiles of terminal nodes, and walk over boards with these tiles.

Play tiles, gain tiles and value tiles are described in `terminal_tiles`. A tile is float[span, 16], with `span` the
number of buckets, rounded up to a multiple of 16. An array of tiles has one after the other.

Arguments that recur are those of `vector_cfr_kernels` and `_bucket_kernels`, and:

tiles : TerminalTiles
found : float[num_value_tiles * span + num_groups * span, 16]
    A walk's value tiles for a seat, then for each group of roots the seat's reach at the roots by bucket. Both are
    sums over hands and boards.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END
from plurispiel.abstraction.holdem.showdown_kernels import CARD_SLOTS, FIRST_HAND, add_hand, held_with
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import (
    LANES,
    clear,
    load,
    spread,
    store,
    transpose_in,
    where_positive,
)
from plurispiel.agents.resolve.vector_cfr_kernels import DECAY, GAIN, LOSS, rows_to_tile, tile_to_rows

_SHOWDOWN, _BOTH, _FOLD, _END = 0, 1, 2, 3
"""The kinds of tiles, in the order of `TerminalTiles.tile_first`."""


class BoardHands(NamedTuple):
    """A seat's hands on one board.

    Attributes
    ----------
    cards : uint8[n, 2]
    same, above : int32[n]
        As in `SeatHands`.
    stops : int32[num_groups]
        A row of `StreetDeals.group_stops`.
    numbers, weights : int32[n], float[n]
        As in `HandBuckets`.
    """

    cards: np.ndarray
    same: np.ndarray
    above: np.ndarray
    stops: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray


@kernel
def place_tiles(layout, ends, tiles, kinds, numbers):
    """Fill all arrays of `tiles` but those that are known from the layout.

    Parameters
    ----------
    ends : int32[num_nodes]
        `StreetNodes.end`.
    kinds, numbers : int8[n], int32[n]
        Workspace, with an entry for each path row of a group.
    """
    num_groups, num_roots = len(tiles.node_first) - 1, len(layout.roots)
    for group in range(num_groups):
        for seat in range(2):
            _place_paths(layout, tiles, group, seat)
    for seat in range(2):
        tile, value = np.int64(0), np.int64(0)
        for group in range(num_groups):
            first_root, last_root = LANES * group, min(LANES * (group + 1), num_roots)
            most = (np.int64(0), np.int64(0), np.int64(0), np.int64(0))
            for root in range(first_root, last_root):
                most = _number_rows(layout, tiles, seat, root, kinds, numbers, most)
            tile_first, value_first = tiles.tile_first[seat, group], tiles.value_first[seat, group]
            tile_first[0], value_first[0] = tile, value
            for kind in range(4):
                tile_first[kind + 1] = tile_first[kind] + most[kind]
                value_first[kind + 1] = value_first[kind] + (2 if kind == _BOTH else 1) * most[kind]
            tile, value = np.int64(tile_first[4]), np.int64(value_first[4])
            tiles.end_first[group + 1] = tiles.end_first[group] + most[_END]
            for entry in range(LANES * np.int64(tile_first[0]), LANES * tile):
                tiles.tile_rows[seat, entry] = tiles.num_paths[1 - seat]
            for root in range(first_root, last_root):
                _place_root(layout, ends, tiles, seat, root, kinds, numbers)
            begin = tiles.node_first[group]
            for node in range(begin, tiles.node_first[group + 1]):
                if layout.kind[node] < FOLD_END:
                    tiles.value_row[seat, node] = LANES * (value_first[4] - value_first[0]) + node - begin


@kernel
def _place_paths(layout, tiles, group, seat):
    """Fill `TerminalTiles.path_row` for a group and a seat."""
    path_row = tiles.path_row[seat]
    for root in range(LANES * group, min(LANES * (group + 1), len(layout.roots))):
        path_row[layout.roots[root]] = root - LANES * group
    for node in range(tiles.node_first[group], tiles.node_first[group + 1]):
        action = LANES + layout.table_lane[node] - tiles.action_first[seat, group]
        for k in range(layout.child_first[node], layout.child_first[node + 1]):
            is_own = layout.kind[node] == seat
            path_row[layout.children[k]] = action + k - layout.child_first[node] if is_own else path_row[node]


@kernel
def _last_node(layout, root):
    """Return the end of a root's nodes."""
    return np.int64(layout.roots[root + 1]) if root + 1 < len(layout.roots) else np.int64(len(layout.kind))


@kernel
def _number_rows(layout, tiles, seat, root, kinds, numbers, most):
    """Give a number to each path row of the other seat at a root's folds and showdowns, for each kind of tiles anew.

    `kinds` and `numbers` receive the kind and the number of each row. Return the larger of `most` and the numbers of
    the four kinds of tiles that the root needs.
    """
    first, last = layout.roots[root], _last_node(layout, root)
    rows = tiles.path_row[1 - seat]
    for node in range(first, last):
        kinds[rows[node]] = 0
        numbers[rows[node]] = -1
    for node in range(first, last):
        if layout.kind[node] == SHOWDOWN:
            kinds[rows[node]] |= 1
        elif layout.kind[node] == FOLD_END:
            kinds[rows[node]] |= 2
    showdowns, both, folds, ends = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for node in range(first, last):
        row = rows[node]
        if layout.kind[node] == STREET_END:
            ends += 1
        elif layout.kind[node] >= FOLD_END and numbers[row] < 0:
            if kinds[row] == 1:
                kinds[row], numbers[row] = _SHOWDOWN, showdowns
                showdowns += 1
            elif kinds[row] == 2:
                kinds[row], numbers[row] = _FOLD, folds
                folds += 1
            else:
                kinds[row], numbers[row] = _BOTH, both
                both += 1
    return (max(most[0], showdowns), max(most[1], both), max(most[2], folds), max(most[3], ends))


@kernel
def _place_root(layout, ends, tiles, seat, root, kinds, numbers):
    """Write the rows of a root's terminal nodes, given the `kinds` and `numbers` of `_number_rows`."""
    group, lane = root // LANES, root % LANES
    tile_first, value_first = tiles.tile_first[seat, group], tiles.value_first[seat, group]
    rows, num_ends = tiles.path_row[1 - seat], np.int64(0)
    for node in range(layout.roots[root], _last_node(layout, root)):
        if layout.kind[node] < FOLD_END:
            continue
        row = np.int64(rows[node])
        if layout.kind[node] == STREET_END:
            kind, number = np.int64(_END), num_ends
            tiles.end_numbers[LANES * (tiles.end_first[group] + number) + lane] = ends[node]
            num_ends += 1
        else:
            kind, number = np.int64(kinds[row]), np.int64(numbers[row])
        value = value_first[kind] + number
        if kind == _BOTH:
            value += number + (layout.kind[node] == FOLD_END)
        tiles.tile_rows[seat, LANES * (tile_first[kind] + number) + lane] = row
        tiles.value_row[seat, node] = LANES * (value - value_first[0]) + lane


@kernel
def fill_tiles(layout, seat, plans, first_bucket, last_bucket, work):
    """Fill a seat's play tiles and gain tiles with the products of its strategy in some buckets.

    Parameters
    ----------
    plans : BucketPlans
        Its `plays` and `gains` of the seat are modified in place.
    first_bucket, last_bucket : int
        The buckets, as in `plan_buckets`.
    work : TileWorkspace
    """
    plays, gains, width, span = plans.plays[seat], plans.gains[seat], plans.width, plans.span
    tiles, other = plans.tiles, 1 - seat
    ones, zeros = spread(plays, plays.dtype.type(1)), spread(plays, plays.dtype.type(0))
    store(work.paths, tiles.num_paths[seat], zeros)
    for start in range(first_bucket, last_bucket, LANES):
        for group in range(len(tiles.node_first) - 1):
            _take_plan(tiles, seat, group, plans.tables[seat], start, width, work)
            for root in range(LANES):
                store(work.paths, root, ones)
            _pass_products(layout, tiles, seat, group, work)
            for tile in range(tiles.tile_first[other, group, 0], tiles.tile_first[other, group, 4]):
                for lane in range(LANES):
                    work.rows[lane] = np.int64(tiles.tile_rows[other, LANES * tile + lane])
                transpose_in(work.paths, work.rows, 0, 0, plays, np.int64(tile) * span + start)
            first_value = np.int64(tiles.value_first[seat, group, 0])
            num_values = np.int64(tiles.value_first[seat, group, 4]) - first_value
            clear(work.values, np.int64(0), LANES * num_values)
            for node in range(tiles.node_first[group], tiles.node_first[group + 1]):
                if layout.kind[node] >= FOLD_END:
                    row, product = np.int64(tiles.value_row[seat, node]), np.int64(tiles.path_row[seat, node])
                    chips = spread(plays, layout.scale[seat, node])
                    store(work.values, row, load(work.values, row) + load(work.paths, product) * chips)
            for value in range(num_values):
                transpose_in(work.values, work.lanes, 0, value * LANES, gains, (first_value + value) * span + start)


@kernel
def _take_plan(tiles, seat, group, plan, start, width, work):
    """Write a group's strategies in sixteen buckets from `start` on to ``work.plan``; the last bucket is repeated."""
    begin = np.int64(tiles.action_first[seat, group])
    for first in range(begin, tiles.action_first[seat, group + 1], LANES):
        for lane in range(LANES):
            work.rows[lane] = np.int64(first) // LANES * width + min(start + lane, width - 1)
        transpose_in(plan, work.rows, 0, 0, work.plan, np.int64(first) - begin)


@kernel
def _pass_products(layout, tiles, seat, group, work):
    """Pass a seat's products, or its reach, from the roots of a group down to the ends of the group."""
    begin = np.int64(tiles.action_first[seat, group])
    for node in range(tiles.node_first[group], tiles.node_first[group + 1]):
        if layout.kind[node] == seat:
            action = np.int64(layout.table_lane[node]) - begin
            reached = load(work.paths, np.int64(tiles.path_row[seat, node]))
            for k in range(action, action + np.int64(layout.child_first[node + 1] - layout.child_first[node])):
                store(work.paths, LANES + k, reached * load(work.plan, k))


@kernel
def settle_tiles(layout, seat, plans, first_bucket, last_bucket, found, regrets, sums, step, work):
    """Carry a walk's values up the betting by bucket, and add to a seat's tables, as `vector_cfr_kernels.learn` does.

    Parameters
    ----------
    plans : BucketPlans
        The strategies of the walk.
    first_bucket, last_bucket : int
        The buckets whose values are carried up, as in `plan_buckets`.
    found : float[num_chunks, n, 16]
        The sums of each chunk. Set to 0.
    regrets, sums : float[n * width, 16]
        The seat's tables. Modified in place.
    step : float[3]
        `GAIN`, `LOSS` and `DECAY`.
    work : TileWorkspace
    """
    tiles, width, span = plans.tiles, plans.width, plans.span
    num_groups = len(tiles.node_first) - 1
    num_values = np.int64(tiles.value_first[seat, num_groups - 1, 4])
    gain, loss, decay = spread(regrets, step[GAIN]), spread(regrets, step[LOSS]), spread(regrets, step[DECAY])
    for start in range(first_bucket, last_bucket, LANES):
        for group in range(num_groups):
            _take_plan(tiles, seat, group, plans.tables[seat], start, width, work)
            first_value = np.int64(tiles.value_first[seat, group, 0])
            for value in range(first_value, np.int64(tiles.value_first[seat, group, 4])):
                _take_found(found, value * span + start, work)
                transpose_in(work.spare, work.lanes, 0, 0, work.values, (value - first_value) * LANES)
            _take_found(found, (num_values + group) * span + start, work)
            transpose_in(work.spare, work.lanes, 0, 0, work.paths, 0)
            begin, end = np.int64(tiles.action_first[seat, group]), np.int64(tiles.action_first[seat, group + 1])
            clear(work.gained, np.int64(0), end - begin)  # entries of padding stay 0
            clear(work.paths, np.int64(LANES), end - begin)
            _carry_up(layout, tiles, seat, group, work)
            _pass_products(layout, tiles, seat, group, work)
            for action in range(begin, end, LANES):
                row = action // LANES * width + start
                transpose_in(work.gained, work.lanes, 0, action - begin, work.spare, 0)
                for k in range(min(LANES, width - start)):
                    regret = load(regrets, row + k) + load(work.spare, k)
                    store(regrets, row + k, regret * where_positive(regret, gain, loss))
                transpose_in(work.paths, work.lanes, 0, LANES + action - begin, work.spare, 0)
                for k in range(min(LANES, width - start)):
                    store(sums, row + k, load(sums, row + k) * decay + load(work.spare, k))


@kernel
def _take_found(found, block, work):
    """Write sixteen blocks from `block` on, summed over all chunks, to ``work.spare``, and set them to 0."""
    zeros = spread(found[0], found.dtype.type(0))
    for k in range(LANES):
        total = zeros
        for chunk in range(found.shape[0]):
            total = total + load(found[chunk], block + k)
            store(found[chunk], block + k, zeros)
        store(work.spare, k, total)


@kernel
def _carry_up(layout, tiles, seat, group, work):
    """Carry a seat's values in sixteen buckets up a group, and write the regrets to ``work.gained``."""
    begin = np.int64(tiles.action_first[seat, group])
    values, children, value_row, scale = work.values, layout.children, tiles.value_row[seat], layout.scale[seat]
    zeros = spread(values, values.dtype.type(0))
    for node in range(tiles.node_first[group + 1] - 1, tiles.node_first[group] - 1, -1):
        kind = layout.kind[node]
        if kind >= FOLD_END:
            continue
        total, action = zeros, np.int64(layout.table_lane[node]) - begin
        first_child, last_child = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
        for k in range(first_child, last_child):
            child = children[k]
            value = load(values, np.int64(value_row[child])) * spread(values, scale[child])
            if kind == seat:
                store(work.gained, action + k - first_child, value)
                total = total + value * load(work.plan, action + k - first_child)
            else:
                total = total + value
        store(values, np.int64(value_row[node]), total)
        if kind == seat:
            for k in range(action, action + last_child - first_child):
                store(work.gained, k, load(work.gained, k) - total)


@kernel
def update_boards_by_buckets(street, plans, visits, times, seat, found, above, work, totals):
    """Visit boards of the last street for a seat, with strategies by bucket.

    Parameters
    ----------
    plans : BucketPlans
    visits : Visits
    times : float
        The product of the factors of `leave_board` on the streets before.
    found : float[n, 16]
        One chunk's sums. Modified in place.
    totals : float[ceil(num_roots / 16) * above_blocks * 16, 16]
        As in `leave_board`, for values of the seat's own strategy alone. Modified in place.
    """
    tiles = plans.tiles
    for k in range(len(visits.boards)):
        board, factor = visits.boards[k], visits.factors[k]
        own, others = _hands_of(street, plans, board, seat), _hands_of(street, plans, board, 1 - seat)
        deals_of_board = street.deals.multiplicity[board] * (factor * times)
        for group in range(len(tiles.node_first) - 1):
            _enter_group(plans, seat, group, own, others, deals_of_board, found, above, work)
            _visit_group(plans, seat, group, own, others, deals_of_board, found, work)
            _leave_group(street, board, group, seat, factor, above, work, totals)


@kernel
def descend_by_buckets(street, plans, board, above, work):
    """Write both seats' reach at the street's ends to ``work.below``, with strategies by bucket."""
    tiles = plans.tiles
    num_ends = np.int64(street.layout.ends.shape[1])
    for seat in range(2):
        hands = _hands_of(street, plans, board, seat)
        num_hands, plays = np.int64(len(hands.above)), plans.plays[seat]
        blocks = (num_hands + LANES - 1) // LANES
        work.below.blocks[seat] = blocks
        for group in range(len(tiles.node_first) - 1):
            _take_reach(hands, group, seat, above, work)
            tile = np.int64(tiles.tile_first[1 - seat, group, _END])
            for end in range(tiles.end_first[group], tiles.end_first[group + 1]):
                play = (tile + end - tiles.end_first[group]) * plans.span
                for k in range(num_hands):
                    product = load(work.tile, FIRST_HAND + k) * load(plays, play + np.int64(hands.numbers[k]))
                    store(work.out, k, product)
                clear(work.out, num_hands, -num_hands % LANES)
                for lane in range(LANES):
                    work.rows[lane] = np.int64(tiles.end_numbers[LANES * np.int64(end) + lane]) * blocks
                tile_to_rows(work.out, work.rows, blocks, work.values)
        for first in range(0, num_ends, LANES):
            for lane in range(LANES):
                # The last end is repeated as padding.
                work.rows[lane] = min(first + lane, tiles.num_ends - 1) * blocks
            rows_to_tile(work.values, work.rows, blocks, work.below.reach[seat], np.int64(first * blocks))


@kernel
def ascend_by_buckets(street, plans, board, seat, factor, times, found, above, work, totals):
    """Carry values from a street's ends, which `take_ends` has written, to the street's roots on a board.

    Parameters
    ----------
    factor : float
        The factor of the board, as in `leave_board`.
    times : float
        The product of this factor and of those on the streets before.
    found, totals
        As in `update_boards_by_buckets`.
    """
    tiles, gains, values = plans.tiles, plans.gains[seat], work.values
    own, others = _hands_of(street, plans, board, seat), _hands_of(street, plans, board, 1 - seat)
    deals_of_board = street.deals.multiplicity[board] * times
    blocks = (np.int64(len(own.above)) + LANES - 1) // LANES
    first_row = np.int64(street.layout.end_row[seat])
    for group in range(len(tiles.node_first) - 1):
        _enter_group(plans, seat, group, own, others, deals_of_board, found, above, work)
        _visit_group(plans, seat, group, own, others, deals_of_board, found, work)
        value = np.int64(tiles.value_first[seat, group, _END])
        for end in range(tiles.end_first[group], tiles.end_first[group + 1]):
            for lane in range(LANES):
                number = min(np.int64(tiles.end_numbers[LANES * np.int64(end) + lane]), tiles.num_ends - 1)
                work.rows[lane] = (first_row + number) * blocks
            rows_to_tile(values, work.rows, blocks, work.out, np.int64(0))
            start = (value + end - tiles.end_first[group]) * plans.span
            for k in range(len(own.numbers)):
                into, won = start + np.int64(own.numbers[k]), load(work.out, k)
                store(work.roots, k, load(work.roots, k) + won * load(gains, into))
                weight = spread(found, own.weights[k] * deals_of_board)
                store(found, into, load(found, into) + won * weight)
        _leave_group(street, board, group, seat, factor, above, work, totals)


@kernel
def _hands_of(street, plans, board, seat):
    """Return a seat's hands on a board."""
    deals, hands = street.deals, street.deals.seats[seat]
    first, last = hands.first[board], hands.first[board + 1]
    return BoardHands(
        hands.cards[first:last],
        hands.same[first:last],
        hands.above[first:last],
        deals.group_stops[seat, deals.group_first[board] : deals.group_first[board + 1]],
        plans.buckets.numbers[seat][first:last],
        plans.buckets.weights[seat][first:last],
    )


@kernel
def _enter_group(plans, seat, group, own, others, deals_of_board, found, above, work):
    """Write the other seat's reach at a group's roots to ``work.tile``, and add the traverser's reach by bucket.

    The values at the roots, in ``work.roots``, become 0.
    """
    _take_reach(others, group, 1 - seat, above, work)
    reach, start = above.reach[seat], np.int64(group) * above.blocks[seat] * LANES
    tiles = plans.tiles
    place = (np.int64(tiles.value_first[seat, len(tiles.node_first) - 2, 4]) + group) * plans.span
    times = spread(found, deals_of_board)
    for k in range(len(own.above)):
        into = place + np.int64(own.numbers[k])
        store(found, into, load(found, into) + load(reach, start + np.int64(own.above[k])) * times)
    clear(work.roots, np.int64(0), np.int64(len(own.above)))


@kernel
def _take_reach(hands, group, seat, above, work):
    """Write a seat's reach at a group's roots to ``work.tile``."""
    reach, start = above.reach[seat], np.int64(group) * above.blocks[seat] * LANES
    for k in range(len(hands.above)):
        store(work.tile, FIRST_HAND + k, load(reach, start + np.int64(hands.above[k])))


@kernel
def _visit_group(plans, seat, group, own, others, deals_of_board, found, work):
    """Add the values of a group's folds and showdowns to `found`, and to the values at the roots in ``work.roots``."""
    tiles, plays, gains, span = plans.tiles, plans.plays[1 - seat], plans.gains[seat], plans.span
    tile_first, value_first = tiles.tile_first[seat, group], tiles.value_first[seat, group]
    for kind in range(2):
        for number in range(tile_first[kind + 1] - tile_first[kind]):
            play = np.int64(tile_first[kind] + number) * span
            value = np.int64(value_first[kind] + (1 + kind) * number) * span
            _sweep(own, others, plays, play, work)
            if kind == 0:
                _add_showdowns(own, gains, value, deals_of_board, found, work)
            else:
                _add_showdowns_and_folds(own, plays, play, gains, value, span, deals_of_board, found, work)
    for number in range(tile_first[3] - tile_first[2]):
        play, value = np.int64(tile_first[2] + number) * span, np.int64(value_first[2] + number) * span
        _weigh(others, plays, play, work)
        _add_folds(own, plays, play, gains, value, deals_of_board, found, work)


_TOTAL = CARD_SLOTS
"""The block of ``work.mass`` that holds the total weight of all hands."""


@kernel
def _sweep(own, others, plays, play, work):
    """Write the sum of the first two terms of each hand's margin to ``work.out`` (`showdown_kernels.fill_margin_tile`).

    ``work.mass`` then holds the whole range.
    """
    mass, tile, out = work.mass, work.tile, work.out
    clear(mass, np.int64(0), np.int64(CARD_SLOTS))
    total = spread(mass, mass.dtype.type(0))
    own_start, other_start = np.int64(0), np.int64(0)
    for group in range(len(own.stops)):
        own_stop, other_stop = np.int64(own.stops[group]), np.int64(others.stops[group])
        for k in range(own_start, own_stop):
            held = held_with(own.cards, k, mass)
            store(out, k, total - held)
        for k in range(other_start, other_stop):
            weights = load(tile, FIRST_HAND + k) * load(plays, play + np.int64(others.numbers[k]))
            total = total + weights
            add_hand(others.cards, k, weights, mass)
        for k in range(own_start, own_stop):
            held = held_with(own.cards, k, mass)
            store(out, k, load(out, k) + (total - held))
        own_start, other_start = own_stop, other_stop
    store(mass, _TOTAL, total)


@kernel
def _weigh(others, plays, play, work):
    """Fill ``work.mass`` with a range, for folds alone."""
    mass, tile = work.mass, work.tile
    clear(mass, np.int64(0), np.int64(CARD_SLOTS))
    total = spread(mass, mass.dtype.type(0))
    for k in range(len(others.numbers)):
        weights = load(tile, FIRST_HAND + k) * load(plays, play + np.int64(others.numbers[k]))
        total = total + weights
        add_hand(others.cards, k, weights, mass)
    store(mass, _TOTAL, total)


@kernel
def _add_showdowns(own, gains, value, deals_of_board, found, work):
    """Add the values of showdowns after `_sweep`: `value` is the first block of the value tile and the gain tile."""
    mass, out, values = work.mass, work.out, work.roots
    total = load(mass, _TOTAL)
    for k in range(len(own.numbers)):
        held = held_with(own.cards, k, mass)
        margin, into = load(out, k) - (total - held), value + np.int64(own.numbers[k])
        store(values, k, load(values, k) + margin * load(gains, into))
        store(found, into, load(found, into) + margin * spread(found, own.weights[k] * deals_of_board))


@kernel
def _add_showdowns_and_folds(own, plays, play, gains, value, span, deals_of_board, found, work):
    """Add the values of showdowns as `_add_showdowns`, and those of folds with the next value tile."""
    mass, out, values, tile = work.mass, work.out, work.roots, work.tile
    total = load(mass, _TOTAL)
    for k in range(len(own.numbers)):
        held = held_with(own.cards, k, mass)
        number = np.int64(own.numbers[k])
        into = value + number
        # Both seats' hands with the same cards are in one bucket.
        same = load(tile, np.int64(own.same[k])) * load(plays, play + number)
        margin, kept = load(out, k) - (total - held), total - (held - same)
        store(values, k, load(values, k) + margin * load(gains, into) + kept * load(gains, into + span))
        weight = spread(found, own.weights[k] * deals_of_board)
        store(found, into, load(found, into) + margin * weight)
        store(found, into + span, load(found, into + span) + kept * weight)


@kernel
def _add_folds(own, plays, play, gains, value, deals_of_board, found, work):
    """Add the values of folds after `_weigh`, as `_add_showdowns` does."""
    mass, values, tile = work.mass, work.roots, work.tile
    total = load(mass, _TOTAL)
    for k in range(len(own.numbers)):
        held = held_with(own.cards, k, mass)
        number = np.int64(own.numbers[k])
        into = value + number
        kept = total - (held - load(tile, np.int64(own.same[k])) * load(plays, play + number))
        store(values, k, load(values, k) + kept * load(gains, into))
        store(found, into, load(found, into) + kept * spread(found, own.weights[k] * deals_of_board))


@kernel
def _leave_group(street, board, group, seat, factor, above, work, totals):
    """Add the values at a group's roots, in ``work.roots``, to `totals`; see `vector_cfr_kernels.leave_board`."""
    deals, hands, above_blocks = street.deals, street.deals.seats[seat], above.blocks[seat]
    num_hands = hands.first[board + 1] - hands.first[board]
    weight, start = spread(totals, deals.weight[board] * factor), np.int64(group) * above_blocks * LANES
    for member in range(deals.member_first[board], deals.member_first[board + 1]):
        first = hands.target_first[member]
        for k in range(num_hands):
            target = start + np.int64(hands.targets[first + k])
            store(totals, target, load(totals, target) + load(work.roots, k) * weight)
