"""Sweeps: rows against single spots, kills, resumption, refusals, the table and the page."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from plurispiel.agents.spots import Spot, solve_spot
from plurispiel.agents.spots.flops import chosen_flops
from plurispiel.tournaments import run_spot_sweep
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.sweep.run import time_text
from plurispiel.tournaments.sweep.table import SweepTable

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

SPOT = Spot(
    "2c 3c 4c", 60, 40, "AA,KQs,76s", "QQ,AJs,T9s:0.5", {"flop": {"bet": "50%"}, "turn": {"ip": {"bet": "allin"}}}
)
FILE = """board = "2c 3c 4c"
pot = 60
stacks = 40
oop = "AA,KQs,76s"
ip = "QQ,AJs,T9s:0.5"
[bets]
flop.bet = "50%"
turn.ip.bet = "allin"
[solve]
target_pct = 2
"""
TWO = "Qs Jh 2h\nAs Ad Kd : 5\n"
FLOPS = TWO + "Tc 9c 8c\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FILE)
    (tmp_path / "two.txt").write_text(TWO)
    (tmp_path / "flops.txt").write_text(FLOPS)
    return tmp_path


def run(capsys, *words):
    capsys.readouterr()
    code = main(["spot", "sweep", *words])
    return code, *capsys.readouterr()


def test_rows_are_those_of_single_spots(folder):
    found = run_spot_sweep(SPOT, folder / "out", flops="two.txt", target_pct=2.0, threads=1)
    assert [(row.flop, row.weight) for row in found.rows] == [("QsJh2h", 12.0), ("AsAdKd", 5.0)]
    for row in found.rows:
        alone = solve_spot(Spot(**{**vars(SPOT), "board": row.flop}), target_pct=2.0)
        assert (row.ev, row.equity, row.iterations) == (alone.ev, alone.equity, alone.iterations)
        assert row.exploitability_pct == alone.exploitability_pct <= 2.0
        root, answer = alone.strategy(), alone.strategy("c")
        assert row.frequencies["oop: b50%"] == root.frequencies[1]
        assert row.frequencies["ip after c: c"] == answer.frequencies[0]
        assert list(row.frequencies) == [
            "oop: c", "oop: b50%", "ip after c: c", "ip after c: b50%", "ip after b50%: f", "ip after b50%: c"
        ]  # fmt: skip
    chances = [row.weight * row.pairs for row in found.rows]
    for seat in range(2):
        mean = sum(row.ev[seat] * chance for row, chance in zip(found.rows, chances, strict=True)) / sum(chances)
        assert found.mean["ev"][seat] == pytest.approx(mean)
    assert sum(found.mean["ev"]) == pytest.approx(60.0, abs=1e-3)
    answers = [found.mean["frequencies"][f"ip after c: {name}"] for name in ("c", "b50%")]
    assert sum(answers) == pytest.approx(1.0)


@pytest.mark.slow
def test_the_command_resumes_and_prints(folder, capsys):
    (folder / "one.txt").write_text("Tc 9c 8c")
    code, out, err = run(capsys, "mine.toml", "--flops", "one.txt", "--out", "out")
    assert code == 0 and "1 flops; " in err and "the time is estimated after the first flop" in err
    code, out, err = run(capsys, "mine.toml", "--flops", "flops.txt", "--out", "out", "--dry-run", "--json")
    assert code == 0 and json.loads(out)["solved"] == 1 and json.loads(out)["seconds"] > 0.0
    assert "3 flops, 1 of them solved before; 9 flop" in err and "about " in err
    code, out, err = run(capsys, "mine.toml", "--flops", "flops.txt", "--out", "out", "--json", "--workers", "2")
    record = json.loads(out)
    assert code == 0 and [row["flop"] for row in record["rows"]] == ["QsJh2h", "AsAdKd", "Tc9c8c"]
    table = (folder / "out" / "flops.csv").read_bytes()
    (folder / "out" / "flops" / "AsAdKd.json").write_text('{"flop": "AsAdKd", "ev": [1e999, 2]}')
    code, out, err = run(capsys, "mine.toml", "--flops", "flops.txt", "--out", "out")
    assert code == 0 and "2 of them solved before" in err and "oop" in out
    assert (folder / "out" / "flops.csv").read_bytes() == table
    code, out, err = run(capsys, "mine.toml", "--flops", "flops.txt", "--out", "out")
    assert code == 0 and "nothing is left to solve" in err
    head, *lines = table.decode().splitlines()
    assert head.startswith("flop,weight,pairs,ev oop,ev ip,equity oop,equity ip,exploitability_pct,iterations,oop: c,")
    assert len(lines) == 3 and lines[1].startswith("AsAdKd,5.0,")


def test_a_dry_run_writes_nothing(folder, capsys):
    (folder / "one.txt").write_text("Tc 9c 8c")
    code, out, err = run(capsys, "mine.toml", "--flops", "one.txt", "--out", "out", "--dry-run")
    assert (code, out) == (0, "") and "MB each" in err and "about " in err
    assert not (folder / "out").exists()


def test_the_page_is_whole_and_safe(folder):
    run_spot_sweep("mine.toml", "out", flops="two.txt")
    page = (folder / "out" / "flops.html").read_text(encoding="utf-8")
    assert page.count("<tr>") >= 3 and "AsAdKd" in page and "http://" not in page and "https://" not in page
    assert "default-src 'none'" in page and "aria-sort" in page
    before = (folder / "out" / "flops.html").read_bytes()
    run_spot_sweep("mine.toml", "out", flops="two.txt")
    assert (folder / "out" / "flops.html").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mine.toml", "--flops", "185"), "there is no file 185, did you mean '184'?; give all, 184 or a file"),
        (("mine.toml", "--flops", "bad.txt"), "bad.txt: line 1: a flop has three cards"),
        (("none.toml",), "there is no file none.toml"),
        (("three-way-river",), "a sweep is for two players"),
        (("suits.toml",), "oop tells suits apart, so that a flop cannot stand for flops in other suits"),
        (("mine.toml", "--workers", "-1"), "workers must be 0.."),
        (("mine.toml", "--threads", "0"), "threads at least 1"),
        (("mine.toml", "--target", "0"), "target_pct must be a positive number"),
    ],
)
def test_refusals_are_one_line(folder, capsys, words, message):
    (folder / "bad.txt").write_text("Tc 9c")
    (folder / "suits.toml").write_text(FILE.replace("AA,KQs", "AA,KhQh"))
    code, out, err = run(capsys, *words, "--out", "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err and not (folder / "out").exists()


def test_folders_of_others_are_refused(folder, capsys):
    (folder / "one.txt").write_text("Tc 9c 8c")
    (folder / "full").mkdir()
    (folder / "full" / "letter.txt").write_text("dear")
    assert "holds other things" in run(capsys, "mine.toml", "--flops", "one.txt", "--out", "full")[2]
    assert run(capsys, "mine.toml", "--flops", "one.txt", "--out", "out")[0] == 0
    (folder / "mine.toml").write_text(FILE.replace("pot = 60", "pot = 70"))
    assert "holds a sweep with another pot" in run(capsys, "mine.toml", "--flops", "one.txt", "--out", "out")[2]
    assert "is no folder" in run(capsys, "mine.toml", "--flops", "one.txt", "--out", "mine.toml")[2]


def test_an_interrupted_sweep_says_how_to_go_on(folder, capsys, monkeypatch):
    def interrupt(self, flop):
        raise KeyboardInterrupt

    monkeypatch.setattr("plurispiel.tournaments.sweep.work.SweepWork.solve", interrupt)
    code, _, err = run(capsys, "mine.toml", "--out", "out", "--target", "3")
    assert code == 130
    assert err.endswith("To continue:\n  plurispiel spot sweep mine.toml --flops 184 --out out --target 3\n")


def test_times_in_words():
    assert [time_text(seconds) for seconds in (0.123, 9.4, 75, 600, 7_500)] == [
        "0.12 s", "9.4 s", "75 s", "10 min", "2 h 5 min"
    ]  # fmt: skip


def test_a_sweep_without_flops_has_an_empty_table():
    assert SweepTable([]).csv == "flop,weight,pairs,ev oop,ev ip,equity oop,equity ip,exploitability_pct,iterations\n"


@pytest.mark.slow
def test_a_sweep_killed_five_times_equals_a_straight_one(folder):
    """SIGKILL at five moments, with and without workers, and the same table byte for byte."""
    (folder / "many.txt").write_text("\n".join(flop.text for flop in chosen_flops()[::4]))
    command = [sys.executable, "-m", "plurispiel.tournaments.cli", "spot", "sweep", "mine.toml", "--flops", "many.txt"]
    kills = 0
    for number in range(5):
        workers = str(1 + number % 2)
        process = subprocess.Popen([*command, "--out", "killed", "--workers", workers], stderr=subprocess.DEVNULL)
        rows = folder / "killed" / "flops"
        wanted = 8 * (number + 1)
        while process.poll() is None and len(list(rows.glob("*.json")) if rows.exists() else []) < wanted:
            time.sleep(0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills == 5
    for name in ("killed", "straight"):
        subprocess.run([*command, "--out", name, "--json"], check=True, capture_output=True)
    for file in ("flops.csv", "flops.html"):
        assert (folder / "killed" / file).read_bytes() == (folder / "straight" / file).read_bytes()
    assert {path.suffix for path in (folder / "killed" / "flops").iterdir()} == {".json"}
