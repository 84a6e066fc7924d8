"""Value functions: what a seat may expect with each of its hands, given the real cards of the others.

AIVAT (`aivat`) is unbiased with any of them; how much variance it removes depends on how well they guess.
A value function has to be fixed before the hands it scores are seen, and its digest travels with the results.
"""

import functools
import hashlib
from collections.abc import Iterable
from itertools import combinations, permutations
from math import comb, perm
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import _betting_kernels as betting
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.hand_rank import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.agents.base import Action
from plurispiel.evaluation import _value_functions_kernels as kernels

NO_CARD = 255
"""Stands for the own cards in a situation."""

MAX_OUTCOMES = 50
"""A chance step with more outcomes may be sampled."""

MIN_SAMPLES, MAX_SAMPLES = 64, 65_000
_MAX_BOARDS = 2000


class Situation(NamedTuple):
    """A point of a hand, seen with all cards but the own ones.

    Attributes
    ----------
    rules : HoldemRules
    seat : int
        Whose value is asked.
    hole_cards : uint8[num_seats, num_hole_cards]
        The real cards of the others; `NO_CARD` in the own row.
    board : tuple of int
        Board cards so far.
    actions : tuple of Action
    state : list of int
        The betting state (`_betting_kernels`) after these actions.
    """

    rules: HoldemRules
    seat: int
    hole_cards: np.ndarray
    board: tuple[int, ...]
    actions: tuple[Action, ...]
    state: list[int]

    def free_cards(self) -> np.ndarray:
        """Return the cards that neither another seat nor the board holds, ascending: uint8[n]."""
        is_free = np.zeros(NO_CARD + 1, dtype=bool)
        is_free[self.rules.cards] = True
        is_free[self.hole_cards] = False
        is_free[list(self.board)] = False
        return is_free.nonzero()[0].astype(np.uint8)

    def holdable(self) -> np.ndarray:
        """Return which combos the seat may hold: bool[num_combos]."""
        return combos_without(self.rules, [*self.hole_cards.ravel().tolist(), *self.board])


