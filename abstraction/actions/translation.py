"""Translation: a hand with bets of any size, followed in a betting tree that has a few.

A bet between two sizes of the tree counts as one of them, by the pseudo-harmonic mapping (Ganzfried and Sandholm,
"Action translation in extensive-form games with large action spaces", IJCAI 2013). Sizes are shares of the pot after
calling, in the hand and in the tree, whose pots differ after that: both states are kept, and every bet is measured
in its own.

Where the two do not fit together, these rules hold.

- A bet below the smallest size may count as a call, as if of size 0. If that would end the street in the tree though
  others have to answer in the hand, the smallest raise takes its place, and nobody folds to it (`Shadow.free`).
- A seat that never sat at the table folds in the tree, or checks where it cannot. So does one that has folded, unless
  another is in the hand but not in the tree, which takes its place there.
- Where the tree offers no call, the seat that calls is out of the tree. If it bets later on, it takes the place of
  another, but not of our own; what seats in between do not say is a check.
- A raise where the tree has none, or that no seat can make there, is missed: until the next one that is not, or the
  next street, the tree has no decisions (`Shadow.missed`).
- A seat that is all-in calls. If the hand is a street ahead, all seats call until the tree has come so far. If the
  tree is ahead, it waits; if its hand is over, it stays over.
"""

import bisect
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem import betting_state
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, nearest_raise, pot_raise
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = [
    "Answers",
    "Place",
    "Shadow",
    "ShadowHand",
    "Translation",
    "TreeStates",
    "game_difference",
    "lower_place",
    "lower_share",
    "translate",
]

MAX_KEPT_STATES = 4096
MAX_KEPT_PLACES = 1 << 15
MAX_KEPT_GAMES = 16


def lower_share(size: float, lower: float, upper: float) -> float:
    """Return the probability that a bet counts as the lower of the two sizes around it.

    Notes
    -----
    In a pot of 1 a bet of s is to be called by 1 / (1 + s) of all hands. The mixture f of the answers to A and B has
    that property for x between them: ``f / (1 + A) + (1 - f) / (1 + B) = 1 / (1 + x)``.
    """
    return (upper - size) * (1.0 + lower) / ((upper - lower) * (1.0 + size))


def translate(size: float, sizes: Sequence[float], coin: float = 0.5) -> int:
    """Return the place in `sizes`, ascending, of the one that a bet counts as.

    Parameters
    ----------
    coin : float, optional
        Uniform from 0 to 1; 0.5 makes the mapping deterministic: the neighbour that is the likelier one.
    """
    lower, share = lower_place(size, sizes)
    return lower if coin < share else lower + 1


def lower_place(size: float, sizes: Sequence[float]) -> tuple[int, float]:
    """Return the place of the size that a bet counts as, or of the lower of two, and the probability of that one."""
    upper = bisect.bisect_left(sizes, size)
    if upper == 0:
        return 0, 1.0
    if upper == len(sizes):
        return upper - 1, 1.0
    if sizes[upper] == size:
        return upper, 1.0
    return upper - 1, lower_share(size, sizes[upper - 1], sizes[upper])


