"""Agents and value functions under which AIVAT is tested."""

import dataclasses
import functools

import numpy as np
from reference.poker_game import decks

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import KUHN, LEDUC
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import RangeAgent, Strategy
from plurispiel.agents.openspiel import PolicyAgent
from plurispiel.agents.tabular.solution import solution_of
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.value_functions import ValueFunction

KUHN3 = dataclasses.replace(KUHN, blinds=(1, 1, 1), num_ranks=4)
SHORT_LEDUC = dataclasses.replace(LEDUC, max_raises=(1, 1))
"""Leduc poker with one raise on a street: a third of the betting sequences."""


class Remembering(RangeAgent):
    """Another agent of a game with one hole card, asked once for each public state, suits aside.

    Solvers break ties between equal hands by rounding; here hands of one rank play alike.
    """

    def __init__(self, agent):
        self.agent = agent
        self.told = {}

    def range_strategy(self, public):
        key = (tuple(card // 4 for card in public.board), public.actions)
        if key not in self.told:
            told = self.agent.range_strategy(public)
            ranks = public.rules.combos[:, 0] // 4
            free = public.rules.free_combos(public.board)
            rows = [told.probabilities[free & (ranks == rank)].mean(axis=0) for rank in ranks]
            self.told[key] = Strategy(told.actions, np.array(rows), told.highest)
        return self.told[key]

    def strategy(self, public, combo_ids):
        told = self.range_strategy(public)
        return Strategy(told.actions, told.probabilities[combo_ids])


class Zero(ValueFunction):
    """Knows nothing."""

    name = "zero"

    def values(self, situation):
        return np.zeros(situation.rules.num_combos)


class Noise(ValueFunction):
    """Random numbers that depend on nothing but the ranks in sight and the actions."""

    name = "noise"
    num_samples = 64

    def __init__(self, scale=3.0):
        self.scale = scale
        self.by_rank = functools.cache(lambda *words: np.random.default_rng(words).normal(size=13))

    def values(self, situation):
        others = np.sort(situation.hole_cards // 4, axis=1).ravel().tolist()
        words = [
            *others,
            99,
            *sorted(card // 4 for card in situation.board),
            98,
            *(a.action for a in situation.actions),
        ]
        by_rank = self.by_rank(situation.seat, *words)
        return self.scale * by_rank[situation.rules.combos // 4].sum(axis=1)


def forms(score):
    assert score.refused == ""
    return (
        score.payoff,
        score.payoff + score.imaginary_hands,
        score.payoff + score.true_chance,
        score.payoff + score.true_chance + score.true_own_actions,
        score.estimate - score.other_actions,
        score.estimate,
        score.reduced,
        score.reduced + score.true_own_actions,
    )


@functools.cache
def distinct_decks(rules):
    """Return one deck for each deal of ranks, and the chance of that deal."""
    found = {}
    ends = [rules.num_hole_cards * seat for seat in range(1, rules.num_seats + 1)]
    ends += [ends[-1] + rules.board_size(street) for street in range(rules.num_streets - 1)]
    for deck in decks(rules):
        dealt = b"".join(bytes(np.sort(part // 4)) for part in np.split(deck, ends))
        found.setdefault(dealt, [deck, 0])[1] += 1
    total = sum(count for _, count in found.values())
    return [(deck, count / total) for deck, count in found.values()]


@functools.cache
def equilibrium(rules):
    """Return the average strategy of 3,000 iterations of CFR+ as an agent."""
    name = "leduc_poker" if rules is LEDUC else game_string(rules)
    tree = flatten(name)
    solver = make_solver(tree, "cfr+")
    solver.run(3_000)
    return Remembering(PolicyAgent(solution_of(tree, solver), name))
