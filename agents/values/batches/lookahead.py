"""Depth-limited solving of one street for many situations at once, by PyTorch.

All situations of a batch share the betting (`StreetShape`) and are solved in the same steps. On the last street, seat
0 learns before seat 1 (CFR+). On an earlier street, a network gives values at the street's ends, and both seats learn
simultaneously, as in `continual.lookahead.Lookahead`. That class is the slow and more exact twin of `BatchLookahead`;
tests compare the values of both.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END
from plurispiel.agents.values.batches.street_shape import StreetShape

__all__ = ["BatchLookahead", "BatchValues", "Residuals", "fold_masses", "precisely"]

Residuals = Callable[[Any], Any]
"""Maps both seats' reach at the street's E ends to the gain of later bets over checking down.

Both are float32 tensors [n, 2, E, H]. The gain is an expected value in pots at the end."""


class BatchValues(NamedTuple):
    """The values of best responses to the average strategies.

    Attributes
    ----------
    evs : float32 tensor [n, 2, H]
        Expected values of best responses, in pots at the root.
    slack : float32 tensor [n]
        Half of the sum of both seats' gains by best responses, in pots.
    """

    evs: Any
    slack: Any


def fold_masses(torch: Any, holds: Any, reach: Any) -> Any:
    """Return, for each row of `reach`, the weight of the hands that share no card with each hand.

    The result is a float32 tensor [n, X, H].

    Parameters
    ----------
    torch : module
    holds : float32 tensor [n, H, num_cards]
        1 where a hand holds a card. Each hand has two cards.
    reach : float32 tensor [n, X, H]
    """
    with precisely(torch):  # a hand's result is a difference of large sums, and may be small
        by_card = torch.bmm(reach, holds)
        return reach.sum(2, keepdim=True) - torch.bmm(by_card, holds.transpose(1, 2)) + reach


@contextlib.contextmanager
def precisely(torch: Any) -> Iterator[None]:
    """Compute products with all digits of float32, and not with the fewer digits of a GPU's matrix units."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


