"""Values of self-play: a seat's net chips if all seats follow a blueprint, given the other seats' true cards."""

import hashlib
from collections.abc import Sequence
from math import comb

import numpy as np

from plurispiel.abstraction.holdem.hand_rank_kernels import fill_ranks
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.roll_out_kernels import fill_buckets
from plurispiel.agents.blueprint.roll_outs import (
    RollOutSums,
    hand_in_tree,
    roll_out_tables,
    roll_out_workspace,
    tree_stakes,
)
from plurispiel.agents.blueprint.untrained import untrained_blueprint
from plurispiel.evaluation import _blueprint_values_kernels as kernels
from plurispiel.evaluation import _hand_plan_kernels as planning
from plurispiel.evaluation.betting_lines import BettingLines
from plurispiel.evaluation.known_values import KnownValues
from plurispiel.evaluation.line_places import LinePlaces
from plurispiel.evaluation.situations import ALONE, LINE, POINT, SEAT, SIZE, HandQuestions, Situation
from plurispiel.evaluation.value_functions import (
    Checkdown,
    ValueFunction,
    ValueQuestion,
    first_questions,
    next_boards,
)

__all__ = ["BlueprintValues"]

SMALL = 1
"""Number of nodes up to which a subtree is small: roll-outs through it take all actions of the other seats."""

NUM_HANDS = 300
"""Expected number of combos to value in a situation, if their weights in the score sum to 1 and are small."""

_HEADS_UP_WORLDS, _MULTIWAY_WORLDS = 4, 8
_LAST_CARD_FACTOR = 2  # before the last card pots are large, and roll-outs short
_HEADS_UP_WORLDS_PER_COMBO = 2
_WORLDS_ALONE = 16
_GOLDEN_RATIO = 0.6180339887498949  # its multiples modulo 1 are evenly spread
_MAX_KEPT = 8
_FIRST_POINTS = 64


