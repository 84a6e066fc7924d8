"""A searching agent against bets of any size."""

import dataclasses
import os

import numpy as np
import pytest
from search_seat import (
    FEW,
    Gambler,
    blueprint,
)

from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import deal_deck, play_hand

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


class Checked(SearchAgent):
    """Checks the strategies that it reports."""

    has_searched_preflop = False

    def act(self, view):
        decision = super().act(view)
        self.has_searched_preflop |= any(not search.root.state.street for search in self.searches)
        return decision

    def range_strategy(self, public):
        found = super().range_strategy(public)
        assert (found.probabilities >= 0.0).all() and all(map(public.is_legal, found.actions.tolist()))
        np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
        return found


def fuzz(num_hands, most_seats, config=FEW, **options):
    rng = np.random.default_rng(11)
    config = dataclasses.replace(config, iterations=2, run_outs=1)
    agents = {seats: Checked(BlueprintAgent(blueprint(seats, **options)), config) for seats in (2, most_seats)}
    for number in range(num_hands):
        seats = int(rng.integers(2, most_seats + 1)) if number % 2 else 2
        stacks = tuple(rng.choice([100, 350, 2500, 10_000, 20_000], seats).tolist())
        rules = dataclasses.replace(no_limit_holdem(seats), stacks=stacks)
        if not any(stack > blind for stack, blind in zip(stacks, rules.blinds, strict=True)):
            continue
        seat = int(rng.integers(seats))
        players = [Gambler() for _ in range(seats)]
        players[seat] = agents[2 if seats == 2 else most_seats]
        rngs = [np.random.default_rng((number, place)) for place in range(seats)]
        hand = play_hand(rules, players, deal_deck(rules, rng), rngs)
        assert not hand.faults, (rules, hand)
        score = Aivat(rules).scores(hand, players)[seat]
        assert not score.refused and np.isfinite(score.estimate), score.refused
    return agents.values()


def test_any_bets_are_answered():
    agents = fuzz(80, 4)
    assert sum(agent.counts["searches"] for agent in agents) > 10
    assert sum(agent.counts["searches again"] for agent in agents) > 0


@pytest.mark.slow
def test_any_bets_are_answered_at_length():
    """With searches of every kind: for two players, for more, and before the flop."""
    agents = fuzz(2000, 6, dataclasses.replace(FEW, warm_start=100.0), has_table=True)
    assert min(agent.counts["searches again"] for agent in agents) > 50
    assert all(agent.has_searched_preflop for agent in agents)
