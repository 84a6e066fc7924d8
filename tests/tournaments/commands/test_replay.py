"""`plurispiel replay`: files and folders, exit codes, and whatever mutation makes of a file."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.random_histories import random_histories, random_history

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.figures.replay_text import ReplayReport
from plurispiel.tournaments.formats.acpc import write_acpc
from plurispiel.tournaments.formats.files import hand_files, read_hands
from plurispiel.tournaments.formats.game_definition import BUILT_IN, game_definition_text
from plurispiel.tournaments.formats.phh import write_phh

HUNL_NAME = "holdem.nolimit.2p.reverse_blinds.game"
BAD_NAMES = ("<script>alert(1)</script>", '=cmd|"/c calc"!A0', "two\nlines\x1b[2J")


def histories(rules, count=5, names=None, seed=1):
    rng = np.random.default_rng(seed)
    return [random_history(rng, rules, str(label), names) for label in range(count)]


def acpc_text(hands, game=HUNL_NAME):
    stream = io.StringIO()
    stream.write(f"# name/game/hands/seed match {game} 10 0\n")
    write_acpc(stream, hands)
    return stream.getvalue()


def phh_text(hands):
    stream = io.StringIO()
    write_phh(stream, hands)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replay(capsys, *arguments, code=0):
    assert main(["replay", *arguments, "--json"]) == code
    captured = capsys.readouterr()
    assert "NaN" not in captured.out
    return json.loads(captured.out)


def test_files_and_folders_of_both_formats(folder, capsys):
    (folder / "logs" / "deep").mkdir(parents=True)
    (folder / "logs" / "a.log").write_text(acpc_text(histories(HUNL)))
    (folder / "logs" / "deep" / "b.PHHS").write_text(phh_text(random_histories(1, 7)))
    (folder / "logs" / "deep" / "c.phh").write_text(phh_text(histories(SIXMAX, 1)).replace("[1]\n", ""))
    (folder / "logs" / "notes.txt").write_text("no hands")
    (folder / "match").write_text(acpc_text(histories(BUILT_IN["kuhn.limit.3p.game"]), "kuhn.limit.3p.game"))
    record = replay(capsys, "logs", "match")
    assert set(record) == {"hands", "mismatches", "odd_chips", "errors", "players"}
    assert (record["hands"], record["mismatches"], record["errors"]) == (5 + 7 + 1 + 5, [], [])
    player = record["players"]["player 0"]
    assert set(player) == {"hands", "chips", "mbb_per_hand", "se", "stats"}
    assert set(player["stats"]) == {
        *("vpip", "pfr", "first_in_raise", "first_in_limp", "three_bet", "donk_bet", "showdown", "by_position")
    }
    assert sum(own["hands"] for own in record["players"].values()) == 5 * 2 + (2 + 3 + 4 + 5 + 6 + 2 + 3) + 6 + 5 * 3


def test_the_text(folder, capsys):
    hands = histories(HUNL, names=("Alice", "Bob"))
    (folder / "good.log").write_text(acpc_text(hands))
    assert main(["replay", "good.log"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].split() == ["player", "hands", "chips", "mbb/hand", "s.e."]
    assert lines[2].split()[:2] == ["Alice", "5"]
    assert lines[-1] == "5 hands of 1 file replayed: 0 mismatches, 0 with odd chips, 0 errors"
    assert captured.err == ""  # no progress worth a line


def test_a_mismatch_fails(folder, capsys):
    text = acpc_text(histories(HUNL)).splitlines()
    fields = text[2].split(":")
    fields[4] = "12345|-12345"
    text[2] = ":".join(fields)
    text[3] = text[3].replace("STATE:2:", "STATE:2:x")
    (folder / "bad.log").write_text("\n".join(text) + "\n")
    record = replay(capsys, "bad.log", code=1)
    assert record["hands"] == 4
    assert [(entry["file"], entry["hand"]) for entry in record["mismatches"]] == [("bad.log", "1")]
    assert [(entry["file"], entry["hand"]) for entry in record["errors"]] == [("bad.log", "2")]
    assert main(["replay", "bad.log"]) == 1
    out = capsys.readouterr().out
    assert "mismatches:\n  bad.log, hand 1: the file states the payoffs +12345 -12345; the engines pay" in out
    assert "errors:\n  bad.log, hand 2: betting is written" in out
    assert out.splitlines()[-1] == "4 hands of 1 file replayed: 1 mismatches, 0 with odd chips, 1 errors"


def test_broken_hands_alone_do_not_fail(folder, capsys):
    (folder / "a.log").write_text(acpc_text(histories(HUNL)) + "STATE:9\n" * 30)
    assert len(replay(capsys, "a.log")["errors"]) == 30
    assert main(["replay", "a.log"]) == 0
    out = capsys.readouterr().out
    assert out.count("2 of 6 fields") == 20 and "... and 10 more (--json lists all)" in out


def test_nothing_replayed_fails(folder, capsys):
    (folder / "empty.phh").touch()
    record = replay(capsys, "empty.phh", code=1)
    assert record["errors"] == [{"file": "empty.phh", "hand": "1", "what": "the hand's text is empty"}]


def test_the_game_may_be_given(folder, capsys):
    (folder / "six.game").write_text(game_definition_text(SIXMAX))
    (folder / "six.log").write_text(acpc_text(histories(SIXMAX), "unknown.game"))
    assert "give --game FILE.game" in replay(capsys, "six.log", code=1)["errors"][0]["what"]
    assert replay(capsys, "six.log", "--game", "six.game")["hands"] == 5
    (folder / "two.log").write_text(acpc_text(histories(HUNL), "unknown.game"))
    assert replay(capsys, "two.log", "--game", HUNL_NAME)["hands"] == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.log"], "plurispiel replay: no file or folder none.log"),
        (["."], "plurispiel replay: no .phh, .phhs or ACPC .log file in the folder ."),
        (["a.log", "--game", "none.game"], "plurispiel replay: cannot read none.game: No such file or directory"),
        ([], "plurispiel replay: the following arguments are required: PATH"),
    ],
)
def test_usage(folder, capsys, arguments, message):
    with pytest.raises(SystemExit) if not arguments else io.StringIO():
        assert main(["replay", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(message) and captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("suffix", ["log", "phhs"])
def test_names_cannot_do_harm(folder, capsys, suffix):
    hands = histories(BUILT_IN["holdem.nolimit.3p.game"], names=BAD_NAMES)
    text = acpc_text(hands, "holdem.nolimit.3p.game") if suffix == "log" else phh_text(hands)
    (folder / f"names.{suffix}").write_text(text)
    assert set(replay(capsys, f"names.{suffix}")["players"]) == set(BAD_NAMES)
    assert main(["replay", f"names.{suffix}"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "two lines [2J" in out


def test_files_in_order(folder):
    for name in ("b.log", "a.phh", "c/a.phhs", "c/x.game"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("# name/game/hands/seed a b 1 0\n")
    (folder / "c" / "agent.log").write_text("what an agent printed\n")
    assert [str(path) for path in hand_files(["c", ".", "c/x.game"])] == [
        *("c/a.phhs", "a.phh", "b.log", "c/a.phhs", "c/x.game")
    ]


SEEDS = [
    ("x.log", acpc_text(histories(HUNL)).encode()),
    ("x.log", acpc_text(histories(BUILT_IN["holdem.limit.3p.game"]), "holdem.limit.3p.game").encode()),
    ("x.log", acpc_text(histories(BUILT_IN["leduc.limit.2p.game"]), "leduc.limit.2p.game").encode()),
    ("x.phhs", phh_text(random_histories(2, 5)).encode()),
    ("x.phhs", phh_text(histories(BUILT_IN["holdem.limit.3p.game"])).encode()),
    ("x.phh", phh_text(histories(SIXMAX, 1)).replace("[1]\n", "").encode()),
]
SNIPPETS = [
    b"",
    b"\n",
    b":",
    b"|",
    b"/",
    b"[1]",
    b"-",
    b"9" * 12,
    b"r",
    b"As",
    b"'",
    b'"',
    b"\xff",
    b"1e99",
    b"inf",
    b".",
]
EDITS = st.lists(
    st.tuples(st.integers(0), st.integers(0, 8), st.one_of(st.binary(max_size=4), st.sampled_from(SNIPPETS))),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def mutants(tmp_path_factory):
    return tmp_path_factory.mktemp("mutants")


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(SEEDS), EDITS)
def test_mutated_files(mutants, seed, edits):
    name, content = seed
    for position, length, snippet in edits:
        start = position % (len(content) + 1)
        content = content[:start] + snippet + content[start + length :]
    path = mutants / name
    path.write_bytes(content)
    report = ReplayReport()
    report.add(str(path), read_hands(path))
    record = report.record()
    json.dumps(record, allow_nan=False)
    assert record["hands"] + len(record["errors"]) > 0
    for entry in record["errors"] + record["mismatches"]:
        assert entry["file"] == str(path)
        assert entry["what"] and (entry["hand"] or not record["hands"] or entry is record["errors"][-1])
