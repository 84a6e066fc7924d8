"""The raises on offer on a street of more than two players: as many as it has room for."""

from plurispiel.abstraction.actions.menu import BetMenu, Sizes
from plurispiel.abstraction.holdem import _betting_kernels as kernels
from plurispiel.abstraction.holdem.betting import BettingState, raise_menu
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.street_tree import StreetBetting, StreetTooLarge

__all__ = ["SearchMenu", "has_few_raises"]

MAX_BYTES = 1_000_000_000
"""Of the tables of a street."""


def has_few_raises(rules: HoldemRules) -> bool:
    """Return whether a game has a menu of its own: limit, or few sizes."""
    return rules.is_limit or rules.betting_abstraction != "fullgame"


class SearchMenu:
    """The sizes of the settings from a state on; where the street grows too large with them, the last ones go first.

    Of a game that has few raises all are on offer, as often as the settings have any.

    Parameters
    ----------
    state : BettingState
    config : SearchConfig
    most_raises : int
        Behind so many the street ends before its end.
    """

    def __init__(self, state: BettingState, config: SearchConfig, most_raises: int):
        self._rules = state.rules
        array = state.array
        if state.street:
            menu = config.multiway_menu(int(array[kernels.NUM_ACTING]))
        else:
            menu = config.preflop_menu(int(array[kernels.NUM_RAISES]))
        ((sizes,),) = menu.sizes
        self._menu = menu if not has_few_raises(self._rules) else _menu(tuple(row[:1] for row in sizes))
        while not self._fits(state, config.k, most_raises):
            ((sizes,),) = self._menu.sizes
            self._menu = _menu(_without_last(sizes))

    def raises(self, rules: HoldemRules, array: list[int]) -> tuple[int, ...]:
        """Return the raises on offer to the actor, ascending."""
        if not has_few_raises(rules):
            return self._menu.raises(rules, array)
        has_more = self._menu.sizes_at(array[kernels.STREET], array[kernels.ACTOR], array[kernels.NUM_RAISES])
        return raise_menu(rules, array) or () if has_more else ()

    def _fits(self, state: BettingState, num_policies: int, most_raises: int) -> bool:
        """Return whether the street is small enough; without any raise it has to be."""
        ((sizes,),) = self._menu.sizes
        if not any(sizes):
            return True
        try:
            street = StreetBetting(state, self.raises, None, (), most_raises)
        except StreetTooLarge:
            return False
        return street.most_bytes(num_policies) <= MAX_BYTES


def _menu(sizes: tuple[Sizes, ...]) -> BetMenu:
    return BetMenu(((sizes,),))


def _without_last(sizes: tuple[Sizes, ...]) -> tuple[Sizes, ...]:
    """Return sizes by the number of raises without the very last one."""
    last = max(number for number, row in enumerate(sizes) if row)
    return (*sizes[:last], sizes[last][:-1], *sizes[last + 1 :])
