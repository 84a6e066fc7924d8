"""The public states of a flat poker tree, and each seat's combo at every history.

A public state is a set of histories that an observer of all actions and the board cannot distinguish. Histories of one
public state differ only in the seats' combos and in the order in which cards were dealt.
"""

import functools
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.trees.game_tree import CHANCE, GameTree

__all__ = ["PublicStates", "public_states", "rule_actions"]


@dataclass(frozen=True, eq=False)
class PublicStates:
    """The P public states of a game tree of H histories and n players, each with a higher number than its parent.

    Attributes
    ----------
    num_combos : int
        Number of combos of the deck.
    number : int32[H]
        The public state of each history.
    combo : int32[H, n]
        The combo of each seat at each history; -1 until all hole cards are dealt.
    parent : int32[P]
        The previous public state; -1 for the first state. Board cards of a street can come in any order, so a public
        state can have several predecessors; its `parent` is then the predecessor that leads to its first history.
    player : int8[P]
        The player to act, from 0; ``CHANCE`` where chance acts; ``TERMINAL`` at the end of a game.
    street : int8[P]
        The street, from 0; -1 until all hole cards are dealt. A street begins when all of its board cards are dealt.
    histories_first : int32[P + 1]
        Index in `histories` of each public state's first history; the last entry is H.
    histories : int32[H]
        ``histories[histories_first[p] : histories_first[p + 1]]`` are the histories of public state p, ascending.
    """

    num_combos: int
    number: np.ndarray
    combo: np.ndarray
    parent: np.ndarray
    player: np.ndarray
    street: np.ndarray
    histories_first: np.ndarray
    histories: np.ndarray

    def __len__(self) -> int:
        return len(self.parent)

    def members(self, number: int) -> np.ndarray:
        """Return the histories of public state `number`, ascending: int32[number of its histories]."""
        return self.histories[self.histories_first[number] : self.histories_first[number + 1]]

    @functools.cached_property
    def deciders(self) -> np.ndarray:
        """Which players decide at each public state or at one of its descendants by `parent`: bool[P, n]."""
        found = self.player[:, np.newaxis] == np.arange(self.combo.shape[1])
        for number in range(len(self) - 1, 0, -1):
            found[self.parent[number]] |= found[number]
        return found

    def possible(self, number: int) -> np.ndarray:
        """Return which combos each seat can hold at public state `number`: bool[n, num_combos]."""
        combos = self.combo[self.members(number)]
        found = np.zeros((combos.shape[1], self.num_combos), dtype=bool)
        for seat, column in enumerate(combos.T):
            found[seat, column[column >= 0]] = True
        return found

    def roots(self, street: int) -> np.ndarray:
        """Return the numbers of the public states at which a street begins, after its cards: int64, ascending."""
        before = np.where(self.parent < 0, -1, self.street[self.parent])
        return np.flatnonzero((self.street == street) & (before < street))


