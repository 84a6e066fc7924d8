"""Solving a spot until its exploitability is small enough, or a limit is reached."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import StreetTooLarge
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker, fold_mass, showdown_margin
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.resolve.discounting import DEFAULT
from plurispiel.agents.resolve.three_way_cfr import ThreeWayEvaluation, ThreeWaySolver
from plurispiel.agents.resolve.vector_cfr import Evaluation, VectorSolver
from plurispiel.agents.spots.convergence import ConvergenceLimits, OnProgress, Progress, converge
from plurispiel.agents.spots.node_ev import NodeEv, node_ev
from plurispiel.agents.spots.node_strategy import NodeStrategy, node_strategy
from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_size import spot_size
from plurispiel.agents.spots.three_way import DEFAULT_ALGORITHM, three_way_solver, three_way_strategy

__all__ = ["SpotSolution", "default_algorithm", "equity", "new_solver", "solution_of", "solve_spot"]

TARGET_PCT = 0.5
MAX_ITERATIONS = 100_000
_THINNING = 30  # iterations 1 to 30 visit one river after each turn, iterations 31 to 60 visit two, and so on


@dataclass(frozen=True, eq=False)
class SpotSolution:
    """A solved spot.

    Attributes
    ----------
    spot : Spot
        The spot that was solved.
    ev : tuple of float
        Each player's value in chips: the player's share of the final pot, less the player's further bets. The values
        sum to the pot.
    equity : tuple of float
        Each player's share of the pot, 0 to 1, if the hands were shown down without further bets.
    exploitability_pct : float
        The mean of the players' gains by best responses that tell all hands apart, in % of the pot. Each player
        deviates alone, and keeps to the player's own locks.
    bucket_exploitability_pct : float, optional
        As `exploitability_pct`, but for best responses with one strategy for all hands of a bucket, like the solver's
        strategies; see `VectorSolver.evaluate_by_buckets`. None without buckets.
    iterations : int
        Number of iterations done.
    seconds : float
        Time of the iterations, and of the measurements by which the run is judged.
    memory_mb : float
        Memory of the solver's tables and workspaces, in millions of bytes (`memory_bytes` of the solver).
    solver : VectorSolver or ThreeWaySolver
        The solver, whose tables hold the strategies.
    progress : Progress, optional
        The state of the run, from which `go_on` continues; None for a solution read from a folder.
    """

    spot: Spot
    ev: tuple[float, ...]
    equity: tuple[float, ...]
    exploitability_pct: float
    bucket_exploitability_pct: float | None
    iterations: int
    seconds: float
    memory_mb: float
    solver: VectorSolver | ThreeWaySolver = field(repr=False)
    progress: Progress | None = field(default=None, repr=False)

    def go_on(
        self,
        *,
        target_pct: float = TARGET_PCT,
        max_seconds: float = math.inf,
        max_iterations: int = MAX_ITERATIONS,
        goes_on: Callable[[], bool] | None = None,
        on_progress: OnProgress | None = None,
    ) -> "SpotSolution":
        """Go on with the run that gave this solution, and return the new solution.

        A run that is stopped by `goes_on` and continued equals a run without the stop, bit for bit. Both solutions
        share one solver, so from now on `strategy` and `node_ev` of this solution have the results of the new one.

        Parameters
        ----------
        target_pct, goes_on, on_progress
            As in `solve_spot`. If the earlier run ended because it had reached this target, no iteration follows.
        max_seconds : float
            Limit of the further time.
        max_iterations : int
            Limit of all iterations, earlier ones included.

        Raises
        ------
        ValueError
            If a limit is not positive, or the solution was read from a folder, which holds average strategies alone.
        """
        if self.progress is None:
            raise ValueError(
                "a solution read from a folder cannot go on, as regrets are not kept: solve the spot again"
            )
        limits = ConvergenceLimits(target_pct, max_seconds, int(max_iterations))
        return _converged(self.spot, self.solver, limits, self.progress, goes_on, on_progress)

    def strategy(self, node: str = "") -> NodeStrategy:
        """Return the average strategy at a node.

        Parameters
        ----------
        node : str
            The node's name (`node_names`); empty for the first decision.

        Raises
        ------
        ValueError
            If the name leads to no decision.
        """
        return _strategy(self.spot, self.solver, node)

    def node_ev(self, node: str = "") -> NodeEv:
        """Return the EV and equity of every hand, and the EV of every action, at a node of a spot of two players.

        `node` and the errors are those of `strategy`.

        Raises
        ------
        ValueError
            If the spot has three players.
        """
        if isinstance(self.solver, ThreeWaySolver):
            raise ValueError("the EV of single hands is for two players; the spot has three")
        return node_ev(self.spot, self.solver, node)

    def record(self, node: str = "") -> dict[str, Any]:
        """Return the solution as a dict for JSON, with the strategy at one node and, for two players, each combo's EV.

        `node` and the errors are those of `strategy`.
        """
        shown = self.strategy(node)
        values = {} if isinstance(self.solver, ThreeWaySolver) else {"combo_ev": self.node_ev(node).combo_ev}
        return {
            "ev": list(self.ev),
            "equity": list(self.equity),
            "exploitability_pct": self.exploitability_pct,
            "bucket_exploitability_pct": self.bucket_exploitability_pct,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "node": shown.node,
            "player": shown.player,
            "strategy": {"actions": list(shown.actions), "combos": shown.combos},
        } | values


def solve_spot(
    spot: Spot,
    *,
    algorithm: str | None = None,
    target_pct: float = TARGET_PCT,
    max_seconds: float = math.inf,
    max_iterations: int = MAX_ITERATIONS,
    threads: int = 2,
    node: str = "",
    on_memory: Callable[[int], None] | None = None,
    goes_on: Callable[[], bool] | None = None,
    on_progress: OnProgress | None = None,
) -> SpotSolution:
    """Solve a spot until its exploitability is small enough, or a limit of time or iterations is reached.

    Parameters
    ----------
    algorithm : str, optional
        See `discounting.parse_discounting`; by default `default_algorithm`.
    target_pct : float
        Exploitability to reach, in % of the pot. With buckets, the target is for
        `SpotSolution.bucket_exploitability_pct`, since responses that tell all hands apart always gain a lot. The run
        then also ends when doubling its iterations lowers that exploitability by less than 5 %.
    max_seconds, max_iterations : float, int
        Limits at which the run ends even if the target is not reached. The seconds include the last measurement, if it
        takes at most 1.5 times as long as the one before. With buckets, `exploitability_pct` is measured after the
        run, and the seconds do not include this measurement. At least one iteration is done and measured.
    threads : int
        Number of threads with two players; with three players the solver always uses one.
    node : str
        The name of the node that is wanted afterwards: a wrong name is refused before the run.
    on_memory : callable, optional
        Called with the number of bytes that the solver will allocate, before the allocation.
    goes_on : callable, optional
        Called after every iteration, or every hundredth of a second if iterations are shorter. False ends the run after
        one more measurement; `SpotSolution.go_on` continues from there.
    on_progress : callable, optional
        Called after each measurement, see `OnProgress`.

    Raises
    ------
    ValueError
        If the spot or a setting is malformed or out of range, the name of the node leads to no decision, or the solver
        needs more memory than is free.

    Examples
    --------
    >>> river = {"river": {"oop": {"bet": "0.5p"}}}
    >>> spot = Spot(board="Td9d6h Qc 7s", pot=60, stacks=30, oop="random", ip="random", bets=river)
    >>> [round(chips) for chips in solve_spot(spot, target_pct=0.1).ev]
    [33, 27]
    """
    limits = ConvergenceLimits(target_pct, max_seconds, int(max_iterations))

    def check(num_bytes: int) -> None:
        if on_memory is not None:
            on_memory(num_bytes)
        # The free memory is read once: if it had grown at a second reading, `refusal` would return None.
        if num_bytes > (free := available_bytes()):
            raise ValueError(spot_size(spot, threads=threads).refusal(num_bytes, free))

    try:
        solver = new_solver(spot, algorithm, threads=threads, on_memory=check)
    except StreetTooLarge as error:
        raise ValueError(spot_size(spot).refusal() or str(error)) from None
    _strategy(spot, solver, node)
    # Without a bet there is one strategy, so nothing is learnt.
    progress = Progress() if spot.has_bets() else Progress(check=1)
    return _converged(spot, solver, limits, progress, goes_on, on_progress)


def _strategy(spot: Spot, solver: VectorSolver | ThreeWaySolver, node: str) -> NodeStrategy:
    """Return a solver's average strategy at a node; see `SpotSolution.strategy`."""
    if isinstance(solver, ThreeWaySolver):
        return three_way_strategy(spot, solver, node)
    return node_strategy(spot, solver, node)


