"""The pictures of all commands: one style, colours that everybody tells apart, axes that name their units."""

import dataclasses
import itertools
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from colour_vision import VISIONS, ciede2000, difference, lab

from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import SIXMAX
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.base import Strategy
from plurispiel.agents.blueprint.marks import Mark
from plurispiel.agents.spots.node_strategy import NodeStrategy
from plurispiel.agents.values.examples import examples
from plurispiel.agents.values.levels import LEVELS
from plurispiel.agents.values.net import ValueNet, new_layers
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.evaluation.convergence import Point
from plurispiel.evaluation.solver_comparison import TimedRun
from plurispiel.tournaments.figures import picture as style
from plurispiel.tournaments.figures import value_net_picture
from plurispiel.tournaments.figures.bucket_pictures import draw_table
from plurispiel.tournaments.figures.comparison import draw_comparison
from plurispiel.tournaments.figures.curve import draw_curve
from plurispiel.tournaments.figures.picture import CALL_COLOUR, FOLD_COLOUR, NEUTRAL, SERIES, picture, raise_colours
from plurispiel.tournaments.figures.preflop_grid import draw_grids
from plurispiel.tournaments.figures.resolving_curves import draw_resolving
from plurispiel.tournaments.figures.search_curves import draw_search
from plurispiel.tournaments.figures.spot_text import draw_node
from plurispiel.tournaments.figures.training_curve import draw_marks
from plurispiel.tournaments.figures.value_net_picture import draw_net

PACKAGE = Path(style.__file__).resolve().parents[2]
UNITS = r".+ \((%|% of the pot|s|bits|chips|pots|pots²|mbb/hand|mbb/visit)\)"
COUNTS = ("iterations", "epochs", "bucket", "mean bucket", "hands, weakest first")

VALIDATED = {
    "curve": [0.5, 0.25],
    "training": {"loss": "huber"},
    "tenth": {"huber": 0.4},
    "validation": {
        "huber": 0.3,
        "strata": [
            {"spr": [0.0, 1.0], "mae": 0.06, "mae_checkdown": 0.2, "mae_constant": 0.4},
            {"spr": [25.0, None], "mae": 0.08, "mae_checkdown": 0.21, "mae_constant": 0.42},
            {"entropy": [1.25, 7.0], "mae": 0.07, "mae_checkdown": 0.2, "mae_constant": 0.4},
            {"source": "play"},
        ],
    },
}


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
    from matplotlib.collections import QuadMesh
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
        for squares in axes.collections:
            if isinstance(squares, QuadMesh):  # a colour bar
                continue
            shown = {to_hex(colour) for colour in [*squares.get_facecolor(), *squares.get_edgecolor()]}
            assert shown <= {*SERIES, *blues, CALL_COLOUR, FOLD_COLOUR, "#ffffff"}
        shown = [line for line in axes.lines if not line.get_label().startswith("_")]
        assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in shown}) == len(shown)
    assert matplotlib.rcParams["axes.titleweight"] == "normal"  # the style is nobody else's


def check_legends(figure):
    """Check that no legend covers axes or leaves the picture, in the layout of the file."""
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    for each in [figure, *figure.subfigs]:
        legends += each.legends
    assert legends
    for legend in legends:
        box = legend.get_window_extent()
        assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


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


def test_curves_of_several_solvers(drawn, tmp_path):
    """One colour for each algorithm, one name for all its seeds; three dashes where the colours are used up."""
    curve = [Point(1, 0.1, 2.0), Point(9, 0.2, 0.1), Point(20, 0.3, 0.0)]
    runs = [TimedRun(f"dcfr({number},0,2)", None, curve) for number in range(len(SERIES) + 1)]
    runs += [TimedRun("mccfr", seed, curve) for seed in (1, 2, 3)]
    draw_comparison(tmp_path / "comparison.png", runs, "leduc", "exploitability (chips)")
    (figure,) = drawn
    check(figure)
    for axes, start in zip(figure.axes, (1, 0.1), strict=True):
        names = [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]
        assert names == list(dict.fromkeys(run.algorithm for run in runs))
        styles = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
        assert len(set(styles)) == len(names) and len(set(styles[-3:])) == 1
        assert all(line.get_xdata()[0] == start and len(line.get_xdata()) == 2 for line in axes.lines)


def test_curves_of_trainings(drawn, tmp_path):
    names = ["SB", "BB", "UTG", "HJ", "CO", "BTN"]
    draw_marks(tmp_path / "marks.png", [mark(1), mark(10), mark(100)], "six seats", names)
    (figure,) = drawn
    check(figure)
    assert [len(axes.get_legend_handles_labels()[0]) for axes in figure.axes] == [0, 2, 2, 6]
    assert figure.axes[3].get_legend_handles_labels()[1] == names
    check_legends(figure)


def test_a_training_of_one_mark_has_no_matches(drawn, tmp_path):
    only = dataclasses.replace(mark(50), drift=math.nan, against_last=math.nan, against_final=math.nan)
    draw_marks(tmp_path / "marks.png", [only], "one mark", ["BB", "SB"])
    (figure,) = drawn
    check(figure)
    assert [len(axes.get_legend_handles_labels()[0]) for axes in figure.axes] == [0, 1, 0, 2]


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


