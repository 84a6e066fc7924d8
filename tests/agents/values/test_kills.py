"""Processes that sample and train are killed at any moment: the data and the network are those of one go."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills processes"),
]

KILLS = 20
OFTEN = """
import os
import sys
from plurispiel.agents.values import data_set, training_run
from plurispiel.tournaments.cli import main

data_set.SHARD = 20
training_run.train.__kwdefaults__["seconds"] = 0.0
os.fsync = lambda handle: None
sys.exit(main(sys.argv[1:]))
"""
"""The program, with shards of 20 situations and a checkpoint after each epoch.

Other processes, which would solve with more than one worker, would not know of these shards. What a killed process has
written stays, even without waiting for the disk.
"""

SAMPLE = ["sample", "leduc", "--situations", "1500", "--unseen", "40", "--workers", "1", "--out", "data"]
TRAIN = ["train", "data", "--epochs", "300", "--width", "32", "--batch", "100", "--out", "net"]


def start(folder, words):
    command = [sys.executable, "-c", OFTEN, "values", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def written(folder):
    """Return the files of a folder, unfinished ones too, and when each was written."""
    found = set()
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                found.add((place, name, os.stat(os.path.join(place, name)).st_mtime_ns))
            except OSError:
                continue
    return found


def killed(folder, words):
    """Kill a command 20 times, and let it end; return the number of kills of a process that was at work.

    One kill in four comes at any moment after the start, and the others soon after a file was written.
    """
    moments, done = random.Random(words[0]), 0
    for number in range(KILLS):
        before, process = written(folder), start(folder, words)
        try:
            if number % 4 == 0:
                time.sleep(2.0 * moments.random())
            else:
                while written(folder) == before and process.poll() is None:
                    time.sleep(0.002)
                time.sleep(0.06 * moments.random())
        finally:
            process.kill()
        error = process.communicate()[1]
        assert b"Traceback" not in error, error
        done += process.returncode == -signal.SIGKILL
    end(folder, words)
    return done


def end(folder, words):
    process = start(folder, words)
    error = process.communicate()[1]
    assert process.returncode == 0, error


def arrays(folder):
    """Return the content of all arrays, without what a process left behind that was killed while writing."""
    found = {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*.npy")
        if not path.parent.name.startswith(".")
    }
    assert found
    return found


@pytest.mark.slow  # test_data_set.py and test_net_file.py interrupt sampling and training in one process
def test_twenty_kills_change_nothing(tmp_path):
    for name in ("straight", "killed"):
        (tmp_path / name).mkdir()
    for words, out in ((SAMPLE, "data"), (TRAIN, "net")):
        end(tmp_path / "straight", words)
        assert killed(tmp_path / "killed", words) == KILLS
        assert arrays(tmp_path / "killed" / out) == arrays(tmp_path / "straight" / out)
    assert not (tmp_path / "killed" / ".net.training").exists()
