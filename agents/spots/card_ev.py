"""The EVs of both players after each card that may be dealt next in a solved spot of two players."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import STREET_END
from plurispiel.agents.resolve.node_values import OWN
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.node_ev import solver_behind
from plurispiel.agents.spots.node_strategy import NodePlace

__all__ = ["CardEv", "card_evs", "deals_cards"]


class CardEv(NamedTuple):
    """Each player's mean EV after a card, over the player's whole range.

    As in `node_ev.NodeEv`, bets before the card are not subtracted.

    Attributes
    ----------
    card : int
        The card that is dealt next.
    ev : float64[2]
        The players' EVs in chips, out of position first; NaN if no compatible hands are left.
    pairs : float
        The weight of all pairs of compatible hands that are left; the card's probability is proportional to it.
    """

    card: int
    ev: np.ndarray
    pairs: float


def deals_cards(solver: VectorSolver, place: NodePlace, column: int) -> bool:
    """Return whether cards are dealt, and decisions follow, after an action of a decision.

    Parameters
    ----------
    column : int
        The number of the action.
    """
    betting = solver.streets[place.street].betting
    child = list(place.decision.children.values())[column]
    if betting.nodes.kind[child] != STREET_END:
        return False
    later = solver.streets[place.street + 1].betting
    root = int(betting.nodes.end[child])
    return bool(later.nodes.kind[np.flatnonzero(later.nodes.number == root)[0]] < 2)


def card_evs(solver: VectorSolver, place: NodePlace, column: int) -> Iterator[CardEv]:
    """Yield a `CardEv` for each possible next card, the lowest card first.

    The function is a generator because all turn cards of a flop take seconds.

    Parameters
    ----------
    solver : VectorSolver
        The solver of the spot, which must not iterate meanwhile.
    place : NodePlace
        A decision.
    column : int
        The number of an action after which cards are dealt, see `deals_cards`.
    """
    taken = [action for _, action, _ in place.decision.actions]
    behind, path = (solver_behind(solver, place), []) if place.street else (solver, taken)
    action = list(place.decision.children)[column]
    state = place.decision.state_of(solver.subgame.state)
    state.apply_legal(action)
    put_in = np.array(state.contributions[:2], np.float64)
    for card in solver.subgame.state.rules.cards.tolist():
        if card in place.board:
            continue
        after = behind.values_after([*path, action], (card,))
        pairs = (after.reach * after.facing).sum(axis=1)
        sums = (after.reach * after.values[:, OWN]).sum(axis=1)
        yield CardEv(card, np.divide(sums, pairs, out=np.full(2, np.nan), where=pairs > 0.0) + put_in, float(pairs[0]))