@pytest.mark.slow
def test_curves_of_resolving(drawn, tmp_path):
    errors = {"fixed": {0.1: 0.2, 0.01: 0.05}, "fresh": {0.1: 0.06}}
    draw_resolving(tmp_path / "resolving.png", {10: 0.5, 100: 0.05}, errors, "Leduc poker", 0.04)
    networks = {100: [(0.05, 0.06), (0.1, 0.1)], 1_000: [(0.05, 0.02)]}
    draw_resolving(tmp_path / "networks.png", {10: 0.5, 100: 0.05}, errors, "Leduc poker", 0.04, networks)
    for figure, labels in zip(drawn, (3, 5), strict=True):
        check(figure)
        assert [len(axes.get_legend_handles_labels()[0]) for axes in figure.axes] == [2, labels]
        check_legends(figure)
    points = drawn[1].axes[1].get_legend_handles_labels()[0][2]
    assert points.get_xydata().tolist() == [[5.0, 0.06], [10.0, 0.1]] and points.get_linestyle() == "None"


def test_curves_of_search(drawn, tmp_path):
    searches = {"unsafe": [(0.3, 0.1), (0.01, 0.12)], "safe": [(0.3, 0.2), (0.01, 0.02)]}
    draw_search(tmp_path / "search.svg", {"leduc": searches, "holdem-mini": searches})
    (figure,) = drawn
    check(figure)
    check_legends(figure)
    for axes in figure.axes:
        diagonal, *lines = axes.lines
        assert diagonal.get_xydata().tolist() == [[0.01, 0.01], [0.3, 0.3]]
        assert [line.get_xydata().tolist() for line in lines] == [
            [[0.01, 0.12], [0.3, 0.1]],
            [[0.01, 0.02], [0.3, 0.2]],
        ]
    text = (tmp_path / "search.svg").read_text()
    draw_search(tmp_path / "search.svg", {"leduc": searches, "holdem-mini": searches})
    assert (tmp_path / "search.svg").read_text() == text


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
@pytest.mark.parametrize(
    ("name", "bins", "width"), [("leduc", 5, 29), ("river", 32, 4 * 32 + 4 + 17), ("end-of-turn", 32, 4 * 32 + 4 + 17)]
)
def test_value_nets(drawn, tmp_path, monkeypatch, name, bins, width):
    """Each stratum is a group of bars; values of the network, exact ones and those of checking down are lines."""
    if name == "river":
        monkeypatch.setattr(value_net_picture, "examples", lambda net: examples(net)[:1])
    net = StoredNet(
        ValueNet(new_layers((width, 8, 2 * bins), np.random.default_rng(1))), LEVELS[name], VALIDATED, 64 * "0"
    )
    draw_net(tmp_path / "net.svg", net)
    (figure,) = drawn
    check(figure)
    check_legends(figure)
    stacks, entropy, learning, *situations = figure.axes
    assert [text.get_text() for text in stacks.get_xticklabels()] == ["0 to 1", "25 or more"]
    assert [bar.get_height() for bar in stacks.patches] == pytest.approx([6.0, 8.0, 20.0, 21.0, 40.0, 42.0])
    assert [text.get_text() for text in entropy.get_xticklabels()] == ["1.25 to 7.00"]
    levels = [line.get_ydata()[0] for line in learning.lines[1:]]
    assert learning.lines[0].get_ydata().tolist() == [0.5, 0.25] and levels == [0.3, 0.4]
    assert len(situations) == {"leduc": 6, "river": 2, "end-of-turn": 0}[name]
    for axes in situations:
        down, exact, guessed = (line.get_ydata() for line in axes.lines[:3])
        assert len(down) == 5 if name == "leduc" else 50 < len(down) < 500
        assert np.nanmax(abs(down)) < 50.1 < np.nanmax(abs(exact))
        assert np.nanmean(abs(guessed - down)) < np.nanmean(abs(exact - down))  # the weights are small random numbers
    assert (tmp_path / "net.svg").read_text().startswith("<?xml") and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "change", [{"curve": ["x"]}, {"curve": [float("nan")]}, {"training": []}, {"validation": {"strata": [{"spr": 3}]}}]
)
def test_value_nets_without_errors(tmp_path, change):
    pytest.importorskip("matplotlib")
    net = StoredNet(
        ValueNet(new_layers((29, 8, 10), np.random.default_rng(1))), LEVELS["leduc"], VALIDATED | change, ""
    )
    with pytest.raises(ArtefactRefused, match="lacks its errors"):
        draw_net(tmp_path / "net.svg", net)
    assert not list(tmp_path.iterdir())


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
        "comparison",
        "curve",
        "preflop_grid",
        "resolving_curves",
        "search_curves",
        "spot_text",
        "training_curve",
        "value_net_picture",
    }  # each above
    assert {name for name, text in sources.items() if takes.search(text)} == {
        f"tournaments/figures/{n}.py" for n in drawing
    }


def test_a_picture_that_fails_leaves_nothing_behind(tmp_path):
    pytest.importorskip("matplotlib")
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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("curve.frmat", "curve.frmat has no format of pictures: its suffix must be one of .*, .png, "),
        ("curve.pgf", "has no format"),
        ("missing/curve.png", "cannot write .*curve.png: No such file or directory; give another file"),
        ("..", "it is no plain file"),
    ],
)
def test_an_impossible_picture_is_refused_before_it_is_drawn(tmp_path, name, message):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=message), picture(tmp_path / name, 1, 1):
        pytest.fail("drawn in vain")
    assert not list(tmp_path.iterdir())
