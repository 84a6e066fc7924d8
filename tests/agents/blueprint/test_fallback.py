"""Rows that stand in for missing ones."""

import dataclasses
import os

import numpy as np
import pytest
from blueprint_seat import (
    BOARD,
    FLOP,
    THREE,
    agent_at,
    blueprint,
    buckets_of,
    node_after,
    random_path,
    sources_of,
    without,
)
from random_blueprint import StrengthBuckets, random_blueprint
from table import public_after

from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.baselines.tight_aggressive import starting_hands
from plurispiel.agents.blueprint.fallback import SOURCES
from plurispiel.evaluation.hand import deal_deck

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_tables_of_decisions_change_nothing(monkeypatch):
    """Where there are too many buckets for them, hands are looked up one by one."""
    found, rng = blueprint(3, 0.6), np.random.default_rng(13)
    publics = []
    for _ in range(60):
        _, actions = random_path(found.tree, rng)
        publics.append(public_after(THREE, actions, deal_deck(THREE, rng)[:5].tolist()))
    by_table = [sources_of(agent_at(found), public) for public in publics]
    monkeypatch.setattr("plurispiel.agents.blueprint.fallback.MAX_TABLE", 0)
    met = set()
    for public, (strategy, sources) in zip(publics, by_table, strict=True):
        one_by_one, same_sources = sources_of(agent_at(found), public)
        assert np.array_equal(one_by_one.probabilities, strategy.probabilities)
        assert np.array_equal(same_sources, sources)
        met |= set(sources.tolist())
    assert met == set(SOURCES[:5])


def test_the_nearest_bucket_stands_in_after_the_flop():
    found = random_blueprint(THREE, cards=StrengthBuckets(THREE, 100))
    actions = (*FLOP, CALL, CALL)
    node = node_after(found.tree, actions)
    missing = [*range(40, 44), *range(60, 80)]
    agent = agent_at(without(found, (node, missing)))
    public = public_after(THREE, actions, BOARD)
    strategy, sources = sources_of(agent, public)
    buckets = buckets_of(found, public)
    met = []
    for bucket in np.unique(buckets).tolist():
        near = min((other for other in range(100) if other not in missing), key=lambda other: abs(other - bucket))
        expected = "row" if near == bucket else "bucket" if abs(near - bucket) <= 5 else "earlier"
        assert set(sources[buckets == bucket]) == {expected}
        if expected != "earlier":
            row = found.strategy(node, np.array([near]))
            assert np.allclose(strategy.probabilities[buckets == bucket], row, atol=1e-6)
        met.append(expected)
    assert min(met.count(source) for source in ("row", "bucket", "earlier")) >= 3
    # Starting hands are in no such order.
    agent = agent_at(without(found, (0, [5])))
    _, sources = sources_of(agent, public_after(THREE, ()))
    assert set(sources[found.cards.row((), 0) == 5]) == {"strength"}


def test_the_answer_to_the_nearest_other_raise_stands_in():
    found = blueprint(3)
    # The first raise of the hand: half a pot is 225, a pot 350, all-in 10,000.
    node, sibling = node_after(found.tree, (225, FOLD)), node_after(found.tree, (350, FOLD))
    assert found.tree.actions(node).tolist() == found.tree.actions(sibling).tolist() == [FOLD, CALL, 10_000]
    agent = agent_at(without(found, (node, range(169))))
    strategy, sources = sources_of(agent, public_after(THREE, (225, FOLD)))
    assert set(sources) == {"sibling"}
    expected = found.strategy(sibling, found.cards.row((), 0))
    others = (THREE.combos < 48).any(axis=1)  # aces are not folded
    assert np.allclose(strategy.probabilities[others], expected[others], atol=1e-6)
    # Without that, too, all-in does not stand in: nothing is left to raise behind it.
    agent = agent_at(without(found, (node, range(169)), (sibling, range(169))))
    _, sources = sources_of(agent, public_after(THREE, (225, FOLD)))
    assert set(sources) == {"strength"}


def test_the_decision_before_stands_in():
    found = blueprint(3)
    # On the flop seat 0 checks, seat 1 bets the pot, seat 2 folds: seat 0 decides as before, but for the bet.
    actions = (*FLOP, CALL, 1400, FOLD)
    node, before = node_after(found.tree, actions), node_after(found.tree, FLOP)
    assert found.tree.actions(before).tolist() == [CALL, 1400]
    assert found.tree.actions(node).tolist() == [FOLD, CALL, 10_000]
    agent = agent_at(without(found, (node, range(20))))
    public = public_after(THREE, actions, BOARD)
    strategy, sources = sources_of(agent, public)
    assert set(sources) == {"earlier"}
    checks, bets = found.strategy(before, buckets_of(found, public)).T
    # The bet is 1,050 into 1,050: half of the checks fold. A bet becomes the only raise.
    assert np.allclose(strategy.probabilities, np.stack([checks / 2, checks / 2, bets], axis=1), atol=1e-6)
    # Without that one, the seat's last decision is its call before the flop, by its bucket there.
    call = node_after(found.tree, FLOP[:1])
    agent = agent_at(without(found, (node, range(20)), (before, range(20))))
    strategy, sources = sources_of(agent, public)
    assert set(sources) == {"earlier"}
    expected = found.strategy(call, found.cards.row((), 0))
    assert found.tree.actions(call).tolist() == [FOLD, CALL, 10_000]
    assert np.allclose(strategy.probabilities, expected, atol=1e-6)


def test_strength_decides_where_nothing_is_left():
    found = blueprint(3)
    empty = dataclasses.replace(found, rows=np.zeros_like(found.rows))
    agent = agent_at(empty)
    strategy, sources = sources_of(agent, public_after(THREE, (*FLOP, CALL, 1400, FOLD), BOARD))
    assert set(sources) == {"strength"} and strategy.actions.tolist() == [FOLD, CALL, 10_000]
    expected = made_strength(THREE, BOARD[:3]) >= 0.5
    assert np.array_equal(strategy.probabilities[:, 1], expected)
    live = ~np.isin(THREE.combos, BOARD[:3]).any(axis=1)
    assert expected[live].mean() == pytest.approx(0.5, abs=0.03)
    strategy, _ = sources_of(agent, public_after(THREE, FLOP, BOARD))
    assert strategy.actions.tolist() == [CALL, 1400] and (strategy.probabilities == [1.0, 0.0]).all()
    # Before the flop: a raise to 350 over blinds of 150 asks for 300 where 500 lie.
    strategy, _ = sources_of(agent, public_after(THREE, (350,)))
    assert np.array_equal(strategy.probabilities[:, 1], starting_hands() >= 1 - 200 / 500)
