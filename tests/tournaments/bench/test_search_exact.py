import math

from plurispiel.tournaments.bench import search_exact


def test_figures_and_table(monkeypatch):
    monkeypatch.setattr(search_exact, "_GAMES", {"leduc": 200, "kuhn3": 50})
    monkeypatch.setattr(search_exact, "_BLUEPRINTS", (("cfr+", 300), ("cfr", 3)))
    rows = search_exact.bench_search_exact()
    figures = {tuple(row.name.split(" | ")): row.value for row in rows}
    assert len(figures) == len(rows) == 2 * 2 * 10
    assert figures["leduc", "CFR 3", "none"] > 1.5 > figures["leduc", "CFR 3", "street 2"]
    assert figures["leduc", "CFR+ 300", "safe"] < figures["leduc", "CFR+ 300", "final iterate"]
    assert len({figures["leduc", "CFR+ 300", column] for column in ("street 1, k = 1", "k = 2", "k = 4")}) == 3
    assert math.isnan(figures["kuhn3", "CFR 3", "safe"]) and math.isnan(figures["kuhn3", "CFR 3", "street 2"])
    assert 0.0 < figures["leduc", "CFR 3", "worst subgame"] < 0.5
    header, rule, *lines = search_exact.search_exact_text(rows).splitlines()
    assert len({len(line) for line in (header, rule, *lines)}) == 1
    assert [line.split("|")[2].strip() for line in lines] == ["CFR+ 300", "CFR 3"] * 2
    assert header.split("|")[3].strip() == "none" and set(rule) == {"|", "-", " "}
