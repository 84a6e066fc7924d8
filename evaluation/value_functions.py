"""Value functions: the expected chips of a seat with each of its combos, given the true cards of the other seats.

AIVAT (`aivat`) is unbiased with any value function; the better the guess, the more variance it removes. A value
function must be fixed before anybody sees the hands that it scores, since it could be fitted to their luck otherwise.
The value function's digest is stored with the results. Values are net chips over the whole hand, not weighted by reach.
"""

import functools
import hashlib
from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb, perm
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.hand_rank_kernels import fill_ranks
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Action
from plurispiel.evaluation import _value_functions_kernels as kernels
from plurispiel.evaluation.situations import NO_CARD, HandQuestions, Situation

MAX_OUTCOMES = 50
"""The most outcomes of a deal of board cards that `ValueFunction.next_board_means` enumerates; it samples if there are
more."""

MIN_SAMPLES, MAX_SAMPLES = 64, 32_000  # two points for each board have to fit in 16 bits (`fill_equity`)
_MAX_BOARDS = 2000


class ValueQuestion(NamedTuple):
    """A question to a value function: the values in a situation, or their means after `num_cards` more board cards.

    Attributes
    ----------
    situation : Situation
    num_cards : int
    weights : float64[num_combos], optional
        The weight of each combo's value in the sum over combos that is asked for. Without weights single values are
        asked for: the value of `combo`, or the values of all combos if `combo` is -1.
    combo : int
        A combo whose single value is needed, whatever its weight; -1 for none.
    """

    situation: Situation
    num_cards: int = 0
    weights: np.ndarray | None = None
    combo: int = -1


