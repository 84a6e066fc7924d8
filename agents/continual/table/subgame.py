"""One solve of continual re-solving in hold'em: vector CFR to the end of the hand, with or without a gadget."""

import functools
import time

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.distributions import purged
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Strategy
from plurispiel.agents.continual.carried import expected_values
from plurispiel.agents.resolve.node_values import BEST
from plurispiel.agents.resolve.subgame import BucketRows
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import AddedRaises, Root
from plurispiel.agents.search.street_tree import Path
from plurispiel.agents.search.two_seats import begin_two_seats, forced_weights, run_two_seats, two_seats_solver

__all__ = ["TOLERANCE", "SolvedSubgame", "solve_subgame"]

_EVERY_HAND = 1e-3
"""Without a gadget, the share of the opponent's weight that is spread evenly, so that later each hand has a bound."""

_LEAST = 1e-12
"""The solver leaves out a hand of the solving seat if its weight is below this share of the likeliest hand's weight.
Products of such weights are lost in float32.
"""

TOLERANCE = 0.005
"""A hand *keeps* its bound if its value against the solution is at most this share of the pot above the bound."""

_FORCED = {1: ((0.25, 0.6), (0.5, 0.06), (1.0, 0.006))}
"""By the number of streets that are left, steps of the weight that is *forced* (enters the gadget without a choice).

A step is the share of the iterations, or of the time, that is done when it ends, and a factor on the forced weight. On
the last street, little weight is forced at the end, so that bounds are kept. With little from the start, a solve learns
too slowly to play against the estimated range. On 20 rivers of self-play, the opponent's best response won 0.01 % of
the pot more after 1,500 iterations than after 12,000. Of its range 98.6 and 98.8 % kept its bounds: on one river the
bounds were too low.

On earlier streets all weight stays forced. Bounds that are right leave each hand indifferent. So far too many hands
continue, and the range in the subgame is nearly uniform. On ten turns of self-play, with bounds by the network, best
responses won 1.1 % of the pot with a hundredth of the share 0.3 at the end, 0.5 % with all of it, and nothing (-0.1 %)
with all of the share 0.5. Of the range 44, 48 and 59 % kept its bounds."""

_ALL_FORCED = ((1.0, 1.0),)

_LENGTH = {2: 2.0}
"""By the number of streets that are left: a factor on the number of iterations. On eight turns of self-play, best
responses won 1.7 % of the pot after 150 iterations and 1.2 % after 300, which take half a second more of a core."""

_KEPT = 0.99
"""On the last street, a solve whose bounds are kept by a smaller share of the opponent's range goes on for as many
iterations as it has done."""


class SolvedSubgame:
    """A solved subgame.

    Attributes
    ----------
    root : Root
        Its beliefs are the seat's own range and the estimate of the opponent's range.
    seat : int
        The seat that solves.
    bounds : float64[num_combos] or None
        The bounds of the opponent's hands; None without a gadget.
    history : Path
        Actions of the hand before the root.
    solver : VectorSolver
    seconds : float
        Duration of the solve.
    """

    def __init__(
        self,
        root: Root,
        seat: int,
        bounds: np.ndarray | None,
        history: Path,
        solver: VectorSolver,
        seconds: float,
    ):
        self.root, self.seat, self.bounds, self.history = root, seat, bounds, history
        self.solver, self.seconds = solver, seconds

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self.solver.iteration

    @functools.cached_property
    def _decisions(self) -> list[dict[Path, BettingDecision]]:
        """The decisions of the first street and of the next one, by the actions since the root."""
        return [
            {tuple(action for _, action, _ in decision.actions): decision for decision in street.betting.decisions}
            for street in self.solver.streets[:2]
        ]

    def strategy(self, path: Path, dealt: tuple[int, ...] = ()) -> Strategy | None:
        """Return the average strategy at a decision; None if the subgame does not have the decision.

        Parameters
        ----------
        path : Path
            The actions since the root.
        dealt : tuple of int
            The new cards, for a decision on the subgame's second street; empty for a decision on its first.

        Returns
        -------
        Strategy
            Rows of combos without weight are NaN.

        Raises
        ------
        ValueError
            If the new cards cannot be dealt, or are left out of the solver's sample.
        """
        decision = self._decisions[bool(dealt)].get(path)
        if decision is None:
            return None
        if dealt:
            board, image = self.solver.locate((dealt,))
            rows = self.solver.strategy(1, decision, board)[image]
        else:
            rows = self.solver.strategy(0, decision)
        return Strategy(np.array(list(decision.children)), rows)

    def played(self, path: Path, purge: float) -> Strategy | None:
        """Return the strategy that acts at a decision of the subgame's first street; None if there is no such decision.

        Actions below the probability `purge` are left out, unless all are below it. On the game's last street all
        actions stay.
        """
        found = self.strategy(path)
        if found is None or len(self.solver.streets) == 1:  # nothing is sampled there: rare actions are no noise
            return found
        return Strategy(found.actions, purged(found.probabilities, purge))

    def bounds_after(self, path: Path, dealt: tuple[int, ...] = ()) -> np.ndarray:
        """Return the opponent's values against the average strategy: float64[num_combos], in chips of the whole hand.

        The values are those of a best response. So they bound each hand, even if the opponent's average strategy never
        brings that hand to the node.

        Parameters
        ----------
        path : Path
            The actions since the root, to a node or to the end of the street.
        dealt : tuple of int
            The new cards at the end of the street.

        Raises
        ------
        ValueError
            If the subgame does not offer the actions, or the cards do not fit.
        """
        other = 1 - self.seat
        found = self.solver.values_after(path, dealt, seats=(other,))
        return expected_values(found.values[other, BEST], found.facing[other])

    def summary(self) -> list[str]:
        """Return lines of text about bounds, size and iterations; means are over the opponent's range at the root."""
        solver, estimate = self.solver, self.root.beliefs[1 - self.seat]
        if solver.gadget is None:
            bounds = "no bounds: the solve trusts the opponent's range"
        else:
            assert self.bounds is not None
            bound, accepted = dot(self.bounds, estimate), dot(solver.gadget.accepted, estimate)
            bounds = f"bounds of {bound:+.1f} chips in the mean; {accepted:.0%} of the opponent's range continues"
        decisions = sum(len(each.betting.decisions) for each in solver.streets)
        return [bounds, f"{decisions} decisions; {solver.iteration} iterations, {self.seconds:.2f} s"]


