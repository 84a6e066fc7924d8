"""Kernels of the CFR family: full-width passes over the sequence form, external sampling over the game tree."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import next_float

_ONE = np.uint32(1)  # with a plain 1, indices become signed, and numba checks their signs (`SequenceForm`)


class Tables(NamedTuple):
    """The tables of the full-width solvers, for a game with A actions in all infosets together and n players.

    A sequence has the number of its last action: sequence a is the player's own actions up to and with action a.

    Attributes
    ----------
    regret : float64[A]
        Discounted sums of counterfactual regrets.
    strategy : float64[A]
        The current strategy.
    strategy_sum : float64[A]
        Weighted sum of plans. A plan is a strategy in the form of the reach of each sequence.
    reach : float64[A + n]
        The plan of the current strategy; then 1 for the empty sequence of each player.
    value : float64[A + n]
        Workspace: the updating player's counterfactual value after each sequence of this player.
    """

    regret: np.ndarray
    strategy: np.ndarray
    strategy_sum: np.ndarray
    reach: np.ndarray
    value: np.ndarray


@kernel
def iterate(form, tables, schedule, predictive, simultaneous):
    """Run one iteration for each row of the schedule. Modified in place: `tables`.

    Parameters
    ----------
    form : SequenceForm
    tables : Tables
    schedule : float64[num_iterations, 3]
        For each iteration, the factors of positive and of negative regrets, applied after the addition, and the weight
        of the plan in the sum.
    predictive : bool
        Whether the next strategy is computed from the sums with this iteration's regrets added once more.
    simultaneous : bool
        Whether all players update against the strategies of the iteration before. If not, each player updates against
        the newest strategies.
    """
    num_players = form.player_first.shape[0] - 1
    for t in range(schedule.shape[0]):
        for player in range(num_players):
            learn(form, tables, player, schedule[t, 0], schedule[t, 1], predictive)
            # Alternating: the next player already answers this player's new plan.
            if not simultaneous:
                plan(form, tables, player, schedule[t, 2])
        if simultaneous:
            for player in range(num_players):
                plan(form, tables, player, schedule[t, 2])


@kernel
def learn(form, tables, player, positive, negative, predictive):
    """Add a player's counterfactual regrets, and set the strategy by regret matching. Modified in place: `tables`.

    `positive` and `negative` are the factors of positive and of negative regrets.
    """
    regret, strategy, value = tables.regret, tables.strategy, tables.value
    earn(form, tables.reach, player, value)
    first, last = form.player_first[player], form.player_first[player + 1]
    for back in range(last - first):  # infosets come after those that lead to them, so values flow up backwards
        infoset = last - _ONE - np.uint32(back)
        begin, end = form.infoset_first[infoset], form.infoset_first[infoset + _ONE]
        mean = 0.0
        for action in range(begin, end):
            mean += strategy[action] * value[action]
        value[form.infoset_parent[infoset]] += mean
        total = 0.0
        for action in range(begin, end):
            gain = value[action] - mean
            kept = regret[action] + gain
            # Discounted after the addition (Brown and Sandholm 2019); CFR+ has the factors 1 and 0.
            kept *= positive if kept > 0.0 else negative
            regret[action] = kept
            if predictive:  # only for the next strategy: the prediction itself is not kept
                kept += gain
            kept = max(kept, 0.0)
            strategy[action] = kept
            total += kept
        if total > 0.0:
            for action in range(begin, end):
                strategy[action] /= total  # not times 1 / total: a lone positive regret has to give exactly 1
        else:
            for action in range(begin, end):
                strategy[action] = 1.0 / (end - begin)


@kernel
def earn(form, reach, player, value):
    """Write the counterfactual payoff of each of a player's sequences. Modified in place: `value`.

    A sequence's payoff sums over the ends of the game at which the player has taken exactly this sequence of actions.
    """
    first, last = form.player_first[player], form.player_first[player + 1]
    # The loop below writes only sequences with a payoff. The others would keep the values of the last iteration.
    for action in range(form.infoset_first[first], form.infoset_first[last]):
        value[action] = 0.0
    value[form.infoset_first[form.infoset_first.shape[0] - 1] + np.uint32(player)] = 0.0
    num_others = form.entry_others.shape[1]
    for row in range(form.row_first[player], form.row_first[player + 1]):
        total = 0.0
        for entry in range(form.entry_first[row], form.entry_first[row + 1]):
            product = form.entry_payoff[entry]
            for other in range(num_others):
                product *= reach[form.entry_others[entry, other]]
            total += product
        value[form.row_sequence[row]] = total


@kernel
def plan(form, tables, player, weight):
    """Add a player's plan to the sum, then compute the plan of the new strategy. Modified in place: `tables`."""
    strategy, strategy_sum, reach = tables.strategy, tables.strategy_sum, tables.reach
    for infoset in range(form.player_first[player], form.player_first[player + 1]):
        # Infosets come after those that lead to them, so the reach of the parent is the new one already.
        before = reach[form.infoset_parent[infoset]]
        for action in range(form.infoset_first[infoset], form.infoset_first[infoset + 1]):
            # The sum takes the plan played in this iteration; the new plan would shift the average by an iteration.
            strategy_sum[action] += weight * reach[action]
            reach[action] = before * strategy[action]


