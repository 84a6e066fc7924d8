"""One iteration of public chance sampling on a betting tree for two, for all hands at once. Needs PyTorch.

The nodes of each depth of the tree form a *level*. Ranges and values of a level are matrices, with a row for each node
and a column for each hand that is possible on the sampled board. Ranges are computed from the root down, values from
the ends up. All hands of a bucket share the strategy of a row.

References
----------
M. Johanson, N. Bard, M. Lanctot, R. Gibson, M. Bowling: Efficient Nash Equilibrium Approximation through Monte Carlo
Counterfactual Regret Minimization. AAMAS (2012), section 3.
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.public_boards import PublicBoard, num_hands


class _Decisions(NamedTuple):
    """Neighbouring decisions of a level with the same seat, street and number of actions."""

    nodes: slice
    seat: int
    street: int
    num_actions: int
    pairs: slice  # their rows in the street's table
    children: torch.Tensor  # the places of all their children in the level below, decision by decision
    played: torch.Tensor  # [decisions, actions, hands]: the strategy of each hand


class _Ends(NamedTuple):
    """Neighbouring ends of a level: folds, or showdowns."""

    nodes: slice
    shown: bool
    chips: torch.Tensor  # [ends, 2, 1]: chips that seat 1, then seat 0, wins at the fold or with the better hand


class _TreeLevel(NamedTuple):
    """The nodes of one depth.

    `ranges` is [nodes, 2, hands], by seat. `values` has the same shape, but the value of seat s stands at 1 - s: a
    seat's value at an end is a product of the other seat's range.
    """

    decisions: list[_Decisions]
    ends: list[_Ends]
    ranges: torch.Tensor
    values: torch.Tensor


class PublicTables:
    """Regrets and strategy sums of both seats, updated by one sampled board after another.

    Parameters
    ----------
    rules : HoldemRules
        For two seats.
    tree : BettingTree
    num_buckets : tuple of int
        Number of buckets of each street.
    device : str
        A device of PyTorch.
    double : bool
        Whether all numbers are float64 instead of float32.

    Attributes
    ----------
    regrets, sums : list of Tensor [pairs, num_buckets]
        For each street the regrets, and the sums of current strategies weighted by the reach of their seat. A pair is a
        decision and one of its actions. A regret is in chips, summed over the pairs of both hands and weighted.
    pairs : list of int64[pairs]
        For each street, the place of each row of these tables among the pairs of the betting tree (`BettingTree.row`).
    shapes : list of tuple of int
        The shape of each street's tables.
    """

    def __init__(
        self, rules: HoldemRules, tree: BettingTree, num_buckets: tuple[int, ...], device: str, *, double: bool
    ):
        hands, hole = num_hands(rules), rules.num_hole_cards
        self._device = torch.device(device)
        self._type = torch.float64 if double else torch.float32
        self._levels: list[_TreeLevel] = []
        self.pairs: list[np.ndarray] = []
        self._lay_out(tree, len(num_buckets), hands)
        self._places_of = [self._places(np.argsort(pairs)) for pairs in self.pairs]
        self.shapes = [(len(pairs), buckets) for pairs, buckets in zip(self.pairs, num_buckets, strict=True)]
        self.regrets = [self._zeros(*shape) for shape in self.shapes]
        self.sums = [self._zeros(*shape) for shape in self.shapes]
        self._current = [self._zeros(*shape) for shape in self.shapes]
        self._weights = self._zeros(2)  # of the regrets and of the sums
        self._holes = torch.zeros((hands, hole), dtype=torch.int32, device=self._device)
        self._ranks = torch.zeros(hands, dtype=torch.int32, device=self._device)
        self._buckets = torch.zeros((len(num_buckets), hands), dtype=torch.int64, device=self._device)
        self._graph: torch.cuda.CUDAGraph | None = None

    def update(self, board: PublicBoard, regret_weight: float, sum_weight: float) -> None:
        """Add the regrets and strategies of one board to the tables, with the weights given."""
        self._holes.copy_(torch.from_numpy(board.holes))
        self._ranks.copy_(torch.from_numpy(board.ranks))
        self._buckets.copy_(torch.from_numpy(board.buckets))
        if self._device.type == "cuda" and self._graph is None:
            self._record()
        self._weights.copy_(torch.tensor([regret_weight, sum_weight], dtype=self._type))
        if self._graph is not None:
            self._graph.replay()
        else:
            self._iterate()

    def wait(self) -> None:
        """Wait until all updates are done."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def read(self, kind: str, street: int, part: slice) -> np.ndarray:
        """Return a part of a street's ``regrets`` or ``sums``, in the order of `BettingTree.row`: float[n, buckets]."""
        table, places = getattr(self, kind)[street], self._places_of[street][part]
        if len(places) == len(table):  # the GPU may lack the memory for a second table
            return table.cpu().numpy()[places.cpu().numpy()]
        return table[places].cpu().numpy()

    def write(self, kind: str, street: int, values: np.ndarray) -> None:
        """Replace a street's ``regrets`` or ``sums``, given in the order of `BettingTree.row`."""
        getattr(self, kind)[street].copy_(torch.from_numpy(values[self.pairs[street]]))

    def clear_sums(self) -> None:
        """Set the strategy sums to 0."""
        for table in self.sums:
            table.zero_()

    def _record(self) -> None:
        """Record the kernels of an iteration: launching its thousands of small kernels would take longer than they."""
        self._weights.zero_()  # the trial runs change nothing
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._iterate()
            self._iterate()
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._iterate()

    @torch.no_grad()
    def _iterate(self) -> None:
        apart = torch.ones((len(self._holes),) * 2, dtype=torch.bool, device=self._device)
        for mine in self._holes.T:
            for other in self._holes.T:
                apart &= mine[:, None] != other[None]
        # With the weight in the two matrices, values and regrets are weighted.
        folds = apart.to(self._type) * self._weights[0]
        # Entry (h', h) is the sign of hand h's win against h'.
        showdowns = torch.sign(self._ranks[None] - self._ranks[:, None]) * folds
        members = [
            (each[:, None] == torch.arange(table.shape[1], device=self._device)).to(self._type)
            for each, table in zip(self._buckets, self.regrets, strict=True)
        ]
        for street, parts in enumerate(self._by_actions):
            for num_actions, part in parts:
                shape = (-1, num_actions, self.regrets[street].shape[1])
                current = self._current[street][part].view(shape)
                torch.clamp(self.regrets[street][part].view(shape), min=0.0, out=current)
                current += current.sum(1, keepdim=True) == 0.0  # without a positive regret: uniform
                current /= current.sum(1, keepdim=True)
        self._levels[0].ranges.fill_(1.0)
        with _tensor_cores():
            for depth, level in enumerate(self._levels):
                for group in level.decisions:
                    self._add_strategies(level, group, members[group.street])
                    self._pass_ranges(level, self._levels[depth + 1], group, members[group.street])
            for depth, level in reversed(list(enumerate(self._levels))):
                for ends in level.ends:
                    values = level.values[ends.nodes]
                    hands = values.shape[2]
                    ranges = level.ranges[ends.nodes].view(-1, hands)
                    torch.mm(ranges, showdowns if ends.shown else folds, out=values.view(-1, hands))
                    values.mul_(ends.chips)
                for group in level.decisions:
                    self._pass_values(level, self._levels[depth + 1], group, members[group.street])

    def _add_strategies(self, level: _TreeLevel, group: _Decisions, members: torch.Tensor) -> None:
        reach = level.ranges[group.nodes, group.seat] @ members * self._weights[1]
        self._by_decision(self.sums, group).addcmul_(reach[:, None], self._by_decision(self._current, group))

    def _pass_ranges(self, level: _TreeLevel, below: _TreeLevel, group: _Decisions, members: torch.Tensor) -> None:
        """Write the ranges of a group's children."""
        played = group.played
        torch.mm(self._current[group.street][group.pairs], members.T, out=played.view(-1, played.shape[2]))
        ranges = level.ranges[group.nodes, None].repeat(1, group.num_actions, 1, 1)
        ranges[:, :, group.seat].mul_(group.played)
        below.ranges.index_copy_(0, group.children, ranges.view(-1, 2, ranges.shape[3]))

    def _pass_values(self, level: _TreeLevel, below: _TreeLevel, group: _Decisions, members: torch.Tensor) -> None:
        """Write the values of a group from those of its children, and add its regrets."""
        values = below.values.index_select(0, group.children)
        current, regrets = (self._by_decision(tables, group) for tables in (self._current, self.regrets))
        own = 1 - group.seat  # the place of the seat's values
        by_bucket = (values[:, own] @ members).view(current.shape)
        regrets.add_(by_bucket)
        regrets.sub_(by_bucket.mul_(current).sum(1, keepdim=True))
        values = values.view(-1, group.num_actions, 2, values.shape[2])
        values[:, :, own].mul_(group.played)
        torch.sum(values, 1, out=level.values[group.nodes])

    def _by_decision(self, tables: list[torch.Tensor], group: _Decisions) -> torch.Tensor:
        """Return a group's part of its street's table: [decisions, actions, buckets], without a copy."""
        table = tables[group.street][group.pairs]
        return table.view(-1, group.num_actions, table.shape[1])

    def _zeros(self, *shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=self._type, device=self._device)

    def _places(self, numbers: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(numbers.astype(np.int64)).to(self._device)

    def _lay_out(self, tree: BettingTree, num_streets: int, hands: int) -> None:
        """Order the nodes of each level so that nodes that are treated alike are neighbours."""
        levels = _levels(tree)
        place = np.zeros(len(tree.actor), np.int64)  # of each node in its level
        for nodes in levels:
            place[nodes] = np.arange(len(nodes))
        # The table of a street has its decisions by their number of actions, then level by level.
        rows = np.zeros(len(tree.actor), np.int64)  # the first row of each decision
        self.pairs, self._by_actions = [], []
        deciding = np.concatenate(levels)
        for street in range(num_streets):
            nodes = deciding[(tree.street[deciding] == street) & (tree.actor[deciding] >= 0)]
            nodes = nodes[np.argsort(tree.num_actions[nodes], kind="stable")]
            counts = tree.num_actions[nodes].astype(np.int64)
            rows[nodes] = np.cumsum(counts) - counts
            self.pairs.append(np.repeat(tree.row[nodes] - rows[nodes], counts) + np.arange(counts.sum()))
            parts = [(int(counts[part][0]), counts[part].sum()) for part in _runs(counts[None])] if len(nodes) else []
            stops = np.cumsum([0, *(size for _, size in parts)]).tolist()
            self._by_actions.append([(actions, slice(*stops[k : k + 2])) for k, (actions, _) in enumerate(parts)])
        for nodes in levels:
            decisions, ends = [], []
            for group in _runs(_kinds(tree, nodes)):
                members = nodes[group]
                first = int(members[0])
                actions = int(tree.num_actions[first])
                if not actions:
                    shown = not tree.folded[tree.first_child[first]]
                    chips = torch.from_numpy(_chips(tree, members, shown=shown))
                    ends.append(_Ends(group, shown, chips.to(self._device, self._type)))
                    continue
                children = (tree.first_child[members].astype(np.int64)[:, None] + np.arange(actions)).ravel()
                decisions.append(
                    _Decisions(
                        group,
                        int(tree.actor[first]),
                        int(tree.street[first]),
                        actions,
                        slice(int(rows[first]), int(rows[first]) + len(children)),
                        torch.from_numpy(place[children]).to(self._device),
                        self._zeros(len(members), actions, hands),
                    )
                )
            size = (len(nodes), 2, hands)
            self._levels.append(_TreeLevel(decisions, ends, self._zeros(*size), self._zeros(*size)))


def gpu_name() -> str:
    """Return the name of the GPU.

    Raises
    ------
    ValueError
        If PyTorch finds no GPU.
    """
    if not torch.cuda.is_available():
        raise ValueError("PyTorch finds no NVIDIA GPU here; take device cpu")
    return torch.cuda.get_device_name()


@contextlib.contextmanager
def torch_limits(threads: int) -> Iterator[None]:
    """Run a block with so many threads of PyTorch, and restore their number afterwards.

    Raises
    ------
    MemoryError
        If PyTorch finds too little memory. Its own error would be a RuntimeError.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    except RuntimeError as error:
        text = str(error).partition("\n")[0]
        if isinstance(error, torch.cuda.OutOfMemoryError) or "allocate memory" in text:
            raise MemoryError(text) from None
        raise
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def _tensor_cores() -> Iterator[None]:
    """Allow TF32 in products on a GPU: factors are rounded to 11 bits, sums are float32.

    The rounding is far smaller than the noise of the sampled boards, and than that of finished rows, which have 8 bits.
    """
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _levels(tree: BettingTree) -> list[np.ndarray]:
    """Return the nodes of each depth, those of one kind (`_kinds`) side by side: int64[n] each."""
    levels = []
    nodes = np.zeros(1, np.int64)
    while len(nodes):
        nodes = nodes[np.lexsort(_kinds(tree, nodes))]
        levels.append(nodes)
        decisions = nodes[tree.actor[nodes] >= 0]
        counts = tree.num_actions[decisions].astype(np.int64)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        nodes = np.repeat(tree.first_child[decisions].astype(np.int64), counts) + offsets
    return levels


def _kinds(tree: BettingTree, nodes: np.ndarray) -> np.ndarray:
    """Return numbers that are equal for nodes that are treated alike: int64[4, n]."""
    decides = tree.actor[nodes] >= 0
    folded = ~decides & (tree.folded[np.where(decides, 0, tree.first_child[nodes])] > 0)
    street = np.where(decides, tree.street[nodes], 0)
    return np.array([folded, tree.actor[nodes], street, tree.num_actions[nodes]], np.int64)


def _chips(tree: BettingTree, nodes: np.ndarray, *, shown: bool) -> np.ndarray:
    """Return the chips that seat 1, then seat 0, wins at folds or with the better hand: float64[n, 2, 1]."""
    numbers = tree.first_child[nodes]
    paid, folded = tree.contributions[numbers].astype(np.float64), tree.folded[numbers]
    if shown:
        stake = paid.min(axis=1)  # what the other seat cannot match is returned
        return np.stack([stake, stake], axis=1)[:, :, None]
    first = np.where(folded == 1, -paid[:, 0], paid[:, 1])
    return np.stack([-first, first], axis=1)[:, :, None]


def _runs(keys: np.ndarray) -> list[slice]:
    """Return the runs of equal columns of a table."""
    changes = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    bounds = [0, *changes.tolist(), keys.shape[1]]
    return [slice(first, last) for first, last in zip(bounds[:-1], bounds[1:], strict=True)]
