"""Kernels that write a seat's observation at a table; `observation` describes the layouts."""

from plurispiel.abstraction.holdem.betting_layout import (
    ACTOR,
    CONTRIB,
    FOLDED,
    IS_LIMIT,
    MAX_CONTRIB,
    NUM_HOLE_CARDS,
    NUM_SEATS,
    NUM_STREETS,
    STACK,
    STREET,
)
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.environment.table_kernels import BETS, CALLS, FOLDS, MOVES_ALL_IN, deck_place, num_shown

INFORMATION_STATE, OBSERVATION, COMPACT = 0, 1, 2


@kernel(inline=True)
def write_observation(game, layout, tables, i, seat, out):
    """Write the observation of a seat at table i to `out`, float32[size], modified in place."""
    for entry in range(len(out)):
        out[entry] = 0.0
    out[seat] = 1.0
    if layout.kind == COMPACT:
        _write_compact(game, layout, tables, i, seat, out)
        return
    num_cards = tables.cards.shape[1]
    place = game.rules[NUM_SEATS]
    _write_hole_cards(game, tables, i, seat, place, out)
    place += num_cards
    first = game.rules[NUM_SEATS] * game.rules[NUM_HOLE_CARDS]
    for k in range(num_shown(game, tables.states[i])):
        out[place + deck_place(game, tables.cards[i, first + k])] = 1.0
    place += num_cards
    if layout.kind == OBSERVATION:
        for other in range(game.rules[NUM_SEATS]):
            out[place + other] = tables.states[i, CONTRIB + other]
        return
    at, street = first + game.board_sizes[0], 0
    for k in range(tables.counts[i]):
        while street < tables.streets[i, k]:
            street += 1
            at += game.board_sizes[street] - game.board_sizes[street - 1]
        if at >= layout.length:  # universal_poker raises an exception in such a state
            return
        kind = tables.kinds[i, k]
        if kind != FOLDS:
            out[place + 2 * at] = kind == CALLS or kind == MOVES_ALL_IN
            out[place + 2 * at + 1] = kind == BETS or kind == MOVES_ALL_IN
        if kind >= BETS and game.rules[IS_LIMIT] == 0:
            out[place + 2 * layout.length + at] = tables.totals[i, k]
        at += 1


@kernel(inline=True)
def _write_hole_cards(game, tables, i, seat, place, out):
    num_hole = game.rules[NUM_HOLE_CARDS]
    for k in range(seat * num_hole, (seat + 1) * num_hole):
        out[place + deck_place(game, tables.cards[i, k])] = 1.0


@kernel(inline=True)
def _write_compact(game, layout, tables, i, seat, out):
    rules, state = game.rules, tables.states[i]
    num_seats, num_streets, num_cards = rules[NUM_SEATS], rules[NUM_STREETS], tables.cards.shape[1]
    place = num_seats
    out[place + state[STREET]] = 1.0
    place += num_streets
    _write_hole_cards(game, tables, i, seat, place, out)
    place += num_cards
    first = num_seats * rules[NUM_HOLE_CARDS]
    shown, before = num_shown(game, state), 0
    for street in range(num_streets):
        size = game.board_sizes[street]
        if size > before:
            for k in range(before, min(size, shown)):
                out[place + deck_place(game, tables.cards[i, first + k])] = 1.0
            place += num_cards
            before = size
    pot = 0
    for offset in range(num_seats):
        other = (seat + offset) % num_seats
        paid = state[CONTRIB + other]
        pot += paid
        out[place + offset] = layout.scale * (rules[STACK + other] - paid) if rules[IS_LIMIT] == 0 else 0.0
        out[place + num_seats + offset] = layout.scale * (paid - tables.before[i, other])
        out[place + 2 * num_seats + offset] = state[FOLDED + other]
    place += 3 * num_seats
    out[place] = layout.scale * pot / num_seats
    if state[ACTOR] >= 0:
        out[place + 1] = layout.scale * (min(state[MAX_CONTRIB], rules[STACK + seat]) - state[CONTRIB + seat])
    place += 2
    # The latest actions of each street, in order: on a street with too many, the oldest ones are left out.
    begin = 0
    for street in range(num_streets):
        end = begin
        while end < tables.counts[i] and tables.streets[i, end] == street:
            end += 1
        slot = place + 3 * layout.num_slots * street
        for k in range(max(begin, end - layout.num_slots), end):
            kind = tables.kinds[i, k]
            if kind <= CALLS:
                out[slot + kind] = 1.0
            else:
                out[slot + 2] = tables.shares[i, k] / (1.0 + tables.shares[i, k])
            slot += 3
        begin = end


@kernel
def observe_table(game, layout, tables, i, seat, out):
    """Write the observation of a seat at one table; see `write_observation`."""
    write_observation(game, layout, tables, i, seat, out)
