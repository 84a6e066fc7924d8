"""A subgame of two players: their ranges at a public state, and the betting to the end of the hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetBetting, street_betting
from plurispiel.abstraction.holdem.cards import cards_text

__all__ = ["BucketRows", "Subgame"]

BucketRows = Callable[[tuple[int, ...]], np.ndarray]
"""Maps a board to the bucket of every combo: int[num_combos], 0 and up. Entries of combos that share a card with the
board are ignored. Renaming the suits of a hand and its board must not change the bucket."""


@dataclass(frozen=True, eq=False)
class Subgame:
    """The subgame that a `VectorSolver` solves.

    Attributes
    ----------
    state : BettingState
        A state of two players, with a decision to make.
    board : tuple of int
        The whole board of the state's street.
    ranges : float64[2, num_combos]
        Each seat's weight of each combo, in any scale. A pair of compatible hands has the product of their weights.
    menu : callable, optional
        The raises on offer. By default these are the raises of the rules, and pot-sized raises count the dead chips.
    dead_chips : int
        Chips in the pot that neither seat has put in.
    locks : mapping
        The fixed strategy of each locked decision: float64[num_combos, num_actions]. The key is the sequence of actions
        from `state` to the decision, in the form of `BettingDecision.actions`. A lock on a street after the subgame's
        first holds on all boards of that street. Rows sum to 1; combos with a row of NaN are not locked.
    buckets : callable, optional
        The buckets on streets after the subgame's first street, where all hands of one bucket share a strategy on all
        boards. By default each hand on each board has its own strategy.

    Raises
    ------
    ValueError
        If the hand is over, the board is not that of the state's street, or `ranges` has another shape or a weight that
        is negative or not finite. The solver checks locks and buckets.
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
        """Return the betting of each street, from the state's street on.

        Raises
        ------
        ValueError
            If the game does not have two seats, every raise size is on offer at some decision, or the betting is too
            large.
        """
        # With buckets, kernels work on the same decisions of sixteen roots at once (`terminal_tiles`).
        by_chips = self.buckets is not None
        return street_betting(self.state, menu=self.menu, dead_chips=self.dead_chips, by_chips=by_chips)
