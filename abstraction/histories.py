"""All histories of a game in breadth-first order: what a flat game tree is made of."""

import time
from array import array
from typing import Any, NamedTuple

import numpy as np
import pyspiel

CHANCE = -1
TERMINAL = -2

BYTES_PER_HISTORY = 37
"""Of a finished tree; making one takes about three times as much."""

_PROBES = 2_000
_PROBE_SECONDS = 0.5


class Histories(NamedTuple):
    """Every history of a game; children follow each other in the order of their parents.

    Attributes
    ----------
    num_children : int32[H]
    player : int8[H]
        Who acts: a player from 0, `CHANCE` or `TERMINAL`.
    action : int32[H]
        OpenSpiel's action, or chance outcome, that leads into a history; -1 for the root.
    chance : float64[H]
        Probability of the chance outcome that leads into a history, else 1.
    label : int32[H]
        A number below `num_labels` for what the actor knows, -1 where nobody decides. Not every number occurs.
    num_labels : int
    payoff_id : int32[H]
        Row of `payoffs`, -1 before the end.
    payoffs : float64[T, num_players]
        Rows may repeat.
    openspiel_recall : bool
        Whether OpenSpiel's information states remember all that the labels do.
    """

    num_children: np.ndarray
    player: np.ndarray
    action: np.ndarray
    chance: np.ndarray
    label: np.ndarray
    num_labels: int
    payoff_id: np.ndarray
    payoffs: np.ndarray
    openspiel_recall: bool


def require_tree(game: pyspiel.Game) -> None:
    """Refuse games that are no finite tree of single decisions with known information states.

    Raises
    ------
    ValueError
        With a line that says why, and what to do.
    """
    kind = game.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(
            f"{kind.short_name} is not a sequential game: its players act at the same time; "
            f"turn_based_simultaneous_game(game={game}) lets them act in turn, unseen"
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{kind.short_name} does not list its chance outcomes: no tree can be made of it")
    if not kind.provides_information_state_string:
        raise ValueError(f"{kind.short_name} does not tell its information states: no tree can be made of it")


def require_size(histories: float, max_histories: int, about: str = "") -> None:
    """Refuse more histories than the limit.

    Parameters
    ----------
    about : str
        A word before the number, such as "about ".
    """
    if histories > max_histories:
        number = f"{histories:,}" if isinstance(histories, int) and histories < 10**12 else f"{histories:.2g}"
        raise ValueError(
            f"the game is too large for a tree: {about}{number} histories, {memory_text(histories)}; "
            f"the limit is {max_histories:,} (--max-histories)"
        )


def memory_text(histories: float) -> str:
    """Return in words the memory that a tree takes.

    >>> memory_text(9_457)
    '0.3 MB'
    """
    size = histories * BYTES_PER_HISTORY
    for unit, word in ((1e6, "MB"), (1e9, "GB"), (1e12, "TB")):
        if size < 1000 * unit:
            return f"{size / unit:,.1f} {word}"
    return "more than 1,000 TB"


def estimate_histories(game: pyspiel.Game) -> float:
    """Return an unbiased estimate of the number of histories, from random walks to the end of the game.

    A walk that chose among b_1, b_2, ... ways stands for 1 + b_1 + b_1 b_2 + ... histories (Knuth, Estimating the
    efficiency of backtrack programs, 1975). Large games vary so much that the estimate is mostly too low.
    """
    rng = np.random.default_rng(0)
    total, walks = 0.0, 0
    end = time.perf_counter() + _PROBE_SECONDS
    while walks < _PROBES and (walks == 0 or time.perf_counter() < end):
        state = game.new_initial_state()
        width = size = 1.0
        while not state.is_terminal():
            choices = state.legal_actions()
            width *= len(choices)
            size += width
            state.apply_action(choices[int(rng.random() * len(choices))])
        total += size
        walks += 1
    return min(total / walks, 1e300)


def walk(game: pyspiel.Game, max_histories: int) -> Histories:
    """Return every history of any sequential game, by its states.

    Raises
    ------
    ValueError
        If there are more than `max_histories`: at once where the estimate is a hundred times as large.
    """
    estimate = estimate_histories(game)
    if estimate > 100.0 * max_histories:
        require_size(estimate, max_histories, "about ")
    # Depth first, which holds the states of one path only; then renumbered by depth.
    parent, action, depth = array("i"), array("i"), array("i")
    player, label, payoff_id = array("b"), array("i"), array("i")
    chance = array("d")
    labels: dict[tuple[int, str], int] = {}
    payoffs: dict[tuple[float, ...], int] = {}
    stack: list[tuple[Any, int, int, float, int]] = [(None, -1, -1, 1.0, 0)]
    while stack:
        before, up, edge, probability, level = stack.pop()
        state = game.new_initial_state() if before is None else before.child(edge)
        number = len(parent)
        if number == max_histories:
            require_size(max(estimate, number + 1), max_histories, "about " if estimate > number else "at least ")
        parent.append(up)
        action.append(edge)
        depth.append(level)
        chance.append(probability)
        actor = state.current_player()
        if actor >= 0:
            player.append(actor)
            label.append(labels.setdefault((actor, state.information_state_string()), len(labels)))
            payoff_id.append(-1)
            stack.extend((state, number, edge, 1.0, level + 1) for edge in reversed(state.legal_actions()))
        elif state.is_chance_node():
            player.append(CHANCE)
            label.append(-1)
            payoff_id.append(-1)
            stack.extend((state, number, *outcome, level + 1) for outcome in reversed(state.chance_outcomes()))
        else:
            player.append(TERMINAL)
            label.append(-1)
            payoff_id.append(payoffs.setdefault(tuple(state.returns()), len(payoffs)))
    order = np.argsort(np.array(depth), kind="stable")
    num_children = np.bincount(np.array(parent)[1:], minlength=len(parent))
    return Histories(
        num_children=num_children[order].astype(np.int32),
        player=np.array(player)[order],
        action=np.array(action)[order],
        chance=np.array(chance)[order],
        label=np.array(label)[order],
        num_labels=len(labels),
        payoff_id=np.array(payoff_id)[order],
        payoffs=np.array(list(payoffs)).reshape(len(payoffs), game.num_players()),
        openspiel_recall=True,
    )
