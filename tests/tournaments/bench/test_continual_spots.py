"""The losses of single solves, with few spots and iterations."""

import json
import os

import pytest
from random_blueprint import random_blueprint
from random_nets import save_flop_nets

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.tournaments.bench import continual_spots
from plurispiel.tournaments.bench.continual_spots import bench_continual_spots

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.fixture
def few(monkeypatch):
    """Little of everything: the blueprint's buckets on later streets, and no time limits."""
    monkeypatch.setattr(continual_spots, "_SECONDS", ())
    monkeypatch.setattr(continual_spots, "_FACTORS", {3: (0.04, 1.0), 2: (0.04,), 1: (0.04,)})
    monkeypatch.setattr(continual_spots, "_LONG", {3: 300, 2: 6, 1: 4})
    monkeypatch.setattr(continual_spots, "_MEASURED", {3: 4, 2: 4, 1: 4})


@pytest.mark.slow
def test_more_iterations_lose_less(few, monkeypatch, tmp_path):
    monkeypatch.setattr(continual_spots, "_SPOTS", {"random river": (3, 2)})
    agent, kept = BlueprintAgent(random_blueprint(HUNL)), tmp_path / "spots.json"
    nets = str(save_flop_nets(tmp_path / "nets"))
    rows = {row.name: row for row in bench_continual_spots(1.0, nets, kept, agent)}
    losses = [rows[f"random river: to the end, iterations={count}"].value for count in (6, 150)]
    assert -0.02 < losses[1] < 0.2 < losses[0]
    record = json.loads(kept.read_text())
    share = record["spots"]["random river"]["0"]["to the end, iterations=150"][1]
    assert share > 95.0 and "2 spots" in rows["random river: to the end, without bounds"].note
    monkeypatch.setattr(continual_spots, "_measure", None)  # nothing is measured again
    assert {row.name: row for row in bench_continual_spots(1.0, nets, kept, agent)} == rows
    monkeypatch.setattr(continual_spots, "_MEASURED", {3: 4, 2: 5, 1: 4})
    with pytest.raises(ValueError, match="figures of other settings"):
        bench_continual_spots(1.0, nets, kept, agent)


@pytest.mark.slow
def test_turns_and_flops(few, monkeypatch, tmp_path):
    """Buckets are made for two flops."""
    monkeypatch.setattr(continual_spots, "_SPOTS", {"turn": (2, 1), "flop": (1, 1)})
    rows = bench_continual_spots(1.0, str(save_flop_nets(tmp_path)), agent=BlueprintAgent(random_blueprint(HUNL)))
    assert [row.name for row in rows] == [
        "turn: to the end, iterations=6",
        "turn: to the end, without bounds",
        "flop: to the end, iterations=6",
        "flop: to the end, with bounds",
        "flop: nets, iterations=6",
        "flop: nets, with bounds",
    ]
    assert all(abs(row.value) < 300.0 for row in rows) and len({row.value for row in rows}) == 6
