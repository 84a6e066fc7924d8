"""Computes the values of many drawn situations: exact on the last street, depth-limited before it, or distilled."""

import importlib
import math
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.values.batches.hand_orders import HandOrders, bin_matrices, margin_matrices, run_outs
from plurispiel.agents.values.batches.lookahead import BatchLookahead, fold_masses, precisely
from plurispiel.agents.values.batches.networks import BatchNet, net_inputs
from plurispiel.agents.values.batches.street_shape import StreetShape, street_of
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.training_set import TrainingSet

__all__ = ["BatchSolver", "SolvedBatch", "Start"]

LEAST_MASS = 1e-6
"""A hand has the value 0 if its compatible hands in the other range weigh less: float32 cannot resolve such weights."""

_FIRST_CHECK, _MOST_ITERATIONS = 200, 400
_DEPTH_LIMITED = 160
_AT_ONCE = 1_000
_RUN_OUTS_AT_ONCE = 6_000


class Start(NamedTuple):
    """Drawn situations at one level, n of them; hands are in the order of `ordered_hands`.

    Attributes
    ----------
    boards : uint8[n, num_cards]
    contributions : int64[n]
        The chips that each seat has put into the pot.
    roots : float16[n, 2, H]
        Square roots of the weights in both ranges.
    """

    boards: np.ndarray
    contributions: np.ndarray
    roots: np.ndarray

    def chosen(self, rows: np.ndarray) -> "Start":
        """Return the situations numbered `rows`."""
        return Start(*(each[rows] for each in self))


class SolvedBatch(NamedTuple):
    """The values of a `Start`, as in `Situations`.

    Attributes
    ----------
    evs : float16[n, 2, H]
    slack : float32[n]
    iterations : int32[n]
    """

    evs: np.ndarray
    slack: np.ndarray
    iterations: np.ndarray


class _BoardTensors(NamedTuple):
    """Tensors of situations, as `fold_masses` and `net_inputs` take them; `combos` has the hands of each board."""

    combos: Any
    ranges: Any
    holds: Any
    bins: Any
    features: Any


