"""The betting of one street, whose nodes many situations share; each situation has its own stakes."""

import functools
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import FOLD_END, STREET_END, street_betting
from plurispiel.agents.values.levels import Level, chips_behind, pot_of

__all__ = ["StreetShape", "StreetStakes", "street_of"]


class StreetShape(NamedTuple):
    """The nodes of a street's betting.

    Attributes
    ----------
    kinds : tuple of int
        As in `StreetNodes.kind`.
    children : tuple of tuple of int
        The nodes after each node's actions.
    first : tuple of int
        The number of each decision's first action, if all actions are numbered decision after decision; -1 for other
        nodes.
    """

    kinds: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    first: tuple[int, ...]

    @property
    def decisions(self) -> list[int]:
        """The nodes with actions, each before its children."""
        return [node for node, kind in enumerate(self.kinds) if kind < FOLD_END]

    def of_kind(self, kind: int) -> list[int]:
        """Return the nodes of a kind."""
        return [node for node, each in enumerate(self.kinds) if each == kind]

    @property
    def num_actions(self) -> int:
        """Number of actions of all decisions."""
        return len(self.kinds) - 1


class StreetStakes(NamedTuple):
    """The chips of one situation in a `StreetShape`, in pots at the root.

    Attributes
    ----------
    stakes : float64[num_nodes]
        As in `StreetNodes.stake`; at the ends of the street, the winnings at a showdown without more bets.
    spr : float64[num_ends]
        Chips behind at each end of the street, in pots at that end.
    """

    stakes: np.ndarray
    spr: np.ndarray


@functools.lru_cache(maxsize=65_536)
def street_of(level: Level, contribution: int) -> tuple[StreetShape, StreetStakes]:
    """Return the betting of a level's next street, and the stakes if each seat has put in `contribution` chips before.

    Parameters
    ----------
    level : Level
        Of a no-limit game of two seats.
    contribution : int
        The chips that each seat has put into the pot.
    """
    state = start_state(level, contribution)
    betting = street_betting(state, menu=level.raises, num_streets=1)[0]
    nodes, pot = betting.nodes, pot_of(state)
    children: list[tuple[int, ...]] = [()] * len(nodes.kind)
    for decision in betting.decisions:
        children[decision.node] = tuple(decision.children.values())
    firsts, number = [], 0
    for each in children:
        firsts.append(number if each else -1)
        number += len(each)
    stakes = nodes.stake / pot
    ends = np.flatnonzero(nodes.kind == STREET_END)
    stakes[ends] = [pot_of(each) / 2.0 / pot for each in betting.end_states]
    spr = np.array([chips_behind(each) / pot_of(each) for each in betting.end_states])
    return StreetShape(tuple(nodes.kind.tolist()), tuple(children), tuple(firsts)), StreetStakes(stakes, spr)


def start_state(level: Level, contribution: int) -> BettingState:
    """Return the state at the start of the next street, if each seat put in `contribution` chips and then checked."""
    state = BettingState(level.rules)
    blind = level.rules.big_blind
    state.apply(contribution if contribution > blind else 1)
    while state.street < level.next_street:
        state.apply(1)
    return state
