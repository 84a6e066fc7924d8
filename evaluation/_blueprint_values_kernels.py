"""Kernels that compute values of self-play.

One call answers all questions about a hand. A value that was not filled in before comes from roll-outs, is a constant,
or is the weighted mean of the values after a decision's actions. A *point* is a situation of a hand that is asked
about; each point has a row in the tables of shares and values. A *world* is a whole board on which roll-outs are played
(`roll_outs`).
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.sums import ordered_dot
from plurispiel.agents.blueprint.roll_out_kernels import add_values, first_cell, sum_rows
from plurispiel.agents.blueprint.roll_outs import RollOutSeats, RollOutTables, Stakes, Worlds
from plurispiel.evaluation.situations import COMBO, POINT, ROW

CARDS, OWN, COMBOS = 0, 1, 2
"""Columns of `Known.groups`; the combos of the tree's seats begin at `COMBOS`."""

GROUP, LINE, NODE, NUM_BRANCHES, BRANCH, CHANCES, ACTOR, STREET = range(8)
"""Columns of `PlannedPoints.points`."""

PAID, SCALE, PUT_IN = range(3)
"""Columns of `PlannedPoints.chips`."""

FILLED, CONSTANT = -2, -1
"""Entries of the column `GROUP` for points without roll-outs. `FILLED`: the values of the point are in
`PlannedPoints.values` already. `CONSTANT`: all combos have one value."""


MULTIWAY_REACH = 8.0
"""With three seats or more, the reach of a combo is its share times this number. With reaches as small as heads-up,
drawn actions cost more of the variance that cancels in self-play than they save in time."""

OWN_SHARE = 32.0
"""The least share of a combo whose single value is needed: it follows nearly all of its actions."""


class Play(NamedTuple):
    """The blueprint and the settings of its roll-outs.

    Attributes
    ----------
    tables : RollOutTables
    biases : int64[num_seats]
        Zeros: no seat is biased.
    stakes : Stakes
        The stakes of the tree's own game.
    small : int
        The largest number of nodes of a subtree in which all actions of the other seats are followed.
    num_hands : float
        Each question about a point raises a combo's share to at least this number times the combo's weight times the
        question's factor.
    """

    tables: RollOutTables
    biases: np.ndarray
    stakes: Stakes
    small: int
    num_hands: float


class Known(NamedTuple):
    """The worlds and the mean values that are known of one deck.

    Attributes
    ----------
    ranks : uint16[num_worlds, num_combos]
    buckets : int32[num_worlds, num_streets, num_combos]
        As in `Worlds`, for several sets of known cards.
    free : bool[num_card_sets, num_combos]
        As in `Worlds`, for each set of known cards.
    worlds : int64[num_card_sets, 2]
        The first world of each set of known cards, and the number of its worlds.
    groups : int64[num_groups, 2 + num_seats]
        A group stands for one set of known cards and one seating. Column `CARDS` is the index of the set, and `OWN` the
        seat of the tree whose hands are valued. From `COMBOS` on follows the known combo of each seat of the tree, -1
        for seat `OWN` and for empty seats.
    means : float64[num_lines, num_combos]
        Each row has the mean value of every combo at one node, for one group.
    is_known : bool[num_lines, num_combos]
        Whether each mean is known. Modified in place like `means`.
    """

    ranks: np.ndarray
    buckets: np.ndarray
    free: np.ndarray
    worlds: np.ndarray
    groups: np.ndarray
    means: np.ndarray
    is_known: np.ndarray


class PlannedPoints(NamedTuple):
    """The points of a hand.

    Points of one seat are in the order of the number of actions in the hand before them, so a decision comes before
    the points after its actions.

    Attributes
    ----------
    points : int64[num_points, 8]
        The columns:

        - `GROUP`: the group, or `FILLED` or `CONSTANT`;
        - `LINE`: the row of `Known.means`;
        - `NODE`: the node of the tree;
        - `NUM_BRANCHES`: the number of actions of a decision whose values may be means of the values after its actions,
          else 0;
        - `BRANCH`, `CHANCES`: the first of these actions in `branches` and in `chances`;
        - `ACTOR`: the known combo of the decision's seat, -1 for the seat whose hands are valued;
        - `STREET`: the decision's street.
    chips : float64[num_points, 3]
        `PAID`: the seat's contribution in the tree. `SCALE`: the pot at the table divided by the pot in the tree.
        `PUT_IN`: the seat's contribution at the table or, for a point with one constant, this constant.
    branches : int64[n]
        The point after each action of a decision, -1 for an action that is not asked about.
    chances : float64[n, num_combos]
        Workspace: the probability of each action of a decision with each combo. For a decision of a seat with a known
        combo, only the first column is used.
    shares, values : float64[num_points, num_combos]
        Workspaces: each combo's share and value. A share below 1 is the chance that the combo is valued. A combo with a
        share of 1 or more is always valued. Shares decide the reach in roll-outs, too (`MULTIWAY_REACH`).
    thresholds : float64[num_combos]
        A combo is valued if its share is above this number.
    reaches : float64[num_combos]
        Workspace: the reach of each combo that is rolled out (`add_values`), else 0.
    valued : int64[num_combos]
        Workspace: the combos that are valued.
    """

    points: np.ndarray
    chips: np.ndarray
    branches: np.ndarray
    chances: np.ndarray
    shares: np.ndarray
    values: np.ndarray
    thresholds: np.ndarray
    reaches: np.ndarray
    valued: np.ndarray


