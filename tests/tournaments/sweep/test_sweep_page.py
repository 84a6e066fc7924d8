"""The page of a sweep in a browser: its table is sorted by clicks and by keys, and nothing is loaded."""

import pytest
from browser import Browser, find_browser

from plurispiel.agents.spots import Spot
from plurispiel.agents.spots.flop_row import FlopRow
from plurispiel.agents.spots.spot_file import SolveSettings
from plurispiel.tournaments.sweep.page import make_sweep_page
from plurispiel.tournaments.sweep.settings import SweepSettings
from plurispiel.tournaments.sweep.table import SweepTable

SPOT = Spot("2c 3c 4c", 60, 40, "AA,KQs", "QQ", {"flop": {"bet": "50%"}})


def row(flop, ev, share):
    frequencies = {"oop: c": 1.0, "oop: b50%": 0.0, "ip after c: c": 0.25, "ip after b50%: f": share}
    return FlopRow(flop, 24.0, 10.0, (ev, 60.0 - ev), (0.5, 0.5), 0.4, None, 20, frequencies, 1.0)


@pytest.fixture
def page(tmp_path):
    table = SweepTable([row("KsQd2c", 9.5, 0.5), row("AsAdAc", 1_000.25, None), row("KsTd9c", -3.0, 0.75)])
    path = tmp_path / "flops.html"
    path.write_text(make_sweep_page(SweepSettings(SPOT, SolveSettings()), table), encoding="utf-8")
    return path


@pytest.mark.skipif(find_browser() is None, reason="needs a Chromium")
def test_headings_sort_the_table(page, tmp_path):
    driven = Browser(find_browser(), tmp_path / "profile")
    try:
        for scheme in ("light", "dark"):
            driven.dress(scheme)
            driven.open(page.as_uri())

            def first_column():
                cells = "[...document.querySelectorAll('#sorted td:first-child')]"
                return driven.evaluate(f"{cells}.map((cell) => cell.textContent)")

            def click(name):
                driven.evaluate(
                    f"[...document.querySelectorAll('#sorted button')].find((b) => b.textContent === '{name}').click()"
                )

            assert first_column() == ["KsQd2c", "AsAdAc", "KsTd9c"]
            click("ev oop")
            assert first_column() == ["AsAdAc", "KsQd2c", "KsTd9c"]
            click("ev oop")
            assert first_column() == ["KsTd9c", "KsQd2c", "AsAdAc"]
            assert driven.evaluate("document.querySelectorAll('[aria-sort]').length") == 1
            click("ip after b50%: f")
            assert first_column() == ["KsTd9c", "KsQd2c", "AsAdAc"]
            click("ip after b50%: f")  # a row without a figure stays last
            assert first_column() == ["KsQd2c", "KsTd9c", "AsAdAc"]
            driven.evaluate("document.querySelector('#sorted th button').focus()")
            driven.press("Enter")
            assert first_column() == ["AsAdAc", "KsQd2c", "KsTd9c"]
            assert ("button", "ev oop") in driven.controls()
        driven.screenshot(tmp_path / "page.png")
        assert not driven.messages and all(url.startswith(("file:", "about:", "data:")) for url in driven.requests)
    finally:
        driven.close()


def test_names_cannot_leave_the_page(page):
    spot = Spot("2c 3c 4c", 60, 40, "AA,KQs", "QQ", {"flop": {"bet": "50%"}}, lock={"</script><script>x": {"c": "AA"}})
    table = SweepTable([row("KsQd2c", 9.5, 0.5)])
    text = make_sweep_page(SweepSettings(spot, SolveSettings()), table)
    assert text.count("<script>") == page.read_text(encoding="utf-8").count("<script>") == 2
