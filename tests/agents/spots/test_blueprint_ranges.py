"""Ranges before the flop from a blueprint's probabilities."""

import numpy as np
import pytest

from plurispiel.agents.blueprint.agent import blueprint_agent
from plurispiel.agents.blueprint.first_in import first_in, shares
from plurispiel.agents.spots.blueprint_ranges import preflop_place


@pytest.fixture(scope="module")
def agent():
    return blueprint_agent("headsup-refined")


def test_the_first_raise_is_that_of_the_blueprint(agent):
    """The bot raises the same share of each class as `first_in` says."""
    place = preflop_place(agent, [])
    name = place.positions[place.actor]
    known = np.array([each["raise"] for each in shares(first_in(agent.blueprint)[name]).values()])
    raises = np.array([word[0] == "r" for word in place.actions])
    found = place.probabilities[:, raises].sum(axis=1)
    assert np.unique(found.round(9)).size > 50
    assert set(found.round(6)) == set(known.round(6))


def test_weights_are_the_products_of_probabilities(agent):
    first = preflop_place(agent, [])
    raised = preflop_place(agent, ["r250"])
    assert raised.weights[first.actor] == pytest.approx(first.probabilities[:, first.actions.index("r250")])
    assert (raised.weights[raised.actor] == 1.0).all() and raised.contributions == (100, 250)
    called = preflop_place(agent, ["r250", "c"])
    assert called.weights[raised.actor] == pytest.approx(raised.probabilities[:, raised.actions.index("c")])
    assert called.players == (0, 1) and called.actor == -1 and called.actions == ()
    assert called.contributions == (250, 250) and called.stacks == (19750, 19750)


@pytest.mark.parametrize(
    "line, players", [(["f"], ()), (["r20000", "c"], ()), (["c", "c"], (0, 1))]
)  # out of position first: heads-up that is the big blind
def test_who_sees_the_flop(agent, line, players):
    assert preflop_place(agent, line).players == players


def test_wrong_lines_are_named(agent):
    with pytest.raises(ValueError, match="after the blinds the actions are f c r200"):
        preflop_place(agent, ["r201"])
    with pytest.raises(ValueError, match="has ended, got one more action: 'c'"):
        preflop_place(agent, ["c", "c", "c"])
