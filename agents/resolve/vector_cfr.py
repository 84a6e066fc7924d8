"""Vector CFR: counterfactual regret minimisation with whole ranges, over all betting and boards of a subgame.

An iteration updates seat 0 and then seat 1 (alternating updates): the walk down multiplies ranges by current
strategies, the walk up sums counterfactual values of all hands at once (`walk`). In a subgame of two or three streets,
threads share the boards of the second street. No result depends on the number of threads.

Streets after the first may be played by bucket. Boards may be sampled, and the strategies of single decisions may be
locked. The re-solving gadget may stand before the root (`gadget`).

References
----------
M. Johanson, K. Waugh, M. Bowling and M. Zinkevich: Accelerating best response calculation in large extensive games.
IJCAI (2011).
N. Brown and T. Sandholm: Solving imperfect-information games via discounted regret minimization. AAAI (2019).
"""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.lanes import LANES
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.resolve import vector_cfr_kernels as kernels
from plurispiel.agents.resolve._gadget_kernels import update_behind_gadget
from plurispiel.agents.resolve.deals import deal_streets
from plurispiel.agents.resolve.discounting import DEFAULT, Discounting, parse_discounting
from plurispiel.agents.resolve.gadget import Gadget
from plurispiel.agents.resolve.node_values import NodeValues, measure_node
from plurispiel.agents.resolve.street import NUM_CHUNKS, SolverStreet, solver_bytes
from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.visits import AllRunOuts, SampledRunOuts, ThinnedRunOuts, Visited
from plurispiel.agents.resolve.walk import Learn, Measure, RespondByBuckets, Walk

__all__ = ["Evaluation", "VectorSolver", "prepare"]

_ITERATIONS_AT_ONCE = 16
_BOTH_IN_TURN = -1


class Evaluation(NamedTuple):
    """Exact values of the average strategies and of best responses to them.

    Attributes
    ----------
    values : float64[2]
        Chips that each seat wins with its average strategy; chips that the seat put in before the subgame count as
        lost. The two values sum to the dead chips.
    best_response_values : float64[2]
        Chips that each seat wins with a best response to the other seat's average strategy, counted in the same way.
        `VectorSolver.evaluate_by_buckets` has its responses by bucket in place of best responses.
    """

    values: np.ndarray
    best_response_values: np.ndarray

    @property
    def exploitability(self) -> float:
        """Half of the sum of both seats' gains by best responses, in chips."""
        return float((self.best_response_values - self.values).sum() / 2.0)


class _LockedRows(NamedTuple):
    """The locked entries of a decision on one board, in one table.

    Where only some hands are locked, each update of the decision's seat overwrites these entries, since kernels learn
    whole decisions. The entries are then restored before the other seat's turn.

    Attributes
    ----------
    table : float[num_actions, blocks * 16]
        A view of the decision's rows in a table.
    columns : int64[n]
        The number of each locked hand on the board.
    strategy : float64[num_actions, n]
        The locked probabilities.
    """

    table: np.ndarray
    columns: np.ndarray
    strategy: np.ndarray

    def restore(self) -> None:
        """Write the locked entries to the table again."""
        self.table[:, self.columns] = self.strategy


