"""Translation: hands followed in a tree that does not fit."""

import dataclasses

import numpy as np
import pytest

from plurispiel.abstraction.actions.game_difference import game_difference
from plurispiel.abstraction.actions.mapping import lower_share
from plurispiel.abstraction.actions.shadow import Between, Shadow
from plurispiel.abstraction.actions.translation import BetweenNodes, Place, ShadowHand, Translation
from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, game_menu
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HULH, LEDUC, SIXMAX, no_limit_holdem

LOWER, UPPER = 0.0, 1.0 - 1e-9
"""Coins that choose the lower or the upper neighbour."""

HEADS_UP = no_limit_holdem(2)
THREE = no_limit_holdem(3)
MENU = GameMenu((StreetMenu(("0.5p 1p allin", "allin")), StreetMenu(("0.5p 1p", "1p"), multiway=("1p",))))


def states_of(rules, menu=MENU):
    return TreeStates(rules, build_tree(rules, menu))


HEADS_UP_TREE, THREE_TREE = states_of(HEADS_UP), states_of(THREE)


def followed(rules, states, actions, coin=None, seat=-1):
    """Return the translation, the state of the hand and its shadow after some actions."""
    translation = Translation(rules, states)
    coins = None if coin is None else [coin] * len(actions)
    place = ShadowHand(translation, coins, seat).at(actions)
    return translation, place.state, place.shadow


def path(states, node):
    """Return the actions that lead to a node."""
    actions = []
    while node:
        actions.append(int(states.tree.action[node]))
        node = int(states.tree.parent[node])
    return actions[::-1]


# Hands of the tree's own game.


@pytest.mark.parametrize(
    ("rules", "menu"),
    [(HEADS_UP, MENU), (THREE, MENU), (LEDUC, game_menu(LEDUC)), (HULH, game_menu(HULH))],
    ids=["heads-up", "three", "leduc", "limit"],
)
def test_actions_of_the_tree_are_themselves(rules, menu):
    states = states_of(rules, menu)
    tree, rng = states.tree, np.random.default_rng(1)
    nodes = np.flatnonzero(tree.actor >= 0)
    for node in rng.choice(nodes, min(120, len(nodes)), replace=False).tolist():
        for coin in (None, 0.0, float(rng.random()), UPPER):
            for seat in (-1, 0, 1):
                translation, state, shadow = followed(rules, states, path(states, node), coin, seat)
                assert shadow == Shadow(node, translation.tree_seats)
                assert translation.decision(shadow, state) == node
                assert translation.actions(shadow, state) == tree.actions(node).tolist()


def test_the_same_game_in_other_chips():
    """Blinds of 1 and 2 with the same depth: all-in is all-in, pot is pot, and nothing is to be said."""
    small = dataclasses.replace(THREE, blinds=(1, 2, 0), stacks=(200,) * 3)
    assert game_difference(small, THREE) == ""
    translation, state, shadow = followed(small, THREE_TREE, [7, CALL, FOLD, CALL, 16], 0.5)
    assert path(THREE_TREE, shadow.node)[:4] == [350, CALL, FOLD, CALL]
    _, _, shadow = followed(small, THREE_TREE, [200], 0.5)
    assert path(THREE_TREE, shadow.node) == [10_000]
    translation, state, shadow = followed(small, THREE_TREE, [])
    assert translation.actions(shadow, state) == [FOLD, CALL, 5, 7, 200]


# What hands share.


def random_hand(rules, rng, offered):
    """Return the actions of a random hand; raises are often those of a menu, and of any size else."""
    state, actions = BettingState(rules), []
    while not state.is_over:
        choices = [FOLD] * state.can_fold + [CALL] * 5
        if state.max_raise:
            choices += [total for total in offered(actions) if total > CALL] * 2
            choices += rng.integers(state.min_raise, min(state.max_raise, 4 * state.min_raise) + 1, 2).tolist()
        actions.append(choices[int(rng.integers(len(choices)))])
        state.apply(actions[-1])
    return actions


