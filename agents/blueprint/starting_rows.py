"""The strategy of a blueprint in the tree and the buckets of a run that starts from it."""

from collections.abc import Iterator

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint, tree_digest
from plurispiel.agents.blueprint.cards import BucketLookup, CardBuckets
from plurispiel.agents.blueprint.public_boards import draw_board
from plurispiel.agents.blueprint.translated_rows import rows_in_tree

__all__ = ["bucket_counts", "has_same_buckets", "require_start", "shared_hands", "starting_rows"]

NUM_BOARDS = 3_000
"""Number of boards on which the hands of buckets are counted."""

_SEED = 999


def require_start(blueprint: Blueprint, rules: HoldemRules, iteration: int) -> None:
    """Raise ValueError if a run has begun, or if a blueprint that the run is to start from has another game."""
    if iteration:
        raise ValueError("a run that has begun cannot start from a blueprint: make a new trainer")
    if blueprint.rules != rules:
        raise ValueError("the blueprint has another game than the run; take the same seats, blinds and stacks")


def has_same_buckets(cards: BucketLookup, others: BucketLookup) -> bool:
    """Return whether two card abstractions of one game have the same buckets on the streets that both have."""
    same = all(ours == theirs for ours, theirs in zip(cards.num_buckets, others.num_buckets, strict=False))
    return same and cards.table_digest == others.table_digest


def starting_rows(blueprint: Blueprint, tree: BettingTree, cards: CardBuckets) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the decisions of a tree, each with a blueprint's strategy there: float64[num_buckets, num_actions].

    Other bet sizes than those of the blueprint are translated (`rows_in_tree`). If the buckets differ, a bucket gets
    the mean of the blueprint's rows of the bucket's hands (`shared_hands`), without missing rows. If all these rows are
    missing, or none of the bucket's hands was sampled, its row is zeros. Decisions that have no counterpart in the
    blueprint's tree are left out.

    Parameters
    ----------
    tree : BettingTree
        A tree of the blueprint's game.
    cards : CardBuckets
        Buckets of that game.
    """
    shares = None if has_same_buckets(cards, blueprint.cards) else shared_hands(blueprint.rules, cards, blueprint.cards)
    for node, rows in _rows(blueprint, tree):
        if shares is not None:
            mixed = shares[int(tree.street[node])] @ rows
            rows = normalised(mixed, np.zeros_like(mixed))
        yield node, rows


def _rows(blueprint: Blueprint, tree: BettingTree) -> Iterator[tuple[int, np.ndarray]]:
    if tree_digest(blueprint.tree) != tree_digest(tree):
        yield from rows_in_tree(blueprint, tree)
        return
    for street, buckets in enumerate(blueprint.cards.num_buckets):
        for node in blueprint.decisions(street).tolist():
            yield node, blueprint.strategy(node, np.arange(buckets))


def shared_hands(rules: HoldemRules, cards: BucketLookup, others: BucketLookup) -> list[np.ndarray]:
    """Return how the hands of each bucket are distributed over other buckets, on each street.

    The hands are those of `NUM_BOARDS` sampled boards. A bucket without hands on these boards has a row of zeros.

    Returns
    -------
    list of float64[num_buckets, num_other_buckets]
    """
    counts = [np.zeros(shape) for shape in zip(cards.num_buckets, others.num_buckets, strict=False)]
    for street, (buckets, other_buckets) in _sampled_hands(rules, cards, others):
        np.add.at(counts[street], (buckets, other_buckets), 1.0)
    return [normalised(table, np.zeros_like(table)) for table in counts]


def bucket_counts(rules: HoldemRules, cards: BucketLookup) -> list[np.ndarray]:
    """Return the mean number of hands of each bucket on a whole board, on each street: float64[num_buckets].

    The mean is that of `NUM_BOARDS` sampled boards. A bucket without hands on these boards counts as one hand.
    """
    counts = [np.zeros(buckets) for buckets in cards.num_buckets]
    for street, (buckets,) in _sampled_hands(rules, cards):
        counts[street] += np.bincount(buckets, minlength=len(counts[street]))
    return [np.maximum(table, 1.0) / NUM_BOARDS for table in counts]


def _sampled_hands(rules: HoldemRules, *cards: BucketLookup) -> Iterator[tuple[int, list[np.ndarray]]]:
    """Yield each street of sampled boards, with the buckets of all hands in each card abstraction: int64[num_hands]."""
    for number in range(NUM_BOARDS):
        board = draw_board(rules, _SEED, number)
        free = rules.free_combos(board)
        for street in range(min(len(each.num_buckets) for each in cards)):
            shown = board[: rules.board_size(street)]
            yield street, [each.row(shown, street)[free].astype(np.int64) for each in cards]
