"""Recorded hands of random play, with unequal stacks, all-ins and whatever else a table may see."""

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.replay import replay_betting, replay_hand
from plurispiel.tournaments.formats.history import HandHistory

STACKS = (300, 2000, 20_000)


def random_rules(rng, num_seats):
    """No-limit hold'em with blinds of 50 and 100 and unequal stacks, now and then no more than a blind."""
    blinds = [100, 50] if num_seats == 2 else [50, 100] + [0] * (num_seats - 2)
    highest = int(rng.choice(STACKS))
    stacks = [int(rng.integers(max(blind, 1), highest)) for blind in blinds]
    if rng.random() < 0.2:
        seat = int(rng.integers(num_seats))
        stacks[seat] = max(blinds[seat], 1)
    stacks[-1] = max(stacks[-1], blinds[-1] + 1)
    return HoldemRules(
        blinds=tuple(blinds),
        stacks=tuple(stacks),
        first_seats=(1, 0, 0, 0) if num_seats == 2 else (2, 0, 0, 0),
        board_cards=(0, 3, 1, 1),
    )


def random_actions(rng, rules):
    """Fold, call and raise at random, the sizes often the smallest or all-in."""
    state = BettingState(rules)
    actions = []
    caution = rng.integers(1, 6)
    while not state.is_over:
        choices = [1] * caution + [0] * state.can_fold + [2] * (state.max_raise > 0)
        action = int(rng.choice(choices))
        if action == 2:
            low, high = state.min_raise, state.max_raise
            action = int(rng.choice([low, high, rng.integers(low, high + 1), min(high, low + rng.integers(200))]))
        actions.append(action)
        state.apply(action)
    return tuple(actions)


def random_history(rng, rules, label="0", names=None):
    """A hand of random play, its payoffs by our engine, the board as far as it was seen."""
    actions = random_actions(rng, rules)
    deck = rng.permutation(rules.cards)[: rules.num_dealt_cards].tolist()
    hole = rules.num_hole_cards
    hole_cards = tuple(tuple(deck[seat * hole : (seat + 1) * hole]) for seat in range(rules.num_seats))
    board = tuple(deck[rules.num_seats * hole :])
    betting = replay_betting(rules, actions)
    payoffs = replay_hand(betting, hole_cards, board).payoffs
    names = names or tuple(f"player {seat}" for seat in range(rules.num_seats))
    return HandHistory(rules, names, hole_cards, board[: betting.board_size], actions, payoffs, label)


def random_histories(seed, count, num_seats=(2, 3, 4, 5, 6)):
    """Hands of tables of these sizes in turn, each with stacks of its own."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield random_history(rng, random_rules(rng, num_seats[number % len(num_seats)]), str(number))
