"""`plurispiel blueprint`: what it prints, what it refuses, and that nothing is lost."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from plurispiel.agents.blueprint.blueprint import FOLDER, load_blueprint
from plurispiel.agents.blueprint.run import CHECKPOINTS, checkpoint_folders
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import blueprint as command

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def run(capsys, *arguments):
    code = main(["blueprint", *map(str, arguments)])
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "blueprints"


def test_train_resume_and_info(home, capsys):
    code, out, err = run(capsys, "train", "leduc", "--iterations", 3000, "--threads", 1, "--marks", 3)
    assert code == 0 and "85 nodes" in err and "18 different hands" in err
    assert "3,000 iterations" in out and "against the final" in out
    lines = (home / "leduc" / "marks.csv").read_text().splitlines()
    assert len(lines) == 4 and lines[0].startswith("iteration,nodes,seconds") and lines[3].startswith("3000,")
    code, _, err = run(capsys, "train", "leduc")
    assert code == 2 and "holds a training run; go on with it by resume" in err
    code, out, _ = run(capsys, "resume", "leduc", "--iterations", 4000, "--threads", 1, "--json")
    record = json.loads(out)
    assert code == 0 and record["training"]["iterations"] == 4000 and len(record["training"]["marks"]) == 4
    code, out, _ = run(capsys, "info", "leduc", "--json")
    assert code == 0 and json.loads(out) == record
    assert record["rows"] == [18, 540] and record["buckets"] == [3, 18] and record["config"]["game"] == "leduc"
    assert set(record) == {
        *("folder", "name", "digest", "config", "nodes", "buckets", "rows", "rows_learnt", "training", "first_in"),
    }


def test_a_file_of_settings(home, tmp_path, capsys):
    path = tmp_path / "mine.toml"
    path.write_text('seats = 2\nstack_bb = 4\niterations = 2000\n[menu]\npreflop = ["allin"]\npush_or_fold = true\n')
    code, out, err = run(capsys, "train", path, "--threads", 1, "--marks", 1, "--seed", 7)
    assert code == 0 and "mine: 2,000 iterations, seed 7, 1 thread" in err
    assert "\nflop" not in out and load_blueprint(home / "mine" / FOLDER).config.seed == 7
    code, out, _ = run(capsys, "info", "mine", "--json")
    hands = json.loads(out)["first_in"]["SB"]
    assert code == 0 and len(hands) == 169 and hands["AA"]["raise"] > 0.9 and hands["AA"]["call"] == 0.0
    code, out, _ = run(capsys, "info", "mine")
    assert code == 0 and "SB: raises" in out and len(out[out.index("SB: raises") :].splitlines()) == 15
    packed = tmp_path / "mine.blueprint"
    code, out, _ = run(capsys, "pack", "mine", "--out", packed, "--least", 0, "--json")
    assert code == 0 and json.loads(out)["bytes"] == packed.stat().st_size
    code, again, _ = run(capsys, "info", packed, "--json")
    assert code == 0 and json.loads(again)["first_in"]["SB"]["AA"]["raise"] > 0.9
    code, _, err = run(capsys, "pack", "mine", "--out", tmp_path / "mine.zip")
    assert code == 2 and "is a .blueprint file" in err


def test_minutes_set_the_number_of_iterations(home, capsys, monkeypatch):
    monkeypatch.setattr(command, "_CALIBRATION_S", 0.2)
    begin = time.monotonic()
    code, out, err = run(capsys, "train", "kuhn3", "--minutes", 0.02, "--threads", 1, "--json")
    assert code == 0 and json.loads(out)["training"]["iterations"] > 1000
    assert time.monotonic() - begin < 60


def test_a_warm_start(home, capsys):
    assert run(capsys, "train", "kuhn3", "--iterations", 2000, "--out", home / "first")[0] == 0
    code, _, _ = run(capsys, "train", "kuhn3", "--iterations", 100, "--from", home / "first", "--out", home / "second")
    assert code == 0 and load_blueprint(home / "second" / FOLDER).training["iterations"] == 100
    code, _, err = run(capsys, "train", "leduc", "--from", home / "first", "--out", home / "third")
    assert code == 2 and "other betting" in err and not (home / "third").exists()


def test_what_does_not_fit_is_refused(home, capsys, monkeypatch):
    monkeypatch.setattr(command, "available_bytes", lambda: 1e9)
    monkeypatch.setattr(command, "_CALIBRATION_S", 0.2)
    code, _, err = run(capsys, "train", "sixmax")
    last = err.splitlines()[-1]
    assert code == 2 and "GiB of regrets" in err and "may need" in last and "--force" in last and " hours " in last


def test_bad_input_is_refused_in_one_line(home, capsys, tmp_path):
    for arguments, message in (
        ((), "say what to do"),
        (("train", "nothing"), "a blueprint is a preset (headsup,"),
        (("train", tmp_path / "none.toml"), "cannot be read"),
        (("train", "leduc", "--threads", 0), "threads are 1 to 1,024"),
        (("train", "leduc", "--minutes", -1), "minutes are 0 to"),
        (("train", "leduc", "--minutes", 1, "--iterations", 5), "not both"),
        (("train", "leduc", "--iterations", 0), "iterations are 1 to"),
        (("train", "leduc", "--marks", 0), "marks"),
        (("train", "leduc", "--checkpoint-minutes", 0), "checkpoint-minutes must be positive"),
        (("train", "headsup", "--cards", "none"), "no folder of a bucket table"),
        (("train", "leduc", "--cards", "lossless", "--from", "none"), "no folder of a blueprint"),
        (("resume", "none"), "holds no training run"),
        (("info", "none"), "no folder of a blueprint"),
    ):
        code, out, err = run(capsys, *arguments)
        assert code == 2 and message in err.splitlines()[-1] and not out, arguments


def test_a_damaged_blueprint_is_refused(home, capsys):
    run(capsys, "train", "kuhn3", "--iterations", 100, "--marks", 1)
    rows = home / "kuhn3" / FOLDER / "rows.npy"
    rows.write_bytes(rows.read_bytes()[:-1])
    code, _, err = run(capsys, "info", "kuhn3")
    assert code == 4 and "rows.npy has" in err and err.count("\n") == 1
    for path in checkpoint_folders(home / "kuhn3"):
        (path / "regrets.npy").write_bytes(b"")
    code, _, err = run(capsys, "resume", "kuhn3")
    assert code == 4 and "regrets.npy" in err and err.count("\n") == 1


TRAIN = [
    "train",
    "leduc",
    "--iterations",
    "1500000",
    "--threads",
    "1",
    "--marks",
    "2",
    "--checkpoint-minutes",
    "0.0001",
]


def start(folder, *arguments, limit=None):
    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests may run where it is ignored
        if limit is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    words = [sys.executable, "-m", "plurispiel", "blueprint", *arguments]
    return subprocess.Popen(
        words, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=prepare
    )


def wait_for_checkpoint(run_folder, process):
    while not checkpoint_folders(run_folder):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def end_all(folder, whole):
    """Go on to the end, and compare with a run that was never disturbed."""
    process = start(folder, "resume", "run", "--threads", "1", "--checkpoint-minutes", "0.001")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    first, second = (load_blueprint(path / FOLDER) for path in (whole, folder / "run"))
    assert np.array_equal(first.rows, second.rows) and first.training["nodes"] == second.training["nodes"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    process = start(folder, *TRAIN, "--out", "run")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return folder / "run"


def is_writing(run_folder):
    return any(path.name.startswith(".") for path in (run_folder / CHECKPOINTS).iterdir())


def kill_at_random(folder, kills, rng):
    """Kill a run so often, if it does not end before: every second time while it writes a checkpoint.

    Returns how often it was killed, and how often while it wrote.
    """
    run_folder = folder / "run"
    process = start(folder, *TRAIN, "--out", "run")
    wait_for_checkpoint(run_folder, process)
    done, while_writing = 0, 0
    for number in range(kills):
        newest = checkpoint_folders(run_folder)[0]
        while process.poll() is None and checkpoint_folders(run_folder)[0] == newest and not is_writing(run_folder):
            time.sleep(0.001)
        if number % 2:
            time.sleep(rng.uniform(0.0, 0.3))
        if process.poll() is not None:
            break
        process.kill()
        done += 1
        while_writing += is_writing(run_folder)
        process.communicate()
        process = start(folder, "resume", "run", "--threads", "1", "--checkpoint-minutes", "0.0001")
    process.kill()
    process.communicate()
    return done, while_writing


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path, undisturbed):
    assert kill_at_random(tmp_path, 2, random.Random(1))[0] > 0
    end_all(tmp_path, undisturbed)


@pytest.mark.slow
def test_twenty_kills_lose_nothing(tmp_path, undisturbed):
    kills, while_writing, rng = 0, 0, random.Random(2)
    while kills < 20:
        folder = tmp_path / str(kills)
        folder.mkdir()
        found = kill_at_random(folder, 5, rng)
        end_all(folder, undisturbed)
        kills, while_writing = kills + found[0], while_writing + found[1]
    assert while_writing > 0


def test_ctrl_c_keeps_and_says_how_to_go_on(tmp_path, undisturbed):
    process = start(tmp_path, *TRAIN, "--out", "run")
    wait_for_checkpoint(tmp_path / "run", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in err
    assert f"plurispiel blueprint resume {tmp_path / 'run'}" in err.splitlines()[-1]
    end_all(tmp_path, undisturbed)


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, undisturbed):
    process = start(tmp_path, *TRAIN, "--out", "run")
    wait_for_checkpoint(tmp_path / "run", process)
    process.kill()
    process.communicate()
    before = checkpoint_folders(tmp_path / "run")
    process = start(tmp_path, "resume", "run", "--threads", "1", "--checkpoint-minutes", "0.0001", limit=4_000)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in err and "cannot be written" in err.splitlines()[-1]
    assert checkpoint_folders(tmp_path / "run") == before
    assert not [path for path in (tmp_path / "run" / CHECKPOINTS).iterdir() if path.name.startswith(".")]
    end_all(tmp_path, undisturbed)
    shutil.rmtree(tmp_path / "run")
