"""Roll-outs of a blueprint from any node of its tree. A roll-out values all hands of one seat together.

A *world* is a sampled whole board, with a random number for every decision (`roll_out_kernels`). A *place* is the
decision of the blueprint's tree that stands for the position of a hand at the table, see `RollOutPlace`.
"""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.translation import Place, ShadowHand, Translation
from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import FOLD, BettingState
from plurispiel.abstraction.holdem.rules import MAX_CHIPS, MAX_SEATS, HoldemRules
from plurispiel.agents.blueprint import roll_out_kernels as kernels
from plurispiel.agents.blueprint.blueprint import Blueprint, GameArrays
from plurispiel.agents.blueprint.traversal_tree import TraversalTree, traversal_tree

__all__ = [
    "MAX_SCALE",
    "RollOutPlace",
    "RollOutSeats",
    "RollOutSize",
    "RollOutSums",
    "RollOutTables",
    "RollOutWorkspace",
    "Stakes",
    "StreetStarts",
    "Worlds",
    "find_place",
    "hand_in_tree",
    "place_at",
    "roll_out_tables",
    "roll_out_workspace",
    "stakes_at",
    "tree_stakes",
]

MAX_SCALE = 1.5
"""The largest ratio between the pots of hand and tree, both in big blinds, at which the tree's strategy is used."""

_NO_LIMIT = 2**62  # above all chips, and `int64` still has room for sums


class Worlds(NamedTuple):
    """Sampled whole boards.

    Attributes
    ----------
    ranks : uint16[num_worlds, num_combos]
        The hand rank of each combo on each board; 0 for a combo that shares a card with the board.
    buckets : int32[num_worlds, num_streets, num_combos]
        The bucket of each combo on each street of each board.
    free : bool[num_combos]
        Whether each combo is compatible with the known combos of the other seats.
    """

    ranks: np.ndarray
    buckets: np.ndarray
    free: np.ndarray


class RollOutTables(NamedTuple):
    """A blueprint laid out for roll-outs.

    Attributes
    ----------
    tree : TraversalTree
    game : GameArrays
    rows : float32 or uint8[num_cells]
        The blueprint's rows in the order of `roll_out_kernels.turn_rows`, with missing rows filled in.
    num_buckets : int64[num_streets]
        Number of buckets on each street.
    sizes : int32[num_nodes]
        The number of nodes in the subtree of each node.
    """

    tree: TraversalTree
    game: GameArrays
    rows: np.ndarray
    num_buckets: np.ndarray
    sizes: np.ndarray


class RollOutSeats(NamedTuple):
    """The players of a roll-out, by the tree's seats.

    Attributes
    ----------
    own : int
        The seat whose hands are all followed.
    combos : int64[num_seats]
        The known combo of each other seat; -1 for an empty seat, which checks and calls.
    biases : int64[num_seats]
        The kind of action that each seat's continuation strategy makes likelier: 1 folds, 2 calls, 3 raises, 0 none.
    factor : float
        The factor on the probability of such an action, before the probabilities are normalised.
    """

    own: int | np.int64
    combos: np.ndarray
    biases: np.ndarray
    factor: float


class RollOutSize(NamedTuple):
    """The size of a tree: `depth`, the most decisions on the way to an end; `width`, the most actions at a decision."""

    depth: int
    width: int


class RollOutSums(NamedTuple):
    """Sums over worlds: `totals`, the chips that each combo wins; `counts`, the worlds in which the combo is valued.

    Both are float64[num_combos]. A combo that is asked for is valued in the worlds where it shares no card with the
    board or with a known combo.
    """

    totals: np.ndarray
    counts: np.ndarray


class RollOutWorkspace(NamedTuple):
    """The stack of a roll-out, one level for each decision where several actions are followed.

    Attributes
    ----------
    lists : uint32[room]
        Lists of the own seat's combos, one after the other.
    chances, reaches : float64[room]
        For each combo of a list that belongs to an action, the factor on the combo's value after the action, and the
        combo's reach there (`roll_out_kernels.add_values`).
    starts, num_listed : int64[depth]
        For each level, where the list of the combos that reach the level begins in `lists`, and the list's length.
        Levels may share a list.
    tops : int64[depth]
        For each level, the index in `lists` where the lists in use end. The lists of the actions of an own decision
        begin there.
    numbers : int64[depth, width]
        For each level with an own decision, the number of combos that take each action.
    cells, totals : uint32[num_combos], float64[num_combos]
        For each combo of a list, the index of its row's first cell among the decision's cells, and 1 / the sum of its
        biased row. `cells` and `lists` are unsigned, since numba tests a signed index for negative numbers at every
        access.
    rests, least : float64[num_combos]
        For each combo of a list, the sum that decides which actions the combo takes, modulo 1, and 1 / the combo's
        reach (`roll_out_kernels._list_actions`).
    values : float64[depth, num_combos]
        For each level and combo, the combo's value.
    nodes, places : int64[depth]
        For each level, the decision and the index of the action that is followed.
    ranks, chips : int64[num_seats]
        The rank of each seat's known hand in the world, and the chips that each seat has put in at an end.
    ends : float64[3 * MAX_SEATS + 1]
        Workspace of `fill_end`.
    """

    lists: np.ndarray
    chances: np.ndarray
    reaches: np.ndarray
    starts: np.ndarray
    num_listed: np.ndarray
    tops: np.ndarray
    numbers: np.ndarray
    cells: np.ndarray
    totals: np.ndarray
    rests: np.ndarray
    least: np.ndarray
    values: np.ndarray
    nodes: np.ndarray
    places: np.ndarray
    ranks: np.ndarray
    chips: np.ndarray
    ends: np.ndarray


