"""Continual re-solving of both seats of Leduc poker, as DeepStack's paper describes it, on OpenSpiel's states.

Moravcik et al.: DeepStack (2017), Algorithm S1 and the text before it. At a public state there is a vector of numbers
for each seat, one for each card that the seat may hold. All terminal values come from OpenSpiel's returns for each pair
of cards. Where the paper leaves a choice: regret matching+ everywhere, both seats at once, and values behind the first
street from CFR+ with best responses to its averages.
"""

from collections import Counter

import numpy as np

CARDS = 6
NOBODY = 1e-12
APART = 1.0 - np.eye(CARDS)
"""Which pairs of cards can be dealt."""


class Public:
    """A public state: OpenSpiel's states of all pairs of cards that are possible there."""

    def __init__(self, states, seen=()):
        self.states, self.seen = states, seen
        one = next(iter(states.values()))
        self.player = one.current_player()
        self.children = {}
        if one.is_terminal():
            self.payoff = np.zeros((CARDS, CARDS))
            for pair, state in states.items():
                self.payoff[pair] = state.returns()[0]
            return
        for action in sorted({action for state in states.values() for action in state.legal_actions()}):
            below = {pair: state.child(action) for pair, state in states.items() if action in state.legal_actions()}
            self.children[action] = Public(below, (*seen, (self.player, action)))

    @property
    def is_terminal(self):
        return not self.children

    @property
    def is_chance(self):
        return self.player == -1

    @property
    def free(self):
        """1 for each card that a seat can hold here, else 0."""
        found = np.zeros(CARDS)
        found[[card for pair in self.states for card in pair]] = 1.0
        return found


def deal(game):
    """Return the public state after the deal of the private cards."""
    return Public({(i, j): game.new_initial_state().child(i).child(j) for i, j in zip(*np.nonzero(APART), strict=True)})


def at_end(node, reach):
    """Return both seats' counterfactual values of an end of the game."""
    return [node.payoff @ reach[1], -node.payoff.T @ reach[0]]


def matched(regrets):
    """Regret matching: float[CARDS, actions]."""
    total = regrets.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, regrets / np.where(total > 0.0, total, 1.0), 1.0 / regrets.shape[1])


def tables(node):
    """Return zeros for each action of all decisions from a public state to the end of the street or the game."""
    found = {}
    if node.is_terminal or node.is_chance:
        return found
    found[node.seen] = np.zeros((CARDS, len(node.children)))
    for child in node.children.values():
        found.update(tables(child))
    return found


def after(reach, seat, factor):
    """Return both seats' reach with that of one seat multiplied."""
    return [row * factor if number == seat else row for number, row in enumerate(reach)]


class Ends:
    """Values of the second street, from a few iterations of CFR+ from its beginning: the value function."""

    def __init__(self, inner, own=False):
        self.inner, self.own, self.calls = inner, own, 0

    def __call__(self, node, reach):
        self.calls += 1
        regrets, sums = tables(node), tables(node)
        for t in range(1, self.inner + 1):
            for seat in range(2):
                self._learn(node, reach, seat, t, regrets, sums)
        return [self._respond(node, reach, seat, sums) for seat in range(2)]

    def _learn(self, node, reach, seat, t, regrets, sums):
        if node.is_terminal:
            return at_end(node, reach)[seat]
        sigma = matched(regrets[node.seen])
        below = [
            self._learn(child, after(reach, node.player, sigma[:, k]), seat, t, regrets, sums)
            for k, child in enumerate(node.children.values())
        ]
        if node.player != seat:
            return sum(below)
        value = sum(sigma[:, k] * below[k] for k in range(len(below)))
        sums[node.seen] += t * reach[seat][:, None] * sigma
        regrets[node.seen] = np.maximum(regrets[node.seen] + np.stack(below, axis=1) - value[:, None], 0.0)
        return value

    def _respond(self, node, reach, seat, sums):
        if node.is_terminal:
            return at_end(node, reach)[seat]
        average = matched(sums[node.seen])
        below = [
            self._respond(child, after(reach, node.player, average[:, k]), seat, sums)
            for k, child in enumerate(node.children.values())
        ]
        if node.player != seat:
            return sum(below)
        if self.own:
            return sum(average[:, k] * below[k] for k in range(len(below)))
        return np.max(below, axis=0)


class Solution:
    """A solved street: averages over the iterations that are not omitted, as sums.

    `strategies` and `values` (of both seats) are by public state, `cards` has the values and the opponents' masses
    behind an end of the street, by public state and card.
    """

    def __init__(self, node):
        self.strategies = tables(node)
        self.values, self.cards = {}, {}
        self.count = 0

    def strategy(self, node):
        """The average strategy, uniform where the seat never arrives."""
        return matched(self.strategies[node.seen])


