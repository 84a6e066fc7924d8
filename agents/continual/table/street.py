"""One solve of a street to its end, with networks in place of later streets."""

import contextlib
import functools
import time
from dataclasses import dataclass
from pathlib import Path as Folder

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import BettingDecision, RaiseMenu
from plurispiel.abstraction.holdem.distributions import purged
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Strategy
from plurispiel.agents.continual.carried import expected_values, facing
from plurispiel.agents.continual.end_net_leaves import EndNetLeaves, end_net_leaves, require_net
from plurispiel.agents.continual.lookahead import Lookahead, Opponent, SolvedLookahead
from plurispiel.agents.continual.preflop_leaves import PreflopLeaves
from plurispiel.agents.continual.start_values import start_values
from plurispiel.agents.continual.table.config import FLOP_NETS, TableConfig
from plurispiel.agents.continual.table.kept_lines import keep_line, line_place, read_line
from plurispiel.agents.continual.table.subgame import SolvedSubgame
from plurispiel.agents.search.root import Root
from plurispiel.agents.search.street_tree import Path
from plurispiel.agents.search.two_seats import forced_weights
from plurispiel.agents.values.net_file import StoredNet, load_net

__all__ = ["MAX_TIMED", "Solved", "SolvedStreet", "StreetNets", "load_street_nets", "solve_street"]

_EVERY_HAND = 1e-3
"""Without a gadget, the share of the opponent's weight that is spread evenly, so that later each hand has a bound."""

MAX_TIMED = 1_000
"""The most iterations of a solve under a time limit."""

_TRIED, _SPARE, _LIMITS = 3, 0.9, (20, MAX_TIMED)
"""Under a time limit: iterations that are timed, the share of the time to use, and the least and most iterations."""

_CORRECTED = 10
"""On the flop, the number of averaged iterations from one correction of the network's values to the next
(`EndNetLeaves.correction`). By exact spots, one correction in ten iterations does as well as one in each."""

_CORRECTED_FROM, _CORRECTED_FROM_ITERATIONS = 1.0, 90.0
"""The shortest time limit with corrections, in seconds, and the least time left for them, in iterations. The first one
on a flop takes half a second of a core, as long as 20 to 30 iterations. On six flops, 28 iterations with corrections
lost 5.7 % of the pot, 60 without them 5.8 %, and 20 with them 9.4 %."""

_CORRECTION = 12.0
"""Duration of each further correction, in iterations: 8 to 17, the more the fewer the ends of the street."""

_NUM_PAIRS = 16
"""Pairs of ranges kept at each end for the bounds after the next card. The paper keeps none."""


@dataclass(frozen=True)
class StreetNets:
    """The networks of a street.

    Attributes
    ----------
    end : StoredNet
        The network for the end of the street, which gives values in a solve.
    start : StoredNet
        The network for the start of the next street, which gives bounds once that street's cards are known.
    """

    end: StoredNet
    start: StoredNet

    def require(self, rules: HoldemRules, street: int) -> None:
        """Raise ArtefactRefused unless the networks are for a street of a game (`require_net`)."""
        require_net(self.end, rules, street, is_end=True)
        require_net(self.start, rules, street + 1, is_end=False)


