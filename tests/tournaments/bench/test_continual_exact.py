import os

import numpy as np
import pytest
from solved_leduc import leduc_net, sample_leduc

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.values.encoding import num_inputs
from plurispiel.agents.values.levels import LEVELS
from plurispiel.agents.values.net import new_layers
from plurispiel.agents.values.net_file import load_net, save_net
from plurispiel.tournaments.bench import continual_exact
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.fixture
def networks(tmp_path):
    data = sample_leduc(tmp_path / "data")
    leduc_net(data, tmp_path / "net")
    return [tmp_path / "net"]


@pytest.mark.slow
def test_figures_tables_and_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(continual_exact, "_GAMES", ("leduc",))
    monkeypatch.setattr(continual_exact, "_ITERATIONS", (10, 30, 100, 300))
    monkeypatch.setattr(continual_exact, "_ERRORS", {("leduc", 300): {"fixed": (0.03, 0.1), "fresh": (0.1,)}})
    monkeypatch.setattr(continual_exact, "_MORE_INNER", 20)
    monkeypatch.setattr(continual_exact, "_SEEDS", {"leduc": 1})
    monkeypatch.setattr(continual_exact, "_OPTIONS_AT", (("leduc", 300),))
    monkeypatch.setattr(continual_exact, "_off_menu", lambda seconds: iter(()))
    rows = continual_exact.bench_continual_exact(0.1)
    figures = {row.name: row.value for row in rows}
    assert len(figures) == len(rows) == 2 * (5 + 3 + 7) + 1
    assert figures["iterations | leduc | 300"] < 0.5 < figures["iterations | leduc | 10"]
    assert figures["options | leduc | 300 | default"] == figures["iterations | leduc | 300"]
    assert figures["options | leduc | 300 | values=checkdown"] > 0.2
    assert 0.0 < figures["options | leduc | 300 | no depth limit"] < 0.2
    text = continual_exact.continual_exact_text(rows)
    assert "| game  | T   | kind  |" in text and " slope |" in text and text.endswith("core-seconds")
    path = tmp_path / "picture.png"
    continual_exact.draw_continual_exact(path, rows)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_networks(monkeypatch, tmp_path, networks):
    (path,), mine = networks, load_net(networks[0]).record["validation"]
    for part in ("_by_iterations", "_by_errors", "_by_options", "_off_menu"):
        monkeypatch.setattr(continual_exact, part, lambda seconds: iter(()))
    rows = continual_exact.bench_continual_exact(0.02, [path])
    figures = {row.name.rpartition(" | ")[2]: row.value for row in rows if row.unit != "core-s"}
    assert figures["mean error, %"] == 100.0 * mine["mae"] and figures["rms, %"] == 100.0 * mine["rms"]
    assert 0.0 < figures["1000"] < figures["100"]
    assert "By networks:" in (text := continual_exact.continual_exact_text(rows)) and f"{100 * mine['rms']:.3g}" in text
    rows += [Measurement(f"iterations | leduc | {count}", 30.0 / count, "chips") for count in (30, 300)]
    rows += [Measurement(f"errors | leduc | 300 | fixed | {size}", size, "chips") for size in (0.03, 0.1)]
    drawn = []
    monkeypatch.setattr(continual_exact, "draw_resolving", lambda *all_of_it: drawn.append(all_of_it[-1]))
    continual_exact.draw_continual_exact(tmp_path / "picture.png", rows)
    assert drawn == [{at: [(mine["rms"], figures[str(at)])] for at in (100, 1_000)}]


def test_networks_of_others(networks, tmp_path):
    save_net(tmp_path / "bare", load_net(networks[0]).net.layers, LEVELS["leduc"], {}, seed=1)
    with pytest.raises(ArtefactRefused, match="lacks its errors"):
        continual_exact.bench_continual_exact(0.02, [tmp_path / "bare"])
    layers = new_layers((num_inputs(LEVELS["river"].rules, 8), 4, 16), np.random.default_rng(1))
    save_net(tmp_path / "river", layers, LEVELS["river"], {}, seed=1)
    with pytest.raises(ArtefactRefused, match="for the level river; give one for leduc"):
        continual_exact.bench_continual_exact(0.02, [tmp_path / "river"])
    assert main(["bench", "rows", "--nets", str(tmp_path / "river")]) == 2


def test_fits():
    assert continual_exact.slope({30: 0.3, 3_000: 0.03}) == pytest.approx(-0.5)
    assert continual_exact.coefficient({0.1: 0.2, 0.2: 0.4}) == pytest.approx(2.0)


@pytest.mark.slow
def test_off_the_menu(monkeypatch):
    """Half-pot raises, of which neither knows: re-solving answers them better than translation and unsafe search do."""
    monkeypatch.setattr(continual_exact, "_OFF_MENU_AT", (100,))
    rows = list(continual_exact._off_menu(1.0))
    found = {row.name.rpartition(" | ")[2]: row.value for row in rows if row.unit == "chips"}
    continual = found.pop("continual, T = 100")
    assert len(found) == 3 and continual < min(found.values())
