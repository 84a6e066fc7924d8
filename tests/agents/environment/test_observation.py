"""Observations of a learner; those of universal_poker are compared in test_environment."""

import dataclasses

import numpy as np
import pytest
from reference import observation as reference

from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC, SIXMAX
from plurispiel.agents.environment.observation import Observer
from plurispiel.agents.openspiel import make_environment

UNEQUAL = dataclasses.replace(SIXMAX, stacks=(300, 900, 1_500, 20_000, 700, 100))


@pytest.mark.parametrize(
    ("rules", "sizes"),
    [(LEDUC, None), (HULH, None), (HUNL.with_menu("fcpa"), None), (HUNL, "0.5p 2p"), (UNEQUAL, "0.4p allin")],
    ids=["leduc", "limit", "fcpa", "sizes", "unequal"],
)
def test_compact(rules, sizes):
    environment = make_environment(rules, "random", sizes=sizes, observation="compact", seed=6)
    table, rng = environment.table, np.random.default_rng(3)
    for _ in range(30):
        step = environment.reset()
        while True:
            actions = [action.action for action in table.actions]
            expected = reference.compact(rules, table.deck.tolist(), actions, table.seat_of(0))
            np.testing.assert_allclose(step.observations["info_state"][0], expected, rtol=1e-6)
            if step.last():
                break
            legal = step.observations["legal_actions"][0]
            step = environment.step([rng.choice(legal)])


def test_compact_keeps_the_latest_actions_of_a_street():
    environment = make_environment(HUNL, ["raise"], sizes="0.01p", observation="compact", seat=1)
    step = environment.reset()
    for _ in range(3):
        step = environment.step([2])
    actions = [action.action for action in environment.table.actions]
    assert len(actions) == 6 and not step.last()
    expected = reference.compact(HUNL, environment.table.deck.tolist(), actions, 1)
    np.testing.assert_allclose(step.observations["info_state"][0], expected, rtol=1e-6)
    deep = dataclasses.replace(HUNL, stacks=(2_000_000, 2_000_000))
    environment = make_environment(deep, ["random"], sizes="0.01p", observation="compact", seat=1, seed=1)
    longest = 0
    for _ in range(60):
        step = environment.reset()
        while not step.last():
            actions = [action.action for action in environment.table.actions]
            expected = reference.compact(deep, environment.table.deck.tolist(), actions, 1)
            np.testing.assert_allclose(step.observations["info_state"][0], expected, rtol=1e-6, atol=1e-9)
            longest = max(longest, max([actions.count(a) for a in actions], default=0), len(actions))
            step = environment.step([step.observations["legal_actions"][0][-1]])
    assert longest > 6


def test_bounds():
    for rules in (LEDUC, HUNL.with_menu("fcpa"), SIXMAX.with_menu("fcpa")):
        for name, high in (("compact", 1.0), ("observation", max(rules.stacks or (13,)))):
            observer = Observer(rules, name)
            assert observer.high == high
    assert Observer(LEDUC, "information-state").high == 1.0
    assert Observer(HUNL.with_menu("fcpa"), "information-state").high == 20_000
