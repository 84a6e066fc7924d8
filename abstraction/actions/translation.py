"""Action translation: a hand with bets of any size, followed in a betting tree with few sizes.

An off-tree bet between two sizes of the tree is mapped to one of them at random, by the pseudo-harmonic mapping
(Ganzfried and Sandholm, "Action translation in extensive-form games with large action spaces", IJCAI 2013). Sizes are
shares of the pot after calling. After an off-tree bet the pots of hand and tree differ. The states of both are
therefore kept; a bet of the hand is measured by the hand's pot, and a bet of the tree by the tree's pot.

A *tree seat* is a seat of the tree's game. `Shadow.seats` tells which tree seat each seat at the table has. Where hand
and tree disagree, the following rules hold.

- A bet below the smallest size may be mapped to a call, of size 0. If hand and tree would then wait for different
  seats, for example because the call ends the street in the tree, play goes on from the smallest raise instead. In any
  case the bet is *between* two sizes, a call and the smallest raise: the share of hands that answers it by a fold
  depends on both (`Between`), not on the draw.
- A bet above all sizes but the all-in counts as the all-in only if the next seat to act cannot raise it; the hands
  that fold to it still depend on its size. If that seat can raise it, play goes on from the largest size below the
  all-in, though the bet is between that size and the all-in. If the all-in is the only size, a bet that can be raised
  counts as a call. If hand and tree would then wait for different seats, the bet is *missed* (see below); but if the
  tree offers no call, play goes on from the all-in.
- A tree seat without a seat at the table folds, or checks where it cannot fold. The tree seat of a seat that has folded
  in the hand does the same. But if a live seat has no tree seat, it takes over the tree seat of the folded seat.
- Where the tree offers no call, the seat that calls in the hand folds in the tree and has no tree seat afterwards. If
  that seat bets later, it takes over the tree seat of another seat, but never that of our own seat. The tree seats that
  act before the bettor's are assumed to check.
- A raise is missed where the tree's decision offers no raise at all, or where the raising seat cannot be brought to
  act: the tree then has no decisions until the next raise that the tree can follow, or until the next street
  (`Shadow.missed`).
- A seat that is all-in in the hand calls in the tree. If the hand is a street ahead, all seats call in the tree until
  the tree has caught up. If the tree is a street ahead, it waits for the hand. If the betting is over in the tree, the
  tree has no more decisions.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.game_difference import check_game
from plurispiel.abstraction.actions.mapping import lower_place
from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem import betting_state
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, nearest_raise, pot_raise
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = [
    "Answers",
    "Between",
    "BetweenNodes",
    "Place",
    "Shadow",
    "ShadowHand",
    "Translation",
    "TreeStates",
]

MAX_KEPT_STATES = 4096
MAX_KEPT_PLACES = 1 << 13  # up to 2 KB each; four times as many took as long against random bets
MAX_KEPT_GAMES = 16


class TreeStates:
    """The betting states and bet sizes at a tree's decisions, and the translations of games into the tree.

    ``state(node)`` returns a `BettingState`, which must not be changed, ``sizes(node)`` the raises of a decision as
    shares of the pot after calling, and ``translation(rules)`` the `Translation` of a game. Recent results are kept.

    Parameters
    ----------
    rules : HoldemRules
        The game of the tree.
    tree : BettingTree
    """

    def __init__(self, rules: HoldemRules, tree: BettingTree):
        self.rules = rules
        self.tree = tree
        self.state = functools.lru_cache(MAX_KEPT_STATES)(self._state)
        self.sizes = functools.lru_cache(MAX_KEPT_STATES)(self._sizes)
        self.translation = functools.lru_cache(MAX_KEPT_GAMES)(self._translation)

    def child(self, node: int, action: int) -> int:
        """Return the node after an action of a decision, or -1 if the decision does not offer the action."""
        actions = self.tree.actions(node).tolist()
        return int(self.tree.first_child[node]) + actions.index(action) if action in actions else -1

    def raises(self, node: int) -> list[int]:
        """Return the raise-to totals of a decision, ascending."""
        return [action for action in self.tree.actions(node).tolist() if action > CALL]

    def _translation(self, rules: HoldemRules) -> "Translation":
        return Translation(rules, self)

    def _state(self, node: int) -> BettingState:
        if node == 0:
            return BettingState(self.rules)
        state = self.state(int(self.tree.parent[node])).copy()
        state.apply_legal(int(self.tree.action[node]))
        return state

    def _sizes(self, node: int) -> tuple[float, ...]:
        """Return the raises of a decision as shares of the pot after calling."""
        state = self.state(node)
        return tuple(_size(state, total) for total in self.raises(node))


class Between(NamedTuple):
    """Two sizes of the tree that stand for the hand's latest raise on this street, as long as seats answer the raise.

    Attributes
    ----------
    share : float
        The probability of the lower size by the pseudo-harmonic mapping.
    lower : Shadow or None
        The position after the lower size and the answers since; None if the lower size is a call.
    upper : Shadow
        The position after the upper size and the answers since.
    """

    share: float
    lower: "Shadow | None"
    upper: "Shadow"


class Shadow(NamedTuple):
    """The position in the tree that stands for a hand at the table.

    Attributes
    ----------
    node : int
        The number of the tree's node.
    seats : tuple of int
        For each seat at the table, its seat in the tree; -1 for a seat that is not in the tree.
    missed : bool
        Whether the tree could not follow the hand's latest raise on this street.
    between : Between or None
        The two sizes that decide which hands fold to the hand's latest raise on this street; None if `node` decides.
    """

    node: int
    seats: tuple[int, ...]
    missed: bool = False
    between: Between | None = None


class BetweenNodes(NamedTuple):
    """The decisions of a `Between` for the seat to act.

    Attributes
    ----------
    share : float
        The probability of the lower size.
    lower : int or None
        The decision after the lower size. None if the lower size is a call, to which no hand folds, or if the tree has
        no decision there. In the second case `share` is 0.
    upper : int
        The decision after the upper size.
    """

    share: float
    lower: int | None
    upper: int


class Answers(NamedTuple):
    """The actions of a tree's decision, translated to the hand.

    Attributes
    ----------
    node : int or None
        The tree's decision for the seat to act; None if the tree has none.
    actions : tuple of int
        Actions of the hand, ascending: call, fold where legal, and the translations of the decision's actions.
    columns : tuple of int
        For each action of the tree's decision, the index in `actions` of its translation. Several actions of the
        decision may have one translation.
    num_left_out : int
        Number of seats that are in the hand but not in the tree.
    between : BetweenNodes or None
        The decisions that tell how many hands fold, if the bet is between two sizes; else None.
    """

    node: int | None
    actions: tuple[int, ...]
    columns: tuple[int, ...]
    num_left_out: int
    between: BetweenNodes | None = None


class Place:
    """A state of a hand with the hand's shadow, shared by all hands with the same actions and random draws.

    Attributes
    ----------
    state : BettingState
        State of the hand; read-only.
    shadow : Shadow
        The position in the tree that stands for the hand.
    """

    __slots__ = ("state", "shadow", "is_node", "following", "answers")

    def __init__(self, state: BettingState, shadow: Shadow, is_node: bool):
        self.state = state
        self.shadow = shadow
        self.is_node = is_node  # the hand has had exactly the actions that lead to the tree's node
        self.following: dict[int | tuple[int, int], Place | _Draw] = {}
        self.answers: Answers | None = None


class _Draw(NamedTuple):
    """The two places to which a bet between two sizes may lead, and the probability of the first."""

    share: float
    lower: Place
    upper: Place


class Translation:
    """Follows the hands of a game in a tree, which may be the tree of another game.

    A table with fewer seats than the tree is played as if the first seats to act before the flop had folded.
    Heads-up, the button plays the tree's button and the big blind its big blind.

    Parameters
    ----------
    rules : HoldemRules
        The game that is played.
    states : TreeStates
    by_nodes : bool
        Whether a hand of the tree's own game is followed by node numbers alone until it first leaves the tree. If
        False, the same places are found, but more slowly.

    Raises
    ------
    ValueError
        If the game has more seats than the tree's game, or other cards.
    """

    def __init__(self, rules: HoldemRules, states: TreeStates, *, by_nodes: bool = True):
        tree_rules = states.rules
        check_game(rules, tree_rules)
        self.rules = rules
        self.states = states
        self.tree_seats = _tree_seats(rules, tree_rules)
        self._is_as_deep = [
            rules.stacks is not None
            and tree_rules.stacks is not None
            and rules.stacks[seat] * tree_rules.big_blind == tree_rules.stacks[tree_seat] * rules.big_blind
            for seat, tree_seat in enumerate(self.tree_seats)
        ]
        self._by_nodes = by_nodes and rules == tree_rules
        self._roots: dict[int, Place] = {}
        self._num_places = 0

    def root(self, own_seat: int) -> Place:
        """Return the place before the first action; `own_seat` as in `follow`."""
        if self._num_places > MAX_KEPT_PLACES:
            # All places are dropped. Hands that are being played compute their places again, from the same coins.
            self._roots.clear()
            self._num_places = 0
        seat = -1 if self._by_nodes else own_seat
        place = self._roots.get(seat)
        if place is None:
            state = BettingState(self.rules)
            shadow = self._settle(Shadow(0, self.tree_seats), state, own_seat)
            place = self._roots[seat] = self._place(state, shadow, self._by_nodes)
        return place

    def follow(self, place: Place, action: int, coin: float, own_seat: int) -> Place:
        """Return the place after an action of the hand.

        Parameters
        ----------
        coin : float
            Random number from 0 to 1 that draws between two sizes, as in `translate`.
        own_seat : int
            Our own seat, which takes its actions from the tree's decisions: its raises have totals that `actions`
            returns. -1 if there is no such seat.
        """
        found = self._following(place, action, own_seat)
        if isinstance(found, _Draw):
            return found.lower if coin < found.share else found.upper
        return found

    def follow_both(self, place: Place, action: int, own_seat: int) -> list[tuple[float, Place]]:
        """Return the places to which an action may lead, each with its probability; `own_seat` as in `follow`."""
        found = self._following(place, action, own_seat)
        if isinstance(found, _Draw):
            return [(found.share, found.lower), (1.0 - found.share, found.upper)]
        return [(1.0, found)]

    def answers(self, place: Place) -> Answers:
        """Return the actions of the tree's decision at a place, translated to the hand."""
        if place.answers is None:
            state, shadow = place.state, place.shadow
            node, between = self.decision(shadow, state), self._between(shadow, state)
            if between is None and shadow.between is not None and shadow.between.lower is None:
                node = None  # after a call, the tree's decision does not know of the bet
            targets = [] if node is None else self.actions(shadow, state)
            actions = tuple(sorted({CALL, *targets, *([FOLD] if state.can_fold else [])}))
            num_left_out = sum(seat < 0 for seat, folded in zip(shadow.seats, state.folded, strict=True) if not folded)
            place.answers = Answers(node, actions, tuple(map(actions.index, targets)), num_left_out, between)
        return place.answers

    def decision(self, shadow: Shadow, state: BettingState) -> int | None:
        """Return the tree's decision for the seat to act in the hand, or None where the tree has no such decision."""
        return None if shadow.missed or not self._is_at_turn(shadow, state) else shadow.node

    def actions(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the action in the hand for each action of the tree's decision; equal actions may occur."""
        answers = {FOLD: FOLD if state.can_fold else CALL, CALL: CALL}
        offered = self.states.tree.actions(shadow.node).tolist()
        raises = [nearest_raise(state, total) for total in self._totals(shadow, state)]
        return [answers[action] for action in offered if action <= CALL] + raises

    def _between(self, shadow: Shadow, state: BettingState) -> BetweenNodes | None:
        """Return the decisions after a bet's two sizes; None without such sizes or a decision after the upper one."""
        if shadow.between is None:
            return None
        share, lower, upper = shadow.between
        upper_node = self.decision(upper, state)
        lower_node = None if lower is None else self.decision(lower, state)
        if upper_node is None:
            return None
        if lower is not None and lower_node is None:
            return BetweenNodes(0.0, None, upper_node)
        return BetweenNodes(share, lower_node, upper_node)

    def _place(self, state: BettingState, shadow: Shadow, is_node: bool) -> Place:
        self._num_places += 1
        return Place(state, shadow, is_node)

    def _following(self, place: Place, action: int, own_seat: int) -> Place | _Draw:
        """Return where an action leads; computed once for each place and action."""
        found = place.following.get(action) or place.following.get((own_seat, action))
        if found is None:
            found = self._find(place, action, own_seat)
            # The key needs no own seat in two cases. A place found by node numbers alone is the same for every own
            # seat, and a `place` found in another way is reached with one own seat only.
            is_common = isinstance(found, Place) and found.is_node == place.is_node
            place.following[action if is_common else (own_seat, action)] = found
        return found

    def _find(self, place: Place, action: int, own_seat: int) -> Place | _Draw:
        """Return the place after an action, or the draw between two places."""
        before, shadow = place.state, place.shadow
        after = before.copy()
        after.apply_legal(action)
        child = self.states.child(shadow.node, action) if place.is_node else -1
        if child >= 0:
            return self._place(after, shadow._replace(node=child), True)
        share = 1.0
        if action <= CALL:
            shadows = [self._answer(shadow, before, action, after)]
        else:
            share, shadows = self._raise(self._bring_to_turn(shadow, before, own_seat), before, action, after, own_seat)
        if after.street != before.street:
            shadows = [shadow._replace(missed=False, between=None) for shadow in shadows]
        places = [self._place(after, self._settle_all(shadow, after, own_seat), False) for shadow in shadows]
        return places[0] if len(places) == 1 else _Draw(share, *places)

    def _answer(self, shadow: Shadow, before: BettingState, action: int, after: BettingState) -> Shadow:
        """Return the shadow after a fold, check or call of the hand."""
        if action == FOLD:
            answered = self._hand_over(shadow, before.actor, after)
        else:
            answered = self._call(shadow) if self._is_at_turn(shadow, before) else shadow
        if shadow.between is None:
            return answered
        share, lower, upper = shadow.between
        lower = None if lower is None else self._answer(lower, before, action, after)
        return answered._replace(between=Between(share, lower, self._answer(upper, before, action, after)))

    def _settle_all(self, shadow: Shadow, state: BettingState, own_seat: int) -> Shadow:
        """Return the shadow settled (`_settle`), and with it the positions after the two sizes of `Between`."""
        settled = self._settle(shadow, state, own_seat)
        if shadow.between is None:
            return settled
        share, lower, upper = shadow.between
        lower = None if lower is None else self._settle(lower, state, own_seat)
        return settled._replace(between=Between(share, lower, self._settle(upper, state, own_seat)))

    def _is_at_turn(self, shadow: Shadow, state: BettingState) -> bool:
        """Return whether the tree's actor is the hand's actor, on the same street."""
        tree, node = self.states.tree, shadow.node
        return 0 <= tree.actor[node] == shadow.seats[state.actor] and tree.street[node] == state.street

    def _totals(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the hand's raise-to total, legal or not, for each raise of the tree's decision.

        The tree's all-in becomes the hand's all-in if the seat and its tree seat start with equal stacks, in big
        blinds.
        """
        totals = self._shares(shadow, state)
        if self._is_as_deep[state.actor] and self._all_in(shadow, state.actor):
            # Converted by its share of the pot, an all-in would miss the stack if the pots of hand and tree differ.
            assert self.rules.stacks is not None
            totals[-1] = self.rules.stacks[state.actor]
        return totals

    def _shares(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the hand's raise-to total, legal or not, for each size of the tree's decision, a share of the pot."""
        array = state.array.tolist()
        return [pot_raise(self.rules, array, size) for size in self.states.sizes(shadow.node)]

    def _all_in(self, shadow: Shadow, seat: int) -> int:
        """Return the number of the all-in among the raises of the tree's decision, from 1; 0 if it offers none."""
        raises, stacks = self.states.raises(shadow.node), self.states.rules.stacks
        return len(raises) if raises and stacks and raises[-1] == stacks[shadow.seats[seat]] else 0

    def _call(self, shadow: Shadow) -> Shadow:
        """Return the shadow after the tree's seat to act has called, or folded if the tree offers no call."""
        called = self.states.child(shadow.node, CALL)
        if called >= 0:
            return shadow._replace(node=called)
        actor = self.states.tree.actor[shadow.node]
        seats = tuple(-1 if tree_seat == actor else tree_seat for tree_seat in shadow.seats)
        return shadow._replace(node=self.states.child(shadow.node, FOLD), seats=seats)

    def _hand_over(self, shadow: Shadow, folded: int, state: BettingState) -> Shadow:
        """Return the shadow in which the next live seat outside the tree, if any, takes a folding seat's place."""
        for step in range(1, self.rules.num_seats):
            heir = (folded + step) % self.rules.num_seats
            if shadow.seats[heir] < 0 and not state.folded[heir]:
                return _exchanged(shadow, folded, heir)
        return shadow

    def _bring_to_turn(self, shadow: Shadow, state: BettingState, own_seat: int) -> Shadow:
        """Return the shadow in which the raising seat is to act in the tree, or the given shadow if that is impossible.

        In the tree, the seats before the raiser check; if one of them faces a bet, the given shadow is returned. A
        raiser that is not in the tree first takes the tree seat of another seat.
        """
        tree, states = self.states.tree, self.states
        if tree.actor[shadow.node] < 0 or tree.street[shadow.node] != state.street:
            return shadow
        waiting = _waiting(states.state(shadow.node))
        own_place = shadow.seats[own_seat] if own_seat >= 0 else -1
        seat, brought = state.actor, shadow
        if shadow.seats[seat] < 0:
            others = [place for place in waiting if place in shadow.seats and place != own_place]
            if not others:
                return shadow
            # The raiser takes the tree's next seat to act if possible, else the last seat to act, so that the other
            # seats act in the same order as in the hand.
            place = others[0] if others[0] == waiting[0] else others[-1]
            brought = _exchanged(shadow, shadow.seats.index(place), seat)
        if brought.seats[seat] not in waiting:
            return shadow
        while tree.actor[brought.node] != brought.seats[seat]:
            if states.state(brought.node).can_fold:
                return shadow
            brought = self._call(brought)
        return brought

    def _raise(
        self, shadow: Shadow, before: BettingState, action: int, after: BettingState, own_seat: int
    ) -> tuple[float, list[Shadow]]:
        """Return the shadows to which a raise may lead, and the probability of the first.

        There is one shadow, with probability 1, unless the raise lies between two sizes of the tree, neither of them
        the all-in. The lower size may be a call.
        """
        states = self.states
        if not self._is_at_turn(shadow, before):
            return 1.0, [shadow._replace(missed=True, between=None)]
        sizes = states.sizes(shadow.node)
        if not sizes:
            return 1.0, [self._call(shadow)._replace(missed=True, between=None)]
        shadow = shadow._replace(missed=False, between=None)
        number, share = self._nearest(shadow, before, action, own_seat)
        all_in = self._all_in(shadow, before.actor)
        if all_in and all_in - (share < 1.0) <= number:
            return 1.0, [self._count_as_all_in(shadow, number, share, after, own_seat)]
        if share == 1.0:
            return 1.0, [self._count_as(shadow, number)]
        upper = self._count_as(shadow, number + 1)
        if number:
            return share, [self._count_as(shadow, number), upper]
        between = Between(share, None, upper)
        called = self._check(shadow, after, own_seat) or upper
        return share, [called._replace(between=between), upper._replace(between=between)]

    def _nearest(self, shadow: Shadow, before: BettingState, action: int, own_seat: int) -> tuple[int, float]:
        """Return the number of the lower of two raises to which a raise may be mapped, and this number's probability.

        If there is only one such raise, its number and the probability 1 are returned. Raises of the tree's decision
        are numbered from 1. A bet below the smallest size has a call as its lower neighbour, with number and size 0. A
        bet above the largest size becomes the largest.
        """
        sizes, size = self.states.sizes(shadow.node), _size(before, action)
        if before.actor == own_seat:  # our own raises come from `actions`, which makes totals legal
            totals = [nearest_raise(before, total) for total in self._totals(shadow, before)]
        else:
            totals = self._shares(shadow, before)
        same = [number for number, total in enumerate(totals, start=1) if total == action]
        if same:
            return min(same, key=lambda number: abs(sizes[number - 1] - size)), 1.0  # short stacks make totals equal
        return lower_place(size, (0.0, *sizes))

    def _count_as(self, shadow: Shadow, number: int) -> Shadow:
        """Return the shadow after the tree's seat has made raise `number` of its decision, from 1."""
        first = self.states.child(shadow.node, self.states.raises(shadow.node)[0])
        return shadow._replace(node=first + number - 1)

    def _count_as_all_in(self, shadow: Shadow, number: int, share: float, after: BettingState, own_seat: int) -> Shadow:
        """Return the shadow after a raise to the tree's all-in, or to a size between the all-in and the size below it.

        Parameters
        ----------
        number, share
            As returned by `_nearest`.
        """
        all_in = len(self.states.sizes(shadow.node))
        upper = self._count_as(shadow, all_in)
        is_last = after.is_over or after.max_raise == 0
        if number == all_in:
            if is_last:
                return upper
            share = 0.0  # answered as the all-in alone
        lower = self._count_as(shadow, all_in - 1) if all_in > 1 else None
        between = Between(share, lower, upper)
        if is_last:
            return upper._replace(between=between)
        if lower is None:
            lower = self._check(shadow, after, own_seat)
        if lower is None and self.states.child(shadow.node, CALL) >= 0:
            lower = self._call(shadow)._replace(missed=True)
        return (lower or upper)._replace(between=between)

    def _check(self, shadow: Shadow, after: BettingState, own_seat: int) -> Shadow | None:
        """Return the shadow after a raise that counts as a call, None if hand and tree would wait for other seats."""
        if self.states.child(shadow.node, CALL) < 0:
            return None
        called = self._settle(self._call(shadow), after, own_seat)
        return called if self._waits_for_the_same(called, after) else None

    def _waits_for_the_same(self, shadow: Shadow, state: BettingState) -> bool:
        """Return whether the same seats must answer in hand and tree, in the same order, on the same street."""
        tree = self.states.tree
        if tree.actor[shadow.node] < 0 or tree.street[shadow.node] != state.street:
            return False
        tree_state = self.states.state(shadow.node)
        acting = [shadow.seats[seat] for seat in _waiting(state)]
        waiting = [tree_seat for tree_seat in _waiting(tree_state) if _has_chips(shadow, tree_seat, state)]
        return waiting == [seat for seat in acting if seat >= 0 and tree_state.array[betting_state.ACTING] >> seat & 1]

    def _settle(self, shadow: Shadow, state: BettingState, own_seat: int) -> Shadow:
        """Return the shadow advanced until the tree waits for the hand's actor, or as far as possible.

        A tree seat without a seat at the table, or whose seat has folded in the hand, folds or checks. A tree seat
        whose seat will not act again on this street of the hand calls. If our own seat is to act in the hand, all tree
        seats that act before its tree seat call.
        """
        tree, states = self.states.tree, self.states
        while not state.is_over and tree.actor[shadow.node] >= 0 and tree.street[shadow.node] <= state.street:
            tree_seat = int(tree.actor[shadow.node])
            seat = shadow.seats.index(tree_seat) if tree_seat in shadow.seats else -1
            folded = states.child(shadow.node, FOLD)
            if (seat < 0 or state.folded[seat]) and folded >= 0:
                shadow = shadow._replace(node=folded)
                continue
            if seat in _waiting(state) and tree.street[shadow.node] == state.street:
                if seat == state.actor or state.actor != own_seat:
                    break
                if shadow.seats[own_seat] not in _waiting(states.state(shadow.node)):
                    break
            shadow = self._call(shadow)
        return shadow


class ShadowHand:
    """Finds the place of one hand in the tree after any of its actions.

    Parameters
    ----------
    translation : Translation
    coins : sequence of float, optional
        One random number from 0 to 1 for each action of the hand, so that an action is always mapped alike. By default
        each bet is mapped to the likelier size.
    seat : int, optional
        The seat whose raises come from `Translation.actions`; -1 for none.
    """

    def __init__(self, translation: Translation, coins: Sequence[float] | np.ndarray | None = None, seat: int = -1):
        self.translation = translation
        self._coins = coins
        self._seat = seat

    def at(self, actions: Sequence[int]) -> Place:
        """Return the place of the hand after `actions`, all actions from its start."""
        translation, coins, seat = self.translation, self._coins, self._seat
        place = translation.root(seat)
        for number, action in enumerate(actions):
            following = place.following.get(action)
            if type(following) is Place:
                place = following
            else:
                coin = 0.5 if coins is None else coins[number]
                place = translation.follow(place, action, coin, seat)
        return place

    def before_coin(self, actions: Sequence[int]) -> list[tuple[float, Place]]:
        """Return each place to which the last action may lead, with its probability before the random draw."""
        if not actions:
            return [(1.0, self.at(actions))]
        return self.translation.follow_both(self.at(actions[:-1]), actions[-1], self._seat)


def _exchanged(shadow: Shadow, leaves: int, comes: int) -> Shadow:
    """Return the shadow in which table seat `comes` has the tree seat of table seat `leaves`, and `leaves` has none."""
    seats = list(shadow.seats)
    seats[comes], seats[leaves] = seats[leaves], -1
    return shadow._replace(seats=tuple(seats))


def _has_chips(shadow: Shadow, tree_seat: int, state: BettingState) -> bool:
    """Return whether the table's seat with this tree seat is live in the hand and has chips left."""
    return tree_seat in shadow.seats and bool(state.array[betting_state.ACTING] >> shadow.seats.index(tree_seat) & 1)


def _size(state: BettingState, total: int) -> float:
    """Return a raise-to total as a share of the pot after calling.

    With this measure, a raise of x has to be called by 1 / (1 + x) of the hands, as `lower_share` assumes.
    """
    most = int(state.array[betting_state.MAX_CONTRIB])
    contributions = state.contributions
    return (total - most) / (sum(contributions) + most - contributions[state.actor])


def _waiting(state: BettingState) -> list[int]:
    """Return the seats that would still act on this street if everyone called, in the order of their turns."""
    array = state.array.tolist()
    num_seats = state.rules.num_seats
    seats = [(state.actor + step) % num_seats for step in range(num_seats)]
    acting = [seat for seat in seats if array[betting_state.ACTING] >> seat & 1]
    # The seats that have called or made the last raise sit before the actor, so they come last in this order.
    return acting[: array[betting_state.NUM_ACTING] - array[betting_state.NUM_CALLED]]


def _tree_seats(rules: HoldemRules, tree_rules: HoldemRules) -> tuple[int, ...]:
    """Return the tree's seat of each seat at the table."""
    if rules.num_seats == 2:
        places = seat_positions(tree_rules)
        return tuple(places.index(place) for place in seat_positions(rules))
    return 0, 1, *range(tree_rules.num_seats - rules.num_seats + 2, tree_rules.num_seats)
