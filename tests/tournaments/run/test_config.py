"""Settings: defaults, files, refusals and the digest."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run import config as config_module
from plurispiel.tournaments.run.config import TournamentConfig, read_config


def make(count, **options):
    return TournamentConfig(agents=("call",) * count, **options)


@pytest.mark.parametrize("count", range(2, 11))
def test_as_many_seats_as_agents(count):
    config = make(count)
    assert (config.seats, config.format) == (count, "lineup")
    assert config.rules == (HUNL if count == 2 else no_limit_holdem(count, stack=10_000, blinds=(50, 100)))


def test_two_seats_play_200_big_blinds_and_more_play_100():
    assert make(2).rules.stacks == (20_000,) * 2
    assert make(2).rules.blinds == (100, 50)
    assert make(3).rules.stacks == (10_000,) * 3
    assert make(3).rules.blinds == (50, 100, 0)
    assert make(6, seats=2).rules == HUNL


@pytest.mark.parametrize("count", [11, 12, 40])
def test_more_than_ten_agents_sit_at_six_seats(count):
    config = make(count)
    assert (config.seats, config.format) == (6, "round-robin")
    assert config.rules == SIXMAX


def test_more_agents_than_seats_is_a_round_robin():
    assert make(4, seats=3).format == "round-robin"
    assert make(11, seats=10).format == "round-robin"
    assert make(3, game="HUNL").format == "round-robin"


def test_a_game_brings_its_seats():
    assert make(6, game="SIXMAX").seats == 6
    assert make(3, game="leduc").rules == LEDUC
    config = make(3, game="kuhn_poker(players=3)", seats=3)
    assert (config.seats, config.format) == (3, "lineup")


def test_formats():
    assert make(6, format="round-robin").format == "round-robin"
    assert make(3, format="gauntlet", seats=6).seats == 6
    assert make(3, format="gauntlet").seats == 3
    assert make(3, format="gauntlet", copies=True).copies


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": ()}, "needs agents"),
        ({"agents": "call,tag"}, "agents must be a list of texts, got 'call,tag'"),
        ({"agents": ("call", 3)}, "agents must be a list of texts"),
        ({"agents": ("call",)}, "a table has 2..10 seats, got 1"),
        ({"agents": ("call", "tag?x")}, "options are written"),
        ({"decks": 0}, "decks must be at least 1, got 0"),
        ({"decks": -5}, "decks must be at least 1, got -5"),
        ({"decks": True}, "decks must be a whole number, got True"),
        ({"decks": 1.0}, "decks must be a whole number, got 1.0"),
        ({"decks": "10"}, "decks must be a whole number, got '10'"),
        ({"seed": -1}, "seed must not be negative, got -1"),
        ({"seed": False}, "seed must be a whole number"),
        ({"seats": 1}, "2..10 seats, got 1"),
        ({"seats": 11}, "2..10 seats, got 11"),
        ({"seats": -2}, "2..10 seats, got -2"),
        ({"seats": 6.0}, "seats must be a whole number"),
        ({"lineups": -1}, "lineups must not be negative, got -1"),
        ({"copies": 1}, "copies must be true or false, got 1"),
        ({"copies": "yes"}, "copies must be true or false"),
        ({"copies": True}, "copies belong to the gauntlet format, got format 'lineup'"),
        ({"copies": True, "format": "round-robin"}, "copies belong to the gauntlet"),
        (
            {"format": "knockout"},
            "the format is one of round-robin, gauntlet, lineup, lineup-1v5, lineup-5v1, got 'knockout'",
        ),
        ({"format": 3}, "format must be a text"),
        ({"referee": "me"}, "the referee is one of universal_poker, none, got 'me'"),
        ({"referee": ""}, "the referee is one of"),
        ({"game": "chess"}, "chess"),
        ({"game": 5}, "game must be a text"),
        ({"game": "SIXMAX", "seats": 5}, "the game has 6 seats, got seats 5"),
        ({"seats": 5, "format": "lineup"}, "a lineup needs one agent for each of the 5 seats, got 6"),
        ({"seats": 9}, "needs at least 9 agents for 9 seats, got 6"),
        ({"agents": ("call",), "seats": 2, "format": "gauntlet"}, "at least one opponent"),
        ({"game": "universal_poker(betting=nolimit,stack=50 50,blind=100 50)"}, "must cover its blind"),
    ],
)
def test_wrong_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        TournamentConfig(**options)


def test_a_file_gives_settings(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('agents = ["call", "tag"]\ndecks = 7\ncopies = false\n')
    assert TournamentConfig(**read_config(path)) == TournamentConfig(agents=("call", "tag"), decks=7)
    path.write_text("")
    assert TournamentConfig(**read_config(path)) == TournamentConfig()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"deks = 5", r"no setting 'deks', did you mean 'decks'\? \(settings are agents, game, seats,"),
        (b"zzzzz = 5", r"no setting 'zzzzz' \(settings"),
        (b"decks = ", "is not valid TOML"),
        (b"decks = 1\ndecks = 2", "is not valid TOML"),
        (b"\xff\xfe", "is not valid TOML"),
        (b"[decks]\nx = 1", "decks must be a whole number"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, message):
    path = tmp_path / "c.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        TournamentConfig(**read_config(path))
    assert "\n" not in str(caught.value)


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot read .*: No such file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ValueError, match="cannot read .*: Is a directory"):
        read_config(tmp_path)


CONFIGS = [
    TournamentConfig(),
    make(3, format="gauntlet", copies=True, seats=6, seed=2**70),
    TournamentConfig(agents=("openspiel:cfr?iterations=5", "call"), game="leduc_poker(players=2)", decks=12),
    make(13, lineups=7, referee="none"),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_the_file_of_a_run_reads_back(tmp_path, config):
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    again = TournamentConfig(**read_config(path))
    assert again == config
    assert again.digest == config.digest


@settings(max_examples=60, deadline=None)
@given(name=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="?:"), min_size=1))
def test_any_name_survives_the_file(tmp_path_factory, name):
    config = TournamentConfig(agents=(f"x{name}x:Bot", 'a "quoted" \\ name\n'))
    path = tmp_path_factory.mktemp("toml") / "config.toml"
    path.write_text(config.to_toml(), encoding="utf-8", newline="")
    assert TournamentConfig(**read_config(path)) == config


def test_an_agent_is_believed_by_its_spec_in_a_file_elsewhere(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('agents = ["bots/a.py:Bot", "b.py:Bot"]\nbelieve = ["bots/a.py:Bot"]\n')
    assert TournamentConfig(**read_config(path)).believed == {0}
    path.write_text('agents = ["bots/a.py:Bot", "b.py:Bot"]\nbelieve = ["b.py:Bot", "a.py:Bot"]\n')
    assert TournamentConfig(**read_config(path)).believed == {0, 1}


def test_options_win_over_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path))
    path = tmp_path / "c.toml"
    path.write_text('agents = ["call", "call", "call"]\ndecks = 9\nseed = 4\n')
    arguments = [str(path), "--decks", "2", "--agents", "fold,raise", "--agents", "call", "--json", "--workers", "1"]
    assert main(["tournament", *arguments]) == 0
    results = json.loads(capsys.readouterr().out)
    assert (results["decks"], results["seed"], results["seats"]) == (2, 4, 3)
    assert [agent["name"] for agent in results["agents"]] == ["fold", "raise", "call"]


BASE = TournamentConfig(agents=("call", "tag", "fold"))


@pytest.mark.parametrize(
    "change",
    [
        {"agents": ("call", "tag", "raise")},
        {"agents": ("tag", "call", "fold")},
        {"agents": ("call", "tag", "fold", "fold")},
        {"seed": 2},
        {"referee": "none"},
        {"format": "round-robin"},
        {"format": "gauntlet"},
        {"lineups": 5},
        {"game": game_string(no_limit_holdem(3, stack=9_900))},
        {"seats": 2, "format": "round-robin"},
        {"format": "gauntlet", "copies": True},
    ],
)
def test_the_digest_follows_all_that_matters(change):
    settings = {"agents": BASE.agents} | change
    assert TournamentConfig(**settings).digest != BASE.digest


def test_the_digest_tells_formats_apart():
    digests = {
        dataclasses.replace(BASE, **o).digest for o in ({"format": "gauntlet"}, {"format": "gauntlet", "copies": True})
    }
    assert len(digests) == 2


def test_the_digest_does_not_follow_decks_or_spelling():
    assert dataclasses.replace(BASE, decks=1_000).digest == BASE.digest
    assert TournamentConfig(agents=BASE.agents, seats=3, format="lineup").digest == BASE.digest
    assert make(2, game="hunl").digest == make(2, game=game_string(HUNL)).digest == make(2).digest


def test_the_digest_follows_an_edited_bot(tmp_path):
    path = tmp_path / "bot.py"
    spec = f"{path}:Bot"
    path.write_text("class Bot: pass\n")
    first = TournamentConfig(agents=(spec, "call")).digest
    assert TournamentConfig(agents=(spec, "call")).digest == first
    path.write_text("class Bot: x = 1\n")
    assert TournamentConfig(agents=(spec, "call")).digest != first


def test_the_digest_follows_the_version_and_the_sources(monkeypatch, tmp_path):
    first = make(2).digest
    assert make(2).digest == first
    digests = {first}
    package_digest = config_module.package_digest.__wrapped__
    monkeypatch.setattr(config_module, "package_digest", package_digest)
    monkeypatch.setattr(config_module, "__version__", "99.0")
    digests.add(make(2).digest)
    source = tmp_path / "agents" / "new.py"
    source.parent.mkdir()
    monkeypatch.setattr(config_module, "__file__", str(tmp_path / "tournaments" / "run" / "config.py"))
    for text in ("X = 1", "X = 2"):
        source.write_text(text)
        digests.add(make(2).digest)
    assert len(digests) == 4
