"""A blueprint's strategies at a search's decisions, translated to the search's actions.

A search may begin with these strategies (warm start). In a safe search, the opponent's value of terminating is the
value of its best response to these strategies.
"""

import functools

import numpy as np

from plurispiel.abstraction.actions.translation import ShadowHand
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.blueprint.translated_rows import TranslatedRows
from plurispiel.agents.resolve.bucket_shares import BucketShares
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["PlannedRows", "planned_rows"]


class PlannedRows:
    """A blueprint's strategies in the betting of searches.

    A bet of the search between two sizes of the blueprint's tree, neither of them the all-in, counts as the likelier
    one by the pseudo-harmonic mapping. The module `actions.shadow` has the rules for all other bets. If the lower size
    is a call or the upper size is the all-in, the probability of folding to the bet is the weighted mean of the
    probabilities at both sizes. A bet of the blueprint counts as the nearest size that the search offers.

    Parameters
    ----------
    blueprint : Blueprint
        The blueprint whose strategies are translated.
    hand : ShadowHand
        Translates between the blueprint's tree and the game that is played, without random choices.
    """

    def __init__(self, blueprint: Blueprint, hand: ShadowHand):
        self._blueprint = blueprint
        self._hand = hand
        self._translated = TranslatedRows(blueprint, hand.translation)
        # Searches of other boards ask for the same decisions again. A strategy of 200 buckets takes some 5 kB.
        self._known = functools.lru_cache(4096)(self._find)

    def row_by_bucket(self, path: tuple[int, ...], actions: tuple[int, ...]) -> np.ndarray | None:
        """Return the strategy of each of the blueprint's buckets after a path: float64[num_buckets, num_actions].

        None if the blueprint's tree has no such decision, or no seat for a player who is still in the hand. The result
        is kept for later calls, and must not be changed.

        Parameters
        ----------
        path : tuple of int
            All actions of the hand before the decision.
        actions : tuple of int
            The actions that the search offers at the decision, which are the columns of the result.
        """
        return self._known(path, actions)

    def _find(self, path: tuple[int, ...], actions: tuple[int, ...]) -> np.ndarray | None:
        return self._translated.at(self._hand.at(path), actions)

    def rows(self, path: tuple[int, ...], actions: tuple[int, ...], board: tuple[int, ...]) -> np.ndarray | None:
        """Return the blueprint's strategy by combo: float64[num_combos, num_actions]; see `row_by_bucket`.

        The rows of combos that share a card with the board are arbitrary.
        """
        by_bucket = self.row_by_bucket(path, actions)
        return None if by_bucket is None else by_bucket[_buckets(self._blueprint, board)]

    def betting(self, path: tuple[int, ...], state: BettingState) -> dict[tuple[int, ...], tuple[int, ...]]:
        """Return the blueprint's raises at a state, and at all states that follow it by actions of the blueprint.

        The keys are betting state arrays, as tuples. Raises are in the chips of the game that is played.

        Parameters
        ----------
        path : tuple of int
            The actions of the hand that led to the state.
        """
        if state.is_over:
            return {}
        known = self._hand.translation.answers(self._hand.at(path)).actions
        raises = {tuple(state.array.tolist()): tuple(action for action in known if action > CALL)}
        for action in known:
            after = state.copy()
            after.apply_legal(action)
            raises |= self.betting((*path, action), after)
        return raises

    def rows_for(self, solver: VectorSolver, history: tuple[int, ...]) -> "_RowsOfSolver":
        """Return the blueprint's strategies at a solver's decisions, as a function of the type `KnownRows`.

        Parameters
        ----------
        history : tuple of int
            Actions of the hand before the solver's subgame.
        """
        return _RowsOfSolver(self, self._blueprint, solver, history)


@functools.lru_cache(4)
def planned_rows(blueprint: Blueprint, rules: HoldemRules) -> PlannedRows:
    """Return a blueprint's strategies in the betting of a game, kept for later calls."""
    return PlannedRows(blueprint, hand_in_tree(rules, blueprint))


class _RowsOfSolver:
    """The function that `PlannedRows.rows_for` returns."""

    def __init__(self, planned: PlannedRows, blueprint: Blueprint, solver: VectorSolver, history: tuple[int, ...]):
        self._planned = planned
        self._history = history
        self._blueprint = blueprint
        self._streets = solver.streets
        self._first = solver.subgame.state.street
        # A pass over all boards takes long: shares are found once for a street and seat, rows once for a street.
        self._shares = functools.cache(self._find_shares)
        self._rows = functools.cache(self._find_rows)

    def __call__(self, street: int, decision: BettingDecision) -> np.ndarray | None:
        path = (*self._history, *(action for _, action, _ in decision.actions))
        rows = self._planned.row_by_bucket(path, tuple(decision.children))
        if rows is None:
            return None
        if self._streets[street].buckets is None:
            return rows[self._rows(street)[0]]
        return self._shares(street, decision.seat).mixtures(rows)

    def _find_shares(self, street: int, seat: int) -> BucketShares:
        num_buckets = self._blueprint.cards.num_buckets[self._first + street]
        return BucketShares(self._streets[street], seat, self._rows(street), num_buckets)

    def _find_rows(self, street: int) -> np.ndarray:
        """Return the blueprint's bucket of each combo on each board of a street: int64[num_boards, num_combos]."""
        return np.stack([_buckets(self._blueprint, board) for board in self._streets[street].deals.boards])


def _buckets(blueprint: Blueprint, board: tuple[int, ...]) -> np.ndarray:
    """Return the blueprint's bucket of each combo, 0 for those that share a card with the board: int64[num_combos]."""
    street = blueprint.rules.street_of_board(board)
    row = blueprint.cards.row(board, street)
    return np.where(row < blueprint.cards.num_buckets[street], row, 0).astype(np.int64)
