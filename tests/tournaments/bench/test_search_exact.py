import math

import pytest

from plurispiel.tournaments.bench import search_exact
from plurispiel.tournaments.cli import main


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
    drawn = {}
    monkeypatch.setattr(search_exact, "draw_search", lambda path, games: drawn.update(games))
    search_exact.draw_search_exact("picture.svg", rows)
    assert set(drawn) == {"leduc"} and len(drawn["leduc"]) == 4
    points = [(figures["leduc", name, "none"], figures["leduc", name, "safe"]) for name in ("CFR+ 300", "CFR 3")]
    assert drawn["leduc"]["last street, safe"] == points


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("search-exact --games leduc,chess", "has no game 'chess': choose from leduc, leduc-9"),
        ("search-exact --games leduc33", "did you mean 'leduc3'?"),
        ("search-exact --games kuhn3 --picture no.svg", "games of two players (leduc, leduc-9, holdem-mini)"),
        ("engine --games leduc", "--games: only for bench search-exact"),
        ("engine --picture no.svg", "--picture: only for bench continual-exact and search-exact, got bench engine"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_measured(capsys, arguments, message):
    assert main(["bench", *arguments.split()]) == 2
    assert message in capsys.readouterr().err
