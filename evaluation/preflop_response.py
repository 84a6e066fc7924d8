"""Best responses in a whole heads-up game, from values at its flops: exact from all flops, with limits from a sample.

Before the flop a response is chosen for classes of hands: two combos are of one class if a renaming of suits turns one
into the other, 169 classes in hold'em. The values of a flop are averaged over the combos of each class; this equals
their mean over all renamings of the flop's suits. A response chosen for each combo by itself would fit the suits that
happened to be drawn. Its value on the drawn flops would be overstated more than that of a response by classes.

Let b be the number of flops in the deck (22,100), and c the number of flops that two given hands leave possible
(17,296). A drawn flop has the weight b / c for a pair of hands if the flop and both hands have no card in common, else
0. A pair's weights are not scaled to a fixed sum, so that the mean over drawn flops has the right expectation. Hands
that end before the flop have their exact value.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem.all_in_margins import all_in_margins, hand_classes
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.evaluation.flop_best_response import StrategyRows

__all__ = ["DrawnFlops", "ResponseLimits", "PreflopResponse", "draw_flops"]

LEVEL = 0.95
NUM_FOLDS = 10
"""Largest number of parts of the drawn flops in cross-validation: a response is chosen on all parts but one, and valued
on the part left out."""
_MAX_DRAWN = 1_000_000


class DrawnFlops(NamedTuple):
    """The flops of a measurement.

    Attributes
    ----------
    class_ids : int64[num_flops]
        The class of each flop in the order of the draws, as in `boards.board_classes`; with all flops, every class.
    weights : float64[num_flops]
        The share of each flop in the mean; the shares sum to 1.
    is_whole : bool
        Whether every class is there, weighted by its size.
    """

    class_ids: np.ndarray
    weights: np.ndarray
    is_whole: bool


@dataclass(frozen=True)
class ResponseLimits:
    """The winnings of best responses, in chips per hand; all entries but `values` are means over the two seats.

    Attributes
    ----------
    values : tuple of float
        The winnings of each seat's response on the flops on which it was chosen.
    upper : float
        The mean of `values`. With all flops it is the exploitability, else too large in expectation.
    upper_limit : float or None
        One-sided 95 % upper limit of the exploitability. With all flops it is `upper`; None for a single drawn flop.
    lower : float or None
        The winnings of responses on flops that did not help to choose them; too small in expectation. With all flops it
        is `upper`; None for a single drawn flop.
    lower_limit : float or None
        One-sided 95 % lower limit of the exploitability. With all flops it is `upper`; None for a single drawn flop.
    """

    values: tuple[float, float]
    upper: float
    upper_limit: float | None
    lower: float | None
    lower_limit: float | None


def draw_flops(rules: HoldemRules, count: int | None, seed: int) -> DrawnFlops:
    """Return `count` independent draws of a flop, or all classes of flops if `count` is None.

    A class is drawn with a probability proportional to its number of flops.

    Raises
    ------
    ValueError
        If `count` is not 1 to 1,000,000.
    """
    sizes = board_classes(rules.board_size(1), rules.num_suits, rules.num_ranks).sizes
    shares = sizes / sizes.sum()
    if count is None:
        return DrawnFlops(np.arange(len(sizes)), shares, True)
    if not 1 <= count <= _MAX_DRAWN:
        raise ValueError(f"flops must be 1 to {_MAX_DRAWN:,}, or all, got {count:,}")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    return DrawnFlops(rng.choice(len(sizes), count, p=shares), np.full(count, 1.0 / count), False)


_Choice = dict[int, np.ndarray]
"""A response before the flop: for each decision of its seat, the index of each class's action, int64[num_classes]."""


