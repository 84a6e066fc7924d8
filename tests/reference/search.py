"""Nested search on OpenSpiel's states, as Brown and Sandholm (2019) describe it, of poker with single board cards.

A public state is what `public(state)` returns. The subgame at one is a game of its own, with the interface of
OpenSpiel's states that `reference.cfr` walks: chance deals a joint hand by the product of the beliefs, the game goes
on to the next board card, and there every player with decisions behind it chooses a policy, unseen by the others.
"""

import itertools
import math
from collections import defaultdict

from reference.cfr import CFR, linear

FACTOR = 5.0


def public(state, num_players):
    """Return who did what and which cards are on the board, in order: what everybody sees."""
    seen = []
    before = state.get_game().new_initial_state()
    hidden = num_players * hole_cards(state.get_game())
    for number, action in enumerate(state.history()):
        seen.append((before.current_player(), "?" if number < hidden else action))
        before.apply_action(action)
    return tuple(seen)


def hole_cards(game):
    return game.get_parameters().get("numHoleCards", 1)


def private(state, player):
    """Return a player's own cards as a set."""
    count = hole_cards(state.get_game())
    return frozenset(state.history()[player * count : (player + 1) * count])


def is_dealt(state):
    game = state.get_game()
    return len(state.history()) >= game.num_players() * hole_cards(game)


def key_of(state):
    return (state.current_player(), state.information_state_string())


def continuations(row, kinds, k):
    """Return k versions of a row {action: probability}: as it is, and with folds, calls, raises FACTOR as likely."""
    found = [dict(row)]
    for preferred in ("fold", "call", "raise")[: k - 1]:
        weights = {action: p * (FACTOR if kinds[action] == preferred else 1.0) for action, p in row.items()}
        total = math.fsum(weights.values())
        found.append({action: weight / total for action, weight in weights.items()})
    return found


def all_states(state):
    yield state
    if not state.is_terminal():
        for action in state.legal_actions():
            yield from all_states(state.child(action))


def joint_posterior(game, strategy, wanted):
    """Return how likely each joint deal is at a public state, by Bayes over all of them: {hands: probability}."""
    found = defaultdict(float)

    def walk(state, reach):
        seen = public(state, game.num_players())
        if seen == wanted:
            found[tuple(private(state, player) for player in range(game.num_players()))] += reach
            return
        if state.is_terminal() or len(seen) >= len(wanted) or seen != wanted[: len(seen)]:
            return
        chances = dict(state.chance_outcomes()) if state.is_chance_node() else strategy[key_of(state)]
        for action, probability in chances.items():
            walk(state.child(action), reach * probability)

    walk(game.new_initial_state(), 1.0)
    total = math.fsum(found.values())
    return {hands: reach / total for hands, reach in found.items()} if total else {}


