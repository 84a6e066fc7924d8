"""Tournaments with contestants that misbehave: what it costs, who is told, and that nothing else changes."""

import json
import os
import subprocess

import pytest
from faulty_run import SOMETIMES, command, play, timeless, total_faults

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants import isolated
from plurispiel.tournaments.run.block_player import RunAborted
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.store import RunRefused, RunStore

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late


posix = pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")


@pytest.fixture
def sometimes(tmp_path):
    (tmp_path / "sometimes.py").write_text(SOMETIMES)
    return f"{tmp_path}/sometimes.py:Bot"


def test_the_run_can_be_aborted(capsys, tmp_path, sometimes):
    arguments = ["tournament", "--agents", f"{sometimes}?share=1,call", "--decks", "4", "--on-fault", "abort"]
    arguments += ["--score", "raw", "--processes", "one"]
    for workers in ("1", "2"):
        code = main([*arguments, "--workers", workers, "--out", str(tmp_path / workers)])
        captured = capsys.readouterr()
        assert (code, captured.out) == (1, "")
        assert "committed a fault (exception): act: RuntimeError: sometimes" in captured.err.splitlines()[-1]
    with pytest.raises(RunAborted):
        aborting = TournamentConfig(agents=(f"{sometimes}?share=1", "call"), on_fault="abort")
        play(tmp_path / "run", aborting, processes="one")


def test_faults_can_be_repaired(tmp_path, sometimes):
    config = {"agents": (f"{sometimes}?share=0.2", "call"), "decks": 10, "max_faults": 1000, "seed": 1, "score": "raw"}
    rows = {
        how: play(tmp_path / how, TournamentConfig(**config, on_fault=how), keep="all", processes="one")
        for how in ("forfeit", "repair")
    }
    assert total_faults(rows["repair"], 0) > total_faults(rows["forfeit"], 0)


@pytest.mark.parametrize("keep", ["all", "sample", "none"])
def test_kept_hands_are_those_that_were_played(tmp_path, sometimes, keep):
    config = TournamentConfig(agents=(f"{sometimes}?share=0.01", "random", "tag"), decks=40, seed=2, score="raw")
    rows = play(tmp_path / "run", config, keep=keep, workers=1 + (keep == "sample"), processes="one")
    hands = list(stored_hands(tmp_path / "run"))
    faulty = {row[1] for row in rows if row[6]}
    assert any(deck >= 20 for deck in faulty)
    decks = {"all": set(range(40)), "sample": set(range(20)) | faulty, "none": set()}[keep]
    assert len(hands) == 3 * len(decks)
    for agent, name in enumerate(config.names):
        chips = sum(history.payoffs[history.names.index(name)] for history in hands)
        assert chips == pytest.approx(sum(row[4] for row in rows if row[2] == agent and row[1] in decks), abs=1e-6)


