import json
import os

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.tournaments.bench import mixing
from plurispiel.tournaments.bench.blueprint_spots import blueprint_spots, spot_solver, write_blueprint

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_shares_of_rivers_and_turns(monkeypatch, tmp_path):
    monkeypatch.setattr(mixing, "_STREETS", {3: ("river", 2, 300), 2: ("turn", 1, 20)})
    agent, kept = BlueprintAgent(random_blueprint(HUNL)), tmp_path / "kept.json"
    rows = mixing.bench_mixing(kept=kept, agent=agent)
    assert [row.name for row in rows] == [
        f"{street}: {whose} mixes" for street in ("river", "turn") for whose in ("the blueprint", "the solution")
    ]
    wins = [float(row.note.split("wins ")[1].split()[0]) for row in rows]
    assert wins[1] < 0.05 * wins[0] and wins[3] < wins[2]
    assert rows[0].value == pytest.approx(100.0) and 0.0 < rows[1].value < 90.0
    record = json.loads(kept.read_text())
    del record["spots"]["turn"]["0"]  # as if the measurement had been stopped before it
    kept.write_text(json.dumps(record))
    solved, run = [], mixing.VectorSolver.run
    monkeypatch.setattr(
        mixing.VectorSolver, "run", lambda self, count: (solved.append(len(self.subgame.board)), run(self, count))
    )
    assert mixing.bench_mixing(kept=kept, agent=agent) == rows and solved == [4]
    for spots in ({"river": {"0": [[1.0], [1.0], 1.0]}}, {"preflop": {}}, {"river": [1]}, {"river": {"0": [[], []]}}):
        kept.write_text(json.dumps(record | {"spots": spots}))
        with pytest.raises(ArtefactRefused, match="it is damaged"):
            mixing.bench_mixing(kept=kept, agent=agent)
    kept.write_text(json.dumps(record | {"settings": {}}))
    with pytest.raises(ValueError, match="has figures of other settings"):
        mixing.bench_mixing(kept=kept, agent=agent)


def test_decisions_are_weighed_by_pairs_of_hands():
    agent = BlueprintAgent(random_blueprint(HUNL))
    planned = PlannedRows(agent.blueprint, hand_in_tree(HUNL, agent.blueprint))
    _, spot = next(blueprint_spots(agent, 3))
    solver = spot_solver(spot, planned, None)
    write_blueprint(solver, planned.rows_for(solver, spot.history))
    first = solver.streets[0].betting.decisions
    rng = np.random.default_rng(1)
    for decision in first:  # a third of the hands play one action
        rows = rng.random((HUNL.num_combos, len(decision.children)))
        rows[: HUNL.num_combos // 3, 1:] = 0.0
        solver.streets[0].write(solver.streets[0].sums, decision, rows)
    cards = HUNL.combos.astype(int)
    compatible = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    counted = np.zeros(7)
    for decision in first:
        path = tuple(action for _, action, _ in decision.actions)
        reach = solver.ranges.copy()
        for earlier in first:
            taken = tuple(action for _, action, _ in earlier.actions)
            if len(taken) < len(path) and taken == path[: len(taken)]:
                column = list(earlier.children).index(path[len(taken)])
                reach[earlier.seat] *= np.nan_to_num(solver.strategy(0, earlier))[:, column]
        weights = reach[decision.seat] * (compatible @ reach[1 - decision.seat])
        for weight, row in zip(weights, np.nan_to_num(solver.strategy(0, decision)), strict=True):
            raised = sum(row[k] for k, action in enumerate(decision.children) if action > CALL)
            is_mixed = max(row) <= 0.99
            fold, call = (sum(row[k] for k, a in enumerate(decision.children) if a == it) for it in (FOLD, CALL))
            asked = [1.0, fold, call] if len([action for action in path if action > CALL]) == 1 else [0.0] * 3
            counted += weight * np.array([1.0, is_mixed, raised, raised * (is_mixed and raised <= 0.99), *asked])
    np.testing.assert_allclose(mixing.count_mixed(solver), counted, rtol=1e-4)
