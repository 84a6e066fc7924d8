"""Histories: a game's own walk, and hold'em dealt by our kernels, must be the same tree."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.trees.game_tree import assemble_tree, flatten
from plurispiel.abstraction.trees.histories import Size, estimate_size, walk
from plurispiel.abstraction.trees.holdem_histories import public_nodes
from plurispiel.abstraction.trees.ladder import LADDER, find_game

GAMES = {
    "kuhn": (58, 12),
    "kuhn3": (617, 48),
    "kuhn_poker(players=4)": (None, None),
    "leduc": (9_457, 936),
    "leduc-2": (None, None),
    "leduc_poker(starting_player=1)": (9_457, 936),
    # Three seats of different stacks, side pots, any raise size.
    "universal_poker(betting=nolimit,numPlayers=3,numRounds=2,blind=2 1 0,firstPlayer=1 1,numSuits=1,numRanks=5,"
    "numHoleCards=1,numBoardCards=0 1,stack=5 4 3,bettingAbstraction=fullgame)": (None, None),
    # Boards on two streets: OpenSpiel's information states forget which card came when.
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=3,blind=2 1,firstPlayer=2 1 1,numSuits=2,numRanks=3,"
    "numHoleCards=1,numBoardCards=0 2 1,stack=6 6,bettingAbstraction=fchpa)": (None, None),
    # Two hole cards, a board on the first street already.
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=2 1,firstPlayer=2 1,numSuits=2,numRanks=3,"
    "numHoleCards=2,numBoardCards=1 0,stack=4 6,bettingAbstraction=fcpa)": (None, None),
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=1 2,"
    "numSuits=2,numRanks=3,numHoleCards=1,numBoardCards=0 1,bettingAbstraction=fc)": (None, None),
}
LARGE = {"leduc3": (1_831_601, 25_800), "universal_poker()": (1_220_497, 20_160), "holdem-mini": (4_349_545, 11_088)}


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))


def check_same(name, histories, infosets):
    game = find_game(name)
    dealt = flatten(game)
    walked = assemble_tree(str(game), walk(game, 10_000_000))
    for field in dealt.__dataclass_fields__:
        ours, theirs = getattr(dealt, field), getattr(walked, field)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs, err_msg=field)
        else:
            assert ours == theirs
    nodes = public_nodes(OpenSpielGame(game))
    assert nodes.num_histories == dealt.num_histories
    assert nodes.num_infosets == dealt.num_infosets
    if histories:
        assert (dealt.num_histories, dealt.num_infosets) == (histories, infosets)


@pytest.mark.parametrize("name", GAMES)
def test_dealt_histories_are_openspiels(name):
    check_same(name, *GAMES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_dealt_histories_of_large_games_are_openspiels(name):
    check_same(name, *LARGE[name])


@pytest.mark.parametrize("name", LARGE)
def test_sizes_of_large_games(name):
    nodes = public_nodes(OpenSpielGame(find_game(name)))
    assert (nodes.num_histories, nodes.num_infosets) == LARGE[name]


def test_own_infosets_where_openspiel_forgets():
    tree = flatten([name for name in GAMES if "numBoardCards=0 2 1" in name][0])
    assert not tree.openspiel_recall
    assert len(set(tree.infoset_keys)) < tree.num_infosets
    assert flatten("leduc").openspiel_recall


def test_estimate():
    assert estimate_size(find_game("leduc")).histories == pytest.approx(9_457, rel=0.1)
    assert estimate_size(find_game("kuhn")).histories == pytest.approx(58, rel=0.05)


@pytest.mark.parametrize(
    ("game", "limit", "message"),
    [
        ("leduc", 9_456, "9,457 histories, 0.3 MB"),
        (LADDER["holdem-flop"].game, 10**9, r"1.9e\+14 histories, more than 1,000 TB"),
        ("HUNL", 10**6, "more than .* histories"),
        ("SIXMAX", 10**6, "more than .* histories"),
        ("liars_dice(numdice=3)", 10**6, "about .* histories, .* TB"),
        ("tic_tac_toe", 10_000, "about 5.*,... histories, .* MB"),
        ("chess", 10**6, "about .* histories"),
    ],
)
def test_too_large(game, limit, message):
    with pytest.raises(ValueError, match=f"too large for a tree: {message}.*; the limit is {limit:,} ") as refusal:
        flatten(game, max_histories=limit)
    assert "\n" not in str(refusal.value)


def test_limit_is_reached_exactly():
    assert flatten("leduc", max_histories=9_457).num_histories == 9_457
    game = "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))"
    size = flatten(game).num_histories
    assert flatten(game, max_histories=size).num_histories == size
    with pytest.raises(ValueError, match="too large"):
        flatten(game, max_histories=size - 1)


def test_numbers_have_32_bits():
    with pytest.raises(ValueError, match="at most 2,147,483,646, got 3,000,000,000"):
        flatten("kuhn", max_histories=3_000_000_000)


def test_sizes_in_words():
    words = [str(Size(10**k)).partition(", ")[2] for k in (1, 8, 11, 15)]
    assert words == ["0.0 MB", "3.7 GB", "3.7 TB", "more than 1,000 TB"]
    assert str(Size(1e300, "about ")) == "about 1e+300 histories, more than 1,000 TB"


def test_the_size_is_said_first():
    said = []
    flatten("leduc", say=said.append)
    assert said == ["9,457 histories, 0.3 MB"]
    with pytest.raises(ValueError, match="too large"):
        flatten("leduc", max_histories=10, say=said.append)
    flatten("tiny_hanabi", say=said.append)
    assert said[1:] == ["about 55 histories, 0.0 MB"]
