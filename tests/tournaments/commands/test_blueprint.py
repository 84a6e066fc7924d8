"""`plurispiel blueprint`: what it prints, what it refuses, and that nothing is lost."""

import contextlib
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
from random_blueprint import pack_random

from plurispiel.agents.blueprint import library, marks
from plurispiel.agents.blueprint import run as training_run
from plurispiel.agents.blueprint.blueprint import CHECKPOINTS, FOLDER, load_blueprint
from plurispiel.agents.blueprint.run import checkpoint_folders
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import blueprint as command
from plurispiel.tournaments.run.folder_lock import locked

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def run(capsys, *arguments):
    code = main(["blueprint", *map(str, arguments)])
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.fixture
def blueprints(home, monkeypatch):
    """The folder of trained blueprints, whose marks play short matches."""
    monkeypatch.setattr(marks, "MATCH_DECKS", 1_000)
    monkeypatch.setattr(training_run, "_FINAL_DECKS", 1_000)
    return home / "blueprints"


def test_train_resume_and_info(blueprints, capsys):
    code, out, err = run(capsys, "train", "leduc", "--iterations", 3000, "--threads", 1, "--marks", 3)
    assert code == 0 and "85 nodes" in err and "18 different hands" in err
    assert "3,000 iterations" in out and "against the final" in out
    lines = (blueprints / "leduc" / "marks.csv").read_text().splitlines()
    assert len(lines) == 4 and lines[0].startswith("iteration,nodes,seconds") and lines[3].startswith("3000,")
    code, _, err = run(capsys, "train", "leduc")
    assert code == 2 and "holds a training run; continue it with resume" in err
    code, _, err = run(capsys, "train", "leduc", "--cards", "pluribus", "--out", blueprints / "other")
    assert code == 2 and err == "plurispiel blueprint: a bucket table is for hold'em with 52 cards; take lossless " + (
        "buckets for this game\n"
    )
    code, _, err = run(capsys, "info", "/")
    assert code == 2 and "'/' is neither a folder nor the name of a blueprint" in err
    code, _, err = run(capsys, "info", 5000 * "a")
    assert code == 1 and "File name too long: " in err and "[" not in err and len(err) < 300
    code, out, _ = run(capsys, "resume", "leduc", "--iterations", 4000, "--threads", 1, "--json")
    record = json.loads(out)
    assert code == 0 and record["training"]["iterations"] == 4000 and len(record["training"]["marks"]) == 4
    code, out, _ = run(capsys, "info", "leduc", "--json")
    assert code == 0 and json.loads(out) == record
    assert record["rows"] == [18, 540] and record["buckets"] == [3, 18] and record["config"]["game"] == "leduc"
    assert set(record) == {
        *("folder", "packed", "name", "digest", "config", "nodes", "buckets", "rows", "rows_learnt"),
        *("packed_bytes", "bytes", "memory_bytes", "training", "first_in"),
    }
    assert record["packed"] is None and record["packed_bytes"] is None and record["bytes"] > sum(record["rows"])
    training, marks = record["training"], record["training"]["marks"]
    assert training["core_hours"] == pytest.approx(training["seconds"] / 3600)
    assert training["last_doubling_mbb"] == -marks[1]["against_final"]
    assert training["last_doubling_from"] == marks[1]["iteration"] == 2000
    assert training["last_doubling_ci95"] == pytest.approx(1.96 * marks[1]["against_final_deviation"])


def test_one_process_trains_in_a_folder(blueprints, capsys):
    """Before its first checkpoint, too: two runs would mix their checkpoints."""
    pytest.importorskip("fcntl")
    folder = blueprints / "leduc"
    train = ("train", "leduc", "--iterations", 100, "--threads", 1, "--marks", 1)
    refusal = f"plurispiel blueprint: another process writes {folder}; wait for it, or end it\n"
    with locked(folder):
        code, _, err = run(capsys, *train)
        assert code == 2 and err.endswith(refusal) and not any(folder.iterdir())
    assert run(capsys, *train)[0] == 0
    with locked(folder):
        assert run(capsys, "resume", "leduc") == (2, "", refusal)
    assert run(capsys, "resume", "leduc", "--minutes", 0)[0] == 0


