"""Search with two players: vector CFR from a root to the end of the hand.

On the root's street each combo has its own strategy. Later streets are played by buckets, and each iteration samples a
few of their boards. A search that begins on the last street samples nothing.
"""

import dataclasses
import time
from collections.abc import Mapping

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import StreetBetting
from plurispiel.agents.resolve.discounting import DEFAULT
from plurispiel.agents.resolve.known_strategies import KnownRows, response_values, warm_start
from plurispiel.agents.resolve.subgame import BucketRows, Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import AddedRaises, Root, TwoSeats
from plurispiel.agents.search.solution import Clock, SearchedNode, StreetSolution, believed_and_played
from plurispiel.agents.search.street_tree import Path

__all__ = [
    "FORCED_SHARE",
    "LAST_STREET_FACTOR",
    "begin_two_seats",
    "forced_weights",
    "run_two_seats",
    "solve_two_seats",
    "two_seats_solver",
]

LAST_STREET_FACTOR = 10
"""The factor on `config.iterations` on the last street, where an iteration costs less than a tenth as much."""

FORCED_SHARE = 0.3
"""In a safe search, the share of the opponent's weight that must continue, in proportion to its believed range.

The share is a compromise. With 0, searches of rivers lost to their own blueprint, which was far from an equilibrium.
With 1 a search would not be safe."""

_MAX_ITERATIONS = 1_000
_SAMPLED = "dcfr"  # with sampled boards, the restarts of `DEFAULT` would take too much weight from early samples


@dataclasses.dataclass(frozen=True, eq=False)
class TwoSeatSubgame(Subgame):
    """A subgame whose betting is known.

    Attributes
    ----------
    streets : tuple of StreetBetting
        The betting of each street, from the state's street on.
    """

    streets: tuple[StreetBetting, ...] = ()

    def betting(self) -> list[StreetBetting]:
        """Return the betting of each street."""
        return list(self.streets)


def solve_two_seats(
    root: Root,
    config: SearchConfig,
    buckets: BucketRows,
    planned: PlannedRows,
    history: Path,
    seat: int,
    *,
    added: AddedRaises | None = None,
    frozen: Mapping[Path, np.ndarray] | None = None,
    began: float | None = None,
    deadline: float | None = None,
) -> StreetSolution:
    """Return the solution of a two-player subgame.

    Parameters
    ----------
    root : Root
        A root whose state `can_search_two` accepts.
    buckets : callable
        Maps a board of a later street to the bucket of each combo. Not called if the root is on the last street.
    planned : PlannedRows
        The blueprint's strategies: the warm start and, in a safe search, the value of terminating.
    history : Path
        Actions of the hand before the root.
    seat : int
        The seat at the table that searches; a safe search protects it.
    added, frozen : optional
        Off-tree raises, and the strategies of frozen decisions, as in `StreetSolution`; by default none.
    began, deadline : float, optional
        Times of `time.perf_counter` at which work on the search began and at which the answer is due. By default
        `began` is now, and `deadline` is `config.time` after `began`.
    """
    began = time.perf_counter() if began is None else began
    added, frozen = added or {}, frozen or {}
    is_last = _is_last(root)
    ranges, is_safe = TwoSeats(root).ranges(config.uniform_share), config.safe and seat in root.live_seats
    opponent = int(root.live_seats[0] == seat)
    if is_safe:
        free = root.state.rules.free_combos(root.board)
        forced = forced_weights(free, ranges[opponent], FORCED_SHARE)
        ranges[opponent] = free
    solver = two_seats_solver(root, config, ranges, buckets, added=added, frozen=frozen)
    known = planned.rows_for(solver, history)
    if is_safe:
        solver.add_gadget(opponent, response_values(solver, known, opponent), forced)
    begin_two_seats(solver, config, known)
    run_two_seats(solver, config, began + config.time if deadline is None else deadline)
    return StreetSolution(
        root=root,
        nodes=_searched_nodes(solver, config, frozen, is_last),
        added=added,
        frozen=frozen,
        num_decisions=sum(len(street.betting.decisions) for street in solver.streets),
        iterations=solver.iteration,
        seconds=time.perf_counter() - began,
        evaluation=solver.evaluate() if is_last and not is_safe else None,
        hands=tuple(int(np.count_nonzero(row)) for row in solver.ranges),
    )


