import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.base import Agent, Deal, Decision, PublicState, View
from plurispiel.agents.factory import make_agent
from plurispiel.tournaments.play.adviser import HintAdviser

VIEW = View(PublicState(HUNL, BettingState(HUNL).array.tolist()), 1, (51, 50))


def words(agent):
    adviser = HintAdviser(agent, "x")
    adviser.restart(HUNL, 1, np.random.default_rng(0))
    adviser.observe(Deal((51, 50)))
    return adviser.words(VIEW)


class Broken(Agent):
    def act(self, view):
        raise SystemExit("no more")


class Mixes(Agent):
    def act(self, view):
        return Decision(250, (0, 1, 250, 250, 7), (0.001, 0.599, 0.2, 0.15, 0.05))


class Bare(Agent):
    def act(self, view):
        return CALL


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        (make_agent("raise"), "hint from x: raise to 300 (100%)"),
        (Mixes(), "hint from x: call 50 (60%), raise to 250 (35%)"),
        (Bare(), "hint from x: call 50 (100%)"),
    ],
)
def test_a_hint_has_the_probabilities_that_the_agent_tells(agent, text):
    assert words(agent) == text


def test_an_adviser_that_fails_says_so_and_harms_nobody():
    assert words(Broken()).startswith("no hint from x: SystemExit: no more")
