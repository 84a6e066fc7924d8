"""Tries to deal the deck: from the state of its own generator, and from every small seed. Calls where it cannot."""

import itertools

import numpy as np
from remembers import matched
from seed_sequence import attack

from plurispiel.agents import CALL, Agent
from plurispiel.evaluation.streams import Keyed, Seeded, Streams

DECKS = 16


class Reader(Agent):
    """Heads-up, against one other. Of hands that it has read it plays the river by the other's cards."""

    num_read = 0

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.candidates = []
        for deck, rotation in itertools.product(range(DECKS), range(2)):
            _, words = attack(rng, (0, deck), rotation, seat, 2)
            self.candidates.append(Pool(words))

    def act(self, view):
        if len(view.public.board) < 5:
            return CALL
        own = slice(2 * self.seat, 2 * self.seat + 2)
        for source in self.candidates:
            dealt = np.random.Generator(np.random.PCG64(source)).permutation(self.rules.cards)[:9].tolist()
            if tuple(dealt[own]) == view.hole_cards and tuple(dealt[4:]) == view.public.board:
                type(self).num_read += 1
                return matched(view, dealt[2 - 2 * self.seat : 4 - 2 * self.seat])
        return CALL


class Guesser(Agent):
    """Knows what seed is taken by default, and tries the others below a hundred."""

    dealt = None

    def act(self, view):
        if len(view.public.board) < 5:
            return CALL
        if Guesser.dealt is None:
            sources = [source for seed in range(100) for source in (Seeded(seed), Keyed(((0, seed),)))]
            Guesser.dealt = {
                tuple(deck.tolist())
                for source in sources
                for group in itertools.product((0,), range(DECKS))
                for deck in Streams(2, source).decks(self.rules, group)[:1]
            }
        seat, own, board = self.seat, view.hole_cards, view.public.board
        for deck in Guesser.dealt:
            if deck[2 * seat : 2 * seat + 2] == own and deck[4:] == board:
                return matched(view, deck[2 - 2 * seat : 4 - 2 * seat])
        return CALL


class Pool(np.random.bit_generator.ISeedSequence):
    """Gives the words that were found, as the sequence would that they belong to."""

    def __init__(self, words):
        self.words = words

    def generate_state(self, n_words, dtype=np.uint32):
        words = np.array(self.words, dtype=np.uint32)
        return words.view(dtype)[:n_words]
