"""Kernels that plan how `BlueprintValues` answers the questions about a hand.

A *point* is a situation of the hand that is asked about: a seat, a line of betting and a number of board cards. The
module `known_values` defines *known cards*, *groups* and *worlds*.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.evaluation._blueprint_values_kernels import CARDS, COMBOS, FILLED, GROUP, OWN
from plurispiel.evaluation.situations import ALONE, LINE, POINT, SEAT, SIZE

IN_TREE = 0
"""The kind of points whose values come from roll-outs, or are means of the values after a decision's actions. The other
kinds are `CONSTANT` and `FILLED`."""

SPOT_SEAT, SPOT_LINE, SPOT_SIZE, SPOT_CARDS, TASK = range(5)
"""Columns of `spots`."""

FILL, DECIDED, ROLLED_OUT = 1, 2, 3
"""Tasks of a point. `FILL`: fill in its values by checkdown. `DECIDED`: draw worlds for a point whose values may be
means of the values after a decision's actions. `ROLLED_OUT`: draw worlds for any other point."""

PARENT, INDEX, NODE, STREET, DECIDES_WITH, ACTOR, NUM_ACTIONS, SEATING, KINDS = range(9)
"""Columns of `lines`. The kinds of the seats begin at `KINDS`; the tree's seat of each seat follows them."""

NUM_GROUPS, NUM_LINES, NUM_CHANCES = range(3)
"""Places in `counts`."""

KEY, KEPT = range(2)
"""Columns of `kept`. `KEY`: a group times 2^32 plus a node, -1 for a free row. `KEPT`: the row of `Known.means`."""


@kernel
def find_points(questions, cards_of, spots):
    """Write the different points of the questions to `spots`, and each question's point; return the number of points.

    Parameters
    ----------
    questions : int64[num_questions, 8]
        As in `HandQuestions.table`. The questions about a seat are contiguous, in ascending order of their numbers of
        actions. Modified in place: column `POINT`.
    cards_of : int64[num_seats, num_sizes, 2]
        The index of the known cards of each seat with each number of board cards. Entry 0 of the last axis is for
        questions about many combos, entry 1 for a question about one combo alone.
    spots : int64[num_questions, 5]
        A row for each point, with all columns but `TASK`. Modified in place.
    """
    number = first = np.int64(0)
    for k in range(len(questions)):
        seat, line, size = questions[k, SEAT], questions[k, LINE], questions[k, SIZE]
        if k > 0 and questions[k - 1, SEAT] != seat:
            first = number
        found, cards = np.int64(-1), np.int64(-1)
        for point in range(first, number):
            if spots[point, SPOT_SIZE] == size:
                cards = spots[point, SPOT_CARDS]
                if spots[point, SPOT_LINE] == line:
                    found = np.int64(point)
                    break
        if found < 0:
            if cards < 0:
                cards = cards_of[seat, size, questions[k, ALONE]]
            spots[number, SPOT_SEAT], spots[number, SPOT_LINE] = seat, line
            spots[number, SPOT_SIZE], spots[number, SPOT_CARDS] = size, cards
            found = number
            number += 1
        questions[k, POINT] = found
    return number


@kernel
def plan_points(spots, lines, line_chips, cards, known, kept, counts, points, chips, branches):
    """Write the rows of points, and return how many points have a task.

    Parameters
    ----------
    spots : int64[num_points, 5]
        As `find_points` wrote them. Modified in place: column `TASK`, 0 for points without a task.
    lines, line_chips : int64[num_lines, 8 + 2 * num_seats], float64[num_lines, num_seats, 3]
        The tables `rows` and `chips` of `LinePlaces`.
    cards : int64[num_card_sets, num_seats + num_seatings]
        As in `KnownValues.cards`. Modified in place.
    known : Known
        There is room for one more group and one more row of `means` for each point. Modified in place.
    kept : int64[2^n, 2]
        A hash table of the rows of `Known.means` by group and node, with free rows left for new ones. Modified in
        place.
    counts : int64[3]
        `NUM_GROUPS`: the number of groups. `NUM_LINES`: the number of rows of `Known.means` in use. `NUM_CHANCES`: the
        number of rows of `PlannedPoints.chances`. Modified in place.
    points, chips : int64[num_points, 8], float64[num_points, 3]
        As in `PlannedPoints`. Modified in place.
    branches : int64[n]
        As in `PlannedPoints`, with room for all actions at every point. Modified in place.
    """
    num_seats, num_tasks, first = line_chips.shape[1], 0, 0
    for point in range(len(spots)):
        seat, line, size = spots[point, SPOT_SEAT], spots[point, SPOT_LINE], spots[point, SPOT_SIZE]
        if spots[first, SPOT_SEAT] != seat:
            first = point
        for k in range(3):
            chips[point, k] = line_chips[line, seat, k]
        points[point, :] = 0
        kind = lines[line, KINDS + seat]
        if kind != IN_TREE:
            points[point, GROUP] = kind
            spots[point, TASK] = FILL if kind == FILLED else 0
            num_tasks += kind == FILLED
            continue
        held, node, branch, num_after = spots[point, SPOT_CARDS], lines[line, NODE], counts[NUM_CHANCES], np.int64(0)
        actor = np.int64(-1)
        if size == lines[line, DECIDES_WITH] and _find_branches(spots, lines, first, point, branches[branch:]):
            num_after, actor = lines[line, NUM_ACTIONS], cards[held, lines[line, ACTOR]]
        counts[NUM_CHANCES] += num_after
        group = _find_group(lines[line], seat, num_seats, held, cards[held], known.groups, counts)
        row = _find_line(group, node, known.is_known, kept, counts)
        planned = points[point]
        planned[0], planned[1], planned[2], planned[3] = group, row, node, num_after
        planned[4], planned[5], planned[6], planned[7] = branch, branch, actor, lines[line, STREET]
        spots[point, TASK] = 0
        if known.worlds[held, 1] == 0:
            spots[point, TASK] = DECIDED if num_after > 0 else ROLLED_OUT
            num_tasks += 1
    return num_tasks


