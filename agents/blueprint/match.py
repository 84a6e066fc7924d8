"""Self-play of blueprints by kernels: duplicate matches between two blueprints, and the rows that play reaches."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.abstraction.machine.threads import run_chunks
from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.agents.blueprint import _blueprint_kernels as kernels
from plurispiel.agents.blueprint.blueprint import Blueprint, tree_digest
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.traversal_tree import DealtGame, traversal_tree
from plurispiel.agents.blueprint.untrained import untrained_blueprint
from plurispiel.agents.blueprint.workspace import traversal_workspace

MAX_REACHED = 255
"""The largest count of `reach_rows`: a row that is reached more often has this count, too."""

DECKS_AT_ONCE = 2_000
"""Decks for each random stream of a match: another number gives other decks."""

_DECKS_COUNTED_AT_ONCE = 100_000
"""Decks for each random stream of `reach_rows`."""


class MatchSums(NamedTuple):
    """Sums over the decks of a match.

    Attributes
    ----------
    chips : float64[num_seats + 1]
        Chips won by the first blueprint in each seat, then in all seats together.
    squares : float64[num_seats + 1]
        Sums over decks of the squared chips: those won in each seat, then those won in all seats together.
    counts : int64[2]
        Number of decisions of all seats, and number of decisions with a missing row, whose action is drawn uniformly.
    """

    chips: np.ndarray
    squares: np.ndarray
    counts: np.ndarray


class MatchResult(NamedTuple):
    """The winnings of one blueprint against copies of another.

    Attributes
    ----------
    num_decks : int
        Number of decks. Each deck was played once for each seat, with the first blueprint in that seat and copies of
        the second blueprint in all other seats.
    mean, deviation : float
        Winnings of the first blueprint in mbb per hand, and their standard error.
    seat_means, seat_deviations : tuple of float
        For each seat, the first blueprint's winnings there in mbb per hand, and their standard error.
    missing : float
        Share of all decisions with a missing row, where an action is drawn uniformly; NaN without decisions.
    """

    num_decks: int
    mean: float
    deviation: float
    seat_means: tuple[float, ...]
    seat_deviations: tuple[float, ...]
    missing: float


def require_same_betting(blueprint: Blueprint, other: Blueprint) -> None:
    """Raise ValueError unless two blueprints can be matched: of one game, betting tree and dtype of rows."""
    if blueprint.rules != other.rules:
        raise ValueError("the two blueprints are for different games; a match needs the same seats, blinds and stacks")
    if tree_digest(blueprint.tree) != tree_digest(other.tree):
        raise ValueError("the two blueprints have different bet sizes; plurispiel tournament plays them")
    if blueprint.rows.dtype != other.rows.dtype:
        raise ValueError("one blueprint was trained with exact = true, the other without; train both alike")


def play_match(
    blueprint: Blueprint,
    other: Blueprint,
    num_decks: int,
    *,
    seed: int = 1,
    threads: int = 1,
    progress: tqdm | None = None,
) -> MatchResult:
    """Return the winnings of a blueprint in every seat against copies of another: a duplicate match.

    The two may have different buckets. Every deck is played once for each seat of the first blueprint, always with the
    same random numbers. So equal strategies win exactly nothing from each other. The number of threads does not change
    the result. A match of a blueprint against itself measures the value of each seat.

    Parameters
    ----------
    progress : tqdm, optional
        Advanced by 1 after every `DECKS_AT_ONCE` decks.

    Raises
    ------
    ValueError
        As `require_same_betting`, and if the bucket table of one is missing.
    """
    require_same_betting(blueprint, other)
    dealt, others = dealt_game(blueprint), dealt_game(other)
    seats = blueprint.rules.num_seats
    num_chunks = -(-num_decks // DECKS_AT_ONCE)
    chips, squares = np.zeros((num_chunks, seats + 1)), np.zeros((num_chunks, seats + 1))
    counts = np.zeros((num_chunks, 2), np.int64)

    def worker() -> Callable[[slice], None]:
        work, spare = traversal_workspace(blueprint.rules), traversal_workspace(blueprint.rules)
        luck = np.zeros(4, np.uint64)

        def play(part: slice) -> None:
            for chunk in range(part.start, part.stop):
                # Dealing permutes the deck in place; chunks must not depend on their thread's earlier deals.
                work.deck[:] = blueprint.rules.cards
                decks = min(DECKS_AT_ONCE, num_decks - chunk * DECKS_AT_ONCE)
                stream = xoshiro_stream(np.random.SeedSequence(seed, spawn_key=(chunk,)))
                sums = MatchSums(chips[chunk], squares[chunk], counts[chunk])
                kernels.play_hands(dealt, others, blueprint.rows, other.rows, decks, stream, luck, work, spare, sums)

        return play

    run_chunks(worker, num_chunks, chunk=1, threads=threads, progress=progress)
    unit = 1000.0 / blueprint.rules.big_blind
    means = chips.sum(axis=0) / num_decks
    # Over decks, not hands: the hands of one deck are dependent. Rounding can leave a variance below 0.
    deviations = np.sqrt(np.maximum(squares.sum(axis=0) / num_decks - means**2, 0.0) / max(num_decks - 1, 1))
    decisions, missing = counts.sum(axis=0).tolist()
    return MatchResult(
        num_decks,
        float(means[-1] * unit / seats),
        float(deviations[-1] * unit / seats),
        tuple((means[:-1] * unit).tolist()),
        tuple((deviations[:-1] * unit).tolist()),
        missing / decisions if decisions else math.nan,
    )


def meet_rows(blueprint: Blueprint, num_decks: int, max_rows: int, *, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that self-play reaches, in the order of play: each row's node and its first cell.

    Missing rows are left out. A row appears each time that it is reached.

    Returns
    -------
    nodes, cells : int64[n]
        n is at most `max_rows`; further rows are dropped.

    Raises
    ------
    ValueError
        If the blueprint's bucket table is missing.
    """
    nodes, cells = np.empty(max_rows, np.int64), np.empty(max_rows, np.int64)
    stream, work = xoshiro_stream(np.random.SeedSequence(seed)), traversal_workspace(blueprint.rules)
    count = kernels.meet_rows(dealt_game(blueprint), blueprint.rows, num_decks, stream, work, nodes, cells)
    return nodes[:count].copy(), cells[:count].copy()


