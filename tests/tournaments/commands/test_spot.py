"""`plurispiel spot`: what it prints, and how it refuses."""

import json
import os

import pytest

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import spot as command

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

GOOD = """
board = "Td 9d 6h Qc 7s"
pot = 60
stacks = [30, 40]
oop = "AA,KQs:0.5,T8s"
ip = "QQ,JJ,A2s"
bets.river.oop.bet = "0.5p"
[solve]
algorithm = "cfr+"
target_pct = 1
"""


def run(capsys, *arguments):
    code = main(["spot", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def spot(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    return path


def test_json_has_the_promised_keys(capsys, spot):
    code, out, err = run(capsys, spot, "--json", "--node", "allin")
    assert code == 0
    record = json.loads(out)
    assert list(record) == [
        *("ev", "equity", "exploitability_pct", "bucket_exploitability_pct", "iterations", "seconds", "memory_mb"),
        *("node", "player", "strategy", "combo_ev"),
    ]
    assert record["bucket_exploitability_pct"] is None
    assert record["strategy"]["actions"] == ["f", "c"]
    assert sorted(record["strategy"]["combos"]) == sorted(
        ["QsQh", "QsQd", "QhQd", "JsJh", "JsJd", "JsJc", "JhJd", "JhJc", "JdJc", "Ac2c", "Ad2d", "Ah2h", "As2s"]
    )
    assert sum(record["ev"]) == pytest.approx(60.0, abs=0.01)
    assert "cfr+ until the exploitability is at most 1 % of the pot" in err and "MB" in err


def test_text_shows_the_grid_and_the_combos_that_differ(capsys, spot):
    code, out, _ = run(capsys, spot)
    assert code == 0
    lines = out.splitlines()
    assert lines[1].startswith("oop") and "of the pot after" in lines[3]
    assert "AKs ." in lines[7] and lines[7].startswith("AA  ")
    assert len(lines) >= 20


def test_examples_have_names_and_solutions_are_kept(capsys, tmp_path):
    code, out, err = run(capsys, "river-spot", "--out", tmp_path / "kept", "--json")
    assert code == 0 and "kept in" in err
    assert json.loads(out)["ev"] == pytest.approx([33.0, 27.0], abs=0.5)
    again = json.loads(run(capsys, tmp_path / "kept", "--json")[1])
    assert again["ev"] == json.loads(out)["ev"]
    (tmp_path / "kept" / "sums_0_0.npy").write_bytes(b"")
    code, _, err = run(capsys, tmp_path / "kept")
    assert code == 4 and len(err.splitlines()) == 1


def test_the_solution_of_another_spot_is_not_replaced(capsys, spot, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    for _ in range(2):  # the same spot may be solved again
        assert run(capsys, spot, "--out", kept)[0] == 0
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    spot.write_text(GOOD.replace("pot = 60", "pot = 61"))
    with monkeypatch.context() as patched:
        patched.setattr(command, "solve_spot", None)
        code, _, err = run(capsys, spot, "--out", kept)
    assert code == 4 and f"{kept} holds the solution of a spot with other pot; give another folder (--out)" in err
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before


@pytest.mark.parametrize("out", [".", "mine.toml"])
def test_a_folder_of_other_files_is_refused_before_the_solve(capsys, spot, monkeypatch, out):
    monkeypatch.chdir(spot.parent)
    monkeypatch.setattr(command, "solve_spot", None)
    code, shown, err = run(capsys, spot, "--out", out)
    assert code == 4 and not shown and ("give another folder" in err or "is no folder" in err) and err.count("\n") == 1


def test_a_picture(capsys, spot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, spot, "--plot", "--json")
    assert code == 0
    assert (tmp_path / "mine.png").exists() != ("no picture: pictures need matplotlib" in err)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('"Td 9d 6h Qc 7s"', '"Td 9d 6h Qc Td"', "appears twice"),
        ("[30, 40]", "0", "stacks must be"),
        ("AA,KQs:0.5,T8s", "", "oop: a range needs"),
        ("AA,KQs:0.5,T8s", "AA,AhAs", "appears twice in the range"),
        ('bets.river.oop.bet = "0.5p"', 'bets.river.oop.bet = "much"', "bet sizes are written"),
        ("pot = 60", "pot 60", "is not valid TOML"),
        ("pot = 60", "", "pot is missing"),
        ("pot = 60", "pot = 60\nhero = 1", "got 'hero'"),
        ("target_pct = 1", "target_pct = 0", "target_pct must be"),
        ('"cfr+"', '"mccfr"', "a subgame is solved by"),
        ('"cfr+"', '"dcfg"', "unknown algorithm"),
    ],
)
def test_bad_input_is_one_line(capsys, spot, old, new, message):
    assert old in GOOD
    spot.write_text(GOOD.replace(old, new))
    code, out, err = run(capsys, spot)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


def test_other_refusals(capsys, spot, monkeypatch, tmp_path):
    for arguments, message in (
        ([tmp_path / "none.toml"], "there is no file"),
        ([spot, "--node", "b7%"], "the actions are c allin"),
        ([spot, "--threads", "0"], "threads must be"),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert message in err.splitlines()[-1]
    with monkeypatch.context() as patched:  # a name is refused before the run
        patched.setattr("plurispiel.agents.spots.spot_solution.converge", None)
        for name in ("b7%", "allin c c", "7d"):
            code, out, err = run(capsys, spot, "--node", name)
            assert (code, out) == (2, "") and "at " in err.splitlines()[-1]
    monkeypatch.setattr("plurispiel.agents.spots.spot_solution.available_bytes", lambda: 1e3)
    code, out, err = run(capsys, spot)
    assert (code, out) == (2, "") and "GiB of memory" in err.splitlines()[-1]
