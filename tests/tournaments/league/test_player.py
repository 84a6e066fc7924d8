"""The play of a league: everybody first, then close neighbours; a killed league ends as one that was not."""

import itertools
import re

import pytest
from small_league import BOT, groups_of, play_on, small_league

from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.league.folder import League
from plurispiel.tournaments.league.standings import make_standings
from plurispiel.tournaments.run.store import RunStore

pytestmark = pytest.mark.usefixtures("home")

AGENTS = "call", "raise", "random"
NOTHING = "nothing left to play; give a larger --hands, or --hours, to separate neighbours further"


def test_a_new_agent_plays_everybody(tmp_path):
    league = small_league(tmp_path / "league", "call", "raise")
    play_on(league)
    assert groups_of(league) == {("call", "raise"): 8}
    league.add("fold", print, print)
    said = play_on(league)
    assert groups_of(league) == dict.fromkeys(itertools.combinations(("call", "raise", "fold"), 2), 8)
    assert said == ["call against fold: decks 1 to 8", "raise against fold: decks 1 to 8"]
    assert play_on(league) == [NOTHING]


def test_hands_are_counted_over_all_calls(tmp_path):
    league = small_league(tmp_path / "league", *AGENTS)
    play_on(league, hands=40)
    assert sum(groups_of(league).values()) == 20
    play_on(league, hands=96)
    assert sum(groups_of(league).values()) == 48
    assert play_on(league, hands=97) == [NOTHING]
    assert min(groups_of(league).values()) == 8


class Killed(BaseException):
    """Stands for the end of the process."""


def die_after(monkeypatch, blocks, *, is_stored):
    """Let the process die at the store of a block, before or after it is stored."""
    add_block = RunStore.add_block
    left = itertools.count(blocks, -1)

    def dying(self, *arguments):
        is_last = next(left) == 0
        if not is_last or is_stored:
            add_block(self, *arguments)
        if is_last:
            raise Killed

    monkeypatch.setattr(RunStore, "add_block", dying)


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_killed_league_ends_as_one_that_was_not(tmp_path, monkeypatch, is_stored):
    straight = small_league(tmp_path / "straight", *AGENTS, placement=20)
    play_on(straight, hands=300)
    killed = small_league(tmp_path / "killed", *AGENTS, placement=20)
    for blocks in (1, 4, 2, 6):
        with monkeypatch.context() as patch:
            die_after(patch, blocks, is_stored=is_stored)
            with pytest.raises(Killed):
                play_on(killed, hands=300)
    play_on(League(killed.folder), hands=300)
    assert groups_of(killed) == groups_of(straight)
    records = [make_standings(league, num_resamples=10) for league in (straight, killed)]
    assert records[0] == records[1] and records[0]["hands"] == 300


def test_results_that_a_kill_prevented_are_written(tmp_path, monkeypatch):
    league = small_league(tmp_path / "league", "call", "raise")
    with monkeypatch.context() as patch:
        die_after(patch, 0, is_stored=True)
        with pytest.raises(Killed):
            play_on(league)
    results = league.pairing_folder((1, 2)) / "results.json"
    assert groups_of(league) == {("call", "raise"): 8} and not results.exists()
    assert play_on(league) == [] and results.exists()
    assert play_on(league) == [NOTHING]


def test_time_ends_play_between_batches(tmp_path):
    league = small_league(tmp_path / "league", *AGENTS)
    assert play_on(league, seconds=1.5, clock=itertools.count().__next__) == ["call against raise: decks 1 to 8"]
    play_on(league, seconds=60.0, clock=itertools.count(0.0, 10.0).__next__)
    assert len(groups_of(league)) == 3


def test_a_changed_agent_plays_no_more(tmp_path):
    (tmp_path / "bot.py").write_text(BOT.format(action=1))
    league = small_league(tmp_path / "league", "call", "bot.py:Bot", "fold", sandbox="none")
    play_on(league, hands=16)
    (tmp_path / "bot.py").write_text(BOT.format(action=0))
    said = play_on(league)
    assert "bot.py:Bot has changed since it was added, so it plays no more; add it as a new entry" in said
    assert groups_of(league) == {("call", "bot.py:Bot"): 8, ("call", "fold"): 8}
    league.add("bot.py:Bot", print, print)
    play_on(league)
    assert groups_of(league)["fold", "bot.py:Bot#2"] == 8


def test_hands_of_other_code_are_not_continued(tmp_path, monkeypatch):
    league = small_league(tmp_path / "league", "call", "fold")
    play_on(league)
    monkeypatch.setattr("plurispiel.tournaments.run.config.package_digest", lambda: "another")
    with pytest.raises(ValueError, match="1-2 was played by other code .*--fresh"):
        play_on(league, hands=100)
    assert make_standings(league, num_resamples=10)["hands"] == 16


CURIOUS = """
import pathlib
from plurispiel.agents.base import Agent

class Bot(Agent):
    def act(self, view):
        seen = [path for path in pathlib.Path({folder!r}).glob("league/**/*") if path.is_file()]
        return None if seen else 1
"""


def test_agents_do_not_see_the_league(tmp_path):
    """Not even if it lies in an agent's own folder, which the agent sees."""
    if working_sandbox("auto") is None:
        pytest.skip("no sandbox works here")
    (tmp_path / "bot.py").write_text(CURIOUS.format(folder=str(tmp_path)))
    league = small_league(tmp_path / "league", "call", "bot.py:Bot", sandbox="bwrap")
    play_on(league)
    assert league.pairing(*league.entries).faults == (0, 0)


def test_faults_are_told(tmp_path):
    (tmp_path / "bot.py").write_text(BOT.format(action="None"))
    league = small_league(tmp_path / "league", "call", "bot.py:Bot", sandbox="none", max_faults=5)
    said = play_on(league)
    assert re.search("bot.py:Bot committed [0-9]+ faults; plurispiel report .*1-2 tells more", said[-1])
    agents = {agent["name"]: agent for agent in make_standings(league, num_resamples=10)["agents"]}
    assert agents["bot.py:Bot"]["faults"] >= 5 and agents["bot.py:Bot"]["retired"]
    assert agents["bot.py:Bot"]["from_outside"] and not agents["call"]["retired"]
