"""A small poker game walked in full: every deck, every betting sequence, and what it is worth, in plain loops."""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.agents.base import Action, PublicState
from plurispiel.evaluation.hand import Hand


class Played(NamedTuple):
    """A hand, and each seat's chance to have acted like this."""

    hand: Hand
    reach: tuple[float, ...]


def decks(rules):
    """Return every deal in order."""
    return [np.array(deck, dtype=np.uint8) for deck in permutations(rules.cards.tolist(), rules.num_dealt_cards)]


class PokerGame:
    """All hands of a game between agents that tell their strategy and keep no memory."""

    def __init__(self, rules, agents):
        self.rules = rules
        self.agents = agents
        self.told = {}

    def strategy(self, board, actions, state):
        """Return {action: float64[num_combos]} of the agent that is to act."""
        key = (board, actions)
        if key not in self.told:
            public = PublicState(self.rules, state.array.tolist(), board, actions)
            strategy = self.agents[state.actor].range_strategy(public)
            highest = strategy.actions if strategy.highest is None else strategy.highest
            ranges = zip(strategy.actions.tolist(), highest.tolist(), strict=True)
            actions = {action for low, high in ranges for action in range(low, high + 1)}
            self.told[key] = {action: strategy.probability(action) for action in sorted(actions)}
        return self.told[key]

    def hands(self, deck):
        """Yield every hand on a deck that can be played, with the seats' chances."""
        yield from self._hands(deck, BettingState(self.rules), (), (1.0,) * self.rules.num_seats)

    def value(self, deck, board_size, actions, seat):
        """Return what a seat expects after the actions, with so many board cards of the deck seen."""
        return self._values(deck.tobytes(), board_size, actions)[seat]

    def _own_combo(self, deck, seat):
        hole = self.rules.num_hole_cards
        return self.rules.combo_id(deck[seat * hole : (seat + 1) * hole].tolist())

    def _hands(self, deck, state, actions, reach):
        if state.is_over:
            payoffs = tuple(state.payoffs(deck).tolist())
            showdown = sum(not folded for folded in state.folded) > 1
            yield Played(Hand(self.rules, deck, actions, payoffs, showdown), reach)
            return
        seat = state.actor
        first_board = self.rules.num_seats * self.rules.num_hole_cards
        board = tuple(deck[first_board : first_board + self.rules.board_size(state.street)].tolist())
        for action, probabilities in self.strategy(board, actions, state).items():
            chance = float(probabilities[self._own_combo(deck, seat)])
            if chance > 0.0:
                after = state.copy()
                after.apply(action)
                longer = (*actions, Action(seat, action, state.street))
                reaches = (*reach[:seat], reach[seat] * chance, *reach[seat + 1 :])
                yield from self._hands(deck, after, longer, reaches)

    def _values(self, deck_bytes, board_size, actions):
        """Return every seat's expectation over the board still to come and all play, by plain recursion."""
        if not hasattr(self, "_memory"):
            self._memory = {}
        first_board = self.rules.num_seats * self.rules.num_hole_cards
        key = (deck_bytes[: first_board + board_size], actions)
        if key not in self._memory:
            self._memory[key] = self._expect(key[0], board_size, actions)
        return self._memory[key]

    def _expect(self, seen, board_size, actions):
        state = BettingState(self.rules)
        for action in actions:
            state.apply(action.action)
        needed = self.rules.num_board_cards if state.is_over else self.rules.board_size(state.street)
        if state.is_over and sum(not folded for folded in state.folded) == 1:
            needed = board_size
        if board_size < needed:
            rest = [card for card in self.rules.cards.tolist() if card not in seen]
            children = [self._values(seen + bytes([card]), board_size + 1, actions) for card in rest]
            return np.mean(children, axis=0)
        if state.is_over:
            deck = np.zeros(self.rules.num_dealt_cards, dtype=np.uint8)
            deck[: len(seen)] = list(seen)
            return state.payoffs(deck)
        first_board = self.rules.num_seats * self.rules.num_hole_cards
        board = tuple(seen[first_board : first_board + self.rules.board_size(state.street)])
        combo = self._own_combo(np.frombuffer(seen, dtype=np.uint8), state.actor)
        total = np.zeros(self.rules.num_seats)
        for action, probabilities in self.strategy(board, actions, state).items():
            if probabilities[combo] > 0.0:
                longer = (*actions, Action(state.actor, action, state.street))
                total += probabilities[combo] * self._values(seen, board_size, longer)
        return total
