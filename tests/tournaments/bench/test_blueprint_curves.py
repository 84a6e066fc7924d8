"""Curves of exact exploitability."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.tournaments.bench.blueprint_curves import OwnGameAgent, TrainingPoint, _seconds_to, exploitability_curve

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.mark.slow
def test_curve_is_that_of_the_blueprint_itself():
    config = BlueprintConfig("mini", 8_000, game="holdem-mini", average_every=1, num_snapshots=4)
    cards = lossless_buckets(config.rules)
    seen = []
    points = exploitability_curve(config, cards, [2_000, 8_000], on_point=seen.append)
    assert points == seen and [point.iteration for point in points] == [2_000, 8_000]
    trainer = make_trainer(config, cards)
    trainer.run()
    tree = flatten("holdem-mini")
    blueprint = trainer.blueprint()
    for agent in (OwnGameAgent(blueprint), BlueprintAgent(blueprint)):
        found = exploitability(tree, strategy_from_agent(tree, agent)).nash_conv
        if isinstance(agent, OwnGameAgent):
            assert np.isclose(points[1].exploitability, 500.0 * found / 100, rtol=1e-5)
    assert points[1].nodes == trainer.num_nodes and points[1].exploitability < points[0].exploitability


def test_time_to_a_distance_is_between_points_by_logarithms():
    curve = [TrainingPoint(1, 10.0, 0, 400.0), TrainingPoint(2, 40.0, 0, 100.0)]
    assert np.isclose(_seconds_to(curve, 200.0), 20.0)
    assert _seconds_to(curve, 500.0) == 10.0 and np.isnan(_seconds_to(curve, 50.0))