class PreflopResponse:
    """Chooses and values best responses in the betting before the flop, given the values at the flops.

    Parameters
    ----------
    rules : HoldemRules
    tree : BettingTree
    rows : StrategyRows
    roots : int64[num_roots]
        The nodes of the tree at which the flop begins.

    Attributes
    ----------
    reach : float64[2, num_roots, num_combos]
        Each seat's reach of each root, by its own strategy, for each of its combos.
    num_classes : int
        Number of classes of hands.
    """

    def __init__(self, rules: HoldemRules, tree: BettingTree, rows: StrategyRows, roots: np.ndarray):
        self._rules, self._tree = rules, tree
        self._roots = {node: number for number, node in enumerate(roots.tolist())}
        self._classes = hand_classes(rules)
        self._sizes = np.bincount(self._classes)
        self.num_classes = len(self._sizes)
        self._hands = rank_hands(rules, ())
        self.reach = np.zeros((2, len(roots), rules.num_combos))
        self._ends: tuple[dict[int, np.ndarray], dict[int, np.ndarray]] = ({}, {})
        self._fill(rows, 0, np.ones((2, rules.num_combos)))
        deck, hole = len(rules.cards), rules.num_hole_cards
        size = rules.board_size(1)
        self._pairs = rules.num_combos * math.comb(deck - hole, hole)
        self._weight = math.comb(deck, size) / math.comb(deck - 2 * hole, size)

    def by_class(self, values: np.ndarray) -> np.ndarray:
        """Return the means of a flop's values over the combos of each class, times b / c (see the module's docstring).

        Parameters
        ----------
        values : float64[2, num_roots, num_combos]
            See `FlopBestResponse.values`.

        Returns
        -------
        float64[2, num_roots, num_classes]
        """
        return self._weight * self._means(values)

    def limits(self, values: np.ndarray, flops: DrawnFlops) -> ResponseLimits:
        """Return the winnings of best responses on some flops.

        Parameters
        ----------
        values : float64[num_flops, 2, num_roots, num_classes]
            The result of `by_class` for each flop of `flops`.
        """
        choices = [self._choose(seat, np.einsum("f,frc->rc", flops.weights, values[:, seat])) for seat in range(2)]
        won = np.stack([self._worth(seat, choices[seat], values[:, seat]) for seat in range(2)])
        means = won @ flops.weights
        upper = float(means.mean())
        both = (float(means[0]), float(means[1]))
        count = len(values)
        if flops.is_whole:
            return ResponseLimits(both, upper, upper, upper, upper)
        if count == 1:
            return ResponseLimits(both, upper, None, None, None)
        folds = np.arange(count) % min(NUM_FOLDS, count)
        left_out = np.empty((2, count))
        for fold in range(folds.max() + 1):
            here = folds == fold
            for seat in range(2):
                choice = self._choose(seat, values[~here, seat].mean(axis=0))
                left_out[seat, here] = self._worth(seat, choice, values[here, seat])
        low = left_out.mean(axis=0)
        from scipy.special import stdtrit  # imported here: most commands do without

        quantile = float(stdtrit(count - 1, LEVEL)) / math.sqrt(count)
        upper_limit = upper + quantile * float(won.mean(axis=0).std(ddof=1))
        lower = float(low.mean())
        return ResponseLimits(both, upper, upper_limit, lower, lower - quantile * float(low.std(ddof=1)))

    def _means(self, values: np.ndarray) -> np.ndarray:
        """Return the means of values over the combos of each class: float64[..., num_classes]."""
        order = np.argsort(self._classes, kind="stable")
        return np.add.reduceat(values[..., order], np.cumsum(self._sizes) - self._sizes, axis=-1) / self._sizes

    def _fill(self, rows: StrategyRows, node: int, reach: np.ndarray) -> None:
        """Store both seats' reach at the roots below a node, and their values where the hand ends before the flop."""
        tree = self._tree
        seat = int(tree.actor[node])
        if node in self._roots:
            self.reach[:, self._roots[node]] = reach
        elif seat < 0:
            end = tree.first_child[node]
            chips, folded = float(tree.contributions[end].min()), int(tree.folded[end])
            for responder in range(2):
                others = reach[1 - responder]
                if folded:
                    won = -chips if folded >> responder & 1 else chips
                    mass = np.empty(len(others))
                    mass[self._hands.combos] = fold_mass(self._hands, others[self._hands.combos])
                    self._ends[responder][node] = won * self._means(mass)
                else:
                    self._ends[responder][node] = chips * (all_in_margins(self._rules) @ self._means(others))
        else:
            strategy = rows.preflop(node)
            first = int(tree.first_child[node])
            for place in range(int(tree.num_actions[node])):
                below = reach.copy()
                below[seat] *= strategy[:, place]
                self._fill(rows, first + place, below)

    def _choose(self, seat: int, values: np.ndarray) -> _Choice:
        """Return a seat's best response for values at the roots: float64[num_roots, num_classes]."""
        actions: _Choice = {}

        def best(node: int) -> np.ndarray:
            if node in self._roots:
                return values[self._roots[node]]
            if node in self._ends[seat]:
                return self._ends[seat][node]
            first = int(self._tree.first_child[node])
            below = np.stack([best(first + place) for place in range(int(self._tree.num_actions[node]))])
            if self._tree.actor[node] != seat:
                return below.sum(axis=0)
            actions[node] = below.argmax(axis=0)
            return below.max(axis=0)

        best(0)
        return actions

    def _worth(self, seat: int, choice: _Choice, values: np.ndarray) -> np.ndarray:
        """Return the winnings of a response on each flop, in chips per hand.

        Parameters
        ----------
        values : float64[num_flops, num_roots, num_classes]

        Returns
        -------
        float64[num_flops]
        """

        def worth(node: int) -> np.ndarray:
            if node in self._roots:
                return values[:, self._roots[node]]
            if node in self._ends[seat]:
                return np.broadcast_to(self._ends[seat][node], (len(values), len(self._sizes)))
            first = int(self._tree.first_child[node])
            below = np.stack([worth(first + place) for place in range(int(self._tree.num_actions[node]))])
            if self._tree.actor[node] != seat:
                return below.sum(axis=0)
            chosen = choice[node]
            return np.take_along_axis(below, chosen[None, None], axis=0)[0]

        return worth(0) @ self._sizes / self._pairs