class ValueFunction:
    """A guess of one seat's net chips with each of its combos. Subclasses define `values`.

    Attributes
    ----------
    name : str
        The name of the value function in settings.
    version : int
        A number that rises with every change of the values, including another use of the random stream.
    num_samples : int
        Number of outcomes drawn for a deal of cards that has too many to enumerate.
    """

    name: str = ""
    version: int = 1
    num_samples: int = 250

    @property
    def digest(self) -> str:
        """A hash of name, version and parameters."""
        return hashlib.sha256(f"{self.name} {self.version} {self.num_samples}".encode()).hexdigest()[:12]

    def restart(self, rng: np.random.Generator) -> None:
        """Begin a new deck; `rng` must be independent of the deck."""
        self.rng = rng

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo: float64[num_combos], in chips.

        Until the next `restart`, repeated calls for the same situation must return the same values, because both sides
        of a correction use them. Entries of impossible combos are ignored, but must be finite.

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise TypeError(f"{type(self).__name__} must define values(situation)")

    def answers(self, questions: Sequence[ValueQuestion]) -> list[np.ndarray]:
        """Return the answer to each of some questions about one hand, float64[num_combos], in chips.

        The questions may be about several seats; a subclass with its own `sums` may require one seat. An answer is
        `values`, or `next_board_means` if the question asks for means over `num_cards` more board cards.
        """
        return [
            self.next_board_means(situation, num_cards) if num_cards else self.values(situation)
            for situation, num_cards, *_ in questions
        ]

    def sums(self, asked: HandQuestions) -> tuple[np.ndarray, np.ndarray]:
        """Return two answers to each question about a hand, in chips.

        Returns
        -------
        float64[num_questions]
            For each question, the sum of the combos' values times their weights. Meaningless for a question whose
            factor is 0 (`HandQuestions`).
        float64[num_questions]
            For each question, the value of its single combo. Meaningless if the question names no combo.
        """
        answers = self.answers([ValueQuestion(situation, num_cards) for situation, num_cards, _, _ in asked])
        weighted, single = np.empty(len(answers)), np.empty(len(answers))
        for number, ((_, _, weights, combo), values) in enumerate(zip(asked, answers, strict=True)):
            weighted[number], single[number] = dot(weights, values), values[combo]
        return weighted, single

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the mean value of every combo after the next board cards: float64[num_combos], in chips.

        Enumerates the boards if there are at most `MAX_OUTCOMES`, else draws `num_samples` of them from `rng`. The
        sample is independent of the deck, so that AIVAT stays unbiased.
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

        Enumerates the deals if there are at most 2,000, else draws `num_samples` of them from `rng`.
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
    """The net chips of a seat if all later betting is checks: equity times pot less contribution.

    Uncalled chips are returned, and every side pot goes to the best hand among its seats. At the end of a hand the
    value is the payoff. Equities are exact means over all run-outs if there are at most 2,000. If there are more, as
    before the flop of hold'em, they are means over `num_samples` boards. These boards come from shuffles that are drawn
    once for each deck and serve all its seats and situations.

    Parameters
    ----------
    num_samples : int
        The number of boards drawn, from `MIN_SAMPLES` to `MAX_SAMPLES`.

    Raises
    ------
    ValueError
        If `num_samples` is out of range.
    """

    name = "checkdown"
    version = 2

    def __init__(self, num_samples: int = 250):
        if not MIN_SAMPLES <= num_samples <= MAX_SAMPLES:
            raise ValueError(f"num_samples is {MIN_SAMPLES}..{MAX_SAMPLES}, got {num_samples}")
        self.num_samples = num_samples
        self._rules: HoldemRules | None = None
        self._boards = _RankedBoards()
        self.restart(np.random.default_rng(0))

    def restart(self, rng: np.random.Generator) -> None:
        """Begin with a new deck."""
        super().restart(rng)
        self._boards.clear()
        self._run_outs: dict[tuple[int, tuple[int, ...], bytes], _RunOuts] = {}
        self._known: dict[tuple, np.ndarray] = {}
        self._shuffled: np.ndarray | None = None

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo."""
        rules, seat, state = situation.rules, situation.seat, situation.state
        if rules is not self._rules:
            self._rules = rules
            self.restart(self.rng)
        contribution = state[betting.CONTRIB + seat]
        if state[betting.FOLDED + seat]:
            return np.full(rules.num_combos, -float(contribution))
        pots = _pots(rules, seat, state)
        key = (seat, situation.board, situation.hole_cards.tobytes())
        # A call and any raise of another seat lead to the same pots: no pot has chips above this seat's contribution.
        known = (key, contribution, *pots)
        values = self._known.get(known)
        if values is None:
            values = np.full(rules.num_combos, -float(contribution))
            for chips, opponents in pots:
                if opponents == 0:
                    values += chips
                    continue
                run_outs = self._run_outs.get(key)
                if run_outs is None:
                    run_outs = self._run_outs[key] = _RunOuts(situation, self._boards, self._boards_to_come(situation))
                values += chips * run_outs.equity(opponents)
            values.setflags(write=False)
            self._known[known] = values
        return values

    def _boards_to_come(self, situation: Situation) -> np.ndarray:
        """Return complete boards without the other seats' cards: uint8[num_boards, num_board_cards].

        Sampled boards of all seats come from the same shuffled decks. Most boards are therefore the same for several
        seats, and each board is ranked once.
        """
        rules = situation.rules
        num_cards = rules.num_board_cards - len(situation.board)
        if num_cards == 0:
            return np.array([situation.board], dtype=np.uint8)
        free = situation.free_cards()
        if comb(len(free), num_cards) <= _MAX_BOARDS:
            rest = free[_index_sets(len(free), num_cards)]
        else:
            if self._shuffled is None:
                needed = rules.num_board_cards + (rules.num_seats - 1) * rules.num_hole_cards
                # Enough that `num_cards` of them are free, whatever the board and the other seats' cards are.
                self._shuffled = _shuffled(rules.cards, min(needed, len(rules.cards)), self.num_samples, self.rng)
            is_free = np.zeros(NO_CARD, dtype=bool)
            is_free[free] = True
            chosen = is_free[self._shuffled]
            chosen &= chosen.cumsum(axis=1) <= num_cards
            rest = self._shuffled[chosen].reshape(self.num_samples, num_cards)
        boards = np.empty((len(rest), rules.num_board_cards), dtype=np.uint8)
        boards[:, : len(situation.board)] = situation.board
        boards[:, len(situation.board) :] = rest
        return boards

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the values before the cards come, since equities are means over all run-outs already.

        Sampled boards leave AIVAT unbiased, because boards are drawn anew for each deck, independently of its cards. A
        fixed table of values before the flop would bias AIVAT: its error would stay in every hand that sees the flop.
        """
        return self.values(situation)

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the mean over all deals: by symmetry, all seats that can win a pot have the same share of it."""
        state = BettingState(rules).array.tolist()
        pots = _pots(rules, seat, state)
        return sum(chips / (1 + opponents.bit_count()) for chips, opponents in pots) - state[betting.CONTRIB + seat]


class _RankedBoards:
    """The ranks of all combos on the boards used for one deck; each board is ranked once for all seats."""

    def __init__(self) -> None:
        self.ranks = np.empty((0, 0), dtype=np.uint16)
        self.counts = _new_counts(0, 0)
        self._row_of: dict[int, int] = {}

    def clear(self) -> None:
        """Forget all boards, but keep the memory."""
        self._row_of.clear()

    def rows(self, rules: HoldemRules, boards: np.ndarray) -> np.ndarray:
        """Return the row of each board in `ranks`: int32[n], for boards uint8[n, num_board_cards]."""
        row_of = self._row_of
        num_known = len(row_of)
        # Boards are known by their bit sets of cards, so that a board dealt in another order is the same board.
        sets = np.left_shift(np.int64(1), boards.astype(np.int64)).sum(axis=1).tolist()
        rows = np.array([row_of.setdefault(cards, len(row_of)) for cards in sets], dtype=np.int32)
        if len(row_of) > num_known:
            self._make_room(len(row_of), num_known, rules.num_combos)
            new, first = np.unique(rows, return_index=True)
            first = first[np.searchsorted(new, num_known) :]
            ranks = self.ranks[num_known : len(row_of)]
            fill_ranks(rank_tables(), np.array(rules.combos), boards[first], ranks)
        if len(rows) > len(self.counts.best):
            self.counts = _new_counts(rules.num_combos, 2 * len(rows))
        return rows

    def _make_room(self, num_rows: int, num_known: int, num_combos: int) -> None:
        if self.ranks.shape[1] != num_combos:
            self.ranks = np.empty((0, num_combos), dtype=np.uint16)
            self.counts = _new_counts(num_combos, 0)
        if num_rows > len(self.ranks):
            ranks = np.empty((2 * num_rows, num_combos), dtype=np.uint16)
            ranks[:num_known] = self.ranks[:num_known]
            self.ranks = ranks


def _new_counts(num_combos: int, num_boards: int) -> kernels.Counts:
    return kernels.Counts(
        points=np.empty(num_combos, dtype=np.uint16),
        ties=np.zeros((MAX_SEATS, num_combos), dtype=np.uint16),
        best=np.empty(num_boards, dtype=np.uint16),
        num_best=np.empty(num_boards, dtype=np.uint8),
    )


class _RunOuts:
    """The equities of one seat's combos against the other seats' true cards, as means over complete boards."""

    def __init__(self, situation: Situation, ranked: _RankedBoards, boards: np.ndarray):
        rules, seat = situation.rules, situation.seat
        self._combos = {
            other: rules.combo_id(cards) for other, cards in enumerate(situation.hole_cards.tolist()) if other != seat
        }
        self._ranked = ranked
        self._rows = ranked.rows(rules, boards)
        num_boards = np.empty(rules.num_combos, dtype=np.uint16)
        kernels.count_boards(ranked.ranks, self._rows, num_boards)
        self._scale = situation.holdable() / np.maximum(num_boards, 1)
        self._equities: dict[int, np.ndarray] = {}

    def equity(self, opponents: int) -> np.ndarray:
        """Return the share of the pot that each combo wins against a bit set of opponents: float64[num_combos]."""
        equity = self._equities.get(opponents)
        if equity is None:
            combos = np.array([combo for seat, combo in self._combos.items() if opponents >> seat & 1], dtype=np.int32)
            equity = self._equities[opponents] = np.empty(len(self._scale))
            ranked = self._ranked
            kernels.fill_equity(ranked.ranks, self._rows, combos, self._scale, ranked.counts, equity)
        return equity


def first_questions(rules: HoldemRules) -> list[ValueQuestion]:
    """Return questions about the first seat at the start of a hand and after a first call, to compile kernels."""
    hole_cards = rules.cards[: rules.num_seats * rules.num_hole_cards].reshape(rules.num_seats, -1).copy()
    hole_cards[0] = NO_CARD
    board = tuple(rules.cards[hole_cards.size :][: rules.board_size(0)].tolist())
    state = BettingState(rules)
    start = Situation(rules, 0, hole_cards, board, (), state.array.tolist())
    call = Action(state.actor, CALL, state.street)
    state.apply(CALL)
    return [ValueQuestion(start), ValueQuestion(start._replace(actions=(call,), state=state.array.tolist()))]


def next_boards(
    situation: Situation, num_cards: int, max_boards: int, num_samples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the next board cards of possible run-outs: uint8[num_boards, num_cards].

    These are all sets of `num_cards` free cards if there are at most `max_boards` sets, else `num_samples` sets drawn
    with equal chances. A combo is possible only on boards that share no card with it: in hold'em on about four of
    five boards of five new cards.
    """
    free = situation.free_cards()
    if comb(len(free), num_cards) <= max_boards:
        return free[_index_sets(len(free), num_cards)]
    return _shuffled(free, num_cards, num_samples, rng)


