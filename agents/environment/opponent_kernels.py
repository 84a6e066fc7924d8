"""Kernels of opponents that act inside the kernels of tables."""

import numpy as np

from plurispiel.abstraction.actions.tree_kernels import fill_actions
from plurispiel.abstraction.cards.features_kernels import count_outs, hand_strength
from plurispiel.abstraction.holdem.betting_layout import (
    ACTOR,
    CALL,
    CAN_FOLD,
    CONTRIB,
    FOLD,
    MAX_CONTRIB,
    MAX_RAISE,
    MIN_RAISE,
    NUM_BOARD_CARDS,
    NUM_HOLE_CARDS,
    NUM_LIVE,
    NUM_RAISES,
    NUM_SEATS,
    STACK,
    STREET,
)
from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_rank
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import next_below, next_float
from plurispiel.agents.baselines.tight_aggressive import (
    BET_POT_FRACTION,
    RAISE_POT_FRACTION,
    play_made_hands,
    play_starting_hands,
    preflop_shares,
)
from plurispiel.agents.blueprint.traversal_kernels import FIRST_CHILD, ROW, draw_row
from plurispiel.agents.environment.table_kernels import pot_after_call

RANDOM, CALLER, FOLDER, RAISER, TAG, BLUEPRINT = range(6)
"""The kinds of opponents."""


@kernel(inline=True)
def choose(game, opponents, kind, tables, i, work):
    """Return the action of an opponent that is to act at table i, drawn from the strategy of its kind of agent.

    Parameters
    ----------
    game : TableGame
    opponents : KernelOpponents
        Modified in place: `missing`.
    kind : int
    tables : HandTables
        Modified in place: the table's random stream.
    work : OpponentWorkspace
        Modified in place.
    """
    state = tables.states[i]
    if kind == CALLER:
        return np.int64(CALL)
    if kind == FOLDER:
        return np.int64(FOLD if state[CAN_FOLD] else CALL)
    if kind == RANDOM:
        return _draw_uniform(game, tables.streams[i], state, work.offered)
    if kind == RAISER:
        return _nearest_raise(game, state, RAISE_POT_FRACTION, work.offered)
    if kind == TAG:
        raise_to = fill_tag_row(game, opponents, tables, i, work)
        point = next_float(tables.streams[i])
        row = work.row
        if point < row[0, 0]:
            return np.int64(FOLD)
        return np.int64(CALL) if point < row[0, 0] + row[0, 1] or row[0, 2] == 0.0 else raise_to
    return _draw_blueprint(game, opponents, tables, i, work)


@kernel(inline=True)
def _draw_uniform(game, stream, state, offered):
    if game.every_size:
        can_fold, lowest = state[CAN_FOLD], state[MIN_RAISE]
        choice = next_below(stream, 1 + can_fold + (lowest > 0)) + 1 - can_fold
        if choice == 2:
            return lowest + next_below(stream, state[MAX_RAISE] - lowest + 1)
        return np.int64(choice)
    return offered[next_below(stream, fill_actions(game.rules, game.menu, state, offered))]


@kernel(inline=True)
def _nearest_raise(game, state, fraction, offered):
    """Return the raise on offer that is nearest to a raise by a share of the pot; a call if no raise is on offer."""
    if state[MAX_RAISE] == 0:
        return np.int64(CALL)
    total = state[MAX_CONTRIB] + np.int64(fraction * pot_after_call(game.rules, state) + 0.5)
    if game.every_size:
        return min(max(total, state[MIN_RAISE]), state[MAX_RAISE])
    best = np.int64(CALL)
    for a in range(fill_actions(game.rules, game.menu, state, offered)):
        if offered[a] > CALL and (best == CALL or abs(offered[a] - total) < abs(best - total)):
            best = offered[a]
    return best


