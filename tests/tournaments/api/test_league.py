"""Leagues from Python: the records of the command, results as objects, and refusals."""

import json
import sys

import numpy as np
import pytest
from small_league import BOT, SETTINGS

from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.tournaments import (
    LeagueResult,
    add_to_league,
    create_league,
    league_standings,
    play_league,
    remove_from_league,
)
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.league import standings
from plurispiel.tournaments.league.folder import League
from plurispiel.tournaments.run.folder_lock import locked

pytestmark = pytest.mark.usefixtures("home")

TELLING = """
import numpy as np
from plurispiel.agents import CALL, Agent, Strategy

class Bot(Agent):
    def range_strategy(self, public):
        return Strategy((CALL,), np.ones((len(public.rules.combos), 1)))
"""


@pytest.fixture
def league(tmp_path, monkeypatch):
    """A league of three that has played, and its standings."""
    monkeypatch.setattr(standings, "NUM_RESAMPLES", 20)
    create_league("mine", **SETTINGS | {"sandbox": "none"})
    added = add_to_league("mine", ["tag", CallAgent, "random"])
    assert [(entry.name, is_new) for entry, is_new in added] == [("tag", True), ("call", True), ("random", True)]
    return play_league("mine", hands=80, workers=1)


def test_standings_are_those_of_the_command(league, capsys):
    assert capsys.readouterr() == ("", "")
    assert main(["league", "mine", "standings", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == league.to_dict() == league_standings("mine").to_dict()
    assert main(["league", "mine", "standings"]) == 0
    assert capsys.readouterr().out == f"{league!r}\n"
    assert "call against random: decks 1 to 8" in league.notes and league.record["hands"] == 80


def test_a_result_is_an_object(league):
    assert isinstance(league, LeagueResult) and league.unranked == []
    best, *_ = league.agents
    assert league[best.name] == best and best.mbb_per_hand == league.record["agents"][0]["mbb_per_hand"]
    assert best.bootstrap_ci95[0] < best.mbb_per_hand < best.bootstrap_ci95[1]
    assert best.anytime_ci95 is best.interval is None  # no pair has 100 groups
    assert np.nanmax(abs(league.matrix + league.matrix.T)) == 0.0 and np.isnan(np.diag(league.matrix)).all()
    assert np.isnan(league.matrix_anytime_ci95).all() and league.digest == league.record["digest"]
    with pytest.raises(KeyError, match="no ranked agent 'fold'"):
        league["fold"]
    league.to_dict()["agents"].clear()
    assert len(league.agents) == 3


def test_a_table_with_pandas(league):
    pandas = pytest.importorskip("pandas")
    frame = league.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == [agent.name for agent in league.agents]
    assert {"mbb_per_hand", "anytime_ci95", "nash_share_low", "alpha_rank_high", "hands", "change"} <= {*frame.columns}


def test_without_pandas_a_table_is_refused(league, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="to_frame needs pandas.*to_dict works without"):
        league.to_frame()


def test_an_interval_is_the_always_valid_one(league):
    record = league.to_dict()
    record["agents"][0]["sequential_ci95"] = 7.0
    best = LeagueResult(record, league.folder).agents[0]
    assert best.interval == (best.mbb_per_hand - 7.0, best.mbb_per_hand + 7.0)


def test_agents_leave_and_changed_agents_come_again(league, tmp_path):
    assert remove_from_league("mine", "random").name == "random"
    (tmp_path / "bot.py").write_text(BOT.format(action=1))
    with pytest.warns(UserWarning, match="sandbox"):
        add_to_league("mine", "bot.py:Bot")
    assert add_to_league("mine") == []
    (tmp_path / "bot.py").write_text(BOT.format(action=0))
    with pytest.warns(UserWarning, match="sandbox"):
        ((entry, is_new),) = add_to_league("mine")
    assert entry.name == "bot.py:Bot#2" and is_new
    assert [agent.name for agent in league_standings("mine").agents] == ["tag", "call"]


def test_a_believed_agent_is_marked(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(standings, "NUM_RESAMPLES", 5)
    create_league("mine", **SETTINGS | {"score": "aivat_duplicate", "values": "checkdown", "sandbox": "none"})
    (tmp_path / "bot.py").write_text(TELLING)
    with pytest.warns(UserWarning):
        add_to_league("mine", "bot.py:Bot", believe=True)
    assert main(["league", "mine", "add", "call"]) == 0
    assert main(["league", "mine", "play", "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    assert "bot.py:Bot† " in shown
    assert "†: believed, its own reported strategy corrects the scores aivat and aivat_duplicate\n" in shown
    result = league_standings("mine")
    assert [(agent["name"], agent["believed"]) for agent in result.record["agents"] if agent["believed"]] == [
        ("bot.py:Bot", True)
    ]
    assert json.loads((tmp_path / "mine/pairings/1-2/results.json").read_text())["agents"][0]["believed"]
    assert main(["league", "mine", "list"]) == 0
    assert "bot.py:Bot† " in capsys.readouterr().out
    # The same agent without belief is another entry, which takes the place of this one.
    with pytest.warns(UserWarning):
        ((entry, is_new),) = add_to_league("mine", "bot.py:Bot")
    assert (entry.number, entry.believe, is_new) == (3, False, True)
    assert main(["league", "mine", "add", "tag", "--believe"]) == 2
    assert "believe 'tag': agents of this package are always believed" in capsys.readouterr().err


def test_a_league_that_another_process_changes_is_not_discarded(tmp_path):
    (tmp_path / "new").mkdir()
    with locked(tmp_path / "new"):
        with pytest.raises(ValueError, match="is being changed by another process"):
            add_to_league("new", "call")
        assert (tmp_path / "new" / "league.toml").exists()


def test_a_folder_that_was_there_stays(tmp_path, capsys):
    (tmp_path / "new").mkdir()
    with pytest.raises(ValueError, match="unknown agent"):
        add_to_league("new", "nobody")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(ValueError, match="unknown agent"):
        add_to_league("new", ["call", "nobody"], progress=True)  # the first one stays
    assert "began a league of" in capsys.readouterr().err
    assert [entry.name for entry in League(tmp_path / "new").entries] == ["call"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: create_league("new", sedd=1), TypeError, "no setting 'sedd', did you mean 'seed'"),
        (lambda: create_league("new", placement=1), ValueError, "placement must be"),
        (lambda: league_standings("none"), ValueError, "none is no league"),
        (lambda: add_to_league("none"), ValueError, "none is no league"),
        (lambda: play_league("none", hands=0), ValueError, "hands must be at least 1"),
        (lambda: play_league("none", hours=-1.0), ValueError, "hours must be above 0"),
        (lambda: add_to_league("new", [7]), ValueError, "an agent is a spec or a class"),
        (lambda: add_to_league("new", 7), ValueError, "agents must be a text or a list of specs and classes, got 7"),
        (lambda: add_to_league("new", "nobody"), ValueError, "unknown agent 'nobody'"),
    ],
)
def test_refusals(tmp_path, call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert not (tmp_path / "new").exists()
