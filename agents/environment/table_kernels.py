"""Kernels of many tables that are played side by side: deals, actions and the actions on offer.

An *id* is a learner's number for an action, see `fill_ids`; a *total* is the action itself, as in `betting_layout`:
0 fold, 1 check or call, N raise to N chips.
"""

import numpy as np

from plurispiel.abstraction.actions.tree_kernels import fill_actions
from plurispiel.abstraction.holdem.betting_layout import (
    ACTOR,
    CALL,
    CONTRIB,
    IS_LIMIT,
    MAX_CONTRIB,
    MAX_RAISE,
    NUM_LIVE,
    NUM_SEATS,
    NUM_STREETS,
    STATE_SIZE,
    STREET,
)
from plurispiel.abstraction.holdem.betting_state import apply_action
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import deal

FOLDS, CALLS, BETS, MOVES_ALL_IN = 0, 1, 2, 3
"""Kinds of actions in a table's history. The last is the all-in of a menu, unless it equals the raise by the pot."""

POT_ID, ALL_IN_ID, HALF_POT_ID = 2, 3, 4
"""Ids of raises in ``universal_poker``; a limit game's only raise has the first."""


@kernel(inline=True)
def begin_hand(game, tables, i):
    """Deal a new hand at table i. Modified in place: `tables`."""
    deal(tables.streams[i], tables.cards[i], game.num_dealt)
    state = tables.states[i]
    for entry in range(STATE_SIZE):
        state[entry] = game.start[entry]
    for seat in range(game.rules[NUM_SEATS]):
        tables.before[i, seat] = 0
    tables.counts[i] = 0


@kernel(inline=True)
def pot_after_call(rules, state):
    """Return the pot after a call by the actor."""
    total = state[MAX_CONTRIB] - state[CONTRIB + state[ACTOR]]
    for seat in range(rules[NUM_SEATS]):
        total += state[CONTRIB + seat]
    return total


@kernel(inline=True)
def take_action(game, tables, i, total):
    """Apply a legal action of the actor at table i, and add it to the history. Modified in place: `tables`."""
    rules, state = game.rules, tables.states[i]
    count, street = tables.counts[i], state[STREET]
    kind, share = total, 0.0
    if total > CALL:
        pot = pot_after_call(rules, state)
        share = (total - state[MAX_CONTRIB]) / pot
        # In universal_poker, a raise by the pot that puts in the stack counts as the raise by the pot.
        is_all_in = total == state[MAX_RAISE] and total != state[MAX_CONTRIB] + pot
        kind = MOVES_ALL_IN if is_all_in and game.native_ids and rules[IS_LIMIT] == 0 else BETS
    tables.totals[i, count] = total
    tables.kinds[i, count] = kind
    tables.streets[i, count] = street
    tables.shares[i, count] = share
    tables.counts[i] = count + 1
    apply_action(rules, state, total)
    if state[STREET] != street:
        for seat in range(rules[NUM_SEATS]):
            tables.before[i, seat] = state[CONTRIB + seat]


@kernel(inline=True)
def fill_ids(game, state, offered, by_id):
    """Write the action of each of a learner's ids, -1 for an id that is not on offer.

    Id 0 is fold and id 1 check or call. From 2 on, the ids are the raises on offer, ascending. With `native_ids`, the
    raises have the ids of ``universal_poker`` instead.

    Parameters
    ----------
    game : TableGame
    state : int64[STATE_SIZE]
        A state with a seat to act.
    offered : int64[MAX_ACTIONS]
        Workspace.
    by_id : int64[num_ids]
        Modified in place.
    """
    for number in range(len(by_id)):
        by_id[number] = -1
    count = fill_actions(game.rules, game.menu, state, offered)
    num_raises = 0
    for a in range(count):
        total = offered[a]
        number = total
        if total > CALL:
            number = 2 + num_raises
            num_raises += 1
            if game.native_ids and game.rules[IS_LIMIT] == 0:
                if total == state[MAX_CONTRIB] + pot_after_call(game.rules, state):
                    number = POT_ID
                else:
                    number = ALL_IN_ID if total == state[MAX_RAISE] else HALF_POT_ID
        by_id[number] = total


@kernel(inline=True)
def deck_place(game, card):
    """Return the position of a card in the deck of the game, OpenSpiel's number of the card."""
    card = np.int64(card)
    return (card >> 2) * game.num_suits + (card & 3)


@kernel(inline=True)
def num_shown(game, state):
    """Return the number of board cards that everybody sees; all of them at a showdown, as in ``universal_poker``."""
    if state[ACTOR] < 0 and state[NUM_LIVE] > 1:
        return game.board_sizes[game.rules[NUM_STREETS] - 1]
    return game.board_sizes[state[STREET]]


@kernel
def begin_table(game, tables, i):
    """Deal a new hand at one table; see `begin_hand`."""
    begin_hand(game, tables, i)


@kernel
def act_at_table(game, tables, i, total):
    """Apply an action at one table; see `take_action`."""
    take_action(game, tables, i, total)


@kernel
def ids_at_table(game, tables, i, offered, by_id):
    """Write the actions of a learner's ids at one table; see `fill_ids`."""
    fill_ids(game, tables.states[i], offered, by_id)
