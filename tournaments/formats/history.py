"""A hand as stated by a hand-history file, in any format."""

from dataclasses import dataclass, field
from decimal import Decimal

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.replay import Betting


class BrokenHistory(ValueError):
    """A hand, or a whole file, that cannot be read or replayed. Readers yield it in place of the hand.

    Attributes
    ----------
    file : str
        The path of the file.
    hand : str or None
        The label of the hand, or ``at line N`` without a label; None if the file, or the rest of it, cannot be read.
    what : str
        The message about the defect.
    """

    def __init__(self, file: str, hand: str | None, what: str):
        super().__init__(file, hand, what)
        self.file = file
        self.hand = hand
        self.what = what

    def __str__(self) -> str:
        place = self.file if self.hand is None else f"{self.file}, hand {self.hand}"
        return f"{place}: {self.what}"


@dataclass(frozen=True, slots=True)
class HandHistory:
    """A hand as its source states it. Cards and payoffs are not checked.

    Attributes
    ----------
    rules : HoldemRules
        The game.
    names : tuple of str
        The name of the player in each seat.
    hole_cards : tuple of tuple of int
        The cards of each seat, in the order dealt; empty for a seat whose cards are unknown.
    board : tuple of int
        Board cards in the order dealt, as far as the source states them.
    actions : tuple of int
        0 fold, 1 check or call, N raise to N chips over the whole hand.
    payoffs : tuple of float or None
        Net chips of each seat as stated; None if the source does not state them.
    label : str
        Number or name of the hand within its file.
    chip_value : Decimal
        Value of one chip of `rules`, `actions` and `payoffs` in the units of the source. Sources may state fractions of
        a unit, while chips are whole numbers.
    mucked : tuple of int
        Seats that mucked at the showdown.
    betting : Betting or None
        The replay of `actions`, if the function that read the hand has kept it (`read_acpc` does). Comparisons of hands
        ignore the replay.
    """

    rules: HoldemRules
    names: tuple[str, ...]
    hole_cards: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]
    actions: tuple[int, ...]
    payoffs: tuple[float, ...] | None
    label: str
    chip_value: Decimal = Decimal(1)
    mucked: tuple[int, ...] = ()
    betting: Betting | None = field(default=None, compare=False, repr=False)
