"""Rows as kernels read them: those that the agent of a blueprint acts by."""

import os
from collections import Counter

import numpy as np
import pytest
from blueprint_seat import agent_at, random_path, sources_of
from random_blueprint import random_blueprint
from table import public_after

from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.acting_rows import ActingRows
from plurispiel.evaluation.hand import deal_deck

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

TWO = no_limit_holdem(2)


@pytest.mark.parametrize("missing", [0.0, 0.6, 0.95])
def test_rows_are_those_of_the_agent(missing):
    """All combos at 60 decisions: 60,000 of node, board and combo; each source is met where rows are missing."""
    found, rng, met = random_blueprint(TWO, missing=missing), np.random.default_rng(5), Counter()
    rows = ActingRows(found)
    for _ in range(60):
        node, actions = random_path(found.tree, rng)
        public = public_after(TWO, actions, deal_deck(TWO, rng)[:5].tolist())
        seat = int(found.tree.actor[node])
        strategy, sources = sources_of(agent_at(found, seat=seat), public)
        expected = np.stack([strategy.probability(action) for action in found.tree.actions(node).tolist()], axis=1)
        actual = rows.strategy(node, public.board) if public.street else rows.preflop(node)
        free = TWO.free_combos(public.board)
        np.testing.assert_allclose(actual[free], expected[free], rtol=0, atol=1e-12)
        met.update(sources[free].tolist())
    wanted = {"row"} if not missing else {"row", "bucket", "sibling", "earlier"}
    assert wanted <= set(met)
    assert (met["strength"] > 100) == (missing > 0.0)


def test_float32_tables_are_near():
    found = random_blueprint(TWO, missing=0.6)
    exact, rounded = ActingRows(found), ActingRows(found, np.float32)
    for street in range(1, 4):
        tables = exact.street(street), rounded.street(street)
        assert tables[1].table.dtype == np.float32
        np.testing.assert_allclose(tables[1].table, tables[0].table, rtol=0, atol=1e-7)
        assert len(tables[0].open_nodes)