def resolve(node, ranges, seat, bounds, iterations, omitted, ends):
    """Re-solve a street from a public state.

    With `bounds`, the opponent of `seat` may, for each of its cards, take the bound (chips of the hand) in place of the
    subgame, and its range says which cards it may hold at all.
    """
    solution, regrets = Solution(node), tables(node)
    other = 1 - seat
    facing = APART @ ranges[seat]
    goes = np.full(CARDS, 0.5)
    gadget = np.zeros((CARDS, 2))

    def walk(here, reach, counts):
        if here.is_terminal:
            values = at_end(here, reach)
        elif here.is_chance:
            values = [np.zeros(CARDS), np.zeros(CARDS)]
            for card, child in here.children.items():
                at_card = [row * child.free for row in reach]
                found = ends(child, at_card)
                for each in range(2):
                    values[each] = values[each] + found[each] / (CARDS - 2)
                    if counts:
                        mass = child.free * (APART @ at_card[1 - each])
                        old = solution.cards.get((here.seen, card, each), (0.0, 0.0))
                        solution.cards[here.seen, card, each] = old[0] + found[each], old[1] + mass
        else:
            seat_here = here.player
            sigma = matched(regrets[here.seen])
            below = [
                walk(child, after(reach, seat_here, sigma[:, k]), counts)
                for k, child in enumerate(here.children.values())
            ]
            values = [sum(each) for each in zip(*below, strict=True)]
            values[seat_here] = sum(sigma[:, k] * below[k][seat_here] for k in range(len(below)))
            if counts:
                solution.strategies[here.seen] += reach[seat_here][:, None] * sigma
            gain = np.stack([each[seat_here] for each in below], axis=1) - values[seat_here][:, None]
            regrets[here.seen] = np.maximum(regrets[here.seen] + gain, 0.0)
        if counts:
            old = solution.values.get(here.seen, [0.0, 0.0])
            solution.values[here.seen] = [old[each] + values[each] for each in range(2)]
        return values

    for t in range(iterations):
        reach = list(ranges)
        if bounds is not None:
            reach[other] = ranges[other] * goes
        counts = t >= omitted
        value = walk(node, reach, counts)[other]
        solution.count += counts
        if bounds is not None:
            choices = np.stack([bounds * facing, value], axis=1)
            mean = (1.0 - goes) * choices[:, 0] + goes * choices[:, 1]
            gadget = np.maximum(gadget + choices - mean[:, None], 0.0)
            goes = matched(gadget)[:, 1]
    return solution


def divided(values, masses):
    return np.where(masses > 0.0, values / np.where(masses > 0.0, masses, 1.0), 0.0)


class Continual:
    """Both seats of the game by continual re-solving, played out at every public state.

    `strategy` has the probabilities of actions by seat and information state.
    """

    def __init__(self, game, iterations, ends):
        self.iterations, self.ends = iterations, ends
        self.strategy, self.solved = {}, Counter()
        root = deal(game)
        even = np.full(CARDS, 1.0 / CARDS)
        first = self._resolve(root, [even, even], 0, None)
        self._play(root, root.player, even, None, first, first)
        other = 1 - root.player
        bounds = divided(first.values[root.seen][root.player], first.count * (APART @ even))
        self._play(root, other, even, bounds, None, None)

    def _resolve(self, node, ranges, seat, bounds):
        self.solved["solves"] += 1
        return resolve(node, ranges, seat, bounds, self.iterations, self.iterations // 2, self.ends)

    def _play(self, node, seat, own, bounds, last, found=None):
        """Play a seat on from a public state, with what it carries: its range and the bounds on its opponent.

        `last` is the seat's last solution, `found` a solution of this very state, if there is one already.
        """
        if node.is_terminal:
            return
        if node.is_chance:
            for card, child in node.children.items():
                left = own * child.free
                values, masses = last.cards[node.seen, card, 1 - seat]
                is_known = bounds is not None and min(left.sum(), masses.sum()) >= NOBODY
                self._carry(child, seat, left, divided(values, masses) if is_known else None, last)
            return
        if node.player != seat:
            for child in node.children.values():
                self._play(child, seat, own, bounds, last)
            return
        if found is None:
            ranges = [own, own]
            ranges[1 - seat] = node.free / node.free.sum()
            found = self._resolve(node, ranges, seat, bounds)
        sigma = found.strategy(node)
        for pair, state in node.states.items():
            row = dict(zip(node.children, sigma[pair[seat]].tolist(), strict=True))
            self.strategy[seat, state.information_state_string(seat)] = row
        for k, child in enumerate(node.children.values()):
            reached = own * sigma[:, k]
            is_known = reached.sum() >= NOBODY
            carried = divided(found.values[child.seen][1 - seat], found.count * (APART @ reached)) if is_known else None
            self._carry(child, seat, reached, carried, found)

    def _carry(self, child, seat, own, bounds, last):
        """Play on with a normalised range. Without bounds, no hand of the seat comes here: it begins anew."""
        if bounds is None:
            self.solved["anew"] += 1
            own = child.free
        self._play(child, seat, own / own.sum(), bounds, last)
