import copy
import os
from dataclasses import replace

import numpy as np
import pytest

from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.public_states import public_states
from plurispiel.agents.continual import ContinualConfig, Resolver, config_from_options, continual_strategy
from plurispiel.agents.continual.small_games import public_decisions

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

FEW = ContinualConfig(iterations=20, inner=10, noise=0.02, purge=0.02, estimate=0.5)


@pytest.fixture(scope="module")
def places():
    tree = flatten("leduc_poker")
    return [(board, line) for _, board, line in public_decisions(tree, public_states(tree))]


def test_any_order_of_asking(places):
    expected = Resolver(LEDUC, FEW)
    for place in places:
        expected.resolved(*place)
    shuffled = Resolver(LEDUC, FEW)
    for number, place in enumerate(np.random.default_rng(1).permutation(len(places))):
        shuffled = copy.deepcopy(shuffled) if number == 20 else shuffled
        actual = shuffled.resolved(*places[place])
        np.testing.assert_array_equal(actual.played, expected.resolved(*places[place]).played)
    assert shuffled.counts == expected.counts


def test_scale():
    """With blinds and bets twice as large, the strategies are the same."""
    doubled = replace(LEDUC, blinds=(2, 2), raise_sizes=(4, 8))
    config = replace(FEW, noise=0.0)  # errors are drawn by line of betting, and raises have other totals
    expected, actual = (continual_strategy(flatten(game_string(rules)), config)[0] for rules in (LEDUC, doubled))
    np.testing.assert_allclose(actual, expected, atol=1e-9)


def test_suits_renamed(places):
    resolver = Resolver(LEDUC, ContinualConfig(iterations=8, inner=4))
    renamed = relabel_combos(2, 3, 1)[1]
    for board, line in places:
        images = tuple(relabel_cards(board, 1, 2).tolist())
        expected, actual = resolver.resolved(board, line).played, resolver.resolved(images, line).played
        np.testing.assert_allclose(actual[renamed], expected, atol=1e-9)


def test_one_solve_a_street(places):
    """The strategies of a street's first solve play on; what is carried to the next street is the same, up to rounding
    of the reach."""
    resolver = Resolver(LEDUC, ContinualConfig(iterations=50, resolve="street"))
    for place in places:
        found = resolver.resolved(*place)
        assert found.actions == list(found.solution.decision(found.node).children)
        np.testing.assert_allclose(found.carried.range.sum(), 1.0)
    assert resolver.counts["solves"] < resolver.counts["decisions"] == 186


def test_bounds_on_the_equilibrium_path(places):
    """What is carried after an action is what the last solution gives to the opponent, hand by hand."""
    resolver = Resolver(LEDUC, ContinualConfig(iterations=300))
    first = resolver.resolved((), ())
    check = ((0, 1, 0), (1, 3, 0))
    carried = resolver.resolved((), check).carried
    np.testing.assert_allclose(carried.range, first.played[:, 0] / first.played[:, 0].sum())
    reach, values = first.solution.reach_after(0)[:, 0], first.solution.means.values[1]
    node = first.solution.decision(0).children[1]
    for hand in range(6):
        facing = reach.sum() - reach[hand]
        assert carried.bounds[hand] == pytest.approx(values[node, hand] / facing)


def test_a_bet_of_any_size_is_answered():
    """Here the lookahead knows all-in alone, and the opponent bets half the pot."""
    rules = replace(HUNL, first_seats=(1, 0), board_cards=(0, 1), num_suits=2, num_ranks=4, num_hole_cards=1)
    rules = replace(rules, stacks=(600, 600), blinds=(100, 50))
    resolver = Resolver(rules, ContinualConfig(iterations=20, inner=5, menu="fcpa"))
    found = resolver.resolved((), ((1, 237, 0),))
    assert found.actions[:2] == [0, 1] and found.actions[-1] == 600
    np.testing.assert_allclose(found.played.sum(axis=1), 1.0)
    later = resolver.resolved((3,), ((1, 237, 0), (0, 1, 0), (0, 400, 1)))
    np.testing.assert_allclose(later.played.sum(axis=1), 1.0)
    assert resolver.counts["anew"] == 1  # seat 1 never bets 237 by its own menu, so nothing is known of it later
    with pytest.raises(ValueError, match="the game offers any size"):
        Resolver(rules, ContinualConfig())


def test_refusals():
    for rules in (HUNL, SIXMAX):
        with pytest.raises(ValueError, match="games of two seats and one or two streets"):
            Resolver(rules, ContinualConfig(menu="fcpa"))
    with pytest.raises(ValueError, match="at most 100,000 pairs of a combo and a complete board, got 29,304,600"):
        Resolver(replace(HUNL, first_seats=(1, 0), board_cards=(0, 3)), ContinualConfig(menu="fcpa"))
    for options, message in (
        ({"iteration": "3"}, "did you mean 'iterations'"),
        ({"iterations": "1"}, "must be 2 to"),
        ({"inner": "x"}, "inner is a whole number, got 'x'"),
        ({"noise": "nan"}, "share of the pot"),
        ({"noise": "-0.1"}, "share of the pot"),
        ({"kind": "loud"}, "kind is fixed, fresh or ranges, got 'loud'"),
        ({"values": "net"}, "values is exact, checkdown or net:FOLDER"),
        ({"bounds": "none"}, "bounds is iterations, average or best"),
        ({"resolve": "never"}, "resolve is decision or street"),
        ({"purge": "1"}, "purge is a probability"),
        ({"estimate": "-1"}, "estimate is a probability"),
        ({"menu": "fullgame"}, "menu is rules, fchpa, fcpa or fc"),
        ({"seed": "-1"}, "seed must be 0"),
    ):
        with pytest.raises(ValueError, match=message):
            config_from_options(options)
