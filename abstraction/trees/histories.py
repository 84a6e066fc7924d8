"""All histories of a game in breadth-first order, from which a flat game tree is assembled."""

import time
from array import array
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyspiel

CHANCE = -1
TERMINAL = -2

BYTES_PER_HISTORY = 37
"""Bytes of memory for each history of a finished tree; assembling the tree takes about three times as much."""

_PROBES = 2_000
_PROBE_SECONDS = 0.5


class TooLargeError(ValueError):
    """A game has more histories than its tree may hold."""


class Histories(NamedTuple):
    """All H histories of a game, breadth first: siblings are contiguous, and follow the order of their parents.

    Attributes
    ----------
    num_children : int32[H]
        Number of children of each history; 0 at the end of a game.
    player : int8[H]
        The player to act, from 0; `CHANCE` where chance acts; `TERMINAL` at the end of a game.
    action : int32[H]
        OpenSpiel's action, or chance outcome, that leads into a history; -1 for the root.
    chance : float64[H]
        Probability of the chance outcome that leads into a history; 1 where a player's action does.
    label : int32[H]
        A number, from 0, for what the player to act knows: histories with equal labels look the same to that player.
        -1 where no player decides.
    num_labels : int
        All labels are below this number; in `holdem_histories` some numbers below it are not used.
    payoff_id : int32[H]
        Row in `payoffs` of each terminal history; -1 for other histories.
    payoffs : float64[T, num_players]
        T rows with every player's payoff, in the game's own unit. Equal rows may occur.
    openspiel_recall : bool
        Whether OpenSpiel's information states distinguish all histories that the labels distinguish.
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
    """Raise ValueError unless a game is sequential, lists its chance outcomes and provides information states.

    Whether the tree is finite is not checked.
    """
    kind = game.get_type()
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise ValueError(f"{kind.short_name} is a mean-field game: no tree can be made of it")
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(
            f"{kind.short_name} is not a sequential game: its players act at the same time; "
            f"turn_based_simultaneous_game(game={game}) lets them act in turn, without seeing each other's actions"
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{kind.short_name} does not list its chance outcomes: no tree can be made of it")
    if not kind.provides_information_state_string:
        raise ValueError(f"{kind.short_name} does not provide information states: no tree can be made of it")


@dataclass(frozen=True)
class Size:
    """The number of histories of a game, exact or estimated.

    Attributes
    ----------
    histories : int or float
        The number of histories.
    word : {"", "about ", "at least "}
        Text that precedes the number and says how exact the number is.

    >>> str(Size(9_457))
    '9,457 histories, 0.3 MB'
    """

    histories: float
    word: str = ""

    def __str__(self) -> str:
        number = f"{self.histories:,.0f}" if self.histories < 1e12 else f"{self.histories:.2g}"
        return f"{self.word}{number} histories, {self._memory_text()}"

    def _memory_text(self) -> str:
        size = self.histories * BYTES_PER_HISTORY
        for unit, word in ((1e6, "MB"), (1e9, "GB"), (1e12, "TB")):
            if size < 1000 * unit:
                return f"{size / unit:,.1f} {word}"
        return "more than 1,000 TB"

    def require(self, max_histories: int) -> None:
        """Raise TooLargeError if there are more than `max_histories`."""
        if self.histories > max_histories:
            raise TooLargeError(
                f"the game is too large for a tree: {self}; the limit is {max_histories:,} (max_histories)"
            )


_UNKNOWN = Size(0)


def estimate_size(game: pyspiel.Game) -> Size:
    """Return an estimate of the number of histories: the mean over random walks to the end of the game.

    A walk that chose among b_1, b_2, ... children estimates 1 + b_1 + b_1 b_2 + ... histories, without bias (Knuth,
    Estimating the efficiency of backtrack programs, 1975). In large games the variance is so large that most estimates
    are too low.
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
    return Size(min(total / walks, 1e300), "about ")


def walk(game: pyspiel.Game, max_histories: int, expected: Size = _UNKNOWN) -> Histories:
    """Return every history of any sequential game, found by walking through OpenSpiel's states.

    Parameters
    ----------
    max_histories : int
        Limit of the number of histories.
    expected : Size, optional
        The estimated number of histories, for the error message.

    Raises
    ------
    ValueError
        If there are more than `max_histories`. The message names the expected size if it also exceeds the limit, else
        the number of histories found.
    """
    # The walk is depth first, so that only the states of one path are kept. At the end, a stable sort by depth numbers
    # the histories breadth first and leaves siblings contiguous.
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
            expected.require(max_histories)
            Size(number + 1, "at least ").require(max_histories)
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
