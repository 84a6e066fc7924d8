"""Strategies that are functions of a learner's observations, as agents."""

import numpy as np
import pyspiel
import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.openspiel import LearnedAgent, OpenSpielBot, make_environment
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability


def uniform(observations, mask):
    return np.ones((len(observations), len(mask)))


def test_the_uniform_strategy_of_leduc():
    tree = flatten("leduc")
    assert exploitability(tree, strategy_from_agent(tree, LearnedAgent(uniform))).nash_conv == pytest.approx(1709 / 360)


def by_hash(observations, mask):
    """Probabilities that depend on every entry of an observation; now and then none at all."""
    seen = observations.astype(np.float64) @ np.sin(np.arange(1.0, observations.shape[1] + 1.0))
    weights = np.abs(np.sin(seen[:, None] * np.arange(1.0, len(mask) + 1.0)))
    weights[np.abs(np.cos(seen)) < 0.05] = 0.0
    return weights


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("leduc", {}),
        ("leduc3", {"observation": "observation"}),
        (HUNL.with_menu("fchpa"), {"observation": "compact"}),
        (SIXMAX, {"observation": "compact", "sizes": "0.5p 1p allin"}),
    ],
    ids=["leduc", "leduc3", "fchpa", "six sizes"],
)
def test_an_agent_plays_what_a_learner_would(game, settings):
    """At each of a learner's decisions, an agent in its place has the probabilities of the observed ids."""
    environment = make_environment(game, "random", seed=3, **settings)
    table, rng = environment.table, np.random.default_rng(1)
    agent = LearnedAgent(by_hash, **settings)
    num_rows = 0
    for _ in range(15):
        step = environment.reset()
        while not step.last():
            (legal,) = step.observations["legal_actions"]
            seat = table.seat_of(0)
            feed = next(iter(table._feeds.values()))
            feed.follow([*feed.seen[: table.rules.num_hole_cards], *table._later])
            agent.restart(table.rules, seat, rng)
            hole = table.deck[seat * table.rules.num_hole_cards :][: table.rules.num_hole_cards].tolist()
            strategy = agent.strategy(feed.public(), np.array([table.rules.combo_id(hole)]))
            mask = np.isin(np.arange(table.num_ids), legal)
            seen = np.array(step.observations["info_state"], np.float32)
            weights = by_hash(seen, mask)[0] * mask
            expected = weights / weights.sum() if weights.sum() else mask / mask.sum()
            assert strategy.actions.tolist() == sorted(table.total(number) for number in legal)
            for number in legal:
                assert strategy.probability(table.total(number))[0] == pytest.approx(expected[number])
            num_rows += 1
            step = environment.step([rng.choice(legal)])
    assert num_rows > 15


def test_settings_that_do_not_fit_are_refused_at_the_table():
    for settings, message in (
        ({"sizes": "1p"}, "menu of its own"),
        ({"observation": "tensor"}, "unknown observation"),
    ):
        bot = OpenSpielBot(LearnedAgent(uniform, **settings), "leduc_poker", 0)
        state = pyspiel.load_game("leduc_poker").new_initial_state()
        state.apply_action(0)
        state.apply_action(2)
        with pytest.raises(ValueError, match=message):
            bot.step(state)
