import os

import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.tournaments.bench import search_spots


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_searches_of_rivers_win_from_a_blueprint_that_knows_nothing(monkeypatch):
    monkeypatch.setattr(search_spots, "_STREETS", {3: ("river", 3), 2: ("turn", 1)})
    monkeypatch.setattr(search_spots, "_ITERATIONS", {3: (10,), 2: (5,)})
    rows = search_spots.bench_search_spots(agent=BlueprintAgent(random_blueprint(HUNL)))
    figures = {row.name: row for row in rows}
    assert list(figures) == [
        "river: the blueprint",
        "river: 100 iterations",
        "river: 100 iterations, the final iterate",
        "river: 100 iterations, safe",
        "turn: the blueprint",
        "turn: 5 iterations",
        "turn: 5 iterations, from uniform",
        "turn: 5 iterations, no purge",
        "turn: 5 iterations, the final iterate",
        "turn: 5 iterations, safe",
    ]
    assert figures["river: 100 iterations"].value > 50.0  # chips for both seats; a big blind is 100
    assert "below 0 in 0 spots" in figures["river: 100 iterations"].note
    left = float(figures["river: 100 iterations"].note.split("wins ")[1])
    assert left < 0.1 * figures["river: the blueprint"].value
    gains = [figures[name].value for name in figures if "iterations" in name and "turn" in name]
    assert len(set(gains)) == 5 and max(map(abs, gains)) < 2.0 * HUNL.stacks[0]
