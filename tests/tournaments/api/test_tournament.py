"""`run_tournament`: the numbers and refusals of the command, agents as classes, scripts without a guard, frames."""

import json
import subprocess
import sys
import types

import numpy as np
import pytest
from played_run import group_rows

from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.tournaments import forecast_tournament, run_tournament
from plurispiel.tournaments.api.agent_spec import agent_spec
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run import tournament_run

MY_BOT = """\
from plurispiel.agents import Agent


class MyBot(Agent):
    def act(self, view):
        return 1
"""
SETTINGS = {"agents": ["tag", "call", "raise"], "game": "leduc_poker", "seats": 2, "decks": 16, "seed": 5}
OPTIONS = ["--agents", "tag,call,raise", "--game", "leduc_poker", "--seats", "2", "--decks", "16", "--seed", "5"]
OPTIONS += ["--workers", "1", "--json"]
TIMES = ("seconds", "hands_per_second")

pytestmark = pytest.mark.usefixtures("home")


def without_times(record):
    agents = [{key: value for key, value in agent.items() if key != "speed"} for agent in record["agents"]]
    return {key: value for key, value in record.items() if key not in TIMES} | {"agents": agents}


def test_rows_and_results_are_those_of_the_command(capsys, tmp_path):
    result = run_tournament(**SETTINGS, workers=1, out=tmp_path / "api")
    assert capsys.readouterr() == ("", "")
    assert main(["tournament", *OPTIONS, "--out", str(tmp_path / "command")]) == 0
    by_command = json.loads(capsys.readouterr().out)
    assert without_times(result.to_dict()) == without_times(by_command)
    played = group_rows(tmp_path / "api")
    assert len(played) == 6 * 16 and played == group_rows(tmp_path / "command")
    assert json.loads((result.folder / "results.json").read_text()) == result.record


def test_the_result_as_an_object(tmp_path):
    result = run_tournament(**SETTINGS, workers=1, out=tmp_path / "run")
    assert [agent.name for agent in result.agents] == SETTINGS["agents"]
    tag = result["tag"]
    assert (tag.hands, tag.groups, tag.faults, tag.retired) == (64, 32, 0, False)
    assert tag.interval == (tag.mbb_per_hand - tag.ci95, tag.mbb_per_hand + tag.ci95)
    assert (result.seed, result.folder) == (5, tmp_path / "run")
    assert result.digest == result.record["digest"]
    assert any("3 line-ups x 16 decks" in note for note in result.notes)
    assert result.matrix.shape == result.matrix_ci95.shape == (3, 3)
    assert np.isnan(np.diag(result.matrix)).all()
    assert result.matrix[0, 1] == result.record["matrix"][0][1]["mbb_per_hand"]
    assert repr(result).startswith("agent") and "tag" in repr(result)
    assert "<th>tag</th><td>64</td>" in result._repr_html_()
    with pytest.raises(KeyError, match="no agent 'tga' .the agents are tag, call, raise"):
        result["tga"]


def test_a_second_call_resumes(tmp_path):
    run_tournament(**SETTINGS | {"decks": 8}, workers=1, out=tmp_path / "run")
    resumed = run_tournament(**SETTINGS, workers=1, out=tmp_path / "run")
    assert any("48 hands already there" in note for note in resumed.notes)
    whole = run_tournament(**SETTINGS, workers=1, out=tmp_path / "whole")
    assert group_rows(tmp_path / "run") == group_rows(tmp_path / "whole")
    assert without_times(resumed.record) == without_times(whole.record)


