"""The plan of a hand's questions that `_hand_plan_kernels` describes, with dictionaries in place of tables."""

from itertools import groupby


def plan(questions, lines, cards_of, has_worlds):
    """Return the points of questions, and what is to be done for each.

    Parameters
    ----------
    questions : list of (seat, line, size, is_alone)
        The questions of a seat stand one after the other.
    lines : dict
        For each line a dict with ``parent, index, node, decides_with, actor, num_actions, seating`` and, for each seat,
        ``kinds``.
    cards_of : callable
        Maps a seat, a size and whether one combo is alone to the number of known cards.
    has_worlds : callable
        Whether known cards have worlds.

    Returns
    -------
    list of int
        The point of each question.
    list of dict
        For each point the ``kind``, and in the tree the ``cards, seating, node``, the ``branches`` (empty if the values
        are no means over actions), the ``actor`` of the branches, and the ``task``.
    """
    numbers, points = [], []
    for seat, asked in groupby(questions, key=lambda question: question[0]):
        first, views = len(points), {}
        for _, line, size, is_alone in asked:
            cards, found = views.setdefault(size, (cards_of(seat, size, is_alone), {}))
            if line not in found:
                found[line] = len(points)
                points.append((line, size, cards))
            numbers.append(found[line])
        for number, (line, size, cards) in enumerate(points[first:], first):
            points[number] = _planned(seat, lines, line, size, cards, views[size][1], has_worlds(cards))
    return numbers, points


def _planned(seat, lines, line, size, cards, found, has_worlds):
    place = lines[line]
    kind = place["kinds"][seat]
    if kind != "tree":
        return {"kind": kind, "task": "fill" if kind == "filled" else None}
    following = [other for other in found if lines[other]["parent"] == line]
    branches = [-1] * place["num_actions"]
    for other in following:
        if lines[other]["index"] >= 0:
            branches[lines[other]["index"]] = found[other]
    taken = [other for other in following if lines[other]["index"] >= 0]
    is_sound = all(lines[other]["actor"] < 0 or lines[other]["kinds"][seat] != "filled" for other in taken)
    if size != place["decides_with"] or not following or not is_sound:
        branches = []
    task = None if has_worlds else ("decided" if branches else "rolled out")
    return {"kind": kind, "cards": cards, "seating": place["seating"], "node": place["node"], "branches": branches,
            "actor": place["actor"] if branches else -1, "task": task}  # fmt: skip
