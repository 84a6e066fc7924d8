import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.continual import ContinualConfig, continual_strategy
from plurispiel.agents.specs import make_agent, parse_spec
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.compliance import check_agent

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_the_agent_plays_what_is_measured():
    tree = flatten("leduc_poker")
    expected, counts = continual_strategy(tree, ContinualConfig(iterations=20, purge=0.05))
    agent = make_agent("continual?iterations=20&purge=0.05")
    np.testing.assert_allclose(strategy_from_agent(tree, agent), expected, atol=1e-9)
    assert agent.counts == counts


def test_compliance():
    found = check_agent(lambda: make_agent("continual?iterations=10"), [LEDUC, KUHN], num_hands=6, num_decks=2)
    assert not found.violations and found.tells_range


def test_specs():
    assert not parse_spec("continual?iterations=3").is_foreign
    with pytest.raises(ValueError, match="takes no argument"):
        make_agent("continual:somewhere")
    with pytest.raises(ValueError, match="did you mean 'purge'"):
        make_agent("continual?purg=0.1")
    with pytest.raises(ValueError, match="two seats and one or two streets, got 2 seats and 4 streets"):
        make_agent("continual").restart(HUNL, 0, np.random.default_rng(1))