@pytest.mark.parametrize(
    "rules", [THREE, dataclasses.replace(THREE, stacks=(700, 30_000, 9_000))], ids=["own", "other"]
)
def test_hands_share_what_does_not_depend_on_their_seats_and_coins(rules, monkeypatch):
    """The same as every hand alone; and as without the short cut where the tree has had the same actions."""
    rng = np.random.default_rng(4)
    shared, plain = Translation(rules, THREE_TREE), Translation(rules, THREE_TREE, by_nodes=False)
    num_nodes = num_others = 0
    for number in range(400):
        if number == 200:
            monkeypatch.setattr("plurispiel.abstraction.actions.translation.MAX_KEPT_PLACES", 30)
        coins, own = rng.random(300), int(rng.integers(-1, 3))
        hands = [ShadowHand(translation, coins, own) for translation in (shared, Translation(rules, THREE_TREE), plain)]

        def offered(actions, hand=hands[0]):
            return hand.translation.answers(hand.at(actions)).actions

        actions = random_hand(rules, rng, offered)
        for count in range(len(actions)):
            places = [hand.at(actions[:count]) for hand in hands]
            assert places[0].shadow == places[1].shadow == places[2].shadow
            assert len({hand.translation.answers(place) for hand, place in zip(hands, places, strict=True)}) == 1
            assert all(np.array_equal(place.state.array, places[0].state.array) for place in places)
            num_nodes += places[0].is_node
            num_others += not places[0].is_node
    assert num_others > 500 and (num_nodes > 500) == (rules is THREE)


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr("plurispiel.abstraction.actions.translation.MAX_KEPT_PLACES", 100)
    translation, rng = Translation(THREE, THREE_TREE), np.random.default_rng(6)

    def count(place):
        after = [(found,) if isinstance(found, Place) else found[1:] for found in place.following.values()]
        return 1 + sum(count(following) for places in after for following in places)

    roots = set()
    for _ in range(50):
        roots.add(root := translation.root(0))
        ShadowHand(translation, rng.random(300), 0).at(random_hand(THREE, rng, lambda actions: []))
        assert count(root) < 200
    assert len(roots) > 3


# Bets between the sizes.


def test_a_bet_counts_as_a_neighbour_and_is_measured_in_its_own_pot():
    # Half a pot before the flop is 200, a pot is 300.
    for coin, total in ((LOWER, 200), (UPPER, 300)):
        _, state, shadow = followed(HEADS_UP, HEADS_UP_TREE, [240, CALL, CALL], coin)
        assert path(HEADS_UP_TREE, shadow.node) == [total, CALL, CALL]
        # Now the pots are 480 and 400 or 600, and a bet of 480 is one of the pot in both.
        actions = [240, CALL, 240 + 480]
        translation, state, shadow = followed(HEADS_UP, HEADS_UP_TREE, actions, coin)
        assert path(HEADS_UP_TREE, shadow.node) == [total, CALL, 3 * total]
        # Answers: the pot is 3 * 480 after a call.
        assert translation.actions(shadow, state) == [FOLD, CALL, 720 + 1440]


def test_one_draw_for_each_action():
    translation = Translation(HEADS_UP, HEADS_UP_TREE)
    coins = np.random.default_rng(2).random(10)
    hand = ShadowHand(translation, coins)
    found = [hand.at(actions).shadow for actions in ((240,), (240, CALL), (240, CALL, 400), (240,), (240, CALL, 400))]
    assert found[0] == found[3] and found[2] == found[4]
    assert ShadowHand(translation, coins).at((240, CALL, 400)).shadow == found[2]  # joined in mid-hand
    assert path(HEADS_UP_TREE, found[2].node)[:2] == path(HEADS_UP_TREE, found[1].node)


def test_what_an_own_action_came_from():
    """A short stack makes a pot an all-in: the seat's own all-in is the pot it chose, somebody else's is measured."""
    short = dataclasses.replace(HEADS_UP, stacks=(10_000, 260))
    translation, state, shadow = followed(short, HEADS_UP_TREE, [])
    assert translation.actions(shadow, state) == [FOLD, CALL, 200, 260, 260]
    _, _, own = followed(short, HEADS_UP_TREE, [260], LOWER, seat=1)
    _, _, other = followed(short, HEADS_UP_TREE, [260], LOWER)
    assert path(HEADS_UP_TREE, own.node) == [300] and path(HEADS_UP_TREE, other.node) == [200]


def test_all_in_is_all_in_where_stacks_are_as_deep():
    """Though the pots differ: 240 counts as 200, so that all-in is another share of the pot."""
    translation, state, shadow = followed(HEADS_UP, HEADS_UP_TREE, [240], LOWER)
    assert translation.actions(shadow, state) == [FOLD, CALL, 10_000]
    _, _, shadow = followed(HEADS_UP, HEADS_UP_TREE, [240, 10_000], LOWER)
    assert path(HEADS_UP_TREE, shadow.node) == [200, 10_000]