def test_an_interrupt_leaves_a_run_that_resumes(monkeypatch, tmp_path):
    play = tournament_run.play_run

    def interrupted(config, store, conduct, on_block, labour):
        def stop(block, groups):
            raise KeyboardInterrupt

        play(config, store, conduct, stop, labour)

    with monkeypatch.context() as patched:
        patched.setattr(tournament_run, "play_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_tournament(**SETTINGS, workers=1, out=tmp_path / "run")
    assert 0 < len(group_rows(tmp_path / "run")) < 6 * 16
    resumed = run_tournament(**SETTINGS, workers=1, out=tmp_path / "run")
    assert len(group_rows(tmp_path / "run")) == 6 * 16 and resumed["tag"].hands == 64


def test_settings_of_a_file_and_of_a_mapping(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('agents = ["call", "fold"]\nscore = "duplicate"\ndecks = 3\n')
    by_file = run_tournament(settings=path, decks=2, workers=1)
    by_mapping = run_tournament(settings={"agents": "call,fold", "score": "duplicate", "decks": 3}, decks=2, workers=1)
    assert by_file.record["hands"] == by_mapping.record["hands"] == 4
    assert by_file.folder == by_mapping.folder


def test_a_class_of_a_file_plays_in_a_process_of_its_own(monkeypatch, tmp_path):
    (tmp_path / "its_bot.py").write_text(MY_BOT)
    monkeypatch.syspath_prepend(tmp_path)
    import its_bot

    how = {"workers": 1, "sandbox": "none", "processes": "one", "progress": True}
    result = run_tournament([CallAgent, its_bot.MyBot], decks=2, score="raw", **how)
    assert [agent.name for agent in result.agents] == ["call", "its_bot.py:MyBot"]
    assert result.record["agents"][1]["from_outside"] and result["its_bot.py:MyBot"].faults == 0


def test_running_without_a_sandbox_is_warned_of(tmp_path):
    (tmp_path / "my_bot.py").write_text(MY_BOT)
    with pytest.warns(UserWarning, match=r"no sandbox \(as asked\)"):
        run_tournament("call,my_bot.py:MyBot", decks=1, score="raw", workers=1, sandbox="none", processes="one")


def test_belief_is_offered_only_where_an_agent_reports_a_strategy(tmp_path):
    act = "from plurispiel.agents import CALL, Agent\nclass {}(Agent):\n    def act(self, view):\n        return CALL\n"
    (tmp_path / "mute.py").write_text(act.format("Mute"))
    (tmp_path / "open.py").write_text(
        act.format("Open") + "    def range_strategy(self, public):\n        return None\n"
    )
    with pytest.warns(UserWarning, match="sandbox"):
        how = {"workers": 1, "sandbox": "none", "processes": "one"}
        result = run_tournament("mute.py:Mute,open.py:Open", game="KUHN", decks=2, **how)
    assert [agent["silent"] for agent in result.record["agents"]] == [True, False]
    notes = [line for line in repr(result).splitlines() if line.startswith("* ")]
    assert len(notes) == 2 and notes[0].endswith("as it reports no strategy") and "believe" not in notes[0]
    assert "(the option believe=open.py:Open uses them)" in notes[1]


def test_agents_that_other_processes_cannot_build_are_refused():
    class Local(CallAgent):
        pass

    with pytest.raises(ValueError, match="got an object of the type CallAgent"):
        agent_spec(CallAgent())
    with pytest.raises(ValueError, match=r"write it to a file .* FILE\.py:.*Local"):
        agent_spec(Local)
    notebook = types.new_class("Mine", (CallAgent,))
    notebook.__module__ = "__main__"
    with pytest.raises(ValueError, match=r"write it to a file .* FILE\.py:Mine"):
        agent_spec(notebook)
    with pytest.raises(ValueError, match="int is no agent: its module has no Python file"):
        agent_spec(int)


@pytest.mark.parametrize(
    "settings, options",
    [
        ({"decks": 0}, ["--decks", "0"]),
        ({"agents": "tgg,call"}, ["--agents", "tgg,call"]),
        ({"agents": "tag,,call"}, ["--agents", "tag,,call"]),
        ({"settings": "none.toml"}, ["none.toml"]),
        ({"settings": "tag,call"}, ["tag,call"]),
        ({"workers": -1}, ["--workers", "-1"]),
        ({"game": "hunll"}, ["--game", "hunll"]),
        ({"stop_when": "ci<20"}, ["--stop-when", "ci<20"]),
        ({"seats": 12}, ["--seats", "12"]),
    ],
)
def test_refusals_have_the_words_of_the_command(settings, options, capsys):
    with pytest.raises(ValueError) as refusal:
        run_tournament(**settings)
    assert main(["tournament", *options]) == 2
    assert capsys.readouterr().err == f"plurispiel tournament: {refusal.value}\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fresh": "no"}, "fresh must be true or false, got 'no'"),
        ({"agent_network": 1}, "agent_network must be true or false, got 1"),
        ({"workers": 1.0}, "workers must be a whole number, got 1.0"),
        ({"workers": "1"}, "workers must be a whole number, got '1'"),
        ({"agents": 5}, "agents must be a text or a list of specs and classes, got 5"),
        ({"believe": True}, "believe must be a text or a list of specs and classes, got True"),
    ],
)
def test_other_types_are_refused(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run_tournament(**{"agents": "call,fold", "out": tmp_path / "run"} | options)
    assert not (tmp_path / "run").exists()


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="no setting 'deck'.*decks"):
        run_tournament("call,fold", deck=2)
    with pytest.raises(TypeError, match="no setting 'sandbx'.*sandbox"):
        forecast_tournament("call,fold", sandbx="none")
    with pytest.raises(ValueError, match="isolate must be one of foreign, all, got 'some'"):
        forecast_tournament("call,fold", isolate="some")
    with pytest.raises(ValueError, match="hands must be one of sample, all, none, got 'some'"):
        run_tournament("call,fold", hands="some")


def test_a_forecast_is_the_dry_run(capsys):
    expected = forecast_tournament("call,raise", decks=400, score="duplicate", seed=1, workers=1)
    assert capsys.readouterr() == ("", "")
    options = ["--agents", "call,raise", "--decks", "400", "--score", "duplicate", "--seed", "1", "--workers", "1"]
    assert main(["tournament", *options, "--dry-run", "--json"]) == 0
    by_command = json.loads(capsys.readouterr().out)
    assert expected["agents"] == by_command["agents"] and expected.keys() == by_command.keys()


@pytest.mark.slow
def test_a_script_with_workers_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from plurispiel.tournaments import run_tournament\n"
        "print('started')\n"
        "print(run_tournament('call,fold', decks=16, score='duplicate', workers=2)['call'].hands)\n"
    )
    ended = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout.split()) == (0, ["started", "32"]), ended.stderr


def test_the_package_exports_its_functions_without_importing_them():
    code = (
        "import sys, plurispiel.tournaments as t; assert 'numpy' not in sys.modules; "
        "assert set(t.__all__) <= set(dir(t)); print(all(map(t.__getattr__, t.__all__)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.stdout == "True\n", ended.stderr


def test_a_frame_has_a_row_for_each_agent():
    pandas = pytest.importorskip("pandas")
    result = run_tournament("call,fold", decks=4, score="duplicate", workers=1)
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == ["call", "fold"]
    assert frame.loc["call", "duplicate_mbb_per_hand"] == result["call"].mbb_per_hand


def test_a_frame_without_pandas_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="needs pandas.*to_dict works without"):
        run_tournament("call,fold", decks=4, score="duplicate", workers=1).to_frame()