class SolvedStreet:
    """A solved street.

    The attributes `root`, `seat`, `bounds`, `history` and `seconds` are those of `SolvedSubgame`.

    Attributes
    ----------
    lookahead : SolvedLookahead
    num_clamped : int
        Number of ends of the street with more chips behind, in pots, than in the networks' training.
    iterations : int
        Number of iterations of the solve.
    """

    def __init__(
        self,
        root: Root,
        seat: int,
        bounds: np.ndarray | None,
        history: Path,
        lookahead: SolvedLookahead,
        nets: StreetNets,
        num_clamped: int,
        iterations: int,
        seconds: float,
    ):
        self.root, self.seat, self.bounds, self.history = root, seat, bounds, history
        self.lookahead, self.num_clamped, self.iterations, self.seconds = lookahead, num_clamped, iterations, seconds
        self._nets = nets

    @functools.cached_property
    def _decisions(self) -> dict[Path, BettingDecision]:
        return {
            tuple(action for _, action, _ in decision.actions): decision
            for decision in self.lookahead.betting.decisions
        }

    def strategy(self, path: Path, dealt: tuple[int, ...] = ()) -> Strategy | None:
        """Return the average strategy at a decision of the street; None if the solve does not have the decision.

        After new cards (`dealt`) the result is always None, as no solve has decisions of the next street. Rows of
        combos that never reach the decision are NaN.
        """
        decision = None if dealt else self._decisions.get(path)
        if decision is None:
            return None
        rows = self.lookahead.strategy(decision.node)
        rows[self.lookahead.reach_after(decision.node).sum(axis=1) <= 0.0] = np.nan
        return Strategy(np.array(list(decision.children)), rows)

    def played(self, path: Path, purge: float) -> Strategy | None:
        """Return the strategy that acts at a decision: without actions below `purge`, unless all are below it."""
        found = self.strategy(path)
        return None if found is None else Strategy(found.actions, purged(found.probabilities, purge))

    def bounds_after(self, path: Path, dealt: tuple[int, ...] = ()) -> np.ndarray:
        """Return the opponent's values after actions and perhaps cards: float64[num_combos], chips of the whole hand.

        Without cards, they are means over the iterations, as in the paper. After cards, they are weighted means of a
        network's values for the pairs of ranges that the solve kept. Hands that face no compatible hand have 0.

        Raises
        ------
        ValueError
            If the solve does not offer the actions, or the cards come elsewhere than at the end of the street.
        """
        other, node = 1 - self.seat, self._node(path)
        solved = self.lookahead
        if not dealt:
            reach = self._reach(path)
            return expected_values(solved.means.values[other, node], facing(solved.rules, solved.board, reach))
        end = int(solved.betting.nodes.end[node])
        if end < 0:
            raise ValueError(f"the street does not end after {path}")
        state = solved.betting.end_states[end]
        board = (*solved.board, *dealt)
        values, masses = start_values(self._nets.start, solved.rules, board, solved.end_pairs[:, :, end], state)
        # A mean of ratios would let iterations that seldom come here count as much as the others.
        return expected_values(values[other].sum(axis=0), masses[other].sum(axis=0))

    def root_values(self, seat: int) -> np.ndarray:
        """Return a seat's values at the root, means over the iterations: float64[num_combos], as in `bounds_after`."""
        solved = self.lookahead
        reach = self.root.beliefs[1 - seat]
        return expected_values(solved.means.values[seat, 0], facing(solved.rules, solved.board, reach))

    def summary(self) -> list[str]:
        """Return lines of text about the solve; see `SolvedSubgame.summary`."""
        kind = "no bounds: the solve trusts the opponent's range"
        if self.bounds is not None:
            kind = f"bounds of {dot(self.bounds, self.root.beliefs[1 - self.seat]):+.1f} chips in the mean"
        clamped = f", {self.num_clamped} ends deeper than in the networks' training" if self.num_clamped else ""
        return [
            kind,
            f"{len(self.lookahead.betting.decisions)} decisions to the end of the street{clamped}; "
            f"{self.iterations} iterations, {self.seconds:.2f} s",
        ]

    def _node(self, path: Path) -> int:
        node = 0
        for action in path:
            child = self.lookahead.decision(node).children.get(action)
            if child is None:
                raise ValueError(f"the solve does not offer {action} in {path}")
            node = child
        return node

    def _reach(self, path: Path) -> np.ndarray:
        """Return the solving seat's mean reach after its last action in a path; without one, its range."""
        node, found = 0, self.root.beliefs[self.seat]
        for action in path:
            decision = self.lookahead.decision(node)
            if decision.seat == self.seat:
                found = self.lookahead.reach_after(node)[:, list(decision.children).index(action)]
            node = decision.children[action]
        return found


Solved = SolvedSubgame | SolvedStreet
"""A solve to the end of the hand, or to the end of the street."""


