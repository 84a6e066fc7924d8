"""Values of self-play: what a seat wins if everybody goes on by a blueprint, given the real cards of the others."""

import hashlib
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.translation import ShadowHand, Translation, TreeStates
from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.holdem import _betting_kernels as betting
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.hand_rank import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, MAX_SEATS, HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.agents.blueprint.traversal_tree import traversal_tree
from plurispiel.evaluation import _blueprint_values_kernels as kernels
from plurispiel.evaluation._value_functions_kernels import fill_ranks
from plurispiel.evaluation.value_functions import NO_CARD, Checkdown, Situation, ValueFunction, next_boards

__all__ = ["BlueprintValues"]

SMALL = 40
"""Nodes of a subtree in which everything that the others may do is followed; in larger ones it is drawn."""

MAX_SCALE = 1.5
"""By how much the pot may differ from that of the tree; in others the same bets are worth other things."""

_HEADS_UP_WORLDS, _MULTIWAY_WORLDS = 16, 8
_MAX_KEPT = 50_000


class Worlds(NamedTuple):
    """Whole boards that stand for all that can come.

    Attributes
    ----------
    ranks : uint16[num_worlds, num_combos]
        0 where a combo shares a card with the board.
    buckets : int32[num_worlds, num_streets, num_combos]
    free : bool[num_combos]
        Combos that share no card with those of the other seats.
    """

    ranks: np.ndarray
    buckets: np.ndarray
    free: np.ndarray


class Workspace(NamedTuple):
    """The stack of a traversal, one level for each decision where several actions are followed.

    Attributes
    ----------
    lists : int32[depth, num_combos]
        Hands that come to a level.
    listed, num_listed : int64[depth]
        Which list a level has, as several may share one, and how many hands each list has.
    values, scales : float64[depth, num_combos]
        What each hand wins, and one over the sum of its row.
    nodes, places : int64[depth]
        The decision, and the action that is followed.
    ranks : int64[num_seats]
    ends : float64[2 * MAX_SEATS + 1]
    """

    lists: np.ndarray
    listed: np.ndarray
    num_listed: np.ndarray
    values: np.ndarray
    scales: np.ndarray
    nodes: np.ndarray
    places: np.ndarray
    ranks: np.ndarray
    ends: np.ndarray


class _Place(NamedTuple):
    """A decision of the hand in the tree: the seat of each player there, and the chips in the hand's pot."""

    node: int
    seats: tuple[int, ...]
    pot: int


