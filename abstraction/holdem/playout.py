"""Play-outs of whole random hands inside one kernel: deal, betting, showdown and payoffs."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import BettingState, rules_array
from plurispiel.abstraction.holdem.betting_state import apply_action, settle
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import KUHN, MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import deal, next_word, scale_below, xoshiro_stream

_HIGH = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
MAX_HAND_ACTIONS = 4 * betting_layout.MAX_STREET_ACTIONS


@dataclass(frozen=True)
class Playouts:
    """Totals over random hands.

    Attributes
    ----------
    num_hands, num_actions : int
        Number of hands, and total number of actions in these hands.
    payoffs : float64[num_seats]
        Net chips of each seat over all hands.
    deck : uint8[num_dealt_cards]
        Cards of the last hand: all hole cards, seat by seat, then the board.
    actions : int64[number of actions]
        Actions of the last hand: 0 fold, 1 check or call, N raise to N chips.
    last_payoffs : float64[num_seats]
        Net chips of each seat in the last hand.
    """

    num_hands: int
    num_actions: int
    payoffs: np.ndarray
    deck: np.ndarray
    actions: np.ndarray
    last_payoffs: np.ndarray


class PlayoutWorkspace(NamedTuple):
    """Memory for one hand; after a run it holds the last hand."""

    cards: np.ndarray  # uint8[num_cards]: the deck, the hand's cards first
    state: np.ndarray  # int64[STATE_SIZE]
    ranks: np.ndarray  # int64[MAX_SEATS]
    actions: np.ndarray  # int64[MAX_HAND_ACTIONS]
    payoffs: np.ndarray  # float64[num_seats]


def play_random_hands(rules: HoldemRules, num_hands: int, seed: np.random.SeedSequence) -> Playouts:
    """Return totals over hands played at random.

    At each decision, the legal actions among fold, call (or check) and raise are equally likely. A raise-to total is
    uniform between the lowest and the highest legal total. The raises on offer in `betting_abstraction` play no part.

    Raises
    ------
    ValueError
        If `num_hands` is below 1.
    """
    if num_hands < 1:
        raise ValueError(f"num_hands must be at least 1, got {num_hands}")
    start = BettingState(rules).array
    totals = np.zeros(rules.num_seats)
    work = PlayoutWorkspace(
        cards=np.array(rules.cards),
        state=start.copy(),
        ranks=np.zeros(MAX_SEATS, dtype=np.int64),
        actions=np.zeros(MAX_HAND_ACTIONS, dtype=np.int64),
        payoffs=np.zeros(rules.num_seats),
    )
    with np.errstate(over="ignore"):  # without the compiler, numpy warns where a uint64 wraps around
        num_actions, last = _play_random_hands(
            rules_array(rules),
            rank_tables(),
            num_hands,
            rules.num_dealt_cards,
            xoshiro_stream(seed),
            start,
            work,
            totals,
        )
    return Playouts(
        num_hands, num_actions, totals, work.cards[: rules.num_dealt_cards], work.actions[:last], work.payoffs
    )


def warmup() -> None:
    """Compile every kernel of this module."""
    play_random_hands(KUHN, 1, np.random.SeedSequence(0))


@kernel
def _play_random_hands(rules, tables, num_hands, num_dealt, stream, start, work, totals):
    """Return the total number of actions in all hands, and the number of actions in the last hand.

    Parameters
    ----------
    start : int64[STATE_SIZE]
        The state with the blinds posted.
    work : PlayoutWorkspace
        Modified in place.
    totals : float64[num_seats]
        Net chips over all hands. Modified in place.
    """
    cards, state, actions = work.cards, work.state, work.actions
    num_seats = totals.shape[0]
    num_actions = 0
    played = 0
    for _ in range(num_hands):
        deal(stream, cards, num_dealt)
        for entry in range(betting_layout.STATE_SIZE):
            state[entry] = start[entry]
        played = 0
        while state[betting_layout.ACTOR] >= 0:
            can_fold = state[betting_layout.CAN_FOLD]
            lowest = state[betting_layout.MIN_RAISE]
            word = next_word(stream)
            # One word serves the kind of action and the size of a raise, as its two halves are independent.
            choice = scale_below(word >> _HIGH, 1 + can_fold + (lowest > 0)) + 1 - can_fold
            raise_to = lowest + scale_below(word & _LOW, state[betting_layout.MAX_RAISE] - lowest + 1)
            action = raise_to if choice == 2 else choice  # 0 is fold and 1 is call
            apply_action(rules, state, action)
            actions[played] = action
            played += 1
        num_actions += played
        settle(rules, tables, state, cards, work.ranks, work.payoffs)
        for seat in range(num_seats):
            totals[seat] += work.payoffs[seat]
    return num_actions, played
