"""Kernels of the betting: the actor, the legal actions and the payoffs.

The rules of a game and the state of a hand are flat int64 arrays, of which `betting_layout` names the entries. The
logic is that of the ACPC server, on which ``universal_poker`` is built, so that all states agree with those of
``universal_poker``.
"""

import numpy as np

from plurispiel.abstraction.holdem.betting_layout import (
    ACTING,
    ACTOR,
    BLIND,
    CALL,
    CAN_FOLD,
    CONTRIB,
    FIRST_SEAT,
    FOLD,
    FOLDED,
    IS_LIMIT,
    MAX_CONTRIB,
    MAX_RAISE,
    MAX_RAISES,
    MAX_STREET_ACTIONS,
    MIN_BET,
    MIN_RAISE,
    NEXT_RAISE,
    NUM_ACTING,
    NUM_ACTIONS,
    NUM_BOARD_CARDS,
    NUM_CALLED,
    NUM_HOLE_CARDS,
    NUM_LIVE,
    NUM_RAISES,
    NUM_SEATS,
    NUM_STREETS,
    RAISE_SIZE,
    STACK,
    STREET,
)
from plurispiel.abstraction.holdem.hand_rank_kernels import rank_word
from plurispiel.abstraction.machine.jit import kernel

_LOWEST_BIT = np.array([(seats & -seats).bit_length() - 1 for seats in range(1 << 10)], dtype=np.int8)


@kernel
def start_hand(rules, state):
    """Post the blinds and find the first seat to act. `state` is modified in place."""
    num_seats = rules[NUM_SEATS]
    max_contrib = 0
    num_acting = 0
    acting = 0
    for seat in range(num_seats):
        blind = rules[BLIND + seat]
        state[CONTRIB + seat] = blind
        state[FOLDED + seat] = 0
        max_contrib = max(max_contrib, blind)
        if blind < rules[STACK + seat]:
            num_acting += 1
            acting |= 1 << seat
    state[STREET] = 0
    state[MAX_CONTRIB] = max_contrib
    state[NEXT_RAISE] = 2 * max_contrib
    state[NUM_RAISES] = 0
    state[NUM_ACTIONS] = 0
    state[NUM_CALLED] = 0  # a blind is not a call: the big blind may still raise when all have called
    state[NUM_LIVE] = num_seats
    state[NUM_ACTING] = num_acting
    state[ACTING] = acting
    _pass_action(rules, state, rules[FIRST_SEAT], 0, max_contrib, 2 * max_contrib, 0, 0, num_acting, acting)


@kernel(inline=True)
def _pass_action(rules, state, seat, street, max_contrib, next_raise, num_raises, num_actions, num_acting, acting):
    """Make `seat`, or the next seat in turn that can act, the actor, and write its legal actions.

    The caller passes the entries that it has just written: reading them from `state` would wait for the stores.
    """
    # The next seat in turn is the lowest bit from `seat` on, or if there is none the lowest of all bits.
    from_seat = (acting >> seat) << seat
    seat = np.int64(_LOWEST_BIT[from_seat if from_seat != 0 else acting]) & 15
    stack = rules[STACK + seat]
    may_raise = (
        (num_acting > 1)  # a raise that nobody could call is not offered
        & (num_raises < rules[MAX_RAISES + street])
        & (num_actions + rules[NUM_SEATS] <= MAX_STREET_ACTIONS)  # room for all answers, as in universal_poker
        & (stack > max_contrib)
    )
    highest = stack if rules[IS_LIMIT] == 0 else max_contrib + rules[RAISE_SIZE + street]
    lowest = stack + min(next_raise - stack, 0) if rules[IS_LIMIT] == 0 else highest
    state[ACTOR] = seat
    state[CAN_FOLD] = state[CONTRIB + seat] < max_contrib
    state[MIN_RAISE] = lowest * may_raise
    state[MAX_RAISE] = highest * may_raise