def test_a_run_without_a_blueprint_is_told(blueprints, capsys):
    (blueprints / "leduc" / CHECKPOINTS).mkdir(parents=True)
    told = f"plurispiel blueprint: {blueprints / 'leduc'} is a training run without a blueprint, "
    for name in ("leduc", blueprints / "leduc"):
        code, out, err = run(capsys, "info", name)
        assert code == 2 and not out and err.startswith(told) and "--minutes 0" in err and err.count("\n") == 1


def test_public_chance_sampling(blueprints, tmp_path, monkeypatch, capsys):
    path = tmp_path / "mine.toml"
    path.write_text("game = 'leduc'\nalgorithm = 'public'\niterations = 4\n")
    code, out, err = run(capsys, "train", path, "--threads", 1, "--marks", 2)
    assert code == 0 and "mine: 4 iterations, seed 1, 1 thread" in err and "4 iterations, 680 nodes met" in out
    code, out, _ = run(capsys, "resume", "mine", "--iterations", 8, "--threads", 1, "--json")
    record = json.loads(out)
    assert code == 0 and record["training"]["iterations"] == 8 and record["config"]["algorithm"] == "public"
    again = ("train", path, "--from", "mine", "--marks", 1)
    code, out, _ = run(capsys, *again, "--out", tmp_path / "second")
    digest = record["digest"][:16]
    assert code == 0 and f"started from {digest} (8 iterations) with the weight of 3,000 boards; 0.00 core-hours" in out
    code, out, _ = run(capsys, *again, "--weight", 7, "--out", tmp_path / "third", "--json")
    start = json.loads(out)["training"]["start"]
    assert (
        code == 0 and start["digest"] == record["digest"] and start["weight_boards"] == 7 and "weight_bb" not in start
    )
    code, _, err = run(capsys, *again, "--weight", 2e9, "--out", tmp_path / "fourth")
    assert code == 2 and err.endswith("the weight must be 0 to 100,000 boards, got 2e+09\n")
    monkeypatch.setattr(command, "available_bytes", lambda: 1e4)
    code, _, err = run(capsys, "train", path, "--out", tmp_path / "other")
    assert code == 2 and "or --force" in err and " hours " not in err