class Stakes(NamedTuple):
    """The conversion of the tree's chips to chips of the hand that continues in the tree, by the tree's seats.

    Attributes
    ----------
    paid : int64[num_seats]
        Chips that each seat has put in at the tree's decision where the roll-out begins.
    put_in : int64[num_seats]
        Chips that each seat has put into the hand by then.
    most_paid, most_put_in : int
        The maxima of `paid` and `put_in`. A contribution of `most_paid` in the tree is converted to `most_put_in`, so a
        seat that has called in the tree has called in the hand.
    stacks : int64[num_seats]
        The largest contribution that each seat can reach in the hand.
    scale : float
        Chips of the hand for each chip that a seat puts in beyond `most_paid` in the tree.
    """

    paid: np.ndarray
    put_in: np.ndarray
    most_paid: int
    most_put_in: int
    stacks: np.ndarray
    scale: float


class RollOutPlace(NamedTuple):
    """The decision of the tree at which a hand stands.

    Attributes
    ----------
    node : int
        The decision's node in the tree.
    seats : tuple of int
        The tree's seat of each seat at the table, -1 for a seat that is not in the tree.
    paid : tuple of int
        Chips that each of the tree's seats has put in at the node.
    pot : int
        Chips in the hand's pot.
    """

    node: int
    seats: tuple[int, ...]
    paid: tuple[int, ...]
    pot: int


def roll_out_tables(blueprint: Blueprint) -> tuple[RollOutTables, RollOutSize]:
    """Return a blueprint laid out for roll-outs, and the size of its tree."""
    tree, num_buckets = blueprint.tree, blueprint.cards.num_buckets
    sizes, depths = np.empty(len(tree.actor), np.int32), np.empty(len(tree.actor), np.int32)
    kernels.count_nodes(tree, sizes, depths)
    rows = np.empty_like(blueprint.rows)
    for street, buckets in enumerate(num_buckets):
        decisions = blueprint.decisions(street)
        kernels.turn_rows(tree, blueprint.game, decisions, street, buckets, blueprint.rows, rows)
    tables = RollOutTables(traversal_tree(tree), blueprint.game, rows, np.array(num_buckets, np.int64), sizes)
    return tables, RollOutSize(int(depths.max()), int(tree.num_actions.max()))


def roll_out_workspace(rules: HoldemRules, size: RollOutSize) -> RollOutWorkspace:
    """Return a workspace for trees of at most the given size."""
    combos, levels = rules.num_combos, size.depth + 2
    room = (2 + levels * size.width) * combos  # all combos asked for, those valued in a world, and lists of actions
    return RollOutWorkspace(
        lists=np.zeros(room, np.uint32),
        chances=np.zeros(room),
        reaches=np.zeros(room),
        starts=np.zeros(levels, np.int64),
        num_listed=np.zeros(levels, np.int64),
        tops=np.zeros(levels, np.int64),
        numbers=np.zeros((levels, size.width), np.int64),
        cells=np.zeros(combos, np.uint32),
        totals=np.zeros(combos),
        rests=np.zeros(combos),
        least=np.zeros(combos),
        values=np.zeros((levels, combos)),
        nodes=np.zeros(levels, np.int64),
        places=np.zeros(levels, np.int64),
        ranks=np.zeros(rules.num_seats, np.int64),
        chips=np.zeros(rules.num_seats, np.int64),
        ends=np.zeros(3 * MAX_SEATS + 1),
    )


def tree_stakes(rules: HoldemRules) -> Stakes:
    """Return the stakes of a roll-out in the tree's game itself: a chip of the hand is a chip of the tree."""
    none = np.zeros(rules.num_seats, np.int64)
    return Stakes(none, none, 0, 0, np.full(rules.num_seats, _NO_LIMIT), 1.0)


def stakes_at(place: RollOutPlace, state: BettingState) -> Stakes:
    """Return the stakes of a hand that continues in the tree, from its betting state and its place.

    A folded seat puts in no more chips. Its contribution stays with its seat in the tree. The contribution of a folded
    seat that is not in the tree goes to a tree seat that stands for no seat at the table.
    """
    paid = np.array(place.paid, np.int64)
    spare = [seat for seat in range(len(paid)) if seat not in place.seats]
    put_in, stacks = np.zeros_like(paid), np.zeros_like(paid)
    all_stacks = state.rules.stacks or (MAX_CHIPS,) * state.rules.num_seats
    for tree_seat, chips, folded, stack in zip(place.seats, state.contributions, state.folded, all_stacks, strict=True):
        seat = tree_seat if tree_seat >= 0 else spare.pop()
        put_in[seat], stacks[seat] = chips, chips if folded else stack
    return Stakes(paid, put_in, int(paid.max()), int(put_in.max()), stacks, place.pot / sum(place.paid))