def two_seats_solver(
    root: Root,
    config: SearchConfig,
    ranges: np.ndarray,
    buckets: BucketRows,
    *,
    added: AddedRaises,
    frozen: Mapping[Path, np.ndarray],
) -> VectorSolver:
    """Return the solver of a two-player subgame, before its first iteration.

    Parameters
    ----------
    root : Root
        A root after the first street, with two players left, of whom the one to act has chips.
    ranges : float64[2, num_combos]
        The ranges of the live seats, ascending.
    buckets, added, frozen
        As for `solve_two_seats`.
    """
    game, is_last = TwoSeats(root), _is_last(root)
    subgame = TwoSeatSubgame(
        game.state,
        root.board,
        ranges,
        game.menu(config, added),
        game.dead_chips,
        {game.history(path): rows for path, rows in frozen.items()},
        None if is_last else buckets,
        game.betting(config, added, by_chips=not is_last),
    )
    return VectorSolver(
        subgame,
        DEFAULT if is_last else _SAMPLED,
        run_outs=0 if is_last else config.run_outs,
        # Only in a search of the flop: a turn has few rivers, and `run_outs` samples them again in each iteration.
        last_boards=config.last_boards if root.state.rules.num_streets - root.state.street > 2 else 0,
        threads=config.num_threads,
    )


def begin_two_seats(solver: VectorSolver, config: SearchConfig, known: KnownRows) -> None:
    """Let a search begin with known strategies, unless `config.warm_start` is 0 or the search is of the last street."""
    # On the last street iterations are cheap enough to begin with equal probabilities.
    if config.warm_start and len(solver.streets) > 1:
        warm_start(solver, known, config.warm_start)


def run_two_seats(solver: VectorSolver, config: SearchConfig, deadline: float, until: float = 1.0) -> None:
    """Do the iterations of a search, or only those until a share of all its iterations is done.

    At least one iteration is done in any case.

    Parameters
    ----------
    deadline : float
        The time of `time.perf_counter` at which the iterations must have ended if `config.iterations` is 0; else
        ignored.
    until : float
        The share of the search's iterations that is done when the function returns, above 1.0 for more than these;
        ignored if `config.iterations` is 0.
    """
    if config.iterations:
        factor = LAST_STREET_FACTOR if len(solver.streets) == 1 else 1
        solver.run(max(1, round(until * config.iterations * factor) - solver.iteration))
    else:
        solver.run(_MAX_ITERATIONS, goes_on=Clock(deadline))


def forced_weights(free: np.ndarray, estimate: np.ndarray, share: float) -> np.ndarray:
    """Return the weights with which the opponent's hands must continue through a gadget: float64[num_combos].

    Parameters
    ----------
    free : bool[num_combos]
        The combos that the opponent may hold. Each enters the gadget with weight 1.
    estimate : float64[num_combos]
        The opponent's believed range, to which the weights are proportional.
    share : float
        The share of these weights in the opponent's total weight, below 1.
    """
    return share / (1.0 - share) * free.sum() * estimate / estimate.sum()


def _is_last(root: Root) -> bool:
    return root.state.street == root.state.rules.num_streets - 1


def _searched_nodes(
    solver: VectorSolver, config: SearchConfig, frozen: Mapping[Path, np.ndarray], is_last: bool
) -> dict[Path, SearchedNode]:
    """Return the strategies of all decisions on the root's street."""
    if is_last:
        config = dataclasses.replace(config, purge=0.0)  # without sampling, rare actions are not noise
    nodes = {}
    for decision in solver.streets[0].betting.decisions:
        path = tuple(action for _, action, _ in decision.actions)
        average = solver.strategy(0, decision)
        final = solver.current_strategy(0, decision) if config.play == "final" else average
        average, played = believed_and_played(config, average, final, frozen.get(path))
        nodes[path] = SearchedNode(tuple(decision.children), average, played)
    return nodes
