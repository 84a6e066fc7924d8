"""`plurispiel bench`: what it refuses before it measures, and what it prints."""

import pytest

from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import bench


@pytest.fixture
def unmeasured(monkeypatch):
    """Fail if a benchmark begins."""
    monkeypatch.setattr(bench, "warmup", lambda: pytest.fail("it begins to measure"))


@pytest.mark.parametrize("name", ["continual", "continual-exact", "engine", "rows"])
@pytest.mark.parametrize("seconds", ["1e308", "inf", "nan", "-1", "0", "86401"])
def test_a_length_out_of_bounds_is_refused(capsys, unmeasured, name, seconds):
    assert main(["bench", name, "--seconds", seconds]) == 2
    assert f"--seconds must be 0.001 to 86,400, got {float(seconds):g}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["continual-exact", "search-exact"])
@pytest.mark.parametrize(
    ("picture", "message"),
    [
        ("x.foo", "x.foo has no format of pictures"),
        ("missing/x.png", "cannot write missing/x.png: No such file or directory; give another file"),
    ],
)
def test_impossible_pictures_are_refused_at_once(capsys, unmeasured, name, picture, message):
    pytest.importorskip("matplotlib")
    assert main(["bench", name, "--picture", picture]) == 2
    assert message in capsys.readouterr().err


def test_figures_are_printed_even_if_the_picture_fails(capsys, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")

    def fail(path, rows):
        raise OSError("disk full")

    monkeypatch.setattr(bench, "warmup", lambda: None)
    row = Measurement("leduc | CFR 3 | none", 0.125, "chips")
    monkeypatch.setattr(bench, "bench_search_exact", lambda seconds, games: [row])
    monkeypatch.setitem(bench._PICTURES, "search-exact", fail)
    assert main(["bench", "search-exact", "--picture", str(tmp_path / "x.png")]) == 1
    out, err = capsys.readouterr()
    assert "0.125" in out and "disk full" in err


@pytest.mark.parametrize("name", ["continual-spots", "mixing", "sparse-lookaheads"])
def test_a_file_that_cannot_be_kept_is_refused_at_once(capsys, unmeasured, tmp_path, name):
    assert main(["bench", name, "--keep", str(tmp_path / "missing" / "kept.json")]) == 2
    assert "kept.json: No such file or directory; give another file (--keep)" in capsys.readouterr().err
    assert main(["bench", name, "--keep", ""]) == 2
    assert "it is no plain file; give another file (--keep)" in capsys.readouterr().err
