"""The plan of a hand's questions against a plan by dictionaries, on random lines and questions."""

import numpy as np
import pytest
from reference.hand_plan import plan

from plurispiel.evaluation import _hand_plan_kernels as kernels
from plurispiel.evaluation._blueprint_values_kernels import CARDS, COMBOS, CONSTANT, FILLED, OWN
from plurispiel.evaluation.known_values import KnownValues

SEATS, SIZES, SEATINGS, WIDTH = 3, 3, 2, 3
KINDS = {"tree": kernels.IN_TREE, "filled": FILLED, "constant": CONSTANT}
TASKS = {None: 0, "fill": kernels.FILL, "decided": kernels.DECIDED, "rolled out": kernels.ROLLED_OUT}
TREE_SEATS = ((0, 1, 2), (1, -1, 0))


def random_lines(rng, number):
    lines = {}
    for line in range(number):
        parent = int(rng.integers(line)) if line else -1
        index = -1
        if line and rng.random() < 0.8:
            taken = {other["index"] for other in lines.values() if other["parent"] == parent}
            left = [a for a in range(lines[parent]["num_actions"]) if a not in taken]
            index = int(rng.choice(left)) if left else -1
        lines[line] = {
            "parent": parent,
            "index": index,
            "node": int(rng.integers(6)),
            "decides_with": int(rng.integers(-1, SIZES)),
            "actor": int(rng.integers(-1, SEATS)),
            "num_actions": int(rng.integers(1, WIDTH + 1)),
            "seating": int(rng.integers(SEATINGS)),
            "kinds": rng.choice(list(KINDS), SEATS, p=(0.8, 0.1, 0.1)).tolist(),
        }
        if lines[line]["actor"] < 0:
            lines[line]["decides_with"] = -1
    return lines


def as_table(lines):
    rows = []
    for line in lines.values():
        row = [line["parent"], line["index"], line["node"], 1, line["decides_with"], line["actor"]]
        row += [line["num_actions"], line["seating"], *(KINDS[kind] for kind in line["kinds"])]
        rows.append(row + list(TREE_SEATS[line["seating"]]))
    return np.array(rows)


@pytest.mark.parametrize("seed", range(4))
def test_points_branches_and_tasks_are_those_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    known = KnownValues(SEATS, 2, 4)
    cards = {}
    rows_of, groups_of = {}, {}  # kept over the hands of one deck, as the tables are

    def cards_of(seat, size, is_alone):
        key = seat, size, is_alone
        if key not in cards:
            cards[key] = known.new_cards([-1 if other == seat else other + 10 for other in range(SEATS)])
        return cards[key]

    for _ in range(40):
        lines = random_lines(rng, 40)
        seats = np.sort(rng.integers(SEATS, size=60))
        asked = [(int(s), int(rng.integers(40)), int(rng.integers(SIZES)), bool(rng.integers(2))) for s in seats]
        numbers, points = plan(asked, lines, cards_of, lambda held: held % 3 == 0)
        known.tables.worlds[:, 1] = np.arange(len(known.tables.worlds)) % 3 == 0
        table = np.array([cards_of(*np.unravel_index(k, (SEATS, SIZES, 2))) for k in range(SEATS * SIZES * 2)])
        questions = np.array([(-1, 0, 0, *question) for question in asked])
        spots = np.empty((len(asked), 5), np.int64)
        number = kernels.find_points(questions, table.reshape(SEATS, SIZES, 2), spots)
        assert questions[:, 0].tolist() == numbers and number == len(points)
        known.tables.worlds[:, 1] = np.arange(len(known.tables.worlds)) % 3 == 0
        known.make_room(number, SEATINGS)
        known.counts[kernels.NUM_CHANCES] = 0
        rows, chips = np.empty((number, 8), np.int64), np.empty((number, 3))
        branches = np.empty(number * WIDTH, np.int64)
        line_chips = rng.random((40, SEATS, 3))
        tasks = kernels.plan_points(
            spots[:number], as_table(lines), line_chips, known.cards, known.tables, known.lines, known.counts, rows,
            chips, branches,
        )  # fmt: skip
        assert spots[:number, kernels.TASK].tolist() == [TASKS[point["task"]] for point in points]
        assert tasks == sum(point["task"] is not None for point in points)
        for point, row, (seat, line, *_), put in zip(points, rows.tolist(), spots.tolist(), chips, strict=False):
            assert (put == line_chips[line, seat]).all()
            if point["kind"] != "tree":
                assert row[0] == KINDS[point["kind"]] and row[3] == 0
                continue
            group, mean, node, num_after, branch, chances, actor, street = row
            assert (node, street, branch) == (point["node"], 1, chances)
            assert branches[branch : branch + num_after].tolist() == point["branches"]
            held = known.tables.groups[group]
            own = TREE_SEATS[point["seating"]][seat]
            if num_after:
                assert actor == known.cards[point["cards"], point["actor"]]
            assert groups_of.setdefault((point["cards"], point["seating"]), group) == group
            assert rows_of.setdefault((group, node), mean) == mean
            expected = [-1] * SEATS
            for other, in_tree in enumerate(TREE_SEATS[point["seating"]]):
                if in_tree not in (-1, own):
                    expected[in_tree] = other + 10
            assert (held[CARDS], held[OWN], held[COMBOS:].tolist()) == (point["cards"], own, expected)
    assert sorted(groups_of.values()) == list(range(len(groups_of)))
    assert sorted(rows_of.values()) == list(range(len(rows_of)))
