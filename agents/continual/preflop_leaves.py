"""Values that a network gives for the end of hold'em's first street, as means over all flops.

Before the flop, suits make no difference: in every range, all hands of a class have the same weight. There are 169
classes, so a sum over hands is a product with a matrix of 169 rows.
"""

import functools

import numpy as np

from plurispiel.abstraction.cards.preflop import NUM_CLASSES, preflop_classes
from plurispiel.abstraction.holdem.all_in_margins import all_in_margins, hand_classes
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.continual.leaf_values import Boundary
from plurispiel.agents.values.encoding import Bins, board_features, gate, inputs
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.agents.values.products import products
from plurispiel.agents.values.zero_sum import without_gain

__all__ = ["PreflopLeaves"]


class PreflopLeaves:
    """The values that a network gives for the end of the first street.

    Parameters
    ----------
    stored : StoredNet
    boundary : Boundary
        A boundary without board cards.
    deepest : float
        The most chips behind, in pots, that the network sees. Where more are behind, it sees this number.
    threads : int
        Number of threads; the values do not depend on it.

    Attributes
    ----------
    num_clamped : int
        Number of ends with more chips behind, in pots, than `deepest`.
    """

    num_solves = 0
    num_iterations = 0

    def __init__(self, stored: StoredNet, boundary: Boundary, deepest: float, threads: int = 1):
        self._net, self._threads = stored.net, threads
        self.boards = [boundary.board]
        self._pots = np.array([pot_of(state) for state in boundary.ends], np.float64)
        spr = np.array([chips_behind(state) for state in boundary.ends]) / self._pots
        self.num_clamped = int((spr > deepest).sum())
        self._open = np.flatnonzero(spr > 0.0)
        self._spr = spr[self._open].clip(max=deepest)
        self._classes = preflop_classes()[boundary.hands.combos].astype(np.int64)
        self._sizes = np.bincount(self._classes).astype(np.float64)
        self._bins = Bins(np.arange(NUM_CLASSES), np.zeros(NUM_CLASSES), NUM_CLASSES, self._sizes)
        self._features = board_features(boundary.rules, boundary.board)
        self._margins, self._facing = _class_matrices(boundary.rules)

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values of all hands, float64[2, E, 1, H]; see `Leaves`."""
        sums = _by_class(reach, self._classes)
        values = products(sums[::-1] / self._sizes, self._margins) * (self._pots / 2.0)[:, None]
        if len(self._open):
            values[:, self._open] += self._residuals(sums[:, self._open]) * self._pots[self._open, None]
        return values[:, :, self._classes][:, :, None]

    def _residuals(self, sums: np.ndarray) -> np.ndarray:
        """Return values less those of checking down, in pots, weighted by the other seat's reach.

        `sums`, each seat's reach by class, and the result are float64[2, X, 169], for the X ends with chips behind.
        """
        totals = sums.sum(axis=2, keepdims=True)
        # The network needs a range of each seat, so a seat without reach gets equal weights. The seat's values have the
        # other seat's reach as their weight, so they still enter the seat's regrets.
        even = np.broadcast_to(self._sizes / self._sizes.sum(), sums.shape)
        ranges = np.divide(sums, totals, out=even.copy(), where=totals > 0.0)
        seen = inputs(self._bins, ranges, self._spr, self._features)
        outputs = self._net.outputs(seen, threads=self._threads).astype(np.float64).transpose(1, 0, 2)
        masses = products(ranges[::-1] / self._sizes, self._facing)
        return without_gain(gate(self._spr)[:, None] * outputs * masses, ranges, masses) * totals[::-1]


@functools.lru_cache(maxsize=2)
def _class_matrices(rules: HoldemRules) -> tuple[np.ndarray, np.ndarray]:
    """Return two matrices: entry [r, c] is a sum over the hands of class r that a hand of class c can face.

    Returns
    -------
    margins : float32[169, 169]
        The sum of margins if both seats are all-in. A margin is the probability that the hand of class c wins, minus
        the probability that it loses.
    facing : float32[169, 169]
        The number of these hands.
    """
    classes = preflop_classes().astype(np.int64)
    first = np.array([np.flatnonzero(classes == number)[0] for number in range(NUM_CLASSES)])
    other = hand_classes(rules)[first]  # the same classes, numbered as in `all_in_margins`
    margins = all_in_margins(rules)[np.ix_(other, other)]
    cards = rules.combos.astype(np.int64)
    shares = (cards[first][:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    facing = _by_class((~shares).astype(np.float64), classes)
    return np.ascontiguousarray(margins.T, np.float32), np.ascontiguousarray(facing.T, np.float32)


def _by_class(rows: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return sums over the hands of each class: float64[..., 169]."""
    order = np.argsort(classes, kind="stable")
    return np.add.reduceat(rows[..., order], np.searchsorted(classes[order], np.arange(NUM_CLASSES)), axis=-1)
