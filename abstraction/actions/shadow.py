"""The shadow of a hand: the position in a betting tree that stands for the hand, and the rules by which it moves.

A *tree seat* is a seat of the tree's game. `Shadow.seats` tells which tree seat each seat at the table has. Where hand
and tree disagree, the following rules hold.

- A bet below the smallest size, if that is not the all-in, is mapped at random to that size or to a call, which has
  size 0. Play always goes on from the smallest raise if the tree offers no call, or if hand and tree would wait for
  different seats after a call. For example, the call may end the street in the tree. Whatever was drawn, the bet is
  *between* two sizes, a call and the smallest raise: the share of hands that folds to the bet depends on both sizes
  (`Between`).
- A bet above the largest size below the all-in counts as the all-in if the next seat to act cannot raise the bet. If
  that seat can raise, play goes on from the largest size below the all-in. In either case the bet is between this size
  and the all-in: the share of hands that folds depends on both. To a bet at least as large as the all-in, hands fold as
  to the all-in.
- If the all-in is the only size, a call takes the place of the size below. A bet that can be raised then counts as a
  call, any other bet as the all-in. If hand and tree would wait for different seats after the call, the bet is *missed*
  (see below). If the tree offers no call, play goes on from the all-in.
- A tree seat without a seat at the table folds, or checks where it cannot fold. The tree seat of a seat that has folded
  in the hand does the same. But if a live seat has no tree seat when another seat folds, the live seat takes over the
  folded seat's tree seat.
- Where the tree offers no call, the seat that calls in the hand folds in the tree and has no tree seat afterwards. If
  that seat bets later, it takes over the tree seat of another seat, but never that of our own seat. Tree seats that act
  before the bettor's tree seat are assumed to check.
- A raise is missed (`Shadow.missed`) where the tree's decision offers no raise at all, or where the tree cannot be
  brought to a decision of the raising seat. The tree then has no decisions until the next raise that it can follow, or
  until the next street.
- A seat that is all-in in the hand calls in the tree. If the hand is a street ahead, all live seats call in the tree
  until the tree has caught up. If the tree is a street ahead, it waits for the hand. If the betting is over in the
  tree, the tree has no more decisions.
"""

from typing import NamedTuple

from plurispiel.abstraction.actions.game_difference import check_game
from plurispiel.abstraction.actions.mapping import lower_place
from plurispiel.abstraction.actions.tree_states import TreeStates, raise_size
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, nearest_raise, pot_raise
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["Between", "Shadow", "ShadowRules"]