class VectorSolver:
    """A solver of two-player subgames.

    Parameters
    ----------
    subgame : Subgame
    algorithm : Discounting or str
        A text is read by `parse_discounting`.
    threads : int
    dtype : data type
        The type of all tables: float32, or float64 to check convergence to high precision.
    run_outs : int
        Number of run-outs of the board that are sampled for each seat in each iteration, at most 16; 0 for no sampling.
        Linear CFR (``lcfr``) suits sampling, as the early, noisy iterations have little weight.
    thinning : int
        The first `thinning` iterations visit one board of the last street after each board of the street before, the
        next `thinning` iterations visit two, and so on; 0 for no thinning. The boards are sampled again for each seat
        in each iteration. Thinning is useful with buckets, whose strategies are learnt on every board. `thinning` and
        `run_outs` exclude each other. If both are 0, each iteration visits all boards.
    last_boards : int
        Number of draws in a fixed sample of the last street's boards, for each board of the street before. The sample
        stands for all boards; 0 deals all boards. Fewer boards shorten the setup and each iteration.
    seed : int
        Seed of the samples of `run_outs` and `thinning`. Results do not depend on the number of threads.
    on_memory : callable, optional
        Called with `memory_bytes` before these bytes are allocated; an exception prevents the allocation.

    Attributes
    ----------
    threads, dtype
        As given.
    iteration : int
        Iterations done.
    gadget : Gadget, optional
        The re-solving gadget before the root; see `add_gadget`. Iterations play it, measurements leave it out.
    facing : float64[2, num_combos]
        For each seat and combo, the weight of the other seat's compatible hands. Each range is scaled to a maximum
        of 1.
    memory_bytes : int
        Bytes of the tables and workspaces, approximately.

    Raises
    ------
    ValueError
        If `threads`, `run_outs` or `thinning` is out of range, `run_outs` and `thinning` are both above 0, or
        `algorithm` is unknown. Also if the game does not have two seats or deals three hole cards, or the ranges have
        no compatible hands. Also if a lock has a wrong shape or row, leads to no decision or is on a street with
        buckets, or if a bucket is out of range. Also if every raise size is on offer at some decision, or the betting
        is too large.

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
            raise ValueError(f"thinning must be 0 or more, and 0 if run_outs is above 0, got {thinning}")
        self.threads = threads
        self._run_outs = run_outs
        self._thinning = thinning
        self._seed = seed
        self.dtype = np.dtype(dtype)
        rules = subgame.state.rules
        hands = rank_hands(rules, subgame.board)
        self._ranges = np.zeros((2, rules.num_combos))
        self._ranges[:, hands.combos] = subgame.ranges[:, hands.combos]
        # Ranges come in any scale. Weights of at most 1 suit float32. An empty range stays 0 and is refused below.
        self._ranges /= np.maximum(self._ranges.max(axis=1, keepdims=True), 1e-300)
        self.facing = np.zeros((2, rules.num_combos))
        self.facing[:, hands.combos] = fold_mass(hands, self._ranges[::-1, hands.combos])  # the other seat's
        self._pairs = dot(self._ranges[0], self.facing[0])
        if not self._pairs > 0.0:
            raise ValueError("the ranges have no compatible hands: give each seat hands that share no card")
        betting = subgame.betting()
        # Suits may be swapped only where locked strategies are the same, too; NaN, which equals nothing, becomes -1.
        alike = np.nan_to_num(
            np.concatenate([np.zeros((0, rules.num_combos)), *(lock.T for lock in subgame.locks.values())]), nan=-1.0
        )
        deals = deal_streets(
            rules, subgame.state.street, subgame.board, self._ranges, alike, self.dtype, last_boards=last_boards
        )
        self.streets = [
            SolverStreet(
                each,
                cards,
                self.dtype,
                number == len(betting) - 1,
                self._ranges,
                subgame.buckets if number else None,
            )
            for number, (each, cards) in enumerate(zip(betting, deals, strict=True))
        ]
        self.memory_bytes = solver_bytes([street.blocks() for street in self.streets], threads, self.dtype)
        if on_memory is not None:
            on_memory(self.memory_bytes)
        for street in self.streets:
            street.allocate(threads)
        self.gadget: Gadget | None = None
        self._locked: tuple[list[_LockedRows], list[_LockedRows]] = ([], [])
        self._lock(subgame)
        self._walk = Walk(self.streets, self._ranges, threads, self.dtype)

    @property
    def ranges(self) -> np.ndarray:
        """The solver's ranges: float64[2, num_combos], scaled to a maximum of 1; 0 for combos with a board card."""
        return self._ranges

    @property
    def pairs(self) -> float:
        """The total weight of all pairs of compatible hands."""
        return self._pairs

    @property
    def has_buckets(self) -> bool:
        """Whether the hands of any street are in buckets."""
        return any(street.buckets for street in self.streets)

    def run(self, num_iterations: int, *, goes_on: Callable[[], bool] | None = None) -> None:
        """Do `num_iterations` more iterations.

        Parameters
        ----------
        goes_on : callable, optional
            Called before every iteration, or before every few iterations if the subgame has one street; False ends the
            run.
        """
        steps = self.algorithm.steps(self.iteration, num_iterations).astype(self.dtype)
        self._plan(current=True)
        if len(self.streets) == 1 and (self.gadget is None or not any(self._locked)):
            # Several iterations in each kernel call: one iteration on a small river is faster than the call itself.
            for some in np.array_split(steps, 1 + num_iterations // _ITERATIONS_AT_ONCE if goes_on else 1):
                if goes_on is not None and not goes_on():
                    return
                self._update_board(some)
                self.iteration += len(some)
            return
        for step in steps:
            if goes_on is not None and not goes_on():
                return
            self._iterate(step)
            self.iteration += 1

    def _iterate(self, step: np.ndarray) -> None:
        """Do one iteration by walks over all boards that it visits."""
        visited = self._visited(self.iteration)
        if self.gadget is not None:
            # The walks of both seats use the range set here. What the gadget learns below counts in the next
            # iteration.
            self._walk.enter(self.gadget.seat, self.gadget.continuing(self._ranges[self.gadget.seat]))
        for seat in range(2):
            values = self._walk.values(seat, Learn(step, visited))
            if self.gadget is not None and seat == self.gadget.seat:
                self.gadget.learn(self._by_combo(seat, values)[0], step)
            self._walk.settle(seat, step, visited.num_chunks)
            self._restore_locks(seat)

    def _update_board(self, steps: np.ndarray) -> None:
        """Do the iterations of `steps` in a subgame of one street, and so of one board."""
        (street,), walk = self.streets, self._walk
        work, totals = walk.workspaces[0][0], walk.totals(1)
        if self.gadget is not None:
            seat = self.gadget.seat
            rows = self.gadget.rows(self._ranges[seat], self.subgame.dead_chips / 2.0 * self.facing[seat])
            tables = street.regrets, street.sums
            update_behind_gadget(street.arrays, walk.first_board, seat, rows, *tables, steps, walk.above, work, totals)
            self.gadget.take_rows(rows)
            return

        def update(seat: int, some: np.ndarray) -> None:
            tables = street.regrets, street.sums
            kernels.update_boards(street.arrays, walk.first_board, seat, *tables, some, walk.above, work, totals)

        if not any(self._locked):
            update(_BOTH_IN_TURN, steps)
            return
        for step in steps:  # locked entries have to be restored before the other seat's turn
            for seat in range(2):
                update(seat, step[None])
                self._restore_locks(seat)

    def _visited(self, done: int) -> Visited:
        """Return the boards that the next iteration visits."""
        if self._run_outs:
            return SampledRunOuts(self._run_outs, self._seed, self.algorithm, done)
        if self._thinning:
            return ThinnedRunOuts(1 + done // self._thinning, self._seed, self.algorithm, done)
        return AllRunOuts()

    def add_gadget(self, seat: int, bounds: np.ndarray, forced: np.ndarray | float = 0.0) -> None:
        """Put the re-solving gadget before the subgame: in all later iterations, a seat may terminate with each hand.

        Parameters
        ----------
        seat : int
            The seat that may terminate. Its range should be uniform, as the seat itself chooses which hands continue.
        bounds : float64[num_combos]
            The value of terminating with each combo, in chips: the unit of `combo_values` divided by `facing`.
        forced : float64[num_combos], optional
            The weight with which each combo continues without a choice; see `Gadget`.

        Raises
        ------
        ValueError
            If `bounds` has another shape, or a bound is not finite.
        """
        self.gadget = Gadget(seat, bounds, self.facing[seat], forced)

    def evaluate(self) -> Evaluation:
        """Return the values of the average strategies and of best responses, which tell hands of one bucket apart.

        With `last_boards`, the values are those of the game in which only the sampled boards are dealt.
        """
        return self._evaluation([self.combo_values(seat) for seat in range(2)])

    def evaluate_by_buckets(self) -> Evaluation:
        """Return the values of the average strategies and of responses by bucket.

        A response by bucket has one strategy for all hands of a bucket. The response measured here takes, in each
        bucket, the action of largest counterfactual regret, from the last decisions up. On streets without buckets it
        is a best response. Hands of a bucket may differ in their past (imperfect recall), so better responses by bucket
        may exist. CFR drives the gain of this response to 0.
        """
        return self._evaluation([self._response_by_buckets(seat) for seat in range(2)])

    def combo_values(self, seat: int) -> np.ndarray:
        """Return a seat's counterfactual value of each combo: float64[2, num_combos].

        The first row (`BEST`) has the values of a best response, the second row (`OWN`) those of the average strategy.
        Divided by ``facing[seat]``, the values are chips as in `Evaluation`.
        """
        self._plan(current=False)
        return self._by_combo(seat, self._walk.values(seat, Measure()))

    def values_after(
        self, path: Sequence[int], dealt: tuple[int, ...] = (), *, seats: Sequence[int] = (0, 1)
    ) -> NodeValues:
        """Return values at a node of the first street, or after new cards at an end of the street.

        Both seats begin with their ranges, without a gadget's choice. For the seat that would choose, the choice
        changes no counterfactual value, since these values do not contain the seat's own reach.

        Parameters
        ----------
        path : sequence of int
            The actions from the root to the node.
        dealt : tuple of int
            If the street ends there, the new cards of the next street.
        seats : sequence of int
            The seats whose values are measured; values of another seat mean nothing.

        Raises
        ------
        ValueError
            If the subgame does not offer the actions, or there are new cards elsewhere than at an end of the street.
            Also if no new cards are given at an end, or the new cards cannot be dealt or are left out of the sample of
            `last_boards`.
        """
        self._plan(current=False)
        rules, board = self.subgame.state.rules, self.subgame.board
        found = measure_node(self._walk, rules, board, path, dealt, seats)
        # The stakes leave out the dead chips (`StreetNodes`).
        share = self.subgame.dead_chips / 2.0 * found.facing
        actions = found.actions
        if len(actions):
            taken = tuple(path)
            decisions = self.streets[0].betting.decisions
            actor = next(each.seat for each in decisions if tuple(action for _, action, _ in each.actions) == taken)
            actions = actions + share[actor]
        return found._replace(values=found.values + share[:, None], actions=actions)

    def _response_by_buckets(self, seat: int) -> np.ndarray:
        """Return `combo_values` with the response of `evaluate_by_buckets` in place of the best response.

        The method is policy iteration: each walk over the boards measures the current plan and the regrets of all
        actions. A decision's plan is final once all plans below it are. So the number of further walks is at most the
        number of the seat's decisions in a hand. Recursion by node would need the values of all boards of a street at
        once.
        """
        self._plan(current=False)
        by_buckets = [street for street in self.streets if street.buckets]
        task = RespondByBuckets() if by_buckets else Measure()
        values = self._by_combo(seat, self._walk.values(seat, task))
        own_values = values[kernels.OWN]
        for _ in range(sum(street.num_decisions(seat) for street in by_buckets)):
            if not sum(street.plan_best(seat) for street in by_buckets):
                break
            values = self._by_combo(seat, self._walk.values(seat, task))
        for street in by_buckets:
            for changes in street.changes:
                changes[:] = 0.0
        return np.stack([values[kernels.BEST], own_values])

    def _by_combo(self, seat: int, totals: np.ndarray) -> np.ndarray:
        """Return a walk's totals by combo: float64[num_kinds, num_combos].

        The stakes leave out the dead chips (`StreetNodes`). Half of the dead chips is added here.
        """
        values = totals.reshape(-1, int(self._walk.above.blocks[0]) * LANES, LANES)[:, : self._ranges.shape[1], 0]
        return values.astype(np.float64) + self.subgame.dead_chips / 2.0 * self.facing[seat]

    def _evaluation(self, values: list[np.ndarray]) -> Evaluation:
        weighed = (self._ranges[:, None] * np.stack(values)).sum(axis=2) / self._pairs
        return Evaluation(weighed[:, kernels.OWN], weighed[:, kernels.BEST])

    def strategy(self, street: int, decision: BettingDecision, board: int = 0) -> np.ndarray:
        """Return the average strategy of a decision: float64[num_combos, num_actions].

        The strategy is NaN for combos that share a card with the board or are not in the seat's range.

        Parameters
        ----------
        street : int
            0 for the first street of the subgame.
        decision : BettingDecision
            A decision of the street's betting.
        board : int
            Number among the street's boards, as from `locate`.
        """
        return self._proportional(self.streets[street].sums, street, decision, board)

    def current_strategy(self, street: int, decision: BettingDecision, board: int = 0) -> np.ndarray:
        """Return the strategy that the next iteration plays; see `strategy`."""
        return self._proportional(self.streets[street].regrets, street, decision, board)

    def _proportional(
        self, tables: Sequence[np.ndarray], street: int, decision: BettingDecision, board: int
    ) -> np.ndarray:
        """Return the strategy proportional to the positive entries of `tables`, and uniform where none is positive."""
        combos, entries = self.streets[street].entries(tables, decision, board)
        num_actions = entries.shape[1]
        result = np.full((self.subgame.state.rules.num_combos, num_actions), np.nan)
        result[combos] = normalised(np.maximum(entries, 0.0), 1.0 / num_actions)
        return result

    def _lock(self, subgame: Subgame) -> None:
        """Write the locked strategies into the tables, and mark the locked decisions and hands."""
        known = set()
        for street in self.streets:
            partly: tuple[list[BettingDecision], list[BettingDecision]] = ([], [])
            for decision in street.betting.decisions:
                lock = subgame.locks.get(decision.actions)
                if lock is None:
                    continue
                known.add(decision.actions)
                shape = self._ranges.shape[1], len(decision.children)
                free = np.isnan(lock).all(axis=-1)
                locked = lock[~free]
                if lock.shape != shape:
                    raise ValueError(f"a lock must have the shape {shape}, got {lock.shape}")
                if not (locked >= 0.0).all() or (abs(locked.sum(axis=1) - 1.0) > 1e-6).any():
                    raise ValueError("each row of a lock must be all NaN, or probabilities that sum to 1")
                if street.buckets:
                    raise ValueError(
                        "strategies cannot be locked on streets with buckets: lock other streets, or take no buckets"
                    )
                street.layout.locked[decision.node] = 1 if not free.any() else 2 + len(partly[decision.seat])
                if free.any():
                    partly[decision.seat].append(decision)
                hands = street.deals.arrays.seats[decision.seat]
                for board in range(len(street.deals.boards)):
                    combos = hands.combos[hands.first[board] : hands.first[board + 1]]
                    columns = np.flatnonzero(~free[combos])
                    for tables in (street.regrets, street.sums):
                        rows = _LockedRows(street.rows(tables, decision, board), columns, lock[combos[columns]].T)
                        rows.restore()
                        if free.any():
                            # `learn` skips decisions that are locked for all hands. Only partly locked decisions
                            # must be restored.
                            self._locked[decision.seat].append(rows)
            street.mark_locked_hands(
                [[np.isnan(subgame.locks[each.actions][:, 0]) for each in of_seat] for of_seat in partly]
            )
        if len(known) < len(subgame.locks):
            raise ValueError(f"a lock's actions lead to no decision of the subgame: {min(set(subgame.locks) - known)}")

    def _restore_locks(self, seat: int) -> None:
        for rows in self._locked[seat]:
            rows.restore()

    def restore_locks(self) -> None:
        """Write the locked entries again, where a caller has overwritten decisions with both locked and free hands."""
        for seat in range(2):
            self._restore_locks(seat)

    def _plan(self, current: bool) -> None:
        """Prepare walks: set both seats' ranges, and compute current or average strategies on streets with buckets."""
        for seat in range(2):
            self._walk.enter(seat, self._ranges[seat])
        for street in self.streets:
            for seat in range(2):
                street.plan(seat, street.regrets if current else street.sums)

    def locate(self, dealt: Sequence[Sequence[int]]) -> tuple[int, np.ndarray]:
        """Return the board that represents given cards up to a renaming of suits, and each combo's image on that board.

        Parameters
        ----------
        dealt : sequence of sequence of int
            The new cards of each street after the first, as far as streets are dealt.

        Returns
        -------
        board : int
            Number among the boards of the last street that was dealt.
        image : int64[num_combos]
            The combo into which the renaming of suits turns each combo.

        Raises
        ------
        ValueError
            If the cards cannot be dealt, or are left out of the sample of `last_boards`.
        """
        rules = self.subgame.state.rules
        renamed = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
        number, image = 0, np.arange(rules.num_combos)
        renamings: list[int] = []
        for street, cards in zip(self.streets[1:], dealt, strict=False):
            new = tuple(cards)
            for row in renamings:  # the suits of these cards, as the earlier streets' boards have renamed them
                new = tuple(relabel_cards(new, row, rules.num_suits).tolist())
            representative = street.deals.renamings[number].get(tuple(sorted(new)))
            if representative is None:
                raise ValueError(f"{cards_text(cards)!r} cannot be dealt on this board, or is left out of the sample")
            number, row = representative
            renamings.append(row)
            image = renamed[row][image]
        return number, image


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
"""A game in which a street before the last has buckets.

Solving it compiles kernels that a game of two streets does not call."""


@functools.cache
def prepare(*, by_buckets: bool = False) -> None:
    """Compile the kernels that solve with exact cards, or with buckets, once in a process."""
    rules = _THREE_STREETS if by_buckets else LEDUC
    buckets = (lambda board: np.zeros(rules.num_combos, np.int64)) if by_buckets else None
    state = BettingState(rules)
    subgame = Subgame(state, (), np.ones((2, rules.num_combos)), buckets=buckets)
    solver = VectorSolver(subgame, threads=1)
    solver.run(1)
    solver.evaluate()
    if by_buckets:
        solver.evaluate_by_buckets()
        return
    for _ in range(2):
        state.apply(CALL)
    # A subgame of one street calls `update_boards` alone; other subgames compile it into the kernel of a walk.
    for has_gadget in (False, True):
        solver = VectorSolver(Subgame(state, (0,), np.ones((2, rules.num_combos))), threads=1)
        if has_gadget:
            solver.add_gadget(0, np.zeros(rules.num_combos))
        solver.run(1)


def warmup() -> None:
    """Compile every kernel that this module calls."""
    prepare()
    prepare(by_buckets=True)
