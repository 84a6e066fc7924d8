"""Values where a lookahead ends: at the end of a street, for all hands of both seats and every board that may follow.

Values are counterfactual: weighted by the other seat's reach and by the probability of the board given both hands.
They count chips of the whole hand. Arrays have the shape [2, E, B, H], for both seats, E ends of the street, B boards
of the next street and H hands of the street's own board. A hand that shares a card with a board has the value 0 there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_layout import CONTRIB
from plurispiel.abstraction.holdem.betting_tree import SHOWDOWN, StreetBetting
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import RankedHands, fold_mass, rank_hands, showdown_margin
from plurispiel.agents.values.zero_sum import without_gain

__all__ = [
    "Boundary",
    "CheckdownLeaves",
    "CorrectableLeaves",
    "Leaves",
    "NoisyLeaves",
    "Noise",
    "board_chance",
    "boards_after",
]

Line = tuple[tuple[int, int, int], ...]
"""Seat, action and street of every action of a hand so far."""


@dataclass(frozen=True, eq=False)
class Boundary:
    """The end of a street, where a lookahead ends.

    Attributes
    ----------
    rules : HoldemRules
    street : int
        The street that ends.
    board : tuple of int
        The board of this street.
    betting : StreetBetting
        The betting of the next street, with a root for each end.
    hands : RankedHands
        The hands on `board`.
    ends : tuple of BettingState
        The states at the ends, by number.
    """

    rules: HoldemRules
    street: int
    board: tuple[int, ...]
    betting: StreetBetting
    hands: RankedHands
    ends: tuple[BettingState, ...] = ()

    def pots(self) -> np.ndarray:
        """Return the pot at each end of the street: float64[E]; 0 where a seat is all-in."""
        found = np.zeros(self.betting.num_roots)
        for decision in reversed(self.betting.decisions):
            found[decision.root] = sum(decision.state[CONTRIB : CONTRIB + 2])
        return found

    def lines(self) -> list[Line | None]:
        """Return the actions that lead to each end; None where a seat is all-in, since no decision follows."""
        found: list[Line | None] = [None] * self.betting.num_roots
        for decision in reversed(self.betting.decisions):
            found[decision.root] = decision.actions
        return found


class Leaves(Protocol):
    """The values at the ends of one lookahead.

    Attributes
    ----------
    boards : list of tuple of int
        The boards of the next street; only the street's own board if values are means over the next boards.
    """

    boards: list[tuple[int, ...]]

    @property
    def num_solves(self) -> int:
        """Number of solves of the next street so far. A solver counts one for each end, board and call of `values`."""

    @property
    def num_iterations(self) -> int:
        """Number of iterations in all these solves."""

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values of all hands, float64[2, E, B, H], for both seats' reach at the ends, float64[2, E, H]."""


@runtime_checkable
class CorrectableLeaves(Leaves, Protocol):
    """Leaves whose values are quick but have an error, which takes longer to measure."""

    def correction(self, reach: np.ndarray) -> np.ndarray:
        """Return the error at this reach, with the sign changed; it depends little on the reach."""

    def values(self, reach: np.ndarray, correction: np.ndarray | None = None) -> np.ndarray:
        """Return the values, with a `correction` that was measured at this or another reach."""


ValueFunction = Callable[[Boundary], Leaves]
"""Returns the leaves of the lookahead that ends at a boundary."""


def boards_after(boundary: Boundary) -> list[tuple[int, ...]]:
    """Return the boards of the next street."""
    left = [card for card in boundary.rules.cards.tolist() if card not in boundary.board]
    return [boundary.board + new for new in combinations(left, boundary.rules.board_cards[boundary.street + 1])]


def board_chance(rules: HoldemRules, before: int, after: int) -> float:
    """Return the probability of a board's new cards given both hands; `before` and `after` count the board cards."""
    return 1.0 / math.comb(len(rules.cards) - before - 2 * rules.num_hole_cards, after - before)


class BoardMasses:
    """The other seat's reach, summed over the hands compatible with each hand, on each board of the next street.

    Parameters
    ----------
    boundary : Boundary
    """

    def __init__(self, boundary: Boundary):
        self.boards = boards_after(boundary)
        self._chance = board_chance(boundary.rules, len(boundary.board), len(self.boards[0]))
        places = np.empty(boundary.rules.num_combos, np.int64)
        places[boundary.hands.combos] = np.arange(len(boundary.hands.combos))
        self.hands = [rank_hands(boundary.rules, board) for board in self.boards]
        self.places = [places[hands.combos] for hands in self.hands]

    def masses(self, reach: np.ndarray) -> np.ndarray:
        """Return the mass of compatible hands times the board's probability: float64[2, E, B, H]."""
        return self._by_board(reach, fold_mass)

    def margins(self, reach: np.ndarray) -> np.ndarray:
        """Return the mass of hands that a hand beats, minus that of better hands, times the board's probability."""
        return self._by_board(reach, showdown_margin)

    def _by_board(self, reach: np.ndarray, kind: Callable[[RankedHands, np.ndarray], np.ndarray]) -> np.ndarray:
        found = np.zeros((*reach.shape[:2], len(self.boards), reach.shape[2]))
        for number, (hands, places) in enumerate(zip(self.hands, self.places, strict=True)):
            found[:, :, number, places] = kind(hands, reach[::-1, :, places]) * self._chance
        return found


