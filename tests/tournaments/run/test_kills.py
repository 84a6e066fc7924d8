"""Runs whose processes are killed at any moment end with the same results."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from faulty_run import SOMETIMES, command, timeless
from played_run import num_stored

from plurispiel.tournaments.run.kept_hands import stored_hands

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late


def family_of(pid):
    """Return a process and all that it has started, directly or not, with their parents and command lines."""
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
    return {member: found[member] for member in family}


def wait_for(condition, seconds=60.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not happen in time"
        time.sleep(0.01)


def kills_command(decks, workers=2):
    return command(
        *("--agents", "sometimes.py:Bot?share=0.01,random,sometimes.py:Bot?share=0", "--decks", decks),
        *(
            "--workers",
            workers,
            "--processes",
            "one",
            "--out",
            "run",
            "--max-faults",
            15,
            "--hands",
            "all",
            "--seed",
            1,
        ),
    )


def victims(family, runner, kind):
    """Return the processes of a kind in the family of a runner; its other children than agents are its workers."""
    agents = {pid for pid, (_, words) in family.items() if "contestants.process" in words}
    workers = {pid for pid, (parent, _) in family.items() if parent == runner} - agents
    return {"runner": family.keys() & {runner}, "worker": workers, "agent": agents}[kind]


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
                targets = victims(family, process.pid, victim)
                if targets:
                    os.kill(moments.choice(sorted(targets)), signal.SIGKILL)
                    done += 1
                if victim != "agent":
                    break
            assert b"Traceback" not in process.communicate(timeout=600)[1]
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
            subprocess.run(kills_command(decks, workers=1), cwd=folder, capture_output=True)
            played[decks] = timeless(folder / "run"), list(stored_hands(folder / "run"))
        return played[decks]

    return results


def check_kills(folder, undisturbed, decks, victim, kills):
    (folder / "sometimes.py").write_text(SOMETIMES)
    assert kill_at_random(folder, decks, victim, kills) == kills
    subprocess.run(kills_command(decks, workers=1), cwd=folder, capture_output=True)
    results, hands = undisturbed(decks)
    assert results["agents"][0]["faults"] > 0
    assert timeless(folder / "run") == results
    assert list(stored_hands(folder / "run")) == hands


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")


@needs_proc
@pytest.mark.slow  # test_runner.py kills a runner, contestants/test_supervisor.py agents
@pytest.mark.parametrize("victim", ["runner", "worker", "agent"])
def test_kills_change_nothing(tmp_path, undisturbed, victim):
    check_kills(tmp_path, undisturbed, 60, victim, 2 if victim == "agent" else 1)


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("victim", ["runner", "worker", "agent"])
def test_twenty_kills_change_nothing(tmp_path, undisturbed, victim):
    check_kills(tmp_path, undisturbed, 4000, victim, 20)
