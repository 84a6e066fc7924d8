"""The EV of a pair of hands in a solved spot, by its definition: every card and every action, one pair at a time."""

from itertools import product

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.ranges import combo_text


class PairValues:
    """Values of pairs of hands below nodes of a solved spot of two players.

    The pot, bets and showdowns are counted here from the words of the nodes' names alone; the strategies are those that
    the solution shows node by node.

    Parameters
    ----------
    solution : SpotSolution
    rank : callable
        Maps two hole cards and a board of five cards to a number, larger for stronger hands.
    cards_of : callable
        Maps a combo's number to its two cards.
    """

    def __init__(self, solution, rank, cards_of):
        self.solution, self.rank, self.cards_of = solution, rank, cards_of
        self.shown, self.known = {}, {}

    def strategy(self, node):
        if node not in self.shown:
            self.shown[node] = self.solution.strategy(node)
        return self.shown[node]

    def values(self, node, hands, board, pot, put_in, words):
        """Return both players' chips from the node on.

        Parameters
        ----------
        hands : tuple of int
            The combo of each player.
        pot : float
            Chips in the middle before the street.
        put_in : tuple of int
            Chips of each player on the street.
        words : list of str
            The actions on the street.
        """
        if (node, hands) not in self.known:
            self.known[node, hands] = self.found_anew(node, hands, board, pot, put_in, words)
        return self.known[node, hands]

    def found_anew(self, node, hands, board, pot, put_in, words):
        if self.is_closed(words):
            pot += sum(put_in)
            stack = self.solution.spot.stacks - (pot - self.solution.spot.pot) // 2
            return self.next_street(node, hands, board, pot, stack)
        here = self.strategy(node)
        seat = ("oop", "ip").index(here.player)
        total = [0.0, 0.0]
        for name, share in zip(here.actions, here.probabilities[hands[seat]], strict=True):
            if share == 0.0:
                continue  # behind the action the hand has no strategy
            after = self.after(node, name, hands, board, pot, put_in, words, seat)
            total = [old + share * new for old, new in zip(total, after, strict=True)]
        return total

    def after(self, node, name, hands, board, pot, put_in, words, seat):
        """Return both players' chips from the node on, if the player at the node takes an action."""
        if name == "f":
            winner = 1 - seat
            return [(pot + sum(put_in)) * (player == winner) for player in range(2)]
        stack = self.solution.spot.stacks - (pot - self.solution.spot.pot) // 2
        if name == "c":
            chips = max(put_in)
        elif name == "allin":
            chips = stack
        else:
            share = float(name[1:-1]) / 100.0
            chips = round(max(put_in) + share * (pot + 2 * max(put_in)))
        now = tuple(chips if player == seat else put_in[player] for player in range(2))
        found = self.values(f"{node} {name}".strip(), hands, board, pot, now, [*words, name])
        return [value - (chips - put_in[seat]) * (player == seat) for player, value in enumerate(found)]

    def is_closed(self, words):
        return len(words) > 1 and words[-1] == "c"

    def next_street(self, node, hands, board, pot, stack):
        cards = [self.cards_of(hand) for hand in hands]
        if len(board) == 5:
            ranks = [self.rank(held, board) for held in cards]
            return [
                pot * (1.0 if mine > other else 0.5 if mine == other else 0.0) for mine, other in (ranks, ranks[::-1])
            ]
        left = [card for card in range(52) if card not in (*board, *cards[0], *cards[1])]
        total = [0.0, 0.0]
        for card in left:
            below = f"{node} {card_text(card)}"
            if stack == 0:
                found = self.next_street(below, hands, (*board, card), pot, stack)
            else:
                found = self.values(below, hands, (*board, card), pot, (0, 0), [])
            total = [old + new / len(left) for old, new in zip(total, found, strict=True)]
        return total


def hand_values(pairs, node, weights, board, pot, put_in, words):
    """Return each player's mean over the other's compatible hands at a node: a dict of texts to chips for each."""
    sums = ({}, {})
    held = [[int(combo) for combo in row.nonzero()[0]] for row in weights]
    for hands in product(*held):
        first, second = map(pairs.cards_of, hands)
        if set(first) & set(second):
            continue
        found = pairs.values(node, hands, board, pot, put_in, words)
        for player in range(2):
            entry = sums[player].setdefault(combo_text(hands[player]), [0.0, 0.0])
            weight = weights[1 - player][hands[1 - player]]
            entry[0] += weight * found[player]
            entry[1] += weight
    return tuple({name: chips / mass for name, (chips, mass) in each.items()} for each in sums)
