"""Values of self-play: a seat's net chips if all seats follow a blueprint, given the other seats' true cards."""

import hashlib
from collections.abc import Sequence
from math import comb

import numpy as np

from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.hand_rank import rank_tables
from plurispiel.abstraction.holdem.hand_rank_kernels import fill_ranks
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.roll_out_kernels import fill_buckets
from plurispiel.agents.blueprint.roll_outs import (
    RollOutPlace,
    RollOutSeats,
    RollOutSums,
    Worlds,
    find_place,
    hand_in_tree,
    roll_out_tables,
    roll_out_workspace,
    tree_stakes,
)
from plurispiel.agents.blueprint.untrained import untrained_blueprint
from plurispiel.evaluation import _blueprint_values_kernels as kernels
from plurispiel.evaluation._blueprint_values_kernels import KnownMeans, RollOut, Thinning
from plurispiel.evaluation.value_functions import (
    Checkdown,
    Question,
    Situation,
    ValueFunction,
    first_questions,
    next_boards,
)

__all__ = ["BlueprintValues"]

SMALL = 1
"""Number of nodes up to which a subtree is small: roll-outs through it take all actions of the other seats."""

NUM_HANDS = 300
"""Expected number of combos to value in a situation, if their weights in the score sum to 1 and are small."""

_HEADS_UP_WORLDS, _MULTIWAY_WORLDS = 4, 8
_HEADS_UP_WORLDS_PER_COMBO = 2
_WORLDS_ALONE = 16
_GOLDEN_RATIO = 0.6180339887498949  # its multiples modulo 1 are evenly spread
_MAX_KEPT = 50_000
_FIRST_LINES = 4


