"""What the opponent is estimated to hold counts less once it acts as the estimate hardly ever does."""

import os

import numpy as np
import pytest
import table
from search_seat import START, live_combos, public_after

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.blueprint.agent import blueprint_agent
from plurispiel.agents.continual.carried import trusted
from plurispiel.agents.continual.table import TableAgent, TableConfig

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_the_share_is_that_of_bayes_rule():
    """The estimate takes the action in one case of a hundred, the alternative takes each of four equally often."""
    assert trusted(0.5, 1.0) == 0.5 and trusted(0.5, 0.0) == 0.0
    assert trusted(0.3, 0.01 / 0.25) == pytest.approx(0.3 * 0.01 / (0.3 * 0.01 + 0.7 * 0.25))
    shares = [trusted(0.5, trust) for trust in np.linspace(0.0, 1.0, 50)]
    assert (np.diff(shares) > 0.0).all()


@pytest.fixture(scope="module")
def config():
    return TableConfig(iterations=50, threads=1, nets="bundled")


@pytest.mark.parametrize("seat", [0, 1], ids=["after the own check", "as the first bet"])
def test_an_all_in_of_forty_pots_is_called_by_few(config, seat):
    """If half of the range called, strong hands would win twenty pots on average."""
    agent = table.agent_at(TableAgent(config), HUNL, seat)
    path = (*START, 1, 1, *((1,) if seat == 0 else ()), 20_000)
    public = public_after(path)
    decision, live = agent.decision(public), live_combos(public)
    called = float(decision.carried.range[live] @ decision.played[live, decision.actions.index(1)])
    assert decision.carried.trust < 0.1 and called < 0.1, (decision.carried.trust, called)


def test_trust_is_a_product_over_the_hand_cut_to_one_and_never_zero(config):
    agent = table.agent_at(TableAgent(config, blueprint_agent("headsup-refined")), HUNL, 1)
    odd, later = (agent.decision(public_after((*START, 1, 1, 1500, *more))).carried.trust for more in ((), (1, 1)))
    assert 0.0 < odd < 0.1 and odd < later < 1.0  # a large bet that is hardly expected, then a likely check
    assert agent.decision(public_after((*START, 1))).carried.trust == 1.0
    impossible = agent.decision(public_after((*START, 1, 1, 20_000))).carried
    assert 0.0 < impossible.trust < 0.01 and np.isfinite(impossible.estimate).all()
