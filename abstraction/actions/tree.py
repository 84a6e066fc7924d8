"""The betting tree of an abstract game, as flat arrays: all sequences of actions that menus offer, for 2 to 10 seats.

Nodes are numbered so that the children of a node are contiguous and the nodes of a subtree are close together. A
decision's ``row`` is the index of its first action in the street's table. Decisions get their places in the table in
depth-first order, one for each action. The street's regret table holds one number for each decision, action and bucket.
The action with index a among a decision's actions has the *cell* (``row[node] + a``, bucket).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions import tree_kernels as kernels
from plurispiel.abstraction.actions.menu import ALL_IN_SHARE, parse_sizes
from plurispiel.abstraction.holdem.betting import rules_array
from plurispiel.abstraction.holdem.betting_layout import STATE_SIZE
from plurispiel.abstraction.holdem.rules import KUHN, MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.interrupts import undisturbed

__all__ = ["BettingTree", "GameMenu", "StreetMenu", "TreeSize", "build_tree", "game_menu", "tree_size"]

MAX_NODES = 2**31 - 1
_UNITS = {"pot": kernels.POT, "big blind": kernels.BIG_BLIND, "all-in": kernels.ALL_IN}


@dataclass(frozen=True)
class StreetMenu:
    """The bet sizes of one street, in the grammar of `menu`.

    Attributes
    ----------
    raises : tuple of str
        Entry r holds the sizes on offer after r raises on the street; after the last entry no raise is offered.
    multiway : tuple of str, optional
        Like `raises`, for use while three or more seats have not folded; by default `raises` is used then too.
    callers : tuple of int, optional
        Entry r is the number of seats that may call a bet after r raises; the last entry holds for more raises. A call
        for less, with the whole stack, does not count. The number does not limit calls where no raise is legal. Unless
        `GameMenu.push_or_fold` is set, it also does not limit calls with two live seats, or of the last seat to act. By
        default there is no limit.

    Raises
    ------
    ValueError
        If a text is not a menu (`parse_sizes`), or `callers` is empty or holds a number that is not 0 to 10.
    """

    raises: tuple[str, ...]
    multiway: tuple[str, ...] | None = None
    callers: tuple[int, ...] | None = None

    def __post_init__(self):
        for text in (*self.raises, *(self.multiway or ())):
            parse_sizes(text)
        if self.callers is not None and not (self.callers and all(0 <= most <= MAX_SEATS for most in self.callers)):
            raise ValueError(f"callers are one or more numbers of seats, each 0 to {MAX_SEATS}, got {self.callers}")


@dataclass(frozen=True)
class GameMenu:
    """The bet sizes of a game.

    Attributes
    ----------
    streets : tuple of StreetMenu
        The menu of each street; the last one also holds on later streets.
    all_in_share : float
        A raise to at least this share of the stack at the start of the hand becomes all-in.
    exact : bool
        Whether shares of the pot are offered as in `universal_poker`, where shares are at most 1. A share is then left
        out where its raise is below the smallest legal one or a raise of the whole pot is not legal. If False, a size
        that is not legal becomes the nearest legal raise, and `all_in_share` applies.
    push_or_fold : bool
        If True, a seat that faces a bet is offered a call only where no raise is legal.

    Raises
    ------
    ValueError
        If there is no street, or an exact menu has a size in big blinds or above the pot.
    """

    streets: tuple[StreetMenu, ...]
    all_in_share: float = ALL_IN_SHARE
    exact: bool = False
    push_or_fold: bool = False

    def __post_init__(self):
        if not self.streets:
            raise ValueError("a menu needs the bet sizes of at least one street, got none")
        for text in {text for street in self.streets for text in (*street.raises, *(street.multiway or ()))}:
            if self.exact and any(size.unit == "big blind" or size.amount > 1.0 for size in parse_sizes(text)):
                raise ValueError(f"an exact menu has shares of the pot up to 1 and all-in only, got {text!r}")


class MenuArrays(NamedTuple):
    """A menu as kernels read it.

    Attributes
    ----------
    first, length : int32[num_streets, live seats, raises so far]
        Index in `units` of the first size, and number of sizes. The last entry of an axis holds for all larger numbers.
    callers : int32[num_streets, raises so far]
        The number of seats that may call a bet, see `StreetMenu`.
    units : int8[num_sizes]
        `tree_kernels.POT`, `BIG_BLIND` or `ALL_IN` for each size.
    amounts : float64[num_sizes]
        Share of the pot after calling, or raise-to total in big blinds; 0 for all-in.
    big_blind : int
        Chips of the big blind.
    all_in_share : float
        As in `GameMenu`.
    exact, push_or_fold : bool
        As in `GameMenu`.
    """

    first: np.ndarray
    length: np.ndarray
    callers: np.ndarray
    units: np.ndarray
    amounts: np.ndarray
    big_blind: int
    all_in_share: float
    exact: bool
    push_or_fold: bool


class TreeSize(NamedTuple):
    """The numbers of nodes and actions of a tree.

    Attributes
    ----------
    num_nodes, num_ends : int
        Number of all nodes, and number of nodes where the betting is over.
    decisions, pairs : tuple of int
        Number of decision nodes, and number of pairs of a decision and one of its actions, on each street.
    """

    num_nodes: int
    num_ends: int
    decisions: tuple[int, ...]
    pairs: tuple[int, ...]

    def cells(self, num_buckets: tuple[int, ...]) -> int:
        """Return the number of cells (decision, action, bucket) if each street has the given number of buckets."""
        return sum(pairs * buckets for pairs, buckets in zip(self.pairs, num_buckets, strict=True))


class BettingTree(NamedTuple):
    """All betting of a game.

    Attributes
    ----------
    actor : int8[num_nodes]
        Seat to act, -1 where the betting is over.
    street : int8[num_nodes]
        Street of a node, from 0.
    num_actions : uint8[num_nodes]
        Number of actions on offer; 0 where the betting is over.
    first_child : int32[num_nodes]
        The node after a decision's first action; the nodes after its other actions have the next numbers. For a node
        where the betting is over: its index in `contributions` and `folded`.
    row : int32[num_nodes]
        The row of a decision on its street, as defined at the top of this module; -1 where the betting is over.
    paid : int32[num_nodes]
        Chips that the seat to act has contributed; 0 where the betting is over.
    parent, action : int32[num_nodes]
        The parent of each node, and the action that leads to the node: 0 fold, 1 check or call, N raise to N chips.
        Both are -1 for the root.
    contributions : int32[num_ends, num_seats]
        Chips that each seat has put in at each end.
    folded : uint16[num_ends]
        Seats that have folded at each end: bit i is seat i.
    """

    actor: np.ndarray
    street: np.ndarray
    num_actions: np.ndarray
    first_child: np.ndarray
    row: np.ndarray
    paid: np.ndarray
    parent: np.ndarray
    action: np.ndarray
    contributions: np.ndarray
    folded: np.ndarray

    def actions(self, node: int) -> np.ndarray:
        """Return the actions of a decision, ascending: int32[num_actions]."""
        first = int(self.first_child[node])
        return self.action[first : first + int(self.num_actions[node])]


class TreeWorkspace(NamedTuple):
    """The path from the root to the node that a kernel visits: entry d of each array is for depth d.

    Attributes
    ----------
    states : int64[MAX_DEPTH + 1, STATE_SIZE]
        The betting state.
    actions : int64[MAX_DEPTH + 1, MAX_ACTIONS]
        The actions on offer.
    num_actions : int64[MAX_DEPTH + 1]
        The number of actions on offer.
    following : int64[MAX_DEPTH + 1]
        Index in `actions` of the action that the walk takes next.
    nodes : int64[MAX_DEPTH + 1]
        The number of the node.
    """

    states: np.ndarray
    actions: np.ndarray
    num_actions: np.ndarray
    following: np.ndarray
    nodes: np.ndarray


def game_menu(rules: HoldemRules) -> GameMenu:
    """Return the menu of a game's own rules: the fixed raise of a limit game, or the raises of a betting abstraction.

    Raises
    ------
    ValueError
        If the rules offer every raise size.
    """
    if not rules.is_limit and rules.betting_abstraction == "fullgame":
        raise ValueError(
            "the betting tree needs a menu of raises, and this game offers every size; "
            "give a GameMenu, or rules with the betting abstraction fcpa, fchpa or fc"
        )
    names = {"fc": "", "fcpa": "1p allin", "fchpa": "0.5p 1p allin"}
    # In a limit game any one size stands for the fixed raise.
    text = "allin" if rules.is_limit and rules.betting_abstraction != "fc" else names[rules.betting_abstraction]
    # The menu has an entry for every possible raise: the rules alone limit the number of raises.
    return GameMenu((StreetMenu((text,) * kernels.MAX_DEPTH),), exact=True)


def tree_size(rules: HoldemRules, menu: GameMenu, *, max_nodes: int = MAX_NODES) -> TreeSize:
    """Return the size of a tree, counted without building the tree.

    Raises
    ------
    ValueError
        If there are more than `max_nodes` nodes, or more than 30 sizes for one decision.
    """
    decisions, pairs = np.zeros(rules.num_streets, np.int64), np.zeros(rules.num_streets, np.int64)
    arguments = rules_array(rules), menu_arrays(rules, menu), _workspace(), max_nodes, decisions, pairs
    # The count of a huge tree takes a minute. An interrupt cannot end a kernel, but it can end the wait for one.
    num_nodes, num_ends = undisturbed(lambda: kernels.count_nodes(*arguments))
    if num_nodes > max_nodes:
        raise ValueError(
            f"the betting has more than {max_nodes:,} nodes; take fewer sizes, fewer raises or smaller stacks"
        )
    return TreeSize(num_nodes, num_ends, tuple(decisions.tolist()), tuple(pairs.tolist()))


def build_tree(
    rules: HoldemRules, menu: GameMenu, size: TreeSize | None = None, *, max_nodes: int = MAX_NODES
) -> BettingTree:
    """Return the betting tree of a game.

    Parameters
    ----------
    size : TreeSize, optional
        The size from `tree_size` for the same game and menu; by default, `tree_size` is called.
    max_nodes : int
        Limit of `tree_size`; not used if `size` is given.

    Raises
    ------
    ValueError
        If `tree_size` refuses the menu.
    """
    size = size or tree_size(rules, menu, max_nodes=max_nodes)
    tree = BettingTree(
        actor=np.empty(size.num_nodes, np.int8),
        street=np.empty(size.num_nodes, np.int8),
        num_actions=np.empty(size.num_nodes, np.uint8),
        first_child=np.empty(size.num_nodes, np.int32),
        row=np.empty(size.num_nodes, np.int32),
        paid=np.empty(size.num_nodes, np.int32),
        parent=np.empty(size.num_nodes, np.int32),
        action=np.empty(size.num_nodes, np.int32),
        contributions=np.empty((size.num_ends, rules.num_seats), np.int32),
        folded=np.empty(size.num_ends, np.uint16),
    )
    next_row = np.zeros(rules.num_streets, np.int64)
    kernels.fill_tree(rules_array(rules), menu_arrays(rules, menu), _workspace(), next_row, tree)
    return tree


def warmup() -> None:
    """Compile every kernel that this module calls."""
    build_tree(KUHN, game_menu(KUHN))


def menu_arrays(rules: HoldemRules, menu: GameMenu) -> MenuArrays:
    """Return a menu as kernels read it."""
    streets = [menu.streets[min(street, len(menu.streets) - 1)] for street in range(rules.num_streets)]
    longest = max(len(texts) for street in streets for texts in (street.raises, street.multiway or ()))
    # On the axis of live seats, index 3 stands for three or more, and indices 0 to 2 have the sizes for two. After the
    # last entry of `raises`, no raise is offered.
    first = np.zeros((rules.num_streets, 4, longest + 1), np.int32)
    length = np.zeros_like(first)
    callers = np.full((rules.num_streets, longest + 1), MAX_SEATS, np.int32)
    units: list[int] = []
    amounts: list[float] = []
    for street, sizes in enumerate(streets):
        if sizes.callers:
            most = (*sizes.callers, *sizes.callers[-1:] * (longest + 1))
            callers[street] = most[: longest + 1]
        for live in range(4):
            texts = sizes.raises if live < 3 or sizes.multiway is None else sizes.multiway
            for raises, text in enumerate(texts):
                found = parse_sizes(text)
                if len(found) > kernels.MAX_ACTIONS - 2:
                    raise ValueError(f"at most {kernels.MAX_ACTIONS - 2} bet sizes at a decision, got {text!r}")
                first[street, live, raises], length[street, live, raises] = len(units), len(found)
                units += [_UNITS[size.unit] for size in found]
                amounts += [size.amount for size in found]
    return MenuArrays(
        first,
        length,
        callers,
        np.array(units, np.int8),
        np.array(amounts, np.float64),
        rules.big_blind,
        menu.all_in_share,
        menu.exact,
        menu.push_or_fold,
    )


def _workspace() -> TreeWorkspace:
    depth = kernels.MAX_DEPTH + 1
    return TreeWorkspace(
        states=np.zeros((depth, STATE_SIZE), np.int64),
        actions=np.zeros((depth, kernels.MAX_ACTIONS), np.int64),
        num_actions=np.zeros(depth, np.int64),
        following=np.zeros(depth, np.int64),
        nodes=np.zeros(depth, np.int64),
    )
