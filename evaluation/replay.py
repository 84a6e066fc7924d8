"""Replay of recorded hands: cards that the record lacks are filled in where they cannot matter."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import BettingState, IllegalAction, rules_array
from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.betting_state import apply_action, start_hand
from plurispiel.abstraction.holdem.cards import cards_text, deck_cards
from plurispiel.abstraction.holdem.hand_ranks import combo_ranks
from plurispiel.abstraction.holdem.rules import HULH, MAX_CHIPS, HoldemRules
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.base import Action
from plurispiel.evaluation.hand import Hand

RAISE = -1
"""Stands for the only legal raise of a limit game, in records that name no size."""

TOLERANCE = 1e-6
"""Largest allowed difference of payoffs, in the card room's units (one unit is `chip` chips). Records print
fractions with six decimals or more."""


class Undecided(ValueError):
    """A legal record does not decide the hand: it lacks cards or actions that matter, or a mucked hand would win."""


# Many hands repeat few different actions, so equal actions share one object.
_action = functools.lru_cache(maxsize=1 << 12)(Action)


@dataclass(frozen=True, slots=True)
class Betting:
    """The betting of a recorded hand, replayed.

    Attributes
    ----------
    rules : HoldemRules
        The rules under which the actions were replayed.
    sizes : tuple of int
        The actions: 0 fold, 1 check or call, N raise to N chips over the whole hand.
    seats, streets : tuple of int
        The seat and the street of each action.
    state : BettingState
        The betting after the last action.
    """

    rules: HoldemRules
    sizes: tuple[int, ...]
    seats: tuple[int, ...]
    streets: tuple[int, ...]
    state: BettingState

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions with their seats and streets."""
        return tuple(map(_action, self.seats, self.sizes, self.streets))

    @property
    def showdown(self) -> bool:
        """Whether two or more seats are left, so that their hands are compared once the betting is over."""
        return int(self.state.array[betting_layout.NUM_LIVE]) > 1

    @property
    def live_seats(self) -> list[int]:
        """Seats that have not folded."""
        return [seat for seat, folded in enumerate(self.state.folded) if not folded]

    @property
    def board_size(self) -> int:
        """The number of board cards dealt so far; all board cards at a showdown."""
        return self.rules.board_size(self.state.street)


def replay_betting(rules: HoldemRules, actions: Sequence[int] | np.ndarray) -> Betting:
    """Replay a hand's actions; raises may have any legal size, even off the game's menu.

    Parameters
    ----------
    actions : sequence or array of int
        0 fold, 1 check or call, N raise to N chips over the whole hand; `RAISE` in limit games.

    Raises
    ------
    IllegalAction
        If the rules do not allow an action; the message names it.
    """
    state = BettingState(rules, np.zeros(betting_layout.STATE_SIZE, dtype=np.int64))
    num_actions = len(actions)
    taken = np.zeros((3, num_actions), dtype=np.int64)
    try:
        taken[0] = actions
    except OverflowError:  # a number of more than 64 bits
        taken[0] = [max(min(action, MAX_CHIPS), -MAX_CHIPS) for action in actions]
    num_legal = _replay(rules_array(rules), state.array, taken)
    if num_legal < num_actions:
        action = "a raise" if actions[num_legal] == RAISE else str(actions[num_legal])
        where = "" if state.is_over else f" of seat {state.actor} on street {state.street}"
        raise IllegalAction(f"action {num_legal + 1}{where}: {action} is not legal: {state.legal_text()}")
    sizes, seats, streets = map(tuple, taken.tolist())
    return Betting(rules, sizes, seats, streets, state)


