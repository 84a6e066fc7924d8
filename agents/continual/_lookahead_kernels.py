"""Kernels of the lookahead: iterations on the betting of one street, with all hands of both seats at once.

Rows of reach, tables and values have a number for each hand of the board, weakest first (`showdown.RankedHands`).
Values are counterfactual, weighted by the other seat's reach. A table has a row for each action of each decision.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END
from plurispiel.abstraction.holdem.showdown_kernels import fill_fold_mass, fill_showdown_margin
from plurispiel.abstraction.machine.jit import kernel


class BettingArrays(NamedTuple):
    """The betting of a street from one root, for N nodes, of which E are ends of the street.

    Attributes
    ----------
    kind : int8[N]
        As in `StreetNodes`.
    row : int32[2, N]
        The row of each seat's reach at each node, as in `StreetNodes`.
    child_first : int32[N + 1]
        The index in `children` of each node's first child, then the length of `children`. An action's index in
        `children` is also its row in tables.
    children : int32[N - 1]
        The children of all decisions, in the order of the actions.
    stake : float64[N]
        As in `StreetNodes`.
    folds, showdowns : int32[n]
        The nodes of these kinds.
    fold_rows, showdown_rows : int32[2, n]
        For each seat, the rows of the other seat's reach at these nodes.
    ends : int32[E]
        The nodes at which the street ends.
    """

    kind: np.ndarray
    row: np.ndarray
    child_first: np.ndarray
    children: np.ndarray
    stake: np.ndarray
    folds: np.ndarray
    showdowns: np.ndarray
    fold_rows: np.ndarray
    showdown_rows: np.ndarray
    ends: np.ndarray


class LookaheadTables(NamedTuple):
    """The numbers that change from iteration to iteration, for A actions, N nodes, R rows of reach, E ends and H hands.

    Attributes
    ----------
    regrets, strategy, strategy_sums : float64[A, H]
        Regrets, the current strategy and the sum over iterations of the acting seat's reach after each action.
    reach : float64[2, R, H]
    values, value_sums : float64[2, N, H]
        Each seat's values at each node in this iteration, and their sums.
    end_reach, end_values : float64[2, E, H]
        Each seat's reach and values at the ends of the street.
    matched : float64[2, R, H]
        Workspace: for each hand, the other seat's reach summed over compatible hands, or the hand's margin at a
        showdown.
    mass : float64[CARD_SLOTS, 4]
        Workspace of `fill_fold_mass`.
    """

    regrets: np.ndarray
    strategy: np.ndarray
    strategy_sums: np.ndarray
    reach: np.ndarray
    values: np.ndarray
    value_sums: np.ndarray
    end_reach: np.ndarray
    end_values: np.ndarray
    matched: np.ndarray
    mass: np.ndarray


class RootRanges(NamedTuple):
    """The weights with which hands enter the root. The hands of one seat may first choose in the re-solving gadget.

    Attributes
    ----------
    seat : int64[1]
        The seat that may terminate; -1 for none.
    dealt : float64[2, H]
        Each seat's weights; those of the gadget's seat before its choice.
    forced : float64[H]
        An additional weight of each hand of the gadget's seat, which continues without a choice.
    terminating : float64[H]
        The counterfactual value of terminating: the bound times the weight of the other seat's compatible hands.
    accepted : float64[H]
        The probability with which each hand continues.
    regrets : float64[2, H]
        The regrets of continuing and of terminating.
    """

    seat: np.ndarray
    dealt: np.ndarray
    forced: np.ndarray
    terminating: np.ndarray
    accepted: np.ndarray
    regrets: np.ndarray


@kernel
def iterate(betting, cards, groups, tables, entry, done, omitted, count):
    """Run `count` iterations on the last street, after `done` iterations; the first `omitted` of all are not averaged.

    `cards` and `groups` are those of `showdown.RankedHands`. Modified in place: `tables` and `entry`.
    """
    for number in range(done, done + count):
        go_down(betting, cards, groups, tables, entry, tables.regrets)
        go_up(betting, tables, entry, number >= omitted)


@kernel
def go_down(betting, cards, groups, tables, entry, weights):
    """Pass both seats' reach down to all leaves, and fill in the values of folds and showdowns.

    Parameters
    ----------
    weights : float64[A, H]
        Regrets or strategy sums, all at least 0, to which the strategies are proportional; uniform where all are 0.
    """
    reach, num_hands = tables.reach, cards.shape[0]
    for seat in range(2):
        for hand in range(num_hands):
            weight = entry.dealt[seat, hand]
            if seat == entry.seat[0]:
                # Line 48 of DeepStack's Algorithm S1, plus the forced weights.
                weight = weight * entry.accepted[hand] + entry.forced[hand]
            reach[seat, betting.row[seat, 0], hand] = weight
    for node in range(len(betting.kind)):
        if betting.kind[node] >= FOLD_END:
            continue
        actor = np.int64(betting.kind[node])
        first, last = betting.child_first[node], betting.child_first[node + 1]
        above = reach[actor, betting.row[actor, node]]
        even = 1.0 / (last - first)
        for hand in range(num_hands):
            total = 0.0
            for action in range(first, last):
                total += weights[action, hand]
            for action in range(first, last):
                share = weights[action, hand] / total if total > 0.0 else even
                tables.strategy[action, hand] = share
                reach[actor, betting.row[actor, betting.children[action]], hand] = above[hand] * share
    for seat in range(2):
        other, matched = reach[1 - seat], tables.matched[seat]
        fill_fold_mass(cards, other, betting.fold_rows[seat], tables.mass, matched)
        sign = 1.0 if seat == 0 else -1.0  # a fold's stake is what seat 0 wins; a margin is that of `seat`
        for k in range(len(betting.folds)):
            row, chips = matched[betting.fold_rows[seat, k]], sign * betting.stake[betting.folds[k]]
            for hand in range(num_hands):
                tables.values[seat, betting.folds[k], hand] = chips * row[hand]
        fill_showdown_margin(cards, groups, other, betting.showdown_rows[seat], tables.mass, matched)
        for k in range(len(betting.showdowns)):
            row, chips = matched[betting.showdown_rows[seat, k]], betting.stake[betting.showdowns[k]]
            for hand in range(num_hands):
                tables.values[seat, betting.showdowns[k], hand] = chips * row[hand]
        for k in range(len(betting.ends)):
            row = betting.row[seat, betting.ends[k]]
            for hand in range(num_hands):
                tables.end_reach[seat, k, hand] = reach[seat, row, hand]


@kernel
def go_up(betting, tables, entry, counts):
    """Carry values up from all leaves, and update the regrets of both seats and of the gadget by regret matching+.

    `counts` tells whether strategies and values of this iteration are added to the sums.
    """
    values, num_hands = tables.values, tables.regrets.shape[1]
    _take_ends(betting, tables)
    for node in range(len(betting.kind) - 1, -1, -1):
        if betting.kind[node] >= FOLD_END:
            continue
        actor = np.int64(betting.kind[node])
        first, last = betting.child_first[node], betting.child_first[node + 1]
        add_children(betting, values[1 - actor], node)
        for hand in range(num_hands):
            mean = 0.0
            for action in range(first, last):
                mean += tables.strategy[action, hand] * values[actor, betting.children[action], hand]
            values[actor, node, hand] = mean
            for action in range(first, last):
                gain = values[actor, betting.children[action], hand] - mean
                tables.regrets[action, hand] = max(tables.regrets[action, hand] + gain, 0.0)
        if counts:
            for action in range(first, last):
                row = betting.row[actor, betting.children[action]]
                for hand in range(num_hands):
                    tables.strategy_sums[action, hand] += tables.reach[actor, row, hand]
    if counts:
        for seat in range(2):
            for node in range(len(betting.kind)):
                for hand in range(num_hands):
                    tables.value_sums[seat, node, hand] += values[seat, node, hand]
    if entry.seat[0] >= 0:
        _choose(entry, values[entry.seat[0], 0])


@kernel
def add_children(betting, values, node):
    """Write a seat's values at a decision of the other seat: the sums of the children's values.

    Modified in place: `values`.
    """
    first, last = betting.child_first[node], betting.child_first[node + 1]
    for hand in range(values.shape[1]):
        total = 0.0
        for action in range(first, last):
            # Unweighted: line 31 of DeepStack's Algorithm S1, whose right side misprints the acting player's values.
            total += values[betting.children[action], hand]
        values[node, hand] = total


@kernel
def measure(betting, tables, responder):
    """Carry up the values of the strategies of the last `go_down`, and update no regrets.

    `responder` is the seat whose values are those of its best response; -1 for none.
    """
    values = tables.values
    _take_ends(betting, tables)
    for node in range(len(betting.kind) - 1, -1, -1):
        if betting.kind[node] >= FOLD_END:
            continue
        actor = np.int64(betting.kind[node])
        first, last = betting.child_first[node], betting.child_first[node + 1]
        add_children(betting, values[1 - actor], node)
        for hand in range(values.shape[2]):
            found = values[actor, betting.children[first], hand] if actor == responder else 0.0
            for action in range(first, last):
                value = values[actor, betting.children[action], hand]
                found = max(found, value) if actor == responder else found + tables.strategy[action, hand] * value
            values[actor, node, hand] = found


@kernel
def _take_ends(betting, tables):
    """Copy the values of the street's ends to their nodes."""
    for seat in range(2):
        for k in range(len(betting.ends)):
            for hand in range(tables.values.shape[2]):
                tables.values[seat, betting.ends[k], hand] = tables.end_values[seat, k, hand]


@kernel
def _choose(entry, continuing):
    """Update the gadget's choice by regret matching+; `continuing` is the value of each hand at the root.

    Lines 49 to 52 of Algorithm S1. As printed, they mix values of iterations t - 1 and t. Here all values are those of
    the present iteration.
    """
    for hand in range(continuing.shape[0]):
        stay = entry.accepted[hand]
        mean = stay * continuing[hand] + (1.0 - stay) * entry.terminating[hand]
        go = max(entry.regrets[0, hand] + continuing[hand] - mean, 0.0)
        stop = max(entry.regrets[1, hand] + entry.terminating[hand] - mean, 0.0)
        entry.regrets[0, hand] = go
        entry.regrets[1, hand] = stop
        entry.accepted[hand] = go / (go + stop) if go + stop > 0.0 else 0.5
