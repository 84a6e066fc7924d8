"""The settings of a league: fixed in a file, complete, and independent decks for each pairing."""

import dataclasses

import pytest
from hostile_settings import hostile_settings

from plurispiel.tournaments.league.config import LeagueConfig, read_league_config
from plurispiel.tournaments.run.config import TournamentConfig

DIGESTS = "0" * 12, "1" * 12


def test_a_file_gives_the_same_settings(tmp_path):
    config = LeagueConfig(game="HULH", seed=7, score="duplicate", sandbox="none", agent_network=True)
    (tmp_path / "league.toml").write_text(config.to_toml())
    assert read_league_config(tmp_path / "league.toml") == config


def test_the_values_are_fixed_when_a_league_begins():
    assert LeagueConfig(score="aivat_duplicate").values
    assert LeagueConfig(score="duplicate").values == ""


def test_each_pairing_has_decks_of_its_own():
    config = LeagueConfig(seed=3, score="duplicate")
    seeds = [config.pairing(("call", "fold"), digests, 8)["seed"] for digests in (DIGESTS, DIGESTS[::-1])]
    other = dataclasses.replace(config, seed=4).pairing(("call", "fold"), DIGESTS, 8)["seed"]
    assert len({*seeds, other}) == 3
    assert seeds[0] == config.pairing(("call", "fold"), DIGESTS, 16)["seed"]


def test_agents_from_outside_get_a_secret_key_unless_a_seed_is_given():
    specs = "call", "openspiel:uniform_random"
    assert TournamentConfig(**LeagueConfig().pairing(specs, DIGESTS, 8)).draws_key
    assert not TournamentConfig(**LeagueConfig(seed=1).pairing(specs, DIGESTS, 8)).draws_key
    assert not TournamentConfig(**LeagueConfig().pairing(("call", "fold"), DIGESTS, 8)).draws_key


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
