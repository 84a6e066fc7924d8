import os

import pytest

from plurispiel.tournaments.bench import continual_exact

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


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