class BlueprintValues(ValueFunction):
    """What a seat wins if everybody goes on by a blueprint: roll-outs with common random numbers.

    All own actions are followed for all hands at once, the others' too where little of the tree is left, and
    elsewhere drawn; boards are drawn where there are many. The numbers are the same for whatever is asked of a deck.
    Bets that are not in the tree count as the nearest size, and the pot is scaled. Where the tree has no decision, has
    left somebody out or has quite another pot, or where nobody can bet any more, the value is that of `Checkdown`.
    A row that was never learnt is that of the nearest bucket.

    Parameters
    ----------
    blueprint : Blueprint
        With its bucket table.
    seat_values : sequence of float, optional
        What each seat wins in self-play, in chips, with the sum 0. An error in them cancels out when an agent plays a
        deck in all seats. By default they are found by enumeration, which is for small games.
    num_worlds : int, optional
        Boards drawn; by default 16 heads-up and 8 for more seats.
    small : int
        See `SMALL`.

    Raises
    ------
    ValueError
        If the buckets of the blueprint would have to be computed.

    References
    ----------
    N. Burch et al.: AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information Games.
    AAAI (2018).
    """

    name = "blueprint"
    version = 1

    def __init__(
        self,
        blueprint: Blueprint,
        seat_values: Sequence[float] | None = None,
        *,
        num_worlds: int = 0,
        small: int = SMALL,
    ):
        cards, rules, tree = blueprint.cards, blueprint.rules, blueprint.tree
        if not isinstance(cards, CardBuckets):
            raise ValueError("values of self-play need the bucket table that the blueprint was trained with; build it")
        if seat_values is not None and (len(seat_values) != rules.num_seats or abs(sum(seat_values)) > 1e-6):
            raise ValueError(f"seat_values are {rules.num_seats} numbers with the sum 0, got {list(seat_values)}")
        self.num_samples = num_worlds or (_HEADS_UP_WORLDS if rules.num_seats == 2 else _MULTIWAY_WORLDS)
        self._blueprint = blueprint
        self._arrays = cards.arrays
        self._num_buckets = np.array(cards.num_buckets, np.int64)
        self._seat_values = seat_values
        self._small = small
        self._tree = traversal_tree(tree)
        self._sizes, depths = np.empty(len(tree.actor), np.int32), np.empty(len(tree.actor), np.int32)
        kernels.count_nodes(tree, self._sizes, depths)
        self._rows = np.empty_like(blueprint.rows)
        for street, buckets in enumerate(cards.num_buckets):
            decisions = blueprint.decisions(street)
            kernels.turn_rows(tree, blueprint.game, decisions, street, buckets, blueprint.rows, self._rows)
        self._work = _workspace(rules, int(depths.max()) + 2)
        self._combos = np.array(rules.combos)
        self._checkdown = Checkdown()
        self._hand = ShadowHand(Translation(rules, TreeStates(rules, tree)))
        self._places: dict[tuple[int, ...], _Place | None] = {}
        self.restart(np.random.default_rng(0))

    @property
    def digest(self) -> str:
        """A hash of all that decides the values."""
        parts = self.name, self.version, self._blueprint.digest, self.num_samples, self._small, self._seat_values
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    def restart(self, rng: np.random.Generator) -> None:
        """Begin with a new deck."""
        super().restart(rng)
        self._checkdown.restart(rng)
        self._seed = np.uint64(rng.integers(2**63))
        self._worlds: dict[Hashable, Worlds] = {}
        self._known: dict[Hashable, tuple[np.ndarray, np.ndarray]] = {}

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo, or of those that are asked."""
        rules, seat, state = situation.rules, situation.seat, situation.state
        if state[betting.FOLDED + seat]:
            return np.full(rules.num_combos, -float(state[betting.CONTRIB + seat]))
        place = self._place(tuple(action.action for action in situation.actions))
        if place is None:
            return self._checkdown.values(situation)
        cards = seat, situation.board, situation.hole_cards.tobytes()
        key = cards, place, state[betting.CONTRIB + seat]
        asked = np.ones(rules.num_combos, np.bool_) if situation.asked is None else situation.asked
        if key not in self._known:
            self._known[key] = self._play_on(situation, place, cards, asked), asked
        values, known = self._known[key]
        missing = asked & ~known
        if missing.any():
            values = np.where(known, values, self._play_on(situation, place, cards, missing))
            self._known[key] = values, known | missing
        return values

    def next_board_means(self, situation: Situation, num_cards: int) -> np.ndarray:
        """Return the value before the cards: it is their mean over what can come, found with other boards."""
        return self.values(situation)

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the seat's value in self-play."""
        return super().deal_mean(rules, seat) if self._seat_values is None else self._seat_values[seat]

    def _place(self, actions: tuple[int, ...]) -> _Place | None:
        """Return where the tree stands after some actions of a hand; None where it says little of it."""
        if actions not in self._places:
            if len(self._places) >= _MAX_KEPT:
                self._places.clear()
            self._places[actions] = self._find_place(actions)
        return self._places[actions]

    def _find_place(self, actions: tuple[int, ...]) -> _Place | None:
        at = self._hand.at(actions)
        translation = self._hand.translation
        if at.state.is_over or translation.decision(at.shadow, at.state) is None:
            return None
        found = _Place(at.shadow.node, at.shadow.seats, sum(at.state.contributions))
        in_tree = sum(translation.states.state(found.node).contributions)
        everybody = all(seat >= 0 for seat, folded in zip(found.seats, at.state.folded, strict=True) if not folded)
        return found if everybody and max(found.pot, in_tree) <= MAX_SCALE * min(found.pot, in_tree) else None

    def _play_on(self, situation: Situation, place: _Place, cards: Hashable, asked: np.ndarray) -> np.ndarray:
        """Return what the hands asked for win from a decision on, and any numbers for others."""
        rules = situation.rules
        if cards not in self._worlds:
            self._worlds[cards] = self._make_worlds(situation)
        worlds = self._worlds[cards]
        own = place.seats[situation.seat]
        held = np.full(rules.num_seats, -1, np.int64)
        for seat, tree_seat in enumerate(place.seats):
            if tree_seat not in (-1, own):
                held[tree_seat] = rules.combo_id(situation.hole_cards[seat].tolist())
        totals, counts = np.zeros(rules.num_combos), np.zeros(rules.num_combos)
        small = self._small if len(worlds.ranks) > 1 else len(self._sizes)  # one world alone would be all noise
        kernels.add_values(
            self._tree,
            self._blueprint.game,
            self._rows,
            self._num_buckets,
            self._sizes,
            small,
            place.node,
            own,
            held,
            asked,
            worlds,
            self._seed,
            self._work,
            totals,
            counts,
        )
        values = totals / np.maximum(counts, 1.0)
        paid = self._hand.translation.states.state(place.node).contributions
        values += paid[own]
        values *= place.pot / sum(paid)
        values -= situation.state[betting.CONTRIB + situation.seat]
        values.setflags(write=False)
        return values

    def _make_worlds(self, situation: Situation) -> Worlds:
        """Return boards that can come, all of them or some: of single cards each but once."""
        rules = situation.rules
        num_cards = rules.num_board_cards - len(situation.board)
        if num_cards == 1:
            rest = self.rng.permutation(situation.free_cards())[: self.num_samples, None]
        else:
            rest = next_boards(situation, num_cards, self.num_samples, self.num_samples, self.rng)
        boards = np.empty((len(rest), rules.num_board_cards), np.uint8)
        boards[:, : len(situation.board)] = situation.board
        boards[:, len(situation.board) :] = rest
        game = self._blueprint.game
        ranks = np.empty((len(boards), rules.num_combos), np.uint16)
        buckets = np.empty((len(boards), game.num_streets, rules.num_combos), np.int32)
        fill_ranks(rank_tables(), self._combos, boards, ranks)
        kernels.fill_buckets(game, self._arrays, boards, buckets)
        return Worlds(ranks, buckets, situation._replace(board=()).holdable())


def _workspace(rules: HoldemRules, depth: int) -> Workspace:
    combos = rules.num_combos
    return Workspace(
        lists=np.zeros((depth, combos), np.int32),
        listed=np.zeros(depth, np.int64),
        num_listed=np.zeros(depth, np.int64),
        values=np.zeros((depth, combos)),
        scales=np.zeros((depth, combos)),
        nodes=np.zeros(depth, np.int64),
        places=np.zeros(depth, np.int64),
        ranks=np.zeros(rules.num_seats, np.int64),
        ends=np.zeros(2 * MAX_SEATS + 1),
    )


def warmup() -> None:
    """Compile every kernel of this module."""
    plan = Schedule(1, num_snapshots=0)
    blueprint = Trainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), plan).blueprint()
    hole_cards = np.array([[NO_CARD], [0]], np.uint8)
    BlueprintValues(blueprint).values(Situation(LEDUC, 0, hole_cards, (), (), BettingState(LEDUC).array.tolist()))