def reach_rows(
    blueprint: Blueprint, num_decks: int, *, share: float = 0.3, seed: int = 1, threads: int = 1
) -> np.ndarray:
    """Return the number of times that a blueprint reaches each of its rows, against opponents that often act randomly.

    The number of threads does not change the result. Each thread needs an array of the size of the result, so that
    fewer are taken if memory is short.

    Parameters
    ----------
    num_decks : int
        Number of decks. Each deck is played once for each seat, with the blueprint in that seat.
    share : float
        Probability that an opponent draws its action uniformly instead of from the blueprint.

    Returns
    -------
    uint8[num_cells]
        Counts up to `MAX_REACHED` at the first cell of each row; 0 in the other cells.

    Raises
    ------
    ValueError
        If the blueprint's bucket table is missing.
    """
    dealt = dealt_game(blueprint)
    num_chunks = -(-num_decks // _DECKS_COUNTED_AT_ONCE)
    threads = max(1, min(threads, num_chunks, int(available_bytes() / (2 * len(blueprint.rows)))))
    counts: list[np.ndarray] = []

    def worker() -> Callable[[slice], None]:
        work, reached = traversal_workspace(blueprint.rules), np.zeros(len(blueprint.rows), np.uint8)
        counts.append(reached)

        def play(part: slice) -> None:
            for chunk in range(part.start, part.stop):
                work.deck[:] = blueprint.rules.cards  # as in `play_match`
                decks = min(_DECKS_COUNTED_AT_ONCE, num_decks - chunk * _DECKS_COUNTED_AT_ONCE)
                stream = xoshiro_stream(np.random.SeedSequence(seed, spawn_key=(chunk,)))
                kernels.reach_rows(dealt, blueprint.rows, decks, share, stream, work, reached)

        return play

    run_chunks(worker, num_chunks, chunk=1, threads=threads)
    total = counts.pop()
    for reached in counts:  # counts cut at 255 give the same sum, cut at 255
        np.minimum(reached, MAX_REACHED - total, out=reached)
        total += reached
    return total


def warmup() -> None:
    """Compile the kernels that play, read and count rows, for rows of 8 bits and of float32."""
    for exact in (False, True):
        blueprint = untrained_blueprint(exact=exact)
        play_match(blueprint, blueprint, 1)
        meet_rows(blueprint, 1, 1)
        reach_rows(blueprint, 1)
        blueprint.num_rows()
        blueprint.strategy(0, np.arange(1))


def dealt_game(blueprint: Blueprint) -> DealtGame:
    """Return a blueprint's game as kernels deal and walk it.

    Raises
    ------
    ValueError
        If the blueprint's bucket table is missing.
    """
    cards = blueprint.cards
    if not isinstance(cards, CardBuckets):
        raise ValueError("self-play needs the bucket table that the blueprint was trained with; build it again")
    return DealtGame(rank_tables(), traversal_tree(blueprint.tree), blueprint.game, cards.arrays)
