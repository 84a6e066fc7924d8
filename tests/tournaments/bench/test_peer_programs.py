"""Programs of the user as peers: shell scripts that keep to the contract, or break it."""

import json
import math
import os
import sys

import numpy as np
import pytest

from plurispiel.abstraction.holdem.hand_ranks import hand_rank
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot
from plurispiel.agents.spots.spot_solution import solve_spot
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.tournaments.bench import peer_comparison, peer_programs, peer_solvers
from plurispiel.tournaments.bench.peer_comparison import PeerError, compare
from plurispiel.tournaments.bench.peer_hands import random_hands
from plurispiel.tournaments.bench.peer_programs import PeerProgram, parse_programs, program_comparisons
from plurispiel.tournaments.cli import main

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="shell scripts"),
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
]
SECONDS = '{"seconds": 1e-5}'


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Write a program of one line that runs in the folder of the test."""
    monkeypatch.setattr(peer_comparison, "_MIN_TURNS", 1)
    monkeypatch.setattr(peer_programs, "_SPOTS", ("river",))
    monkeypatch.setattr(peer_programs, "_NUM_HANDS", 200)
    monkeypatch.setattr(peer_programs, "GAME", "kuhn_poker")
    monkeypatch.setattr(peer_solvers, "SAMPLED_ITERATIONS", 50)
    monkeypatch.setattr(peer_solvers, "SAMPLED_SEEDS", 2)
    monkeypatch.chdir(tmp_path)

    def write(line, name="peer-1"):
        path = tmp_path / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        return path

    return write


def rows_of(job, path):
    """Measure the rows of one job."""
    found = list(program_comparisons({job: path}))
    return [compare(each, 0.001) for each in found if not hasattr(each, "value")]


def test_hands(script, tmp_path):
    hands = random_hands(200)
    ranks = hand_rank(hands).astype("<u4")
    hands.tofile("expected")
    ranks.tofile("right")
    ranks[::-1].tofile("wrong")
    job = '[ "$1 $4" = "hands 20" ] && cmp "$2" expected && cp {} "$3" && echo \'{{"seconds": 1e-5}}\''
    (row,) = rows_of("hands", script(job.format("right")))
    assert row.value > 0.0 and row.peer == "peer-1" and row.note.endswith("equal: the order of 200 hands")
    assert row.theirs == pytest.approx(200 * 20 / 1e-5)
    (row,) = rows_of("hands", script(job.format("wrong")))
    assert math.isnan(row.value) and "the order of hands differs" in row.note
    for text, reason in (("printf abc > \"$3\"; echo '%s'", "has 3 bytes"), ("echo '%s'", "did not write its file")):
        (row,) = rows_of("hands", script(text % SECONDS))
        assert math.isnan(row.value) and reason in row.note


def test_spot(script):
    spot, _ = read_spot(EXAMPLES / "river.toml")
    solution = solve_spot(spot, target_pct=0.1, threads=1)
    right = {"seconds": 1e-4, "decisions": 60, "exploitability_pct": 0.1, "ev_oop": solution.ev[0]}
    line = f"[ \"$*\" = 'spot {EXAMPLES / 'river.toml'} 0.5' ] && echo '{{}}'"
    (row,) = rows_of("spot", script(line.format(json.dumps(right))))
    assert row.value > 0.0 and row.name == "river to 0.5 % of the pot: peer-1" and row.theirs == pytest.approx(1e4)
    for change, reason in (
        ({"decisions": 59}, "the number of decisions is 59, ours is 60"),
        ({"exploitability_pct": 0.6}, "0.6 % of the pot, not from 0 to 0.5"),
        ({"exploitability_pct": -0.1}, "-0.1 % of the pot, not from 0 to 0.5"),
        ({"ev_oop": solution.ev[0] + 2.0}, "the value of the player out of position is"),
        ({"ev_oop": None}, "needs a number 'ev_oop', got None"),
    ):
        (row,) = rows_of("spot", script(line.format(json.dumps(right | change))))
        assert math.isnan(row.value) and reason in row.note


def test_training(script):
    tree = flatten("kuhn_poker")
    solver = make_solver(tree, "mccfr", seed=1)
    solver.run(50)
    strategies = {"right": solver.average_strategy(), "wrong": make_solver(tree, "cfr").average_strategy()}
    for name, strategy in strategies.items():
        rows = np.split(strategy, tree.infoset_first[1:-1])
        with open(f"{name}.json", "w") as file:
            json.dump({key: row.tolist() for key, row in zip(tree.infoset_keys, rows, strict=True)}, file)
    job = 'cp {}.json "$4"; echo \'{{"seconds": 1e-5}}\''
    (row,) = rows_of("training", script(job.format("right")))
    assert row.value > 0.0 and row.note.endswith("chips")
    for text, reason in (
        (job.format("wrong"), "exploitability after 50 iterations is"),
        (f"echo '{{}}' > \"$4\"; echo '{SECONDS}'", "the strategy needs 2 probabilities for '0'"),
        (f"sed 's/0\\.[0-9]*/7/' right.json > \"$4\"; echo '{SECONDS}'", "sum to 1"),
    ):
        (row,) = rows_of("training", script(text))
        assert math.isnan(row.value) and reason in row.note


@pytest.mark.parametrize(
    "line, reason",
    [
        ("exit 3", "ended with code 3"),
        ("echo no", "the output is no JSON object"),
        ("echo '[1]'", "the output is no JSON object"),
        ("head -c 2000000 /dev/zero", "the output is no JSON object"),
        ("echo '{}'", "needs a number 'seconds', got None"),
        ("echo '{\"seconds\": NaN}'", "needs a number 'seconds', got nan"),
        ("echo '{\"seconds\": true}'", "needs a number 'seconds', got True"),
        ("echo '{\"seconds\": 0}'", "says 0 seconds"),
        ("echo '{\"seconds\": 50}'", "says 50 seconds, but ran for"),
    ],
)
def test_broken_contract(line, reason, script):
    with pytest.raises(PeerError, match=reason.replace("{", r"\{")):
        PeerProgram("hands", script(line)).run()


def test_programs_that_do_not_end(script, monkeypatch):
    monkeypatch.setattr(peer_programs, "LIMIT_S", 0.1)
    with pytest.raises(PeerError, match="timed out"):
        PeerProgram("hands", script("exec sleep 9")).run()


def test_options(script, tmp_path, capsys):
    path = script("exit 0")
    assert parse_programs([f"hands={path}", f"spot={path}"]) == {"hands": path, "spot": path}
    (tmp_path / "plain").write_text("")
    for texts in (["hands"], ["hands="], ["other=x"], [f"hands={path}"] * 2, ["hands=none"], ["hands=plain"]):
        words = [word for text in texts for word in ("--program", text)]
        assert main(["bench", "peers", *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["bench", "engine", "--program", f"hands={path}"]) == 2
    assert "only for bench peers, got bench engine" in capsys.readouterr().err
