"""Kernels that enumerate all sequences of actions that a menu offers in a game, depth first."""

import numpy as np

from plurispiel.abstraction.holdem.betting_layout import (
    ACTOR,
    CALL,
    CAN_FOLD,
    CONTRIB,
    FOLD,
    FOLDED,
    IS_LIMIT,
    MAX_CONTRIB,
    MAX_RAISE,
    MIN_RAISE,
    NUM_ACTING,
    NUM_CALLED,
    NUM_LIVE,
    NUM_RAISES,
    NUM_SEATS,
    STATE_SIZE,
    STREET,
)
from plurispiel.abstraction.holdem.betting_state import apply_action, start_hand
from plurispiel.abstraction.machine.jit import kernel

MAX_ACTIONS = 32
"""Greatest number of actions on offer at one decision, fold and call included."""
MAX_DEPTH = 400
"""A bound that no hand's number of actions exceeds."""
TERMINAL = -1

POT, BIG_BLIND, ALL_IN = 0, 1, 2
"""Units of a menu's sizes."""


@kernel(inline=True)
def _may_call(rules, menu, state):
    """Return whether the menu lets the actor call a bet that the actor could also raise."""
    if menu.push_or_fold:
        return False
    raises = state[NUM_RAISES]
    callers = state[NUM_CALLED]
    if raises > 0:
        # All seats with the largest contribution have called, except the raiser. NUM_CALLED cannot be used: it leaves
        # out seats that are all-in.
        callers = np.int64(-1)
        for seat in range(rules[NUM_SEATS]):
            callers += state[CONTRIB + seat] == state[MAX_CONTRIB]
    most = menu.callers[state[STREET], min(raises, menu.callers.shape[1] - 1)]
    return callers < most or state[NUM_LIVE] == 2 or state[NUM_ACTING] - state[NUM_CALLED] == 1


@kernel(inline=True)
def fill_actions(rules, menu, state, actions):
    """Write the actions on offer to the actor, ascending, and return their number.

    Parameters
    ----------
    rules, state : int64[RULES_SIZE], int64[STATE_SIZE]
    menu : MenuArrays
    actions : int64[MAX_ACTIONS]
        Modified in place.
    """
    count = 0
    if state[CAN_FOLD]:
        actions[count] = FOLD
        count += 1
    lowest, highest = state[MIN_RAISE], state[MAX_RAISE]
    if highest == 0 or not state[CAN_FOLD] or _may_call(rules, menu, state):
        actions[count] = CALL
        count += 1
    if highest == 0:
        return count
    row = menu.first[
        state[STREET],
        min(state[NUM_LIVE], menu.first.shape[1] - 1),
        min(state[NUM_RAISES], menu.first.shape[2] - 1),
    ]
    num_sizes = menu.length[
        state[STREET],
        min(state[NUM_LIVE], menu.length.shape[1] - 1),
        min(state[NUM_RAISES], menu.length.shape[2] - 1),
    ]
    if rules[IS_LIMIT]:
        if num_sizes > 0:
            actions[count] = highest
            count += 1
        return count
    seat, most = state[ACTOR], state[MAX_CONTRIB]
    pot_after_call = most - state[CONTRIB + seat]
    for other in range(rules[NUM_SEATS]):
        pot_after_call += state[CONTRIB + other]
    start = count
    for size in range(row, row + num_sizes):
        unit, amount = menu.units[size], menu.amounts[size]
        total = highest
        if unit == POT:
            total = most + np.int64(amount * pot_after_call + 0.5)  # rounded as in `betting.pot_raise`
        elif unit == BIG_BLIND:
            total = np.int64(amount * menu.big_blind + 0.5)
        if menu.exact:
            # As in universal_poker, half a pot is offered only where a raise of the whole pot is legal.
            pot = most + pot_after_call
            if unit == POT and (total < lowest or pot < lowest or pot > highest):
                continue
        else:
            total = highest if total >= menu.all_in_share * highest else min(max(total, lowest), highest)
        # Totals are inserted in ascending order, each once: translation expects the largest raise to be the last
        # action.
        place = count
        while place > start and actions[place - 1] >= total:
            place -= 1
        if place < count and actions[place] == total:
            continue
        for k in range(count, place, -1):
            actions[k] = actions[k - 1]
        actions[place] = total
        count += 1
    return count


@kernel
def count_nodes(rules, menu, work, max_nodes, decisions, pairs):
    """Return the numbers of nodes and of ends of the betting tree, without storing the tree.

    Parameters
    ----------
    rules : int64[RULES_SIZE]
    menu : MenuArrays
    work : TreeWorkspace
    max_nodes : int
        Counting stops at the first node above this number.
    decisions, pairs : int64[num_streets]
        The numbers of decision nodes and of their actions are added for each street. Modified in place.
    """
    states, actions, num_actions, following = work.states, work.actions, work.num_actions, work.following
    start_hand(rules, states[0])
    num_actions[0] = fill_actions(rules, menu, states[0], actions[0])
    following[0] = 0
    decisions[states[0][STREET]] += 1
    pairs[states[0][STREET]] += num_actions[0]
    num_nodes, num_ends = np.int64(1), np.int64(0)
    depth = 0
    while depth >= 0:
        if following[depth] == num_actions[depth]:
            depth -= 1
            continue
        action = actions[depth, following[depth]]
        following[depth] += 1
        state = states[depth + 1]
        for k in range(STATE_SIZE):
            state[k] = states[depth, k]
        apply_action(rules, state, action)
        num_nodes += 1
        if num_nodes > max_nodes:
            return num_nodes, num_ends
        if state[ACTOR] < 0:
            num_ends += 1
            continue
        depth += 1
        num_actions[depth] = fill_actions(rules, menu, state, actions[depth])
        following[depth] = 0
        decisions[state[STREET]] += 1
        pairs[state[STREET]] += num_actions[depth]
    return num_nodes, num_ends


@kernel
def fill_tree(rules, menu, work, next_row, tree):
    """Write the nodes of the betting tree, numbered as the module `abstraction.actions.tree` describes.

    Parameters
    ----------
    rules, menu, work
        As in `count_nodes`.
    next_row : int64[num_streets]
        The row of each street's next decision; must hold zeros at the call. Modified in place.
    tree : BettingTree
        Arrays of the size found by `count_nodes`. Modified in place.
    """
    states, actions, num_actions, following = work.states, work.actions, work.num_actions, work.following
    nodes = work.nodes
    start_hand(rules, states[0])
    next_node, next_end = 1, 0
    depth = 0
    nodes[0] = 0
    tree.parent[0] = -1
    tree.action[0] = -1
    opened = -1  # depth of the deepest node on the path whose children have numbers
    while depth >= 0:
        node, state = nodes[depth], states[depth]
        if opened < depth:  # first visit: all children get their numbers now, so that they are contiguous
            opened = depth
            count = fill_actions(rules, menu, state, actions[depth])
            street = state[STREET]
            tree.actor[node] = state[ACTOR]
            tree.street[node] = street
            tree.num_actions[node] = count
            tree.first_child[node] = next_node
            # Depth first: a subtree's rows lie together, and memory that is never written stays unused. A subtree that
            # is never reached therefore takes hardly any memory.
            tree.row[node] = next_row[street]
            tree.paid[node] = state[CONTRIB + state[ACTOR]]
            next_row[street] += count
            next_node += count
            num_actions[depth] = count
            following[depth] = 0
        if following[depth] == num_actions[depth]:
            depth -= 1
            opened = depth
            continue
        action = actions[depth, following[depth]]
        child = tree.first_child[node] + following[depth]
        following[depth] += 1
        tree.parent[child] = node
        tree.action[child] = action
        below = states[depth + 1]
        for k in range(STATE_SIZE):
            below[k] = state[k]
        apply_action(rules, below, action)
        if below[ACTOR] >= 0:
            depth += 1
            nodes[depth] = child
            continue
        tree.actor[child] = TERMINAL
        tree.street[child] = below[STREET]
        tree.num_actions[child] = 0
        tree.first_child[child] = next_end
        tree.row[child] = -1
        tree.paid[child] = 0
        folded = 0
        for seat in range(rules[NUM_SEATS]):
            tree.contributions[next_end, seat] = below[CONTRIB + seat]
            folded |= below[FOLDED + seat] << seat
        tree.folded[next_end] = folded
        next_end += 1
