"""Counterfactual regrets of a fixed strategy, by walking every deal and every action."""

from itertools import permutations

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import deck_cards


def exact_regrets(rules, tree, bucket_of, cell_of, strategies, traverser):
    """Return, by cell, the expected change of one seat's regrets in a traversal.

    ``bucket_of(seat, street, deck)``, ``cell_of(node, bucket)`` and ``strategies(node, bucket)`` describe the abstract
    game; a deck holds the hole cards seat by seat, then the board. Expected, over deals and the others' actions: what
    an action is worth to the traverser more than its strategy, which itself does not weigh.
    """
    regrets = {}
    decks = list(permutations(deck_cards(rules.num_suits, rules.num_ranks).tolist(), rules.num_dealt_cards))

    def walk(node, state, deck, reach):
        if state.is_over:
            return state.payoffs(np.array(deck, np.uint8))[traverser]
        seat = state.actor
        bucket = bucket_of(seat, state.street, deck)
        strategy = strategies(node, bucket)
        values = []
        for number, action in enumerate(tree.actions(node).tolist()):
            below = state.copy()
            below.apply(action)
            others = reach if seat == traverser else reach * strategy[number]
            values.append(walk(int(tree.first_child[node]) + number, below, deck, others))
        value = float(np.dot(strategy, values))
        if seat == traverser:
            for number in range(len(values)):
                cell = cell_of(node, bucket) + number
                regrets[cell] = regrets.get(cell, 0.0) + reach * (values[number] - value) / len(decks)
        return value

    for deck in decks:
        walk(0, BettingState(rules), deck, 1.0)
    return regrets


def regrets_by_cell(trainer, regrets, seat):
    """Return a seat's exact regrets in the order of a blueprint's cells; all seats play by matching `regrets`.

    Parameters
    ----------
    trainer : Trainer or PublicTrainer
        Its game, tree and buckets are used.
    regrets : float or int [num_cells]
    seat : int
    """
    rules, tree, game = trainer.rules, trainer.tree, trainer.game

    def cell_of(node, bucket):
        street = tree.street[node]
        return int(game.base[street] + bucket * game.pairs[street] + tree.row[node])

    def strategies(node, bucket):
        count = int(tree.num_actions[node])
        positive = np.maximum(regrets[cell_of(node, bucket) :][:count].astype(float), 0.0)
        return positive / positive.sum() if positive.sum() > 0.0 else np.full(count, 1.0 / count)

    def bucket_of(seat, street, deck):
        hole, size = rules.num_hole_cards, rules.board_size(street)
        board = tuple(deck[rules.num_seats * hole : rules.num_seats * hole + size])
        return int(trainer.cards.row(board, street)[rules.combo_id(deck[seat * hole : (seat + 1) * hole])])

    found = np.zeros(len(regrets))
    for cell, value in exact_regrets(rules, tree, bucket_of, cell_of, strategies, seat).items():
        found[cell] = value
    return found