class ValueFunction:
    """Guesses the net chips of one seat for each of its combos. Subclasses need `values`.

    Attributes
    ----------
    name : str
    num_samples : int
        How many outcomes stand for a chance step with more than `MAX_OUTCOMES`.
    """

    name: str = ""
    num_samples: int = 250

    @property
    def digest(self) -> str:
        """A hash of all that decides the values."""
        return hashlib.sha256(f"{self.name} {self.num_samples}".encode()).hexdigest()[:12]

    def restart(self, rng: np.random.Generator) -> None:
        """Begin with a new deck; `rng` is independent of it."""
        self.rng = rng

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo: float64[num_combos], in chips.

        Asked again for the same situation of a deck, it has to answer the same. Entries of combos that
        cannot be held mean nothing, but have to be finite.
        """
        raise TypeError(f"{type(self).__name__} must define values(situation)")

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the mean value of every combo after the next board cards: float64[num_combos], in chips.

        All boards are looked at if they are few, else `num_samples` drawn from `rng`.
        """
        total = np.zeros(situation.rules.num_combos)
        count = np.zeros(situation.rules.num_combos)
        for cards in next_boards(situation, num_cards, MAX_OUTCOMES, self.num_samples, self.rng):
            after = situation._replace(board=(*situation.board, *cards.tolist()))
            holdable = after.holdable()
            total[holdable] += self.values(after)[holdable]
            count += holdable
        return total / np.maximum(count, 1.0)

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the mean over all deals of the value at the start of a hand, in chips.

        All deals are looked at if they are few, else `num_samples` drawn from `rng`.
        """
        num_hole, num_board = rules.num_hole_cards, rules.board_size(0)
        num_cards = rules.num_seats * num_hole + num_board
        state = BettingState(rules).array.tolist()
        total = 0.0
        deals = _deals(rules, num_cards, self.num_samples, self.rng)
        for deal in deals:
            hole_cards = deal[: rules.num_seats * num_hole].reshape(rules.num_seats, num_hole).copy()
            own = rules.combo_id(hole_cards[seat].tolist())
            hole_cards[seat] = NO_CARD
            board = tuple(deal[rules.num_seats * num_hole :].tolist())
            total += self.values(Situation(rules, seat, hole_cards, board, (), state))[own]
        return total / len(deals)


class Checkdown(ValueFunction):
    """What a seat wins if nobody puts in another chip: equity times pot less contribution.

    Uncalled chips are returned, and every side pot goes to the best hand among those in it. Equities are exact
    means over all boards that can come, except where more than 2,000 can (before the flop of hold'em):
    there, `num_samples` boards stand for them, the same ones for all that is asked of this deck.
    At the end of a hand the value is the payoff.

    Parameters
    ----------
    num_samples : int
    """

    name = "checkdown"

    def __init__(self, num_samples: int = 250):
        if not MIN_SAMPLES <= num_samples <= MAX_SAMPLES:
            raise ValueError(f"num_samples is {MIN_SAMPLES}..{MAX_SAMPLES}, got {num_samples}")
        self.num_samples = num_samples
        self.restart(np.random.default_rng(0))

    def restart(self, rng: np.random.Generator) -> None:
        """Begin with a new deck."""
        super().restart(rng)
        self._run_outs: dict[tuple[int, tuple[int, ...], bytes], _RunOuts] = {}
        self._known: dict[tuple, np.ndarray] = {}

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo."""
        rules, seat, state = situation.rules, situation.seat, situation.state
        contribution = state[betting.CONTRIB + seat]
        if state[betting.FOLDED + seat]:
            return np.full(rules.num_combos, -float(contribution))
        pots = _pots(rules, seat, state)
        key = (seat, situation.board, situation.hole_cards.tobytes())
        known = (key, contribution, *pots)  # a call and every raise leave the same pots
        values = self._known.get(known)
        if values is None:
            values = np.full(rules.num_combos, -float(contribution))
            for chips, opponents in pots:
                if opponents == 0:
                    values += chips
                    continue
                run_outs = self._run_outs.get(key)
                if run_outs is None:
                    run_outs = self._run_outs[key] = _RunOuts(situation, self.num_samples, self.rng)
                values += chips * run_outs.equity(opponents)
            values.setflags(write=False)
            self._known[known] = values
        return values

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the value before the cards: equities are their means over what can come."""
        return self.values(situation)

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the mean over all deals: before the cards, all hands in a pot are equally good."""
        state = BettingState(rules).array.tolist()
        pots = _pots(rules, seat, state)
        return sum(chips / (1 + opponents.bit_count()) for chips, opponents in pots) - state[betting.CONTRIB + seat]


class _RunOuts:
    """One seat's hands against the others' on every board that can come."""

    def __init__(self, situation: Situation, num_samples: int, rng: np.random.Generator):
        rules, seat = situation.rules, situation.seat
        to_come = rules.num_board_cards - len(situation.board)
        rest = next_boards(situation, to_come, _MAX_BOARDS, num_samples, rng)
        boards = np.empty((len(rest), rules.num_board_cards), dtype=np.uint8)
        boards[:, : len(situation.board)] = situation.board
        boards[:, len(situation.board) :] = rest
        num_combos = rules.num_combos
        self._held = {
            other: rules.combo_id(cards) for other, cards in enumerate(situation.hole_cards.tolist()) if other != seat
        }
        self._ranks = np.empty((len(boards), num_combos), dtype=np.uint16)
        held_on = np.empty(num_combos, dtype=np.uint16)
        kernels.fill_ranks(rank_tables(), np.array(rules.combos), boards, self._ranks, held_on)
        self._scale = situation.holdable() / np.maximum(held_on, 1)
        self._equities: dict[int, np.ndarray] = {}

    def equity(self, opponents: int) -> np.ndarray:
        """Return the share of the pot that each combo wins from a bit set of seats: float64[num_combos]."""
        equity = self._equities.get(opponents)
        if equity is None:
            num_boards, num_combos = self._ranks.shape
            held = np.array([combo for seat, combo in self._held.items() if opponents >> seat & 1], dtype=np.int32)
            wins = np.empty(num_combos, dtype=np.uint16)
            ties = np.empty((len(held) + 1, num_combos), dtype=np.uint16)
            best, num_best = np.empty(num_boards, dtype=np.uint16), np.empty(num_boards, dtype=np.uint8)
            kernels.count_wins(self._ranks, held, best, num_best, wins, ties)
            shares = 1.0 / np.arange(1, len(held) + 2)
            equity = self._equities[opponents] = (wins + shares[1:] @ ties[1:]) * self._scale
        return equity


def combos_without(rules: HoldemRules, cards: Iterable[int]) -> np.ndarray:
    """Return which combos hold none of the cards: bool[num_combos]."""
    is_free = np.ones(NO_CARD + 1, dtype=bool)
    is_free[list(cards)] = False
    first, *others = rules.combos.T  # several times faster than all(axis=1)
    free = is_free[first]
    for column in others:
        free &= is_free[column]
    return free


def next_boards(
    situation: Situation, num_cards: int, most: int, num_samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return boards that can come next, without the cards known so far: uint8[n, num_cards].

    All sets of free cards if there are at most `most`, else `num_samples` drawn with equal chances. Of so many
    some can always be met by every hand: in hold'em before the flop a hand meets three in four.
    """
    free = situation.free_cards()
    if comb(len(free), num_cards) <= most:
        return free[_places(len(free), num_cards)]
    boards = np.tile(free, (num_samples, 1))
    rows = np.arange(num_samples)
    for column in range(num_cards):  # a shuffle that stops early
        chosen = rng.integers(column, len(free), size=num_samples)
        boards[rows, chosen], boards[:, column] = boards[:, column], boards[rows, chosen]
    return boards[:, :num_cards]


@functools.lru_cache(maxsize=64)
def _places(num_cards: int, size: int) -> np.ndarray:
    """Return all sets of places: int64[comb(num_cards, size), size]."""
    sets = list(combinations(range(num_cards), size))
    return np.array(sets, dtype=np.int64).reshape(len(sets), size)


def _deals(rules: HoldemRules, num_cards: int, num_samples: int, rng: np.random.Generator) -> list[np.ndarray]:
    if perm(len(rules.cards), num_cards) <= _MAX_BOARDS:
        return [np.array(deal, dtype=np.uint8) for deal in permutations(rules.cards.tolist(), num_cards)]
    return [rng.permutation(rules.cards)[:num_cards] for _ in range(num_samples)]


def _pots(rules: HoldemRules, seat: int, state: list[int]) -> list[tuple[int, int]]:
    """Return the pots that a live seat can win if nobody puts in another chip.

    Returns
    -------
    list of (int, int)
        Chips, and the other seats that can win them as a bit set; none for chips that nobody called.
    """
    contributions = state[betting.CONTRIB : betting.CONTRIB + rules.num_seats]
    folded = state[betting.FOLDED : betting.FOLDED + rules.num_seats]
    pots: dict[int, int] = {}
    floor = 0
    for level in sorted(set(contributions) - {0}):
        if level > contributions[seat]:
            break
        sharing = [other for other, contribution in enumerate(contributions) if contribution >= level]
        opponents = sum(1 << other for other in sharing if other != seat and not folded[other])
        pots[opponents] = pots.get(opponents, 0) + (level - floor) * len(sharing)
        floor = level
    return [(chips, opponents) for opponents, chips in pots.items()]


def warmup() -> None:
    """Compile every kernel of this module."""
    state = BettingState(LEDUC).array.tolist()
    hole_cards = np.array([[NO_CARD], [0]], dtype=np.uint8)
    Checkdown().values(Situation(LEDUC, 0, hole_cards, (), (), state))
