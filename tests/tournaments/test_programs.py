"""Programs at the table: the same bot plays and scores the same in this process, as a Python file and as a program."""

import contextlib
import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from plurispiel.abstraction.holdem.rules import HUNL, no_limit_holdem
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.tournaments import run_lbr, run_tournament
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import Isolation, isolate, split_agents

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

BOTS = Path(__file__).parent / "contestants" / "bots"
FILE = f"{BOTS}/seeded_tag.py:Bot"
PROGRAM = f"stdio:{shlex.join([sys.executable, str(BOTS / 'tag_line.py')])}"
CALLER = f"stdio:{shlex.join([sys.executable, '-I', '-S', str(BOTS / 'line_bot.py')])}"


LIMITS = Limits(30.0, 2048)


def groups(rules, agent, num_decks, aivat=None):
    """Return the hands' actions and payoffs, and the scores, of an agent among callers."""
    hands, scores = [], []
    table = [agent, *(make_agent("call") for _ in range(rules.num_seats - 1))]
    streams = Streams(rules.num_seats, Seeded(3))

    def keep(hand, *_):
        assert not hand.faults, hand.faults
        hands.append((hand.actions, hand.payoffs))

    for deck in range(num_decks):
        numbers = [0, *[1] * (rules.num_seats - 1)]
        group = play_group(rules, lambda rotation: table, numbers, streams, (0, deck), keep, aivat=aivat, trusted=[1])
        scores.append(group[0])
    return hands, scores


def test_the_same_bot_plays_the_same_in_three_forms():
    rules = no_limit_holdem(3)
    file, program = f"{BOTS}/draws.py:Bot", f"{CALLER} draws"
    with (
        contextlib.closing(isolate(file, LIMITS)) as contestant,
        contextlib.closing(isolate(program, LIMITS)) as line_bot,
    ):
        played = [groups(rules, agent, 10) for agent in (make_agent(file), contestant, line_bot)]
    hands, scores = played[0]
    assert hands == played[1][0] == played[2][0]
    assert [score.chips for score in scores] == [score.chips for score in played[2][1]]
    assert len({actions for actions, _ in hands}) > 10  # not one betting over and over


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3])
def test_a_program_that_tells_is_corrected_as_in_this_process(seats):
    rules = HUNL if seats == 2 else no_limit_holdem(seats)
    hands, scores = groups(rules, make_agent(FILE), 4, Aivat(rules))
    with (
        contextlib.closing(isolate(FILE, LIMITS)) as contestant,
        contextlib.closing(split_agents(PROGRAM, Isolation(LIMITS))[0]) as program,
    ):
        as_file, file_scores = groups(rules, contestant, 4, Aivat(rules))
        as_program, program_scores = groups(rules, program, 4, Aivat(rules))
    assert hands == as_file == as_program
    for own, in_file, in_program in zip(scores, file_scores, program_scores, strict=True):
        assert own.chips == in_file.chips == in_program.chips and not in_program.refused
        for part in ("imaginary_hands", "chance", "own_actions"):
            ours = getattr(own, part)
            assert getattr(in_file, part) == ours
            assert getattr(in_program, part) == pytest.approx(ours, rel=1e-4, abs=1e-4 * rules.big_blind)


@pytest.mark.slow
def test_a_program_that_tells_has_the_aivat_of_the_file(tmp_path):
    results = {
        spec: run_tournament(
            [spec, "call"],
            seats=2,
            decks=6,
            seed=4,
            values="checkdown",
            believe=[spec],
            workers=1,
            hands="none",
            out=tmp_path / name,
        )
        for name, spec in (("file", FILE), ("program", PROGRAM))
    }
    file, program = (result.agents[0] for result in results.values())
    assert program.faults == file.faults == 0
    assert program.scores["duplicate"] == file.scores["duplicate"]
    for score in ("aivat", "aivat_duplicate"):
        for figure in ("mbb_per_hand", "ci95"):
            assert program.scores[score][figure] == pytest.approx(file.scores[score][figure], rel=1e-4, abs=0.1)


@pytest.mark.slow
def test_a_program_that_tells_has_the_lbr_of_the_file(tmp_path):
    file, program = (run_lbr(s, hands=8, workers=1, out=tmp_path / str(len(s)), seed=2) for s in (FILE, PROGRAM))
    assert program.paid_mbb_per_hand == file.paid_mbb_per_hand
    assert program.mbb_per_hand == pytest.approx(file.mbb_per_hand, rel=1e-4)


