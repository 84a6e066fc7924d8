"""A blueprint: the strategy of an abstract game, learnt before play."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree, TreeSize
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.cards import CardBuckets

__all__ = ["Blueprint", "GameArrays", "game_arrays"]


class GameArrays(NamedTuple):
    """An abstract game as kernels read it.

    Attributes
    ----------
    num_seats, num_streets, num_hole_cards, num_board_cards, num_suits : int
    board_sizes : int64[num_streets]
    base : int64[num_streets + 1]
        The first cell of each street, and the number of all.
    pairs : int64[num_streets]
        (decision, action) pairs of each street.
    """

    num_seats: int
    num_streets: int
    num_hole_cards: int
    num_board_cards: int
    num_suits: int
    board_sizes: np.ndarray
    base: np.ndarray
    pairs: np.ndarray


def game_arrays(rules: HoldemRules, size: TreeSize, num_buckets: tuple[int, ...]) -> GameArrays:
    """Return an abstract game as kernels read it."""
    cells = [pairs * buckets for pairs, buckets in zip(size.pairs, num_buckets, strict=True)]
    return GameArrays(
        rules.num_seats,
        rules.num_streets,
        rules.num_hole_cards,
        rules.num_board_cards,
        rules.num_suits,
        np.array([rules.board_size(street) for street in range(rules.num_streets)], np.int64),
        np.cumsum([0, *cells]).astype(np.int64),
        np.array(size.pairs, np.int64),
    )


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A strategy for every decision of an abstract game.

    Attributes
    ----------
    rules : HoldemRules
    tree : BettingTree
    cards : CardBuckets
    game : GameArrays
    probabilities : float32[num_cells]
        By cell.
    """

    rules: HoldemRules
    tree: BettingTree
    cards: CardBuckets
    game: GameArrays
    probabilities: np.ndarray

    def strategy(self, node: int, buckets: np.ndarray) -> np.ndarray:
        """Return the probabilities of a decision's actions in some buckets: float32[num_buckets, num_actions]."""
        street, count = int(self.tree.street[node]), int(self.tree.num_actions[node])
        cells = self.game.base[street] + buckets.astype(np.int64) * self.game.pairs[street] + int(self.tree.row[node])
        return self.probabilities[cells[:, None] + np.arange(count)]