def new_solver(
    spot: Spot,
    algorithm: str | None = None,
    *,
    threads: int = 2,
    on_memory: Callable[[int], None] | None = None,
) -> VectorSolver | ThreeWaySolver:
    """Return a solver of a spot, before its first iteration.

    Parameters and errors are those of `solve_spot`, but the free memory is not checked.
    """
    if spot.middle is not None:
        return three_way_solver(spot, algorithm, on_memory=on_memory)
    return VectorSolver(
        spot.subgame(),
        algorithm or default_algorithm(spot),
        threads=threads,
        # Without bets there are few rows, so float64 takes little memory, and values are equities to all digits.
        dtype=np.float32 if spot.has_bets() else np.float64,
        thinning=_THINNING if _is_thinned(spot) else 0,
        on_memory=on_memory,
    )


def _converged(
    spot: Spot,
    solver: VectorSolver | ThreeWaySolver,
    limits: ConvergenceLimits,
    progress: Progress,
    goes_on: Callable[[], bool] | None,
    on_progress: OnProgress | None,
) -> SpotSolution:
    """Run a solver to its limits, from the state of an earlier run on."""
    measured: list[Evaluation | ThreeWayEvaluation] = []

    def measure() -> float:
        measured.append(_measure(solver))
        return 100.0 * measured[-1].exploitability / spot.pot

    converge(
        solver,
        measure,
        limits,
        by_buckets=solver.has_buckets,
        progress=progress,
        goes_on=goes_on,
        on_progress=on_progress,
    )
    return dataclasses.replace(_solution(spot, solver, progress.seconds, measured[-1]), progress=progress)


