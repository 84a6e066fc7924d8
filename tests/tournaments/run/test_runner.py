"""Runs: the same results for any number of workers, after kills, and what stops them."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from played_run import group_rows, num_stored

from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run import block_player, tournament_run
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import make_results, results_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late

SLOW_BOT = """
import time
from plurispiel.agents.base import Agent

class Slow(Agent):
    def __init__(self, ms: float = 10.0):
        self.ms = ms

    def act(self, view):
        time.sleep(self.ms / 1000)
        return 1 if self.rng.random() < 0.7 else 0 if view.public.can_fold else 1
"""

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for living processes in /proc")


def run(folder, config, workers, on_block=lambda block, groups: None, **conduct):
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(workers, **conduct), on_block)
        results = timeless(json.loads(results_text(make_results(config, store))))
    return results, group_rows(folder)


def timeless(results):
    return {key: value for key, value in results.items() if key not in ("seconds", "hands_per_second")}


def command(*arguments, name="tournament"):
    return [sys.executable, "-m", "plurispiel.tournaments.cli", name, *map(str, arguments)]


@contextlib.contextmanager
def started(arguments, cwd, **options):
    """A command in a session of its own, which is ended with all its processes."""
    process = subprocess.Popen(
        arguments,
        cwd=cwd,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # whoever runs these tests in the background of a shell has interrupts ignored, and so would this
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def members(group):
    """Return the living processes of a process group."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{entry}/stat") as stream:
                    state, _, leader = stream.read().rpartition(")")[2].split()[:3]
                if int(leader) == group and state != "Z":
                    found.append(int(entry))
    return found


def wait_for(condition, seconds=120.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.02)


def test_any_number_of_workers_gives_the_same(tmp_path):
    config = TournamentConfig(agents=("random", "tag", "random"), seats=2, decks=9, seed=5)
    first, first_rows = run(tmp_path / "one", config, 1)
    second, second_rows = run(tmp_path / "two", config, 2)
    assert len(first_rows) == 3 * 9 * 2
    assert first_rows == second_rows
    assert first == second
    assert first["agents"][0]["mbb_per_hand"] != first["agents"][2]["mbb_per_hand"]


def test_stopping_anywhere_and_going_on_gives_the_same(tmp_path):
    config = TournamentConfig(agents=("random", "call", "random"), seats=2, decks=18, game="leduc_poker")
    whole = run(tmp_path / "whole", config, 1)

    class Stop(Exception):
        pass

    for stop_after in (1, 2, 4):
        blocks = []

        def stop(block, groups, blocks=blocks, stop_after=stop_after):
            blocks.append(block)
            if len(blocks) == stop_after:
                raise Stop

        with pytest.raises(Stop):
            run(tmp_path / "parts", config, 1, stop)
    assert run(tmp_path / "parts", config, 1) == whole


def test_more_decks_give_the_same_as_all_at_once(tmp_path):
    few, many = (TournamentConfig(agents=("random", "call"), decks=decks, game="leduc_poker") for decks in (5, 13))
    whole = run(tmp_path / "whole", many, 1)
    only_few = run(tmp_path / "parts", few, 1)
    assert run(tmp_path / "parts", many, 1) == whole
    assert run(tmp_path / "parts", few, 1)[0] == only_few[0]


def test_the_referee_changes_nothing_but_the_digest(tmp_path):
    refereed, trusted = (
        run(tmp_path / referee, TournamentConfig(agents=("random",) * 3, decks=5, referee=referee), 1)
        for referee in ("universal_poker", "none")
    )
    assert refereed[1] == trusted[1]


def test_seats_at_one_table_are_agents_of_their_own(tmp_path, monkeypatch):
    built = []
    make_agent = block_player.make_agent
    monkeypatch.setattr(block_player, "make_agent", lambda spec: built.append(spec) or make_agent(spec))
    run(tmp_path, TournamentConfig(agents=("call", "fold", "raise"), format="gauntlet", seats=4, decks=2), 1)
    assert sorted(built) == ["call", "fold", "fold", "fold", "raise", "raise", "raise"]


def test_a_disagreement_stops_the_run(tmp_path, monkeypatch, capsys):
    def disagree(self, hand):
        raise RefereeDisagrees("universal_poker pays [1, -1], not (2, -2)")

    monkeypatch.setattr(block_player.Referee, "check", disagree)
    code = main(
        ["tournament", "--agents", "call,call", "--decks", "2", "--workers", "1", "--out", str(tmp_path / "run")]
    )
    assert code == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1] == "plurispiel tournament: universal_poker pays [1, -1], not (2, -2)"
    assert not (tmp_path / "run" / "results.json").exists()
    assert num_stored(tmp_path / "run") == 0


def test_a_wrong_payoff_is_noticed_while_playing(tmp_path, monkeypatch):
    from plurispiel.evaluation import hand

    class Crooked(hand.BettingState):
        def payoffs(self, deck):
            payoffs = super().payoffs(deck)
            payoffs[0] += 0.5
            return payoffs

    monkeypatch.setattr(hand, "BettingState", Crooked)
    with pytest.raises(RefereeDisagrees, match="pays"):
        run(tmp_path / "a", TournamentConfig(agents=("call", "call"), decks=1), 1)
    run(tmp_path / "b", TournamentConfig(agents=("call", "call"), decks=1, referee="none"), 1)


