"""The raises on offer in a search: the bet sizes of its settings, as far as memory and time allow."""

from collections.abc import Callable

from plurispiel.abstraction.actions.menu import BetMenu, Sizes
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import raise_menu
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["SearchMenu", "has_few_raises"]


def has_few_raises(rules: HoldemRules) -> bool:
    """Return whether a game itself allows few raises: limit, or a betting abstraction other than ``fullgame``."""
    return rules.is_limit or rules.betting_abstraction != "fullgame"


class SearchMenu:
    """The sizes of the settings; where the betting would grow too large, some are removed.

    The sizes at decisions after the largest number of raises on a street are removed first, since such decisions are
    reached least often. In a game whose rules allow few sizes of a raise, a decision offers either all sizes of the
    rules or none. It offers all if the menu, after removals, still has a size for the number of raises made on the
    street.

    Parameters
    ----------
    rules : HoldemRules
        The game that is searched.
    menu : BetMenu
        The sizes of the settings, the same for all seats.
    fits : callable
        Returns whether the betting with given raises is small enough. Not called for betting without raises.
    dead_chips : int
        Chips in the pot of players who have folded.
    """

    def __init__(self, rules: HoldemRules, menu: BetMenu, fits: Callable[[RaiseMenu], bool], dead_chips: int = 0):
        self._has_few = has_few_raises(rules)
        self._dead_chips = dead_chips
        self._menu = menu
        if self._has_few:
            self._menu = BetMenu(tuple((tuple(row[:1] for row in rows),) for (rows,) in menu.sizes))
        while any(any(rows) for (rows,) in self._menu.sizes) and not fits(self.raises):
            self._menu = _without_last(self._menu)

    def raises(self, rules: HoldemRules, array: list[int]) -> tuple[int, ...]:
        """Return the raise-to totals on offer in a betting state array, ascending."""
        if not self._has_few:
            return self._menu.raises(rules, array, self._dead_chips)
        has_more = self._menu.sizes_at(
            array[betting_layout.STREET], array[betting_layout.ACTOR], array[betting_layout.NUM_RAISES]
        )
        return raise_menu(rules, array, self._dead_chips) or () if has_more else ()


def _without_last(menu: BetMenu) -> BetMenu:
    """Return a menu without one size: the last size on offer after the largest number of raises.

    If several streets offer sizes after that number of raises, the street that offers the most sizes loses one. Among
    streets with equally many sizes, the latest street loses one.
    """
    places = [
        (number, len(row), street)
        for street, (rows,) in enumerate(menu.sizes)
        for number, row in enumerate(rows)
        if row
    ]
    number, _, street = max(places)
    rows = menu.sizes[street][0]
    fewer: tuple[Sizes, ...] = (*rows[:number], rows[number][:-1], *rows[number + 1 :])
    return BetMenu((*menu.sizes[:street], (fewer,), *menu.sizes[street + 1 :]))
