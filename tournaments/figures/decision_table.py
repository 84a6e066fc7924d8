"""A strategy as a table for people to read: a part for each public state, and in it a row for each private hand.

In poker games a *node* is a public state. Its name lists the actions and board cards that lead to it, separated by
blanks: ``c r3 c 4d``. Actions are ``f`` fold, ``c`` check or call, and ``r3`` a raise to 3 chips. ``start`` is the
first decision. In other games a node is an information state of OpenSpiel, which can be several infosets.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.abstraction.trees.game_tree import CHANCE, GameTree
from plurispiel.abstraction.trees.public_states import PublicStates, public_states, rule_actions
from plurispiel.evaluation.decision_values import DecisionValues

__all__ = ["MAX_SHOWN", "DecisionNames", "csv_text", "decision_names", "decision_rows", "gains_text", "table_text"]

MAX_SHOWN = 2_000
"""Largest number of decisions of a game that is shown whole."""

_START = "start"


class DecisionNames:
    """The names of a game's decisions.

    Attributes
    ----------
    nodes : list of str
        The node of each infoset.
    hands : list of str
        The private cards in each infoset; empty outside poker.
    actions : list of str
        The name of each action of each infoset, in the order of strategies (`GameTree`).
    """

    def __init__(self, nodes: list[str], hands: list[str], actions: list[str]):
        self.nodes, self.hands, self.actions = nodes, hands, actions

    def chosen(self, node: str | None) -> list[int]:
        """Return the infosets at a node, or all infosets if none is named.

        Raises
        ------
        ValueError
            If there is no such node, or none is named and the game has more than `MAX_SHOWN` decisions.
        """
        known = sorted(set(self.nodes), key=lambda name: (name != _START, len(name.split()), name))
        if node is None:
            if len(self.nodes) > MAX_SHOWN:
                raise ValueError(
                    f"the game has {len(self.nodes):,} decisions, and at most {MAX_SHOWN:,} are shown at once; choose "
                    f"a node, such as --node {known[0]!r} or --node {known[-1]!r}"
                )
            places = {each: place for place, each in enumerate(known)}
            return sorted(range(len(self.nodes)), key=lambda number: (places[self.nodes[number]], self.hands[number]))
        name = " ".join(node.split())
        if name not in known:
            raise ValueError(
                f"no decision is at the node {node!r} (named by actions and board cards, such as "
                f"{', '.join(map(repr, known[:4]))}){suggestion(name, known)}"
            )
        found = [infoset for infoset, each in enumerate(self.nodes) if each == name]
        return sorted(found, key=lambda infoset: self.hands[infoset])


def decision_names(tree: GameTree) -> DecisionNames:
    """Return the names of all decisions of a game."""
    try:
        states = public_states(tree)
    except ValueError:  # `HoldemRules` cannot express the game
        return _openspiel_names(tree)
    game, rule = OpenSpielGame(tree.openspiel_game), rule_actions(tree)
    nodes = _node_names(tree, states, game, rule)
    first = tree.infoset_histories[tree.infoset_histories_first[:-1]]
    combos = states.combo[first, tree.infoset_player]
    actions = []
    for begin, end in zip(tree.infoset_first.tolist(), tree.infoset_first[1:].tolist(), strict=False):
        offered = rule[begin:end].tolist()
        passive = "call" if 0 in offered else "check"
        actions += [("fold", passive)[each] if each < 2 else f"raise to {each}" for each in offered]
    return DecisionNames(
        [nodes[number] or _START for number in states.number[first].tolist()],
        [cards_text(game.rules.combos[combo].tolist()) for combo in combos.tolist()],
        actions,
    )


def _node_names(tree: GameTree, states: PublicStates, game: OpenSpielGame, rule: np.ndarray) -> list[str]:
    """Return the name of each public state; empty for states before the first decision is taken."""
    names = [""] * len(states)
    for number in range(1, len(states)):
        history = int(states.histories[states.histories_first[number]])
        before = int(tree.parent[history])
        token = ""
        if tree.player[before] != CHANCE:
            place = tree.infoset_first[tree.infoset[before]] + history - tree.first_child[before]
            action = int(rule[place])
            token = "fc"[action] if action < 2 else f"r{action}"
        elif states.street[number] > 0 or states.street[states.parent[number]] >= 0:
            token = cards_text([game.card(int(tree.action[history]))])
        names[number] = f"{names[states.parent[number]]} {token}".strip()
    return names


def _openspiel_names(tree: GameTree) -> DecisionNames:
    nodes, actions = [], []
    for infoset, state in enumerate(tree.infoset_states()):
        nodes.append(" ".join(state.information_state_string().split()))
        own = tree.action_ids[tree.infoset_first[infoset] : tree.infoset_first[infoset + 1]]
        actions += [state.action_to_string(state.current_player(), action) for action in own.tolist()]
    return DecisionNames(nodes, [""] * len(nodes), actions)


def decision_rows(
    tree: GameTree, names: DecisionNames, strategy: np.ndarray, values: DecisionValues, infosets: Iterable[int]
) -> list[dict[str, Any]]:
    """Return a record for each of some infosets, as ``--show --json`` prints it."""
    rows = []
    for infoset in infosets:
        own = range(int(tree.infoset_first[infoset]), int(tree.infoset_first[infoset + 1]))
        rows.append(
            {
                "node": names.nodes[infoset],
                "player": int(tree.infoset_player[infoset]),
                "hand": names.hands[infoset],
                "reach": float(values.reach[infoset]),
                "value": _number(values.values[infoset]),
                "gain": float(values.gains[infoset]),
                "best": names.actions[own[int(values.best[infoset])]],
                "actions": [
                    {
                        "action": names.actions[action],
                        "probability": float(strategy[action]),
                        "value": _number(values.action_values[action]),
                    }
                    for action in own
                ],
            }
        )
    return rows


def table_text(rows: Sequence[dict[str, Any]], unit: str) -> str:
    """Return rows as text: a part for each node, with each action's probability and value.

    The rows of a node have to stand next to each other in `rows`.
    """
    parts: list[list[dict[str, Any]]] = []
    for row in rows:
        if not parts or _part(parts[-1][0]) != _part(row):
            parts.append([])
        parts[-1].append(row)
    return "\n\n".join(_part_text(part, unit) for part in parts)


def gains_text(rows: Sequence[dict[str, Any]], unit: str) -> str:
    """Return rows as one table: for each decision the strategy, and the action and the gain of a best response."""
    table = [["seat", "node", "hand", "plays", "best", f"gain ({unit})"]]
    for row in rows:
        plays = ", ".join(
            f"{each['action']} {each['probability']:.2f}" for each in row["actions"] if each["probability"] >= 0.005
        )
        table.append([str(row["player"]), row["node"], row["hand"], plays, row["best"], f"{row['gain']:.6f}"])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
    )


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV, with a line for each action of each decision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["node", "player", "hand", "reach", "value", "gain", "action", "probability", "action_value"])
    for row in rows:
        about = [row[name] for name in ("node", "player", "hand", "reach", "value", "gain")]
        for each in row["actions"]:
            writer.writerow([*about, each["action"], each["probability"], each["value"]])
    return out.getvalue()


def _part(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["node"], row["player"], tuple(each["action"] for each in row["actions"])


def _part_text(rows: Sequence[dict[str, Any]], unit: str) -> str:
    table = [["hand", "reach", "value", *(each["action"] for each in rows[0]["actions"]), "gain", "best"]]
    for row in rows:
        cells = [f"{each['probability']:.3f} ({_amount(each['value'])})" for each in row["actions"]]
        table.append(
            [row["hand"], f"{row['reach']:.4f}", _amount(row["value"]), *cells, f"{row['gain']:.5f}", row["best"]]
        )
    if not rows[0]["hand"]:
        table = [line[1:] for line in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
    return "\n".join([f"{rows[0]['node']}: seat {rows[0]['player']} ({unit})", *lines])


def _amount(value: float | None) -> str:
    return "-" if value is None else f"{value:+z.3f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
