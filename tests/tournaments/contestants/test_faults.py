"""Tournaments with contestants that misbehave: what it costs, who is told, and that nothing else changes."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from played_run import group_rows

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants import supervisor
from plurispiel.tournaments.report.replays import replay_groups
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct, RunAborted
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.retirement import FaultLedger
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import Block
from plurispiel.tournaments.run.store import RunRefused, RunStore

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late

BOTS = Path(__file__).parent / "bots"

posix = pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")

SOMETIMES = """
from plurispiel.agents import Agent

class Bot(Agent):
    def __init__(self, share: float = 0.1):
        self.share = share

    def act(self, view):
        if self.rng.random() < self.share:
            raise RuntimeError("sometimes")
        return 1 if self.rng.random() < 0.8 else view.public.raise_by_pot(0.5)
"""


@pytest.fixture
def sometimes(tmp_path):
    (tmp_path / "sometimes.py").write_text(SOMETIMES)
    return f"{tmp_path}/sometimes.py:Bot"


def timeless(folder):
    results = json.loads((folder / "results.json").read_text())
    return {key: value for key, value in results.items() if key not in ("seconds", "hands_per_second")}


def play(folder, config, **conduct):
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(**conduct))
    return group_rows(folder)


def total_faults(rows, agent):
    return sum(row[6] for row in rows if row[2] == agent)


def test_after_too_many_faults_a_seat_only_folds(capsys, tmp_path, sometimes):
    code = main(
        ["tournament", "--agents", f"{sometimes}?share=1,call,call", "--decks", "30", "--max-faults", "7", "--json"]
        + ["--out", str(tmp_path / "run"), "--workers", "1", "--hands", "all"]
    )
    assert code == 3
    captured = capsys.readouterr()
    bad, *good = json.loads(captured.out)["agents"]
    # A group has two hands in which it is asked for a bet, and one in which it is big blind and asked for nothing.
    assert bad["faults"] == 9 and bad["faults_by_kind"] == {"exception": 9} and bad["retired"]
    assert not any(agent["faults"] or agent["retired"] for agent in good)
    last = captured.err.splitlines()[-1]
    assert "9 faults (exception 9)" in last and "its seat only folded after that (7 are the limit)" in last
    hands = list(stored_hands(tmp_path / "run"))
    assert len(hands) == 90
    title = bad["name"]
    for history in hands[9:]:  # behind the third group
        seat = history.names.index(title)
        assert history.payoffs[seat] == {0: -50.0, 1: -100.0, 2: 0.0}[seat] or seat == 1
    assert (tmp_path / "run" / "hands.phhs").stat().st_size > 0


def test_retirement_is_the_same_for_any_number_of_workers_and_after_any_stop(tmp_path, sometimes):
    agents = (f"{sometimes}?share=0.2", "random", f"{sometimes}?share=0.1", "call")
    config = TournamentConfig(agents=agents, seats=2, decks=19, max_faults=12, seed=3)
    whole = play(tmp_path / "one", config)
    assert total_faults(whole, 0) >= 12
    assert play(tmp_path / "two", config, workers=2) == whole

    class Stop(Exception):
        pass

    def stop(block, groups):
        raise Stop

    for _ in range(2):
        store = RunStore(tmp_path / "parts", config)
        with pytest.raises(Stop):
            play_run(config, store, Conduct(2), stop)
        store.close()
    assert play(tmp_path / "parts", config) == whole


@pytest.mark.parametrize("few", [1, 5, 8, 13])
def test_more_decks_retire_as_all_at_once(tmp_path, sometimes, few):
    agents = (f"{sometimes}?share=0.1", "random", "call")
    many, less = (TournamentConfig(agents=agents, seats=2, decks=decks, max_faults=9, seed=1) for decks in (17, few))
    whole = play(tmp_path / "whole", many)
    assert total_faults(whole, 0) >= 9
    play(tmp_path / "parts", less)
    assert play(tmp_path / "parts", many) == whole


def test_the_ledger_counts_in_the_order_of_the_schedule():
    score = type("Score", (), {})

    def group(**faults):
        made = {}
        for name, count in faults.items():
            made[int(name[1:])] = score()
            made[int(name[1:])].faults = count
        return made

    ledger = FaultLedger(3, [(1, 0, 7, 2), (0, 9, 7, 2)])
    assert ledger.retirement(7) == (1, 0, 9)  # deck 9 is in the second round of blocks
    assert ledger.retired(Block(0, 8, 2)) == frozenset()
    assert ledger.retired(Block(1, 8, 2)) == {7}
    groups = [group(a7=0, a8=1), group(a7=1, a8=0), group(a7=5, a8=5)]
    kept, last = ledger.admit(Block(0, 0, 3), groups)
    assert (len(kept), last) == (2, (0, 1, 0))  # with the two of line-up 1 it has three
    assert ledger.retired(Block(1, 0, 8)) == frozenset()
    assert ledger.retired(Block(1, 1, 7)) == {7}
    kept, last = ledger.admit(Block(2, 0, 2), [group(a8=1), group(a8=1)])
    assert (len(kept), last) == (2, (0, 2, 1))
    assert ledger.retired(Block(3, 0, 8)) == {7, 8}


def test_the_run_can_be_aborted(capsys, tmp_path, sometimes):
    arguments = ["tournament", "--agents", f"{sometimes}?share=1,call", "--decks", "4", "--on-fault", "abort"]
    for workers in ("1", "2"):
        code = main([*arguments, "--workers", workers, "--out", str(tmp_path / workers)])
        captured = capsys.readouterr()
        assert (code, captured.out) == (1, "")
        assert "committed a fault (exception): act: RuntimeError: sometimes" in captured.err.splitlines()[-1]
    with pytest.raises(RunAborted):
        play(tmp_path / "run", TournamentConfig(agents=(f"{sometimes}?share=1", "call"), on_fault="abort"))


def test_faults_can_be_repaired(tmp_path, sometimes):
    config = {"agents": (f"{sometimes}?share=0.2", "call"), "decks": 10, "max_faults": 1000, "seed": 1}
    rows = {
        how: play(tmp_path / how, TournamentConfig(**config, on_fault=how), keep="all") for how in ("forfeit", "repair")
    }
    assert total_faults(rows["repair"], 0) > total_faults(rows["forfeit"], 0)


@pytest.mark.parametrize("keep", ["all", "sample", "none"])
def test_kept_hands_are_those_that_were_played(tmp_path, sometimes, keep):
    config = TournamentConfig(agents=(f"{sometimes}?share=0.01", "random", "tag"), decks=40, seed=2)
    rows = play(tmp_path / "run", config, keep=keep, workers=2)
    hands = list(stored_hands(tmp_path / "run"))
    faulty = {row[1] for row in rows if row[6]}
    assert any(deck >= 20 for deck in faulty)
    decks = {"all": set(range(40)), "sample": set(range(20)) | faulty, "none": set()}[keep]
    assert len(hands) == 3 * len(decks)
    for agent, name in enumerate(config.names):
        chips = sum(history.payoffs[history.names.index(name)] for history in hands)
        assert chips == pytest.approx(sum(row[4] for row in rows if row[2] == agent and row[1] in decks), abs=1e-6)


def test_names_stay_harmless_everywhere(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("<script>alert(1)<", "=cmd", "a'b\"c"):
        folder = tmp_path / f"{name}.py"
        folder.write_text(SOMETIMES)
    agents = ["<script>alert(1)<.py:Bot", "=cmd.py:Bot", "a'b\"c.py:Bot?share=1"]
    arguments = [*("tournament", "--decks", "3", "--out", "run", "--hands", "all"), *(f"--agents={a}" for a in agents)]
    assert main([*arguments, "--max-faults", "3"]) == 3
    captured = capsys.readouterr()
    assert all(agent in captured.out for agent in agents)
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert [agent["name"] for agent in results["agents"]] == agents
    assert {name for history in stored_hands(tmp_path / "run") for name in history.names} == set(agents)
    assert main(arguments + ["--max-faults", "3"]) == 3
    assert [path.name for path in (tmp_path / "run" / "logs").glob("*")] == []  # nobody printed


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('raise RuntimeError("two\\nlines")\n', "RuntimeError: two lines (broken.py, line 1)"),
        ("import os\nclass Bot:\n    def act(self, view)\n", "SyntaxError: expected ':' (broken.py, line 3)"),
        ("import os\nimport nump\n", "ModuleNotFoundError: No module named 'nump' (broken.py, line 2)"),
        ("from plurispiel.agents import Agent\nclass Bot(Agent):\n    pass\n", "lacks act"),
        ("import sys\nprint('bye')\nsys.exit('no')\n", "SystemExit: no (broken.py, line 3)"),
        ("raise SystemExit(0)\n", "SystemExit: 0 (broken.py, line 1)"),
        ("import os\nos._exit(0)\n", "broken.py:Bot does not load: its process ended (exit code 0)"),
        ("import time\ntime.sleep(60)\n", "broken.py:Bot does not load: no answer within 1 s"),
    ],
)
def test_the_first_agent_that_does_not_load_ends_the_command(capsys, tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(supervisor, "LOAD_SECONDS", 1.0 if "sleep" in source else 60.0)
    (tmp_path / "broken.py").write_text(source)
    (tmp_path / "worse.py").write_text("1 / 0\n")
    agents = ["--agents", "tag,broken.py:Bot,worse.py:Bot", "--time-limit", "1"]
    assert main(["tournament", *agents, "--decks", "3", "--out", "run"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1
    assert captured.err.startswith("plurispiel tournament: ") and message in captured.err
    assert not (tmp_path / "run").exists()


def test_an_agent_that_does_not_load_any_more_commits_a_fault(capsys, tmp_path):
    """Not one that never did."""
    (tmp_path / "once.py").write_text(
        "import os\nfrom plurispiel.agents.baselines.simple import CallAgent as Bot\n"
        f"path = {str(tmp_path / 'loaded')!r}\n"
        "if os.path.exists(path): raise RuntimeError('once is enough')\n"
        "open(path, 'w').close()\n"
    )
    arguments = ["tournament", "--agents", f"{tmp_path}/once.py:Bot,call", "--decks", "3", "--workers", "1"]
    arguments += ["--sandbox", "none"]  # it has to write
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 0
    assert "RuntimeError: once is enough" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "results.json").read_text())["agents"][0]["faults_by_kind"] == {"load": 6}


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
    code = main(
        ["tournament", "--agents", "file_bot.py:Bot,guests.bot:Bot", "--decks", "2", "--workers", "1", "--out", "run"]
    )
    assert code == 0
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


def command(*arguments):
    return [sys.executable, "-m", "plurispiel.tournaments.cli", "tournament", *map(str, arguments)]


@posix
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path):
    import resource

    arguments = command("--agents", "random,call,random", "--decks", 400, "--workers", 1, "--hands", "none")
    arguments += ["--score", "duplicate"]
    whole = subprocess.run([*arguments, "--out", "whole"], cwd=tmp_path, capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr

    def small_disk():  # files beyond this size cannot be written, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    full = subprocess.run(
        [*arguments, "--out", "run"], cwd=tmp_path, capture_output=True, text=True, preexec_fn=small_disk
    )
    assert full.returncode in (1, 2)
    assert "Traceback" not in full.stderr
    assert "run.sqlite" in full.stderr.splitlines()[-1]
    again = subprocess.run([*arguments, "--out", "run"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "hands already there" in again.stderr
    assert timeless(tmp_path / "run") == timeless(tmp_path / "whole")


def family_of(pid):
    """Return a process and all that it has started, directly or not, with their command lines."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:2]
            words = Path(f"/proc/{entry}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if state != "Z":
            found[int(entry)] = (int(parent), words)
    family = {pid} & set(found)
    while more := {other for other, (parent, _) in found.items() if parent in family} - family:
        family |= more
    return {member: found[member][1] for member in family}


def num_stored(folder):
    try:
        database = sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)
        try:
            return database.execute("SELECT COUNT(*) FROM groups").fetchone()[0]
        finally:
            database.close()
    except sqlite3.OperationalError:
        return 0


