"""`plurispiel abstraction`: what it prints, what it refuses, and that it ends well."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from plurispiel.abstraction.cards import flops
from plurispiel.abstraction.cards.buckets import FORMAT_VERSION, KIND
from plurispiel.abstraction.cards.config import StreetConfig
from plurispiel.abstraction.cards.flops import FlopConfig
from plurispiel.abstraction.machine.artefact import load_artefact
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import abstraction

pytestmark = pytest.mark.xdist_group("buckets")


def run(capsys, *arguments):
    code = main(["abstraction", *arguments])
    done = capsys.readouterr()
    return code, done.out, done.err


@pytest.fixture(autouse=True)
def caches(home, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(home.parent / "cache"))


@pytest.fixture
def named_table(home, bucket_table_folder):
    folder = home / "abstractions" / "mine"
    folder.parent.mkdir(parents=True)
    os.symlink(bucket_table_folder, folder)
    return folder


def test_info_tells_what_the_table_holds(named_table, capsys):
    code, out, _ = run(capsys, "info", "mine", "--examples", "3")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("smallest, seed 1")
    assert [line.split()[:2] for line in lines[3:7]] == [
        ["preflop", "169"],
        ["flop", "12"],
        ["turn", "20"],
        ["river", "9"],
    ]
    assert sum(" on " in line for line in lines) == 9
    code, out, _ = run(capsys, "info", str(named_table), "--json")
    record = json.loads(out)
    assert code == 0 and record["digest"] == load_artefact(named_table, KIND, FORMAT_VERSION).digest
    for street, number in (("flop", 12), ("turn", 20), ("river", 9)):
        found = record["streets"][street]
        assert found["buckets"] == found["used"] == len(found["sizes"]) == len(found["examples"]) == number
        assert 0 < found["mean_distance"] < 0.5 and 0 < found["explained"] < 1


@pytest.mark.slow
def test_pictures(named_table, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, err = run(capsys, "info", "mine", "--plot", str(tmp_path / "pictures"), "--flop", "AsKd7c")
    assert code == 0 and err.count("drawn in") == 3
    names = {"sizes.png", "equity.png", "flop-AsKd7c.png"}
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == names


def test_no_pictures_without_matplotlib(named_table, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run(capsys, "info", "mine", "--plot", str(tmp_path / "pictures"))
    assert (code, out) == run(capsys, "info", "mine")[:2]
    assert err == 'no picture: pictures need matplotlib: pip install "plurispiel[plot]"\n'


def test_building_what_is_there_already_says_so(tmp_path, bucket_table_folder, capsys, monkeypatch):
    config = tmp_path / "smallest.toml"
    config.write_text(
        'fit_points = 20000\nrounds = 3\n[flop]\nbuckets = 12\nfeatures = "histogram"\ndistance = "cramer"\n'
        '[turn]\nbuckets = 20\nfeatures = "histogram"\n[river]\nbuckets = 9\nfeatures = "ehs"\n'
    )
    monkeypatch.setattr(abstraction, "warmup", lambda modules: None)
    code, out, err = run(capsys, "build", str(config), "--out", str(bucket_table_folder))
    assert code == 0 and "already exists" in err and "flop         12" in out
    code, _, err = run(capsys, "build", str(config), "--out", str(bucket_table_folder), "--seed", "2")
    assert code == 4 and "with other settings" in err and err.count("\n") == 1


def test_one_flop_is_built_once(capsys, monkeypatch):
    few = FlopConfig("flop-500", StreetConfig(30, "histogram"), StreetConfig(40, "ochs"), fit_points=2000, rounds=2)
    monkeypatch.setattr(flops.flop_buckets, "__defaults__", (few,))
    monkeypatch.setattr(flops.is_kept, "__defaults__", (few,))
    monkeypatch.setattr(abstraction, "warmup", lambda modules: None)
    code, out, err = run(capsys, "build", "flop-500", "--flop", "QsJh2h")
    assert code == 0 and out.startswith("QsJh2h: 30 buckets on the turn, 40 on the river, built in") and "MiB" in err
    code, out, _ = run(capsys, "build", "flop-500", "--flop", "Qs Jh 2h", "--json")
    record = json.loads(out)
    assert code == 0 and record["built"] == 0 and record["buckets"] == {"turn": 30, "river": 40}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "slumbot"], "an abstraction is a preset"),
        (["build", "none.toml"], "cannot read none.toml: No such file"),
        (["build", "small", "--threads", "0"], "threads are 1 to 1,024, got 0"),
        (["build", "small", "--seed", "-1"], "seed is a whole number"),
        (["build", "small", "--flop", "QsJh2h"], "are for flop-500"),
        (["build", "small", "--flop", ""], "are for flop-500"),
        (["build", "flop-500"], "--flop QsJh2h, or for every flop, --all"),
        (["build", "flop-500", "--flop", "QsJh"], "a flop has three cards"),
        (["build", "flop-500", "--flop", ""], "a flop has three cards"),
        (["build", "flop-500", "--flop", "QsQsJh"], "a card appears twice"),
        (["build", "flop-500", "--flop", "QsJh2h", "--out", "x"], "kept in the cache"),
        (["build", "flop-500", "--flop", "QsJh2h", "--seed", "0"], "has the seed 1"),
        (["info", "small", "--examples", "-1"], "examples must not be negative, got -1"),
        (["info", "small"], "abstraction build small makes it"),
        (["info", "."], "is neither the folder nor the name of a bucket table"),
        ([], "build or info"),
    ],
)
def test_bad_arguments_are_one_line(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert code == 2 and not out
    assert message in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[flop]\nbuckets = 5\nfeatures = "ehs"', "[turn] is missing"),
        ('flop = {buckets = 0, features = "ehs"}\nturn = {}\nriver = {}', "1 to 5000 buckets, got 0"),
        ('flop = {buckets = 5, features = "ochs"}\nturn = {}\nriver = {}', "needs the setting buckets"),
        ('[flop]\nbuckets = 5\nfeatures = "ehs"\ncolour = 1\n[turn]\n[river]', "got 'colour'"),
        ("[flop\n", "line 1"),
    ],
)
def test_bad_settings_name_the_file(tmp_path, capsys, text, message):
    config = tmp_path / "mine.toml"
    config.write_text(text)
    code, _, err = run(capsys, "build", str(config))
    assert code == 2 and message in err and "mine.toml" in err and err.count("\n") == 1


def test_a_damaged_table_is_refused(named_table, bucket_table_folder, tmp_path, capsys):
    copy = tmp_path / "copy"
    shutil.copytree(bucket_table_folder, copy)
    with open(copy / "turn.npy", "r+b") as file:
        file.truncate(1000)
    code, _, err = run(capsys, "info", str(copy))
    assert code == 4 and "has 1,000 bytes instead of" in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_killed_build_goes_on_to_the_same_table(tmp_path):
    """Killed in each of its streets; an interrupt in the last says how to go on."""
    environment = os.environ | {"PLURISPIEL_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "plurispiel", "abstraction", "build", "small", "--json"]
    stages = tmp_path / "home" / "abstractions" / ".small.stages"
    for waited_for, number in (("river", signal.SIGKILL), ("turn", signal.SIGINT)):
        process = subprocess.Popen(
            command,
            env=environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while not (stages / waited_for / "manifest.json").exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == (130 if number == signal.SIGINT else -number)
        assert "Traceback" not in err and ("the same command resumes" in err) == (number == signal.SIGINT)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    whole = subprocess.run(
        [*command, "--out", str(tmp_path / "whole"), "--threads", "1"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "resuming" in done.stderr and "resuming" not in whole.stderr
    assert json.loads(done.stdout)["digest"] == json.loads(whole.stdout)["digest"]