def replay_hand(
    betting: Betting,
    hole_cards: Sequence[Sequence[int]],
    board: Sequence[int],
    mucked: Sequence[int] = (),
) -> Hand:
    """Return the hand that consists of a replayed betting and the known cards.

    Unknown cards that cannot matter are dealt from the rest of the deck: the hole cards of seats that folded and,
    without a showdown, all other unknown cards. A seat that mucked at the showdown without showing gets the weakest
    cards left, so that it wins nothing.

    Parameters
    ----------
    hole_cards : sequence of sequence of int
        The hole cards of each seat; empty where unknown.
    board : sequence of int
        The known board cards, in the order dealt.
    mucked : sequence of int
        Seats that gave up their claim at the showdown.

    Raises
    ------
    Undecided
        If the hand is not over, deciding cards are unknown, or a seat that mucked would win.
    ValueError
        If the known cards cannot be dealt in this game.
    """
    rules = betting.rules
    if not betting.state.is_over:
        raise Undecided(f"the hand stops before its end, with seat {betting.state.actor} to act")
    known = list(hole_cards)
    _check_cards(rules, known, board)
    showdown = betting.showdown
    if showdown:
        if len(board) < rules.num_board_cards:
            raise Undecided(f"a showdown with {len(board)} of {rules.num_board_cards} board cards known")
        unseen = [seat for seat, cards in enumerate(known) if not cards and not betting.state.folded[seat]]
        if hidden := [seat for seat in unseen if seat not in mucked]:
            raise Undecided(f"a showdown with the hole cards of {_seats_text(hidden)} unknown")
        for seat in unseen:
            known[seat] = _weakest_cards(rules, known, board)
    deck = _completed_deck(rules, known, board)
    payoffs = tuple(betting.state.payoffs(deck).tolist())
    hand = Hand(rules, deck, betting.actions, payoffs, showdown)
    if showdown and mucked:
        for _, winners in split_pots(hand):
            if claimed := sorted(set(winners) & set(mucked)):
                raise Undecided(f"{_seats_text(claimed)} mucked, but would win")
    return hand


def split_pots(hand: Hand) -> list[tuple[int, list[int]]]:
    """Return the main pot and the side pots of a showdown, each as its chips and the seats that share it."""
    rules = hand.rules
    contributions = list(rules.blinds)
    stacks = rules.stacks or (MAX_CHIPS,) * rules.num_seats
    for seat, action, _ in hand.actions:
        if action != FOLD:
            contributions[seat] = min(max(*contributions, action), stacks[seat])
    num_hole = rules.num_hole_cards
    holes = hand.deck[: rules.num_seats * num_hole].reshape(rules.num_seats, num_hole)
    ranks = combo_ranks(hand.deck[rules.num_seats * num_hole :], holes).tolist()
    live = [seat for seat in range(rules.num_seats) if seat not in hand.folded]
    pots = []
    floor = 0
    for level in sorted({contributions[seat] for seat in live}):
        chips = sum(min(paid, level) - min(paid, floor) for paid in contributions)
        eligible = [seat for seat in live if contributions[seat] >= level]
        best = max(ranks[seat] for seat in eligible)
        pots.append((chips, [seat for seat in eligible if ranks[seat] == best]))
        floor = level
    return pots


def only_odd_chips(hand: Hand, stated: Sequence[float], chip: int = 1) -> bool:
    """Return whether stated payoffs differ from a hand's payoffs only in the odd chips of split pots.

    `universal_poker` splits a pot into fractions. Card rooms give every winner the same number of whole chips, and
    the rest to some of the winners.

    Parameters
    ----------
    stated : sequence of float
        Net chips of each seat, as the card room states them.
    chip : int
        The smallest unit that the card room pays, in chips of the hand's rules.
    """
    if not hand.showdown or abs(sum(stated)) > TOLERANCE * chip:
        return False
    # A winner gets at least its whole chips, and at most its whole chips and all odd chips of the pot. Both bounds are
    # kept as differences from the winner's exact share.
    lowest, highest = [0.0] * len(stated), [0.0] * len(stated)
    for size, winners in split_pots(hand):
        if len(winners) > 1:
            share = size / len(winners)
            whole = size // (len(winners) * chip) * chip
            for seat in winners:
                lowest[seat] += whole - share
                highest[seat] += size - (len(winners) - 1) * whole - share
    slack = TOLERANCE * chip
    return all(
        low - slack <= theirs - ours <= high + slack
        for low, theirs, ours, high in zip(lowest, stated, hand.payoffs, highest, strict=True)
    )


