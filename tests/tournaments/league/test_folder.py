"""The folder of a league: agents come and go, nothing is lost, and other contents are refused."""

import dataclasses
import os

import pytest
from small_league import BOT, groups_of, play_on, small_league
from solved_leduc import leduc_net, sample_leduc

from plurispiel.tournaments.league.config import LeagueConfig
from plurispiel.tournaments.league.entries import change_of, write_entries
from plurispiel.tournaments.league.folder import League, create_league

pytestmark = pytest.mark.usefixtures("home")


def names(league):
    return [entry.name for entry in league.active]


def test_settings_are_fixed_at_the_creation(tmp_path):
    league = small_league(tmp_path / "league", seed=5)
    with pytest.raises(ValueError, match="is a league already"):
        create_league(tmp_path / "league", LeagueConfig(seed=6))
    assert League(tmp_path / "league").config == league.config


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    for folder in (tmp_path / "there", tmp_path / "there" / "file"):
        with pytest.raises(ValueError, match="holds other files"):
            create_league(folder, LeagueConfig())
    with pytest.raises(ValueError, match="is no league; plurispiel league .* add AGENT"):
        League(tmp_path / "there")
    with pytest.raises(ValueError, match="is no league"):
        League(tmp_path / "none")


def test_an_agent_is_added_once(tmp_path):
    league = small_league(tmp_path / "league", "call", "fold")
    assert league.add("call", print, print) == (league.entries[0], False)
    assert names(league) == ["call", "fold"]


def test_an_agent_that_does_not_load_is_refused(tmp_path):
    league = small_league(tmp_path / "league", "call")
    with pytest.raises(ValueError, match="unknown agent 'cal'"):
        league.add("cal", print, print)
    with pytest.raises(ValueError, match="cannot read"):
        league.add("none.py:Bot", print, print)
    assert names(league) == ["call"]


def test_a_removed_agent_comes_back_with_its_results(tmp_path):
    league = small_league(tmp_path / "league", "call", "fold", "raise")
    play_on(league)
    league.remove("fold")
    assert names(league) == ["call", "raise"]
    with pytest.raises(ValueError, match="no agent 'fold'"):
        league.remove("fold")
    with pytest.raises(ValueError, match="did you mean 'raise'"):
        league.remove("rise")
    league.remove("3")
    assert names(league) == ["call"]
    entry, is_new = league.add("fold", print, print)
    assert is_new and entry.number == 2 and groups_of(league)["call", "fold"] == 8


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_networks_are_found_from_another_folder(tmp_path, monkeypatch):
    leduc_net(sample_leduc(tmp_path / "data"), tmp_path / "v" / "M")
    league = small_league(tmp_path / "league", "call")
    monkeypatch.chdir(tmp_path)
    entry, _ = league.add("continual?iterations=2&values=net:v/M", print, print)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert change_of(entry) == ""
    play_on(league)
    assert groups_of(league)["call", "continual?iterations=2&values=net:M"] == 8


def test_a_changed_agent_is_a_new_entry(tmp_path, monkeypatch):
    league = small_league(tmp_path / "league", "call", isolate="foreign", sandbox="none")
    path = tmp_path / "bot.py"
    path.write_text(BOT.format(action=1))
    first, _ = league.add("bot.py:Bot", print, print)
    assert change_of(first) == ""
    path.write_text(BOT.format(action=0))
    assert change_of(first) == "file"
    second, is_new = league.add("bot.py:Bot", print, print)
    assert is_new and (second.number, second.name) == (3, "bot.py:Bot#2")
    assert names(league) == ["call", "bot.py:Bot#2"]
    path.write_text(BOT.format(action=1))
    assert league.add("bot.py:Bot", print, print)[0] == first
    assert names(league) == ["call", "bot.py:Bot"]
    path.unlink()
    assert change_of(first) == "file"


def test_a_changed_agent_replaces_an_entry_of_an_earlier_version(tmp_path):
    """Its spec has ".."."""
    league = small_league(tmp_path / "league", isolate="foreign", sandbox="none")
    (tmp_path / "sub").mkdir()
    path = tmp_path / "bot.py"
    path.write_text(BOT.format(action=1))
    first, _ = league.add(f"{path}:Bot", print, print)
    write_entries(league.folder, [dataclasses.replace(first, spec=f"{tmp_path}/sub/../bot.py:Bot")])
    path.write_text(BOT.format(action=0))
    league.add(f"{path}:Bot", print, print)
    assert names(league) == ["bot.py:Bot#2"]


def test_two_processes_do_not_disturb_each_other(tmp_path):
    league = small_league(tmp_path / "league", "call", "fold")
    with league.playing():
        with pytest.raises(ValueError, match="is being played by another process"), League(league.folder).playing():
            pass
        league.add("raise", print, print)  # a league that is being played takes new agents
    with league.playing():
        pass


@pytest.mark.parametrize("name", ["config.toml", "run.sqlite"])
def test_damaged_pairings_are_refused(tmp_path, name):
    league = small_league(tmp_path / "league", "call", "fold")
    play_on(league)
    (league.pairing_folder(*league.entries).folder / name).write_bytes(b"\x00 no")
    with pytest.raises(ValueError, match=name):
        league.pairing(*league.entries)


def test_a_pairing_of_another_league_is_refused(tmp_path):
    ours = small_league(tmp_path / "ours", "call", "fold")
    theirs = small_league(tmp_path / "theirs", "call", "fold", seed=2)
    play_on(theirs)
    (ours.folder / "pairings").mkdir()
    theirs.pairing_folder(*theirs.entries).folder.rename(ours.pairing_folder(*ours.entries).folder)
    with pytest.raises(ValueError, match="no pairing of this league: seed was"):
        ours.pairing(*ours.entries)


def test_only_pairings_are_forgotten(tmp_path):
    league = small_league(tmp_path / "league", "call", "fold")
    play_on(league)
    (league.folder / "pairings" / "notes.txt").touch()
    (league.folder / "pairings" / "5-6").symlink_to(tmp_path)
    with league.playing():
        league.forget_pairings()
    assert groups_of(league) == {} and tmp_path.exists()
    assert sorted(path.name for path in (league.folder / "pairings").iterdir()) == ["5-6", "notes.txt"]
    assert [dataclasses.asdict(entry)["active"] for entry in league.entries] == [True, True]
