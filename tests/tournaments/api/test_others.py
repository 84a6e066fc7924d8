"""`run_lbr`, `measure_exploitability` and `replay_hands`: the records and refusals of their commands."""

import json

import pytest

from plurispiel.agents.factory import make_agent
from plurispiel.tournaments import measure_exploitability, replay_hands, run_lbr, run_tournament
from plurispiel.tournaments.cli import main

TIMES = ("seconds", "setup_seconds", "hands_per_second")

pytestmark = pytest.mark.usefixtures("home")


def without_times(record):
    return {key: value for key, value in record.items() if key not in TIMES}


def command_record(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_lbr_is_that_of_the_command_and_resumes(capsys, tmp_path):
    run_lbr("call", hands=16, workers=1, out=tmp_path / "run")
    result = run_lbr("call", hands=40, workers=1, out=tmp_path / "run")
    assert capsys.readouterr() == ("", "")
    record = command_record(
        capsys, "lbr", "--agent", "call", "--hands", 40, "--workers", 1, "--out", tmp_path / "other"
    )
    assert list(record) == list(result.to_dict())
    assert without_times(result.to_dict()) == without_times(record)
    assert (result.hands, result.folder) == (40, tmp_path / "run")


def test_exploitability_is_that_of_the_command(capsys):
    result = measure_exploitability("leduc", "tag")
    assert capsys.readouterr() == ("", "")
    record = command_record(capsys, "exploitability", "leduc", "--agent", "tag")
    assert without_times(result.to_dict()) == without_times(record)
    assert (result.exploitability, result.nash_conv) == (record["exploitability"], record["nash_conv"])
    assert (result.values, result.incentives, result.unit) == (record["values"], record["incentives"], "chips")
    built = measure_exploitability("leduc", make_agent("tag"))
    assert built.exploitability == result.exploitability and built.record["agent"] == "TightAggressiveAgent"


def test_hands_are_replayed_as_by_the_command(capsys):
    run = run_tournament("tag,call", decks=4, hands="all", workers=1)
    result = replay_hands(run.folder)
    assert capsys.readouterr() == ("", "")
    assert (result.hands, result.mismatches, result.errors) == (8, [], [])
    assert result.to_dict() == command_record(capsys, "replay", run.folder) == replay_hands(["last"]).to_dict()


@pytest.mark.parametrize(
    "call, options",
    [
        (lambda: run_lbr("call", hands=0), ["lbr", "--agent", "call", "--hands", "0"]),
        (lambda: run_lbr("tgg"), ["lbr", "--agent", "tgg"]),
        (lambda: run_lbr("call", game="nonsense"), ["lbr", "--agent", "call", "--game", "nonsense"]),
        (lambda: measure_exploitability("leducc", "call"), ["exploitability", "leducc", "--agent", "call"]),
        (
            lambda: measure_exploitability("kuhn", "call", search="k"),
            ["exploitability", "kuhn", "--agent", "call", "--search", "k"],
        ),
        (
            lambda: measure_exploitability("leduc", "call", max_histories=10),
            ["exploitability", "leduc", "--agent", "call", "--max-histories", "10"],
        ),
        (lambda: replay_hands("none.phh"), ["replay", "none.phh"]),
    ],
)
def test_refusals_have_the_words_of_the_commands(call, options, capsys):
    with pytest.raises(ValueError) as refusal:
        call()
    assert main(options) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"plurispiel {options[0]}: {refusal.value}"


def test_an_agent_or_a_policy_is_needed():
    with pytest.raises(ValueError, match="give an agent, a policy or options of continual"):
        measure_exploitability("kuhn")
    with pytest.raises(ValueError, match="not both"):
        measure_exploitability("kuhn", "call", policy="folder")
