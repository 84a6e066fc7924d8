"""Vector CFR with three seats on the last street, with exact card removal.

An iteration updates seat 0, then seat 1, then seat 2. The value of a hand sums over all compatible pairs of hands of
the two other seats (`three_way.pair_masses`), at showdowns and after folds. With two seats, the sum over the other
seat's hands needs only totals by card. With three seats a sum over pairs of hands takes 1.6 ms for all hands of a
river. So an iteration in a tree of 42 decisions takes 0.3 s with all hands, and 0.04 s with about a hundred hands in
the ranges.

With three players, CFR is not proved to converge to a Nash equilibrium. `ThreeWaySolver.evaluate` measures the chips
that each player alone can still gain by a best response. In an equilibrium no player can gain chips.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.showdown import RankedHands, rank_hands
from plurispiel.abstraction.holdem.three_way import ALL, pair_masses, three_way_values
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.resolve.discounting import Discounting, parse_discounting

__all__ = ["ThreeWayDecision", "ThreeWayEvaluation", "ThreeWaySolver"]

_ROUNDING = 1e-13
_MAX_NODES = 100_000


class ThreeWayEvaluation(NamedTuple):
    """Exact values of the average strategies and of best responses to them.

    Attributes
    ----------
    values : float64[3]
        Chips that each seat wins with its average strategy, net of all chips that the seat has put in over the hand.
    best_response_values : float64[3]
        Chips that each seat wins with a best response to the average strategies of the two other seats, net of
        all chips that the seat has put in over the hand.
    """

    values: np.ndarray
    best_response_values: np.ndarray

    @property
    def nash_conv(self) -> float:
        """The sum of all seats' gains by best responses, each deviating alone, in chips."""
        return float((self.best_response_values - self.values).sum())

    @property
    def exploitability(self) -> float:
        """The mean of the seats' gains, in chips."""
        return self.nash_conv / 3.0


@dataclass(eq=False)
class ThreeWayDecision:
    """A decision with its tables, or an end of the hand, which has no children.

    Attributes
    ----------
    state : BettingState
    children : dict of int to ThreeWayDecision
        The node after each action, in ascending order of actions.
    regrets, sums : float64[num_actions, num_hands]
        Regrets and strategy sums of the actor's hands, numbered as in `ThreeWaySolver.hands`.
    """

    state: BettingState
    children: dict[int, "ThreeWayDecision"] = field(default_factory=dict)
    regrets: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    sums: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def strategy(self, table: np.ndarray) -> np.ndarray:
        """Return the strategy proportional to the positive entries of a table: float64[num_actions, num_hands]."""
        return normalised(np.maximum(table, 0.0).T, 1.0 / len(table)).T


class _Learn:
    """An iteration: strategies are proportional to positive regrets; then regrets and strategy sums are updated."""

    def __init__(self, step: np.ndarray):
        self._gain, self._loss, self._decay = step.tolist()

    def table(self, node: ThreeWayDecision) -> np.ndarray:
        """Return the regrets."""
        return node.regrets

    def own_values(
        self, node: ThreeWayDecision, strategy: np.ndarray, below: np.ndarray, reach: np.ndarray
    ) -> np.ndarray:
        """Return the seat's values at its decision: float64[num_hands].

        `below` has the values after each action, float64[num_actions, num_hands], and `reach` is the seat's own reach.
        """
        values = (strategy * below).sum(axis=0)
        # Regrets are discounted after the addition, strategy sums before it, as in `vector_cfr_kernels.learn`.
        node.regrets += below - values
        node.regrets *= np.where(node.regrets > 0.0, self._gain, self._loss)
        node.sums *= self._decay
        node.sums += reach * strategy
        return values


class _Average:
    """A measurement of the average strategies."""

    def table(self, node: ThreeWayDecision) -> np.ndarray:
        """Return the strategy sums."""
        return node.sums

    def own_values(
        self, node: ThreeWayDecision, strategy: np.ndarray, below: np.ndarray, reach: np.ndarray
    ) -> np.ndarray:
        """Return the mean of the actions' values, weighted by the strategy: float64[num_hands]."""
        return (strategy * below).sum(axis=0)