def test_other_depths_go_by_shares_of_the_pot():
    shallow = dataclasses.replace(HEADS_UP, stacks=(1_000,) * 2)
    translation, state, shadow = followed(shallow, HEADS_UP_TREE, [800], LOWER)  # 3.5 pots
    assert path(HEADS_UP_TREE, shadow.node) == [300]
    assert translation.actions(shadow, state) == [FOLD, CALL, 1_000]
    _, _, shadow = followed(shallow, HEADS_UP_TREE, [1_000])  # all-in for 4.5 pots, which is less than in the tree
    assert path(HEADS_UP_TREE, shadow.node) == [10_000]
    assert path(HEADS_UP_TREE, shadow.between.lower.node) == [300] and 0.1 < shadow.between.share < 0.5
    deep = dataclasses.replace(HEADS_UP, stacks=(40_000,) * 2)
    translation, state, shadow = followed(deep, HEADS_UP_TREE, [])
    assert translation.actions(shadow, state)[-1] == 10_000
    _, _, shadow = followed(deep, HEADS_UP_TREE, [40_000], LOWER)  # above the largest size there is only that
    assert path(HEADS_UP_TREE, shadow.node) == [10_000]


# Where hand and tree part.


def test_a_small_bet_is_a_check_if_others_act_behind_it():
    # Three seats on the flop with 300 in the pot; 100 is a third of it, and the size of the tree is the pot.
    flop = [CALL, CALL, CALL]
    translation, state, shadow = followed(THREE, THREE_TREE, [*flop, 200], LOWER)
    assert path(THREE_TREE, shadow.node) == [*flop, CALL] and not shadow.missed
    assert translation.decision(shadow, state) == shadow.node
    assert translation.actions(shadow, state)[0] == CALL  # no fold: there is no bet
    _, _, other = followed(THREE, THREE_TREE, [*flop, 200], UPPER)
    assert path(THREE_TREE, other.node) == [*flop, 400]
    # The share of hands that folds is the same: a third is 0 with probability 1/2 by the pseudo-harmonic mapping.
    assert shadow.between == other.between == Between(pytest.approx(0.5), None, other._replace(between=None))
    hand = ShadowHand(translation, [LOWER] * 4)
    answers = translation.answers(hand.at([*flop, 200]))
    assert answers.between == BetweenNodes(pytest.approx(0.5), None, other.node) and answers.actions[0] == FOLD


def test_who_answers_a_small_bet_answers_it_at_both_sizes():
    flop = [CALL, CALL, CALL]
    for answer, last in ((CALL, CALL), (FOLD, FOLD)):
        for coin, node in ((LOWER, [*flop, CALL, CALL]), (UPPER, [*flop, 400, last])):
            _, _, shadow = followed(THREE, THREE_TREE, [*flop, 200, answer], coin)
            assert path(THREE_TREE, shadow.node) == node
            assert path(THREE_TREE, shadow.between.upper.node) == [*flop, 400, last]
    # A new bet, or a new street, ends it.
    for following in ([200, CALL, 900], [200, CALL, CALL]):
        assert followed(THREE, THREE_TREE, [*flop, *following], LOWER)[2].between is None


def test_a_small_bet_that_others_must_answer_goes_on_from_the_smallest_raise():
    """After a check the tree's street would end, or ask the wrong seats."""
    for rules, states, checks, bet, first in (
        (HEADS_UP, HEADS_UP_TREE, [300, CALL, CALL], 400, 600),
        (THREE, THREE_TREE, [CALL, CALL, CALL, CALL], 200, 400),
        (THREE, THREE_TREE, [CALL, CALL, CALL, CALL, CALL], 200, 400),
    ):
        shadows = [followed(rules, states, [*checks, bet], coin)[2] for coin in (LOWER, UPPER)]
        assert shadows[0] == shadows[1] and path(states, shadows[0].node) == [*checks, first]
        between = shadows[0].between
        assert between.lower is None and between.upper.node == shadows[0].node and 0.3 < between.share < 0.6
        rest = [CALL] * (rules.num_seats - 1)
        _, state, shadow = followed(rules, states, [*checks, bet, *rest], LOWER)
        assert shadow.between is None and states.tree.street[shadow.node] == state.street == 2


