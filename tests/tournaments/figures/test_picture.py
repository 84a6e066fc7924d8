"""The pictures of all commands: one style, colours that everybody tells apart, axes that name their units."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from colour_vision import VISIONS, ciede2000, difference, lab

from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import SIXMAX
from plurispiel.agents.base import Strategy
from plurispiel.agents.blueprint.marks import Mark
from plurispiel.agents.spots.node_strategy import NodeStrategy
from plurispiel.evaluation.convergence import Point
from plurispiel.tournaments.figures import picture as style
from plurispiel.tournaments.figures.bucket_pictures import draw_table
from plurispiel.tournaments.figures.curve import draw_curve
from plurispiel.tournaments.figures.picture import CALL_COLOUR, FOLD_COLOUR, NEUTRAL, SERIES, picture, raise_colours
from plurispiel.tournaments.figures.preflop_grid import draw_grids
from plurispiel.tournaments.figures.resolving_curves import draw_resolving
from plurispiel.tournaments.figures.spot_text import draw_node
from plurispiel.tournaments.figures.training_curve import draw_marks

PACKAGE = Path(style.__file__).resolve().parents[2]
UNITS = r".+ \((%|s|chips|mbb/hand|mbb/visit)\)"
COUNTS = ("iterations", "bucket", "mean bucket")


@pytest.fixture
def drawn(monkeypatch):
    """Collects the figures that are written."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    figures, save = [], figure.savefig

    def keep(self, *arguments, **options):
        figures.append(self)
        save(self, *arguments, **options)

    monkeypatch.setattr(figure, "savefig", keep)
    return figures


def check(figure):
    """Check that all axes with numbers name their units, and that every colour is one of ours."""
    import matplotlib
    from matplotlib.colors import to_hex

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if len(axis.get_ticklocs()) and axis.get_visible() and axes.axison:
                label = axis.get_label_text()
                assert re.fullmatch(UNITS, label) or label in COUNTS, (axes.get_title(), label)
        names = {text.get_fontname() for text in axes.texts} | {axes.title.get_fontname()}
        assert names == {"DejaVu Sans"} and axes.title.get_fontweight() == "bold"
        for line in axes.lines:
            assert to_hex(line.get_color()) in {*SERIES, NEUTRAL, "#ffffff"}, axes.get_title()
        blues = {colour for number in range(1, 9) for colour in raise_colours(number)}
        for bar in axes.patches:
            assert to_hex(bar.get_facecolor()) in {*SERIES, *blues, CALL_COLOUR, FOLD_COLOUR}
        shown = [line for line in axes.lines if not line.get_label().startswith("_")]
        assert len({(line.get_color(), line.get_marker()) for line in shown}) == len(shown)
    assert matplotlib.rcParams["axes.titleweight"] == "normal"  # the style is nobody else's


def mark(iteration):
    return Mark(
        iteration=iteration,
        seconds=float(iteration),
        nodes=1,
        resident_mb=1.0,
        met=1.0,
        regret=100.0 / iteration,
        drift=0.5 / iteration,
        missing=0.1,
        seat_values=tuple(10.0 * seat - 25.0 for seat in range(6)),
        seat_deviations=(1.0,) * 6,
        against_last=5.0,
        against_last_deviation=1.0,
        against_final=-5.0,
        against_final_deviation=1.0,
    )


def test_curves_of_solvers(drawn, tmp_path):
    draw_curve(tmp_path / "curve.png", [Point(1, 0.1, 2.0), Point(9, 0.2, 0.1)], "cfr", "exploitability (chips)")
    (figure,) = drawn
    check(figure)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG") and len(list(tmp_path.iterdir())) == 1


def test_curves_of_trainings(drawn, tmp_path):
    names = ["SB", "BB", "UTG", "HJ", "CO", "BTN"]
    draw_marks(tmp_path / "marks.png", [mark(1), mark(10), mark(100)], "six seats", names)
    (figure,) = drawn
    check(figure)
    assert [len(axes.get_legend_handles_labels()[0]) for axes in figure.axes] == [0, 2, 2, 6]
    assert figure.axes[3].get_legend_handles_labels()[1] == names
    figure.draw_without_rendering()
    for axes in figure.axes:
        box = axes.get_window_extent()
        assert not any(legend.get_window_extent().overlaps(box) for legend in [axes.get_legend()] if legend)