@kernel(inline=True)
def _find_branches(spots, lines, first, point, branches):
    """Write the point after each action of a decision, and return whether the decision's values may be means over them.

    They may be means if at least one action is asked about, and if no point after an action of the tree has values by
    checkdown while a seat is still to act.
    """
    seat, line, size = spots[point, SPOT_SEAT], spots[point, SPOT_LINE], spots[point, SPOT_SIZE]
    for a in range(lines[line, NUM_ACTIONS]):
        branches[a] = -1
    is_decided, is_sound = False, True
    for other in range(first, len(spots)):
        if spots[other, SPOT_SEAT] != seat:
            break
        after = spots[other, SPOT_LINE]
        if spots[other, SPOT_SIZE] == size and lines[after, PARENT] == line:
            is_decided = True
            if lines[after, INDEX] >= 0:
                branches[lines[after, INDEX]] = other
                is_sound &= lines[after, ACTOR] < 0 or lines[after, KINDS + seat] != FILLED
    return is_decided and is_sound


@kernel(inline=True)
def _find_group(line, seat, num_seats, held, cards, groups, counts):
    """Return the group of known cards and a line's seating, a new one if there is none (`Known.groups`)."""
    column = num_seats + line[SEATING]
    if cards[column] < 0:
        number = counts[NUM_GROUPS]
        counts[NUM_GROUPS] += 1
        row = groups[number]
        row[:] = -1  # stays for the own seat and for empty seats
        own = line[KINDS + num_seats + seat]
        row[CARDS], row[OWN] = held, own
        for other in range(num_seats):
            in_tree = line[KINDS + num_seats + other]
            if in_tree != -1 and in_tree != own:
                row[COMBOS + in_tree] = cards[other]
        cards[column] = number
    return cards[column]


@kernel(inline=True)
def _scattered(key):
    """Return a hash of a key. No product overflows if 31 times the key's group plus its node is below 2^31."""
    return ((key >> 32) * 31 + (key & 0xFFFFFFFF)) * 0x9E3779B1 >> 12


@kernel(inline=True)
def _find_line(group, node, is_known, kept, counts):
    """Return the row of `Known.means` of a group's node, a new one if the node has none.

    `kept` is a hash table with open addressing: a key's row is the first free one from its hash on.
    """
    key = (group << 32) + node
    last = len(kept) - 1
    place = _scattered(key) & last
    while kept[place, KEY] >= 0 and kept[place, KEY] != key:
        place = (place + 1) & last
    if kept[place, KEY] < 0:
        row = counts[NUM_LINES]
        counts[NUM_LINES] += 1
        kept[place, KEY], kept[place, KEPT] = key, row
        is_known[row, :] = False
    return kept[place, KEPT]


@kernel
def move_lines(kept, longer):
    """Copy the entries of the hash table `kept` (see `plan_points`) to a longer table whose rows are all free."""
    last = len(longer) - 1
    for row in range(len(kept)):
        key = kept[row, KEY]
        if key >= 0:
            place = _scattered(key) & last
            while longer[place, KEY] >= 0:
                place = (place + 1) & last
            longer[place, KEY], longer[place, KEPT] = key, kept[row, KEPT]
