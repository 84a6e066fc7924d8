"""Values that a network gives for the end of a street, as means over all next boards.

The network for the end of a street has learnt the means that a network for the start of the next street gives, with an
error. The *correction* is the exact mean minus the learnt one. It takes as long as eight iterations, and depends little
on the ranges. So a solve measures it now and then, and adds the last one in between.
"""

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules, is_holdem
from plurispiel.abstraction.holdem.showdown import fold_mass
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.continual.leaf_values import Boundary, Leaves, ValueFunction
from plurispiel.agents.continual.preflop_leaves import PreflopLeaves
from plurispiel.agents.values import gain_kernels as kernels
from plurispiel.agents.values.distillation import residuals
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, gate, inputs
from plurispiel.agents.values.encoding import warmup as prepare_bins
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.agents.values.margins import margin_matrix
from plurispiel.agents.values.margins import warmup as prepare_margins
from plurispiel.agents.values.net import ValueNet
from plurispiel.agents.values.net import warmup as prepare_nets
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.products import products
from plurispiel.agents.values.products import warmup as prepare_products
from plurispiel.agents.values.zero_sum import without_gain

__all__ = ["EndNetLeaves", "deepest_spr", "end_net_leaves"]


class EndNetLeaves:
    """Values that a network gives for the end of a street. `boards` holds only the street's own board.

    If more chips are behind, in pots, than in any situation of the training, the network sees the training's maximum.

    Parameters
    ----------
    stored : StoredNet
        A network for the end of the boundary's street.
    boundary : Boundary
    threads : int
        Number of threads; the values do not depend on it.
    next_net : ValueNet, optional
        The network for the start of the next street, whose means `correction` takes.

    Attributes
    ----------
    num_clamped : int
        Number of ends with more chips behind, in pots, than in training.

    Raises
    ------
    ArtefactRefused
        If the network is not for the end of this street, or its game differs in more than stacks, blinds and bet sizes.
    """

    num_solves = 0
    num_iterations = 0

    def __init__(self, stored: StoredNet, boundary: Boundary, threads: int = 1, next_net: ValueNet | None = None):
        level, rules, hands = stored.level, boundary.rules, boundary.hands
        require_net(stored, rules, boundary.street, is_end=True)
        self._net, self._hands, self._threads, self._next_net = stored.net, hands, threads, next_net
        self._rules = level.rules  # the same cards as in `rules`
        self.boards = [boundary.board]
        self._pots = np.array([pot_of(state) for state in boundary.ends], np.float64)
        spr = np.array([chips_behind(state) for state in boundary.ends]) / self._pots
        deepest = deepest_spr(level)
        self.num_clamped = int((spr > deepest).sum())
        self._open = np.flatnonzero(spr > 0.0)
        self._spr = spr[self._open].clip(max=deepest)
        # Entry [r, c] is the margin of hand c against hand r, a hand of the other seat.
        self._margins = np.ascontiguousarray(margin_matrix(rules, boundary.board).T)
        known = canonical_hands(rules, boundary.board)
        numbers = np.empty(rules.num_combos, np.int64)
        numbers[hands.combos] = np.arange(len(hands.combos))
        self._places = numbers[known.combos]
        self._known_board = known.board
        self._bins = bins_of(known.hands, stored.net.num_bins)
        order = np.argsort(self._places)
        self._first, self._share = self._bins.first[order], self._bins.share[order]  # the bins of `hands`
        self._features = board_features(rules, known.board)

    def values(self, reach: np.ndarray, correction: np.ndarray | None = None) -> np.ndarray:
        """Return the values of all hands, float64[2, E, 1, H]; see `Leaves`."""
        values = products(reach[::-1], self._margins, threads=self._threads) * (self._pots / 2.0)[:, None]
        if len(self._open):
            gains, ranges, masses = self._gains(reach[:, self._open])
            if correction is not None:
                gains = without_gain(gains + correction * masses, ranges, masses)
            totals = reach[::-1, self._open].sum(axis=2, keepdims=True)
            values[:, self._open] += gains * totals * self._pots[self._open, None]
        return values[:, :, None]

    def correction(self, reach: np.ndarray) -> np.ndarray:
        """Return the next network's mean over all next boards, minus this network's values: float64[2, X, H], in pots.

        X counts the ends with chips behind. Hands that face no compatible hand have 0.

        Raises
        ------
        ValueError
            If `reach` has another number of hands.
        """
        assert self._next_net is not None
        if not len(self._open):
            return np.zeros((2, 0, reach.shape[2]))
        gains, ranges, masses = self._gains(reach[:, self._open])
        ordered = ordered_hands(self._rules, self._known_board)
        there = np.ascontiguousarray(ranges[:, :, self._places])
        exact = np.empty_like(gains)
        exact[:, :, self._places] = residuals(
            self._next_net, self._rules, ordered, there, self._spr, threads=self._threads
        )
        return exact - np.divide(gains, masses, out=np.zeros_like(gains), where=masses > 0.0)

    def _gains(self, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the gain of bets over checking down, the seats' ranges, and the weights of compatible hands.

        The argument and all results are float64[2, X, H], for the X ends with chips behind. Gains are in pots, weighted
        by the other seat's range. Rows of ranges sum to 1.
        """
        if reach.shape[::2] != (2, len(self._places)):  # kernels check no bounds
            raise ValueError(
                f"reach has {len(self._places):,} hands of 2 seats, got {reach.shape[2]:,} of {len(reach)}"
            )
        canonical, totals = np.empty(reach.shape), np.empty(reach.shape[:2])
        # A seat without reach here gets a range of equal weights: its own values still enter its regrets.
        kernels.fill_ranges(np.array(reach, np.float64, order="C"), self._places, canonical, totals)
        seen = inputs(self._bins, canonical, self._spr, self._features)
        outputs = self._net.outputs(seen, threads=self._threads)
        ranges, gains = np.empty_like(canonical), np.empty_like(canonical)
        ranges[:, :, self._places] = canonical
        masses = fold_mass(self._hands, ranges[::-1])
        kernels.fill_gains(self._first, self._share, outputs, gate(self._spr), masses, gains)
        return without_gain(gains, ranges, masses), ranges, masses


def deepest_spr(level) -> float:
    """Return the most chips behind, in pots, with which networks of a level are trained."""
    rules = level.rules
    return (rules.stacks[0] - rules.big_blind) / (2.0 * rules.big_blind)


def end_net_leaves(stored: StoredNet, threads: int = 1, next_net: ValueNet | None = None) -> ValueFunction:
    """Return the value function of a network for the end of a street; the arguments are those of `EndNetLeaves`."""

    def leaves(boundary: Boundary) -> Leaves:
        if not boundary.board and is_holdem(boundary.rules):
            require_net(stored, boundary.rules, boundary.street, is_end=True)
            return PreflopLeaves(stored, boundary, deepest_spr(stored.level), threads)
        return EndNetLeaves(stored, boundary, threads, next_net)

    return leaves


def require_net(stored: StoredNet, rules: HoldemRules, street: int, *, is_end: bool) -> None:
    """Raise ArtefactRefused unless a network is for the start of a game's street, or for its end.

    Chips and bet sizes may differ: networks see chips in pots, so one serves both games. On streets before, another
    seat may act first.
    """
    level = stored.level
    if not _same_cards(level.rules, rules) or level.street != street or (level.teacher is not None) != is_end:
        raise ArtefactRefused(
            f"the network is for the level {level.name}, not for {'the end of ' * is_end}street {street} (counted from"
            " 0) of this game; give a network that was trained for it"
        )
    known, found = level.rules.first_seats[level.next_street :], rules.first_seats[level.next_street :]
    if known != found:
        raise ArtefactRefused(
            f"the network is for games in which the seats {known} act first from street {level.next_street} on (counted"
            f" from 0), got {found}; give a game with these seats, or play without networks"
        )


def _same_cards(first: HoldemRules, second: HoldemRules) -> bool:
    names = "num_seats", "num_suits", "num_ranks", "num_hole_cards", "board_cards", "is_limit"
    return all(getattr(first, name) == getattr(second, name) for name in names)


def warmup() -> None:
    """Compile the kernels for values of networks."""
    for prepare in (prepare_bins, prepare_margins, prepare_nets, prepare_products):
        prepare()
    one, first = np.ones((2, 1, 1)), np.zeros(1, np.int64)
    kernels.fill_ranges(one, first, one.copy(), one[..., 0].copy())
    kernels.fill_gains(first, one[0, 0], np.ones((1, 2, 1), np.float32), one[0, 0], one, one.copy())
    kernels.add_gains(one, one[..., 0].copy(), first, one.copy())
