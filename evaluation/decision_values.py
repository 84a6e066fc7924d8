"""The values of single decisions: each action's expected payoff, and each decision's part of a best response's gain.

A best response improves on a strategy at some decisions. Its whole gain is the sum over the player's infosets of

    reach(I) * (max_a q(I, a) - sum_a strategy(I, a) q(I, a)),

where q(I, a) is the expected payoff of action a in infoset I if the player plays the best response afterwards, and
reach(I) is the probability of I if all players, this one too, follow the strategy. The sum telescopes along the
player's path, because the best response's value of an infoset is the largest q.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.trees import best_response_kernels
from plurispiel.abstraction.trees import game_tree_kernels as kernels
from plurispiel.abstraction.trees.game_tree import GameTree, strategy_array

__all__ = ["DecisionValues", "decision_values"]


class DecisionValues(NamedTuple):
    """The values of all decisions under a strategy of all players, for I infosets with A actions in all.

    Amounts are in the game's unit, for the player who decides.

    Attributes
    ----------
    reach : float64[I]
        The probability of each infoset.
    values : float64[I]
        The expected payoff in each infoset; NaN if chance and the other players never lead to it.
    action_values : float64[A]
        The expected payoff after each action, with the strategy afterwards; NaN as in `values`.
    gains : float64[I]
        The part of a best response's gain that belongs to each infoset. A player's gains sum to the player's
        incentive (`Exploitability.incentives`).
    best : int32[I]
        The index, among each infoset's actions, of the action that a best response takes.
    """

    reach: np.ndarray
    values: np.ndarray
    action_values: np.ndarray
    gains: np.ndarray
    best: np.ndarray


def decision_values(tree: GameTree, strategy: np.ndarray) -> DecisionValues:
    """Return the values of all decisions.

    Parameters
    ----------
    strategy : float64[num_actions]
        The probabilities of all players' actions, as in `GameTree`; not checked (see `checked_strategy`).

    Raises
    ------
    ValueError
        If the strategy has another shape, as one of another game.

    Examples
    --------
    >>> from plurispiel.abstraction.trees.game_tree import flatten, uniform_strategy
    >>> from plurispiel.evaluation.best_response import exploitability
    >>> tree = flatten("kuhn")
    >>> found = decision_values(tree, uniform_strategy(tree))
    >>> float(found.gains.sum().round(6)), round(exploitability(tree, uniform_strategy(tree)).nash_conv, 6)
    (0.916667, 0.916667)
    """
    strategy, sizes = strategy_array(tree, strategy), np.diff(tree.infoset_first)
    owner = np.repeat(np.arange(tree.num_infosets), sizes)  # the infoset of each action
    values = np.empty((tree.num_histories, tree.num_players))
    kernels.fill_values(tree.nodes, strategy, values)
    own = _own_reach(tree, strategy)
    mass, sums, responses = np.zeros(tree.num_infosets), np.zeros(tree.num_actions), np.zeros(tree.num_actions)
    best = np.zeros(tree.num_infosets, np.int32)
    others, sequence = np.empty(tree.num_histories), np.empty(tree.num_histories, np.int32)
    for player in range(tree.num_players):
        gains = np.empty(tree.num_actions)
        best_response_kernels.respond(tree.nodes, strategy, player, others, sequence, gains, best)
        responses += gains  # 0 for the other players' actions
        histories = np.flatnonzero(tree.player == player)
        infosets = tree.infoset[histories]
        mass += np.bincount(infosets, others[histories], tree.num_infosets)
        for k in range(int(sizes.max())):
            some = histories[tree.num_children[histories] > k]
            weighted = others[some] * values[tree.first_child[some] + k, player]
            sums += np.bincount(tree.infoset_first[tree.infoset[some]] + k, weighted, tree.num_actions)
    reached = mass > 0.0
    unknown = np.full(tree.num_actions, np.nan)
    action_values = np.divide(sums, mass[owner], out=unknown, where=reached[owner])
    played = np.bincount(owner, strategy * sums, tree.num_infosets)
    played_best = np.bincount(owner, strategy * responses, tree.num_infosets)
    return DecisionValues(
        reach=own * mass,
        values=np.divide(played, mass, out=np.full(tree.num_infosets, np.nan), where=reached),
        action_values=action_values,
        # Rounding must not make a gain negative.
        gains=own * np.maximum(responses[tree.infoset_first[:-1] + best] - played_best, 0.0),
        best=best,
    )


def _own_reach(tree: GameTree, strategy: np.ndarray) -> np.ndarray:
    """Return the probability with which each infoset's player takes the actions before it: float64[I]."""
    found, owner = np.ones(tree.num_infosets), np.repeat(np.arange(tree.num_infosets), np.diff(tree.infoset_first))
    for infoset, action in enumerate(tree.infoset_parent.tolist()):  # an infoset's parent has a lower number
        if action >= 0:
            found[infoset] = found[owner[action]] * strategy[action]
    return found
