import numpy as np
import pytest
from reference import search as reference

from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.public_states import public_states, rule_actions

LIMIT = "betting=limit,raiseSize=2 4,maxRaises=1 1,numSuits=2,numHoleCards=1"
GAMES = (
    "kuhn_poker(players=3)",
    "leduc_poker",
    f"universal_poker({LIMIT},numPlayers=2,numRounds=2,blind=1 1,firstPlayer=1 1,numRanks=3,numBoardCards=0 2)",
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=2 1,stack=5 4,firstPlayer=2 1,numSuits=1,"
    "numRanks=6,numHoleCards=2,numBoardCards=0 1,bettingAbstraction=fcpa)",
)


def seen_by_all(state, num_players):
    """What everybody sees, the cards dealt together as a set."""
    found = []
    hidden = num_players * reference.hole_cards(state.get_game())
    for number, (actor, what) in enumerate(reference.public(state, num_players)):
        if actor >= 0 or number < hidden:
            found.append((actor, what))
        elif found[-1][0] == -1 and number > hidden and isinstance(found[-1][1], frozenset):
            found[-1] = (-1, found[-1][1] | {what})
        else:
            found.append((-1, frozenset([what])))
    return tuple(found)


@pytest.mark.parametrize("text", GAMES)
def test_public_states(text):
    tree = flatten(text)
    publics = public_states(tree)
    names, deals = {}, {}
    for history in range(tree.num_histories):
        state = tree.openspiel_game.new_initial_state()
        for action in tree.history(history):
            state.apply_action(action)
        number = int(publics.number[history])
        assert names.setdefault(number, seen_by_all(state, tree.num_players)) == seen_by_all(state, tree.num_players)
        assert publics.player[number] == tree.player[history]
        if history:
            first = publics.members(number)[0]
            assert publics.parent[number] == publics.number[tree.parent[first]] < number
        if reference.is_dealt(state):
            for player in range(tree.num_players):
                held = reference.private(state, player)
                assert deals.setdefault(int(publics.combo[history, player]), held) == held
        else:
            assert (publics.combo[history] == -1).all() and publics.street[number] == -1
    assert len(set(names.values())) == len(names) == len(publics)
    assert len(set(deals.values())) == len(deals) == publics.num_combos
    members = np.concatenate([publics.members(number) for number in range(len(publics))])
    np.testing.assert_array_equal(np.sort(members), np.arange(tree.num_histories))


def test_streets_and_deciders():
    tree = flatten("leduc")
    publics = public_states(tree)
    first, *more = publics.roots(0)
    assert not more and publics.player[first] == 0 and publics.possible(first).all()
    for root in publics.roots(1):
        assert publics.street[publics.parent[root]] == 0
        np.testing.assert_array_equal(publics.possible(root).sum(axis=1), [5, 5])
    ends = publics.player == -2
    assert not publics.deciders[ends].any() and publics.deciders[publics.roots(1)].all()


def test_rule_actions():
    kuhn = flatten("kuhn_poker")
    facing = np.array(["b" in key for key in kuhn.infoset_keys])
    actions = rule_actions(kuhn).reshape(-1, 2)
    np.testing.assert_array_equal(actions[facing], np.broadcast_to([0, 1], (6, 2)))
    np.testing.assert_array_equal(actions[~facing], np.broadcast_to([1, 2], (6, 2)))
    leduc = flatten("leduc")
    np.testing.assert_array_equal(np.minimum(rule_actions(leduc), 2), leduc.action_ids)