@kernel(inline=True)
def fill_tag_row(game, opponents, tables, i, work):
    """Write tag's probabilities of fold, call and raise at table i to `work.row`, and return its raise.

    If no raise is on offer, a call is returned. The probabilities are the row of `TightAggressiveAgent.strategy` for
    the actor's hole cards; 0 for actions that are not on offer.
    """
    rules, state = game.rules, tables.states[i]
    seat, num_hole = state[ACTOR], rules[NUM_HOLE_CARDS]
    pot = np.int64(0)
    for other in range(rules[NUM_SEATS]):
        pot += state[CONTRIB + other]
    to_call = min(state[MAX_CONTRIB], rules[STACK + seat]) - state[CONTRIB + seat]
    hole_cards = tables.cards[i, seat * num_hole : (seat + 1) * num_hole]
    size = game.board_sizes[state[STREET]]
    if size == 0 and len(opponents.beaten) > 0:
        limpers = np.int64(0)
        for k in range(tables.counts[i]):
            limpers += tables.totals[i, k] == CALL
        raises, plays = preflop_shares(state[NUM_RAISES], limpers, state[NUM_LIVE], rules[NUM_SEATS], to_call, pot)
        work.combo[0] = board_rank(game.num_suits, hole_cards)
        play_starting_hands(opponents.beaten, work.combo, raises, plays, work.row)
    else:
        board = tables.cards[i, rules[NUM_SEATS] * num_hole : rules[NUM_SEATS] * num_hole + size]
        work.combo[0] = 0
        work.strength[0] = hand_strength(game.ranks, opponents.combos, hole_cards, board)
        for k in range(num_hole):
            work.hole_cards[0, k] = hole_cards[k]
        count_outs(opponents.deck, work.hole_cards, board, game.num_suits, work.outs)
        play_made_hands(
            work.strength,
            work.outs,
            work.combo,
            state[NUM_LIVE] - 1,
            rules[NUM_BOARD_CARDS] - size,
            state[NUM_RAISES],
            to_call / (pot + to_call),
            work.row,
        )
    row = work.row
    if state[CAN_FOLD] == 0:
        row[0, 1] += row[0, 0]
        row[0, 0] = 0.0
    fraction = RAISE_POT_FRACTION if state[CAN_FOLD] or size == 0 else BET_POT_FRACTION
    raise_to = _nearest_raise(game, state, fraction, work.offered)
    if raise_to == CALL:
        row[0, 1] += row[0, 2]
        row[0, 2] = 0.0
    return raise_to


@kernel(inline=True)
def _bucket(game, entries, rows, relabel, hole_cards, board):
    entry = np.int64(entries[board_rank(game.num_suits, board)])
    combo = relabel[entry & ((1 << PERMUTATION_BITS) - 1)][board_rank(game.num_suits, hole_cards)]
    return np.int64(rows[entry >> PERMUTATION_BITS, combo])


@kernel(inline=True)
def blueprint_cell(game, opponents, tables, i):
    """Return the first cell of the actor's row at table i."""
    rules, state, dealt = game.rules, tables.states[i], opponents.dealt
    seat, num_hole, street = state[ACTOR], rules[NUM_HOLE_CARDS], state[STREET]
    hole_cards = tables.cards[i, seat * num_hole : (seat + 1) * num_hole]
    first = rules[NUM_SEATS] * num_hole
    board = tables.cards[i, first : first + game.board_sizes[street]]
    relabel = dealt.cards.relabel
    # Written out: a kernel cannot index a tuple of arrays of different types with a variable.
    if street == 0:
        bucket = _bucket(game, dealt.cards.entries[0], dealt.cards.rows[0], relabel, hole_cards, board)
    elif street == 1:
        bucket = _bucket(game, dealt.cards.entries[1], dealt.cards.rows[1], relabel, hole_cards, board)
    elif street == 2:
        bucket = _bucket(game, dealt.cards.entries[2], dealt.cards.rows[2], relabel, hole_cards, board)
    else:
        bucket = _bucket(game, dealt.cards.entries[3], dealt.cards.rows[3], relabel, hole_cards, board)
    row = np.int64(dealt.tree.nodes[opponents.nodes[i], ROW])
    return dealt.game.base[street] + bucket * dealt.game.pairs[street] + row


@kernel(inline=True)
def _draw_blueprint(game, opponents, tables, i, work):
    count = fill_actions(game.rules, game.menu, tables.states[i], work.offered)
    place = draw_row(opponents.rows, blueprint_cell(game, opponents, tables, i), count, tables.streams[i])
    if place < 0:
        opponents.missing[i] += 1
        place = next_below(tables.streams[i], count)
    return work.offered[place]


@kernel(inline=True)
def follow(game, opponents, tables, i, total, work):
    """Follow an action in the blueprint's tree, before the action is applied. Modified in place: `opponents.nodes`."""
    node = opponents.nodes[i]
    count = fill_actions(game.rules, game.menu, tables.states[i], work.offered)
    for a in range(count):
        if work.offered[a] == total:
            opponents.nodes[i] = opponents.dealt.tree.nodes[node, FIRST_CHILD] + a
            return


@kernel
def tag_row_at_table(game, opponents, tables, i, work):
    """Write tag's row at one table, and return its raise; see `fill_tag_row`."""
    return fill_tag_row(game, opponents, tables, i, work)


@kernel
def choice_at_table(game, opponents, kind, tables, i, work):
    """Return an opponent's action at one table; see `choose`."""
    return choose(game, opponents, kind, tables, i, work)