# All-in.


def test_a_bet_is_all_in_only_if_nobody_can_raise_it():
    """It goes on from the largest other size, and is answered by that size and the all-in."""
    actions = [300, CALL]  # 600 lie; half a pot, a pot or all-in
    states = states_of(HEADS_UP, GameMenu((StreetMenu(("0.5p 1p allin", "allin")),)))
    for total in (1_500, 5_000, 9_999):
        for coin in (LOWER, UPPER):
            translation, state, shadow = followed(HEADS_UP, states, [*actions, total], coin)
            assert path(states, shadow.node) == [*actions, 900]
            assert path(states, shadow.between.lower.node) == [*actions, 900]
            assert path(states, shadow.between.upper.node) == [*actions, 10_000]
            share = lower_share((total - 300) / 600, 1.0, 9_700 / 600)
            assert shadow.between.share == pytest.approx(share)
            _, state, shadow = followed(HEADS_UP, states, [*actions, total, CALL], coin)
            assert path(states, shadow.node) == [*actions, 900, CALL] and shadow.between is None
    _, _, shadow = followed(HEADS_UP, states, [*actions, 10_000], LOWER)
    assert path(states, shadow.node) == [*actions, 10_000] and shadow.between is None


def test_an_all_in_is_answered_by_its_share_of_the_pot():
    """240 counts as 200 or 300, so that all-in is a smaller share of the hand's pot than of one of the trees'."""
    states = states_of(HEADS_UP, GameMenu((StreetMenu(("0.5p 1p allin", "allin")),)))
    for coin, called in ((LOWER, 200), (UPPER, 300)):
        actions = [called, CALL, 10_000]
        _, _, shadow = followed(HEADS_UP, states, [240, CALL, 10_000], coin)
        assert path(states, shadow.node) == actions and (shadow.between is not None) == (called == 200)
        if called == 200:
            assert path(states, shadow.between.lower.node) == [200, CALL, 600] and 0.0 < shadow.between.share < 0.05


def test_where_all_in_is_the_only_raise_a_smaller_one_is_missed():
    """The hands that go on are those of a call and the all-in; play goes on from the call."""
    translation, state, shadow = followed(HEADS_UP, HEADS_UP_TREE, [300, 900])
    assert path(HEADS_UP_TREE, shadow.node) == [300, CALL] and shadow.missed
    assert path(HEADS_UP_TREE, shadow.between.upper.node) == [300, 10_000]
    answers = translation.answers(ShadowHand(translation).at([300, 900]))
    assert answers.node is None and answers.between.upper == shadow.between.upper.node
    _, state, shadow = followed(HEADS_UP, HEADS_UP_TREE, [300, 900, CALL])
    assert shadow == Shadow(shadow.node, (0, 1)) and path(HEADS_UP_TREE, shadow.node) == [300, CALL]


def test_where_the_tree_offers_no_call_either_a_smaller_raise_is_the_all_in():
    states = states_of(HEADS_UP, GameMenu((StreetMenu(("allin",)),), push_or_fold=True))
    translation, state, shadow = followed(HEADS_UP, states, [300])
    assert path(states, shadow.node) == [10_000] and shadow.between.lower is None


def test_a_fold_that_the_tree_does_not_know():
    """The bet was a check, so the seat that folded checks, and folds when it must."""
    flop = [CALL, CALL, CALL]
    _, state, shadow = followed(THREE, THREE_TREE, [*flop, 200, FOLD], LOWER)
    assert path(THREE_TREE, shadow.node) == [*flop, CALL, CALL] and state.actor == 2
    _, state, shadow = followed(THREE, THREE_TREE, [*flop, 200, FOLD, 600], LOWER)
    assert path(THREE_TREE, shadow.node)[:5] == [*flop, CALL, CALL] and state.actor == 0
    assert THREE_TREE.tree.actor[shadow.node] == 0
    translation, state, shadow = followed(THREE, THREE_TREE, [*flop, 200, FOLD, 600, CALL], LOWER)
    assert path(THREE_TREE, shadow.node)[-2:] == [CALL, FOLD]
    assert THREE_TREE.tree.street[shadow.node] == state.street == 2
    assert translation.decision(shadow, state) == shadow.node


