"""The curve of a solver as a table and as a picture."""

import sys

import pytest

from plurispiel.evaluation.convergence import Point
from plurispiel.tournaments.figures.curve import draw_curve, write_curve
from plurispiel.tournaments.figures.picture import MatplotlibMissing


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    curve = [Point(1, 0.1, 2.0), Point(10, 0.2, 0.1), Point(100, 0.3, 0.0)]
    draw_curve(tmp_path / "curve.png", curve, "cfr on kuhn", "exploitability (chips)")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_no_picture_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MatplotlibMissing, match="pip install"):
        draw_curve(tmp_path / "curve.png", [Point(1, 0.1, 2.0)], "", "")
    assert not (tmp_path / "curve.png").exists()


def test_the_table_keeps_every_digit_of_a_distance(tmp_path):
    write_curve(tmp_path / "curve.csv", [Point(1, 0.25, 1 / 3), Point(10, 2.0, 0.0)], "nash_conv")
    header, *rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert header == "iteration,seconds,nash_conv" and rows[1] == "10,2.000000,0.0"
    assert float(rows[0].split(",")[2]) == 1 / 3


def test_points_that_logarithms_cannot_show_make_no_picture(tmp_path):
    draw_curve(tmp_path / "curve.png", [Point(1, 0.1, 0.0), Point(2, 0.0, 1.0)], "", "")
    assert not list(tmp_path.iterdir())
