"""The value of a two-player zero-sum game by linear programming over sequences (Koller, Megiddo, von Stengel)."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_matrix


def game_value(game):
    """Return player 0's value: maximise p(root) over player 0's plans x with E1 x = e1 and E2' p <= A' x."""
    sequences = ({(): 0}, {(): 0})  # own (information state, action) pairs in order -> number
    infosets = ({}, {})  # information state -> (its sequence before, its sequences)
    payoff = {}

    def walk(state, chance, own):
        if state.is_terminal():
            cell = (sequences[0][own[0]], sequences[1][own[1]])
            payoff[cell] = payoff.get(cell, 0.0) + chance * state.returns()[0]
            return
        if state.is_chance_node():
            for action, probability in state.chance_outcomes():
                walk(state.child(action), chance * probability, own)
            return
        player = state.current_player()
        name = state.information_state_string()
        longer = [(*own[player], (name, action)) for action in state.legal_actions()]
        for sequence in longer:
            sequences[player].setdefault(sequence, len(sequences[player]))
        infosets[player][name] = (own[player], longer)
        for action, sequence in zip(state.legal_actions(), longer, strict=True):
            walk(state.child(action), chance, (sequence, own[1]) if player == 0 else (own[0], sequence))

    walk(game.new_initial_state(), 1.0, ((), ()))

    def constraints(player):
        rows, columns, entries = [0], [0], [1.0]
        for row, (before, longer) in enumerate(infosets[player].values(), start=1):
            for sequence, entry in [(before, -1.0), *((one, 1.0) for one in longer)]:
                rows.append(row)
                columns.append(sequences[player][sequence])
                entries.append(entry)
        return coo_matrix((entries, (rows, columns))).tocsr()

    plans, prices = constraints(0), constraints(1)
    cells = np.array(list(payoff))
    payoffs = coo_matrix((list(payoff.values()), cells.T), shape=(plans.shape[1], prices.shape[1])).tocsr()
    # Variables: x >= 0, then p, free. The first price is the value of the game.
    first = np.zeros(plans.shape[0])
    first[0] = 1.0
    result = linprog(
        c=np.concatenate([np.zeros(plans.shape[1]), [-1.0], np.zeros(prices.shape[0] - 1)]),
        A_ub=bmat([[-payoffs.T, prices.T]]).tocsr(),
        b_ub=np.zeros(prices.shape[1]),
        A_eq=bmat([[plans, coo_matrix((plans.shape[0], prices.shape[0]))]]).tocsr(),
        b_eq=first,
        bounds=[(0.0, None)] * plans.shape[1] + [(None, None)] * prices.shape[0],
        method="highs",
    )
    assert result.status == 0, result.message
    return -result.fun
