"""One iteration of public chance sampling on the CPU, round by round, for all hands of a board.

A *betting round* is the part of the betting tree on one street after one history. Strategies are the same for all hands
of a bucket. Within a round, a hand's reach is therefore its reach at the round's root times a product of probabilities
by bucket. Sums over hands are needed at the round's ends alone, and take sixteen ends at once. All else is computed by
bucket. Rounds of one street share no rows of the tables, so threads take them in any order, with equal results.

References
----------
M. Johanson, N. Bard, M. Lanctot, R. Gibson, M. Bowling: Efficient Nash Equilibrium Approximation through Monte Carlo
Counterfactual Regret Minimization. AAMAS (2012), section 3.
"""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.abstraction.machine.tickets import new_tickets
from plurispiel.agents.blueprint import _round_kernels as kernels
from plurispiel.agents.blueprint.public_boards import PublicBoard, num_hands


class BettingRounds(NamedTuple):
    """The betting rounds of a tree for two, street by street.

    A round's nodes have consecutive places, parents first. The roots of the rounds that follow are the last nodes of a
    round, too.

    Attributes
    ----------
    first : int32[num_rounds + 1]
        The place of each round's root, then the number of places.
    root : int32[num_rounds]
        The node of each round's root in the betting tree.
    street_first : int32[num_streets + 1]
        The first round of each street, then the number of rounds.
    kind : int8[n]
        ``DECISION``, ``SHOWN`` (the betting is over, hands are compared), ``FOLDED`` or ``NEXT_ROUND``.
    seat, num_actions : int8[n]
        Of decisions.
    link : int32[n]
        For a decision, the first child, counted from the round's root; the other children have the next numbers. For
        ``NEXT_ROUND``, the number of the round.
    pair : int32[n]
        The row of a decision's first action in the tables: `BettingTree.row`.
    chips : int32[n, 2]
        Chips that each seat wins at the fold, or with the better hand.
    """

    first: np.ndarray
    root: np.ndarray
    street_first: np.ndarray
    kind: np.ndarray
    seat: np.ndarray
    num_actions: np.ndarray
    link: np.ndarray
    pair: np.ndarray
    chips: np.ndarray


class RoundHands(NamedTuple):
    """The hands of a board, by rank from the weakest to the strongest.

    Attributes
    ----------
    holes : int32[num_hands, 2]
        The cards of each hand. In games with one hole card, the second number belongs to this hand alone.
    rank_start, rank_stop : int32[num_hands]
        The first hand with the same rank, and the end of these hands.
    buckets : int64[num_hands]
        The bucket of each hand on a street.
    """

    holes: np.ndarray
    rank_start: np.ndarray
    rank_stop: np.ndarray
    buckets: np.ndarray


class RoundReaches(NamedTuple):
    """The hands of both seats that reach the root of each round. Of most rounds, these are few hands.

    Attributes
    ----------
    counts : int32[num_rounds, 2]
        Their number.
    hands : int32[num_rounds, 2, num_hands]
        These hands, by rank, as indices of `RoundHands`; the rest of a row has no meaning.
    reach : float[num_rounds, 2, num_hands]
        The probability that the seat plays to the root with each of these hands.
    """

    counts: np.ndarray
    hands: np.ndarray
    reach: np.ndarray


class RoundWorkspace(NamedTuple):
    """Scratch memory of a thread for the rounds of a street.

    Attributes
    ----------
    num_blocks : int
        The number of blocks of sixteen buckets.
    most_nodes : int
        The number of nodes of the largest round.
    probs : float[(most_nodes + 1) * 2 * num_blocks, 16]
        For each node of a round and each seat, the probability by bucket that the seat plays to the node from the
        round's root on. The last node's are 0.
    chosen : float[most_nodes * num_blocks, 16]
        For each node, the probability by bucket of the action that leads to the node.
    found : float[(most_nodes + 1) * 2 * num_blocks, 16]
        The values of each seat at each node of a round, summed over the hands of a bucket.
    here : float[2 * num_blocks, 16]
        The reach of both seats at the root by bucket.
    roots : float[2 * padded hands, 16]
        The values of both seats' hands at the root, from sixteen ends.
    ends : int64[16]
        The places of these ends.
    rows : int64[2, 16]
        The first block of each seat in `probs` and `found` at these ends.
    chips : float[3, 16]
        Chips that each seat wins at these ends; 1 at showdowns, 0 elsewhere.
    lanes : int64[16]
        The numbers 0 to 15.
    plays : float[2 * num_blocks * 16, 16]
        The probability by bucket that each seat plays to these ends.
    won : float[num_blocks * 16, 16]
        Values at these ends by bucket.
    mass : float[n, 16]
        Reach of the hands with each card, or each number in `RoundHands.holes`.
    spare : float[16, 16]
        Blocks that are transposed.
    """

    num_blocks: int
    most_nodes: int
    probs: np.ndarray
    chosen: np.ndarray
    found: np.ndarray
    here: np.ndarray
    roots: np.ndarray
    ends: np.ndarray
    rows: np.ndarray
    chips: np.ndarray
    lanes: np.ndarray
    plays: np.ndarray
    won: np.ndarray
    mass: np.ndarray
    spare: np.ndarray