def solve_street(
    root: Root,
    seat: int,
    bounds: np.ndarray | None,
    config: TableConfig,
    share: float,
    menu: RaiseMenu,
    nets: StreetNets,
    history: Path,
    *,
    deadline: float,
) -> SolvedStreet:
    """Return the solution of the rest of a street.

    Parameters
    ----------
    root : Root
        Its beliefs are the seat's own range and the estimate of the opponent's range.
    seat : int
        The seat that solves.
    bounds : float64[num_combos] or None
        The bounds of the opponent's hands; None to solve without a gadget.
    config : TableConfig
        The first half of the iterations is not averaged.
    share : float
        As in `subgame.solve_subgame`.
    menu : callable
        The raises on offer.
    nets : StreetNets
    history : Path
        Actions of the hand before the root.
    deadline : float
        The time of `time.perf_counter` at which a solve with a time limit must end.

    Raises
    ------
    ArtefactRefused
        If a network is for another game or street.
    """
    began, other = time.perf_counter(), 1 - seat
    rules = root.state.rules
    nets.require(rules, root.state.street)
    free, estimate = rules.free_combos(root.board), root.beliefs[other]
    even = free / free.sum()
    ranges = np.array(root.beliefs)
    opponent = None
    if bounds is None:
        ranges[other] = (1.0 - _EVERY_HAND) * estimate + _EVERY_HAND * even
    else:
        forced = forced_weights(free, estimate, share)
        total = free.sum() + forced.sum()
        ranges[other] = free / total
        opponent = Opponent(other, bounds, forced / total)
    leaves = end_net_leaves(nets.end, config.search.num_threads, nets.start.net)
    lookahead = Lookahead(root.state, root.board, (), leaves, menu)
    is_kept, place = not root.board and not config.time, None
    if is_kept:  # networks, settings and actions determine the solution
        settings = nets.end.digest, nets.start.digest, config.num_iterations, config.estimate, config.purge, _NUM_PAIRS
        with contextlib.suppress(RuntimeError):  # a user without a home folder has no cache
            place = line_place(settings, (rules, history))
    if place is None or (solved := read_line(place, lookahead)) is None:
        is_corrected = root.board and (not config.time or config.time >= _CORRECTED_FROM)
        corrected = _CORRECTED if is_corrected else 0
        iterations = config.num_iterations
        if config.time:
            iterations, corrected = _fitting(lookahead, ranges, deadline, corrected)
        solved = lookahead.solve(
            ranges, iterations, iterations // 2, opponent=opponent, num_pairs=_NUM_PAIRS, corrected=corrected
        )
        if is_kept:
            solved = keep_line(place, lookahead, solved)
    else:
        iterations = config.num_iterations
    assert isinstance(lookahead.leaves, EndNetLeaves | PreflopLeaves)
    clamped = lookahead.leaves.num_clamped
    seconds = time.perf_counter() - began
    return SolvedStreet(root, seat, bounds, history, solved, nets, clamped, iterations, seconds)


def _fitting(lookahead: Lookahead, ranges: np.ndarray, deadline: float, corrected: int) -> tuple[int, int]:
    """Return the number of iterations, within `_LIMITS`, for the time before a deadline, judged by a few iterations.

    The second number is `corrected`, or 0 if too little time is left for corrections.
    """
    lookahead.solve(ranges, 1, 0)  # the first iteration lays out tables, which takes as long as many others
    began = time.perf_counter()
    lookahead.solve(ranges, _TRIED, 0)
    now = time.perf_counter()
    iteration = (now - began) / _TRIED
    if deadline - now < _CORRECTED_FROM_ITERATIONS * iteration:
        corrected = 0
    if corrected:
        lookahead.solve(ranges, 1, 0, corrected=1)  # the first correction on a flop finds the hands of all turns
    count = _SPARE * (deadline - time.perf_counter()) / iteration
    if corrected:
        # Half of the iterations count in means. The first of these is corrected, and then one in `corrected`.
        count = (count - _CORRECTION) / (1.0 + _CORRECTION / (2 * corrected))
    return int(np.clip(count, *_LIMITS)), corrected


def load_street_nets(folder: Folder, names: tuple[str, str] = FLOP_NETS) -> StreetNets:
    """Return the networks of a street in a folder, by default those of the flop: ``end-of-flop`` and ``turn``.

    Raises
    ------
    ArtefactRefused
        If one of them is missing, damaged or of another level.
    """
    found = [load_net(folder / name) for name in names]
    for stored, name in zip(found, names, strict=True):
        if stored.level.name != name:
            raise ArtefactRefused(
                f"{folder / name} is a network for the level {stored.level.name}, not {name}; put one for {name} there"
            )
    return StreetNets(*found)