class BatchLookahead:
    """One street of n situations.

    Parameters
    ----------
    shape : StreetShape
    stakes : float32 tensor [n, num_nodes]
        As in `StreetStakes`.
    holds : float32 tensor [n, H, num_cards]
        As in `fold_masses`.
    margins : float32 tensor [n, H, H]
        As `margin_matrices` returns them.
    ranges : float32 tensor [n, 2, H]
        Rows sum to 1.
    residuals : callable, optional
        Needed if the street is not the last.
    omitted : int
        Iterations at the start that averages leave out. With `residuals` all others count equally; without, they count
        1, 2, 3 and so on.

    Attributes
    ----------
    iteration : int
    """

    def __init__(
        self,
        shape: StreetShape,
        stakes: Any,
        holds: Any,
        margins: Any,
        ranges: Any,
        residuals: Residuals | None = None,
        omitted: int = 0,
    ):
        self._torch = torch = importlib.import_module("torch")
        self._shape, self._stakes, self._holds, self._margins = shape, stakes, holds, margins
        self._ranges, self._residuals, self._omitted = ranges, residuals, omitted
        self._folds = shape.of_kind(FOLD_END)
        self._ends = shape.of_kind(STREET_END if residuals else SHOWDOWN)
        # Gathered now: a captured CUDA graph must not copy from the host.
        self._fold_stakes, self._end_stakes = (stakes[:, nodes][:, :, None] for nodes in (self._folds, self._ends))
        count, _, hands = ranges.shape
        self._regrets = torch.zeros((count, shape.num_actions, hands), device=ranges.device)
        self._sums = torch.zeros_like(self._regrets)
        self._number = torch.zeros((), device=ranges.device)
        self.iteration = 0
        self._graph: Any = None

    def run(self, count: int) -> None:
        """Run `count` iterations."""
        torch = self._torch
        left = count
        if self._ranges.device.type == "cuda" and count > 4 and self._graph is None:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._iterate()
                self._iterate()
            torch.cuda.current_stream().wait_stream(side)
            left -= 2
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._iterate()
        for _ in range(left):
            if self._graph is None:
                self._iterate()
            else:
                self._graph.replay()
        self.iteration += count

    def values(self) -> BatchValues:
        """Return the values of best responses to the average strategies so far."""
        torch = self._torch
        strategy, reach = self._down(self._sums)
        with precisely(torch):
            leaves = self._leaves(reach)
        facing = fold_masses(torch, self._holds, self._ranges.flip(1))
        evs, gains = [], []
        for seat in range(2):
            best, mean = self._measured(strategy, leaves, seat)
            evs.append(torch.where(facing[:, seat] > 1e-6, best / facing[:, seat].clamp(min=1e-30), 0.0))
            gains.append((self._ranges[:, seat] * (best - mean)).sum(1))
        pairs = (self._ranges[:, 0] * facing[:, 0]).sum(1).clamp(min=1e-30)
        return BatchValues(torch.stack(evs, 1), (gains[0] + gains[1]) / 2.0 / pairs)

    def chosen(self, places: Any) -> "BatchLookahead":
        """Return the lookahead of the situations numbered `places`, int64 tensor [m], as learnt so far.

        Only for a lookahead without `residuals`.
        """
        assert self._residuals is None
        found = BatchLookahead(
            self._shape,
            self._stakes[places],
            self._holds[places],
            self._margins[places],
            self._ranges[places],
            omitted=self._omitted,
        )
        found._regrets, found._sums = self._regrets[places], self._sums[places]
        found._number, found.iteration = self._number.clone(), self.iteration
        return found

    def _iterate(self) -> None:
        """Do one iteration of both seats."""
        torch = self._torch
        self._number += 1.0
        if self._residuals is not None:
            weight = (self._number > self._omitted).to(torch.float32)
            self._learn((0, 1), weight)
            return
        weight = (self._number - self._omitted).clamp(min=0.0)
        for seat in range(2):
            self._learn((seat,), weight)

    def _learn(self, seats: tuple[int, ...], weight: Any) -> None:
        torch, shape = self._torch, self._shape
        strategy, reach = self._down(self._regrets)
        leaves = self._leaves(reach, seats)
        for seat in seats:
            values = dict(leaves[seat])
            for node in reversed(shape.decisions):
                first, last = self._span(node)
                below = torch.stack([values.pop(child) for child in shape.children[node]], 1)
                if shape.kinds[node] != seat:
                    values[node] = below.sum(1)
                    continue
                mean = (strategy[:, first:last] * below).sum(1)
                values[node] = mean
                regrets = self._regrets[:, first:last]
                regrets += below - mean[:, None]
                regrets.clamp_(min=0.0)
                after = torch.stack([reach[child][seat] for child in shape.children[node]], 1)
                self._sums[:, first:last] += weight * after

    def _span(self, node: int) -> tuple[int, int]:
        first = self._shape.first[node]
        return first, first + len(self._shape.children[node])

    def _down(self, weights: Any) -> tuple[Any, dict[int, list[Any]]]:
        """Return the strategies that are proportional to weights, and both seats' reach at each node."""
        torch, shape = self._torch, self._shape
        strategy = torch.empty_like(weights)
        reach = {0: [self._ranges[:, 0], self._ranges[:, 1]]}
        for node in shape.decisions:
            first, last = self._span(node)
            here = weights[:, first:last]
            total = here.sum(1, keepdim=True)
            share = torch.where(total > 0.0, here / total.clamp(min=1e-30), 1.0 / (last - first))
            strategy[:, first:last] = share
            actor = shape.kinds[node]
            after = reach[node][actor][:, None] * share
            for number, child in enumerate(shape.children[node]):
                reach[child] = list(reach[node])
                reach[child][actor] = after[:, number]
        return strategy, reach

    def _leaves(self, reach: dict[int, list[Any]], seats: tuple[int, ...] = (0, 1)) -> dict[int, dict[int, Any]]:
        """Return counterfactual values at nodes without actions: for each seat and node, a float32 tensor [n, H]."""
        torch = self._torch
        found: dict[int, dict[int, Any]] = {seat: {} for seat in seats}
        for seat in seats:
            sign = 1.0 if seat == 0 else -1.0
            other = torch.stack([reach[node][1 - seat] for node in self._folds], 1)
            masses = fold_masses(torch, self._holds, other) * (sign * self._fold_stakes)
            found[seat] |= {node: masses[:, number] for number, node in enumerate(self._folds)}
        at_ends = [torch.stack([reach[node][seat] for node in self._ends], 1) for seat in range(2)]
        stakes = self._end_stakes
        # Rows of `margins` are the seat's own hands, and columns the other seat's hands.
        other = torch.cat([at_ends[1 - seat] for seat in seats], 1)
        margins = torch.bmm(other, self._margins.transpose(1, 2)).split(len(self._ends), 1)
        added = None if self._residuals is None else self._residuals(torch.stack(at_ends, 1))
        for row, seat in enumerate(seats):
            values = margins[row] * stakes
            if added is not None:
                masses = fold_masses(torch, self._holds, at_ends[1 - seat])
                values = values + 2.0 * stakes * masses * added[:, seat]
            found[seat] |= {node: values[:, number] for number, node in enumerate(self._ends)}
        return found

    def _measured(self, strategy: Any, leaves: dict[int, dict[int, Any]], seat: int) -> tuple[Any, Any]:
        """Return a seat's values at the root: those of its best response, and those of its strategy."""
        torch, shape = self._torch, self._shape
        both = []
        for is_best in (True, False):
            values = dict(leaves[seat])
            for node in reversed(shape.decisions):
                first, last = self._span(node)
                below = torch.stack([values.pop(child) for child in shape.children[node]], 1)
                if shape.kinds[node] != seat:
                    values[node] = below.sum(1)
                elif is_best:
                    values[node] = below.max(1).values
                else:
                    values[node] = (strategy[:, first:last] * below).sum(1)
            both.append(values[0])
        return both[0], both[1]
