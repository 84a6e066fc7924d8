"""Best responses in heads-up hold'em by plain loops: every own hand by itself, every opposing hand, every board."""

from itertools import combinations

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.base import Action, PublicState


def values(public, ranges, agents):
    """Return each seat's value by its own strategy and by a best response, from a public state with given ranges.

    Returns
    -------
    own, best : list of two floats
    """
    rules = public.rules
    combos = [tuple(combo) for combo in rules.combos.tolist()]
    live = [not set(combo) & set(public.board) for combo in combos]
    own, best = [], []
    for seat in range(2):
        total = [0.0, 0.0, 0.0]
        for number, combo in enumerate(combos):
            if not live[number] or not ranges[seat][number]:
                continue
            against = [
                float(weight) if live[k] and not set(combos[k]) & set(combo) else 0.0
                for k, weight in enumerate(ranges[1 - seat])
            ]
            walk = _Walk(rules, combos, agents, seat, number)
            found = walk.value(public.betting(), public.board, public.actions, against)
            for k, value in enumerate((*found, sum(against))):
                total[k] += ranges[seat][number] * value
        own.append(total[0] / total[2])
        best.append(total[1] / total[2])
    return own, best


class _Walk:
    """One seat's values with one combo, weighted by the other's reach."""

    def __init__(self, rules, combos, agents, seat, number):
        self.rules, self.combos, self.agents, self.seat, self.number = rules, combos, agents, seat, number

    def value(self, state, board, actions, weights):
        if not any(weights):
            return 0.0, 0.0
        if any(state.folded):
            lost = min(state.contributions)
            won = lost if state.folded[1 - self.seat] else -lost
            return won * sum(weights), won * sum(weights)
        if len(board) < self.rules.board_size(state.street):
            return self.deal(state, board, actions, weights)
        if state.is_over:
            won = sum(self.showdown(state, board, k) * weight for k, weight in enumerate(weights) if weight)
            return won, won
        public = PublicState(self.rules, state.array.tolist(), board, actions)
        strategy = self.agents[state.actor].range_strategy(public)
        own, best = [], []
        for action in ([FOLD] if public.can_fold else []) + [CALL, *public.menu]:
            following = state.copy()
            following.apply(action)
            after = (*actions, Action(state.actor, action, state.street))
            probability = strategy.probability(action)
            if state.actor == self.seat:
                found = self.value(following, board, after, weights)
                own.append(probability[self.number] * found[0])
                best.append(found[1])
            else:
                reach = [weight * probability[k] for k, weight in enumerate(weights)]
                found = self.value(following, board, after, reach)
                own.append(found[0])
                best.append(found[1])
        return sum(own), (max(best) if state.actor == self.seat else sum(best))

    def deal(self, state, board, actions, weights):
        """One street's cards at a time, also when the betting is over."""
        size = next(size for size in map(self.rules.board_size, range(self.rules.num_streets)) if size > len(board))
        known = {*board, *self.combos[self.number]}
        rest = [card for card in self.rules.cards.tolist() if card not in known]
        own = best = 0.0
        for cards in combinations(rest, size - len(board)):
            left = [0.0 if set(self.combos[k]) & set(cards) else weight for k, weight in enumerate(weights)]
            found = self.value(state, (*board, *cards), actions, left)
            own, best = own + found[0], best + found[1]
        # Of the boards dealt from what this seat does not see, as many are possible for each opposing hand.
        others = len(self.combos[0])
        num_boards = len(list(combinations(range(len(rest) - others), size - len(board))))
        return own / num_boards, best / num_boards

    def showdown(self, state, board, other):
        hands = [self.combos[self.number], self.combos[other]]
        deck = np.array([*hands[self.seat], *hands[1 - self.seat], *board], dtype=np.uint8)
        return state.payoffs(deck)[self.seat]