def test_a_raise_beyond_the_last_of_the_tree_is_missed_until_the_next_street():
    states = states_of(THREE, GameMenu((StreetMenu(("1p",)),)))
    actions = [350, 700]  # the tree has one raise, and seat 1 can still answer it
    translation, state, shadow = followed(THREE, states, actions)
    assert path(states, shadow.node) == [350, CALL] and shadow.missed
    assert states.tree.actor[shadow.node] == state.actor and translation.decision(shadow, state) is None
    translation, state, shadow = followed(THREE, states, [*actions, CALL, CALL])
    assert not shadow.missed and translation.decision(shadow, state) == shadow.node
    assert states.tree.street[shadow.node] == state.street == 1


def test_the_tree_waits_where_its_street_is_over():
    """Its last raise is called by a raise: it is on the flop, the hand goes on raising."""
    states = states_of(HEADS_UP, GameMenu((StreetMenu(("1p",)),)))
    for more in ([], [900], [900, 2_000], [900, 2_000, 9_000]):
        translation, state, shadow = followed(HEADS_UP, states, [300, 600, *more])
        assert states.tree.street[shadow.node] == 1 and state.street == 0
        assert translation.decision(shadow, state) is None
        translation, state, shadow = followed(HEADS_UP, states, [300, 600, *more, CALL])
        assert translation.decision(shadow, state) == shadow.node


def test_a_tree_that_is_all_in_stays_over():
    states = states_of(HEADS_UP, GameMenu((StreetMenu(("allin",)),), push_or_fold=True))
    actions = [300, CALL]  # without a call in the tree, a smaller raise is the all-in
    for following in ([], [CALL], [CALL, 600], [CALL, 600, CALL, 5_000]):
        translation, state, shadow = followed(HEADS_UP, states, [*actions, *following])
        assert states.tree.actor[shadow.node] == -1 and translation.decision(shadow, state) is None


def test_a_seat_that_is_all_in_calls():
    """A short stack is all-in for 150; the tree's seat has chips, and calls all the others do."""
    rules = dataclasses.replace(THREE, stacks=(10_000, 10_000, 150))
    translation, state, shadow = followed(rules, THREE_TREE, [150, CALL, CALL, 600, CALL, CALL], LOWER)
    assert state.street == 2 and translation.decision(shadow, state) == shadow.node
    assert path(THREE_TREE, shadow.node)[3:] == [400, CALL, CALL, CALL]


def test_the_tree_catches_up_by_calls():
    """All-in in the hand, not in the tree: nobody acts, and streets go by."""
    rules = dataclasses.replace(THREE, stacks=(10_000, 150, 10_000))
    # Seat 1 is all-in by a raise to 150, which counts as a check behind two limps.
    translation, state, shadow = followed(rules, THREE_TREE, [CALL, CALL, 150, CALL, CALL, CALL], LOWER)
    assert state.street == 1 and state.actor == 2
    assert translation.decision(shadow, state) == shadow.node


FOUR = no_limit_holdem(4)
FOUR_TREE = states_of(FOUR, GameMenu((StreetMenu(("1p", "allin"), callers=(4, 1)), StreetMenu(("1p", "allin")))))
CALLED = [350, CALL, CALL, CALL]
"""Seat 2 raises and all others call: in the tree, seat 0 is one too many."""


def test_more_callers_than_the_tree_has():
    """The second caller of a raise is out of the tree, and the others go on."""
    translation, state, shadow = followed(FOUR, FOUR_TREE, CALLED)
    assert path(FOUR_TREE, shadow.node) == [350, CALL, FOLD, CALL] and shadow.seats == (-1, 1, 2, 3)
    assert state.actor == 0 and translation.decision(shadow, state) is None
    for checks in range(1, 8):
        translation, state, shadow = followed(FOUR, FOUR_TREE, [*CALLED, *[CALL] * checks])
        assert FOUR_TREE.tree.street[shadow.node] == state.street
        assert translation.decision(shadow, state) == (None if state.actor == 0 else shadow.node)
    # A small bet before it counts as a check all the same: seat 0 has no say in the tree.
    _, state, shadow = followed(FOUR, FOUR_TREE, [*CALLED, CALL, 450], LOWER)
    assert path(FOUR_TREE, shadow.node)[4:] == [CALL] and state.actor == 2