class BlueprintValues(ValueFunction):
    """A seat's expected net chips in self-play of a blueprint: roll-outs with common random numbers.

    Roll-outs take all actions of the seat, for many of its combos at once. They also take all actions of the other
    seats in subtrees of at most `small` nodes and where only one run-out is played. Elsewhere they draw one action at
    each decision of another seat. All situations of a deck share random numbers, so that errors common to both sides of
    a correction cancel. Off-tree bets count as the nearest size, with the pot scaled. A row without training takes the
    strategy of the nearest bucket with training at the same decision; without such a bucket it checks or calls.
    `Checkdown` values are used where all betting is over, and where `find_place` finds no decision of the tree that
    fits the hand.

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
        Number of run-outs to draw, above the number of hole cards; 0 stands for 4 heads-up and 8 with more seats. For a
        combo that is asked about without any other, at least 16 are drawn. All run-outs are played if there are no
        more.
    worlds_per_combo : int
        Number of the drawn run-outs on which each combo is valued: the first that are possible with its cards, in an
        order of its own. 0 stands for 2 heads-up and all with more seats. A combo that is asked about without any other
        is valued on all.
    small : int
        The largest number of nodes of a subtree in which all actions of the other seats are taken.
    num_hands : int
        A combo whose value has the weight s in the score is valued with the chance ``num_hands * s`` if that is below
        1. Its value is then divided by this chance, and is 0 if it is not valued.

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
    version = 2

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
            raise ValueError(f"num_worlds is 0 or more than {rules.num_hole_cards}, got {num_worlds}")
        self.num_samples = num_worlds or (_HEADS_UP_WORLDS if rules.num_seats == 2 else _MULTIWAY_WORLDS)
        self._per_combo = worlds_per_combo or (_HEADS_UP_WORLDS_PER_COMBO if rules.num_seats == 2 else self.num_samples)
        self._num_hands = num_hands
        self._blueprint = blueprint
        self._arrays = cards.arrays
        self._seat_values = seat_values
        self._small = small
        self._tables, depth = roll_out_tables(blueprint)
        self._work = roll_out_workspace(rules, depth)
        self._sums = RollOutSums(np.zeros(rules.num_combos), np.zeros(rules.num_combos))
        self._combos = np.array(rules.combos)
        self._asked = np.zeros(rules.num_combos, np.bool_)
        self._checkdown = Checkdown()
        self._biases = np.zeros(rules.num_seats, np.int64)
        self._stakes = tree_stakes(rules)
        self._hand = hand_in_tree(rules, blueprint)
        self._places: dict[tuple[int, ...], RollOutPlace | None] = {}
        self.restart(np.random.default_rng(0))

    @property
    def digest(self) -> str:
        """A hash of the blueprint and all parameters."""
        parts = (
            self.name,
            self.version,
            self._blueprint.digest,
            self.num_samples,
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
        # One seed for all roll-outs of a deck: both sides of a correction meet the same chances.
        self._seed = np.uint64(rng.integers(2**63))
        self._worlds: dict[_Cards, Worlds] = {}
        self._known: dict[tuple[_Cards, tuple[int, ...]], _Known] = {}
        order = rng.permutation(self._blueprint.rules.num_combos)
        self._offsets = order % self.num_samples
        self._thresholds = (rng.random() + np.arange(len(order)) * _GOLDEN_RATIO) % 1.0

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo; if the situation asks for some combos, other entries are arbitrary."""
        return self.answers([Question(situation)])[0]

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the values before the cards come, since these values are means over run-outs already."""
        return self.values(situation)

    def answers(self, questions: Sequence[Question]) -> list[np.ndarray]:
        """Return the answer to each question about one seat and hand, float64[num_combos], in chips.

        Where all actions that the blueprint takes at a decision are asked about, the values before the decision are the
        means of those after it. They have the expectation of a roll-out from the decision, but the same errors as the
        values after it, and errors on both sides of a correction cancel. The choice of these decisions depends on the
        hand's actions. AIVAT stays unbiased, as the probability of an action does not depend on the errors.
        """
        seat, hole_cards = questions[0].situation.seat, questions[0].situation.hole_cards.tobytes()
        work = _Answering(len(questions), self._blueprint.rules.num_combos)
        asked = [self._add_point(work, question, hole_cards) for question in questions]
        points = work.points
        roots: dict[tuple[_Cards, tuple[int, ...]], list[_Point]] = {}
        in_order = sorted(points.items(), key=_num_actions)
        for key, point in in_order:
            if point.place is not None and not (key in work.decisions and self._spread(key, work)):
                roots.setdefault((point.cards, point.place.seats), []).append(point)
        for group in roots.values():
            self._roll_out(group, seat, work)
        for _, point in reversed(in_order):
            if point.branches is not None:
                kernels.mix(*point.branches, work.values)
        return [work.values[point.row] for point in asked]

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the seat's mean in self-play, in chips: from `seat_values` if given, else over deals."""
        return super().deal_mean(rules, seat) if self._seat_values is None else self._seat_values[seat]

    def _place(self, actions: tuple[int, ...]) -> RollOutPlace | None:
        """Return the decision of the tree after some actions of a hand; None where `find_place` finds none."""
        if actions not in self._places:
            if len(self._places) >= _MAX_KEPT:
                self._places.clear()
            self._places[actions] = find_place(self._hand, actions)
        return self._places[actions]

    def _add_point(self, work: "_Answering", question: Question, hole_cards: bytes) -> "_Point":
        """Return the point of a question; a point without a place in the tree has its values already."""
        situation, _, weights, combo = question
        seat, board, state = situation.seat, situation.board, situation.state
        taken = tuple([action for _, action, _ in situation.actions])
        key = len(board), taken
        point = work.points.get(key)
        if point is None:
            cards = seat, board, hole_cards, weights is None and combo >= 0
            point = work.points[key] = _Point(len(work.points), situation, cards)
            if taken:
                work.decisions.add((key[0], taken[:-1]))
            if state[betting.FOLDED + seat]:
                work.values[point.row] = -float(state[betting.CONTRIB + seat])
            else:
                point.place = self._place(taken)
                if point.place is None:
                    work.values[point.row] = self._checkdown.values(situation)
        if point.place is not None:
            shares = work.shares[point.row]
            if weights is not None:
                kernels.raise_shares(shares, weights, float(self._num_hands), combo)
            else:
                if combo < 0:
                    np.maximum(shares, 1.0 if situation.asked is None else situation.asked, out=shares)
                else:
                    shares[combo] = 1.0
        return point

    def _spread(self, key: "_Key", work: "_Answering") -> bool:
        """Return whether a point takes the mean of the points after its actions, and note them as its branches.

        It does if the hand is exactly at a decision of the tree, all actions that the blueprint takes there are asked
        about, and the points after the actions have values of the tree's play.
        """
        points, point, (size, history) = work.points, work.points[key], key
        situation, place = point.situation, point.place
        assert place is not None
        rules, tree, node = situation.rules, self._blueprint.tree, place.node
        street = int(tree.street[node])
        if rules.board_size(street) != size or not self._is_exact(situation, place):
            return False
        branches = [points.get((size, (*history, action))) for action in tree.actions(node).tolist()]
        if any(branch is not None and not branch.has_tree_values for branch in branches):
            return False
        seat = situation.state[betting.ACTOR]
        buckets = self._worlds_of(point).buckets[0, street]
        if seat != situation.seat:
            combo = rules.combo_id(situation.hole_cards[seat].tolist())
            buckets = buckets[combo : combo + 1]
        probabilities = np.empty((len(branches), len(buckets)))
        rows = np.array([point.row, *[-1 if branch is None else branch.row for branch in branches]])
        if not kernels.spread(self._tables, node, buckets, rows, work.shares, probabilities):
            return False
        point.branches = probabilities, rows
        return True

    def _is_exact(self, situation: Situation, place: RollOutPlace) -> bool:
        """Return whether a hand has the same chips at the table as at its place in the tree."""
        num_seats = situation.rules.num_seats
        contributions = situation.state[betting.CONTRIB : betting.CONTRIB + num_seats]
        in_tree = [place.paid[tree_seat] for tree_seat in place.seats if tree_seat >= 0]
        rules = self._blueprint.rules
        return contributions == in_tree and (situation.rules is rules or situation.rules == rules)

    def _roll_out(self, points: "Sequence[_Point]", seat: int, work: "_Answering") -> None:
        """Fill in the values of points with the same cards, by roll-outs from their places in the tree."""
        first = points[0].place
        assert first is not None
        known = self._known_of(points[0], first.seats)
        own = first.seats[seat]
        places, chips = [], []
        for point in points:
            place = point.place
            assert place is not None
            places.append((point.row, known.line(place.node), place.node))
            # The chips that the seat gets from the tree's pot, scaled to the pot at the table, less its contribution
            # there.
            contribution = point.situation.state[betting.CONTRIB + seat]
            chips.append((place.paid[own], place.pot / sum(place.paid), contribution))
        kernels.fill_values(
            self._tables,
            known.roll_out,
            KnownMeans(known.means, known.is_known),
            np.array(places, np.int64),
            np.array(chips, np.float64),
            Thinning(work.shares, self._thresholds, self._asked),
            self._work,
            self._sums,
            work.values,
        )

    def _known_of(self, point: "_Point", seats: tuple[int, ...]) -> "_Known":
        """Return the means known for the cards of a point and the tree's seats of the table's seats."""
        known = self._known.get((point.cards, seats))
        if known is None:
            situation = point.situation
            rules, own = situation.rules, seats[situation.seat]
            worlds = self._worlds_of(point)
            combos = np.full(rules.num_seats, -1, np.int64)  # stays -1 for `own` and for empty seats
            for seat, tree_seat in enumerate(seats):
                if tree_seat not in (-1, own):
                    combos[tree_seat] = rules.combo_id(situation.hole_cards[seat].tolist())
            # With one run-out all actions are followed.
            small = self._small if len(worlds.ranks) > 1 else len(self._tables.sizes)
            in_seats = RollOutSeats(own, combos, self._biases, 1.0)
            roll_out = RollOut(in_seats, self._stakes, worlds, small, self._seed)
            known = self._known[point.cards, seats] = _Known(roll_out, rules.num_combos)
        return known

    def _worlds_of(self, point: "_Point") -> Worlds:
        """Return the worlds for the cards of a point, the same for all points of a deck with these cards."""
        if point.cards not in self._worlds:
            self._worlds[point.cards] = self._make_worlds(point.situation, is_alone=point.cards[-1])
        return self._worlds[point.cards]

    def _make_worlds(self, situation: Situation, *, is_alone: bool) -> Worlds:
        """Return complete boards, all or a sample, with the ranks and buckets of all combos.

        The new cards of a sample come from one shuffled deck, if it has enough cards. Then no two boards share a new
        card, and every combo is possible on all boards but two at most.
        """
        rules, free = situation.rules, situation.free_cards()
        num_cards = rules.num_board_cards - len(situation.board)
        num_worlds = max(self.num_samples, _WORLDS_ALONE) if is_alone else self.num_samples
        num_sets = comb(len(free), num_cards)
        if num_sets > num_worlds and num_worlds * num_cards <= len(free):
            rest = self.rng.permutation(free)[: num_worlds * num_cards].reshape(num_worlds, num_cards)
        else:
            rest = next_boards(situation, num_cards, num_worlds, num_worlds, self.rng)
        boards = np.empty((len(rest), rules.num_board_cards), np.uint8)
        boards[:, : len(situation.board)] = situation.board
        boards[:, len(situation.board) :] = rest
        game = self._blueprint.game
        ranks = np.empty((len(boards), rules.num_combos), np.uint16)
        buckets = np.empty((len(boards), game.num_streets, rules.num_combos), np.int32)
        fill_ranks(rank_tables(), self._combos, boards, ranks)
        fill_buckets(game, self._arrays, boards, buckets)
        holdable = situation._replace(board=()).holdable()
        if num_sets > num_worlds and not is_alone:
            kernels.share_worlds(np.where(holdable, self._offsets, -1), self._per_combo, ranks)
        return Worlds(ranks, buckets, holdable)