def test_grids_of_starting_hands(drawn, tmp_path):
    strategy = Strategy(np.array([0, 1, 250]), np.tile([0.2, 0.3, 0.5], (169, 1)))
    draw_grids(tmp_path / "grids.png", "six", {"UTG": strategy, "BTN": strategy}, SIXMAX)
    (figure,) = drawn
    check(figure)
    assert "raises: to\u00a02.5\u00a0bb 50.0 %" in figure.axes[0].get_xlabel()


def test_grids_of_spots(drawn, tmp_path):
    names = ("f", "c", "r50%", "r100%", "allin")
    shown = NodeStrategy(
        node="",
        player="oop",
        board=parse_cards("QsJh2h"),
        actions=names,
        probabilities=np.full((1326, 5), 0.2),
        weights=np.ones(1326),
    )
    draw_node(tmp_path / "node.png", shown)
    (figure,) = drawn
    check(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [f"{name} 20.0 %" for name in names]


def test_curves_of_resolving(drawn, tmp_path):
    errors = {"fixed": {0.1: 0.2, 0.01: 0.05}, "fresh": {0.1: 0.06}}
    draw_resolving(tmp_path / "resolving.png", {10: 0.5, 100: 0.05}, errors, "Leduc poker", 0.04)
    (figure,) = drawn
    check(figure)
    assert [len(axes.get_legend_handles_labels()[0]) for axes in figure.axes] == [2, 3]


@pytest.mark.xdist_group("buckets")
def test_bucket_tables(drawn, bucket_table_folder, tmp_path):
    paths = draw_table(load_table(bucket_table_folder), tmp_path / "pictures", parse_cards("AsKd7c"))
    assert len(drawn) == 3 and set(paths) == set((tmp_path / "pictures").iterdir())
    for figure in drawn:
        check(figure)


def test_no_picture_is_drawn_otherwise():
    imports = re.compile(r"^\s*(from|import) (matplotlib|pylab|seaborn)", re.MULTILINE)
    takes = re.compile(r"^from plurispiel\.tournaments\.figures\.picture import .*\bpicture\b", re.MULTILINE)
    folders = [PACKAGE / name for name in ("abstraction", "agents", "evaluation", "tournaments")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    assert [name for name, text in sources.items() if imports.search(text)] == ["tournaments/figures/picture.py"]
    drawing = {
        "bucket_pictures",
        "curve",
        "preflop_grid",
        "resolving_curves",
        "spot_text",
        "training_curve",
    }  # each above
    assert {name for name, text in sources.items() if takes.search(text)} == {
        f"tournaments/figures/{n}.py" for n in drawing
    }


def test_a_picture_that_fails_leaves_nothing_behind(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="frmat"), picture(tmp_path / "curve.frmat", 1, 1) as figure:
        figure.subplots()
    with pytest.raises(ZeroDivisionError), picture(tmp_path / "curve.png", 1, 1):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("vision", VISIONS)
def test_series_are_told_apart_by_all_eyes(vision):
    for first, second in itertools.combinations(SERIES, 2):
        assert difference(first, second, vision) > 9.0, (first, second)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_folds_calls_and_raises_are_told_apart_by_all_eyes(vision, number):
    for first, second in itertools.combinations([FOLD_COLOUR, CALL_COLOUR, *raise_colours(number)], 2):
        assert difference(first, second, vision) > 15.0, (first, second)


def test_larger_raises_are_darker_however_many_there_are():
    for number in range(1, 9):
        lightness = [lab(colour)[0] for colour in raise_colours(number)]
        assert len(lightness) == number and all(np.diff(lightness) < -4.0)


def test_differences_of_colours_are_those_of_the_paper():
    """Pairs of Sharma, Wu and Dalal (2005), table 1."""
    for first, second, expected in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, -1.0, 2.0), (50.0, 0.0, 0.0), 2.3669),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ):
        assert ciede2000(first, second) == pytest.approx(expected, abs=1e-4)
