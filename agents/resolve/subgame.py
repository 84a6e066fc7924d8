"""A subgame: two ranges at a public state, and the betting that is left."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetBetting, street_betting
from plurispiel.abstraction.holdem.cards import cards_text

__all__ = ["BucketRows", "Subgame"]

BucketRows = Callable[[tuple[int, ...]], np.ndarray]
"""Of a board: the bucket of every combo, int[num_combos], 0 and up, and whatever for impossible combos. The same hand
with renamed suits on a renamed board is in the same bucket."""


@dataclass(frozen=True, eq=False)
class Subgame:
    """What is to be solved.

    Attributes
    ----------
    state : BettingState
        Heads-up, with a decision to make.
    board : tuple of int
        The cards on the table, all of the street's.
    ranges : float64[2, num_combos]
        How likely each seat is to be there with each combo, in any scale; the weights of a pair of combos that
        share no card multiply.
    menu : callable, optional
        The raises on offer; by default those of the rules, of a pot with the dead chips.
    dead_chips : int
        Chips in the pot that neither seat has put in.
    locks : mapping
        Given strategies, float64[num_combos, num_actions] by the actions that lead to a decision (as in
        `BettingDecision.actions`); on later streets for all boards. Rows sum to 1; those of NaN are left free.
    buckets : callable, optional
        On streets after the first, hands in one bucket are played alike on all boards; by default each hand of each
        board has a strategy of its own.

    Raises
    ------
    ValueError
        If the parts do not fit together, or no two hands of the ranges can meet.
    """

    state: BettingState
    board: tuple[int, ...]
    ranges: npt.NDArray[np.float64]
    menu: RaiseMenu | None = None
    dead_chips: int = 0
    locks: Mapping[tuple[tuple[int, int, int], ...], np.ndarray] = field(default_factory=dict)
    buckets: BucketRows | None = None

    def __post_init__(self):
        rules = self.state.rules
        if self.state.is_over or len(self.board) != rules.board_size(self.state.street):
            raise ValueError(
                f"a subgame starts with a decision and the whole board of its street, got {cards_text(self.board)!r} "
                f"on street {self.state.street}"
            )
        if self.ranges.shape != (2, rules.num_combos) or not (np.isfinite(self.ranges) & (self.ranges >= 0.0)).all():
            raise ValueError(
                f"ranges are weights of at least 0 for two seats and {rules.num_combos} combos, "
                f"got an array of shape {self.ranges.shape}"
            )

    def betting(self) -> list[StreetBetting]:
        """Return the betting, one entry for each street."""
        return street_betting(self.state, menu=self.menu, dead_chips=self.dead_chips)
