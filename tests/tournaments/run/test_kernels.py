"""`plurispiel warmup` leaves nothing to compile, in one process and in several."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plurispiel.tournaments.run import compilation, kernels

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

SEARCH = "search?iterations=2&cards=blueprint&threads=1"
NETS = "continual?nets=bundled&preflop=nets&iterations=2&threads=1"
COMMANDS = [
    "tournament --agents tag,equity --decks 2 --workers 1 --hands all --out run",
    "tournament --agents random,call,fold,raise,tag,equity --decks 1 --workers 1 --out six",
    "tournament --agents tag,call --game LEDUC --decks 2 --workers 1 --out leduc",
    "tournament --agents tag,call --game HULH --decks 1 --workers 1 --out limit",
    f"tournament --agents {SEARCH},blueprint --decks 1 --workers 1 --out search",
    f"tournament --agents {NETS},call --decks 1 --workers 1 --out nets",
    "replay run/hands.phhs",
    "export run --format acpc",
    "report run",
    "lbr --agent blueprint --menu fcpa --hands 2 --workers 1 --out lbr",
    "solve leduc --iterations 3",
    "solve leduc --algorithm mccfr --iterations 3",
    "exploitability leduc --agent tag",
    "exploitability holdem-flop --agent call",
    "spot river-spot",
    "compliance tag --hands 4 --game LEDUC",
    "blueprint train leduc --iterations 10 --out exact",
    "blueprint train headsup-pushfold --iterations 10 --out pushfold",
    "tournament --game LEDUC --agents blueprint:exact,tag --values blueprint:exact --decks 2 --workers 1 --out values",
    "bench engine --seconds 0.01",
]

AFTER_WARMUP = """
import contextlib, io, shlex, sys
import numpy as np
from plurispiel.abstraction.machine import jit
from plurispiel.tournaments.run.kernels import warmup

warmup()
known = {(kernel, signature) for kernel in jit.KERNELS for signature in kernel.signatures}

def check(what):
    for kernel in jit.KERNELS:
        for signature in kernel.signatures:
            assert (kernel, signature) in known, (what, kernel.py_func.__module__, kernel.__name__, signature)

from plurispiel.tournaments import cli
for line in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()):
        code = cli.main(shlex.split(line))
    assert code == 0, (line, code)
    check(line)

import table
from search_seat import blueprint, public_after
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.config import SearchConfig

for rules, actions in ((HUNL, (1, 1)), (SIXMAX, (250, 0, 0, 1, 1, 1))):  # with a table, which the user may not have
    for safe in (False, True):
        config = SearchConfig(iterations=1, threads=1, cards="blueprint", safe=safe, continuations=2)
        player = BlueprintAgent(blueprint(rules.num_seats, has_table=True))
        agent = table.agent_at(SearchAgent(player, config), rules, 1)
        agent.range_strategy(public_after(actions, rules=rules))
        assert agent.counts["searches"] == 1
        check(("search", rules, safe))
"""


@pytest.mark.slow
def test_no_command_compiles_after_warmup(tmp_path):
    """No command calls a kernel with other types than `warmup` does: a call with other types would be compiled."""
    tests = Path(__file__).parents[2]
    places = [str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PLURISPIEL_HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run(
        [sys.executable, "-c", AFTER_WARMUP, *COMMANDS], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_processes_share_all_modules(monkeypatch):
    """Each module is compiled by one process, and at the end this process loads all."""
    said, done = [], []
    monkeypatch.setattr(compilation, "MODULES", ("abstraction.holdem.boards", "abstraction.holdem.showdown"))
    monkeypatch.setattr(compilation, "_LONGEST", ("abstraction.holdem.showdown",))
    monkeypatch.setattr(compilation, "warmup", lambda modules=None: done.append(modules))
    compilation.warmup_in_processes(2, said.append)
    assert done == [compilation._SHARED, None]
    assert sorted(said) == sorted(said, key=lambda text: text.split()[1]) and len(said) == 2
    assert said[-1].endswith("; 0 modules left")


def test_a_process_that_dies_leaves_its_module_to_the_end(monkeypatch):
    def die(pipe):
        pipe.recv()
        os._exit(1)

    said, done = [], []
    monkeypatch.setattr(compilation, "_compile", die)
    monkeypatch.setattr(compilation, "can_fork", lambda: True)
    monkeypatch.setattr(compilation, "warmup", lambda modules=None: done.append(modules))
    compilation.warmup_in_processes(2, said.append)
    assert done == [compilation._SHARED, None]
    assert len(said) == 2


def compile_into(folder):
    """Return what a compiling process does instead: note the modules in a file."""

    def note(pipe):
        for _ in kernels.PLAY:
            module = pipe.recv()
            (folder / module).touch()
            pipe.send(None)

    return note


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process that is a copy finds what the test replaces")
def test_a_first_run_compiles_in_another_process_meanwhile(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(compilation, "can_fork", lambda: True)
    monkeypatch.setattr(compilation, "num_processors", lambda: 2)
    monkeypatch.setattr(compilation, "_compile", compile_into(tmp_path))
    monkeypatch.setattr(compilation, "CACHE_FOLDER", tmp_path / "cache")
    with compilation.play_compiled_beside(said.append):
        assert len(said) == 1
    assert {path.name for path in tmp_path.iterdir()} == set(kernels.PLAY)
    monkeypatch.setattr(compilation, "_compile", lambda pipe: os._exit(1))
    with compilation.play_compiled_beside(said.append):
        pass
    assert len(said) == 2


def test_later_runs_compile_in_no_other_process(monkeypatch):
    kernels.warmup(["abstraction.cards.features"])
    monkeypatch.setattr(compilation, "can_fork", lambda: True)
    monkeypatch.setattr(compilation, "num_processors", lambda: 2)
    monkeypatch.setattr(compilation, "_compilers", None)
    with compilation.play_compiled_beside(pytest.fail):
        pass


def test_the_longest_and_the_shared_are_modules():
    assert set(compilation._LONGEST) <= set(kernels.MODULES)
    assert set(compilation._SHARED) <= set(kernels.MODULES)
