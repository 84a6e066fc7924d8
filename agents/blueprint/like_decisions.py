"""Decisions of a betting tree that are like a decision the tree does not have.

A raise that the tree cannot follow, or stacks that are not those of the tree, lead to decisions without a node. There
the row of the nearest decision stands in. This decision is on the same street, and faces a bet exactly if the given
decision does. The distance of two decisions is the sum of the differences of their *features*, weighted by `WEIGHTS`:

- pot odds: the price of a call, as a share of the pot after the call;
- the logarithm of the chips that can still be bet after a call, as a share of that pot (the stack-to-pot ratio);
- the number of raises on the street;
- the number of live seats, which have not folded: two are far from three or more;
- whether the seat is the last to act after the flop, and whether it may raise.

The share of missing rows of a tree's decision adds to its distance: a decision with more rows was visited more often in
training.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint, street_decisions

__all__ = ["DecisionFeatures", "LikeDecisions", "features_of", "tree_features"]

MAX_KEPT = 4096
NUM_SAMPLED_BUCKETS = 16
"""Number of buckets from which a decision's share of stored rows is estimated."""

LEAST_DEPTH = 0.05
"""Added to stack-to-pot ratios, so that the logarithm of 0 is finite."""

NO_LIMIT_DEPTH = 100.0
"""The stack-to-pot ratio in a game without stacks."""


class DecisionFeatures(NamedTuple):
    """The features of a decision, as numbers; `WEIGHTS` has a weight for each.

    Attributes
    ----------
    odds : float
        Pot odds, from 0 to 1.
    depth : float
        Logarithm of the stack-to-pot ratio.
    num_raises : float
        Raises on the street, at most 3.
    crowd : float
        0 for two live seats, 2 for three, and 0.5 more for each further seat.
    is_last : float
        1 for the seat that is last to act after the flop, else 0.
    may_raise : float
        1 if the seat may raise, else 0. In a tree, 1 if the decision offers a raise.
    """

    odds: float
    depth: float
    num_raises: float
    crowd: float
    is_last: float
    may_raise: float


WEIGHTS = DecisionFeatures(odds=6.0, depth=1.0, num_raises=0.5, crowd=1.0, is_last=0.5, may_raise=1.0)
"""The weights of the differences of features in a distance, chosen by judgement and not fitted."""

MISSING_WEIGHT = 3.0
"""The weight of a decision's share of missing rows in a distance."""


def features_of(state: BettingState) -> DecisionFeatures:
    """Return the features of the decision at a betting state."""
    contributions, folded, stacks = state.contributions, state.folded, state.rules.stacks
    live = [seat for seat, is_out in enumerate(folded) if not is_out]
    pot, asked = sum(contributions), state.to_call
    depth = NO_LIMIT_DEPTH
    if stacks is not None:
        left = [stacks[seat] - contributions[seat] - (asked if seat == state.actor else 0) for seat in live]
        own = left.pop(live.index(state.actor))
        depth = max(min(own, max(left)), 0) / (pot + asked)
    return DecisionFeatures(
        asked / (pot + asked),
        math.log(LEAST_DEPTH + depth),
        min(int(state.array[betting_layout.NUM_RAISES]), 3),
        _crowd(len(live)),
        float(state.actor == max(live, key=_turns(state.rules).__getitem__)),
        float(state.max_raise > 0),
    )


def tree_features(rules: HoldemRules, tree: BettingTree) -> np.ndarray:
    """Return the features of all decisions of a tree: float32[fields of `DecisionFeatures`, num_nodes].

    Where the betting is over, features are 0.
    """
    num_nodes, num_seats = len(tree.actor), rules.num_seats
    contributions = np.zeros((num_nodes, num_seats), np.int64)
    is_live = np.ones((num_nodes, num_seats), np.bool_)
    num_raises, may_raise = np.zeros(num_nodes, np.int64), np.zeros(num_nodes, np.bool_)
    contributions[0] = BettingState(rules).contributions
    stacks = np.full(num_seats, np.iinfo(np.int64).max) if rules.stacks is None else np.array(rules.stacks)
    decisions = np.zeros(1, np.int64)
    while len(decisions):
        counts = tree.num_actions[decisions].astype(np.int64)
        parents = np.repeat(decisions, counts)
        starts = np.repeat(tree.first_child[decisions] - (np.cumsum(counts) - counts), counts)
        children = starts + np.arange(len(parents))
        actions, seats = tree.action[children], tree.actor[parents]
        contributions[children], is_live[children] = contributions[parents], is_live[parents]
        total = np.where(actions > CALL, actions, contributions[parents].max(axis=1))
        stays = actions != FOLD
        contributions[children[stays], seats[stays]] = np.minimum(total, stacks[seats])[stays]
        is_live[children[~stays], seats[~stays]] = False
        is_same = tree.street[children] == tree.street[parents]
        num_raises[children] = np.where(is_same, num_raises[parents] + (actions > CALL), 0)
        may_raise[parents[actions > CALL]] = True
        decisions = children[tree.actor[children] >= 0]
    every, actor = np.arange(num_nodes), np.maximum(tree.actor, 0)
    own, most = contributions[every, actor], contributions.max(axis=1)
    asked = np.minimum(most, stacks[actor]) - own
    pot = contributions.sum(axis=1) + asked
    depth = np.full(num_nodes, NO_LIMIT_DEPTH)
    if rules.stacks is not None:
        left = np.where(is_live, stacks - contributions, -1)
        left[every, actor] = -1
        depth = np.maximum(np.minimum(stacks[actor] - own - asked, left.max(axis=1)), 0) / pot
    last = np.argmax(np.where(is_live, _turns(rules), -1), axis=1)
    crowds = np.array([_crowd(number) for number in range(num_seats + 1)])[is_live.sum(axis=1)]
    columns = [asked / pot, np.log(LEAST_DEPTH + depth), np.minimum(num_raises, 3), crowds, actor == last, may_raise]
    return np.where(tree.actor >= 0, np.stack(columns), 0.0).astype(np.float32)