@pytest.mark.slow  # test_standard_streams.py has names that command a terminal
def test_names_stay_harmless_everywhere(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("<script>alert(1)<", "=cmd", "a'b\"c"):
        folder = tmp_path / f"{name}.py"
        folder.write_text(SOMETIMES)
    agents = ["<script>alert(1)<.py:Bot", "=cmd.py:Bot", "a'b\"c.py:Bot?share=1"]
    arguments = [*("tournament", "--decks", "3", "--out", "run", "--hands", "all"), *(f"--agents={a}" for a in agents)]
    arguments += ["--max-faults", "3", "--workers", "1", "--score", "raw", "--processes", "one"]
    assert main(arguments) == 3
    captured = capsys.readouterr()
    assert all(agent in captured.out for agent in agents)
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert [agent["name"] for agent in results["agents"]] == agents
    assert {name for history in stored_hands(tmp_path / "run") for name in history.names} == set(agents)
    assert main(arguments) == 3
    assert [path.name for path in (tmp_path / "run" / "logs").glob("*")] == []  # nobody printed


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param(
            'raise RuntimeError("two\\nlines")\n', "RuntimeError: two lines (broken.py, line 1)", marks=pytest.mark.slow
        ),
        ("import os\nclass Bot:\n    def act(self, view)\n", "SyntaxError: expected ':' (broken.py, line 3)"),
        pytest.param(
            "import os\nimport nump\n",
            "ModuleNotFoundError: No module named 'nump' (broken.py, line 2)",
            marks=pytest.mark.slow,
        ),
        ("from plurispiel.agents import Agent\nclass Bot(Agent):\n    pass\n", "lacks act"),
        ("import sys\nprint('bye')\nsys.exit('no')\n", "SystemExit: no (broken.py, line 3)"),
        pytest.param("raise SystemExit(0)\n", "SystemExit: 0 (broken.py, line 1)", marks=pytest.mark.slow),
        ("import os\nos._exit(0)\n", "broken.py:Bot does not load: its process ended (exit code 0)"),
        ("import time\ntime.sleep(60)\n", "broken.py:Bot does not load: no answer within 1 s"),
    ],
)
def test_the_first_agent_that_does_not_load_ends_the_command(capsys, tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(isolated, "LOAD_SECONDS", 1.0 if "sleep" in source else 60.0)
    (tmp_path / "broken.py").write_text(source)
    (tmp_path / "worse.py").write_text("1 / 0\n")
    agents = ["--agents", "tag,broken.py:Bot,worse.py:Bot", "--time-limit", "1"]
    assert main(["tournament", *agents, "--decks", "3", "--out", "run"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1
    assert captured.err.startswith("plurispiel tournament: ") and message in captured.err
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_an_agent_that_does_not_load_any_more_commits_a_fault(capsys, tmp_path):
    """Not one that never did."""
    (tmp_path / "once.py").write_text(
        "import os\nfrom plurispiel.agents.baselines.simple import CallAgent as Bot\n"
        f"path = {str(tmp_path / 'loaded')!r}\n"
        "if os.path.exists(path): raise RuntimeError('once is enough')\n"
        "open(path, 'w').close()\n"
    )
    arguments = ["tournament", "--agents", f"{tmp_path}/once.py:Bot,call", "--decks", "2", "--workers", "1"]
    arguments += ["--sandbox", "none"]  # it has to write
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 0
    assert "RuntimeError: once is enough" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "results.json").read_text())["agents"][0]["faults_by_kind"] == {"load": 4}


def test_the_main_process_runs_no_foreign_code(tmp_path, monkeypatch):
    package = tmp_path / "guests"
    package.mkdir()
    for path in (package / "__init__.py", package / "bot.py", tmp_path / "file_bot.py"):
        path.write_text(
            f"import os\nassert os.getpid() != {os.getpid()}, 'in the run itself'\n"
            "from plurispiel.agents.baselines.simple import CallAgent as Bot\n"
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ["--agents", "file_bot.py:Bot,guests.bot:Bot", "--decks", "2", "--workers", "1", "--processes", "one"]
    assert main(["tournament", *arguments, "--out", "run"]) == 0
    assert [agent["faults"] for agent in timeless(tmp_path / "run")["agents"]] == [0, 0]


def test_a_second_runner_is_told_who_is_the_first(tmp_path, capsys):
    config = TournamentConfig(agents=("call", "fold"), decks=4)
    first = RunStore(tmp_path / "run", config)
    with pytest.raises(RunRefused, match=rf"is being played by process {os.getpid()} on .* since \d{{4}}-"):
        RunStore(tmp_path / "run", config)
    arguments = ["tournament", "--agents", "call,fold", "--decks", "4", "--out", str(tmp_path / "run")]
    for more in ([], ["--fresh"]):
        assert main(arguments + more) == 2
        captured = capsys.readouterr()
        assert len(captured.err.splitlines()) == 1 and f"process {os.getpid()}" in captured.err
    first.close()
    assert main(arguments) == 0


@posix
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path, monkeypatch, capsys):
    import resource

    arguments = ["--agents", "random,call,random", "--decks", "400", "--workers", "1", "--hands", "none"]
    arguments += ["--score", "duplicate", "--out"]
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", *arguments, "whole"]) == 0

    def small_disk():  # files beyond this size cannot be written, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    full = subprocess.run(command(*arguments, "run"), capture_output=True, text=True, preexec_fn=small_disk)
    assert full.returncode in (1, 2)
    assert "Traceback" not in full.stderr
    assert "run.sqlite" in full.stderr.splitlines()[-1]
    assert main(["tournament", *arguments, "run"]) == 0
    assert "hands already there" in capsys.readouterr().err
    assert timeless(tmp_path / "run") == timeless(tmp_path / "whole")


UNWRITABLE = """
from plurispiel.agents import CALL, Agent

class Bot(Agent):
    def act(self, view):
        if view.public.street == 1:
            raise ValueError("half a pair: \\ud800, nothing: \\x00")
        return CALL
"""


def test_a_message_that_no_file_takes_ends_no_run(capsys, tmp_path):
    (tmp_path / "unwritable.py").write_text(UNWRITABLE)
    command = ["tournament", "--agents", f"{tmp_path}/unwritable.py:Bot,call", "--decks", "2", "--score", "duplicate"]
    assert main([*command, "--workers", "1", "--processes", "one", "--out", str(tmp_path / "run")]) == 0
    captured = capsys.readouterr()
    assert "exception 4" in captured.err and "half a pair: ?" in captured.err
    store = RunStore.reading(tmp_path / "run")
    assert "half a pair: ?, nothing: \x00" in store.first_faults()[0]
    store.close()
