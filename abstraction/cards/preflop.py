"""Starting hands: the 169 classes of two hole cards up to a renaming of suits."""

import functools

import numpy as np

from plurispiel.abstraction.cards.features import preflop_equity
from plurispiel.abstraction.holdem.cards import RANKS, combo_cards

NUM_CLASSES = 169


@functools.cache
def preflop_classes() -> np.ndarray:
    """Return the class of each combo: uint8[1326], read-only; classes are numbered by equity, the weakest first.

    >>> preflop_names()[preflop_classes()[1325]]
    'AA'
    """
    ids = {name: number for number, name in enumerate(preflop_names())}
    classes = np.array([ids[name] for name in _combo_names()], dtype=np.uint8)
    classes.setflags(write=False)
    return classes


@functools.cache
def preflop_names() -> tuple[str, ...]:
    """Return the name of each class in the order of `preflop_classes`, such as AKs, AKo or AA."""
    equity = dict(zip(_combo_names(), preflop_equity().tolist(), strict=True))
    return tuple(sorted(equity, key=lambda name: (equity[name], name)))


def _combo_names() -> list[str]:
    names = []
    for low, high in combo_cards().tolist():
        suited = "s" if low & 3 == high & 3 else "o"
        names.append(RANKS[high >> 2] + RANKS[low >> 2] + ("" if low >> 2 == high >> 2 else suited))
    return names
