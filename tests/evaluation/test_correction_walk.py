"""The passes of all seats through a hand against passes seat by seat and event by event, with random values."""

import dataclasses

import numpy as np
import pytest
from reference.correction_walk import corrections

from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, no_limit_holdem
from plurispiel.agents.base import RangeAgent, Strategy
from plurispiel.agents.baselines.simple import CallAgent, RandomAgent
from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.value_functions import ValueFunction

SHORT = dataclasses.replace(no_limit_holdem(3), stacks=(400,) * 3)  # all-in before the last street


class Liar(RangeAgent):
    """Plays as `RandomAgent`, but claims at some decisions that it never calls."""

    def __init__(self):
        self.random = RandomAgent()

    def strategy(self, public, combo_ids):
        found = self.random.strategy(public, combo_ids)
        if len(public.actions) % 3 or len(found.actions) == 1:
            return found
        rows = found.probabilities.copy()
        rows[:, found.actions.tolist().index(CALL)] = 0.0
        return Strategy(found.actions, rows / rows.sum(axis=1, keepdims=True), found.highest)

    def act(self, view):
        return self.random.act(view)

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.random.restart(rules, seat, rng)


class RandomValues(ValueFunction):
    """Values drawn for each seat, line, board and number of cards; they are the same again."""

    def __init__(self):
        self.known = {}

    def values(self, situation):
        return self.next_board_means(situation, 0)

    def next_board_means(self, situation, num_cards):
        key = situation.seat, tuple(action.action for action in situation.actions), len(situation.board), num_cards
        if key not in self.known:
            rng = np.random.default_rng(abs(hash(key)))
            self.known[key] = rng.normal(size=situation.rules.num_combos)
        return self.known[key]

    def deal_mean(self, rules, seat):
        return 0.25 * seat


@pytest.mark.parametrize("rules", [LEDUC, HUNL, SHORT], ids=["leduc", "heads-up", "three seats"])
def test_corrections_are_those_of_the_reference(rules):
    agents = [RandomAgent(), TightAggressiveAgent(), Liar(), CallAgent()]
    values, rng = RandomValues(), np.random.default_rng(5)
    aivat = Aivat(rules, values)
    sizes = [rules.board_size(street) for street in range(rules.num_streets)]
    met = set()
    for _ in range(60 if rules is LEDUC else 15):
        seated = [agents[k] for k in rng.integers(4, size=rules.num_seats)]
        hand = play_hand(rules, seated, deal_deck(rules, rng), rng.spawn(rules.num_seats))
        trusted = {0, rules.num_seats - 1}
        scores = aivat.scores(hand, seated, trusted)
        lines = aivat._lines.along(hand.actions)
        for seat, score in enumerate(scores):

            def value(line, size, num_cards, seat=seat):
                return values.next_board_means(aivat._asked.situation(seat, line, size), num_cards)

            events, _, decisions, refuted = corrections(
                hand, lines, aivat._lines.after, seat, aivat._dealt, aivat.announced, trusted, sizes, value, 0.25 * seat
            )
            assert [tuple(term) for term in score.terms if term.kind != "showdown"] == events
            assert score.decisions == decisions
            assert refuted == (score.estimate is None)
            met.update(kind for kind, *_ in events)
            met.add(("refuted", refuted))
    assert met >= {"deal", "board", "action", "other", ("refuted", True)}
