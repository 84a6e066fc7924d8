"""AIVAT's corrections of one seat in a hand, event by event (`plurispiel.evaluation.aivat`)."""

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.machine.sums import dot


def corrections(hand, lines, after, seat, deck, announced, trusted, sizes, value, deal_mean):
    """Return the corrections of a seat, the seat's last weights, its decisions, and whether its report is refuted.

    Parameters
    ----------
    lines, after
        The line before every action and after the last one; and the function that returns the line after an action.
    deck, announced, trusted
        As in `HandWalk.walk`.
    value : callable
        Maps (line, board size, number of next cards) to the values of all combos.

    Returns
    -------
    list of (kind, number of actions, correction, correction with the true cards)
    """
    events, decisions = [], []
    weights, own, size = deck.starts[seat].copy(), int(deck.held[seat]), sizes[0]
    numbers = [0] * len(announced)
    told = announced[seat] is not None
    refuted = False

    def answers(line, row, size, num_cards=0):
        values = value(line, size, num_cards)
        return dot(row, values), float(values[own])

    def event(kind, num_actions, parts, start=0.0):
        chips = true_chips = start
        for (mean, true), factor, true_factor in parts:
            chips += factor * mean
            true_chips += true_factor * true
        events.append((kind, num_actions, chips, true_chips))

    def see_board(line, new_size, num_actions):
        nonlocal weights, size, told, refuted
        before = answers(line, weights, size, new_size - size)
        is_free = np.ones(len(weights), dtype=bool)
        for street in range(len(sizes)):
            if size < sizes[street] <= new_size:
                is_free &= deck.free[street]
        size = new_size
        weights = weights * is_free
        if not weights.sum() >= 1e-290:
            weights = np.arange(len(weights)) == own  # the true combo alone
            told, refuted = False, refuted or told
        weights = weights / weights.sum()
        event("board", num_actions, [(before, 1.0, 1.0), (answers(line, weights, size), -1.0, -1.0)])

    event("deal", 0, [(answers(lines[0], weights, size), -1.0, -1.0)], deal_mean)
    for k, action in enumerate(hand.actions):
        line = lines[k]
        if sizes[action.street] > size:
            see_board(line, sizes[action.street], k)
        report = announced[action.seat]
        report = report[numbers[action.seat]] if report is not None else None
        numbers[action.seat] += 1
        if action.seat == seat and told:
            shares = [dot(chances, weights) for chances in report.probabilities]
            row = report.probabilities[:, own].tolist()
            played = report.played
            if not shares[played] >= 1e-290:
                told, refuted = False, True
            else:
                decisions.append((played, tuple(report.actions), tuple(row)))
                if shares[played] < 1.0 - 1e-12 or row[played] != 1.0:
                    parts = []
                    for kind, taken in enumerate(report.actions):
                        if shares[kind] <= 0.0 and row[kind] <= 0.0:
                            continue
                        found = answers(after(line, taken), weights * report.probabilities[kind], size)
                        if kind == played:
                            parts.append((found, -1.0 / shares[kind], -1.0))
                        parts.append((found, 1.0, row[kind]))
                    weights = weights * report.probabilities[played] / shares[played]
                    event("action", k, parts)
        elif action.seat != seat and action.seat in trusted and report is not None:
            row = report.probabilities[:, deck.held[action.seat]].tolist()
            if line.state[betting.NUM_LIVE] == 2 and row[report.played] not in (0.0, 1.0):
                parts = []
                for kind, taken in enumerate(report.actions):
                    share = row[kind] - (kind == report.played)
                    if share:
                        parts.append((answers(after(line, taken), weights, size), share, share))
                event("other", k, parts)
        if action.seat == seat and action.action == FOLD:
            break
    if hand.showdown and seat not in hand.folded and size < sizes[-1]:
        see_board(lines[-1], sizes[-1], len(hand.actions))
    return events, weights, tuple(decisions), refuted