def test_who_bets_takes_a_place_in_the_tree():
    """That of the seat before the one that answers, never our own; seats in between have checked."""
    bet = [*CALLED, 350 + 1_400]
    translation, state, shadow = followed(FOUR, FOUR_TREE, bet, seat=1)
    assert shadow.seats == (3, 1, 2, -1) and path(FOUR_TREE, shadow.node)[4:] == [CALL, CALL, 350 + 1_100]
    assert translation.decision(shadow, state) == shadow.node and state.actor == 1
    translation, state, shadow = followed(FOUR, FOUR_TREE, bet, seat=3)
    assert shadow.seats == (1, -1, 2, 3) and path(FOUR_TREE, shadow.node)[4:] == [350 + 1_100]
    translation, state, shadow = followed(FOUR, FOUR_TREE, [*bet, FOLD, CALL], seat=3)
    assert translation.decision(shadow, state) == shadow.node and state.actor == 3
    # Facing a bet already, our own seat does not check.
    translation, state, shadow = followed(FOUR, FOUR_TREE, [*CALLED, CALL, 1_750, CALL, CALL, 9_000], seat=1)
    assert state.actor == 1 and shadow.missed == (shadow.seats[0] < 0)


def test_who_folds_leaves_its_place():
    """To a seat that is in the hand only; so the tree is not over before the hand."""
    fold = [*CALLED, CALL, 350 + 1_400, FOLD]
    translation, state, shadow = followed(FOUR, FOUR_TREE, fold, seat=1)
    assert shadow.seats == (2, 1, -1, 3) and state.actor == 3
    translation, state, shadow = followed(FOUR, FOUR_TREE, [*fold, FOLD, CALL, CALL], seat=1)
    assert state.street == FOUR_TREE.tree.street[shadow.node] == 2 and state.actor == 1
    assert translation.decision(shadow, state) == shadow.node
    assert shadow.seats[0] == 2 and not FOUR_TREE.state(shadow.node).folded[2]


FEW_CALLERS = states_of(THREE, GameMenu((StreetMenu(("0.5p 1p allin", "allin"), callers=(0,)), StreetMenu(("1p",)))))


