"""Hands of a run for the viewer, as the pages ask for them."""

import json
import subprocess
import sys

import pytest
from played_run import play

from plurispiel.tournaments.formats.game_definition import parse_game_definition
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.web.run_hands import run_hands


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return play(tmp_path_factory.mktemp("runs") / "match", agents=("tag", "call"), seats=2, decks=9)


def test_a_named_hand_is_shown_first(folder):
    for name in ("0.7.1", "A.0.7.1"):
        data = run_hands(folder, name)["data"]
        hand, step = data["opening"]
        assert data["hands"][hand]["name"] == "A.0.7.1" and step == 0
        assert parse_game_definition(data["games"]["A"]) == read_run(folder, "A").config.rules


def test_hands_that_do_not_exist_are_named(folder):
    for name, words in (("0.99.0", "holds no hand A.0.99.0"), ("B.0.0.0", "B.0.0.0"), ("hello", "a hand is named")):
        with pytest.raises(ValueError, match=words):
            run_hands(folder, name)


def test_the_process_prints_json_or_the_reason(folder):
    command = [sys.executable, "-m", "plurispiel.tournaments.web.run_hands"]
    done = subprocess.run([*command, "--hand=0.99.0", str(folder)], capture_output=True, text=True)
    assert done.returncode == 1 and "holds no hand" in done.stderr and "Traceback" not in done.stderr
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)["data"]["hands"]) == 12
