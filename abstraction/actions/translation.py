"""Action translation: a hand with bets of any size, followed in a betting tree with few sizes.

An off-tree bet between two sizes of the tree, neither of them the all-in, is mapped to one of them at random, by the
pseudo-harmonic mapping (`mapping`). Sizes are shares of the pot after calling. After an off-tree bet the pots of hand
and tree differ. The states of both are therefore kept; a bet of the hand is measured by the hand's pot, and a bet of
the tree by the tree's pot.

The module `shadow` has the rules for the hand's position in the tree, its *shadow*. Here the shadows of many hands are
kept, and the tree's decisions are translated to the hand.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.shadow import Shadow, ShadowRules
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, nearest_raise
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["BetweenNodes", "Place", "ShadowHand", "TranslatedActions", "Translation"]

MAX_KEPT_PLACES = 1 << 13  # up to 2 KB each; play against random bets was no faster with four times as many


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


class TranslatedActions(NamedTuple):
    """The actions of a tree's decision, translated to the hand.

    Attributes
    ----------
    node : int or None
        The tree's decision for the seat to act. None if the tree has none, or if the hand's bet counts as a call and
        the tree has no decision after the upper size.
    actions : tuple of int
        Actions of the hand, ascending: call, fold where legal, and the translations of the decision's actions.
    columns : tuple of int
        For each action of the tree's decision, the index in `actions` of its translation. Several actions of the
        decision may have one translation.
    num_left_out : int
        Number of seats that are in the hand but not in the tree.
    between : BetweenNodes or None
        The decisions that tell how many hands fold, if the shadow has a `Between` and the tree has a decision after the
        upper size; else None.
    """

    node: int | None
    actions: tuple[int, ...]
    columns: tuple[int, ...]
    num_left_out: int
    between: BetweenNodes | None = None


class Place:
    """A state of a hand with the hand's shadow, shared by hands with the same actions, random draws and own seat.

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
        self.answers: TranslatedActions | None = None


class _Draw(NamedTuple):
    """The two places to which a bet between two sizes may lead, and the probability of the first."""

    share: float
    lower: Place
    upper: Place


class Translation:
    """Follows the hands of a game in a tree, which may be the tree of another game.

    A table with fewer seats than the tree is played as if the other tree seats had folded. With three or more seats,
    these are the first to act before the flop. Heads-up, the button has the tree's button and the big blind the tree's
    big blind; all others fold.

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
        self._shadows = ShadowRules(rules, states)
        self.rules = rules
        self.states = states
        self.tree_seats = self._shadows.tree_seats
        self._by_nodes = by_nodes and rules == states.rules
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
            shadow = self._shadows.start(state, own_seat)
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

    def answers(self, place: Place) -> TranslatedActions:
        """Return the actions of the tree's decision at a place, translated to the hand."""
        if place.answers is None:
            state, shadow = place.state, place.shadow
            node, between = self.decision(shadow, state), self._between(shadow, state)
            if between is None and shadow.between is not None and shadow.between.lower is None:
                node = None  # after a call, the tree's decision does not know of the bet
            targets = [] if node is None else self.actions(shadow, state)
            actions = tuple(sorted({CALL, *targets, *([FOLD] if state.can_fold else [])}))
            num_left_out = sum(seat < 0 for seat, folded in zip(shadow.seats, state.folded, strict=True) if not folded)
            place.answers = TranslatedActions(node, actions, tuple(map(actions.index, targets)), num_left_out, between)
        return place.answers

    def decision(self, shadow: Shadow, state: BettingState) -> int | None:
        """Return the tree's decision for the seat to act in the hand, or None where the tree has no such decision."""
        return None if shadow.missed or not self._shadows.is_at_turn(shadow, state) else shadow.node

    def actions(self, shadow: Shadow, state: BettingState) -> list[int]:
        """Return the action in the hand for each action of the tree's decision; equal actions may occur."""
        answers = {FOLD: FOLD if state.can_fold else CALL, CALL: CALL}
        offered = self.states.tree.actions(shadow.node).tolist()
        raises = [nearest_raise(state, total) for total in self._shadows.totals(shadow, state)]
        return [answers[action] for action in offered if action <= CALL] + raises

    def _between(self, shadow: Shadow, state: BettingState) -> BetweenNodes | None:
        """Return the decisions of a shadow's `Between`; None without a `Between` or a decision after its upper size."""
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
        """Return the place after an action, or the draw between two places, computed on the first call and kept."""
        found = place.following.get(action) or place.following.get((own_seat, action))
        if found is None:
            found = self._find(place, action, own_seat)
            # The key needs no own seat in two cases. If `found` was found by node numbers alone, it is the same for
            # every own seat. If `place` was found in another way, it is reached with one own seat only.
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
        share, shadows = self._shadows.after(shadow, before, action, after, own_seat)
        places = [self._place(after, shadow, False) for shadow in shadows]
        return places[0] if len(places) == 1 else _Draw(share, *places)


class ShadowHand:
    """Finds the place of one hand in the tree after any of its actions.

    Parameters
    ----------
    translation : Translation
    coins : sequence of float, optional
        One random number from 0 to 1 for each action of the hand, so that repeated calls find the same place. By
        default each bet is mapped to the likelier size.
    seat : int, optional
        The seat whose raises come from `Translation.actions`; -1 for none.
    """

    def __init__(self, translation: Translation, coins: Sequence[float] | np.ndarray | None = None, seat: int = -1):
        self.translation = translation
        self._coins = coins
        self._seat = seat
        self._latest: tuple[int, ...] = ()
        self._place = translation.root(seat)

    def at(self, actions: Sequence[int]) -> Place:
        """Return the place of the hand after `actions`, all actions from its start.

        The actions of a hand are mostly asked about in order. So the search goes on from the latest place, if the
        actions begin with those that led there.
        """
        actions, place, known = tuple(actions), self._place, len(self._latest)
        if not known or actions[:known] != self._latest:  # at the start, too: only `root` forgets places
            place, known = self.translation.root(self._seat), 0
        for number in range(known, len(actions)):
            place = self.after(place, number, actions[number])
        self._latest, self._place = actions, place
        return place

    def after(self, place: Place, number: int, action: int) -> Place:
        """Return the place after the hand's action number `number`, counted from 0, which was taken at `place`."""
        following = place.following.get(action)
        if type(following) is Place:
            return following
        coin = 0.5 if self._coins is None else self._coins[number]
        return self.translation.follow(place, action, coin, self._seat)

    def before_coin(self, actions: Sequence[int]) -> list[tuple[float, Place]]:
        """Return each place to which the last action may lead, with its probability before the random draw."""
        if not actions:
            return [(1.0, self.at(actions))]
        return self.translation.follow_both(self.at(actions[:-1]), actions[-1], self._seat)