class BlueprintValues(ValueFunction):
    """A seat's expected net chips in self-play of a blueprint: roll-outs with common random numbers.

    Roll-outs follow many combos of the seat at once. A combo with much weight in the score takes all its actions, any
    other combo draws one or a few at each decision. In subtrees of at most `small` nodes, and where only one run-out is
    played, roll-outs take all actions of the other seats. Elsewhere they draw one action at each decision of another
    seat. All situations of a deck share random numbers, so that errors common to both sides of a correction cancel.
    Off-tree bets count as the nearest size, with the pot scaled. A row without training takes the strategy of the
    nearest bucket with training at the same decision; without such a bucket it checks or calls. `Checkdown` values are
    used where all betting is over, and where `place_at` finds no decision of the tree that fits the hand.

    The mean of a value over all draws is the value of self-play. AIVAT is linear in values, and the random numbers do
    not depend on the cards and change no action; so AIVAT is unbiased.

    Parameters
    ----------
    blueprint : Blueprint
        The blueprint to play, loaded with its bucket table.
    seat_values : sequence of float, optional
        Each seat's mean in self-play, in chips, with the sum 0. Errors of the means cancel when an agent plays a deck
        in all seats. By default the means are taken over all deals or over a sample (`ValueFunction.deal_mean`).
    num_worlds : int
        Number of run-outs to draw, which must exceed the number of hole cards. 0 stands for 4 heads-up and 8 with more
        seats, and for twice as many where a single board card is to come. For a combo that is asked about without any
        other, at least 16 are drawn. If the deck has no more run-outs than the number to draw, all are played.
    worlds_per_combo : int
        Number of the drawn run-outs on which each combo is valued: the first ones that are possible with the combo's
        cards. The order of the run-outs differs between combos. 0 stands for 2 heads-up and all with more seats. With
        the default of `num_worlds`, the number is doubled where a single board card is to come. A combo that is asked
        about without any other is valued on all.
    small : int
        The largest number of nodes of a subtree in which all actions of the other seats are taken.
    num_hands : int
        A combo whose value has the weight s in the score is valued with the chance ``num_hands * s``, or always if this
        number is 1 or more. A value is divided by its chance; the value of a combo that is not valued is 0. With a
        chance of 1, the combo takes an action of probability p with the chance ``num_hands * s * p``, or always if this
        number is 1 or more. With three seats or more, this chance is eight times as large.

    Raises
    ------
    ValueError
        If the blueprint's bucket table is missing, or `seat_values` or `num_worlds` is out of range.

    References
    ----------
    N. Burch et al.: AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information Games.
    AAAI (2018).
    """

    name = "blueprint"
    version = 3

    def __init__(
        self,
        blueprint: Blueprint,
        seat_values: Sequence[float] | None = None,
        *,
        num_worlds: int = 0,
        worlds_per_combo: int = 0,
        small: int = SMALL,
        num_hands: int = NUM_HANDS,
    ):
        cards, rules = blueprint.cards, blueprint.rules
        if not isinstance(cards, CardBuckets):
            raise ValueError(
                "BlueprintValues needs the bucket table that the blueprint was trained with, and the table is missing; "
                "build it with plurispiel abstraction build"
            )
        if seat_values is not None and (len(seat_values) != rules.num_seats or abs(sum(seat_values)) > 1e-6):
            raise ValueError(f"seat_values are {rules.num_seats} numbers with the sum 0, got {list(seat_values)}")
        if num_worlds and num_worlds <= rules.num_hole_cards:
            raise ValueError(f"num_worlds is 0 or above {rules.num_hole_cards}, got {num_worlds}")
        self.num_samples = num_worlds or (_HEADS_UP_WORLDS if rules.num_seats == 2 else _MULTIWAY_WORLDS)
        self._last_factor = 1 if num_worlds else _LAST_CARD_FACTOR
        self._per_combo = worlds_per_combo or (_HEADS_UP_WORLDS_PER_COMBO if rules.num_seats == 2 else self.num_samples)
        self._num_hands = num_hands
        self._blueprint = blueprint
        self._arrays = cards.arrays
        self._seat_values = seat_values
        self._small = small
        tables, size = roll_out_tables(blueprint)
        biases = np.zeros(rules.num_seats, np.int64)
        self._play = kernels.Play(tables, biases, tree_stakes(rules), small, float(num_hands))
        self._work = roll_out_workspace(rules, size)
        self._width = size.width
        self._sums = RollOutSums(np.zeros(rules.num_combos), np.zeros(rules.num_combos))
        self._combos = np.array(rules.combos)
        self._reaches = np.zeros(rules.num_combos)
        self._valued = np.zeros(rules.num_combos, np.int64)
        self._checkdown = Checkdown()
        self._hand = hand_in_tree(rules, blueprint)
        self._places: dict[BettingLines, LinePlaces] = {}
        self._seatings: dict[tuple[int, ...], int] = {}
        self._lines = BettingLines(rules)
        self._known = KnownValues(rules.num_seats, blueprint.game.num_streets, rules.num_combos)
        self._shares = np.empty((_FIRST_POINTS, rules.num_combos))
        self._values = np.empty_like(self._shares)
        self._chances = np.empty_like(self._shares)
        self.restart(np.random.default_rng(0))

    @property
    def digest(self) -> str:
        """A hash of the blueprint and all parameters."""
        parts = (
            self.name,
            self.version,
            self._blueprint.digest,
            self.num_samples,
            self._last_factor,
            self._per_combo,
            self._small,
            self._num_hands,
            self._seat_values,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    def restart(self, rng: np.random.Generator) -> None:
        """Begin with a new deck."""
        super().restart(rng)
        self._checkdown.restart(rng)
        # One seed for all roll-outs of a deck: both sides of a correction use the same random numbers.
        self._seed = np.uint64(rng.integers(2**63))
        self._known.clear()
        self._cards: dict[tuple[int, tuple[int, ...], bytes, int], int] = {}
        self._board: tuple[int, ...] | None = None  # of the questions whose `_card_sets` are kept
        self._hole_cards: list[np.ndarray] | None = None
        self._is_alone: list[bool] = []  # for each set of known cards, whether one combo is asked about alone
        self._free: dict[bytes, np.ndarray] = {}
        order = rng.permutation(self._blueprint.rules.num_combos)
        self._order = order
        self._thresholds = (rng.random() + np.arange(len(order)) * _GOLDEN_RATIO) % 1.0

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo; if the situation asks for some combos, other entries are arbitrary."""
        return self.answers([ValueQuestion(situation)])[0]

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the values before the cards come, since these values are means over run-outs already."""
        return self.values(situation)

    def answers(self, questions: Sequence[ValueQuestion]) -> list[np.ndarray]:
        """Return the answer to each question about one seat and hand, float64[num_combos], in chips."""
        first = questions[0].situation
        if self._lines.rules is not first.rules:
            self._lines = BettingLines(first.rules)
        (start,) = self._lines.along(())
        asked = HandQuestions(self._lines)
        board = max((question.situation.board for question in questions), key=len)
        asked.clear(board, [first.hole_cards] * first.rules.num_seats)
        asked.make_room(len(questions), len(questions))
        asked.number = len(questions)
        order = sorted(range(len(questions)), key=lambda number: len(questions[number].situation.actions))
        for row, (situation, num_cards, weights, combo) in enumerate(questions[number] for number in order):
            line = start
            for action in situation.actions:
                line = self._lines.after(line, action.action)
            is_alone = weights is None and combo >= 0
            if weights is None:
                weights = np.ones(len(self._reaches)) if situation.asked is None else situation.asked
            asked.weights[row], asked.factors[row] = weights, 0.0 if is_alone else 1.0
            size = len(situation.board)
            asked.table[row] = -1, row, combo, first.seat, line.number, size, is_alone, num_cards
        self._answer(asked)
        points = dict(zip(order, asked.table[: len(order), POINT].tolist(), strict=True))
        return [self._values[points[number]].copy() for number in range(len(questions))]

    def sums(self, asked: HandQuestions) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted sum of values of each question about a hand, and its single value.

        Where all actions that the blueprint takes at a decision are asked about, the values before the decision are the
        means of the values after it. These means have the expectation of a roll-out from the decision. Their errors are
        the errors of the values after it, so that the errors on both sides of a correction cancel. The choice of these
        decisions depends on the hand's actions. AIVAT stays unbiased, as the probability of an action does not depend
        on the errors.
        """
        weighted, single = self._answer(asked)
        return weighted, single

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the seat's mean in self-play, in chips: from `seat_values` if given, else over deals."""
        return super().deal_mean(rules, seat) if self._seat_values is None else self._seat_values[seat]

    def _answer(self, asked: HandQuestions) -> np.ndarray:
        """Return the answers to all questions about a hand: float64[2, num_questions], weighted sums and single values.

        The column `POINT` of the questions is filled in.
        """
        places, known, questions = self._places_of(asked.lines), self._known, asked.table[: asked.number]
        for line in set(questions[:, LINE].tolist()):
            places.add(asked.lines.numbered(line))
        spots = np.empty((len(questions), 5), np.int64)
        number = planning.find_points(questions, self._cards_of(asked), spots)
        if spots[:number, planning.SPOT_CARDS].min() < 0:
            self._add_cards(asked)
            planning.find_points(questions, self._card_sets, spots)
        known.make_room(number, len(self._seatings))
        known.counts[planning.NUM_CHANCES] = 0
        points, chips = np.empty((number, 8), np.int64), np.empty((number, 3))
        branches = np.empty(number * self._width, np.int64)
        num_tasks = planning.plan_points(
            spots[:number], places.rows, places.chips, known.cards, known.tables, known.lines, known.counts, points,
            chips, branches,
        )  # fmt: skip
        self._make_room(number, int(known.counts[planning.NUM_CHANCES]))
        if num_tasks:
            self._do_tasks(asked, spots[:number])
        answers = np.empty((2, len(questions)))
        kernels.answer_questions(
            self._play,
            known.tables,
            kernels.PlannedPoints(
                points,
                chips,
                branches,
                self._chances,
                self._shares,
                self._values,
                self._thresholds,
                self._reaches,
                self._valued,
            ),
            kernels.Asked(questions, asked.factors, asked.weights, answers),
            self._seed,
            self._work,
            self._sums,
        )
        return answers

    def _do_tasks(self, asked: HandQuestions, spots: np.ndarray) -> None:
        """Fill in the values of points by checkdown, and draw worlds, seat by seat.

        For each seat, checkdown values are computed first. Then worlds are drawn, first for points whose values may be
        means over a decision's actions, then for the others.
        """
        order = np.lexsort((np.arange(len(spots)), spots[:, planning.TASK], spots[:, planning.SPOT_SEAT]))
        for point in order[spots[order, planning.TASK] > 0].tolist():
            seat, line, size, cards, task = spots[point].tolist()
            situation = asked.situation(seat, asked.lines.numbered(line), size)
            if task == planning.FILL:
                self._values[point] = self._checkdown.values(situation)
            elif not self._known.tables.worlds[cards, 1]:
                self._make_worlds(situation, cards)

    def _make_room(self, num_points: int, num_chances: int) -> None:
        """Make the tables of points and of chances as long as needed, or longer."""
        if num_points > len(self._values):
            self._values = np.empty((2 * num_points, self._values.shape[1]))
            self._shares = np.empty_like(self._values)
        if num_chances > len(self._chances):
            self._chances = np.empty((2 * num_chances, self._values.shape[1]))

    def _places_of(self, lines: BettingLines) -> LinePlaces:
        """Return the tables of the lines of a game."""
        places = self._places.get(lines)
        if places is None:
            if len(self._places) >= _MAX_KEPT:
                self._places.clear()
            places = self._places[lines] = LinePlaces(lines, self._blueprint, self._hand, self._seatings)
        return places

    def _cards_of(self, asked: HandQuestions) -> np.ndarray:
        """Return the indices of the sets of known cards: int64[num_seats, num_board_cards + 1, 2].

        The axes are the seat, the number of board cards seen, and whether one combo is asked about alone. Entries that
        no question about these cards has wanted are -1.
        """
        if asked.board is not self._board or asked.hole_cards is not self._hole_cards:
            self._board, self._hole_cards = asked.board, asked.hole_cards
            self._card_sets = np.full((asked.rules.num_seats, asked.rules.num_board_cards + 1, 2), -1)
        return self._card_sets

    def _add_cards(self, asked: HandQuestions) -> None:
        """Add the sets of known cards that the questions about a hand lack."""
        wanted = asked.table[: asked.number, [SEAT, SIZE, ALONE]].tolist()
        for seat, size, is_alone in dict.fromkeys(map(tuple, wanted)):
            if self._card_sets[seat, size, is_alone] >= 0:
                continue
            hole_cards = asked.hole_cards[seat]
            key = seat, asked.board[:size], hole_cards.tobytes(), is_alone
            cards = self._cards.get(key)
            if cards is None:
                combos = [-1 if k == seat else asked.rules.combo_id(held) for k, held in enumerate(hole_cards.tolist())]
                cards = self._cards[key] = self._known.new_cards(combos)
                self._is_alone.append(bool(is_alone))
            self._card_sets[seat, size, is_alone] = cards

    def _make_worlds(self, situation: Situation, cards: int) -> None:
        """Store complete boards, all or a sample, for a set of known cards, with the ranks and buckets of all combos.

        The new cards of a sample come from one shuffled deck, if the deck has enough cards. Then no two boards share a
        new card, and every combo is possible on all boards but two at most.
        """
        rules, free = situation.rules, situation.free_cards()
        num_cards = rules.num_board_cards - len(situation.board)
        factor = self._last_factor if num_cards == 1 else 1
        num_worlds, per_combo = self.num_samples * factor, self._per_combo * factor
        if self._is_alone[cards]:
            num_worlds = max(num_worlds, _WORLDS_ALONE)
        is_sample = comb(len(free), num_cards) > num_worlds
        if is_sample and num_worlds * num_cards <= len(free):
            rest = self.rng.permutation(free)[: num_worlds * num_cards].reshape(num_worlds, num_cards)
        else:
            rest = next_boards(situation, num_cards, num_worlds, num_worlds, self.rng)
        boards = np.empty((len(rest), rules.num_board_cards), np.uint8)
        boards[:, : len(situation.board)] = situation.board
        boards[:, len(situation.board) :] = rest
        holdable = self._holdable(situation)
        ranks, buckets = self._known.new_worlds(cards, holdable, len(boards))
        fill_ranks(rank_tables(), self._combos, boards, ranks)
        fill_buckets(self._blueprint.game, self._arrays, boards, buckets)
        if is_sample and not self._is_alone[cards] and per_combo < len(boards):
            offsets = np.where(holdable, self._order % len(boards), -1)
            kernels.share_worlds(offsets, per_combo, ranks)

    def _holdable(self, situation: Situation) -> np.ndarray:
        """Return which combos are compatible with the other seats' combos: bool[num_combos]."""
        key = situation.hole_cards.tobytes()
        if key not in self._free:
            self._free[key] = situation._replace(board=()).holdable()
        return self._free[key]


def warmup() -> None:
    """Compile every kernel that this module calls."""
    for exact in (False, True):
        BlueprintValues(untrained_blueprint(exact=exact)).answers(first_questions(LEDUC))
    planning.move_lines(np.full((1, 2), -1), np.full((1, 2), -1))
