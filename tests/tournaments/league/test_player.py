"""The play of a league: everybody first, then close neighbours; a killed league ends as one that was not."""

import itertools
import re

import pytest
from small_league import BOT, groups_of, play_on, small_league

from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.league import entries
from plurispiel.tournaments.league.folder import League
from plurispiel.tournaments.league.standings import make_standings, standings_text
from plurispiel.tournaments.run.schema import COLUMNS, READABLE
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


def upgrade(monkeypatch, code, *, changed=()):
    """Change the code of this package, and that of some built-in agents."""
    for module in ("run.config", "league.pairings"):
        monkeypatch.setattr(f"plurispiel.tournaments.{module}.package_digest", lambda: code)
    digest = entries.own_code_digest
    later = lambda spec: "f" * 12 if spec in changed else digest(spec)  # noqa: E731
    monkeypatch.setattr(entries, "own_code_digest", later)


class Killed(BaseException):
    """Stands for the end of the process."""


def die_after(monkeypatch, blocks, *, is_stored):
    """Let the process die at the store of a block, before or after it is stored."""
    add_blocks = RunStore.add_blocks
    left = itertools.count(blocks, -1)

    def dying(self, *arguments):
        is_last = next(left) == 0
        if not is_last or is_stored:
            add_blocks(self, *arguments)
        if is_last:
            raise Killed

    monkeypatch.setattr(RunStore, "add_blocks", dying)


@pytest.mark.parametrize("is_stored", [pytest.param(False, marks=pytest.mark.slow), True])
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
    results = league.pairing_folder(*league.entries).folder / "results.json"
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
    assert said[0].startswith(
        "bot.py:Bot plays no more: its file or stored strategy has changed since it was added; its results stay"
    )
    assert groups_of(league) == {("call", "bot.py:Bot"): 8, ("call", "fold"): 8}
    league.add("bot.py:Bot", print, print)
    play_on(league)
    assert groups_of(league)["fold", "bot.py:Bot#2"] == 8


def test_a_league_survives_other_code_of_this_package(tmp_path, monkeypatch):
    """Both agents are the same: their hands count, further hands have other decks, and a kill changes nothing."""
    league = small_league(tmp_path / "league", "tag", "random", seed=5)
    play_on(league)
    before = make_standings(league, num_resamples=10)
    first = league.pairing(*league.entries).rates_mbb
    for number, hands in enumerate((32, 80), start=1):
        played = groups_of(league)
        upgrade(monkeypatch, f"code {number}")
        assert groups_of(league) == played
        with monkeypatch.context() as patch:
            die_after(patch, 0, is_stored=False)
            with pytest.raises(Killed):
                play_on(league, hands=hands)
        play_on(league, hands=hands)
        assert groups_of(league) == {("tag", "random"): hands // 2}
    assert sorted(path.name for path in (league.folder / "pairings").iterdir()) == ["1-2", "1-2.1", "1-2.2"]
    pairing = league.pairing(*league.entries)
    assert (pairing.older_groups, pairing.aside_groups, pairing.decks, pairing.is_finished) == (16, 16, 40, True)
    assert pairing.rates_mbb[:8].tolist() == first.tolist() != pairing.rates_mbb[8:16].tolist()
    record = make_standings(league, num_resamples=10)
    assert (before["older_groups"], record["older_groups"], record["groups"]) == (0, 16, 40)
    assert record["matrix"][0][1]["older_groups"] == 16
    assert "16 of 40 groups were played by other code of this package" in standings_text(record)
    upgrade(monkeypatch, "code 3")
    said = play_on(league, hands=82)
    assert any("24 decks that other code of this package played are set aside in 1-2.3" in line for line in said)


def test_an_agent_of_other_code_plays_no_more_until_it_is_added_again(tmp_path, monkeypatch):
    league = small_league(tmp_path / "league", "call", "raise", "fold")
    play_on(league)
    upgrade(monkeypatch, "later", changed=("call", "raise"))
    said = play_on(league, hands=1000)
    assert said[:2] == [
        f"{name} plays no more: the code of this package has changed since it was added; its results stay; "
        "league FOLDER add without an agent adds it as it is now, as a new entry"
        for name in ("call", "raise")
    ]
    record = make_standings(league, num_resamples=10)
    assert record["hands"] == 48 and [agent["change"] for agent in record["agents"]].count("code") == 2
    assert "results of an agent's earlier version, as the code of this package has changed" in standings_text(record)
    assert [entry.name for entry in league.refresh(print, print)] == ["call#2", "raise#2"]
    assert league.refresh(print, print) == []
    play_on(league)
    assert [entry.name for entry in league.active] == ["fold", "call#2", "raise#2"]
    found = groups_of(league)
    assert found["call", "raise"] == found["fold", "call#2"] == found["call#2", "raise#2"] == 8
    assert make_standings(league, num_resamples=10)["older_groups"] == 0


@pytest.mark.parametrize("is_kept", [True, False])
def test_runs_that_only_an_older_version_can_read_count_by_their_kept_groups(tmp_path, monkeypatch, is_kept):
    league = small_league(tmp_path / "league", "tag", "random")
    play_on(league)
    kept = league.pairing(*league.entries).rates_mbb.tolist()
    if not is_kept:  # killed by the upgrade in its first batch
        (league.pairing_folder(*league.entries).folder / "groups.json").unlink()
    upgrade(monkeypatch, "later")
    monkeypatch.setattr("plurispiel.tournaments.run.store.FORMAT_VERSION", 99)
    for version in list(READABLE):
        monkeypatch.delitem(READABLE, version)
    monkeypatch.setitem(READABLE, 99, COLUMNS)
    assert groups_of(league) == ({("tag", "random"): 8} if is_kept else {})
    play_on(league, hands=48)
    pairing = league.pairing(*league.entries)
    assert pairing.groups == 24 and (pairing.rates_mbb[:8].tolist() == kept) is is_kept
    assert pairing.older_groups == (8 if is_kept else 0)


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
