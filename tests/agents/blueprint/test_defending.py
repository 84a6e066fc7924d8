"""The agent that folds less where a bet would profit from its folds alone."""

import os

import numpy as np
import pytest
from min_raiser import MinRaiser
from random_blueprint import random_blueprint, timid

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.blueprint.agent import DEFAULT_DEFENCE, BlueprintAgent, DefendingAgent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.hand import deal_deck, play_hand

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


class Checked(DefendingAgent):
    """Checks its strategy at each decision against the blueprint's, and counts the decisions that it changes."""

    changed = unchanged = 0

    def act(self, view):
        public, every = view.public, np.arange(view.public.rules.num_combos)
        strategy, plain = self.range_strategy(public), BlueprintAgent._look_up(self, public, every)[0]
        reach = self._off_tree.reach(public)
        before, now = (1.0 - reach @ each.probabilities[:, 0] for each in (plain, strategy))
        share = self.defence * (public.pot - public.to_call) / public.pot
        if public.can_fold and public.num_live == 2 and public.street >= 2 and before < share:
            self.changed += 1
            assert now == pytest.approx(share, abs=1e-9)
            np.testing.assert_array_equal(strategy.probabilities[:, 2:], plain.probabilities[:, 2:])
            np.testing.assert_allclose(strategy.probabilities.sum(axis=1), 1.0, atol=1e-12)
        else:
            self.unchanged += 1
            np.testing.assert_array_equal(strategy.probabilities, plain.probabilities)
        decision = super().act(view)
        row = strategy.probabilities[public.rules.combo_id(view.hole_cards)]
        np.testing.assert_allclose(decision.probabilities, row, atol=1e-12)
        return decision


@pytest.mark.parametrize(("rules", "defence"), [(HUNL, 0.9), (SIXMAX, 1.0)], ids=["2", "6"])
def test_the_range_goes_on_often_enough_and_acts_as_it_says(rules, defence):
    folders = [make_agent("fold") for _ in range(rules.num_seats - 2)]
    agents = [Checked(timid(random_blueprint(rules), 15), defence), MinRaiser(), *folders]
    for seed in range(150):
        rng = np.random.default_rng(seed)
        rngs = [np.random.default_rng((seed, seat)) for seat in range(rules.num_seats)]
        assert not play_hand(rules, agents, deal_deck(rules, rng), rngs).faults
    assert agents[0].changed > 5 < agents[0].unchanged


def test_the_option_of_a_spec():
    named = {":headsup-refined?defence=1": 1.0, ":headsup-refined": DEFAULT_DEFENCE, ":headsup-refined?defence=0": 0.0}
    for text, defence in (named | {"?defence=0.5": 0.5, "?defence=0": 0.0, "": DEFAULT_DEFENCE}).items():
        agent = make_agent(f"blueprint{text}")
        agent.restart(HUNL, 0, np.random.default_rng(0))
        assert agent.defence == defence
        assert isinstance(getattr(agent, "_agent", agent), DefendingAgent) == (defence > 0.0)
    assert agent_digest("blueprint?defence=0.5") == agent_digest("blueprint?defence=0")
    assert agent_digest("blueprint") == f"{agent_digest('blueprint?defence=0')} defence {DEFAULT_DEFENCE}"
    for text in ("defence=all", "defence=1.1", "defence=-1", "defence=nan", "defense=1"):
        with pytest.raises(ValueError, match="takes the option defence, from 0 to 1, got"):
            make_agent(f"blueprint?{text}")
    with pytest.raises(ValueError, match="a defence is above 0 and at most 1, got 2"):
        DefendingAgent(random_blueprint(HUNL), 2.0)