def solve_subgame(
    root: Root,
    seat: int,
    bounds: np.ndarray | None,
    config: SearchConfig,
    share: float,
    buckets: BucketRows,
    planned: PlannedRows | None,
    history: Path,
    *,
    added: AddedRaises,
    deadline: float,
) -> SolvedSubgame:
    """Return the solution of a subgame.

    Parameters
    ----------
    root : Root
        Its beliefs are the seat's own range and the estimate of the opponent's range.
    seat : int
        The seat that solves.
    bounds : float64[num_combos] or None
        The bounds of the opponent's hands; None to solve without a gadget.
    config : SearchConfig
    share : float
        The share of the opponent's total weight that enters the gadget without a choice (`carried.trusted`).
        In later iterations, the share is multiplied by the factors of `_FORCED`.
    buckets : callable
        As in `agents.resolve.subgame.Subgame`.
    planned : PlannedRows or None
        The blueprint's strategies: the warm start, except on the last street. None to begin with equal probabilities.
    history : Path
        Actions of the hand before the root.
    added : AddedRaises
        Raises on offer besides those of the menu.
    deadline : float
        The time of `time.perf_counter` at which a solve with a time limit must end.
    """
    began, other = time.perf_counter(), 1 - seat
    free, estimate = root.state.rules.free_combos(root.board), root.beliefs[other]
    ranges = np.where(root.beliefs >= _LEAST * root.beliefs.max(axis=1, keepdims=True), root.beliefs, 0.0)
    ranges[other] = free if bounds is not None else (1.0 - _EVERY_HAND) * estimate + _EVERY_HAND * free / free.sum()
    solver = two_seats_solver(root, config, ranges, buckets, added=added, frozen={})
    if planned is not None:
        begin_two_seats(solver, config, planned.rows_for(solver, history))
    length = _LENGTH.get(len(solver.streets), 1.0)
    if bounds is None:
        run_two_seats(solver, config, deadline, length)
        return SolvedSubgame(root, seat, bounds, history, solver, time.perf_counter() - began)
    is_last, now = len(solver.streets) == 1, time.perf_counter()
    for until, factor in _FORCED.get(len(solver.streets), _ALL_FORCED):
        forced = forced_weights(free, estimate, factor * share)
        if solver.gadget is None:
            solver.add_gadget(other, bounds, forced)
        else:
            solver.gadget.forced = forced
        run_two_seats(solver, config, now + until * (deadline - now), length * until)
    if is_last and config.iterations:
        over = SolvedSubgame(root, seat, bounds, history, solver, 0.0).bounds_after(()) - bounds
        if estimate[over <= TOLERANCE * sum(root.state.contributions)].sum() < _KEPT * estimate.sum():
            run_two_seats(solver, config, deadline, 2.0 * length)
    return SolvedSubgame(root, seat, bounds, history, solver, time.perf_counter() - began)