class BatchSolver:
    """Values of situations of one level, on a device.

    Parameters
    ----------
    level : Level
        In no-limit hold'em of two seats.
    orders : HandOrders
    teacher : BatchNet, optional
        At the start of a street that is not the last: the network for the street's end. At the end of a street: the
        network for the start of the next one.
    """

    def __init__(self, level: Level, orders: HandOrders, teacher: BatchNet | None = None):
        self._torch = importlib.import_module("torch")
        self._level, self._orders, self._teacher = level, orders, teacher
        self._rules: HoldemRules = level.rules
        self._cards = self._there(np.array(level.rules.combos)).long()

    def solve(self, start: Start) -> SolvedBatch:
        """Return the values of situations at the start of a street."""
        shapes: dict[StreetShape, list[int]] = {}
        for number, contribution in enumerate(start.contributions.tolist()):
            shapes.setdefault(street_of(self._level, contribution)[0], []).append(number)
        count = len(start.boards)
        found = SolvedBatch(
            np.empty(start.roots.shape, np.float16), np.empty(count, np.float32), np.empty(count, np.int32)
        )
        for shape, numbers in shapes.items():
            for first in range(0, len(numbers), _AT_ONCE):
                rows = np.array(numbers[first : first + _AT_ONCE])
                here = self._solve(shape, start.chosen(rows))
                for whole, part in zip(found, here, strict=True):
                    whole[rows] = part
        return found

    def distil(self, start: Start) -> SolvedBatch:
        """Return values at the end of a street: means of the teacher's values over all boards of the next street."""
        count = len(start.boards)
        size = self._rules.board_size(self._level.next_street)
        boards = run_outs(self._rules, start.boards[:1], size).shape[1]
        step = max(1, _RUN_OUTS_AT_ONCE // boards)
        evs = np.empty(start.roots.shape, np.float16)
        for first in range(0, count, step):
            rows = np.arange(first, min(count, first + step))
            evs[rows] = self._distil(start.chosen(rows)).cpu().numpy()
        return SolvedBatch(evs, np.zeros(count, np.float32), np.zeros(count, np.int32))

    def encode(self, start: Start, solved: SolvedBatch, num_bins: int) -> TrainingSet:
        """Return situations as a network is trained on them (`training_set.encode`), as tensors on the device."""
        parts = []
        for first in range(0, len(start.boards), _AT_ONCE):
            rows = np.arange(first, min(len(start.boards), first + _AT_ONCE))
            parts.append(self._encode(start.chosen(rows), solved.evs[rows], num_bins))
        return TrainingSet(*(self._torch.cat(column) for column in zip(*parts, strict=True)))

    def net_evs(self, start: Start, net: BatchNet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the arrays of `validation.net_evs`."""
        found: tuple[list[np.ndarray], ...] = ([], [], [])
        for first in range(0, len(start.boards), _AT_ONCE):
            some = start.chosen(np.arange(first, min(len(start.boards), first + _AT_ONCE)))
            board, spr = self._board(some, net.num_bins), self._spr(some)[:, None]
            masses = fold_masses(self._torch, board.holds, board.ranges.flip(1))
            masses = masses * (masses > LEAST_MASS)
            down = self._checkdown(board, self._margins(some, board))
            added = net.residuals(board.bins, board.holds, board.ranges[:, :, None], spr, board.features)[:, :, 0]
            for rows, each in zip(found, (down + added, down, masses), strict=True):
                rows.append(each.cpu().numpy().astype(np.float64))
        evs, down, masses = (np.concatenate(rows) for rows in found)
        return evs, down, masses

    def _solve(self, shape: StreetShape, start: Start) -> SolvedBatch:
        torch = self._torch
        board = self._board(start, self._teacher.num_bins if self._teacher else 2)
        streets = [street_of(self._level, each)[1] for each in start.contributions.tolist()]
        stakes = self._there(np.stack([each.stakes for each in streets]))
        margins = self._margins(start, board)
        if self._teacher is None:
            return self._exactly(shape, start, board, stakes, margins)
        spr = self._there(np.stack([each.spr for each in streets]))
        places = torch.nonzero(spr.max(0).values > 0.0)[:, 0]
        teacher = self._teacher

        def residuals(reach: Any) -> Any:
            found = torch.zeros_like(reach)
            seen = reach.index_select(2, places)
            added = teacher.residuals(board.bins, board.holds, seen, spr.index_select(1, places), board.features)
            return found.index_copy(2, places, added)

        half = _DEPTH_LIMITED // 2
        lookahead = BatchLookahead(shape, stakes, board.holds, margins, board.ranges, residuals, half)
        lookahead.run(_DEPTH_LIMITED)
        values = lookahead.values()
        return SolvedBatch(
            values.evs.to(torch.float16).cpu().numpy(),
            values.slack.cpu().numpy(),
            np.full(len(start.boards), _DEPTH_LIMITED, np.int32),
        )

    def _exactly(
        self, shape: StreetShape, start: Start, board: _BoardTensors, stakes: Any, margins: Any
    ) -> SolvedBatch:
        """Solve the last street. A situation leaves the batch at the first check within the level's tolerance.

        Checks are after 200 and 400 iterations; the latter is the limit.
        """
        torch, count = self._torch, len(start.boards)
        stacks = self._rules.stacks
        assert stacks is not None
        spr = (stacks[0] - start.contributions) / (2.0 * start.contributions)
        allowed = self._there(self._level.tolerance * (1.0 + np.minimum(spr, 2.0)))
        lookahead = BatchLookahead(shape, stakes, board.holds, margins, board.ranges)
        evs = torch.empty_like(board.ranges)
        slack = torch.empty(count, device=evs.device)
        iterations = np.empty(count, np.int32)
        left = torch.arange(count, device=evs.device)
        target = _FIRST_CHECK
        while len(left):
            lookahead.run(target - lookahead.iteration)
            values = lookahead.values()
            evs[left], slack[left] = values.evs, values.slack
            iterations[left.cpu().numpy()] = lookahead.iteration
            open_ = torch.nonzero(values.slack > allowed[left])[:, 0]
            if target >= _MOST_ITERATIONS or not len(open_):
                break
            lookahead, left = lookahead.chosen(open_), left[open_]
            target *= 2
        return SolvedBatch(evs.to(torch.float16).cpu().numpy(), slack.cpu().numpy(), iterations)

    def _distil(self, start: Start) -> Any:
        """Return expected values in pots: float16 tensor [n, 2, H]."""
        torch, rules, teacher = self._torch, self._rules, self._teacher
        assert teacher is not None
        board = self._board(start, 2)
        after = run_outs(rules, start.boards, rules.board_size(self._level.next_street))
        count, boards, size = after.shape
        flat = after.reshape(-1, size)
        ranks = self._orders.ranks(flat, board.combos.repeat_interleave(boards, 0))
        bins = bin_matrices(torch, ranks, teacher.num_bins)
        live = (ranks >= 0).to(torch.float32)[:, None]
        features = self._there(_features(rules, flat))
        holds = board.holds.repeat_interleave(boards, 0)
        reach = board.ranges.repeat_interleave(boards, 0) * live
        spr = self._spr(start)
        added = teacher.residuals(bins, holds, reach[:, :, None], spr.repeat_interleave(boards)[:, None], features)
        masses = fold_masses(torch, holds, reach.flip(1)).clamp(min=0.0)
        values = (added[:, :, 0] * masses * live).reshape(count, boards, 2, -1).sum(1)
        left = len(rules.cards) - start.boards.shape[1] - 2 * rules.num_hole_cards
        facing = fold_masses(torch, board.holds, board.ranges.flip(1))
        scale = math.comb(left, size - start.boards.shape[1]) * facing
        residual = torch.where(facing > LEAST_MASS, values / scale.clamp(min=1e-30), 0.0)
        return (self._checkdown(board, self._margins(start, board)) + residual).to(torch.float16)

    def _encode(self, start: Start, evs: np.ndarray, num_bins: int) -> TrainingSet:
        torch = self._torch
        board = self._board(start, num_bins)
        masses = fold_masses(torch, board.holds, board.ranges.flip(1)).clamp(min=0.0)
        exact = torch.from_numpy(evs).to(masses.device).to(torch.float32)
        residuals = exact - self._checkdown(board, self._margins(start, board))
        possible = (masses > LEAST_MASS).to(torch.float32)
        rows = torch.cat([possible, residuals * possible, board.ranges * masses], 1)
        hands, sums, weights = torch.bmm(rows, board.bins).split(2, 1)
        targets = torch.where(hands > 1e-6, sums / hands.clamp(min=1e-6), 0.0)
        spr = self._spr(start)
        inputs = net_inputs(torch, board.bins, board.ranges[:, :, None], spr[:, None], board.features)[:, 0]
        total = weights.sum((1, 2), keepdim=True).clamp(min=1e-30)
        return TrainingSet(inputs, spr / (1.0 + spr), targets, hands, weights / total)

    def _checkdown(self, board: _BoardTensors, margins: Any) -> Any:
        """Return the values of checking down in pots: float32 tensor [n, 2, H]."""
        torch = self._torch
        facing = fold_masses(torch, board.holds, board.ranges.flip(1))
        with precisely(torch):
            won = torch.bmm(board.ranges.flip(1), margins.transpose(1, 2)) / 2.0
        return torch.where(facing > LEAST_MASS, won / facing.clamp(min=1e-30), 0.0)

    def _board(self, start: Start, num_bins: int) -> _BoardTensors:
        torch, rules = self._torch, self._rules
        weights = torch.from_numpy(start.roots).to(self._orders.device).to(torch.float32) ** 2
        combos = self._orders.combos(start.boards)
        cards = self._cards[combos]
        holds = torch.zeros((*cards.shape[:2], int(rules.cards.max()) + 1), device=weights.device)
        holds.scatter_(2, cards, 1.0)
        bins = bin_matrices(torch, self._orders.ranks(start.boards, combos), num_bins)
        features = self._there(_features(rules, start.boards))
        return _BoardTensors(combos, weights / weights.sum(2, keepdim=True), holds, bins, features)

    def _margins(self, start: Start, board: _BoardTensors) -> Any:
        """Return `margin_matrices` of situations; boards that several situations share are computed once."""
        torch, rules = self._torch, self._rules
        boards, first, places = np.unique(start.boards, axis=0, return_index=True, return_inverse=True)
        size = rules.board_size(rules.num_streets - 1)
        ends = run_outs(rules, boards, size)
        count, number = ends.shape[:2]
        chosen = torch.from_numpy(first).to(board.holds.device)
        ranks = self._orders.ranks(ends.reshape(-1, size), board.combos[chosen].repeat_interleave(number, 0))
        known = boards.shape[1]
        left = len(rules.cards) - known - 2 * rules.num_hole_cards
        holds = board.holds[chosen]
        shares = torch.bmm(holds, holds.transpose(1, 2)) > 0.5
        chance = 1.0 / math.comb(left, size - known)
        found = margin_matrices(torch, ranks.reshape(count, number, -1), shares, chance)
        return found if count == len(start.boards) else found[torch.from_numpy(places.ravel()).to(found.device)]

    def _spr(self, start: Start) -> Any:
        stacks = self._rules.stacks
        assert stacks is not None
        return self._there((stacks[0] - start.contributions) / (2.0 * start.contributions))

    def _there(self, rows: np.ndarray) -> Any:
        """Return rows as a float32 tensor on the device."""
        return self._torch.from_numpy(np.asarray(rows, np.float32)).to(self._orders.device)


def _features(rules: HoldemRules, boards: np.ndarray) -> np.ndarray:
    """Return the `encoding.board_features` of boards: float64[n, F]."""
    ranks = (boards[:, :, None] // 4 == np.arange(rules.num_ranks)).sum(1)
    suits = np.sort((boards[:, :, None] % 4 == np.arange(rules.num_suits)).sum(1), axis=1)[:, ::-1]
    return np.concatenate([ranks, suits], axis=1) / 2.0