def warmup() -> None:
    """Compile every kernel of this module."""
    replay_betting(HULH, [RAISE, FOLD])


def _check_cards(rules: HoldemRules, hole_cards: Sequence[Sequence[int]], board: Sequence[int]) -> None:
    """Raise ValueError for cards that cannot be dealt in this game."""
    if len(hole_cards) != rules.num_seats:
        raise ValueError(f"hole cards of {len(hole_cards)} seats in a game of {rules.num_seats}")
    num_hole = rules.num_hole_cards
    for seat, cards in enumerate(hole_cards):
        if cards and len(cards) != num_hole:
            raise ValueError(f"seat {seat} holds {len(cards)} cards, not {num_hole}")
    if len(board) > rules.num_board_cards:
        raise ValueError(f"{len(board)} board cards, but the game has {rules.num_board_cards}")
    seen = [card for cards in (*hole_cards, board) for card in cards]
    different = set(seen)
    if unknown := different - _deck(rules.num_suits, rules.num_ranks):
        raise ValueError(f"the game's deck lacks the cards {', '.join(map(str, sorted(unknown)))}")
    if len(different) != len(seen):
        twice = sorted(card for card in different if seen.count(card) > 1)
        raise ValueError(f"{cards_text(twice)} dealt twice")


@functools.cache
def _deck(num_suits: int, num_ranks: int) -> frozenset[int]:
    return frozenset(deck_cards(num_suits, num_ranks).tolist())


def _weakest_cards(rules: HoldemRules, hole_cards: Sequence[Sequence[int]], board: Sequence[int]) -> list[int]:
    """Return the unseen hole cards that make the lowest hand on a full board."""
    seen = {card for cards in (*hole_cards, board) for card in cards}
    combos = list(combinations((card for card in rules.cards.tolist() if card not in seen), rules.num_hole_cards))
    return list(combos[int(combo_ranks(list(board), combos).argmin())])


def _completed_deck(rules: HoldemRules, hole_cards: Sequence[Sequence[int]], board: Sequence[int]) -> np.ndarray:
    """Return the deal, with unknown cards taken from the rest of the deck: uint8[num_dealt_cards]."""
    known = [card for cards in hole_cards for card in cards or [-1] * rules.num_hole_cards]
    known += [*board, *[-1] * (rules.num_board_cards - len(board))]
    if -1 in known:
        seen = set(known)
        rest = iter([card for card in rules.cards.tolist() if card not in seen])
        known = [next(rest) if card < 0 else card for card in known]
    return np.array(known, dtype=np.uint8)


def _seats_text(seats: Sequence[int]) -> str:
    return f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"


@kernel
def _replay(rules, state, taken):
    """Begin a hand, apply actions as long as they are legal, and return how many were applied.

    Parameters
    ----------
    state : int64[STATE_SIZE]
        Modified in place.
    taken : int64[3, num_actions]
        Row 0 holds the actions; `RAISE` is replaced by the size of the raise. Rows 1 and 2 receive the seat and the
        street of each action. Modified in place.
    """
    start_hand(rules, state)
    for k in range(taken.shape[1]):
        if state[betting_layout.ACTOR] < 0:
            return k
        action = taken[0, k]
        if action == RAISE and rules[betting_layout.IS_LIMIT] == 1 and state[betting_layout.MAX_RAISE] > 0:
            action = state[betting_layout.MAX_RAISE]
        raises = CALL < action and state[betting_layout.MIN_RAISE] <= action <= state[betting_layout.MAX_RAISE]
        if not (raises or action == CALL or (action == FOLD and state[betting_layout.CAN_FOLD] == 1)):
            return k
        taken[0, k] = action
        taken[1, k] = state[betting_layout.ACTOR]
        taken[2, k] = state[betting_layout.STREET]
        apply_action(rules, state, action)
    return taken.shape[1]
