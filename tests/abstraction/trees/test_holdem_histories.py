"""Hold'em dealt by kernels and a game's own walk are the same tree."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.trees.game_tree import assemble_tree, flatten
from plurispiel.abstraction.trees.histories import walk
from plurispiel.abstraction.trees.holdem_histories import public_nodes
from plurispiel.abstraction.trees.ladder import find_game

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


@pytest.mark.slow
def test_a_billion_raises_are_counted_but_not_listed():
    """Three cards: the root's 999,999,999 actions (check, raise to 2..1,000,000,000) follow each of six deals."""
    text = "numRounds=1,blind=1 1,firstPlayer=1 1,numSuits=1,numRanks=3,numBoardCards=0 0,stack=1000000000 1000000000"
    name = f"universal_poker({text},bettingAbstraction=fullgame)"
    nodes = public_nodes(OpenSpielGame(find_game(name)))
    assert not nodes.complete and nodes.num_histories > 6 * 10**9
    with pytest.raises(ValueError, match="too large for a tree: at least 6,000,"):
        flatten(name)


def test_own_infosets_where_openspiel_forgets():
    tree = flatten([name for name in GAMES if "numBoardCards=0 2 1" in name][0])
    assert not tree.openspiel_recall
    assert len(set(tree.infoset_keys)) < tree.num_infosets
    assert flatten("leduc").openspiel_recall
