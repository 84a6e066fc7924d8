"""The bench of continual re-solving, with a clock of its own and few iterations."""

import itertools
import os
import types

import pytest
from random_nets import save_flop_nets

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.continual.table import TableConfig
from plurispiel.agents.continual.table.config import FLOP_NETS, PREFLOP_NETS
from plurispiel.tournaments.bench import continual, decision_times


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
@pytest.mark.slow
def test_times_and_bounds(monkeypatch):
    ticks = map(float, itertools.count())
    monkeypatch.setattr(decision_times, "time", types.SimpleNamespace(perf_counter=lambda: next(ticks)))
    monkeypatch.setattr(continual, "_TIMED_HANDS_A_SECOND", 1)
    few = TableConfig(iterations=20, threads=1, cards="blueprint", last_boards=1)
    rows = continual.bench_continual(0.4, few)
    names = [row.name.strip() for row in rows]
    ways = [f"{way}, {limit}: a decision" for way in ("C1", "C2", "C3") for limit in ("by iterations", "time=1")]
    assert set(ways) <= set(names)
    assert {row.value for row in rows if row.unit == "s"} == {1.0}  # a clock that is read twice for each
    shares = [(row.name.strip(), row.value) for row in rows if row.unit == "%"]
    assert {"bounds kept, turn", "range kept, turn", "bounds kept, river"} <= {name for name, _ in shares}
    assert all(0.0 <= value <= 100.0 for _, value in shares)
    rivers = [value for name, value in shares if name == "bounds kept, river"]
    assert len(rivers) == 3 and min(rivers) > 90.0


@pytest.mark.parametrize(
    ("names", "damaged"), [((), "end-of-flop"), (FLOP_NETS[:1], "turn"), (FLOP_NETS + PREFLOP_NETS, "end-of-preflop")]
)
def test_unfit_networks_are_refused_before_anything_is_measured(monkeypatch, tmp_path, names, damaged):
    monkeypatch.setattr(continual, "_times", lambda *_: pytest.fail("it begins to measure"))
    folder = save_flop_nets(tmp_path, names=names)
    for manifest in folder.glob(f"{damaged}/manifest.json"):
        manifest.write_text("{")
    with pytest.raises(ArtefactRefused, match=damaged):
        continual.bench_continual(nets=str(folder))