def public_states(tree: GameTree) -> PublicStates:
    """Return the public states of a poker game.

    Raises
    ------
    ValueError
        If `HoldemRules` cannot express the game.

    Examples
    --------
    >>> from plurispiel.abstraction.trees.game_tree import flatten
    >>> states = public_states(flatten("leduc_poker"))
    >>> len(states), len(states.roots(0)), len(states.roots(1))
    (467, 1, 30)
    """
    game = OpenSpielGame(tree.openspiel_game)
    rules = game.rules
    num_hole = rules.num_seats * rules.num_hole_cards
    boards = np.cumsum(rules.board_cards)
    bits = np.array([[1 << game.card_id(int(card)) for card in combo] for combo in rules.combos])
    masks = bits.sum(axis=1)
    order = np.argsort(masks)
    size = tree.num_histories
    number, combo = np.zeros(size, dtype=np.int32), np.full((size, rules.num_seats), -1, dtype=np.int32)
    parents, players, streets = [np.array([-1])], [tree.player[:1]], [np.array([-1])]
    # For each history of a depth, `dealt` is the number of cards dealt, and `holes` holds each seat's cards as bits. If
    # the last step dealt a board card, `cards` holds the board cards of the street so far as bits; else it is 0. The
    # order of a street's cards does not matter. So after a board card, public states differ in `cards` or in the
    # anchor, the public state before the street's first card. After any other step, the anchor is the public state of
    # the parent.
    dealt, holes = np.zeros(1, dtype=np.int64), np.zeros((1, rules.num_seats), dtype=np.int64)
    cards, anchor = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    known = 1
    for begin, end in zip(tree.depth_first[1:-1].tolist(), tree.depth_first[2:].tolist(), strict=True):
        parent = tree.parent[begin:end]
        above = parent - (begin - len(dealt))
        by_chance = tree.player[parent] == CHANCE
        before, holes = dealt[above], holes[above]
        bit = np.left_shift(1, np.where(by_chance, tree.action[begin:end], 0).astype(np.int64))
        to_seat = np.flatnonzero(by_chance & (before < num_hole))
        holes[to_seat, before[to_seat] // rules.num_hole_cards] |= bit[to_seat]
        to_board = by_chance & (before >= num_hole)
        fresh = ~to_board | np.isin(before - num_hole, boards)
        anchor = np.where(fresh, number[parent], anchor[above])
        cards = np.where(to_board, bit | np.where(fresh, 0, cards[above]), 0)
        dealt = before + by_chance
        done = dealt >= num_hole
        combo[begin:end][done] = order[np.searchsorted(masks[order], holes[done])]
        # Histories with equal anchor and step share a public state. Board cards are negative, so that they cannot equal
        # an action (0 and up). Hole cards are not public: dealing one is step 0, whichever card it is.
        step = np.where(to_board, -cards, np.where(by_chance, 0, tree.action[begin:end]))
        _, steps = np.unique(step, return_inverse=True)
        # One integer for each pair (anchor, step): `steps` is below size + 1.
        _, first, numbers = np.unique(anchor * (size + 1) + steps, return_index=True, return_inverse=True)
        number[begin:end] = known + numbers
        known += len(first)
        parents.append(number[parent][first])
        players.append(tree.player[begin:end][first])
        streets.append(np.where(done, np.searchsorted(boards, dealt - num_hole, side="right") - 1, -1)[first])
    histories = np.argsort(number, kind="stable").astype(np.int32)
    counts = np.bincount(number, minlength=known)
    return PublicStates(
        num_combos=rules.num_combos,
        number=number,
        combo=combo,
        parent=np.concatenate(parents).astype(np.int32),
        player=np.concatenate(players).astype(np.int8),
        street=np.concatenate(streets).astype(np.int8),
        histories_first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        histories=histories,
    )


def rule_actions(tree: GameTree) -> np.ndarray:
    """Return the action of `BettingState` for each entry of a strategy: int64[A].

    0 is a fold, 1 a check or call, N a raise to N chips; OpenSpiel may have other numbers for these actions.

    Raises
    ------
    ValueError
        If `HoldemRules` cannot express the game.
    """
    game = OpenSpielGame(tree.openspiel_game)
    states: dict[tuple[int, ...], BettingState] = {(): BettingState(game.rules)}
    found = np.empty(tree.num_actions, dtype=np.int64)
    for infoset, first in enumerate(tree.infoset_histories[tree.infoset_histories_first[:-1]].tolist()):
        line = []
        while first > 0:
            parent = int(tree.parent[first])
            if tree.player[parent] >= 0:
                line.append(int(tree.action[first]))
            first = parent
        state = _follow(game, states, tuple(line[::-1])).array.tolist()
        own = slice(tree.infoset_first[infoset], tree.infoset_first[infoset + 1])
        found[own] = [game.action(state, action_id) for action_id in tree.action_ids[own].tolist()]
    return found


def _follow(game: OpenSpielGame, states: dict[tuple[int, ...], BettingState], line: tuple[int, ...]) -> BettingState:
    """Return the betting state after `line`, the players' actions in OpenSpiel's numbers; memoised in `states`."""
    if line not in states:
        before = _follow(game, states, line[:-1])
        states[line] = BettingState(game.rules, before.array.copy())
        states[line].apply(game.action(before.array.tolist(), line[-1]))
    return states[line]
