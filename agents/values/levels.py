"""Levels: the starts and ends of streets for which there are networks."""

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from plurispiel.abstraction.cards.preflop import NUM_CLASSES
from plurispiel.abstraction.holdem.betting import BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, HoldemRules
from plurispiel.abstraction.machine.suggestion import suggestion

__all__ = ["LEVELS", "Level", "chips_behind", "find_level", "pot_of"]


@dataclass(frozen=True)
class Level:
    """The start or the end of a street in a game of two seats.

    Attributes
    ----------
    name : str
    rules : HoldemRules
    street : int
        The street that starts or ends. Seat 0 acts first on the street to come (`next_street`).
    menu : str
        The raises in solved situations, by OpenSpiel's names.
    num_bins : int
        Number of strength bins in which networks see ranges; 0 for each hand by itself.
    tolerance : float
        A situation is solved until its exploitability is at most ``tolerance * (pot + min(chips behind, 2 * pot))``, or
        until the limit of iterations (`solve_exactly`). Exploitability is half the sum of both seats' gains by best
        responses.
    blueprint : str or None
        Name of the bundled blueprint whose self-play gives a third of the situations; None if no situation is from
        play.
    teacher : str or None
        At the end of a street, the level at the start of the next one, whose networks give the values (`distil`). None
        at the start of a street.
    per_board : int
        The number of situations that share a drawn board, or before the flop a draw of flops (`distillation`). On the
        flop it is above 1, since ordering a flop's hands takes a tenth of a second.
    """

    name: str
    rules: HoldemRules
    street: int
    menu: str
    num_bins: int
    tolerance: float
    blueprint: str | None = None
    teacher: str | None = None
    per_board: int = 1

    @property
    def next_street(self) -> int:
        """The street whose bets come next."""
        return self.street + (self.teacher is not None)

    @property
    def end(self) -> str | None:
        """The level at the end of this street; None if there is none. Its networks give values where solutions end."""
        name = f"end-of-{self.name}"
        return name if name in LEVELS else None

    @property
    def board_size(self) -> int:
        """Number of board cards."""
        return self.rules.board_size(self.street)

    @property
    def num_hands(self) -> int:
        """Number of hands on a board."""
        return math.comb(len(self.rules.cards) - self.board_size, self.rules.num_hole_cards)

    @property
    def bin_limits(self) -> tuple[int, int]:
        """The fewest and the most bins of strength; before the flop, networks tell hands apart by class alone."""
        return (2, self.num_hands) if self.board_size else (self.num_bins, self.num_bins)

    def raises(self, rules: HoldemRules, state: list[int]) -> tuple[int, ...] | None:
        """Return the raises on offer at a betting state array; the method is a `RaiseMenu`."""
        return raise_menu(self._offering, state)

    @functools.cached_property
    def _offering(self) -> HoldemRules:
        return self.rules.with_menu(self.menu)

    @functools.cached_property
    def starts(self) -> list[BettingState]:
        """A state for each pot with which `next_street` can start without an all-in; only for games with few pots."""
        ends: dict[int, BettingState] = {}
        states = [BettingState(self.rules)]
        for _ in range(self.next_street):
            states = [end for state in states for end in _ends(state)]
        for state in states:
            ends.setdefault(pot_of(state), state)
        return list(ends.values())


_MENUS = ("fc", "fcpa", "fchpa")

_RIVER = Level("river", HUNL, street=3, menu="fcpa", num_bins=256, tolerance=0.005, blueprint="headsup-refined")
_TURN = replace(_RIVER, name="turn", street=2, num_bins=512)
_FLOP = replace(_TURN, name="flop", street=1, per_board=16)
LEVELS = {
    level.name: level
    for level in (
        Level("leduc", LEDUC, street=1, menu="fcpa", num_bins=0, tolerance=0.001),
        _RIVER,
        replace(_TURN, name="end-of-turn", teacher="river"),
        _TURN,
        replace(_FLOP, name="end-of-flop", teacher="turn"),
        _FLOP,
        replace(_FLOP, name="end-of-preflop", street=0, teacher="flop", num_bins=NUM_CLASSES, per_board=250),
    )
}


def find_level(name: str, menu: str | None = None) -> Level:
    """Return a level by its name, with another menu if one is given.

    Raises
    ------
    ValueError
        If there is no such level, or the level has no such menu.
    """
    if name not in LEVELS:
        *names, last = LEVELS
        raise ValueError(f"a level is {', '.join(names)} or {last}, got {name!r}{suggestion(name, LEVELS)}")
    level = LEVELS[name]
    if menu is None or menu == level.menu:
        return level
    if level.rules.is_limit:
        raise ValueError(f"the bets of {name} are fixed, leave out the menu {menu!r}")
    if menu not in _MENUS:
        raise ValueError(f"a menu of solved situations is {', '.join(_MENUS)}, got {menu!r}{suggestion(menu, _MENUS)}")
    return replace(level, menu=menu)


def pot_of(state: BettingState) -> int:
    """Return the chips in the middle that both seats can win; chips that nobody has called do not count."""
    return 2 * min(state.contributions)


def chips_behind(state: BettingState) -> int:
    """Return the most chips that a seat can still bet and the other seat can call, at the start of a street.

    Limit games have no stacks; there all raises of the streets that remain are counted.
    """
    rules = state.rules
    if rules.stacks is not None:
        return min(stack - chips for stack, chips in zip(rules.stacks, state.contributions, strict=True))
    assert rules.raise_sizes is not None and rules.max_raises is not None
    streets = range(state.street, rules.num_streets)
    return sum(rules.raise_sizes[street] * rules.max_raises[street] for street in streets)


def _ends(state: BettingState) -> list[BettingState]:
    """Return the states at the start of the next street, for all betting without an all-in."""
    betting = street_betting(state)[1]
    first = {decision.root: decision.state for decision in reversed(betting.decisions)}
    return [BettingState(state.rules, np.array(first[root], state.array.dtype)) for root in sorted(first)]