def require_memory(num_bytes: int) -> None:
    """Raise ValueError if a spot needs more memory than is free."""
    available = available_bytes()
    if num_bytes > available:
        raise ValueError(
            f"the spot needs {num_bytes / 2**30:.1f} GiB of memory, {available / 2**30:.1f} GiB are free: "
            "take fewer bet sizes, narrower ranges or buckets"
        )


def default_algorithm(spot: Spot) -> str:
    """Return the name of the default algorithm for a spot, as `discounting.parse_discounting` reads it."""
    if spot.middle is not None:
        return DEFAULT_ALGORITHM
    # Where rivers are sampled, restarts of the average would take too much weight from early samples.
    return "dcfr" if _is_thinned(spot) else DEFAULT


def _is_thinned(spot: Spot) -> bool:
    """Return whether rivers are sampled, as they are for flops in buckets.

    Such flops then take less than half the time. Turns in buckets would gain nothing.
    """
    return spot.has_buckets and spot.street == 1


def solution_of(spot: Spot, solver: VectorSolver | ThreeWaySolver, seconds: float) -> SpotSolution:
    """Return the solution that consists of a solver's average strategies so far, with their values measured."""
    return _solution(spot, solver, seconds, _measure(solver))


def _measure(solver: VectorSolver | ThreeWaySolver) -> Evaluation | ThreeWayEvaluation:
    """Return the values by which a run is judged: with buckets, those of responses by bucket."""
    if isinstance(solver, VectorSolver) and solver.has_buckets:
        return solver.evaluate_by_buckets()
    return solver.evaluate()


def _solution(
    spot: Spot,
    solver: VectorSolver | ThreeWaySolver,
    seconds: float,
    measured: Evaluation | ThreeWayEvaluation,
) -> SpotSolution:
    by_buckets = measured if solver.has_buckets else None
    if solver.has_buckets:
        measured = solver.evaluate()
    put_in = spot.pot // len(spot.players)  # by each player; an odd chip is dead
    if isinstance(solver, ThreeWaySolver):
        shares = tuple(solver.equity().tolist())
    else:
        share = equity(parse_cards(spot.board), solver.ranges, solver.subgame.state.rules)
        shares = share, 1.0 - share
    return SpotSolution(
        spot=spot,
        ev=tuple((measured.values + put_in).tolist()),
        equity=shares,
        exploitability_pct=100.0 * measured.exploitability / spot.pot,
        bucket_exploitability_pct=None if by_buckets is None else 100.0 * by_buckets.exploitability / spot.pot,
        iterations=solver.iteration,
        seconds=seconds,
        memory_mb=solver.memory_bytes / 1e6,
        solver=solver,
    )


def equity(board: tuple[int, ...], ranges: np.ndarray, rules: HoldemRules) -> float:
    """Return the exact share of the pot, 0 to 1, that seat 0 wins if the rest of the board is dealt without bets.

    Parameters
    ----------
    board : tuple of int
        The three to five board cards so far.
    ranges : float64[2, num_combos]
        Each seat's weight of each combo, in any scale. On each whole board, combos that share a card with it are left
        out.
    """
    ranker = HandRanker(rules)
    left = [card for card in rules.cards.tolist() if card not in board]
    margin = pairs = 0.0
    for new in combinations(left, rules.num_board_cards - len(board)):
        hands = ranker.rank(board + new)
        first, second = ranges[:, hands.combos]
        margin += dot(first, showdown_margin(hands, second))
        pairs += dot(first, fold_mass(hands, second))
    return 0.5 + 0.5 * margin / pairs