class _Candidates(NamedTuple):
    """Decisions, their features (a row for each field of `DecisionFeatures`), and the costs of their missing rows."""

    nodes: np.ndarray
    columns: np.ndarray
    cost: np.ndarray


class LikeDecisions:
    """Finds the decision of a blueprint's tree that is most like another decision.

    Parameters
    ----------
    blueprint : Blueprint
    """

    def __init__(self, blueprint: Blueprint):
        self._blueprint = blueprint
        self._nearest = functools.lru_cache(MAX_KEPT)(self._find)

    def find(self, state: BettingState) -> int | None:
        """Return the tree's decision that is nearest to the one at a betting state.

        Features are first rounded to two decimal places, so that similar states share a result. Only decisions on the
        state's street are compared: those that face a bet if the state does, else those that face none. None if the
        tree has no such decision.
        """
        features = DecisionFeatures(*(round(feature, 2) for feature in features_of(state)))
        return self._nearest(state.street, state.can_fold, features)

    def _find(self, street: int, faces_bet: bool, features: DecisionFeatures) -> int | None:
        if street >= len(self._candidates):
            return None
        nodes, columns, cost = self._candidates[street][faces_bet]
        if not len(nodes):
            return None
        distance = cost.copy()
        for column, feature, weight in zip(columns, features, WEIGHTS, strict=True):
            distance += np.float32(weight) * abs(column - np.float32(feature))
        return int(nodes[np.argmin(distance)])

    @functools.cached_property
    def _candidates(self) -> list[tuple[_Candidates, _Candidates]]:
        """For each street, the decisions that face no bet, and those that face a bet."""
        blueprint = self._blueprint
        tree, every = blueprint.tree, tree_features(blueprint.rules, blueprint.tree)
        found = []
        for street in range(len(blueprint.cards.num_buckets)):
            nodes = street_decisions(tree, street)
            cost = (MISSING_WEIGHT * (1.0 - _kept_share(blueprint, street, nodes))).astype(np.float32)
            faces_bet = tree.action[tree.first_child[nodes]] == FOLD
            checks, bets = (
                _Candidates(nodes[kind], every[:, nodes[kind]], cost[kind]) for kind in (~faces_bet, faces_bet)
            )
            found.append((checks, bets))
        return found


def _kept_share(blueprint: Blueprint, street: int, nodes: np.ndarray) -> np.ndarray:
    """Return, for each of a street's decisions, the share of some sampled buckets in which the decision has a row."""
    game, num_buckets = blueprint.game, blueprint.cards.num_buckets[street]
    first = blueprint.tree.row[nodes]
    buckets = np.unique(np.linspace(0, num_buckets - 1, NUM_SAMPLED_BUCKETS).astype(np.int64))
    kept = np.zeros(len(nodes))
    for bucket in buckets.tolist():
        start = int(game.base[street]) + bucket * int(game.pairs[street])
        cells = np.asarray(blueprint.rows[start : start + int(game.pairs[street])]) != 0
        kept += np.logical_or.reduceat(cells, first) if len(first) else 0.0
    return kept / len(buckets)


def _turns(rules: HoldemRules) -> list[int]:
    """Return each seat's place in the order of acting on the last street, from 0."""
    return [(seat - rules.first_seats[-1]) % rules.num_seats for seat in range(rules.num_seats)]


def _crowd(num_live: int) -> float:
    return 0.0 if num_live <= 2 else 0.5 * num_live + 0.5