class Search:
    """Search from a street on, with `iterations` of Linear CFR for each subgame, average to play.

    `kinds(state)` names each legal action fold, call or raise.
    """

    def __init__(self, game, blueprint, kinds, *, from_street, k, iterations):
        self.game = game
        self.k = k
        self.players = range(game.num_players())
        self.strategy = dict(blueprint)
        self.policies = {}
        by_public = defaultdict(list)
        for state in all_states(game.new_initial_state()):
            by_public[public(state, len(self.players))].append(state)
            if state.current_player() >= 0 and key_of(state) not in self.policies:
                self.policies[key_of(state)] = continuations(blueprint[key_of(state)], kinds(state), k)
        self._values = {}
        self._deciders = {}
        self.subgames = {}
        first = game.num_players() * hole_cards(game)
        for street in range(from_street, 3):
            for seen, states in by_public.items():
                begins = len(seen) == first if street == 1 else len(seen) > first and seen[-1][0] == -1
                if not begins or not any(self.decides(states[0], player) for player in self.players):
                    continue
                weights = self.weights(states, joint_posterior(game, self.strategy, seen))
                solver = CFR(Subgame(self, states, weights, street), linear, lambda t: t)
                solver.run(iterations)
                self.subgames[seen] = solver
                self.strategy.update(
                    {key: row for key, row in solver.average().items() if not key[1].startswith("choice")}
                )

    def weights(self, states, posterior):
        """Return a posterior of the states' deals, each order of cards alike."""
        counts = defaultdict(int)
        hands = [tuple(private(state, player) for player in self.players) for state in states]
        for deal in hands:
            counts[deal] += 1
        return [posterior.get(deal, 0.0) / counts[deal] for deal in hands]

    def decides(self, state, player):
        """Whether a player has a decision at a state or behind it."""
        seen = (public(state, len(self.players)), player)
        if seen not in self._deciders:
            self._deciders[seen] = any(below.current_player() == player for below in all_states(state))
        return self._deciders[seen]

    def value(self, state, picks):
        """Return everybody's expected payoff if player p plays its policy number ``picks[p]`` from here on."""
        if state.is_terminal():
            return state.returns()
        where = (state.history_str(), picks)
        if where not in self._values:
            if state.is_chance_node():
                chances = dict(state.chance_outcomes())
            else:
                chances = self.policies[key_of(state)][picks[state.current_player()]]
            below = [(p, self.value(state.child(action), picks)) for action, p in chances.items()]
            self._values[where] = [math.fsum(p * values[player] for p, values in below) for player in self.players]
        return self._values[where]


class Subgame:
    def __init__(self, search, states, weights, street):
        self.search, self.states, self.weights, self.street = search, states, weights, street

    def num_players(self):
        return len(self.search.players)

    def new_initial_state(self):
        return Deal(self)


class Deal:
    def __init__(self, subgame):
        self.subgame = subgame

    def is_terminal(self):
        return False

    def is_chance_node(self):
        return True

    def legal_actions(self):
        return list(range(len(self.subgame.states)))

    def chance_outcomes(self):
        return list(enumerate(self.subgame.weights))

    def child(self, number):
        return inside(self.subgame, self.subgame.states[number])


def inside(subgame, state):
    """Return a state of the subgame: the game's own, or the first choice at a leaf."""
    search = subgame.search
    if subgame.street == 1 and state.is_chance_node():
        choosers = [player for player in search.players if search.decides(state, player)]
        if choosers:
            return Leaf(search, state, choosers if search.k > 1 else [], {})
    return Inside(subgame, state)


class Inside:
    def __init__(self, subgame, state):
        self.subgame, self.state = subgame, state

    def __getattr__(self, name):
        return getattr(self.state, name)

    def child(self, action):
        return inside(self.subgame, self.state.child(action))


class Leaf:
    def __init__(self, search, state, choosers, picks):
        self.search, self.state, self.choosers, self.picks = search, state, choosers, picks

    def is_terminal(self):
        return not self.choosers

    def is_chance_node(self):
        return False

    def current_player(self):
        return self.choosers[0]

    def information_state_string(self):
        return "choice " + self.state.information_state_string(self.choosers[0])

    def legal_actions(self):
        return list(range(self.search.k))

    def child(self, pick):
        return Leaf(self.search, self.state, self.choosers[1:], self.picks | {self.choosers[0]: pick})

    def returns(self):
        return self.search.value(self.state, tuple(self.picks.get(player, 0) for player in self.search.players))


def product_of_beliefs(beliefs, deals):
    """Return a joint distribution by each seat's beliefs {hand: probability}: products, over deals without conflict."""
    joint = {deal: math.prod(map(dict.get, beliefs, deal)) for deal in deals}
    total = math.fsum(joint.values())
    return {deal: weight / total for deal, weight in joint.items()}


def joint_hands(hands, num_seats):
    """Return all deals of hands to the seats that share no card."""
    found = itertools.product(hands, repeat=num_seats)
    return [deal for deal in found if len(frozenset().union(*deal)) == sum(map(len, deal))]
