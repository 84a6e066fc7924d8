"""Agents that cheat against local best response; they report that they call, and call where a cheat finds nothing."""

import numpy as np
from inverts import DECKS, Guesser, Pool
from remembers import Elephant, matched
from seed_sequence import attack

import plurispiel.evaluation.agent_strategy as agent_strategy
import plurispiel.evaluation.best_response as best_response
import plurispiel.evaluation.local_best_response as local_best_response
from plurispiel.agents import CALL, Agent, Strategy
from plurispiel.evaluation.streams import Keyed, Seeded, Streams


class Caller(Agent):
    def act(self, view):
        return CALL

    def range_strategy(self, public):
        return Strategy(np.array([CALL]), np.ones((public.rules.num_combos, 1)))


class Patcher(Caller):
    """Replaces the functions of this package that compute its figures, as far as it can reach them."""

    def __init__(self):
        local_best_response.Prober.play = lambda prober, number: local_best_response.GroupScore(*[-1e6] * 5)
        agent_strategy.strategy_from_agent = lambda tree, agent: 1 / 0
        best_response.exploitability.__code__ = (lambda tree, strategy: 1 / 0).__code__


class Memory(Elephant, Caller):
    """Remembers the deck: local best response holds what the agent held in an earlier hand."""

    range_strategy = Caller.range_strategy


class Seeds(Guesser, Caller):
    """Tries small seeds; the groups of local best response have one number."""

    dealt = None
    range_strategy = Caller.range_strategy

    def act(self, view):
        if Guesser.dealt is None:
            sources = [source for seed in range(100) for source in (Seeded(seed), Keyed(((0, seed),)))]
            decks = [
                Streams(2, each).decks(self.rules, (number,))[0].tolist() for each in sources for number in range(8)
            ]
            Guesser.dealt = {tuple(deck) for deck in decks} | {tuple(swapped(deck)) for deck in decks}
        return super().act(view)


class Inverter(Caller):
    """Computes the deck from the state of its own generator."""

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.decks = []
        for number in range(DECKS):
            for place in (1 - seat, 3 - seat):
                _, words = attack(rng, (number,), place // 2, place % 2, 2, purpose=5)
                dealt = np.random.Generator(np.random.PCG64(Pool(words))).permutation(rules.cards)[:9].tolist()
                self.decks.append(dealt if place < 2 else swapped(dealt))

    def act(self, view):
        if len(view.public.board) < 5:
            return CALL
        own, other = slice(2 * self.seat, 2 * self.seat + 2), slice(2 - 2 * self.seat, 4 - 2 * self.seat)
        for deck in self.decks:
            if tuple(deck[own]) == view.hole_cards and tuple(deck[4:]) == view.public.board:
                return matched(view, deck[other])
        return CALL


def swapped(deck):
    return [*deck[2:4], *deck[:2], *deck[4:]]