def test_what_a_device_needs_is_told(blueprints, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    code, _, err = run(capsys, "train", "headsup-pushfold", "--device", "cuda")
    needed = "device cuda needs CuPy: pip install 'plurispiel[cuda]', or take device cpu"
    assert code == 2 and err == f"plurispiel blueprint: {needed}\n"
    path = tmp_path / "exact.toml"
    path.write_text("game = 'leduc'\nexact = true\niterations = 4\n")
    code, _, err = run(capsys, "train", path, "--device", "cuda")
    needed = "device cuda has regrets in whole chips only; take exact = false, or device cpu"
    assert code == 2 and err == f"plurispiel blueprint: {needed}\n"
    monkeypatch.delitem(sys.modules, "plurispiel.agents.blueprint._public_tables", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    path = tmp_path / "mine.toml"
    path.write_text("game = 'leduc'\nalgorithm = 'public'\niterations = 4\n")
    code, _, err = run(capsys, "train", path, "--device", "cuda")
    needed = "algorithm = 'public' on a GPU needs PyTorch: pip install 'plurispiel[train]'"
    assert code == 2 and err == f"plurispiel blueprint: {needed}\n"


def test_a_file_of_settings(blueprints, tmp_path, capsys, monkeypatch):
    path = tmp_path / "mine.toml"
    path.write_text('seats = 2\nstack_bb = 4\n[menu]\npreflop = ["allin"]\npush_or_fold = true\n')
    code, _, err = run(capsys, "train", path)
    assert code == 2 and "needs the setting iterations" in err
    code, out, err = run(capsys, "train", path, "--threads", 1, "--marks", 1, "--seed", 7, "--iterations", 2000)
    assert code == 0 and "mine: 2,000 iterations, seed 7, 1 thread" in err
    assert "\nflop" not in out and load_blueprint(blueprints / "mine" / FOLDER).config.seed == 7
    code, out, _ = run(capsys, "info", "mine", "--json")
    hands = json.loads(out)["first_in"]["BTN"]
    assert code == 0 and len(hands) == 169 and hands["AA"]["raise"] > 0.9 and hands["AA"]["call"] == 0.0
    code, out, _ = run(capsys, "info", "mine")
    assert code == 0 and "BTN: raises" in out and len(out[out.index("BTN: raises") :].splitlines()) == 15
    packed = tmp_path / "mine.blueprint"
    code, out, _ = run(capsys, "pack", "mine", "--out", packed, "--decks", 0, "--json")
    assert code == 0 and json.loads(out)["bytes"] == packed.stat().st_size
    for option, number, words in (
        ("--threads", 0, "threads are 1 to"),
        ("--decks", 10**11, "decks are 0 to 10,000,000"),
    ):
        code, _, err = run(capsys, "pack", "mine", "--out", tmp_path / "none.blueprint", option, number)
        assert code == 2 and words in err and not (tmp_path / "none.blueprint").exists()
    code, again, _ = run(capsys, "info", packed, "--json")
    record = json.loads(again)
    assert code == 0 and record["first_in"]["BTN"]["AA"]["raise"] > 0.9
    assert record["packed"] == str(packed) and record["packed_bytes"] == packed.stat().st_size
    code, _, err = run(capsys, "pack", "mine", "--out", tmp_path / "mine.zip")
    assert code == 2 and "is a .blueprint file" in err
    monkeypatch.setattr(command, "pack_blueprint", lambda *a, **k: pytest.fail("decks were counted"))
    code, _, err = run(capsys, "pack", "mine", "--out", packed / "mine.blueprint")
    assert code == 2 and err.endswith("Not a directory; give another file (--out)\n")
    (tmp_path / "letter.blueprint").write_text("dear")
    code, _, err = run(capsys, "pack", "mine", "--out", tmp_path / "letter.blueprint")
    assert code == 2 and "the file is of another kind, and would be lost; give another file (--out)" in err


@pytest.fixture
def bundled(blueprints, tmp_path, monkeypatch):
    """A bundled blueprint of six seats, with two marks."""
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library, "_BOTS", tmp_path)
    facts = dict(nodes=1, resident_mb=1.0, met=1.0, regret=1.0, drift=None, missing=0.0)
    facts |= dict(seat_values=[0.0] * 6, seat_deviations=[1.0] * 6)
    marks = [{"iteration": n, "seconds": 1.0, "against_final": f, "against_final_deviation": f and 2.0, **facts}
             for n, f in ((50, -12.5), (100, None))]  # fmt: skip
    training = {"iterations": 100, "nodes": 7, "seconds": 7200.0, "threads": 4, "marks": marks}
    return pack_random(tmp_path, "six", seats=6, stack_bb=12, training=training)


def test_info_of_a_bundled_one(bundled, capsys):
    code, out, err = run(capsys, "info", "six")
    assert code == 0 and not err and str(bundled) in out.splitlines()[0]
    for words in (
        "100 iterations, 7 nodes met, 2.00 hours on 4 thread(s): 8.00 core-hours; seed 1",
        "the last doubling of the iterations won +12.5 ± 3.9 mbb/hand from the blueprint of iteration 50",
        f"{bundled.stat().st_size / 1e6:,.1f} MB packed",
        "preflop  allin",
        "who faces a bet must raise or fold, unless no raise is legal",
    ):
        assert words in out
    grids = {line.partition(":")[0]: line for line in out.splitlines() if ": raises" in line}
    assert list(grids) == ["UTG", "HJ", "CO", "BTN", "SB"] and all("all-in" in line for line in grids.values())
    code, out, _ = run(capsys, "info", "six", "--json")
    record = json.loads(out)
    assert code == 0 and record["packed"] == str(bundled) and record["training"]["last_doubling_mbb"] == 12.5
    assert list(record["first_in"]) == list(grids)
    for seat, hands in record["first_in"].items():
        assert len(hands) == 169 and {"AA", "AKs", "AKo", "72o"} < set(hands)
        assert all(
            set(row) == {"fold", "call", "raise"} and abs(sum(row.values()) - 1) < 1e-6 for row in hands.values()
        )
        combos = {name: 6 if len(name) == 2 else 4 if name[2] == "s" else 12 for name in hands}
        raised = sum(combos[name] * row["raise"] for name, row in hands.items()) / 1326
        assert f"{seat}: raises {100 * raised:.1f} %" in grids[seat]


@pytest.mark.slow
def test_pictures(bundled, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    code, _, err = run(capsys, "info", "six", "--plot", tmp_path / "grids.png")
    assert code == 0 and err == f"drawn in {tmp_path / 'grids.png'}\ndrawn in {tmp_path / 'grids-training.png'}\n"
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in ("grids.png", "grids-training.png"))


def test_no_pictures_without_matplotlib_or_anything_to_draw(bundled, blueprints, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run(capsys, "info", "six", "--plot", tmp_path / "grids.png")
    assert (code, out) == run(capsys, "info", "six")[:2]
    assert err == 'no picture: pictures need matplotlib: pip install "plurispiel[plot]"\n'
    small = pack_random(tmp_path, "small", game="leduc")
    code, out, err = run(capsys, "info", small, "--plot", tmp_path / "grids.png")
    assert code == 2 and out and "nothing to draw" in err and err.count("\n") == 1


def test_a_folder_is_no_picture(bundled, capsys):
    pytest.importorskip("matplotlib")
    code, out, err = run(capsys, "info", "six", "--plot", ".")
    assert code == 2 and out and "cannot write .: it is no plain file" in err and err.count("\n") == 1


def test_minutes_set_the_number_of_iterations(blueprints, capsys, monkeypatch):
    monkeypatch.setattr(command, "_CALIBRATION_S", 0.2)
    begin = time.monotonic()
    code, out, err = run(capsys, "train", "kuhn3", "--minutes", 0.02, "--threads", 1, "--marks", 1, "--json")
    assert code == 0 and json.loads(out)["training"]["iterations"] > 1000
    assert time.monotonic() - begin < 60


def test_a_warm_start(blueprints, capsys):
    train = ("train", "kuhn3", "--marks", 1)
    assert run(capsys, *train, "--iterations", 2000, "--out", blueprints / "first")[0] == 0
    code, _, _ = run(
        capsys, *train, "--iterations", 100, "--from", blueprints / "first", "--out", blueprints / "second"
    )
    second, first = (load_blueprint(blueprints / name / FOLDER) for name in ("second", "first"))
    start, hours = second.training["start"], first.training["core_hours"]
    assert code == 0 and second.training["iterations"] == 100 and first.training["start"] is None
    assert start == {"digest": first.digest, "iterations": 2000, "core_hours": hours, "weight_bb": 1000.0}
    assert run(capsys, "resume", blueprints / "second", "--iterations", 150)[0] == 0
    code, out, _ = run(capsys, "info", blueprints / "second")
    assert (
        code == 0
        and f"started from {first.digest[:16]} (2,000 iterations) with the weight of 1,000 bb of regret; " in out
    )
    again = ("--from", blueprints / "first", "--out", blueprints / "third")
    code, _, err = run(capsys, *train, *again, "--weight", "nan")
    assert code == 2 and "the weight must be 0 to 1,000,000,000 big blinds, got nan" in err
    code, _, err = run(capsys, "train", "leduc", *again)
    assert code == 2 and "another game" in err and not (blueprints / "third").exists()


def test_what_does_not_fit_is_refused(blueprints, capsys, monkeypatch):
    monkeypatch.setattr(command, "available_bytes", lambda: 1e9)
    monkeypatch.setattr(command, "_CALIBRATION_S", 0.2)
    code, _, err = run(capsys, "train", "sixmax")
    last = err.splitlines()[-1]
    assert code == 2 and "GiB of regrets" in err and "may need" in last and "--force" in last and " hours " in last


def test_bad_input_is_refused_in_one_line(blueprints, capsys, tmp_path):
    for arguments, message in (
        ((), "give an action: train"),
        (("train", "nothing"), "a blueprint is a preset (headsup,"),
        (("train", tmp_path / "none.toml"), "none.toml: No such file"),
        (("train", "leduc", "--threads", 0), "threads are 1 to 1,024"),
        (("train", "leduc", "--minutes", -1), "minutes are 0 to"),
        (("train", "leduc", "--minutes", 1, "--iterations", 5), "not both"),
        (("train", "leduc", "--iterations", 0), "iterations are 1 to"),
        (("train", "leduc", "--marks", 0), "marks"),
        (("train", "leduc", "--weight", 5), "--weight is for a run that starts from a blueprint"),
        (
            ("train", "leduc", "--checkpoint-minutes", 0),
            "checkpoint-minutes must be above 0 and at most 1,000,000",
        ),
        (("train", "headsup", "--cards", "none"), "neither the folder nor the name of a bucket table"),
        (("train", "leduc", "--cards", "lossless", "--from", "none"), "neither a folder nor the name of a blueprint"),
        (("resume", "none"), "holds no training run"),
        (("info", "none"), "neither a folder nor the name of a blueprint"),
    ):
        code, out, err = run(capsys, *arguments)
        assert code == 2 and message in err.splitlines()[-1] and not out, arguments


def test_a_damaged_blueprint_is_refused(blueprints, capsys):
    run(capsys, "train", "kuhn3", "--iterations", 100, "--marks", 1)
    rows = blueprints / "kuhn3" / FOLDER / "rows.npy"
    rows.write_bytes(rows.read_bytes()[:-1])
    code, _, err = run(capsys, "info", "kuhn3")
    assert code == 4 and "rows.npy has" in err and err.count("\n") == 1
    for path in checkpoint_folders(blueprints / "kuhn3"):
        (path / "regrets.npy").write_bytes(b"")
    code, _, err = run(capsys, "resume", "kuhn3")
    assert code == 4 and "regrets.npy" in err and err.count("\n") == 1


TRAIN = [
    "train",
    "leduc",
    "--iterations",
    "600000",
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
    with contextlib.chdir(folder):
        assert main(["blueprint", "resume", "run", "--threads", "1", "--checkpoint-minutes", "0.001"]) == 0
    first, second = (load_blueprint(path / FOLDER) for path in (whole, folder / "run"))
    assert np.array_equal(first.rows, second.rows) and first.training["nodes"] == second.training["nodes"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    with contextlib.chdir(folder):
        assert main(["blueprint", *TRAIN[:-2], "--out", "run"]) == 0  # checkpoints cost more than training
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


@pytest.mark.slow  # test_a_full_disk_leaves_the_last_checkpoint kills a run, too
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


@pytest.mark.slow
def test_ctrl_c_keeps_and_says_how_to_go_on(tmp_path, undisturbed):
    process = start(tmp_path, *TRAIN, "--out", "run")
    wait_for_checkpoint(tmp_path / "run", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in err
    assert f"plurispiel blueprint resume {tmp_path / 'run'}" in err.splitlines()[-1]
    end_all(tmp_path, undisturbed)


@pytest.mark.slow
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


def test_a_match(blueprints, capsys):
    for name, iterations in (("few", 50), ("many", 20_000)):
        run(
            capsys,
            "train",
            "leduc",
            "--iterations",
            iterations,
            "--threads",
            1,
            "--marks",
            1,
            "--out",
            blueprints / name,
        )
    code, out, _ = run(capsys, "match", "many", "few", "--decks", 20_000, "--seed", 2, "--json")
    record = json.loads(out)
    assert code == 0 and record["agents"] == ["many", "few"] and record["seed"] == 2
    assert record["mbb_per_hand"] > 3 * record["ci95"] > 0 and list(record["seats"]) == ["BB", "BTN"]
    code, out, _ = run(capsys, "match", "few", "few", "--decks", 100)
    assert code == 0 and out.startswith(
        "few wins +0.0 ± 0.0 mbb/hand against few (100 decks, each once for each seat; seed 1)"
    )
    for given, error in (
        (("few", "few", "--decks", 1), "decks are 2 to 10,000,000,000, got 1"),
        (("few", "few", "--seed", -1), "seed is a whole number from 0, got -1"),
        (("few", "headsup-refined"), "for different games; a match needs the same seats, blinds and stacks"),
        (
            ("headsup-refined",) * 2,
            ": headsup-refined needs its bucket table first: plurispiel abstraction build fine",
        ),
    ):
        code, _, err = run(capsys, "match", *given)
        assert code == 2 and err.splitlines()[-1].endswith(error)