class Asked(NamedTuple):
    """The questions about a hand, and their answers.

    Attributes
    ----------
    questions : int64[num_questions, 8]
        The questions, as in `HandQuestions.table`.
    factors, weights
        As in `HandQuestions`.
    answers : float64[2, num_questions]
        The weighted sum of each question, and the single value. Modified in place.
    """

    questions: np.ndarray
    factors: np.ndarray
    weights: np.ndarray
    answers: np.ndarray


@kernel
def share_worlds(offsets, per_combo, ranks):
    """Keep a few of the worlds in which each combo is possible; in the others, the combo's rank becomes 0.

    Parameters
    ----------
    offsets : int64[num_combos]
        The number of the world from which each combo takes worlds in ascending order; the first world follows the last.
        Offsets are drawn without regard to the boards. So the worlds of a combo are a fair sample of the worlds in
        which the combo is possible. For a combo with an offset below 0 nothing is changed.
    per_combo : int
        The number of worlds to keep for each combo. A combo that is possible in fewer worlds keeps all of them.
    ranks : uint16[num_worlds, num_combos]
        Modified in place.
    """
    num_worlds = len(ranks)
    for combo in range(len(offsets)):
        if offsets[combo] < 0:
            continue
        taken = 0
        for step in range(num_worlds):
            world = (offsets[combo] + step) % num_worlds
            if taken == per_combo:
                ranks[world, combo] = 0
            taken += ranks[world, combo] != 0


@kernel
def answer_questions(play, known, plan, asked, seed, work, sums):
    """Write the answers to all questions about a hand, and the values of all points.

    Parameters
    ----------
    play : Play
    known : Known
        Modified in place.
    plan : PlannedPoints
        Modified in place.
    asked : Asked
        Modified in place.
    seed : uint64
        Determines the random numbers of roll-outs, see `add_values`.
    work : RollOutWorkspace
    sums : RollOutSums
        Workspace.
    """
    points, shares, values = plan.points, plan.shares, plan.values
    for point in range(len(points)):
        shares[point, :] = 0.0
    for k in range(len(asked.questions)):
        point = asked.questions[k, POINT]
        if points[point, GROUP] >= 0:
            row, combo = asked.questions[k, ROW], asked.questions[k, COMBO]
            _raise_shares(shares[point], asked.weights[row], asked.factors[k], play.num_hands, combo)
    for point in range(len(points)):
        if points[point, NUM_BRANCHES] > 0 and not _spread(play.tables, known, plan, point, work):
            points[point, NUM_BRANCHES] = 0
    for point in range(len(points)):
        if points[point, GROUP] == CONSTANT:
            values[point, :] = plan.chips[point, PUT_IN]
        elif points[point, GROUP] >= 0 and points[point, NUM_BRANCHES] == 0:
            _roll_out(play, known, plan, point, seed, work, sums)
    for back in range(len(points)):
        if points[len(points) - 1 - back, NUM_BRANCHES] > 0:
            _mix(plan, len(points) - 1 - back)
    for k in range(len(asked.questions)):
        here = values[asked.questions[k, POINT]]
        asked.answers[0, k] = ordered_dot(asked.weights[asked.questions[k, ROW]], here)
        asked.answers[1, k] = here[asked.questions[k, COMBO]]


@kernel(inline=True)
def _raise_shares(shares, weights, factor, num_hands, own):
    """Raise each combo's share to at least weight * factor * num_hands of one question.

    The share of the combo `own`, if there is one, becomes at least `OWN_SHARE`.
    """
    if factor > 0.0:
        for combo in range(len(shares)):
            shares[combo] = max(shares[combo], weights[combo] * factor * num_hands)
    if own >= 0:
        shares[own] = max(shares[own], OWN_SHARE)


