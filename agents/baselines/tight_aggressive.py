"""The agent `tag`: it plays few starting hands, bets strong hands, and folds hands too weak for the pot odds."""

import functools

import numpy as np

from plurispiel.abstraction.cards.features import draw_outs, made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import combo_cards
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, HoldemRules
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.base import PublicState, RangeAgent, Strategy

BET_POT_FRACTION = 0.66
RAISE_POT_FRACTION = 1.0


class TightAggressiveAgent(RangeAgent):
    """Plays starting hands by position and later streets by made strength, draws and pot odds.

    Before the flop of hold'em with two hole cards and 52 cards, hands are ranked by Chen's count (`starting_hands`).
    The agent opens with the share ``0.9 / (1 + seats left to act)`` of the hands, times 0.8 for each limper, at most
    half. Every raise lowers the shares of hands with which the agent calls and raises. In all other situations, a
    hand's strength is the share of hands that it beats now, to the power of the number of opponents. The agent bets
    strong hands. Against at most two opponents, it also bets good draws to a straight or flush, with probability 1/2.
    Facing a bet, it raises the strongest hands. For other hands it compares the strength with the pot odds, with a
    bonus for draws.
    """

    name = "tag"
    is_deterministic = True

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the probabilities of folding, calling and raising, with one row for each of `combo_ids`."""
        rules = public.rules
        fold_call_raise = np.empty((len(combo_ids), 3))
        if not public.board and has_starting_hands(rules):
            raise_share, call_share = _preflop_shares(public)
            play_starting_hands(starting_hands(), combo_ids, raise_share, call_share, fold_call_raise)
        else:
            num_opponents = public.num_live - 1
            cards_to_come = rules.num_board_cards - len(public.board)
            odds = public.to_call / (public.pot + public.to_call)
            play_made_hands(
                made_strength(rules, public.board),
                draw_outs(rules, public.board),
                combo_ids,
                num_opponents,
                cards_to_come,
                public.num_raises,
                odds,
                fold_call_raise,
            )
        if not public.can_fold:
            fold_call_raise[:, 1] += fold_call_raise[:, 0]
        raise_to = public.raise_by_pot(RAISE_POT_FRACTION if public.can_fold or not public.board else BET_POT_FRACTION)
        if raise_to == CALL:
            fold_call_raise[:, 1] += fold_call_raise[:, 2]
        first, last = (0 if public.can_fold else 1), (2 if raise_to == CALL else 3)
        return Strategy(np.array([FOLD, CALL, raise_to][first:last]), fold_call_raise[:, first:last])


def has_starting_hands(rules: HoldemRules) -> bool:
    """Return whether `starting_hands` ranks a game's hands before the flop."""
    return rules.num_hole_cards == 2 and len(rules.cards) == 52 and rules.num_board_cards >= 3


def _preflop_shares(public: PublicState) -> tuple[float, float]:
    """Return the result of `preflop_shares` in a public state."""
    limpers = sum(action.action == CALL and action.street == public.street for action in public.actions)
    facts = public.num_raises, limpers, public.num_live, public.rules.num_seats, public.to_call, public.pot
    return preflop_shares(*facts)


@functools.cache
def starting_hands() -> np.ndarray:
    """Return the share of starting hands that each combo beats, by Chen's count: float64[1326], read-only.

    Notes
    -----
    Bill Chen's count begins with the higher card: ten points for an ace, eight, seven and six for king, queen and jack,
    else half the number on the card. A pair has twice these points, at least five. Suited cards add two points. If one
    rank is missing between the cards, 1 point is subtracted; for two missing ranks 2 points, for three 4, for four or
    more 5. Unpaired cards below the queen with at most one missing rank add a point. Against hands of equal count, a
    hand counts as beating half of them.
    """
    combos = combo_cards().astype(np.int64)
    low, high = np.sort(combos >> 2, axis=1).T
    points = np.where(high == 12, 10.0, np.where(high >= 9, high - 3.0, (high + 2) / 2))
    pair = low == high
    gap = high - low - 1
    suited = (combos[:, 0] & 3) == (combos[:, 1] & 3)
    counts = points - np.select([gap <= 0, gap == 1, gap == 2, gap == 3], [0.0, 1.0, 2.0, 4.0], 5.0)
    counts += 2.0 * suited + ((gap <= 1) & (high < 10))
    counts = np.where(pair, np.maximum(5.0, 2 * points), counts)
    # Half of (hands below + hands not above) is the number that a hand beats, with ties counted half.
    ordered = np.sort(counts)
    ranks = np.searchsorted(ordered, counts, "left") + np.searchsorted(ordered, counts, "right")
    share = ranks / (2.0 * len(counts))
    share.setflags(write=False)
    return share


@kernel
def preflop_shares(num_raises, limpers, num_live, num_seats, to_call, pot):
    """Return the share of starting hands to raise with, and the share to raise or call with.

    A share of 0.2 stands for the best 20 % of the hands. `limpers` is the number of calls on this street; it is read
    only while nobody has raised. Before the first raise nobody has acted twice, so each call is by a different seat.
    """
    if num_raises == 0:
        share = min(0.9 / (num_live - limpers) * 0.8**limpers, 0.5)
        return share, share
    looseness = 1.0 + 2.0 / num_seats
    cheap = max(0.0, 0.33 - to_call / (pot + to_call))
    return 0.04 * looseness / num_raises, 0.12 * looseness / num_raises + cheap


@kernel
def play_starting_hands(beaten, combo_ids, raise_share, play_share, fold_call_raise):
    """Write the probabilities of fold, call and raise of each combo to `fold_call_raise`, float64[n, 3].

    `beaten` is the result of `starting_hands`; `raise_share` and `play_share` are those of `preflop_shares`.
    """
    for row in range(combo_ids.shape[0]):
        share = beaten[combo_ids[row]]
        raises = share > 1.0 - raise_share
        calls = not raises and share > 1.0 - play_share
        fold_call_raise[row, 0] = not raises and not calls
        fold_call_raise[row, 1] = calls
        fold_call_raise[row, 2] = raises


@kernel
def play_made_hands(strength, outs, combo_ids, num_opponents, cards_to_come, num_raises, odds, fold_call_raise):
    """Write the probabilities of fold, call and raise of each combo to `fold_call_raise`, float64[n, 3].

    `strength` and `outs` are the results of `made_strength` and `draw_outs`. `odds` is the price of a call divided by
    the pot after the call. With no raise on this street (`num_raises` is 0) the agent never folds, as there is at most
    a blind to call.
    """
    fair_share = 1.0 / (num_opponents + 1)
    for row in range(combo_ids.shape[0]):
        combo = combo_ids[row]
        ahead = strength[combo] ** num_opponents
        draw = min(0.02 * outs[combo] * cards_to_come, 0.45)
        raises = 0.0
        calls = 0.0
        if num_raises == 0:
            if ahead >= fair_share + 0.15:
                raises = 1.0
            elif draw >= 0.25 and num_opponents <= 2:
                raises = 0.5
            calls = 1.0 - raises
        elif ahead >= 1.0 - 0.12 / num_raises:
            raises = 1.0
        elif ahead + (1.0 - ahead) * draw >= odds + 0.08 * min(num_raises, 3):
            calls = 1.0
        fold_call_raise[row, 0] = 1.0 - calls - raises
        fold_call_raise[row, 1] = calls
        fold_call_raise[row, 2] = raises


def warmup() -> None:
    """Compile every kernel of this module."""
    for rules in (HUNL, LEDUC):  # with starting hands and without
        TightAggressiveAgent().range_strategy(PublicState(rules, BettingState(rules).array.tolist()))