def find_rounds(tree: BettingTree, num_streets: int) -> BettingRounds:
    """Return the betting rounds of a tree for two."""
    most = 2 * len(tree.actor)
    rounds = BettingRounds(
        first=np.zeros(most, np.int32),
        root=np.zeros(most, np.int32),
        street_first=np.zeros(num_streets + 1, np.int32),
        kind=np.zeros(most, np.int8),
        seat=np.zeros(most, np.int8),
        num_actions=np.zeros(most, np.int8),
        link=np.zeros(most, np.int32),
        pair=np.zeros(most, np.int32),
        chips=np.zeros((most, 2), np.int32),
    )
    found, size = kernels.find_rounds(tree, num_streets, rounds, np.zeros(most, np.int32))
    lengths = {"first": found + 1, "root": found, "street_first": num_streets + 1}
    return BettingRounds(*(each[: lengths.get(name, size)].copy() for name, each in rounds._asdict().items()))


class RoundTables:
    """Regrets and strategy sums of both seats on the CPU, updated by one sampled board after another.

    Parameters
    ----------
    rules : HoldemRules
        For two seats.
    tree : BettingTree
    num_buckets : tuple of int
        Number of buckets of each street.
    threads : int
    double : bool
        Whether all numbers are float64 instead of float32.

    Attributes
    ----------
    shapes : list of tuple of int
        For each street the number of its pairs of a decision and one of its actions, in the order of `BettingTree.row`,
        and its number of buckets.

    Raises
    ------
    ValueError
        If a hand has more than two hole cards. The sums over hands subtract those that share a card, card by card.
    """

    def __init__(
        self, rules: HoldemRules, tree: BettingTree, num_buckets: tuple[int, ...], threads: int, *, double: bool
    ):
        if rules.num_hole_cards > 2:
            raise ValueError(
                "public chance sampling on the CPU is for one or two hole cards, the game has "
                f"{rules.num_hole_cards}; take device cuda"
            )
        self._num_hands = num_hands(rules)
        self._dtype = np.dtype(np.float64 if double else np.float32)
        self._threads = threads
        self._rounds = find_rounds(tree, len(num_buckets))
        self._num_cards = int(rules.cards.max()) + 1
        # The second number of a hand of one card is one that no other hand has.
        self._num_sums = self._num_cards + (self._num_hands if rules.num_hole_cards == 1 else 0)
        streets = tree.street[tree.actor >= 0]
        pairs = [int(tree.num_actions[tree.actor >= 0][streets == s].sum()) for s in range(len(num_buckets))]
        self.shapes = list(zip(pairs, num_buckets, strict=True))
        self._blocks = [blocks_for(each) for each in num_buckets]
        sizes = [n * blocks for n, blocks in zip(pairs, self._blocks, strict=True)]
        self._regrets = [empty_blocks(size, self._dtype) for size in sizes]
        self._sums = [empty_blocks(size, self._dtype) for size in sizes]
        shape = (len(self._rounds.root), 2, LANES * blocks_for(self._num_hands))
        self._values = np.zeros(shape, self._dtype)
        self._reaches = RoundReaches(
            np.zeros(shape[:2], np.int32), np.zeros(shape, np.int32), np.zeros(shape, self._dtype)
        )
        self._reaches.counts[0] = self._num_hands
        self._reaches.hands[0] = np.arange(shape[2])
        self._reaches.reach[0] = 1
        self._work = [[self._workspace(s) for s in range(len(num_buckets))] for _ in range(threads)]

    def update(self, board: PublicBoard, regret_weight: float, sum_weight: float) -> None:
        """Add the regrets and strategies of one board to the tables, with the weights given."""
        hands = self._hands(board)
        weights = np.array([regret_weight, sum_weight], self._dtype)
        tables = list(zip(hands, self._regrets, self._sums, strict=True))
        for street, (ours, regrets, _) in enumerate(tables[:-1]):
            self._on_threads(kernels.open_rounds, street, self._rounds, ours, regrets, self._reaches)
        for street, (ours, regrets, sums) in reversed(list(enumerate(tables))):
            self._on_threads(
                kernels.close_rounds, street, self._rounds, ours, regrets, sums, weights, self._reaches, self._values
            )

    def wait(self) -> None:
        """Do nothing: updates are done when they return."""

    def read(self, kind: str, street: int, part: slice) -> np.ndarray:
        """Return a part of a street's ``regrets`` or ``sums``, a view of the table: float[n, num_buckets].

        Regrets are in chips, summed over the pairs of both hands and weighted. Sums are those of current strategies,
        weighted by the reach of their seat.
        """
        return self._table(kind, street)[part]

    def write(self, kind: str, street: int, values: np.ndarray) -> None:
        """Replace a street's ``regrets`` or ``sums``."""
        self._table(kind, street)[:] = values

    def clear_sums(self) -> None:
        """Set the strategy sums to 0."""
        for table in self._sums:
            table[:] = 0

    def _table(self, kind: str, street: int) -> np.ndarray:
        pairs, buckets = self.shapes[street]
        return {"regrets": self._regrets, "sums": self._sums}[kind][street].reshape(
            pairs, LANES * self._blocks[street]
        )[:, :buckets]

    def _on_threads(self, kernel: Callable[..., None], street: int, rounds: BettingRounds, *given: object) -> None:
        """Call a kernel for a street on all threads, which share the street's rounds."""
        tickets = new_tickets()
        others = [
            self._executor.submit(kernel, street, tickets, work[street], rounds, *given) for work in self._work[1:]
        ]
        try:
            kernel(street, tickets, self._work[0][street], rounds, *given)
        finally:
            wait(others)  # an interrupt must not leave threads that write to the tables
        for each in others:
            each.result()

    @functools.cached_property
    def _executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads - 1)

    def _hands(self, board: PublicBoard) -> list[RoundHands]:
        """Return the hands of a board on each street."""
        order = np.argsort(board.ranks, kind="stable")
        ranks, holes = board.ranks[order], board.holes[order]
        if holes.shape[1] == 1:
            holes = np.stack([holes[:, 0], np.arange(self._num_cards, self._num_sums)], axis=1)
        holes = np.ascontiguousarray(holes, np.int32)
        first = np.searchsorted(ranks, ranks).astype(np.int32)
        stop = np.searchsorted(ranks, ranks, side="right").astype(np.int32)
        return [RoundHands(holes, first, stop, buckets[order]) for buckets in board.buckets]

    def _workspace(self, street: int) -> RoundWorkspace:
        first, last = self._rounds.street_first[street : street + 2]
        sizes = np.diff(self._rounds.first[first : last + 1])
        nodes, blocks = int(sizes.max(initial=1)), self._blocks[street]

        def zeros(count: int) -> np.ndarray:
            return empty_blocks(count, self._dtype)

        return RoundWorkspace(
            num_blocks=blocks,
            most_nodes=nodes,
            probs=zeros((nodes + 1) * 2 * blocks),
            chosen=zeros(nodes * blocks),
            found=zeros((nodes + 1) * 2 * blocks),
            here=zeros(2 * blocks),
            roots=zeros(2 * LANES * blocks_for(self._num_hands)),
            ends=np.zeros(LANES, np.int64),
            rows=np.zeros((2, LANES), np.int64),
            chips=zeros(3),
            lanes=np.arange(LANES),
            plays=zeros(2 * LANES * blocks),
            won=zeros(LANES * blocks),
            mass=zeros(self._num_sums),
            spare=zeros(LANES),
        )