class _Best(_Average):
    """A measurement of the seat's best response to the average strategies."""

    def own_values(
        self, node: ThreeWayDecision, strategy: np.ndarray, below: np.ndarray, reach: np.ndarray
    ) -> np.ndarray:
        """Return the largest of the actions' values for each hand: float64[num_hands]."""
        return below.max(axis=0)


class ThreeWaySolver:
    """A solver of the last street for three ranges.

    Parameters
    ----------
    state : BettingState
        A state of three seats on the last street, with a decision to make.
    board : tuple of int
    ranges : float64[3, num_combos]
        Each seat's weight of each combo, in any scale. Three compatible hands have the product of their weights.
    algorithm : str
        See `discounting.parse_discounting`.
    menu : callable
        Maps the rules and a betting state array to the raises on offer. By default these are the raises of the rules,
        which must not be ``fullgame``.
    on_memory : callable, optional
        Called with the number of bytes of the tables before their allocation; an exception prevents the allocation.

    Attributes
    ----------
    iteration : int
        Iterations done.
    root : ThreeWayDecision
    hands : RankedHands
        The hands in any seat's range, weakest first.
    memory_bytes : int
        Bytes of the tables.

    Raises
    ------
    ValueError
        If `state`, `board` and `ranges` do not fit together, `algorithm` is unknown, hands have one hole card or every
        raise size is on offer. Also if no three hands of the ranges are compatible, or the betting is too large.
    """

    has_buckets = False

    def __init__(
        self,
        state: BettingState,
        board: tuple[int, ...],
        ranges: np.ndarray,
        algorithm: str = "lcfr",
        *,
        menu: RaiseMenu = raise_menu,
        on_memory: Callable[[int], None] | None = None,
    ):
        rules = state.rules
        if rules.num_seats != 3 or state.is_over or state.street != rules.num_streets - 1:
            raise ValueError(
                "three-way solving begins with a decision of three seats on the last street, "
                f"got {rules.num_seats} seats on street {state.street}{' at the end of the hand' * state.is_over}"
            )
        if len(board) != rules.board_size(state.street):
            raise ValueError(
                f"the board of the last street has {rules.board_size(state.street)} cards, got {len(board)}"
            )
        if ranges.shape != (3, rules.num_combos) or not (np.isfinite(ranges) & (ranges >= 0.0)).all():
            raise ValueError(
                f"ranges are weights of at least 0 for three seats and {rules.num_combos} combos, "
                f"got an array of shape {ranges.shape}"
            )
        self.algorithm: Discounting = parse_discounting(algorithm)
        self.iteration = 0
        ranked = rank_hands(rules, board)
        self.hands = _some_hands(ranked, ranges[:, ranked.combos].sum(axis=0) > 0.0)
        self.ranges = ranges[:, self.hands.combos]
        self._num_combos = rules.num_combos
        self._triples = dot(self.ranges[0], pair_masses(self.hands, *self.ranges[1:])[ALL, ALL])
        if not self._triples > 0.0:
            raise ValueError("the ranges have no three compatible hands: give each seat hands that share no card")
        self._num_nodes = 0
        self.root = self._grow(state, menu)
        decisions = list(self.decisions())
        # Two float64 tables: regrets and sums.
        self.memory_bytes = 16 * len(self.hands.combos) * sum(len(node.children) for _, node in decisions)
        if on_memory is not None:
            on_memory(self.memory_bytes)
        for _, node in decisions:
            shape = len(node.children), len(self.hands.combos)
            node.regrets, node.sums = np.zeros(shape), np.zeros(shape)

    def decisions(self) -> Iterator[tuple[tuple[int, ...], ThreeWayDecision]]:
        """Yield each decision with the actions that lead to it, parents first."""
        waiting: list[tuple[tuple[int, ...], ThreeWayDecision]] = [((), self.root)]
        while waiting:
            path, node = waiting.pop()
            if node.children:
                yield path, node
            waiting += [((*path, action), child) for action, child in reversed(node.children.items())]

    def run(self, num_iterations: int) -> None:
        """Do `num_iterations` more iterations."""
        for step in self.algorithm.steps(self.iteration, num_iterations):
            for seat in range(3):
                self._values(self.root, self.ranges, seat, _Learn(step))
        self.iteration += num_iterations

    def evaluate(self) -> ThreeWayEvaluation:
        """Return the values of the average strategies and of best responses."""
        values = np.zeros((2, 3))
        for seat in range(3):
            for kind, measured in enumerate((_Average(), _Best())):
                by_hand = self._values(self.root, self.ranges, seat, measured)
                values[kind, seat] = dot(self.ranges[seat], by_hand) / self._triples
        return ThreeWayEvaluation(*values)

    def equity(self) -> np.ndarray:
        """Return each seat's share of the pot if all hands are shown down without a bet: float64[3]."""
        net = np.zeros(3)  # each seat puts in one chip, and the winner takes all three
        for seat, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
            by_hand = three_way_values(self.hands, self.ranges[first], self.ranges[second], (1.0, 1.0, 1.0))
            net[seat] = dot(self.ranges[seat], by_hand)
        return (net / self._triples + 1.0) / 3.0

    def strategy(self, actions: tuple[int, ...] = ()) -> tuple[list[int], np.ndarray]:
        """Return the actions of a decision, and the average strategy there: float64[num_combos, num_actions].

        The strategy is NaN for combos that are in no seat's range.

        Parameters
        ----------
        actions : tuple of int
            The actions that lead from the first decision to this decision.

        Raises
        ------
        ValueError
            If there is no such decision.
        """
        node = self.root
        for action in actions:
            if action not in node.children:
                raise ValueError(f"the actions of this decision are {list(node.children)}, got {action}")
            node = node.children[action]
        if not node.children:
            raise ValueError("the hand is over after these actions")
        result = np.full((self._num_combos, len(node.children)), np.nan)
        result[self.hands.combos] = node.strategy(node.sums).T
        return list(node.children), result

    def _grow(self, state: BettingState, menu: RaiseMenu) -> ThreeWayDecision:
        self._num_nodes += 1
        if self._num_nodes > _MAX_NODES:
            raise ValueError(f"the betting has more than {_MAX_NODES:,} nodes: take fewer bet sizes")
        node = ThreeWayDecision(state)
        if state.is_over:
            return node
        raises = menu(state.rules, state.array.tolist())
        if raises is None:
            raise ValueError("the betting tree needs a menu of raises, got fullgame")
        for action in ([FOLD] if state.can_fold else []) + [CALL, *raises]:
            following = state.copy()
            following.apply(action)
            node.children[action] = self._grow(following, menu)
        return node

    def _values(self, node: ThreeWayDecision, reach: np.ndarray, seat: int, play: "_Learn | _Average") -> np.ndarray:
        """Return a seat's counterfactual values by hand: float64[num_hands]."""
        if not node.children:
            return self._end_values(node.state, reach, seat)
        actor = node.state.actor
        strategy = node.strategy(play.table(node))
        below = []
        for number, child in enumerate(node.children.values()):
            after = reach.copy()
            after[actor] *= strategy[number]
            below.append(self._values(child, after, seat, play))
        if actor != seat:
            # The other seats' probabilities are in their reach: values are added unweighted.
            return np.sum(below, axis=0)
        return play.own_values(node, strategy, np.stack(below), reach[seat])

    def _end_values(self, state: BettingState, reach: np.ndarray, seat: int) -> np.ndarray:
        others = [other for other in range(3) if other != seat]
        put_in, folded = state.contributions, state.folded
        first, second = reach[others]
        if folded[seat]:
            values = -put_in[seat] * pair_masses(self.hands, first, second)[ALL, ALL]
        else:
            playing = [0.0 if folded[other] else float(put_in[other]) for other in others]
            left = [float(put_in[other]) for other in others if folded[other]]
            values = three_way_values(self.hands, first, second, (float(put_in[seat]), *playing), folded=left)
        # Where terms cancel, the rounding error left over is no regret, but regret matching would act on its sign.
        values[abs(values) < _ROUNDING * sum(put_in) * first.sum() * second.sum()] = 0.0
        return values


def _some_hands(hands: RankedHands, chosen: np.ndarray) -> RankedHands:
    """Return the hands of a board for which `chosen`, bool[num_hands], is True."""
    numbers = np.flatnonzero(chosen)
    group = np.searchsorted(hands.groups, numbers, side="right")
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return RankedHands(
        combos=hands.combos[numbers].copy(),
        cards=np.ascontiguousarray(hands.cards[numbers]),
        groups=np.append(starts, len(numbers)).astype(np.int32),
    )