def test_an_agent_whose_file_goes_away_forfeits(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW_BOT)
    config = TournamentConfig(agents=(f"{tmp_path}/slow.py:Slow", "call"), decks=1)
    assert config.digest
    (tmp_path / "slow.py").unlink()
    results, stored = run(tmp_path / "run", config, 1, processes="one")
    assert results["agents"][0]["faults_by_kind"] == {"load": 2}
    assert "no file" in stored[0][8]


@needs_proc
def test_a_kill_changes_nothing_and_leaves_no_process(tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(SLOW_BOT)
    decks, common = 24, ["--agents", "slow.py:Slow?ms=5,random", "--seed", 1, "--processes", "one"]
    arguments = command(*common, "--decks", decks, "--workers", 2, "--out", "run")
    folder = tmp_path / "run"
    with started(arguments, tmp_path, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: num_stored(folder))
        workers = set(members(process.pid)) - {process.pid}
        assert len(workers) >= 2
        assert process.poll() is None, "it ended before it was killed"
        os.kill(process.pid, signal.SIGKILL)  # the parent alone: its workers must notice
        process.wait()
        wait_for(lambda: not members(process.pid), seconds=5.0)
    assert 1 <= num_stored(folder) < decks
    monkeypatch.chdir(tmp_path)
    for out in ("run", "whole"):
        assert main(["tournament", *map(str, (*common, "--decks", decks, "--workers", 1, "--out", out))]) == 0
    killed, whole = (json.loads((tmp_path / out / "results.json").read_text()) for out in ("run", "whole"))
    assert timeless(killed) == timeless(whole)


@needs_proc
@pytest.mark.parametrize(
    "name, arguments",
    [
        pytest.param(
            "tournament", ("--agents", "slow.py:Slow?ms=1000,random", "--decks", 1_000), marks=pytest.mark.slow
        ),
        ("lbr", ("--agent", "call", "--menu", "fcpa", "--hands", 10_000_000)),
    ],
)
def test_workers_end_with_their_command_whatever_they_do(tmp_path, name, arguments):
    (tmp_path / "slow.py").write_text(SLOW_BOT)
    arguments = command(*arguments, "--workers", 2, "--out", "run", name=name)
    with started(arguments, tmp_path, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: len(members(process.pid)) >= 3)
        time.sleep(0.5)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        process.wait()
        wait_for(lambda: not members(process.pid), seconds=5.0)


def test_an_interrupt_prints_a_command_that_goes_on(tmp_path, monkeypatch, capsys, usual_signals):
    def interrupted(config, store, conduct, on_block, labour):
        def stop(block, groups):
            on_block(block, groups)
            raise KeyboardInterrupt

        play_run(config, store, conduct, stop, labour)

    arguments = ["--agents", "random,call", "--decks", "24", "--score", "raw", "--out", str(tmp_path / "my 'run'")]
    with monkeypatch.context() as patch:
        patch.setattr(tournament_run, "play_run", interrupted)
        assert main(["tournament", *arguments, "--workers", "1", "--json"]) == 130
    out, err = capsys.readouterr()
    assert out == "" and "interrupted" in err
    resume = err.rstrip().splitlines()[-1].strip()
    assert re.match(r"plurispiel tournament .* --json$", resume) and num_stored(tmp_path / "my 'run'") == 8
    assert main(shlex.split(resume)[1:]) == 0
    again = capsys.readouterr()
    assert "16 hands already there" in again.err and json.loads(again.out)["hands"] == 48


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_of_all_processes_prints_a_command_that_goes_on(tmp_path, monkeypatch, capsys, workers):
    """By default the test above resumes in this process, and `test_interrupts` sends signals to processes."""
    (tmp_path / "slow.py").write_text(SLOW_BOT)
    folder = tmp_path / "my 'run'"
    arguments = command(
        "--agents", "slow.py:Slow?ms=20,call", "--decks", 24, "--workers", workers, "--out", folder, "--json"
    )
    arguments += ["--score", "raw", "--processes", "one"]
    with started(arguments, tmp_path, stdout=subprocess.PIPE) as process:
        wait_for(lambda: num_stored(folder) >= 8)
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everybody gets it
        out, err = process.communicate(timeout=60)
        assert time.monotonic() - start < 5.0
        assert process.returncode == 130
        wait_for(lambda: not members(process.pid), seconds=5.0)
    assert out == ""
    assert "Traceback" not in err
    assert "interrupted" in err
    resume = err.rstrip().splitlines()[-1].strip()
    assert re.match(r"plurispiel tournament .* --json$", resume)
    done = num_stored(folder)
    assert 8 <= done < 24
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(resume)[1:]) == 0
    again = capsys.readouterr()
    assert f"{2 * done} hands already there" in again.err
    assert json.loads(again.out)["hands"] == 48


@needs_proc
def test_an_interrupt_while_it_starts_is_one_line(tmp_path):
    arguments = command("--agents", "call,call", "--decks", 100_000, "--workers", 2, "--out", "run")
    with started(arguments, tmp_path, stdout=subprocess.PIPE) as process:
        wait_for(lambda: len(members(process.pid)) >= 3)  # the workers still import
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.rstrip().splitlines()[-1].strip().startswith("plurispiel tournament ")
