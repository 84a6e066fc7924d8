"""Vector CFR: counterfactual regret minimization with whole ranges over betting and boards.

An iteration updates seat 0 and then seat 1 on every board of the subgame (alternating updates). Boards of the street
after the first are worked on in parallel; no sum depends on the number of threads. After Johanson et al. (2011) and
Brown and Sandholm (2019).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.lanes import LANES
from plurispiel.agents.resolve import _vector_cfr_kernels as kernels
from plurispiel.agents.resolve.deals import deal_streets
from plurispiel.agents.resolve.discounting import DEFAULT, Discounting, parse_discounting
from plurispiel.agents.resolve.gadget import Gadget
from plurispiel.agents.resolve.run_outs import AllRunOuts, RunOuts, SampledRunOuts, ThinnedRunOuts
from plurispiel.agents.resolve.street import NUM_CHUNKS, SolverStreet
from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.walk import Learn, Measure, RespondByBuckets, Walk

__all__ = ["Evaluation", "VectorSolver", "prepare"]

_ITERATIONS_AT_ONCE = 16


class Evaluation(NamedTuple):
    """The average strategies, measured exactly.

    Attributes
    ----------
    values : float64[2]
        Chips that each seat wins with its average strategy, those it put in before the subgame counted as lost. They
        sum to the dead chips, which are won with the rest.
    best_response_values : float64[2]
        The same with a best response to the other's.
    """

    values: np.ndarray
    best_response_values: np.ndarray

    @property
    def exploitability(self) -> float:
        """Half of what both seats gain by best responses, in chips."""
        return float((self.best_response_values - self.values).sum() / 2.0)


class _HeldRows(NamedTuple):
    """Rows of a decision's table that are given where others are not.

    Attributes
    ----------
    table : float[num_actions, blocks * 16]
        A view.
    places : int64[n]
    given : float64[num_actions, n]
    """

    table: np.ndarray
    places: np.ndarray
    given: np.ndarray

    def restore(self) -> None:
        """Write them."""
        self.table[:, self.places] = self.given


class VectorSolver:
    """Solves a subgame.

    Parameters
    ----------
    subgame : Subgame
    algorithm : Discounting or str
        A text is read by `parse_discounting`.
    threads : int
    dtype : data type
        float32; float64 for proofs.
    run_outs : int
        Run-outs of the board that are drawn for each seat in each iteration, such as one for each thread; 0 deals all.
        Linear CFR (``lcfr``) is made for it.
    thinning : int
        So many iterations visit one last card behind each board before, as many visit two, and so on, drawn anew for
        each seat in each iteration; 0 visits all. It pays with buckets, which learn from any board.
    last_boards : int
        How many boards of the last street there are behind each board before, a fixed sample that stands for all;
        0 for all. Subgames of several streets are ready sooner with fewer.
    seed : int
        Of what is drawn. The number of threads does not matter.
    on_memory : callable, optional
        Called with the bytes that the solver will take, before it takes them; what it raises ends the matter.

    Attributes
    ----------
    iteration : int
        Iterations done.
    memory_bytes : int

    Examples
    --------
    >>> from plurispiel.abstraction.holdem import LEDUC, BettingState
    >>> solver = VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, 6))), "cfr+")
    >>> solver.run(200)
    >>> solver.evaluate().exploitability < 0.01
    True
    """

    def __init__(
        self,
        subgame: Subgame,
        algorithm: Discounting | str = DEFAULT,
        *,
        threads: int = 2,
        dtype: type | np.dtype = np.float32,
        run_outs: int = 0,
        thinning: int = 0,
        last_boards: int = 0,
        seed: int = 1,
        on_memory: Callable[[int], None] | None = None,
    ):
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        self.subgame = subgame
        self.algorithm = parse_discounting(algorithm) if isinstance(algorithm, str) else algorithm
        self.iteration = 0
        if not 0 <= run_outs <= NUM_CHUNKS:
            raise ValueError(f"run_outs must be 0 for all or 1..{NUM_CHUNKS} sampled ones, got {run_outs}")
        if thinning < 0 or (thinning and run_outs):
            raise ValueError(f"thinning must be 0 or more, and 0 with run_outs, got {thinning}")
        self._threads = threads
        self._run_outs = run_outs
        self._thinning = thinning
        self._seed = seed
        self._dtype = np.dtype(dtype)
        rules = subgame.state.rules
        hands = rank_hands(rules, subgame.board)
        self._ranges = np.zeros((2, rules.num_combos))
        self._ranges[:, hands.combos] = subgame.ranges[:, hands.combos]
        self._ranges /= np.maximum(self._ranges.max(axis=1, keepdims=True), 1e-300)
        self.facing = np.zeros((2, rules.num_combos))
        self.facing[:, hands.combos] = fold_mass(hands, self._ranges[::-1, hands.combos])
        self._pairs = float(self._ranges[0] @ self.facing[0])
        if not self._pairs > 0.0:
            raise ValueError("the ranges have no two hands that can meet; give each seat hands without common cards")
        betting = subgame.betting()
        alike = np.nan_to_num(
            np.concatenate([np.zeros((0, rules.num_combos)), *(lock.T for lock in subgame.locks.values())]), nan=-1.0
        )
        place = rules, subgame.state.street, subgame.board
        deals = deal_streets(*place, self._ranges, alike, self._dtype, last_boards=last_boards)
        self.streets = [
            SolverStreet(
                each,
                cards,
                self._dtype,
                number == len(betting) - 1,
                self._ranges,
                subgame.buckets if number else None,
            )
            for number, (each, cards) in enumerate(zip(betting, deals, strict=True))
        ]
        self.memory_bytes = self._memory()
        if on_memory is not None:
            on_memory(self.memory_bytes)
        for street in self.streets:
            street.allocate()
        self._gadget: Gadget | None = None
        self._held: tuple[list[_HeldRows], list[_HeldRows]] = ([], [])
        self._lock(subgame)
        self._walk = Walk(self.streets, self._ranges, threads, self._dtype)

    @property
    def ranges(self) -> np.ndarray:
        """The weights that count: float64[2, num_combos], at most 1, 0 for combos on the board."""
        return self._ranges

    @property
    def pairs(self) -> float:
        """The weight of all pairs of hands that can meet."""
        return self._pairs

    @property
    def has_buckets(self) -> bool:
        """Whether hands of any street are played by buckets."""
        return any(street.buckets for street in self.streets)

    def run(self, num_iterations: int, *, goes_on: Callable[[], bool] | None = None) -> None:
        """Do so many iterations more.

        Parameters
        ----------
        goes_on : callable, optional
            Asked again and again, in subgames of several streets before each iteration; False ends the run.
        """
        steps = self.algorithm.steps(self.iteration, num_iterations).astype(self._dtype)
        self._plan(current=True)
        if len(self.streets) == 1 and self._gadget is None:
            for some in np.array_split(steps, 1 + num_iterations // _ITERATIONS_AT_ONCE if goes_on else 1):
                if goes_on is not None and not goes_on():
                    return
                self._update_board(some)
                self.iteration += len(some)
            return
        for step in steps:
            if goes_on is not None and not goes_on():
                return
            run_outs = self._visited(self.iteration)
            if self._gadget is not None:
                self._walk.enter(self._gadget.seat, self._gadget.going_on(self._ranges[self._gadget.seat]))
            for seat in range(2):
                values = self._walk.values(seat, Learn(step, run_outs))
                if self._gadget is not None and seat == self._gadget.seat:
                    self._gadget.learn(self._by_combo(seat, values)[0], step)
                for street in self.streets:
                    street.settle(seat, step, run_outs.num_chunks)
                self._hold(seat)
            self.iteration += 1

    def _update_board(self, steps: np.ndarray) -> None:
        """Do iterations on the only board of the last street."""
        (street,), walk = self.streets, self._walk
        work = *walk.above, walk.workspaces[0][0], walk.totals(1)
        tables = street.regrets, street.sums
        if not any(self._held):
            kernels.update_boards(street.layout, street.deals.arrays, *walk.first_board, -1, *tables, steps, *work)
            return
        for step in steps:
            for seat in range(2):
                place = street.layout, street.deals.arrays, *walk.first_board, seat
                kernels.update_boards(*place, *tables, step[None], *work)
                self._hold(seat)

    def _visited(self, done: int) -> RunOuts:
        """Return what the next iteration visits."""
        if self._run_outs:
            return SampledRunOuts(self._run_outs, self._seed, self.algorithm, done)
        if self._thinning:
            return ThinnedRunOuts(1 + done // self._thinning, self._seed, self.algorithm, done)
        return AllRunOuts()

    def let_turn_down(self, seat: int, bounds: np.ndarray, forced: np.ndarray | float = 0.0) -> None:
        """Let a seat turn the subgame down, hand by hand, in all iterations (`gadget`).

        Parameters
        ----------
        seat : int
        bounds : float64[num_combos]
            Chips for that, as in `combo_values`. Its range should be all hands alike, as it chooses itself which to go
            on with.
        forced : float64[num_combos], optional
            See `Gadget`.
        """
        self._gadget = Gadget(seat, bounds, self.facing[seat], forced)

    def evaluate(self) -> Evaluation:
        """Measure the average strategies; best responses know their hands, in whatever buckets strategies put them."""
        return self._evaluation([self.combo_values(seat) for seat in range(2)])

    def evaluate_by_buckets(self) -> Evaluation:
        """Measure the average strategies by responses that play hands of a bucket alike, as the strategies must.

        Streets without buckets have best responses. In each bucket, the action of most counterfactual regret is taken
        from the last decision up. As hands in a bucket need not have the same past, there may be better responses,
        but this is what CFR drives to 0.
        """
        return self._evaluation([self._response_by_buckets(seat) for seat in range(2)])

    def combo_values(self, seat: int) -> np.ndarray:
        """Return a seat's counterfactual values of each combo, `BEST` and `OWN`: float64[2, num_combos].

        Over ``facing[seat]`` they are chips, as in `Evaluation`.
        """
        self._plan(current=False)
        return self._by_combo(seat, self._walk.values(seat, Measure()))

    def _response_by_buckets(self, seat: int) -> np.ndarray:
        """Return the values of `combo_values` with a response by buckets.

        Each walk over the boards finds, for the plan at hand, what other actions would gain; once the plan is best in
        all decisions below some, these become best. So there are no more walks than decisions in a row.
        """
        self._plan(current=False)
        by_buckets = [street for street in self.streets if street.buckets]
        found = self._by_combo(seat, self._walk.values(seat, RespondByBuckets() if by_buckets else Measure()))
        own = found[kernels.OWN]
        for _ in range(sum(street.num_decisions(seat) for street in by_buckets)):
            if not sum(street.plan_best(seat) for street in by_buckets):
                break
            found = self._by_combo(seat, self._walk.values(seat, RespondByBuckets()))
        for street in by_buckets:
            for changes in street.changes:
                changes[:] = 0.0
        return np.stack([found[kernels.BEST], own])

    def _by_combo(self, seat: int, totals: np.ndarray) -> np.ndarray:
        """Return a walk's totals as values of combos, to which half of the dead chips belong; see `StreetNodes`."""
        values = totals.reshape(-1, int(self._walk.above.blocks[0]) * LANES, LANES)[:, : self._ranges.shape[1], 0]
        return values.astype(np.float64) + self.subgame.dead_chips / 2.0 * self.facing[seat]

    def _evaluation(self, values: list[np.ndarray]) -> Evaluation:
        weighed = (self._ranges[:, None] * np.stack(values)).sum(axis=2) / self._pairs
        return Evaluation(weighed[:, kernels.OWN], weighed[:, kernels.BEST])

    def strategy(self, street: int, decision: BettingDecision, board: int = 0) -> np.ndarray:
        """Return the average strategy of a decision: float64[num_combos, num_actions], NaN without the combo.

        Parameters
        ----------
        street : int
            From the first one of the subgame.
        decision : BettingDecision
            Of the street's betting.
        board : int
            Its number among the street's boards.
        """
        return self._proportional(self.streets[street].sums, street, decision, board)

    def current_strategy(self, street: int, decision: BettingDecision, board: int = 0) -> np.ndarray:
        """Return the strategy that the next iteration would play; see `strategy`."""
        return self._proportional(self.streets[street].regrets, street, decision, board)

    def _proportional(
        self, tables: Sequence[np.ndarray], street: int, decision: BettingDecision, board: int
    ) -> np.ndarray:
        """Return the strategy that is proportional to the positive entries of tables."""
        combos, entries = self.streets[street].entries(tables, decision, board)
        weights = np.maximum(entries, 0.0)
        totals = weights.sum(axis=1, keepdims=True)
        result = np.full((self.subgame.state.rules.num_combos, weights.shape[1]), np.nan)
        result[combos] = np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), 1.0 / weights.shape[1])
        return result

    def _lock(self, subgame: Subgame) -> None:
        """Write given strategies into the tables, where they stay."""
        known = set()
        for street in self.streets:
            for decision in street.betting.decisions:
                lock = subgame.locks.get(decision.actions)
                if lock is None:
                    continue
                known.add(decision.actions)
                shape = self._ranges.shape[1], len(decision.children)
                free = np.isnan(lock).all(axis=-1)
                given = lock[~free]
                if lock.shape != shape or not (given >= 0.0).all() or (abs(given.sum(axis=1) - 1.0) > 1e-6).any():
                    raise ValueError(f"a lock is rows of probabilities that sum to 1, {shape} here, got {lock.shape}")
                if street.buckets:
                    raise ValueError(
                        "on streets with buckets strategies cannot be locked; lock others, or take exact cards"
                    )
                street.layout.locked[decision.node] = not free.any()
                hands = street.deals.arrays.seats[decision.seat]
                for board in range(len(street.deals.boards)):
                    combos = hands.combos[hands.first[board] : hands.first[board + 1]]
                    places = np.flatnonzero(~free[combos])
                    for tables in (street.regrets, street.sums):
                        held = _HeldRows(street.rows(tables, decision, board), places, lock[combos[places]].T)
                        held.restore()
                        if free.any():
                            self._held[decision.seat].append(held)
        if len(known) < len(subgame.locks):
            raise ValueError("a lock's actions lead to no decision of the subgame")

    def _hold(self, seat: int) -> None:
        """Undo what an iteration has changed in rows that are given."""
        for held in self._held[seat]:
            held.restore()

    def hold_given(self) -> None:
        """Undo what was written over strategies that are given."""
        for seat in range(2):
            self._hold(seat)

    def _plan(self, current: bool) -> None:
        """Get ready for walks with the ranges and with current strategies, or with the average ones."""
        for seat in range(2):
            self._walk.enter(seat, self._ranges[seat])
        for street in self.streets:
            for seat in range(2):
                street.plan(seat, street.regrets if current else street.sums)

    def locate(self, dealt: Sequence[Sequence[int]]) -> tuple[int, np.ndarray]:
        """Return the number of the board that stands for given cards, and the combo there of each combo.

        Parameters
        ----------
        dealt : sequence of sequence of int
            The new cards of each street after the first.
        """
        rules = self.subgame.state.rules
        renamed = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
        number, image = 0, np.arange(rules.num_combos)
        taken: list[int] = []  # renamings so far
        for street, cards in zip(self.streets[1:], dealt, strict=False):
            new = tuple(cards)
            for row in taken:
                new = tuple(relabel_cards(new, row, rules.num_suits).tolist())
            found = street.deals.renamings[number].get(tuple(sorted(new)))
            if found is None:
                raise ValueError(f"{cards_text(cards)!r} cannot be dealt on this board")
            number, row = found
            taken.append(row)
            image = renamed[row][image]
        return number, image

    def _memory(self) -> int:
        tables = sum(street.num_blocks() for street in self.streets)
        num_workers = self._threads if len(self.streets) > 1 else 1
        workspaces = sum(street.workspace_blocks() for street in self.streets) * num_workers
        totals = 0
        for street in self.streets[:-1]:
            totals = max(totals, 2 * NUM_CHUNKS * street.layout.ends.shape[1] * max(street.most_blocks))
        return (tables + workspaces + totals) * LANES * self._dtype.itemsize


_THREE_STREETS = HoldemRules(
    blinds=(2, 1),
    stacks=(4, 4),
    first_seats=(1, 0, 0),
    board_cards=(0, 1, 1),
    num_suits=2,
    num_ranks=3,
    num_hole_cards=1,
    betting_abstraction="fc",
)
"""With streets in buckets that are not the last."""


def prepare(*, by_buckets: bool = False) -> None:
    """Compile the kernels that solve with exact cards, or with buckets."""
    rules = _THREE_STREETS if by_buckets else LEDUC
    buckets = (lambda board: np.zeros(rules.num_combos, np.int64)) if by_buckets else None
    subgame = Subgame(BettingState(rules), (), np.ones((2, rules.num_combos)), buckets=buckets)
    solver = VectorSolver(subgame, threads=1)
    solver.run(1)
    solver.evaluate()
    if by_buckets:
        solver.evaluate_by_buckets()


def warmup() -> None:
    """Compile every kernel of this module."""
    prepare()
    prepare(by_buckets=True)
