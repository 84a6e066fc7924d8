"""Heads-up all-in or fold before the flop: a hold'em game with a known solution, trained on dealt run-outs."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu
from plurispiel.abstraction.cards.features import preflop_equity
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.abstraction.holdem.showdown import HandRanker, fold_mass, rank_hands, showdown_margin
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

VALUES = {2: 0.00955, 5: 0.05620, 8: -0.00414, 10: -0.04537, 15: -0.12723, 20: -0.18319}
"""Of the small blind, in big blinds, by stack in big blinds."""

RULES = no_limit_holdem(2)
MENU = GameMenu((StreetMenu(("allin",)),), push_or_fold=True)
NUM_PAIRS, NUM_RIVER_PAIRS = 1326 * 1225, 1081 * 990


def solve(stack, iterations, exact=False, threads=1):
    """Return how often each combo pushes as small blind, and calls as big blind: float64[1326] each."""
    rules = no_limit_holdem(2, 100 * stack)
    plan = Schedule(iterations, discount_until=1.0, prune_from=1.0, average_from=0.0, average_every=4)
    trainer = Trainer(rules, MENU, lossless_buckets(rules, 1), plan, exact=exact, threads=threads)
    trainer.run()
    blueprint = trainer.blueprint()
    assert blueprint.tree.actor.tolist() == [1, -1, 0, -1, -1]
    buckets = blueprint.cards.row((), 0)
    return tuple(blueprint.strategy(node, buckets)[:, 1].astype(np.float64) for node in (0, 2))


def small_blind_values(stacks, solutions, boards):
    """Return what each solution is worth to the small blind in big blinds, and the standard errors.

    Of a sample of boards. What a range wins of all hands is known exactly over all boards; on a sample of them it
    tells most of the sample's luck.
    """
    pushes, calls = (np.array([each[number] for each in solutions]) for number in (0, 1))
    hands = rank_hands(RULES, ())
    push, call = pushes[:, hands.combos], calls[:, hands.combos]
    folded = -0.5 * (1.0 - push).sum(axis=1) * 1225 + (push * fold_mass(hands, 1.0 - call)).sum(axis=1)
    ranker = HandRanker(RULES)
    shown, known = np.empty((len(boards), len(stacks))), np.empty((len(boards), 2, len(stacks)))
    for number, board in enumerate(boards):
        hands = ranker.rank(tuple(board))
        push, call = pushes[:, hands.combos], calls[:, hands.combos]
        against_all = showdown_margin(hands, np.ones(len(hands.combos)))
        shown[number] = stacks * (push * showdown_margin(hands, call)).sum(axis=1) / NUM_RIVER_PAIRS
        known[number] = push @ against_all / NUM_RIVER_PAIRS, call @ against_all / NUM_RIVER_PAIRS
    margins = 2.0 * preflop_equity() - 1.0
    known -= np.array([pushes @ margins, calls @ margins]) / 1326
    values, errors = np.empty((2, len(stacks)))
    for number in range(len(stacks)):
        luck = np.column_stack([np.ones(len(boards)), known[:, :, number]])
        fit = np.linalg.lstsq(luck, shown[:, number])[0]
        values[number] = folded[number] / NUM_PAIRS + fit[0]
        errors[number] = (shown[:, number] - luck @ fit).std() / np.sqrt(len(boards))
    return values, errors


def sampled_boards(count):
    return [rng.choice(52, 5, replace=False).tolist() for rng in [np.random.default_rng(1)] for _ in range(count)]


@pytest.mark.slow
def test_the_small_blinds_value():
    """Near equilibrium, so that the strategies need not be at it yet."""
    stacks = np.array([5, 10])
    solutions = [solve(5, 2_000_000), solve(10, 6_000_000)]
    values, errors = small_blind_values(stacks, solutions, sampled_boards(4_000))
    assert (errors < 0.0005).all()
    assert np.allclose(values, [VALUES[stack] for stack in stacks.tolist()], atol=0.002)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "whole chips"])
def test_values_and_frequencies(exact):
    solutions = [solve(stack, 100_000_000 if stack == 10 else 20_000_000, exact, threads=2) for stack in VALUES]
    values, errors = small_blind_values(np.array(list(VALUES)), solutions, sampled_boards(40_000))
    assert (errors < 0.0005).all()
    assert np.allclose(values, list(VALUES.values()), atol=0.002)
    push, call = solutions[3]
    assert abs(push.mean() - 0.583) < 0.01 and abs(call.mean() - 0.374) < 0.01
    print(values, errors, push.mean(), call.mean())