@pytest.mark.parametrize("states", [THREE_TREE, FEW_CALLERS], ids=["any callers", "few callers"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_never_falls_behind(seed, states):
    """Whatever happens, it is never a street behind, and it knows why our own seat has no decision."""
    rng = np.random.default_rng(seed)
    decisions, lost = 0, 0
    for _ in range(300):
        seats = int(rng.integers(2, 4))
        stacks = tuple(np.maximum(101, 100 * np.exp(rng.uniform(0.0, 6.0, seats))).astype(int).tolist())
        rules = dataclasses.replace(no_limit_holdem(seats), stacks=stacks)
        own = int(rng.integers(seats))
        hand = ShadowHand(Translation(rules, states), rng.random(300).tolist(), own)
        actions = ()
        while not (state := hand.at(actions).state).is_over:
            shadow = hand.at(actions).shadow
            tree = states.tree
            node = hand.translation.decision(shadow, state)
            assert tree.actor[shadow.node] < 0 or tree.street[shadow.node] >= state.street
            if node is None and state.actor == own:
                lost += 1
                where = states.state(shadow.node)
                seat = shadow.seats[state.actor]
                is_out = seat < 0 or where.contributions[seat] == 10_000
                assert shadow.missed or where.is_over or where.street > state.street or is_out
            elif node is not None:
                decisions += 1
                legal = hand.translation.actions(shadow, state)
                assert len(legal) == tree.num_actions[node]
                for action in legal:
                    state.copy().apply(action)
            choices = [FOLD] * state.can_fold + [CALL] * 4
            if state.max_raise:
                choices += rng.integers(state.min_raise, min(state.max_raise, 4 * state.min_raise) + 1, 2).tolist()
            actions += (choices[int(rng.integers(len(choices)))],)
    assert decisions > 500 and lost > 20


# Other tables.


def test_fewer_seats_are_the_last_ones():
    states = states_of(SIXMAX, GameMenu((StreetMenu(("1p",)), StreetMenu(("1p",), multiway=("",)))))
    for seats, expected in ((2, (1, 5)), (3, (0, 1, 5)), (4, (0, 1, 4, 5)), (5, (0, 1, 3, 4, 5)), (6, tuple(range(6)))):
        rules = no_limit_holdem(seats)
        translation, state, shadow = followed(rules, states, [])
        assert translation.tree_seats == expected
        assert path(states, shadow.node) == [FOLD] * (3 if seats == 2 else 6 - seats)
        called = [CALL] * seats
        _, state, shadow = followed(rules, states, called)
        assert states.tree.street[shadow.node] == 1
        order = []
        for _ in range(seats):  # in the order of the table on the next street
            translation, state, shadow = followed(rules, states, called)
            assert states.tree.actor[shadow.node] == shadow.seats[state.actor]
            order.append(state.actor)
            called.append(CALL)
        assert order == [(rules.first_seats[1] + step) % seats for step in range(seats)]
    # Heads-up the tree's small blind folds when it is its turn.
    translation, state, shadow = followed(no_limit_holdem(2), states, [CALL, CALL])
    assert path(states, shadow.node) == [FOLD, FOLD, FOLD, CALL, FOLD, CALL]
    assert state.actor == 0 and states.tree.actor[shadow.node] == 1


@pytest.mark.parametrize("tree", ["own", "six seats"])
def test_heads_up_with_the_button_in_seat_0(tree):
    """The same hand as with the button in seat 1, with the seats exchanged."""
    usual = no_limit_holdem(2)
    other = dataclasses.replace(usual, blinds=usual.blinds[::-1], first_seats=(0, 1, 1, 1))
    menu = GameMenu((StreetMenu(("1p",)), StreetMenu(("1p",), multiway=("",))))
    states = states_of(usual if tree == "own" else SIXMAX, menu)
    for actions in ([], [300], [300, CALL], [300, CALL, CALL, 600]):
        translation, state, shadow = followed(other, states, actions)
        expected, _, usual_shadow = followed(usual, states, actions)
        assert translation.tree_seats == expected.tree_seats[::-1]
        assert shadow.node == usual_shadow.node
        assert translation.decision(shadow, state) == shadow.node


def test_what_cannot_be_played():
    with pytest.raises(ValueError, match="tables of 2..3 seats, got 6$"):
        Translation(SIXMAX, THREE_TREE)
    with pytest.raises(ValueError, match="4 suits of 13 ranks.*; got 2 suits of 3 ranks, 1 hole cards and 0 1 board"):
        Translation(LEDUC, HEADS_UP_TREE)
    with pytest.raises(ValueError, match="0 3 1 1 board cards by street; got .* 0 3 board cards"):
        Translation(dataclasses.replace(HEADS_UP, board_cards=(0, 3), first_seats=(1, 0)), HEADS_UP_TREE)


def test_what_is_said():
    def note(rules):
        return game_difference(rules, THREE)

    assert note(THREE) == ""
    assert note(dataclasses.replace(THREE, stacks=(4_000,) * 3)) == (
        "trained for 100 bb, plays 40 bb and scales bets to the pot"
    )
    assert note(HEADS_UP) == "trained for 3 seats, plays 2 as if the other seats had folded"
    assert note(dataclasses.replace(THREE, stacks=(200, 4_000, 25_050), blinds=(50, 100, 100))) == (
        "trained with blinds of 0.5 1 bb, plays 0.5 1 1; "
        "trained for 100 bb, plays 2..250.5 bb and scales bets to the pot"
    )


def test_push_or_fold_has_no_call():
    """A limp counts as a fold: the tree is over. A small raise is the all-in, to which fewer hands fold."""
    menu = GameMenu((StreetMenu(("allin",)),), push_or_fold=True)
    states = states_of(dataclasses.replace(HEADS_UP, stacks=(1_000,) * 2), menu)
    rules = states.rules
    translation, state, shadow = followed(rules, states, [])
    assert translation.actions(shadow, state) == [FOLD, 1_000]
    translation, state, shadow = followed(rules, states, [CALL])
    assert translation.decision(shadow, state) is None
    translation, state, shadow = followed(rules, states, [300])
    assert path(states, shadow.node) == [1_000] and shadow.between.share == lower_share(1.0, 0.0, 4.5)
    assert translation.actions(shadow, state) == [FOLD, CALL]


def test_states_are_those_of_the_rules():
    state = BettingState(THREE)
    for action in (350, CALL, FOLD, CALL):
        state.apply(action)
    _, _, shadow = followed(THREE, THREE_TREE, [350, CALL, FOLD, CALL])
    assert (THREE_TREE.state(shadow.node).array == state.array).all()
    assert THREE_TREE.raises(shadow.node) == [350 + 400, 350 + 800]