def _shuffled(cards: np.ndarray, num_cards: int, num_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the first `num_cards` cards of `num_samples` shuffled decks: uint8[num_samples, num_cards]."""
    decks = np.tile(cards, (num_samples, 1))
    rows = np.arange(num_samples)
    for column in range(num_cards):  # a Fisher-Yates shuffle that stops early
        chosen = rng.integers(column, len(cards), size=num_samples)
        decks[rows, chosen], decks[:, column] = decks[:, column], decks[rows, chosen]
    return decks[:, :num_cards]


@functools.lru_cache(maxsize=64)
def _index_sets(num_cards: int, size: int) -> np.ndarray:
    """Return all sets of indices: int64[comb(num_cards, size), size]."""
    sets = list(combinations(range(num_cards), size))
    return np.array(sets, dtype=np.int64).reshape(len(sets), size)


def _deals(rules: HoldemRules, num_cards: int, num_samples: int, rng: np.random.Generator) -> list[np.ndarray]:
    if perm(len(rules.cards), num_cards) <= _MAX_BOARDS:
        return [np.array(deal, dtype=np.uint8) for deal in permutations(rules.cards.tolist(), num_cards)]
    return [rng.permutation(rules.cards)[:num_cards] for _ in range(num_samples)]


def _pots(rules: HoldemRules, seat: int, state: list[int]) -> list[tuple[int, int]]:
    """Return the main pot and side pots that a live seat can win if all later betting is checks.

    Returns
    -------
    list of (int, int)
        The chips of each pot, and the bit set of the other seats that can win it: 0 for chips that nobody else can win.
    """
    num_seats = rules.num_seats
    contributions = state[betting.CONTRIB : betting.CONTRIB + num_seats]
    folded = state[betting.FOLDED : betting.FOLDED + num_seats]
    own = contributions[seat]
    sharing = num_seats
    opponents = 0
    for other in range(num_seats):
        if other != seat and not folded[other]:
            opponents |= 1 << other
    pots: dict[int, int] = {}
    floor = 0
    # Layers of contributions from the lowest up: all `sharing` seats at or above `level` pay into its layer.
    for level, other in sorted(zip(contributions, range(num_seats), strict=True)):
        if level > floor:
            height = min(level, own) - floor
            if height <= 0:
                break
            # `sharing` counts folded seats, too: they have paid, but cannot win. Layers with the same opponents are
            # merged into a single pot, so that more situations have equal pots.
            pots[opponents] = pots.get(opponents, 0) + height * sharing
            floor = level
        sharing -= 1
        opponents &= ~(1 << other)
    return [(chips, opponents) for opponents, chips in pots.items()]


def warmup() -> None:
    """Compile every kernel that this module calls."""
    Checkdown().answers(first_questions(LEDUC))