@kernel(inline=True)
def _spread(tables, known, plan, point, work):
    """Write the probability of each action of a decision for each combo, and return whether the actions are enough.

    The actions are enough if every action that the blueprint may take is asked about. Where the seat that is valued
    decides, these are the actions with any combo of positive share; where another seat decides, those with its known
    combo. Then each combo with a share at the decision gets the share 1 after every action that may follow while the
    valued seat holds the combo, unless the combo has a share there already.
    """
    row = plan.points[point]
    node, num_actions, actor = row[NODE], row[NUM_BRANCHES], row[ACTOR]
    world = known.worlds[known.groups[row[GROUP], CARDS], 0]
    rows, buckets = tables.rows[first_cell(tables, node) :], known.buckets[world, row[STREET]]
    chances = plan.chances[row[CHANCES] : row[CHANCES] + num_actions]
    branches = plan.branches[row[BRANCH] : row[BRANCH] + num_actions]
    hands, number = work.lists, 0  # combos with a share; combos with a card of the board have no share and no bucket
    for combo in range(plan.shares.shape[1]):
        hands[number] = combo  # without a conditional jump: the next combo overwrites it if `number` stays
        number += plan.shares[point, combo] > 0.0
    if actor >= 0:
        cell = buckets[actor] * num_actions
        total = 0.0
        for a in range(num_actions):
            total += rows[cell + a]
        for a in range(num_actions):
            chances[a, 0] = rows[cell + a] / total
            if branches[a] < 0 and chances[a, 0] > 0.0 and number:
                return False
        for a in range(num_actions):
            if branches[a] >= 0 and chances[a, 0] > 0.0:
                after = plan.shares[branches[a]]
                for k in range(number):
                    after[hands[k]] = 1.0 if after[hands[k]] == 0.0 else after[hands[k]]
        return True
    cells, totals = work.cells, work.totals
    sum_rows(rows, num_actions, 0, 0, 1.0, hands[:number], buckets, cells, totals)
    for a in range(num_actions):
        if branches[a] < 0:
            for k in range(number):
                if rows[cells[k] + np.uint64(a)] > 0:
                    return False
    for a in range(num_actions):
        column, line = rows[a:], chances[a]
        line[:] = 0.0
        for k in range(number):
            line[hands[k]] = column[cells[k]] / totals[k]
        if branches[a] >= 0:
            after = plan.shares[branches[a]]
            for k in range(number):
                is_new = (after[hands[k]] == 0.0) & (column[cells[k]] > 0)
                after[hands[k]] = 1.0 if is_new else after[hands[k]]
    return True


@kernel(inline=True)
def _roll_out(play, known, plan, point, seed, work, sums):
    """Write the values of a point, by roll-outs for the combos whose means are not known yet.

    A combo is valued if its share is above its threshold; other combos get the value 0. Thresholds are uniform from 0
    to 1, so a share below 1 is the chance that the combo is valued. Values are divided by such shares, which keeps
    their expectation over thresholds.
    """
    row, chips = plan.points[point], plan.chips[point]
    shares, values, thresholds, reaches = plan.shares[point], plan.values[point], plan.thresholds, plan.reaches
    means, is_known, valued, number = known.means[row[LINE]], known.is_known[row[LINE]], plan.valued, 0
    for combo in range(len(values)):
        values[combo] = 0.0
        valued[number] = combo  # overwritten by the next combo unless `number` advances: no branch
        number += shares[combo] > thresholds[combo]
    count = 0
    reaches[:] = 0.0
    factor = 1.0 if known.groups.shape[1] == COMBOS + 2 else MULTIWAY_REACH
    for k in range(number):
        combo = valued[k]
        if not is_known[combo]:
            reaches[combo] = factor * max(shares[combo], 1.0)
            count += 1
    if count:
        group = known.groups[row[GROUP]]
        cards = group[CARDS]
        first, num_worlds = known.worlds[cards, 0], known.worlds[cards, 1]
        end = first + num_worlds
        seats = RollOutSeats(group[OWN], group[COMBOS:], play.biases, 1.0)
        worlds = Worlds(known.ranks[first:end], known.buckets[first:end], known.free[cards])
        # With one run-out all actions are followed.
        small = play.small if num_worlds > 1 else len(play.tables.sizes)
        sums.totals[:] = 0.0
        sums.counts[:] = 0.0
        add_values(play.tables, seats, play.stakes, worlds, reaches, row[NODE], small, seed, work, sums)
        for k in range(number):
            combo = valued[k]
            if not is_known[combo]:  # the mean is 0 for a combo without a world
                means[combo] = sums.totals[combo] / max(sums.counts[combo], 1.0)
                is_known[combo] = True
    paid, scale, put_in = chips[PAID], chips[SCALE], chips[PUT_IN]
    for k in range(number):
        combo = valued[k]
        values[combo] = ((means[combo] + paid) * scale - put_in) / min(shares[combo], 1.0)


@kernel(inline=True)
def _mix(plan, point):
    """Write the values before a decision: the means of the values after its actions, weighted by `chances`."""
    row, here = plan.points[point], plan.values[point]
    here[:] = 0.0
    for a in range(row[NUM_BRANCHES]):
        branch, chances = plan.branches[row[BRANCH] + a], plan.chances[row[CHANCES] + a]
        if branch >= 0:
            after = plan.values[branch]
            if row[ACTOR] >= 0:
                for combo in range(len(here)):
                    here[combo] += chances[0] * after[combo]
            else:
                for combo in range(len(here)):
                    here[combo] += chances[combo] * after[combo]