def wait_for(condition, seconds=60.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.01)


def kills_command(decks):
    return command(
        *("--agents", "sometimes.py:Bot?share=0.002,random,sometimes.py:Bot?share=0", "--decks", decks),
        *("--workers", 2, "--out", "run", "--max-faults", 15, "--hands", "all", "--seed", 1),
    )


MARKS = {"worker": "multiprocessing.spawn", "agent": "contestants.process"}


def kill_at_random(folder, decks, victim, kills):
    """Kill the runner, workers or contestants at random moments, and go on after each; return how often."""
    moments = random.Random(victim)
    done = 0
    while done < kills:
        before = num_stored(folder / "run")
        process = subprocess.Popen(
            kills_command(decks), cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            wait_for(
                lambda before=before, process=process: num_stored(folder / "run") > before or process.poll() is not None
            )
            while done < kills and process.poll() is None:
                time.sleep(moments.random())
                family = family_of(process.pid)
                targets = [
                    pid
                    for pid, words in family.items()
                    if victim == "runner" and pid == process.pid or victim != "runner" and MARKS[victim] in words
                ]
                if targets:
                    os.kill(moments.choice(sorted(targets)), signal.SIGKILL)
                    done += 1
                if victim != "agent":
                    break
            assert b"Traceback" not in process.communicate(timeout=120)[1]
            assert process.returncode in {"runner": (-9, 0, 3), "worker": (1, 0, 3), "agent": (0, 3)}[victim]
            wait_for(lambda family=family: not any(family_of(pid) for pid in family), seconds=5.0)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()
        if process.returncode in (0, 3):
            break
    return done


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return a function that gives the results, and the hands, of the run that is to be disturbed."""
    played = {}

    def results(decks):
        if decks not in played:
            folder = tmp_path_factory.mktemp("undisturbed")
            (folder / "sometimes.py").write_text(SOMETIMES)
            subprocess.run(kills_command(decks), cwd=folder, capture_output=True)
            played[decks] = timeless(folder / "run"), list(stored_hands(folder / "run"))
        return played[decks]

    return results


def check_kills(folder, undisturbed, decks, victim, kills):
    (folder / "sometimes.py").write_text(SOMETIMES)
    assert kill_at_random(folder, decks, victim, kills) == kills
    subprocess.run(kills_command(decks), cwd=folder, capture_output=True)
    results, hands = undisturbed(decks)
    assert results["agents"][0]["faults"] > 0
    assert timeless(folder / "run") == results
    assert list(stored_hands(folder / "run")) == hands


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")


@needs_proc
@pytest.mark.parametrize("victim", ["runner", "worker", "agent"])
def test_kills_change_nothing(tmp_path, undisturbed, victim):
    check_kills(tmp_path, undisturbed, 250, victim, 2 if victim == "agent" else 1)


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("victim", ["runner", "worker", "agent"])
def test_twenty_kills_change_nothing(tmp_path, undisturbed, victim):
    check_kills(tmp_path, undisturbed, 4000, victim, 20)


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
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    captured = capsys.readouterr()
    assert "exception 4" in captured.err and "half a pair: ?" in captured.err
    store = RunStore.reading(tmp_path / "run")
    assert "half a pair: ?, nothing: \x00" in store.first_faults()[0]
    store.close()


def test_who_saw_a_deck_before_an_agent_was_retired_sees_another_behind_it(tmp_path, sometimes):
    config = TournamentConfig(agents=(f"{sometimes}?share=1", "tag"), decks=8, max_faults=3, seed=7, score="duplicate")
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        play_run(config, store, Conduct())
        ledger = FaultLedger(config.max_faults, store.faults())
        _, _, last = ledger.retirement(0)
        assert last < 7
        with contextlib.closing(BlockPlayer(config, Conduct(), store.streams())) as player:
            decks = [
                [hand.deck.tobytes() for hand, _ in player.replay((0, last + 1), retired)[1]]
                for retired in (frozenset(), frozenset({0}))
            ]
    assert not set(decks[0]) & set(decks[1])
    # The report plays each group as it was played, also behind a retirement within a block.
    record = read_run(tmp_path / "run", "A")
    with contextlib.closing(RunStore.reading(tmp_path / "run")) as store:
        replays = list(replay_groups(record, store, [(0, deck) for deck in range(last + 1, 8)]))
    assert len(replays) == 7 - last and all(replay.stories for replay in replays)