class Between(NamedTuple):
    """The two sizes of the tree between which the hand's latest raise on this street lies.

    Only raises between a call and the smallest size, or between the all-in and the size below it, have a `Between`.

    Attributes
    ----------
    share : float
        The probability of the lower size by the pseudo-harmonic mapping; 0 for a raise at least as large as the all-in.
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


class ShadowRules:
    """The rules by which the shadow of a hand moves in a tree, which may be the tree of another game.

    A table with fewer seats than the tree is played as if the other tree seats had folded. With three or more seats,
    these are the first to act before the flop. Heads-up, the button has the tree's button and the big blind the tree's
    big blind; all others fold.

    Parameters
    ----------
    rules : HoldemRules
        The game that is played.
    states : TreeStates

    Attributes
    ----------
    tree_seats : tuple of int
        The tree seat of each seat at the table, at the start of a hand.

    Raises
    ------
    ValueError
        If the game has more seats than the tree's game, or other cards.
    """

    def __init__(self, rules: HoldemRules, states: TreeStates):
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

    def start(self, state: BettingState, own_seat: int) -> Shadow:
        """Return the shadow of a hand before the first action; `own_seat` as in `Translation.follow`."""
        return self._settle(Shadow(0, self.tree_seats), state, own_seat)

    def after(
        self, shadow: Shadow, before: BettingState, action: int, after: BettingState, own_seat: int
    ) -> tuple[float, list[Shadow]]:
        """Return the probability of the first shadow, and the one or two shadows to which an action may lead.

        Parameters
        ----------
        shadow : Shadow
            The shadow before the action.
        before, after : BettingState
            The states of the hand before and after the action.
        own_seat : int
            As in `Translation.follow`.
        """
        share = 1.0
        if action <= CALL:
            shadows = [self._answer(shadow, before, action, after)]
        else:
            share, shadows = self._raise(self._bring_to_turn(shadow, before, own_seat), before, action, after, own_seat)
        if after.street != before.street:
            shadows = [shadow._replace(missed=False, between=None) for shadow in shadows]
        return share, [self._settle_all(shadow, after, own_seat) for shadow in shadows]

    def is_at_turn(self, shadow: Shadow, state: BettingState) -> bool:
        """Return whether the tree's actor is the hand's actor, on the same street."""
        tree, node = self.states.tree, shadow.node
        return 0 <= tree.actor[node] == shadow.seats[state.actor] and tree.street[node] == state.street

    def totals(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the hand's raise-to total, legal or not, for each raise of the tree's decision.

        The tree's all-in becomes the hand's all-in if the seat and the tree seat that it had at the start of the hand
        (`tree_seats`) start with equal stacks, in big blinds.
        """
        totals = self._shares(shadow, state)
        if self._is_as_deep[state.actor] and self._all_in(shadow, state.actor):
            # Converted by its share of the pot, an all-in would miss the stack if the pots of hand and tree differ.
            assert self.rules.stacks is not None
            totals[-1] = self.rules.stacks[state.actor]
        return totals

    def _shares(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the raise-to total, legal or not, of each size of the tree's decision, applied to the hand's pot."""
        array = state.array.tolist()
        return [pot_raise(self.rules, array, size) for size in self.states.sizes(shadow.node)]

    def _all_in(self, shadow: Shadow, seat: int) -> int:
        """Return the all-in's number among the raises of the tree's decision, counted from 1; 0 without an all-in."""
        raises, stacks = self.states.raises(shadow.node), self.states.rules.stacks
        return len(raises) if raises and stacks and raises[-1] == stacks[shadow.seats[seat]] else 0

    def _answer(self, shadow: Shadow, before: BettingState, action: int, after: BettingState) -> Shadow:
        """Return the shadow after a fold, check or call of the hand."""
        if action == FOLD:
            answered = self._hand_over(shadow, before.actor, after)
        else:
            answered = self._call(shadow) if self.is_at_turn(shadow, before) else shadow
        if shadow.between is None:
            return answered
        share, lower, upper = shadow.between
        lower = None if lower is None else self._answer(lower, before, action, after)
        return answered._replace(between=Between(share, lower, self._answer(upper, before, action, after)))

    def _settle_all(self, shadow: Shadow, state: BettingState, own_seat: int) -> Shadow:
        """Return the settled shadow (`_settle`); the positions after the two sizes of `Between` are settled too."""
        settled = self._settle(shadow, state, own_seat)
        if shadow.between is None:
            return settled
        share, lower, upper = shadow.between
        lower = None if lower is None else self._settle(lower, state, own_seat)
        return settled._replace(between=Between(share, lower, self._settle(upper, state, own_seat)))

    def _call(self, shadow: Shadow) -> Shadow:
        """Return the shadow after the tree's seat to act has called, or folded if the tree offers no call."""
        called = self.states.child(shadow.node, CALL)
        if called >= 0:
            return shadow._replace(node=called)
        actor = self.states.tree.actor[shadow.node]
        seats = tuple(-1 if tree_seat == actor else tree_seat for tree_seat in shadow.seats)
        return shadow._replace(node=self.states.child(shadow.node, FOLD), seats=seats)

    def _hand_over(self, shadow: Shadow, folded: int, state: BettingState) -> Shadow:
        """Return the shadow in which the next live seat without a tree seat, if any, gets the one of seat `folded`."""
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
        """Return the probability of the first shadow, and the shadows to which a raise may lead.

        There is one shadow, with probability 1, unless the raise lies between two sizes of the tree, neither of them
        the all-in. The lower size may be a call.
        """
        states = self.states
        if not self.is_at_turn(shadow, before):
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
        called = self._count_as_call(shadow, after, own_seat) or upper
        return share, [called._replace(between=between), upper._replace(between=between)]

    def _nearest(self, shadow: Shadow, before: BettingState, action: int, own_seat: int) -> tuple[int, float]:
        """Return the number and the probability of the lower of two raises to which a raise may be mapped.

        If there is only one such raise, its number and the probability 1 are returned. Raises of the tree's decision
        are numbered from 1. A bet below the smallest size has a call as its lower neighbour, with number and size 0. A
        bet above the largest size becomes the largest.
        """
        sizes, size = self.states.sizes(shadow.node), raise_size(before, action)
        if before.actor == own_seat:  # our own raises come from `Translation.actions`, which makes totals legal
            totals = [nearest_raise(before, total) for total in self.totals(shadow, before)]
        else:
            totals = self._shares(shadow, before)
        same = [number for number, total in enumerate(totals, start=1) if total == action]
        if same:
            return min(same, key=lambda number: abs(sizes[number - 1] - size)), 1.0  # short stacks make totals equal
        return lower_place(size, (0.0, *sizes))

    def _count_as(self, shadow: Shadow, number: int) -> Shadow:
        """Return the shadow after raise `number` of the tree's decision; raises are counted from 1."""
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
            share = 0.0  # hands fold as to the all-in alone
        lower = self._count_as(shadow, all_in - 1) if all_in > 1 else None
        between = Between(share, lower, upper)
        if is_last:
            return upper._replace(between=between)
        if lower is None:
            lower = self._count_as_call(shadow, after, own_seat)
        if lower is None and self.states.child(shadow.node, CALL) >= 0:
            lower = self._call(shadow)._replace(missed=True)
        return (lower or upper)._replace(between=between)

    def _count_as_call(self, shadow: Shadow, after: BettingState, own_seat: int) -> Shadow | None:
        """Return the shadow after a raise that counts as a call.

        None if the tree offers no call, or if hand and tree would then wait for different seats.
        """
        if self.states.child(shadow.node, CALL) < 0:
            return None
        called = self._settle(self._call(shadow), after, own_seat)
        return called if self._waits_for_the_same(called, after) else None

    def _waits_for_the_same(self, shadow: Shadow, state: BettingState) -> bool:
        """Return whether the same seats must answer in hand and tree, in the same order, on the same street.

        Only the seats that are live and have chips left in both hand and tree are compared.
        """
        tree = self.states.tree
        if tree.actor[shadow.node] < 0 or tree.street[shadow.node] != state.street:
            return False
        tree_state = self.states.state(shadow.node)
        acting = [shadow.seats[seat] for seat in _waiting(state)]
        waiting = [tree_seat for tree_seat in _waiting(tree_state) if _has_chips(shadow, tree_seat, state)]
        return waiting == [seat for seat in acting if seat >= 0 and tree_state.array[betting_layout.ACTING] >> seat & 1]

    def _settle(self, shadow: Shadow, state: BettingState, own_seat: int) -> Shadow:
        """Return the shadow advanced until the tree waits for a seat that may still act on this street of the hand.

        A tree seat without a seat at the table, or whose seat has folded in the hand, folds or checks. A tree seat
        whose seat will not act again on this street of the hand calls. If our own seat is to act in the hand, but acts
        later on this street of the tree, all tree seats before it call.
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


def _exchanged(shadow: Shadow, leaves: int, comes: int) -> Shadow:
    """Return the shadow in which table seat `comes` has the tree seat of table seat `leaves`, and `leaves` has none."""
    seats = list(shadow.seats)
    seats[comes], seats[leaves] = seats[leaves], -1
    return shadow._replace(seats=tuple(seats))


def _has_chips(shadow: Shadow, tree_seat: int, state: BettingState) -> bool:
    """Return whether the table's seat with this tree seat is live in the hand and has chips left."""
    return tree_seat in shadow.seats and bool(state.array[betting_layout.ACTING] >> shadow.seats.index(tree_seat) & 1)


def _waiting(state: BettingState) -> list[int]:
    """Return the seats that would still act on this street if everyone called, in the order of their turns."""
    array = state.array.tolist()
    num_seats = state.rules.num_seats
    seats = [(state.actor + step) % num_seats for step in range(num_seats)]
    acting = [seat for seat in seats if array[betting_layout.ACTING] >> seat & 1]
    # The seats that have called or made the last raise sit before the actor, so they come last in this order.
    return acting[: array[betting_layout.NUM_ACTING] - array[betting_layout.NUM_CALLED]]


def _tree_seats(rules: HoldemRules, tree_rules: HoldemRules) -> tuple[int, ...]:
    """Return the tree's seat of each seat at the table."""
    if rules.num_seats == 2:
        places = seat_positions(tree_rules)
        return tuple(places.index(place) for place in seat_positions(rules))
    return 0, 1, *range(tree_rules.num_seats - rules.num_seats + 2, tree_rules.num_seats)
