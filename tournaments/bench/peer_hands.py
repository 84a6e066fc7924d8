"""Speed of hand evaluation beside evaluators from PyPI: hands of seven cards, one hand a call and in a batch."""

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

import numpy as np

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.hand_ranks import hand_rank
from plurispiel.abstraction.holdem.single_hand import single_hand_rank
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.bench.peer_comparison import (
    Comparison,
    not_installed,
    peer_module,
    peer_name,
    require_same_order,
    timed,
)

NUM_HANDS = 50_000

Ranking = Callable[[], Sequence[int]]
"""Ranks all hands, one call a hand, on the peer's scale."""


def random_hands(num_hands: int) -> np.ndarray:
    """Return hands of seven cards from a fixed seed: uint8[num_hands, 7]."""
    return np.random.default_rng(0).random((num_hands, 52)).argsort(axis=1)[:, :7].astype(np.uint8)


def hand_comparisons() -> Iterator[Comparison | Measurement]:
    """Yield two comparisons for each evaluator, or two rows without values if the evaluator is not installed.

    The peers always take one hand a call, also in the comparison with our batch.
    """
    hands = random_hands(NUM_HANDS)
    rows = hands.tolist()
    for package, make in _EVALUATORS.items():
        names = f"7-card hands, one a call: {package}", f"7-card hands, a batch: {package}"
        module = peer_module(package)
        if module is None:
            yield from (not_installed(name, package) for name in names)
            continue
        ranks, order = make(module, rows)

        def check(ranks: Ranking = ranks, order: int = order) -> str:
            batch = hand_rank(hands)
            require_same_order(batch, order * np.array(ranks(), dtype=np.int64))
            require_same_order(batch, [single_hand_rank(row) for row in rows])
            return f"the order of {len(rows):,} hands"

        ours = (lambda: [single_hand_rank(row) for row in rows]), (lambda: hand_rank(hands))
        for name, work in zip(names, ours, strict=True):
            yield Comparison(name, peer_name(package), "hands", timed(work, len(rows)), timed(ranks, len(rows)), check)


def _phevaluator(module: ModuleType, hands: list[list[int]]) -> tuple[Ranking, int]:
    evaluate = module.evaluate_cards  # the peer numbers cards as this package does
    return lambda: [evaluate(*hand) for hand in hands], -1


def _eval7(module: ModuleType, hands: list[list[int]]) -> tuple[Ranking, int]:
    cards = [module.Card(card_text(card)) for card in range(52)]
    evaluate, held = module.evaluate, [[cards[card] for card in hand] for hand in hands]
    return lambda: [evaluate(hand) for hand in held], 1


_EVALUATORS: dict[str, Callable[[ModuleType, list[list[int]]], tuple[Ranking, int]]] = {
    "phevaluator": _phevaluator,
    "eval7": _eval7,
}
"""By package: a function that returns its `Ranking`, and 1 if the highest number is the best hand, -1 if the lowest."""