class TreeStates:
    """The betting state and the sizes at the decisions of a tree, and the translations of games played in it.

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
        """Return the node behind an action of a decision, or -1 if it has no such action."""
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


class Shadow(NamedTuple):
    """Where a hand stands in the tree.

    Attributes
    ----------
    node : int
    seats : tuple of int
        The tree's seat of each seat at the table; -1 for one that is not in the tree.
    missed : bool
        The last raise on this street is not in the tree.
    free : bool
        The last raise on this street counts as a call, and stands in the tree as its smallest one.
    """

    node: int
    seats: tuple[int, ...]
    missed: bool = False
    free: bool = False


class Answers(NamedTuple):
    """What can be answered at a point of a hand.

    Attributes
    ----------
    node : int or None
        The tree's decision, if it has one for the seat to act.
    actions : tuple of int
        Of the hand, ascending: call, fold where it can, and what the decision's actions become.
    columns : tuple of int
        The place in `actions` of what each action of the decision becomes; several may become the same.
    num_left_out : int
        Seats that are in the hand but not in the tree.
    """

    node: int | None
    actions: tuple[int, ...]
    columns: tuple[int, ...]
    num_left_out: int


class Place:
    """A point of a hand and what stands for it in the tree: the same in all hands with these actions and draws.

    Attributes
    ----------
    state : BettingState
        Of the hand; not to be changed.
    shadow : Shadow
    """

    __slots__ = ("state", "shadow", "is_node", "following", "answers")

    def __init__(self, state: BettingState, shadow: Shadow, is_node: bool):
        self.state = state
        self.shadow = shadow
        self.is_node = is_node  # the hand and the tree have had the same actions
        self.following: dict[int | tuple[int, int], Place | _Draw] = {}
        self.answers: Answers | None = None


class _Draw(NamedTuple):
    """The two places that a bet between two sizes may lead to, and the probability of the first."""

    share: float
    lower: Place
    upper: Place


def game_difference(rules: HoldemRules, own: HoldemRules) -> str:
    """Return in words how a game differs from the one of a tree, empty if it does not.

    Raises
    ------
    ValueError
        If it has more seats than that, or other cards.
    """
    _check_game(rules, own)
    parts = []
    if own.num_seats != rules.num_seats:
        parts.append(f"trained for {own.num_seats} seats, plays {rules.num_seats} as if the first had folded")
    if _blinds_text(own) != _blinds_text(rules):
        parts.append(f"trained with blinds of {_blinds_text(own)} bb, plays {_blinds_text(rules)}")
    if _depth_text(own) != _depth_text(rules):
        parts.append(f"trained for {_depth_text(own)}, plays {_depth_text(rules)} by pot fractions")
    return "; ".join(parts)


class Translation:
    """Follows the hands of one game in a tree of another.

    A table with fewer seats than the tree is played as if the first to act before the flop had folded; heads-up, the
    button has the tree's button and the big blind its big blind.

    Parameters
    ----------
    rules : HoldemRules
        The game that is played.
    states : TreeStates

    Raises
    ------
    ValueError
        If the game has more seats than the tree, or other cards.
    """

    def __init__(self, rules: HoldemRules, states: TreeStates):
        own = states.rules
        _check_game(rules, own)
        self.rules = rules
        self.states = states
        self.tree_seats = _tree_seats(rules.num_seats, own.num_seats)
        self._is_as_deep = [
            rules.stacks is not None
            and own.stacks is not None
            and rules.stacks[seat] * own.big_blind == own.stacks[tree_seat] * rules.big_blind
            for seat, tree_seat in enumerate(self.tree_seats)
        ]
        self._is_own_game = rules == own
        self._roots: dict[int, Place] = {}
        self._num_places = 0

    def root(self, own: int) -> Place:
        """Return the place before the first action; `own` as in `follow`."""
        if self._num_places > MAX_KEPT_PLACES:
            self._roots.clear()
            self._num_places = 0
        seat = -1 if self._is_own_game else own
        place = self._roots.get(seat)
        if place is None:
            state = BettingState(self.rules)
            shadow = self._settle(Shadow(0, self.tree_seats), state, own)
            place = self._roots[seat] = self._place(state, shadow, self._is_own_game)
        return place

    def follow(self, place: Place, action: int, coin: float, own: int) -> Place:
        """Return the place after an action of the hand.

        Parameters
        ----------
        coin : float
            See `translate`.
        own : int
            The seat that chooses its actions in the tree, and raises to what `actions` says; -1 for none.
        """
        found = self._following(place, action, own)
        if isinstance(found, _Draw):
            return found.lower if coin < found.share else found.upper
        return found

    def follow_both(self, place: Place, action: int, own: int) -> list[tuple[float, Place]]:
        """Return the places that an action may lead to, and the chances of each; `own` as in `follow`."""
        found = self._following(place, action, own)
        if isinstance(found, _Draw):
            return [(found.share, found.lower), (1.0 - found.share, found.upper)]
        return [(1.0, found)]

    def answers(self, place: Place) -> Answers:
        """Return what can be answered at a place."""
        if place.answers is None:
            state, shadow = place.state, place.shadow
            node = self.decision(shadow, state)
            targets = [] if node is None else self.actions(shadow, state)
            actions = tuple(sorted({CALL, *targets, *([FOLD] if state.can_fold else [])}))
            num_left_out = sum(seat < 0 for seat, folded in zip(shadow.seats, state.folded, strict=True) if not folded)
            place.answers = Answers(node, actions, tuple(map(actions.index, targets)), num_left_out)
        return place.answers

    def decision(self, shadow: Shadow, state: BettingState) -> int | None:
        """Return the tree's decision for the seat to act in the hand, or None where it has none."""
        return None if shadow.missed or not self._is_at_turn(shadow, state) else shadow.node

    def actions(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return what each action of the tree's decision becomes in the hand; several may become the same."""
        fold = FOLD if state.can_fold and not shadow.free else CALL
        answers = {FOLD: fold, CALL: CALL}
        offered = self.states.tree.actions(shadow.node).tolist()
        raises = [nearest_raise(state, total) for total in self._totals(shadow, state)]
        return [answers[action] for action in offered if action <= CALL] + raises

    def _place(self, state: BettingState, shadow: Shadow, is_node: bool) -> Place:
        self._num_places += 1
        return Place(state, shadow, is_node)

    def _following(self, place: Place, action: int, own: int) -> Place | _Draw:
        """Return what an action leads to, found once."""
        found = place.following.get(action) or place.following.get((own, action))
        if found is None:
            found = self._find(place, action, own)
            is_common = isinstance(found, Place) and found.is_node == place.is_node  # for whichever seat is our own
            place.following[action if is_common else (own, action)] = found
        return found

    def _find(self, place: Place, action: int, own: int) -> Place | _Draw:
        """Return the place after an action, or the two that are drawn from."""
        before, shadow = place.state, place.shadow
        after = before.copy()
        after.apply_legal(action)
        child = self.states.child(shadow.node, action) if place.is_node else -1
        if child >= 0:
            return self._place(after, shadow._replace(node=child), True)
        share = 1.0
        if action == FOLD:
            shadows = [self._hand_over(shadow, before.actor, after)]
        elif action == CALL:
            shadows = [self._call(shadow) if self._is_at_turn(shadow, before) else shadow]
        else:
            share, shadows = self._raise(self._bring_to_turn(shadow, before, own), before, action, after, own)
        if after.street != before.street:
            shadows = [shadow._replace(missed=False, free=False) for shadow in shadows]
        places = [self._place(after, self._settle(shadow, after, own), False) for shadow in shadows]
        return places[0] if len(places) == 1 else _Draw(share, *places)

    def _is_at_turn(self, shadow: Shadow, state: BettingState) -> bool:
        """Return whether the tree asks the seat that is to act in the hand, on the same street."""
        tree, node = self.states.tree, shadow.node
        return 0 <= tree.actor[node] == shadow.seats[state.actor] and tree.street[node] == state.street

    def _totals(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the raise-to totals in the hand of a decision's raises, legal or not."""
        array = state.array.tolist()
        totals = [pot_raise(self.rules, array, size) for size in self.states.sizes(shadow.node)]
        stacks, own_stacks = self.rules.stacks, self.states.rules.stacks
        if totals and self._is_as_deep[state.actor] and stacks and own_stacks:
            if self.states.raises(shadow.node)[-1] == own_stacks[shadow.seats[state.actor]]:
                totals[-1] = stacks[state.actor]
        return totals

    def _call(self, shadow: Shadow) -> Shadow:
        """Return the shadow after a call of the tree's seat to act, or its fold where the tree offers no call."""
        called = self.states.child(shadow.node, CALL)
        if called >= 0:
            return shadow._replace(node=called)
        actor = self.states.tree.actor[shadow.node]
        seats = tuple(-1 if tree_seat == actor else tree_seat for tree_seat in shadow.seats)
        return shadow._replace(node=self.states.child(shadow.node, FOLD), seats=seats)

    def _hand_over(self, shadow: Shadow, folded: int, state: BettingState) -> Shadow:
        """Return the shadow in which a seat that folds has left its place to one that is not in the tree, if any is."""
        for step in range(1, self.rules.num_seats):
            heir = (folded + step) % self.rules.num_seats
            if shadow.seats[heir] < 0 and not state.folded[heir]:
                return _exchanged(shadow, folded, heir)
        return shadow

    def _bring_to_turn(self, shadow: Shadow, state: BettingState, own: int) -> Shadow:
        """Return the shadow in which the tree asks the seat that raises, where checks and a place can do it."""
        tree, states = self.states.tree, self.states
        if tree.actor[shadow.node] < 0 or tree.street[shadow.node] != state.street:
            return shadow
        waiting = _waiting(states.state(shadow.node))
        own_place = shadow.seats[own] if own >= 0 else -1
        seat, brought = state.actor, shadow
        if shadow.seats[seat] < 0:
            others = [place for place in waiting if place in shadow.seats and place != own_place]
            if not others:
                return shadow
            # Its neighbour behind, or else before: so the others answer in the order of the hand.
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
        self, shadow: Shadow, before: BettingState, action: int, after: BettingState, own: int
    ) -> tuple[float, list[Shadow]]:
        """Return the shadow after a raise, what it counts as if that is in the tree.

        Where it lies between two sizes, the shadows of both, and the probability of the first; else 1.
        """
        states = self.states
        if not self._is_at_turn(shadow, before):
            return 1.0, [shadow._replace(missed=True, free=False)]
        sizes = states.sizes(shadow.node)
        if not sizes:
            return 1.0, [self._call(shadow)._replace(missed=True, free=False)]
        shadow = shadow._replace(missed=False, free=False)
        size = _size(before, action)
        totals = self._totals(shadow, before)
        if before.actor == own:
            totals = [nearest_raise(before, total) for total in totals]
        same = [number for number, total in enumerate(totals, start=1) if total == action]
        if same:
            number = min(same, key=lambda number: abs(sizes[number - 1] - size))
            return 1.0, [self._count_as(shadow, number, after, own)]
        number, share = lower_place(size, (0.0, *sizes))
        numbers = [number] if share == 1.0 else [number, number + 1]
        return share, [self._count_as(shadow, number, after, own) for number in numbers]

    def _count_as(self, shadow: Shadow, number: int, after: BettingState, own: int) -> Shadow:
        """Return the shadow after the tree's seat has made one of its raises, counted from 1; 0 is a call."""
        states = self.states
        first = states.child(shadow.node, states.raises(shadow.node)[0])
        if number:
            return shadow._replace(node=first + number - 1)
        called = self._settle(self._call(shadow), after, own)
        is_call = states.child(shadow.node, CALL) >= 0 and self._waits_for_the_same(called, after)
        return called if is_call else shadow._replace(node=first, free=True)

    def _waits_for_the_same(self, shadow: Shadow, state: BettingState) -> bool:
        """Return whether the same seats, in the same order, have to answer on the same street."""
        tree = self.states.tree
        if tree.actor[shadow.node] < 0 or tree.street[shadow.node] != state.street:
            return False
        own = self.states.state(shadow.node)
        acting = [shadow.seats[seat] for seat in _waiting(state)]
        waiting = [tree_seat for tree_seat in _waiting(own) if _has_chips(shadow, tree_seat, state)]
        return waiting == [seat for seat in acting if seat >= 0 and own.array[betting_state.ACTING] >> seat & 1]

    def _settle(self, shadow: Shadow, state: BettingState, own: int) -> Shadow:
        """Return the shadow where the tree waits for the seat to act in the hand, or has gone as far as it can.

        Seats that have nothing to do any more in the hand call, and so do all that the tree asks before our own.
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
                if seat == state.actor or state.actor != own:
                    break
                if shadow.seats[own] not in _waiting(states.state(shadow.node)):
                    break
            shadow = self._call(shadow)
        return shadow


class ShadowHand:
    """One hand and its shadow, after any actions.

    Parameters
    ----------
    translation : Translation
    coins : sequence of float, optional
        One for each action of the hand: what it counts as is drawn once. Without them the mapping is deterministic.
    seat : int, optional
        The seat whose raises come from `Translation.actions`.
    """

    def __init__(self, translation: Translation, coins: Sequence[float] | np.ndarray | None = None, seat: int = -1):
        self.translation = translation
        self._coins = coins
        self._seat = seat

    def at(self, actions: Sequence[int]) -> Place:
        """Return the place of the hand after some actions."""
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
        """Return the places that the last action may lead to while its coin is not thrown, and their chances."""
        if not actions:
            return [(1.0, self.at(actions))]
        return self.translation.follow_both(self.at(actions[:-1]), actions[-1], self._seat)


def _exchanged(shadow: Shadow, leaves: int, comes: int) -> Shadow:
    """Return the shadow in which a seat has the place of another, which is out of the tree."""
    seats = list(shadow.seats)
    seats[comes], seats[leaves] = seats[leaves], -1
    return shadow._replace(seats=tuple(seats))


def _has_chips(shadow: Shadow, tree_seat: int, state: BettingState) -> bool:
    """Return whether whoever has a place in the tree can act in the hand."""
    return tree_seat in shadow.seats and bool(state.array[betting_state.ACTING] >> shadow.seats.index(tree_seat) & 1)


def _size(state: BettingState, total: int) -> float:
    """Return a raise-to total as a share of the pot after calling."""
    most = int(state.array[betting_state.MAX_CONTRIB])
    contributions = state.contributions
    return (total - most) / (sum(contributions) + most - contributions[state.actor])


def _waiting(state: BettingState) -> list[int]:
    """Return the seats that act on this street if all of them call, in order."""
    array = state.array.tolist()
    num_seats = state.rules.num_seats
    seats = [(state.actor + step) % num_seats for step in range(num_seats)]
    acting = [seat for seat in seats if array[betting_state.ACTING] >> seat & 1]
    return acting[: array[betting_state.NUM_ACTING] - array[betting_state.NUM_CALLED]]


def _tree_seats(num_seats: int, num_tree_seats: int) -> tuple[int, ...]:
    """Return the tree's seat of each seat at the table."""
    if num_seats == num_tree_seats:
        return tuple(range(num_seats))
    if num_seats == 2:
        return 1, num_tree_seats - 1
    return 0, 1, *range(num_tree_seats - num_seats + 2, num_tree_seats)


def _check_game(rules: HoldemRules, own: HoldemRules) -> None:
    if rules.num_seats > own.num_seats:
        seats = "2" if own.num_seats == 2 else f"2..{own.num_seats}"
        raise ValueError(f"the blueprint plays at tables of {seats} seats, got {rules.num_seats}")
    if _cards_text(rules) != _cards_text(own):
        raise ValueError(f"the blueprint plays with {_cards_text(own)}; got {_cards_text(rules)}")


def _cards_text(rules: HoldemRules) -> str:
    return (
        f"{rules.num_suits} suits of {rules.num_ranks} ranks, {rules.num_hole_cards} hole cards and "
        f"{' '.join(map(str, rules.board_cards))} board cards by street"
    )


def _blinds_text(rules: HoldemRules) -> str:
    return " ".join(f"{blind / rules.big_blind:g}" for blind in sorted(rules.blinds) if blind)


def _depth_text(rules: HoldemRules) -> str:
    if rules.stacks is None:
        return "limit"
    depths = [f"{stack / rules.big_blind:g}" for stack in (min(rules.stacks), max(rules.stacks))]
    return f"{'..'.join(dict.fromkeys(depths))} bb"