def hand_in_tree(rules: HoldemRules, blueprint: Blueprint) -> ShadowHand:
    """Return a `ShadowHand`, which finds the positions of a game's hands in a blueprint's tree.

    Off-tree bets are mapped deterministically, as the Pluribus supplement maps leaves of a search to the blueprint.

    Raises
    ------
    ValueError
        If the game has more seats than the blueprint's game, or other cards.
    """
    return ShadowHand(Translation(rules, TreeStates(blueprint.rules, blueprint.tree)))


def find_place(hand: ShadowHand, actions: tuple[int, ...]) -> RollOutPlace | None:
    """Return the place of a hand after some actions, see `place_at`."""
    return place_at(hand, hand.at(actions))


def place_at(hand: ShadowHand, at: Place) -> RollOutPlace | None:
    """Return the decision of the tree that stands for a position of a hand.

    None if the hand is over, or where the tree does not fit: the tree has no decision there, a seat still in the hand
    is not in the tree, or the pots of hand and tree differ by a factor above `MAX_SCALE`.
    """
    if at.state.is_over or hand.translation.decision(at.shadow, at.state) is None:
        return None
    everybody = all(seat >= 0 for seat, folded in zip(at.shadow.seats, at.state.folded, strict=True) if not folded)
    return _place(hand, at.state, at.shadow.node, at.shadow.seats) if everybody else None


class StreetStarts:
    """The starts of the streets after the first in a tree, found by the seats still in the hand and their chips.

    Parameters
    ----------
    tree : BettingTree
    """

    def __init__(self, tree: BettingTree):
        # By street, actor and folded seats: the chips that the actor has put in, in ascending order, and the nodes.
        self._starts: dict[tuple[int, int, int], tuple[list[int], list[int]]] = {}
        folded, found = np.zeros(len(tree.actor), np.int64), []
        nodes = np.zeros(1, np.int64)
        while len(nodes := nodes[tree.actor[nodes] >= 0]):  # one step further from the root at a time
            counts = tree.num_actions[nodes].astype(np.int64)
            numbers = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            parents, children = np.repeat(nodes, counts), np.repeat(tree.first_child[nodes], counts) + numbers
            folds = (tree.action[children] == FOLD).astype(np.int64)
            folded[children] = folded[parents] | folds << tree.actor[parents].astype(np.int64)
            found.append(children[(tree.street[children] > tree.street[parents]) & (tree.actor[children] >= 0)])
            nodes = children
        starts = np.concatenate(found)
        starts = starts[np.lexsort((starts, tree.paid[starts]))]
        for node in starts.tolist():
            key = int(tree.street[node]), int(tree.actor[node]), int(folded[node])
            paid, nodes_of_key = self._starts.setdefault(key, ([], []))
            paid.append(int(tree.paid[node]))
            nodes_of_key.append(node)

    def find_place(self, hand: ShadowHand, actions: tuple[int, ...]) -> RollOutPlace | None:
        """Return the start of the street in the tree that is most similar to a hand after some actions.

        The same seats are in the hand there, and the contribution of the seat to act, in big blinds, is the nearest by
        ratio. If several are equally near, it is the node with the smallest number. None where the hand is not at the
        start of a street after the first, the tree has no start with these seats, or the pots differ by a factor above
        `MAX_SCALE`.
        """
        state, seats, tree_rules = hand.at(actions).state, hand.translation.tree_seats, hand.translation.states.rules
        if state.is_over or state.street == 0 or state.array[betting.NUM_ACTIONS]:
            return None
        live = sum(1 << place for place, gone in zip(seats, state.folded, strict=True) if not gone)
        key = state.street, seats[state.actor], (1 << tree_rules.num_seats) - 1 - live
        known, nodes = self._starts.get(key, ((), ()))
        paid = state.contributions[state.actor] * tree_rules.big_blind / state.rules.big_blind
        above = bisect_left(known, paid)
        # Nearest by ratio, not by difference: `_place` compares pots by their ratio, too.
        near = [known[k] for k in (above - 1, above) if 0 <= k < len(known)]
        nearest = min(near, key=lambda each: max(each, paid) / min(each, paid), default=None)
        return None if nearest is None else _place(hand, state, nodes[bisect_left(known, nearest)], seats)


def _place(hand: ShadowHand, state: BettingState, node: int, seats: tuple[int, ...]) -> RollOutPlace | None:
    """Return the place of a hand at a node; None if the pots there differ by a factor above `MAX_SCALE`."""
    states = hand.translation.states
    paid, pot = tuple(states.state(node).contributions), sum(state.contributions)
    # Each pot is multiplied by the other game's big blind, which compares pots in big blinds without a division.
    smaller, larger = sorted((pot * states.rules.big_blind, sum(paid) * state.rules.big_blind))
    return RollOutPlace(node, seats, paid, pot) if larger <= MAX_SCALE * smaller else None
