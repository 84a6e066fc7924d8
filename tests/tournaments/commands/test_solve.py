"""`plurispiel solve`: the record, what it keeps, going on, and refusals."""

import csv
import functools
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.tabular.solution import load_solution
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.solver_comparison import compare_solvers
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import solve as solve_command

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def no_pictures(monkeypatch):
    """What is kept is not drawn."""
    for name in ("draw_curve", "draw_comparison"):
        monkeypatch.setattr(solve_command, name, lambda *arguments: None)


@functools.cache
def tree_of(game):
    return flatten(game)


def solve(capsys, *arguments, code=0):
    """Run the command with --json in this process and return its record."""
    assert main(["solve", *map(str, arguments), "--json"]) == code
    captured = capsys.readouterr()
    assert "NaN" not in captured.out and "Infinity" not in captured.out
    return json.loads(captured.out)


def refused(capsys, *arguments, code=2):
    assert main(["solve", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()[-1]


def test_the_record(capsys):
    record = solve(capsys, "leduc", "--iterations", 200)
    promised = ["game", "algorithm", "iterations", "seconds", "setup_seconds", "values", "nash_conv", "exploitability"]
    assert set(promised) | {"incentives", "unit", "curve"} <= set(record)
    assert (record["game"], record["algorithm"], record["iterations"]) == ("leduc_poker()", "cfr+", 200)
    assert record["unit"] == "chips"
    assert record["exploitability"] == record["nash_conv"] / 2 == pytest.approx(sum(record["incentives"]) / 2)
    solver = make_solver(flatten("leduc"), "cfr+")
    solver.run(200)
    assert record["nash_conv"] == exploitability(solver.tree, solver.average_strategy()).nash_conv
    assert record["values"][0] == pytest.approx(-0.0856, abs=0.005)
    assert record["curve"][-1] == [200, record["seconds"], record["exploitability"]]
    assert [iteration for iteration, _, _ in record["curve"]][-4:] == [100, 133, 178, 200]
    assert record["setup_seconds"] > 0.0


def test_until(capsys):
    record = solve(capsys, "leduc", "--until", 0.01, "--algorithm", "dcfr")
    assert record["exploitability"] <= 0.01 < record["curve"][-2][2]
    record = solve(capsys, "kuhn3", "--until", 0.01)
    assert record["exploitability"] is None
    assert record["nash_conv"] <= 0.01
    record = solve(capsys, "kuhn", "--until", 1e-9, "--iterations", 20)  # whichever comes first
    assert record["iterations"] == 20


def test_until_out_of_reach(capsys, monkeypatch):
    from plurispiel.tournaments.commands import solve as command

    monkeypatch.setattr(command, "MAX_ITERATIONS", 100)
    assert main(["solve", "kuhn", "--until", "1e-12", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["iterations"] == 100
    assert "1e-12 was not reached in 100 iterations, give more --iterations" in captured.err


@pytest.mark.parametrize(
    "game",
    ["kuhn", "liars_dice(dice_sides=2)", "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=3))"],
)
@pytest.mark.parametrize("algorithm", ["cfr", "lcfr:simultaneous", "pcfr+", "hybrid(5)", "mccfr", "linear-mccfr"])
def test_every_algorithm(capsys, game, algorithm):
    record = solve(capsys, game, "--algorithm", algorithm, "--iterations", 30)
    assert record["algorithm"] == algorithm
    solver = make_solver(tree_of(game), algorithm, seed=1)
    solver.run(30)
    assert record["nash_conv"] == exploitability(solver.tree, solver.average_strategy()).nash_conv


def test_the_seed(capsys):
    def found(seed):
        return solve(capsys, "kuhn", "--algorithm", "mccfr", "--iterations", 50, "--seed", seed)["nash_conv"]

    assert found(1) == found(1) != found(2)


def test_the_text(capsys):
    assert main(["solve", "kuhn", "--iterations", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["iterations", "seconds", "exploitability"]
    assert [line.split()[0] for line in lines[1:6]] == ["1", "3", "10", "32", "100"]
    assert lines[6].startswith("cfr+, 100 iterations in ")
    assert lines[-1].startswith("exploitability 0.00") and lines[-1].endswith(" chips")


def test_out(capsys, tmp_path):
    record = solve(capsys, "leduc", "--iterations", 60, "--out", "runs/leduc")
    folder = tmp_path / "runs" / "leduc"
    assert {"policy", "curve.csv", "results.json"} <= set(os.listdir(folder)) <= {
        "policy", "curve.csv", "results.json", "curve.png"
    }  # fmt: skip
    assert json.loads((folder / "results.json").read_text()) == record
    with open(folder / "curve.csv") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["iteration", "seconds", "exploitability"]
    assert [[int(n), float(d)] for n, _, d in rows[1:]] == [[n, d] for n, _, d in record["curve"]]
    solver = make_solver(flatten("leduc"), "cfr+")
    solver.run(60)
    np.testing.assert_array_equal(load_solution(folder).strategy, solver.average_strategy())
    assert main(["exploitability", "leduc", "--agent", "tabular:runs/leduc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nash_conv"] == pytest.approx(record["nash_conv"], abs=1e-12)


@pytest.mark.slow
def test_the_same_command_again_goes_on(capsys, tmp_path, no_pictures):
    whole = solve(capsys, "leduc", "--iterations", 90, "--out", "whole")
    for iterations in (13, 40, 90, 90, 20):
        record = solve(capsys, "leduc", "--iterations", iterations, "--out", "parts")
    assert record["iterations"] == 90
    assert record["nash_conv"] == whole["nash_conv"]
    parts, other = (load_solution(tmp_path / name).strategy for name in ("parts", "whole"))
    np.testing.assert_array_equal(parts, other)
    assert {n: d for n, _, d in whole["curve"]}.items() <= {n: d for n, _, d in record["curve"]}.items()


def test_resume_needs_no_game(capsys, tmp_path, no_pictures):
    arguments = ("kuhn3", "--algorithm", "linear-mccfr", "--seed", 7, "--iterations")
    whole = solve(capsys, *arguments, 500)
    solve(capsys, *arguments, 200, "--out", "x")
    record = solve(capsys, "--resume", "--out", "x", "--iterations", 500)
    assert (record["game"], record["algorithm"]) == ("kuhn_poker(players=3)", "linear-mccfr")
    assert record["nash_conv"] == whole["nash_conv"]
    assert "holds a solution by the algorithm linear-mccfr, not cfr" in refused(
        capsys, "--resume", "--out", "x", "--algorithm", "cfr", "--seed", 7
    )


def test_other_runs_are_left_alone(capsys, tmp_path, no_pictures):
    solve(capsys, "kuhn", "--iterations", 10, "--out", "x")
    before = (tmp_path / "x" / "policy" / "manifest.json").read_text()
    assert "a solution of the game kuhn_poker(), not leduc_poker()" in refused(capsys, "leduc", "--out", "x")
    assert "by the algorithm cfr+, not cfr;" in refused(capsys, "kuhn", "--algorithm", "cfr", "--out", "x")
    assert (tmp_path / "x" / "policy" / "manifest.json").read_text() == before


def test_damaged_solutions_are_refused(capsys, tmp_path, no_pictures):
    solve(capsys, "kuhn", "--iterations", 10, "--out", "x")
    regret = tmp_path / "x" / "policy" / "solver_regret.npy"
    content = bytearray(regret.read_bytes())
    content[-3] ^= 4
    regret.write_bytes(content)
    assert "solver_regret.npy is damaged" in refused(capsys, "kuhn", "--out", "x", code=4)
    assert "solver_regret.npy is damaged" in refused(capsys, "--resume", "--out", "x", code=4)
    assert "there is no folder" in refused(capsys, "--resume", "--out", "nowhere", code=4)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("out", [True, False])
@pytest.mark.slow  # test_interrupts.py ends every long command by a signal
def test_an_interrupt_keeps_what_was_found(tmp_path, home, out):
    """Without --out as well; the command it prints goes on to the numbers of an uninterrupted run."""
    command = [
        sys.executable,
        "-m",
        "plurispiel",
        "solve",
        "kuhn",
        "--algorithm",
        "mccfr",
        "--iterations",
        "3000000000",
    ]
    process = subprocess.Popen(
        [*command, *(["--out", "run"] if out else [])],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        for line in process.stderr:
            if "mccfr, 3,000,000,000 iterations" in line:
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert printed == "" and "Traceback" not in errors
    resume = shlex.split(errors.splitlines()[-1])
    assert resume[:4] == ["plurispiel", "solve", "--resume", "--out"]
    folder = resume[4]
    assert folder.startswith(str(tmp_path / "run" if out else home / "solutions" / "kuhn_poker-mccfr-1"))
    done = load_solution(tmp_path / folder).iterations
    assert f"interrupted after {done:,} iterations" in errors
    resume[resume.index("--iterations") + 1] = str(done + 100)
    again = subprocess.run([sys.executable, "-m", *resume, "--json"], capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert f"holds {done:,} iterations" in again.stderr
    record = json.loads(again.stdout)
    solver = make_solver(flatten("kuhn"), "mccfr", seed=1)
    solver.run(done + 100)
    assert record["nash_conv"] == exploitability(solver.tree, solver.average_strategy()).nash_conv
    assert record["iterations"] == done + 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which game?"),
        (["ledoc"], "unknown game 'ledoc', did you mean 'leduc'?"),
        (["holdem-flop"], "the game is too large for a tree: "),
        (["leduc", "--max-histories", "1000"], "9,457 histories"),
        (["matrix_pd"], "is not a sequential game"),
        (["kuhn", "--algorithm", "cfr++"], "unknown algorithm 'cfr++': choose from cfr,"),
        (["kuhn", "--iterations", "0"], "iterations must be at least 1"),
        (["kuhn", "--until", "0"], "until must be a positive number"),
        (["kuhn", "--until", "nan"], "until must be a positive number"),
        (["kuhn", "--until", "inf"], "until must be a positive number"),
        (["kuhn", "--seed", "-1"], "seed must not be negative"),
        (["--resume"], "--resume needs the folder"),
    ],
)
def test_refusals(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


def test_the_strategy_is_shown(capsys, tmp_path):
    table = tmp_path / "strategy.csv"
    record = solve(capsys, "kuhn", "--iterations", 300, "--show", "--csv", table)
    rows = record["decisions"]
    assert len(rows) == 12 and rows[0]["node"] == "start" and rows[0]["hand"] == "2c"
    gains = np.bincount([row["player"] for row in rows], [row["gain"] for row in rows])
    assert gains == pytest.approx(record["incentives"], abs=1e-12)
    king = next(row for row in rows if (row["node"], row["hand"]) == ("c r2", "4c"))
    assert king["actions"][1]["action"] == king["best"] == "call" and king["actions"][1]["probability"] > 0.999
    lines = list(csv.DictReader(table.read_text().splitlines()))
    assert len(lines) == 24
    assert float(lines[0]["probability"]) == rows[0]["actions"][0]["probability"]
    assert main(["solve", "leduc", "--iterations", "10", "--show", "--node", "c r3 c 4d"]) == 0
    shown = capsys.readouterr().out
    assert "c r3 c 4d: seat 0 (chips)" in shown and "r5: seat" not in shown


def test_what_cannot_be_shown(capsys, tmp_path):
    assert "add --show" in refused(capsys, "kuhn", "--node", "c")
    assert "add --show" in refused(capsys, "kuhn", "--csv", tmp_path / "a.csv")
    assert "no decision is at the node 'r9'" in refused(capsys, "kuhn", "--show", "--node", "r9")
    place = tmp_path / "no" / "table.csv"
    assert "csv must be a file in an existing folder" in refused(capsys, "kuhn", "--show", "--csv", place)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_comparison_keeps_the_finished_runs(capsys, tmp_path, monkeypatch, no_pictures):
    def interrupted(*arguments):
        yield from [next(compare_solvers(*arguments))] * 2
        raise KeyboardInterrupt

    monkeypatch.setattr(solve_command, "compare_solvers", interrupted)
    arguments = ["kuhn", "--compare", "cfr,mccfr", "--seconds", "0.01", "--out", str(tmp_path / "compared")]
    assert main(["solve", *arguments]) == 130
    captured = capsys.readouterr()
    assert "only 2 runs were finished" in captured.err and "written: " in captured.err
    assert '"cfr",,1,' in (tmp_path / "compared" / "comparison.csv").read_text()


def test_algorithms_are_compared(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "compared"
    arguments = ["kuhn", "--compare", "cfr, dcfr(1.5,0,2),mccfr", "--seconds", "0.05", "--seeds", "2", "--out", folder]
    record = solve(capsys, *arguments)
    assert [entry["algorithm"] for entry in record["algorithms"]] == ["cfr", "dcfr(1.5,0,2)", "mccfr"]
    assert [[run["seed"] for run in entry["runs"]] for entry in record["algorithms"]] == [[None], [None], [1, 2]]
    tree = flatten("kuhn")
    for entry in record["algorithms"]:
        for run in entry["runs"]:
            iterations, seconds, away = run["curve"][-1]
            assert iterations == run["iterations"] and seconds >= 0.05
            given = {} if run["seed"] is None else {"seed": run["seed"]}
            solver = make_solver(tree, entry["algorithm"], **given)
            solver.run(run["curve"][4][0])
            assert exploitability(tree, solver.average_strategy()).exploitability == pytest.approx(run["curve"][4][2])
        ends = [run["curve"][-1][2] for run in entry["runs"]]
        assert entry["mean"] == pytest.approx(sum(ends) / len(ends))
        assert (entry["lowest"], entry["highest"]) == (min(ends), max(ends))
    rows = list(csv.DictReader((folder / "comparison.csv").read_text().splitlines()))
    assert {(row["algorithm"], row["seed"]) for row in rows} == {
        ("cfr", ""),
        ("dcfr(1.5,0,2)", ""),
        ("mccfr", "1"),
        ("mccfr", "2"),
    }
    assert record["files"][0] == str(folder / "comparison.csv")
    assert all(os.path.getsize(file) for file in record["files"])
    monkeypatch.setattr(solve_command, "draw_comparison", lambda *arguments: None)
    assert main(["solve", *map(str, arguments)]) == 0
    captured = capsys.readouterr()
    assert (
        captured.out.splitlines()[0].split()
        == "algorithm iterations exploitability (chips) lowest highest seeds".split()
    )
    assert captured.err.splitlines()[-1].startswith(f"written: {folder}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kuhn", "--compare", "cfr,,mccfr"), "separated by single commas"),
        (("kuhn", "--compare", "cfr,dcfr(1.5,0"), "a parenthesis is not closed, or not opened, in 'cfr,dcfr(1.5,0'"),
        (("kuhn", "--compare", "cfr,cfr+,cfr"), "cfr is given twice"),
        (("kuhn", "--compare", "cfr,nonsense"), "nonsense"),
        (("kuhn", "--compare", "cfr", "--seconds", "0"), "seconds must be above 0"),
        (("kuhn", "--compare", "cfr", "--seconds", "nan"), "seconds must be above 0"),
        (("kuhn", "--compare", "mccfr", "--seeds", "0"), "seeds must be 1 to 100"),
        (("kuhn", "--compare", "cfr", "--until", "0.1"), "--until does not go with --compare"),
        (("--compare", "cfr"), "which game?"),
        (("kuhn", "--seconds", "1"), "add --compare LIST"),
    ],
)
def test_comparisons_that_are_refused(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []
