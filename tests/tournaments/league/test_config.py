"""The settings of a league: fixed in a file, complete, and independent decks for each pairing."""

import dataclasses

import pytest
from hostile_settings import hostile_settings

from plurispiel.tournaments.league.config import LeagueConfig, read_league_config
from plurispiel.tournaments.league.entries import Entry
from plurispiel.tournaments.run.config import TournamentConfig


def pairing(config, *specs, digests=("0" * 12, "1" * 12), **options):
    """Return the settings of the pairing of two new entries."""
    one, other = (
        Entry(k, spec, spec, digest) for k, (spec, digest) in enumerate(zip(specs, digests, strict=True), start=1)
    )
    return config.pairing((one, other), **{"decks": 8} | options)


def test_a_file_gives_the_same_settings(tmp_path):
    config = LeagueConfig(game="HULH", seed=7, score="duplicate", sandbox="none", agent_network=True)
    (tmp_path / "league.toml").write_text(config.to_toml())
    assert read_league_config(tmp_path / "league.toml") == config


def test_the_values_are_fixed_when_a_league_begins():
    assert LeagueConfig(score="aivat_duplicate").values
    assert LeagueConfig(score="duplicate").values == ""


def test_each_pairing_has_decks_of_its_own():
    config = LeagueConfig(seed=3, score="duplicate")
    other = dataclasses.replace(config, seed=4)
    found = [
        pairing(config, "call", "fold"),
        pairing(config, "call", "fold", digests=("1" * 12, "0" * 12)),
        pairing(config, "call", "fold", part=2),
        pairing(other, "call", "fold"),
    ]
    assert len({settings["seed"] for settings in found}) == 4
    assert found[0]["seed"] == pairing(config, "call", "fold", decks=16)["seed"]


def test_believed_entries_are_believed_in_their_pairings():
    one, other = Entry(1, "a.py:A", "x/a.py:A", "0" * 12), Entry(2, "a.py:A#2", "y/a.py:A", "1" * 12, believe=True)
    config = TournamentConfig(**LeagueConfig(score="aivat", values="checkdown").pairing((one, other), 8))
    assert config.believed == {1}


def test_agents_from_outside_get_a_secret_key_unless_a_seed_is_given():
    specs = "call", "openspiel:uniform_random"
    assert TournamentConfig(**pairing(LeagueConfig(), *specs)).draws_key
    assert not TournamentConfig(**pairing(LeagueConfig(seed=1), *specs)).draws_key
    assert not TournamentConfig(**pairing(LeagueConfig(), "call", "fold")).draws_key


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "SIXMAX"}, "seats"),
        ({"game": ""}, "a game"),
        ({"placement": 1}, "placement"),
        ({"placement": True}, "placement"),
        ({"sandbox": "jail"}, "sandbox must be one of"),
        ({"processes": "many"}, "processes must be one of"),
        ({"agent_network": "yes"}, "agent_network"),
        ({"isolate": 3}, "texts"),
        ({"seed": -1}, "seed"),
        ({"score": "best"}, "score"),
    ],
)
def test_other_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        LeagueConfig(**settings)


def test_hostile_files_are_refused_in_one_line(tmp_path):
    path = tmp_path / "league.toml"
    refused = 0
    for content in hostile_settings([LeagueConfig(seed=1, score="duplicate").to_toml()], 60):
        path.write_bytes(content)
        try:
            read_league_config(path)
        except ValueError as error:
            refused += 1
            assert "league.toml" in str(error)
    assert refused > 15
