"""Hands at a table of three that depend on their number alone, and agents that keep the bytes they are sent."""

import numpy as np

from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.evaluation.hand import deal_deck, play_hand

RULES = no_limit_holdem(3)


class Recorder:
    """Mixed into an agent that is a program: keeps every line that is sent to its process."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.sent = b""

    def send(self, data):
        self.sent += data
        super().send(data)

    def lines(self):
        """Return the lines since the last call, each as it was sent."""
        sent, self.sent = self.sent, b""
        return sent.splitlines(keepends=True)


def play(agent, number, *, big_blind=CallAgent, repair=False, rules=RULES):
    """Play the hand with a number; the agent is the button, the first to act."""
    deck = deal_deck(rules, np.random.default_rng((1, number)))
    rngs = [np.random.default_rng((2, number, seat)) for seat in range(rules.num_seats)]
    return play_hand(rules, [CallAgent(), big_blind(), agent], deck, rngs, repair=repair)


def numbers(count, *, ace):
    """Return the first hands in which the button holds an ace, or none."""
    decks = ((number, deal_deck(RULES, np.random.default_rng((1, number)))) for number in range(1_000))
    return [number for number, deck in decks if any(card // 4 == 12 for card in deck[4:6]) == ace][:count]


def same(one, other):
    """Return whether two hands had equal actions, payoffs and faults."""
    return (one.actions, one.payoffs, one.faults) == (other.actions, other.payoffs, other.faults)