class Samples(NamedTuple):
    """The tables of external sampling.

    Attributes
    ----------
    regret, strategy_sum : float64[A]
        Weighted sums of the sampled regrets and of the current strategies.
    value : float64[A]
        Workspace: the values of the traverser's actions. One entry for each action is enough: with perfect recall and
        sampled opponents, a traversal meets each of the traverser's infosets at most once.
    path : int32[depth]
        Workspace: the traverser's decisions on the current path, as numbers of histories.
    tried : int32[depth]
        Workspace: the index of the action that is being followed at each decision of `path`.
    waiting : int32[capacity]
        Workspace: numbers of histories still to visit.
    stream : uint64[4]
        State of the random numbers.
    """

    regret: np.ndarray
    strategy_sum: np.ndarray
    value: np.ndarray
    path: np.ndarray
    tried: np.ndarray
    waiting: np.ndarray
    stream: np.ndarray


@kernel
def sample(nodes, samples, weights):
    """Run one iteration of external sampling for each weight: one traversal a player. Modified in place: `samples`.

    A player's average needs walks that sample the player's own actions and follow all actions of the others. Such walks
    meet an infoset in proportion to the player's own reach. With two players, the traversal of one player is such
    a walk for the other. With more players, a traversal samples the actions of all but the traverser, so the averages
    take separate walks (`sample_plan`).
    """
    num_players = nodes.payoffs.shape[1]
    for t in range(weights.shape[0]):
        for player in range(num_players):
            traverse(nodes, samples, player, weights[t], num_players == 2)
        if num_players != 2:
            for player in range(num_players):
                sample_plan(nodes, samples, player, weights[t])


@kernel
def traverse(nodes, samples, traverser, weight, averaging):
    """Add the sampled regrets of one traversal and return the traverser's value. Modified in place: `samples`.

    The traversal is depth-first without recursion. It goes down to an end of the game, then up to the traverser's last
    decision with an action left to try. On the way up, the regrets of decisions with all actions tried are updated.
    With `averaging`, the strategies at the other players' infosets on the way are added to the sums.
    """
    regret, value, path, tried = samples.regret, samples.value, samples.path, samples.tried
    history, depth = 0, 0
    while True:
        actor = nodes.player[history]
        if actor == traverser:
            path[depth] = history
            tried[depth] = 0
            depth += 1
            history = nodes.first_child[history]
            continue
        if actor >= 0:
            history = take_sampled(nodes, samples, history, weight if averaging else 0.0)
            continue
        if nodes.num_children[history] > 0:
            history = sampled_outcome(nodes, samples.stream, history)
            continue
        worth = nodes.payoffs[nodes.payoff_id[history], traverser]
        while depth > 0:
            history = path[depth - 1]
            begin = nodes.infoset_first[nodes.infoset[history]]
            end = begin + nodes.num_children[history]
            value[begin + tried[depth - 1]] = worth
            if tried[depth - 1] + 1 < end - begin:
                tried[depth - 1] += 1
                history = nodes.first_child[history] + tried[depth - 1]
                break
            # The regrets are still those from before the traversal, which meets an infoset at most once.
            total, worth = 0.0, 0.0
            for action in range(begin, end):
                total += max(regret[action], 0.0)
            for action in range(begin, end):
                chance = max(regret[action], 0.0) / total if total > 0.0 else 1.0 / (end - begin)
                worth += chance * value[action]
            for action in range(begin, end):
                # No importance weights: they cancel in external sampling (Lanctot et al. 2009, section 3.2).
                regret[action] += weight * (value[action] - worth)
            depth -= 1
        else:
            return worth


@kernel
def sample_plan(nodes, samples, player, weight):
    """Add a player's strategy to the sums at the infosets of one walk. Modified in place: `samples`.

    The walk samples the player's own actions and chance, and follows all actions of the other players.
    """
    waiting = samples.waiting
    waiting[0] = 0
    size = 1
    while size > 0:
        size -= 1
        history = waiting[size]
        while nodes.num_children[history] > 0:
            actor = nodes.player[history]
            if actor == player:
                history = take_sampled(nodes, samples, history, weight)
            elif actor >= 0:
                first = nodes.first_child[history]
                for child in range(first + 1, first + nodes.num_children[history]):
                    waiting[size] = child
                    size += 1
                history = first
            else:
                history = sampled_outcome(nodes, samples.stream, history)


@kernel(inline=True)
def take_sampled(nodes, samples, history, weight):
    """Return the child after a sampled action of the actor, and add the actor's strategy to the sums with a weight."""
    regret = samples.regret
    begin = nodes.infoset_first[nodes.infoset[history]]
    size = nodes.num_children[history]
    total = 0.0
    for action in range(begin, begin + size):
        total += max(regret[action], 0.0)
    threshold = next_float(samples.stream)
    chosen = -1
    last = 0
    for k in range(size):
        chance = max(regret[begin + k], 0.0) / total if total > 0.0 else 1.0 / size
        samples.strategy_sum[begin + k] += weight * chance
        if chance > 0.0:
            last = k  # rounding can leave the threshold at 0 or above: then the last possible action is taken
        threshold -= chance
        if threshold < 0.0 and chosen < 0:
            chosen = k
    return nodes.first_child[history] + (chosen if chosen >= 0 else last)


@kernel(inline=True)
def sampled_outcome(nodes, stream, history):
    """Return the child after a sampled chance outcome."""
    first = nodes.first_child[history]
    threshold = next_float(stream)
    last = first
    for child in range(first, first + nodes.num_children[history]):
        if nodes.chance[child] > 0.0:
            last = child
        threshold -= nodes.chance[child]
        if threshold < 0.0:
            break
    return last
