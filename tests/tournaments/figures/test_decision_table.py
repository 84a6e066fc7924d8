"""The names of decisions, and strategies as tables."""

import csv
import io

import pytest

from plurispiel.abstraction.trees.game_tree import flatten, uniform_strategy
from plurispiel.evaluation.decision_values import decision_values
from plurispiel.tournaments.figures import decision_table
from plurispiel.tournaments.figures.decision_table import (
    csv_text,
    decision_names,
    decision_rows,
    gains_text,
    table_text,
)


def rows_of(game, node=None):
    tree = flatten(game)
    names, strategy = decision_names(tree), uniform_strategy(tree)
    return decision_rows(tree, names, strategy, decision_values(tree, strategy), names.chosen(node))


def test_nodes_and_actions_of_poker():
    rows = rows_of("kuhn")
    assert [(row["node"], row["player"], row["hand"]) for row in rows] == [
        (node, player, hand)
        for node, player in (("start", 0), ("c", 1), ("r2", 1), ("c r2", 0))
        for hand in ("2c", "3c", "4c")
    ]
    actions = {row["node"]: [each["action"] for each in row["actions"]] for row in rows}
    assert actions["start"] == actions["c"] == ["check", "raise to 2"]
    assert actions["r2"] == actions["c r2"] == ["fold", "call"]


def test_board_cards_stand_in_names():
    rows = rows_of("leduc", " c  r3 c 4d ")
    assert {row["node"] for row in rows} == {"c r3 c 4d"}
    assert [row["hand"] for row in rows] == ["2c", "2d", "3c", "3d", "4c"]  # not the card on the board


@pytest.mark.parametrize(
    ("game", "node", "words"),
    [
        ("kuhn", "c r3", "no decision is at the node 'c r3' .*, did you mean 'c r2'"),
        ("leduc", "", "no decision is at the node ''"),
    ],
)
def test_nodes_that_are_not_there(game, node, words):
    with pytest.raises(ValueError, match=words):
        decision_names(flatten(game)).chosen(node)


def test_large_games_are_not_shown_whole(monkeypatch):
    monkeypatch.setattr(decision_table, "MAX_SHOWN", 900)
    names = decision_names(flatten("leduc"))
    with pytest.raises(
        ValueError, match="936 decisions, and at most 900 are shown at once; choose a node, such as --n"
    ):
        names.chosen(None)
    assert len(names.chosen("start")) == 6


def test_games_without_cards_have_openspiel_names():
    rows = rows_of("liars_dice(dice_sides=2)")
    assert rows[0]["hand"] == "" and len({row["node"] for row in rows}) == len(rows)
    text = table_text(rows, "points")
    assert "hand" not in text and f"{rows[0]['node']}: seat 0 (points)" in text


def test_texts():
    rows = rows_of("kuhn", "c r2")
    lines = table_text(rows, "chips").splitlines()
    assert lines[0] == "c r2: seat 0 (chips)" and len(lines) == 5
    assert lines[4].split() == "4c 0.0833 +0.500 0.500 (-1.000) 0.500 (+2.000) 0.12500 call".split()
    table = list(csv.DictReader(io.StringIO(csv_text(rows))))
    assert len(table) == 6
    assert (table[-1]["hand"], table[-1]["action"], table[-1]["action_value"]) == ("4c", "call", "2.0")
    assert (
        gains_text(rows[-1:], "chips").splitlines()[1].split() == "0 c r2 4c fold 0.50, call 0.50 call 0.125000".split()
    )
