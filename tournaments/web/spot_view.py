"""A decision of a solved spot as plain values for the page: strategy, EV, equity and reach of every hand."""

from typing import Any

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting_tree import FOLD_END
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.card_ev import deals_cards
from plurispiel.agents.spots.hand_kinds import draw_of, made_hand_of
from plurispiel.agents.spots.node_names import PLAYERS, action_names
from plurispiel.agents.spots.node_strategy import NodePlace, find_node
from plurispiel.agents.spots.spot_solution import SpotSolution

DECISION, CARDS, FOLDED, SHOWDOWN = "decision", "cards", "fold", "showdown"
"""The kinds of successors of an action."""


def solution_summary(solution: SpotSolution) -> dict[str, Any]:
    """Return the values of a solution as a whole."""
    return {
        "ev": list(solution.ev),
        "equity": list(solution.equity),
        "exploitability_pct": solution.exploitability_pct,
        "bucket_exploitability_pct": solution.bucket_exploitability_pct,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "memory_mb": solution.memory_mb,
    }


def node_view(solution: SpotSolution, node: str) -> dict[str, Any]:
    """Return a decision for the page.

    Returns
    -------
    dict
        ``node, player, board, pot, to_call``; ``actions`` (``word``, ``text``, and ``next``, one of `DECISION`,
        `CARDS`, `FOLDED`, `SHOWDOWN`); ``path`` (the steps to the node: ``node, word, text, player``); ``lock`` (the
        node's name in a lock) and ``locked``. The lists ``combos, made, draw, strategy, action_ev, ev, equity, weight,
        pairs`` have an entry for each hand that a player may still hold. In the last four lists an entry has two
        numbers, that of the player out of position first. ``pairs`` is a hand's weight times the weight of the other
        player's compatible hands. In a mean of EV, equity or strategy over hands, ``pairs`` are the weights. Numbers
        that do not exist are None.

    Raises
    ------
    ValueError
        If the name leads to no decision, or the spot has three players.
    """
    found = solution.node_ev(node)
    solver = solution.solver
    assert isinstance(solver, VectorSolver)
    place = find_node(solution.spot, solver, node)
    combos = np.flatnonzero((found.weights > 0.0).any(axis=0))
    hands = [tuple(HUNL.combos[combo].tolist()) for combo in combos]
    state = place.decision.state
    put_in = state[betting_layout.CONTRIB : betting_layout.CONTRIB + 2]
    lock = lock_name(place)
    return {
        "node": found.node,
        "player": found.player,
        "board": cards_text(place.board),
        "pot": sum(put_in) + solver.subgame.dead_chips,
        "to_call": max(put_in) - put_in[place.decision.seat],
        "actions": node_actions(solver, place),
        "path": _path(solution, solver, place),
        "lock": lock,
        "locked": lock in solution.spot.lock,
        "combos": [combo_text(int(combo)) for combo in combos],
        "made": [made_hand_of(hand, place.board) for hand in hands],
        "draw": [draw_of(hand, place.board) for hand in hands],
        "strategy": _rows(place.probabilities[combos]),
        "action_ev": _rows(found.action_ev[combos]),
        "ev": _rows(found.ev.T[combos]),
        "equity": _rows(found.equity.T[combos]),
        "weight": _rows(found.weights.T[combos]),
        "pairs": _rows((found.weights * found.facing).T[combos]),
    }


def lock_name(place: NodePlace) -> str:
    """Return the name of a node in a lock, where ``*`` stands for every card dealt after the spot's board."""
    dealt = {cards_text(cards) for cards in place.dealt}
    return " ".join("*" if word in dealt else word for word in place.node.split())


def action_text(word: str, chips: str, to_call: int) -> str:
    """Return an action in words.

    >>> action_text("b50%", "b90", 0)
    'bet 90 (50 %)'
    """
    if word == "f":
        return "fold"
    if word == "c":
        return f"call {to_call:,}" if to_call else "check"
    amount = f"{'bet' if chips[0] == 'b' else 'raise to'} {int(chips[1:]):,}"
    if word == "allin":
        return f"all-in, {amount}"
    return f"{amount} ({word[1:-1]} %)" if word.endswith("%") else amount


def node_actions(solver: VectorSolver, place: NodePlace) -> list[dict[str, Any]]:
    """Return the actions of a decision: ``word``, ``text``, and ``next``, the kind of its successor."""
    kinds = solver.streets[place.street].betting.nodes.kind
    put_in = place.decision.state[betting_layout.CONTRIB : betting_layout.CONTRIB + 2]
    to_call = max(put_in) - put_in[place.decision.seat]
    found = []
    names = action_names(solver.subgame, place.decision)
    for column, ((word, chips), child) in enumerate(zip(names, place.decision.children.values(), strict=True)):
        after = DECISION if kinds[child] < FOLD_END else FOLDED if kinds[child] == FOLD_END else SHOWDOWN
        if deals_cards(solver, place, column):
            after = CARDS
        found.append({"word": word, "text": action_text(word, chips, to_call), "next": after})
    return found


def _path(solution: SpotSolution, solver: VectorSolver, place: NodePlace) -> list[dict[str, str]]:
    """Return the steps that lead to a node: for each step the node before it, its word, its text and its player."""
    words, dealt = place.node.split(), {cards_text(cards) for cards in place.dealt}
    steps = []
    for number, word in enumerate(words):
        before = " ".join(words[:number])
        if word in dealt:
            steps.append({"node": before, "word": word, "text": word, "player": ""})
            continue
        above = find_node(solution.spot, solver, before)
        text = next(each["text"] for each in node_actions(solver, above) if each["word"] == word)
        steps.append({"node": before, "word": word, "text": text, "player": PLAYERS[above.decision.seat]})
    return steps


def _rows(array: np.ndarray) -> list[Any]:
    """Return an array as lists, with None in place of NaN."""
    return [[None if value != value else value for value in row] for row in array.tolist()]
