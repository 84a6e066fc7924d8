"""The ACPC's game files, against OpenSpiel's own parser of them."""

import dataclasses

import pyspiel
import pytest

from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import HULH, HUNL, PRESETS, SIXMAX, no_limit_holdem
from plurispiel.tournaments.formats.game_definition import (
    BUILT_IN,
    built_in_name,
    find_game,
    game_by_name,
    game_definition_text,
    most_chips,
    parse_game_definition,
    read_game_definition,
)

GAMES = {
    **BUILT_IN,
    **PRESETS,
    "ten": no_limit_holdem(10),
    "unequal": dataclasses.replace(no_limit_holdem(3), stacks=(101, 250, 9000)),
    "capped": dataclasses.replace(HUNL, max_raises=(1, 2, 3, 255)),
}


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
def test_rules_survive_their_text(rules):
    assert parse_game_definition(game_definition_text(rules)) == rules


@pytest.mark.parametrize(
    "rules", [rules for rules in GAMES.values() if rules.num_streets > 1], ids=str
)  # OpenSpiel itself cannot read the lists of a single street
def test_openspiel_reads_the_same_game(rules):
    game = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(game_definition_text(rules))
    theirs = rules_of(game).with_menu(rules.betting_abstraction)
    if rules.max_raises is None:
        theirs = dataclasses.replace(theirs, max_raises=None)
    assert theirs == rules


def test_the_games_of_the_acpc():
    names = {name: (rules.num_seats, rules.betting, rules.blinds) for name, rules in BUILT_IN.items()}
    assert names == {
        "holdem.limit.2p.reverse_blinds.game": (2, "limit", (10, 5)),
        "holdem.limit.3p.game": (3, "limit", (5, 10, 0)),
        "holdem.nolimit.2p.reverse_blinds.game": (2, "no-limit", (100, 50)),
        "holdem.nolimit.3p.game": (3, "no-limit", (50, 100, 0)),
        "kuhn.limit.3p.game": (3, "limit", (1, 1, 1)),
        "kuhn.limit.2p.game": (2, "limit", (1, 1)),
        "leduc.limit.2p.game": (2, "limit", (1, 1)),
    }
    assert BUILT_IN["holdem.nolimit.3p.game"].stacks == (20_000,) * 3
    assert BUILT_IN["kuhn.limit.3p.game"].num_ranks == 4
    assert parse_game_definition(game_definition_text(HUNL)) == BUILT_IN["holdem.nolimit.2p.reverse_blinds.game"]


def test_the_dealers_liberties():
    text = (
        "# a comment\r\n\r\nGameDef\r\nLIMIT\r\nnumplayers 2\r\nNUMROUNDS=4\r\nblind = 10 5 0 0\r\n"
        "raisesize = 10 10 20 20\r\nfirstPlayer = 2\r\nmaxRaises = 3 4 4 4\r\nnumSuits = 4\r\nnumRanks = 13\r\n"
        "numHoleCards = 2\r\nnumBoardCards = 0 3 1 1\r\nend gamedef\r\nanything after it\r\n"
    )
    assert parse_game_definition(text) == HULH
    unlimited = parse_game_definition(text.replace("maxRaises = 3 4 4 4\r\n", ""))
    assert unlimited == dataclasses.replace(HULH, max_raises=None)
    some = parse_game_definition(text.replace("3 4 4 4", "3 4"))
    assert some.max_raises == (3, 4, 255, 255)


def test_stacks_of_limit_games_may_not_run_out():
    assert most_chips(HULH) == 10 + 30 + 40 + 80 + 80
    text = game_definition_text(HULH)
    assert parse_game_definition(text.replace("blind", "stack = 240 240\nblind")) == HULH
    with pytest.raises(ValueError, match=r"limit games have no stacks that run out, got \(240, 239\)"):
        parse_game_definition(text.replace("blind", "stack = 240 239\nblind"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("numPlayers = 2", "numPlayers = 0", "numPlayers and numRounds must be at least 1, got 0"),
        ("numPlayers = 2", "", r"needs 1 number\(s\) of numplayers"),
        ("numPlayers = 2", "numPlayers = 11", r"needs 11 number\(s\) of blind, got 2"),
        ("stack = 20000 20000", "", r"needs 2 number\(s\) of stack, got 0"),
        ("stack = 20000 20000", "stack = 20 20000", "a stack must cover its blind"),
        ("blind = 100 50", "blind = 100", r"needs 2 number\(s\) of blind, got 1"),
        ("blind = 100 50", "blind = 100 x", "line 6 does not belong to a game definition: 'blind = 100 x'"),
        ("blind = 100 50", "bilnd = 100 50", "line 6 does not belong"),
        ("blind = 100 50", f"blind = {'9' * 4000} 50", "line 6 does not belong"),
        ("firstPlayer = 2 1 1 1", "firstPlayer = 3 1 1 1", "first_seats are seats"),
        ("numSuits = 4", "numSuits = 9", "num_suits must be 1..4"),
        ("numBoardCards = 0 3 1 1", "numBoardCards = 0 3 1", r"needs 4 number\(s\) of numboardcards"),
        ("nolimit", "limit", r"needs 4 number\(s\) of raisesize"),
    ],
)
def test_what_is_no_game_is_refused(old, new, message):
    text = game_definition_text(HUNL)
    assert old in text
    with pytest.raises(ValueError, match=message):
        parse_game_definition(text.replace(old, new))


def test_files_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*none.game: No such file"):
        read_game_definition(tmp_path / "none.game")
    (tmp_path / "binary.game").write_bytes(bytes(range(256)) * 4)
    with pytest.raises(ValueError, match=r"binary.game: line 1 does not belong"):
        read_game_definition(tmp_path / "binary.game")
    (tmp_path / "empty.game").touch()
    with pytest.raises(ValueError, match=r"empty.game: a game definition needs 1 number\(s\) of numplayers, got 0"):
        read_game_definition(tmp_path / "empty.game")
    (tmp_path / "good.game").write_text(game_definition_text(HUNL))
    assert read_game_definition(tmp_path / "good.game") == HUNL


def test_a_game_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert game_by_name("holdem.limit.2p.reverse_blinds.game") == HULH
    (tmp_path / "mine.game").write_text(game_definition_text(SIXMAX))
    assert game_by_name("mine.game") == SIXMAX
    with pytest.raises(ValueError, match="cannot read other.game"):
        game_by_name("other.game")


def test_a_game_that_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.game").write_text(game_definition_text(SIXMAX))
    assert [find_game(name) for name in ("mine.game", "SIXMAX", "hunl")] == [SIXMAX, SIXMAX, HUNL]
    with pytest.raises(ValueError, match="unknown game"):
        find_game("mine")


def test_a_known_game_has_its_name_whatever_its_menu():
    assert built_in_name(HUNL.with_menu("fcpa")) == "holdem.nolimit.2p.reverse_blinds.game"
    assert built_in_name(SIXMAX) is None