@kernel(inline=True)
def apply_action(rules, state, action):
    """Apply a legal action of the actor. `state` is modified in place.

    The effects of the three actions are selected by arithmetic instead of branches. Actions are hard to predict, and a
    mispredicted branch costs more than the arithmetic. Fold and call (0 and 1) are not above the largest contribution,
    so that `max` ignores them. LLVM compiles ``max(a, b)``, a product with 0 or 1 and a choice between two numbers to
    branches. It compiles ``a + max(b - a, 0)`` and a shift by 0 or 63 bits without branches.
    """
    seat = state[ACTOR] & 15  # the compiler then knows that the index is not negative
    stack = rules[STACK + seat]
    max_contrib = state[MAX_CONTRIB]
    folds = np.int64(action == FOLD)
    raises = np.int64(action > CALL)
    matched = max_contrib + max(action - max_contrib, 0)
    contrib = state[CONTRIB + seat]
    # A fold adds 0, as a shift by 63 bits leaves 0.
    contrib += (stack + min(matched - stack, 0) - contrib) >> ((folds << 6) - folds)
    has_chips = np.int64(contrib < stack)
    street = state[STREET] & 3
    # After a raise from M to x, the next raise is to at least x + (x - M), and to at least the old minimum. The old
    # minimum may be higher after a small all-in raise. Even then all seats may raise again: a rule of the ACPC, not of
    # card rooms.
    next_raise = state[NEXT_RAISE]
    next_raise += max(2 * action - max_contrib - next_raise, 0)
    max_contrib = matched
    num_raises = state[NUM_RAISES] + raises
    num_actions = state[NUM_ACTIONS] + 1
    stays = has_chips * (1 - folds)
    num_called = (state[NUM_CALLED] >> (raises << 3)) + stays  # a raise shifts out the count, which is below 2**8
    num_live = state[NUM_LIVE] - folds
    num_acting = state[NUM_ACTING] - 1 + stays
    acting = state[ACTING] ^ ((1 - stays) << seat)
    state[CONTRIB + seat] = contrib
    state[FOLDED + seat] = folds
    state[MAX_CONTRIB] = max_contrib
    state[NUM_LIVE] = num_live
    state[NUM_ACTING] = num_acting
    state[ACTING] = acting

    following = seat + 1
    goes_on = num_live > 1 and num_called < num_acting
    if not goes_on and num_live > 1:
        last_street = rules[NUM_STREETS] - 1
        goes_on = num_acting > 1 and street < last_street
        if goes_on:
            street += 1
            following = rules[FIRST_SEAT + street]
            next_raise = max_contrib + rules[MIN_BET]
            num_raises = 0
            num_actions = 0
            num_called = 0
        else:
            street = last_street  # even if the other streets pass without betting because seats are all-in
        state[STREET] = street
    state[NEXT_RAISE] = next_raise
    state[NUM_RAISES] = num_raises
    state[NUM_ACTIONS] = num_actions
    state[NUM_CALLED] = num_called
    if goes_on:
        _pass_action(
            rules, state, following, street, max_contrib, next_raise, num_raises, num_actions, num_acting, acting
        )
        return
    state[ACTOR] = -1
    state[CAN_FOLD] = 0
    state[MIN_RAISE] = 0
    state[MAX_RAISE] = 0


@kernel(inline=True)
def share_pot(rules, state, ranks, payoffs):
    """Write every seat's net chips after the last action.

    Parameters
    ----------
    ranks : int64[10]
        Hand ranks of the live seats, used at a showdown only; the higher rank wins.
    payoffs : float64[num_seats]
        Modified in place. Side pots are layered by contribution; odd chips are split into fractions.
    """
    num_seats = rules[NUM_SEATS]
    is_showdown = state[NUM_LIVE] > 1
    best = np.int64(-1)
    winner = num_winners = 0
    pot = np.int64(0)
    for seat in range(num_seats):
        rank = np.int64(-1)
        if state[FOLDED + seat] == 0:
            rank = ranks[seat] if is_showdown else np.int64(0)
        num_winners = 1 if rank > best else num_winners + (rank == best)
        winner = seat if rank > best else winner
        best = max(best, rank)
        contrib = state[CONTRIB + seat]
        payoffs[seat] = -contrib
        pot += contrib
    # In most hands one seat wins all layers: it is alone, or has the single best hand and the largest contribution.
    if not is_showdown or (num_winners == 1 and state[CONTRIB + winner] == state[MAX_CONTRIB]):
        payoffs[winner] += pot
        return
    for seat in range(num_seats):
        payoffs[seat] = 0.0
    # Nobody folds without a bet to call, so a seat with the largest contribution is live, and every layer has a winner.
    floor = np.int64(0)
    while True:
        level = np.int64(2**62)
        best = np.int64(-1)
        num_sharing = 0
        for seat in range(num_seats):
            contrib = state[CONTRIB + seat]
            if contrib > floor:
                num_sharing += 1  # folded seats too: their chips are part of the layer
                level = min(level, contrib)
                best = max(best, ranks[seat] if state[FOLDED + seat] == 0 else np.int64(-1))
        num_winners = 0
        for seat in range(num_seats):
            num_winners += state[CONTRIB + seat] > floor and state[FOLDED + seat] == 0 and ranks[seat] == best
        size = level - floor
        # The winners divide the other seats' chips in this layer: the result is net of each winner's own chips.
        share = size * (num_sharing - num_winners) / num_winners
        for seat in range(num_seats):
            if state[CONTRIB + seat] > floor:
                wins = state[FOLDED + seat] == 0 and ranks[seat] == best
                payoffs[seat] += share if wins else -np.float64(size)
        if level == state[MAX_CONTRIB]:
            return
        floor = level


@kernel(inline=True)
def settle(rules, tables, state, deck, ranks, payoffs):
    """Rank the live seats' cards if there is a showdown, and write every seat's net chips.

    Parameters
    ----------
    tables : RankTables
    deck : uint8[num_dealt_cards]
        All hole cards, seat by seat, then the board.
    ranks : int64[10]
        Workspace.
    payoffs : float64[num_seats]
        Modified in place.
    """
    if state[NUM_LIVE] > 1:
        num_hole = rules[NUM_HOLE_CARDS]
        num_board = rules[NUM_BOARD_CARDS]
        first_board = rules[NUM_SEATS] * num_hole
        board_word = tables.starts[num_hole + num_board]
        board_masks = np.int64(0)
        for k in range(first_board, first_board + num_board):
            board_word += tables.words[deck[k]]
            board_masks |= tables.masks[deck[k]]
        for seat in range(rules[NUM_SEATS]):
            if state[FOLDED + seat] == 0:
                word = board_word
                masks = board_masks
                for k in range(seat * num_hole, (seat + 1) * num_hole):
                    word += tables.words[deck[k]]
                    masks |= tables.masks[deck[k]]
                ranks[seat] = rank_word(tables, word, masks)
    share_pot(rules, state, ranks, payoffs)