_Key = tuple[int, tuple[int, ...]]
"""The number of board cards of a point, and the actions that lead to it."""

_Cards = tuple[int, tuple[int, ...], bytes, bool]
"""A seat, the board, the other seats' hole cards, and whether one combo is asked about alone."""


def _num_actions(item: "tuple[_Key, _Point]") -> int:
    return len(item[0][1])


class _Point:
    """A situation that is asked about, and its place in the tree if it has one.

    `row` is its row in the arrays of `_Answering`. If its values are means over those of the points after its actions,
    `branches` are the probabilities of the actions and the rows, as `mix` takes them.
    """

    __slots__ = ("row", "situation", "cards", "place", "branches")

    def __init__(self, row: int, situation: Situation, cards: "_Cards"):
        self.row = row
        self.situation = situation
        self.cards = cards
        self.place: RollOutPlace | None = None
        self.branches: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def has_tree_values(self) -> bool:
        """Whether the values are those of the tree's play: at a place, at the end of a hand, or after the seat folded.

        Elsewhere they are values by checkdown.
        """
        state = self.situation.state
        is_over = state[betting.ACTOR] < 0 or bool(state[betting.FOLDED + self.situation.seat])
        return self.place is not None or is_over


class _Answering:
    """The points of one call of `answers`.

    Attributes
    ----------
    points : dict of _Point
    decisions : set of _Key
        The keys of decisions after which there is a point.
    shares, values : float64[num_points, num_combos]
        The share of each combo, see `Thinning`, and its value. There may be more rows than points.
    """

    __slots__ = ("points", "decisions", "shares", "values")

    def __init__(self, num_questions: int, num_combos: int):
        self.points: dict[_Key, _Point] = {}
        self.decisions: set[_Key] = set()
        self.shares = np.zeros((num_questions, num_combos))
        self.values = np.empty((num_questions, num_combos))


class _Known:
    """The mean values that are known for one seat's hands against known cards, at some nodes of the tree.

    Attributes
    ----------
    roll_out : RollOut
    means : float64[num_lines, num_combos]
    is_known : bool[num_lines, num_combos]
        Whether each mean is known. There may be more lines than nodes.
    """

    def __init__(self, roll_out: RollOut, num_combos: int):
        self.roll_out = roll_out
        self.means = np.empty((_FIRST_LINES, num_combos))
        self.is_known = np.zeros((_FIRST_LINES, num_combos), np.bool_)
        self._lines: dict[int, int] = {}

    def line(self, node: int) -> int:
        """Return the line of a node, a new one if the node has none."""
        line = self._lines.get(node)
        if line is None:
            line = self._lines[node] = len(self._lines)
            if line == len(self.means):
                self.means = np.concatenate([self.means, np.empty_like(self.means)])
                self.is_known = np.concatenate([self.is_known, np.zeros_like(self.is_known)])
        return line


def warmup() -> None:
    """Compile every kernel of this module."""
    for exact in (False, True):
        BlueprintValues(untrained_blueprint(exact=exact)).answers(first_questions(LEDUC))
