"""Values of self-play: a seat's net chips if all seats follow a blueprint, given the other seats' true cards."""

import hashlib
from collections.abc import Hashable, Sequence

import numpy as np

from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.hand_rank import rank_tables
from plurispiel.abstraction.holdem.hand_rank_kernels import fill_ranks
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.agents.blueprint import roll_out_kernels as kernels
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets
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
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.evaluation.value_functions import NO_CARD, Checkdown, Situation, ValueFunction, next_boards

__all__ = ["BlueprintValues"]

SMALL = 40
"""Number of nodes up to which a subtree is small: roll-outs through it take all actions of the other seats."""

_HEADS_UP_WORLDS, _MULTIWAY_WORLDS = 16, 8
_MAX_KEPT = 50_000


class BlueprintValues(ValueFunction):
    """A seat's expected net chips in self-play of a blueprint: roll-outs with common random numbers.

    Roll-outs take all actions of the seat, for all its combos at once. They also take all actions of the other seats in
    subtrees of at most `small` nodes and where only one run-out is played. Elsewhere they draw one action at each
    decision of another seat. They play on `num_worlds` sampled run-outs, or on all run-outs if there are no more. All
    situations of a deck share random numbers, so that errors common to both sides of a correction cancel. Off-tree bets
    count as the nearest size, with the pot scaled. A row without training takes the strategy of the nearest bucket.
    `Checkdown` values are used where all betting is over, and where `find_place` finds no decision of the tree that
    fits the hand.

    Parameters
    ----------
    blueprint : Blueprint
        The blueprint to play, loaded with its bucket table.
    seat_values : sequence of float, optional
        Each seat's mean in self-play, in chips, with the sum 0. Errors of the means cancel when an agent plays a deck
        in all seats. By default the means are taken over all deals or over a sample (`ValueFunction.deal_mean`).
    num_worlds : int
        Number of run-outs to draw; 0 stands for 16 heads-up and 8 with more seats.
    small : int
        The largest number of nodes of a subtree in which all actions of the other seats are taken.

    Raises
    ------
    ValueError
        If the blueprint's bucket table is missing.

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
        cards, rules = blueprint.cards, blueprint.rules
        if not isinstance(cards, CardBuckets):
            raise ValueError(
                "BlueprintValues needs the bucket table that the blueprint was trained with, and the table is missing; "
                "build it with plurispiel abstraction build"
            )
        if seat_values is not None and (len(seat_values) != rules.num_seats or abs(sum(seat_values)) > 1e-6):
            raise ValueError(f"seat_values are {rules.num_seats} numbers with the sum 0, got {list(seat_values)}")
        self.num_samples = num_worlds or (_HEADS_UP_WORLDS if rules.num_seats == 2 else _MULTIWAY_WORLDS)
        self._blueprint = blueprint
        self._arrays = cards.arrays
        self._seat_values = seat_values
        self._small = small
        self._tables, depth = roll_out_tables(blueprint)
        self._work = roll_out_workspace(rules, depth)
        self._combos = np.array(rules.combos)
        self._checkdown = Checkdown()
        self._biases = np.zeros(rules.num_seats, np.int64)
        self._stakes = tree_stakes(rules)
        self._hand = hand_in_tree(rules, blueprint)
        self._places: dict[tuple[int, ...], RollOutPlace | None] = {}
        self.restart(np.random.default_rng(0))

    @property
    def digest(self) -> str:
        """A hash of the blueprint and all parameters."""
        parts = self.name, self.version, self._blueprint.digest, self.num_samples, self._small, self._seat_values
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    def restart(self, rng: np.random.Generator) -> None:
        """Begin with a new deck."""
        super().restart(rng)
        self._checkdown.restart(rng)
        # One seed for all roll-outs of a deck: both sides of a correction meet the same chances.
        self._seed = np.uint64(rng.integers(2**63))
        self._worlds: dict[Hashable, Worlds] = {}
        self._known: dict[Hashable, tuple[np.ndarray, np.ndarray]] = {}

    def values(self, situation: Situation) -> np.ndarray:
        """Return the value of every combo; if the situation asks for some combos, other entries are arbitrary."""
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
        """Return the values before the cards come, since these values are means over run-outs already."""
        return self.values(situation)

    def deal_mean(self, rules: HoldemRules, seat: int) -> float:
        """Return the seat's mean in self-play (`seat_values`), in chips."""
        return super().deal_mean(rules, seat) if self._seat_values is None else self._seat_values[seat]

    def _place(self, actions: tuple[int, ...]) -> RollOutPlace | None:
        """Return the decision of the tree after some actions of a hand; None where `find_place` finds none."""
        if actions not in self._places:
            if len(self._places) >= _MAX_KEPT:
                self._places.clear()
            self._places[actions] = find_place(self._hand, actions)
        return self._places[actions]

    def _play_on(self, situation: Situation, place: RollOutPlace, cards: Hashable, asked: np.ndarray) -> np.ndarray:
        """Return the values of the asked combos from a node on, and arbitrary numbers for others."""
        rules = situation.rules
        if cards not in self._worlds:
            self._worlds[cards] = self._make_worlds(situation)
        worlds = self._worlds[cards]
        own = place.seats[situation.seat]
        combos = np.full(rules.num_seats, -1, np.int64)  # stays -1 for `own` and for empty seats
        for seat, tree_seat in enumerate(place.seats):
            if tree_seat not in (-1, own):
                combos[tree_seat] = rules.combo_id(situation.hole_cards[seat].tolist())
        seats = RollOutSeats(own, combos, self._biases, 1.0)
        sums = RollOutSums(np.zeros(rules.num_combos), np.zeros(rules.num_combos))
        small = self._small if len(worlds.ranks) > 1 else len(self._tables.sizes)  # with one run-out follow all actions
        kernels.add_values(
            self._tables, seats, self._stakes, worlds, asked, place.node, small, self._seed, self._work, sums
        )
        values = sums.totals / np.maximum(sums.counts, 1.0)
        # The chips that the seat gets from the tree's pot, scaled to the pot at the table, less its contribution there.
        values += place.paid[own]
        values *= place.pot / sum(place.paid)
        values -= situation.state[betting.CONTRIB + situation.seat]
        values.setflags(write=False)
        return values

    def _make_worlds(self, situation: Situation) -> Worlds:
        """Return complete boards, all or a sample, with the ranks and buckets of all combos.

        If only one board card is missing, no board is drawn twice.
        """
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


def warmup() -> None:
    """Compile every kernel of this module."""
    plan = Schedule(1, num_snapshots=0)
    blueprint = Trainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), plan).blueprint()
    hole_cards = np.array([[NO_CARD], [0]], np.uint8)
    BlueprintValues(blueprint).values(Situation(LEDUC, 0, hole_cards, (), (), BettingState(LEDUC).array.tolist()))