def test_a_settings_file_names_programs_beside_it(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "settings"
    folder.mkdir()
    (folder / "bot").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {BOTS}/line_bot.py behaves "$@"\n')
    (folder / "bot").chmod(0o755)
    (folder / "match.toml").write_text('agents = ["stdio:./bot \'a, b?\'", "call"]\ndecks = 3\nscore = "raw"\n')
    monkeypatch.chdir(tmp_path)
    arguments = ["tournament", "settings/match.toml", "--workers", "1", "--out", "run", "--sandbox", "none"]
    assert main([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in record["agents"]] == ["stdio:bot 'a, b?'", "call"]
    assert record["hands"] == 6 and [agent["faults"] for agent in record["agents"]] == [0, 0]
    assert main([*arguments, "--json"]) == 0  # the run is found complete, by its digest
    capsys.readouterr()
    (folder / "bot").write_text((folder / "bot").read_text() + "\n")
    assert main(arguments) == 2
    assert "the file of stdio:bot 'a, b?'" in capsys.readouterr().err


@pytest.mark.slow
def test_workers_and_interruptions_change_nothing(tmp_path):
    options = {"seats": 2, "seed": 5, "score": "raw", "hands": "none"}
    specs = [f"{CALLER} draws", "random"]
    whole = run_tournament(specs, **options, decks=40, workers=1, out=tmp_path / "one")
    run_tournament(specs, **options, decks=5, workers=1, out=tmp_path / "two")
    parts = run_tournament(specs, **options, decks=40, workers=2, out=tmp_path / "two")
    assert whole["random"].scores == parts["random"].scores and whole["random"].faults == 0
    assert whole["random"].scores["raw"]["mbb_per_hand"] != 0.0


def test_a_program_that_learns_is_played_by_one_worker(tmp_path, capsys):
    arguments = ["tournament", "--agents", f"{CALLER} learns,call", "--decks", "2", "--out", str(tmp_path / "run")]
    assert main([*arguments, "--workers", "2", "--score", "raw", "--decks", "200"]) == 2
    assert "learns during a match, which several workers would split; play with one worker" in capsys.readouterr().err
    assert main([*arguments, "--workers", "1", "--score", "raw"]) == 0
    assert "learns during the match; none of its processes was started again" in capsys.readouterr().err


def test_what_a_program_has_forgotten_is_counted(tmp_path, capsys):
    run = tmp_path / "run"
    arguments = ["tournament", "--agents", f"{CALLER} dies,call", "--out", str(run), "--workers", "1", "--score", "raw"]
    found = []
    for decks in ("4", "8"):  # the second time goes on, with new processes
        assert main([*arguments, "--decks", decks]) == 0
        agents = json.loads((run / "results.json").read_text())["agents"]
        assert [agent["faults"] for agent in agents] == [0, 0] and agents[1]["restarts"] is None
        found.append(agents[0]["restarts"])
        assert f"started again {found[-1]} times, and forgot what they had learnt" in capsys.readouterr().err
    # Two processes, which end at each sixth question; a hand has four questions or five.
    assert 2 * (4 * 4 // 5 - 1) <= found[0] <= 2 * (4 * 5 // 5) and found[1] >= found[0] + 2
    assert main(["report", str(run)]) == 0
    assert f"started again {found[-1]} times" in (run / "report.html").read_text()


def test_a_program_that_is_not_there_ends_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for spec, message in (
        ("stdio:./none", "no program './none' in the current folder (agent 'stdio:./none')"),
        (f"{CALLER} exits-at-start", "does not load: its process ended (exit code 1): no licence"),
        (f"{CALLER} protocol-2", "speaks version 1 of the protocol, got 2"),
        ("pokerbots:folder", "a Pokerbots folder has a file commands.json; cannot read"),
        ("stdio:./bot 'a", "a command with a comma or a question mark belongs in a settings file"),
    ):
        assert main(["tournament", "--agents", f"{spec},call", "--decks", "2", "--out", "run"]) == 2
        captured = capsys.readouterr()
        assert message in captured.err and captured.err.count("plurispiel tournament: ") == 1, captured.err
        assert not (tmp_path / "run").exists()


def test_lbr_needs_a_program_that_tells(tmp_path):
    (tmp_path / "bot").write_text('#!/bin/sh\nread hello; echo \'{"type":"ready","protocol":1}\'; read question\n')
    (tmp_path / "bot").chmod(0o755)
    with pytest.raises(ValueError, match='stdio:bot: the program does not report .* lists "range" under "answers"'):
        run_lbr(f"stdio:{tmp_path}/bot", hands=4, out=tmp_path / "run")


def test_misbehaving_programs_cost_their_own_hands_and_are_retired(tmp_path, capsys):
    arguments = ["tournament", "--agents", f"{CALLER} wrong-id,call,{CALLER} no-word", "--decks", "4", "--seed", "1"]
    arguments += ["--score", "raw", "--max-faults", "2", "--workers", "1", "--json"]
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 3
    agents = json.loads(capsys.readouterr().out)["agents"]
    kinds = {agent["name"].split()[-1]: agent["faults_by_kind"] for agent in agents}
    assert kinds["call"] == {} and set(kinds["wrong-id"]) == {"protocol"} and set(kinds["no-word"]) == {"illegal"}