class CheckdownLeaves:
    """Values without further bets: the winnings of both seats if they check to the showdown.

    Parameters
    ----------
    boundary : Boundary
        The end of the second to last street.
    """

    num_solves = 0
    num_iterations = 0

    def __init__(self, boundary: Boundary):
        self._masses = BoardMasses(boundary)
        self.boards = self._masses.boards
        nodes = boundary.betting.nodes
        roots = np.flatnonzero(nodes.parent < 0)
        self._stakes = np.where(nodes.kind[roots] == SHOWDOWN, nodes.stake[roots], boundary.pots() / 2.0)

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values of all hands; see `Leaves`."""
        return self._masses.margins(reach) * self._stakes[:, None, None]


@dataclass(frozen=True)
class Noise:
    """An error of values, as a network would make it.

    Attributes
    ----------
    size : float
        The root of the mean square of the errors drawn, as a share of the pot.
    kind : {"fixed", "fresh", "ranges"}
        ``fixed`` errors depend on public state, hand and seed alone, like a bias. ``fresh`` errors are drawn again each
        time that values are asked for. ``ranges`` errors are a fixed linear function of both ranges, scaled to a
        constant size.
    seed : int
    """

    size: float
    kind: str = "fixed"
    seed: int = 1


class NoisyLeaves:
    """Values of other leaves plus an error, corrected so that both seats together neither gain nor lose.

    Where a seat is all-in there is no error.

    Parameters
    ----------
    leaves : Leaves
    boundary : Boundary
    noise : Noise
    """

    def __init__(self, leaves: Leaves, boundary: Boundary, noise: Noise):
        self._leaves, self._noise = leaves, noise
        self.boards = leaves.boards
        self._masses = BoardMasses(boundary)
        self._pots = boundary.pots()
        self._lines = boundary.lines()
        self._combos = boundary.hands.combos
        self._num_combos = boundary.rules.num_combos
        self._asked = 0
        width = 2 * len(self._combos) if noise.kind == "ranges" else 1
        self._drawn = self._draw(width)

    @property
    def num_solves(self) -> int:
        """See `Leaves`."""
        return self._leaves.num_solves

    @property
    def num_iterations(self) -> int:
        """See `Leaves`."""
        return self._leaves.num_iterations

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values of all hands; see `Leaves`."""
        masses = self._masses.masses(reach)
        drawn = self._errors(reach)
        values = self._leaves.values(reach) + self._noise.size * self._pots[:, None, None] * masses * drawn
        corrected = without_gain(values, reach[:, :, None], masses)
        is_all_in = self._pots == 0.0
        corrected[:, is_all_in] = values[:, is_all_in]
        return corrected

    def _errors(self, reach: np.ndarray) -> np.ndarray:
        """Return an error for each hand, with a mean square of 1: float64[2, E, B, H]."""
        if self._noise.kind == "fixed":
            return self._drawn[..., 0]
        if self._noise.kind == "fresh":
            self._asked += 1
            return self._draw(1)[..., 0]
        both = reach.transpose(1, 0, 2).reshape(reach.shape[1], -1)
        length = np.sqrt((both**2).sum(axis=1, keepdims=True))
        both = np.divide(both, length, out=np.zeros_like(both), where=length > 0.0)
        return np.einsum("sebhk,ek->sebh", self._drawn, both)

    def _draw(self, width: int) -> np.ndarray:
        """Return normal numbers by public state and combo: float64[2, E, B, H, width]."""
        found = np.zeros((2, len(self._lines), len(self.boards), len(self._combos), width))
        for end, line in enumerate(self._lines):
            for number, board in enumerate(self.boards):
                if line is None:
                    continue
                place = [*(action for _, action, _ in line), len(line), *board, self._asked]
                rng = np.random.default_rng(np.random.SeedSequence(self._noise.seed, spawn_key=place))
                found[:, end, number] = rng.standard_normal((2, self._num_combos, width))[:, self._combos]
        return found
