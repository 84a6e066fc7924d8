"""The betting of one hand, in a state that Python and kernels share.

Kernels work on the flat arrays that `betting_layout` describes; `BettingState` wraps a state array for Python.
"""

import functools
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.rules import KUHN, MAX_CHIPS, MAX_SEATS, UNLIMITED_RAISES, HoldemRules

__all__ = ["CALL", "FOLD", "BettingState", "IllegalAction", "nearest_raise", "pot_raise", "rules_array"]


@functools.cache
def _kernels() -> Any:
    """Return the module of the kernels, imported on first use: the process of a simple agent starts without numba."""
    from plurispiel.abstraction.holdem import betting_state

    return betting_state


@functools.cache
def _rank_tables() -> Any:
    """Return the tables of the hand evaluator, whose module needs numba like `_kernels`."""
    from plurispiel.abstraction.holdem.hand_ranks import rank_tables

    return rank_tables()


class IllegalAction(ValueError):
    """An action that the rules, or the game's menu of raises, do not allow in a state."""


@functools.lru_cache(maxsize=256)
def rules_array(rules: HoldemRules) -> np.ndarray:
    """Return the rules as the int64 array that kernels read (entries in `betting_layout`)."""
    array = np.zeros(betting_layout.RULES_SIZE, dtype=np.int64)
    array[betting_layout.NUM_SEATS] = rules.num_seats
    array[betting_layout.NUM_STREETS] = rules.num_streets
    array[betting_layout.IS_LIMIT] = rules.is_limit
    array[betting_layout.MIN_BET] = rules.big_blind
    array[betting_layout.NUM_HOLE_CARDS] = rules.num_hole_cards
    array[betting_layout.NUM_BOARD_CARDS] = rules.num_board_cards
    for start, values in (
        (betting_layout.STACK, rules.stacks or (MAX_CHIPS,) * rules.num_seats),
        (betting_layout.BLIND, rules.blinds),
        (betting_layout.FIRST_SEAT, rules.first_seats),
        (betting_layout.RAISE_SIZE, rules.raise_sizes or (0,) * rules.num_streets),
        (betting_layout.MAX_RAISES, rules.max_raises or (UNLIMITED_RAISES,) * rules.num_streets),
    ):
        array[start : start + len(values)] = values
    return array


class BettingState:
    """Chips, folds and the seat to act, from the blinds to the end of a hand.

    Parameters
    ----------
    rules : HoldemRules
    array : int64[STATE_SIZE], optional
        A state array to continue from, not copied. By default a new hand begins, with the blinds posted.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem.rules import HUNL
    >>> state = BettingState(HUNL)
    >>> state.actor, state.min_raise, state.max_raise
    (1, 200, 20000)
    >>> state.apply(300)
    >>> state.actor, state.to_call, state.min_raise
    (0, 200, 500)
    """

    __slots__ = ("array", "rules", "_rules_array")

    def __init__(self, rules: HoldemRules, array: np.ndarray | None = None):
        self.rules = rules
        self._rules_array = rules_array(rules)
        if array is None:
            array = np.zeros(betting_layout.STATE_SIZE, dtype=np.int64)
            _kernels().start_hand(self._rules_array, array)
        self.array = array

    def copy(self) -> "BettingState":
        """Return an independent state at the same point."""
        return BettingState(self.rules, self.array.copy())

    @property
    def street(self) -> int:
        """Number of the street, from 0."""
        return int(self.array[betting_layout.STREET])

    @property
    def actor(self) -> int:
        """Seat to act, or -1 at the end of the hand."""
        return int(self.array[betting_layout.ACTOR])

    @property
    def is_over(self) -> bool:
        """Whether the betting is finished."""
        return self.actor < 0

    @property
    def can_fold(self) -> bool:
        """Whether the actor may fold, that is, faces a bet."""
        return bool(self.array[betting_layout.CAN_FOLD])

    @property
    def min_raise(self) -> int:
        """Lowest legal raise-to total in chips, whatever the menu; 0 when no raise is legal."""
        return int(self.array[betting_layout.MIN_RAISE])

    @property
    def max_raise(self) -> int:
        """Highest legal raise-to total in chips, whatever the menu; 0 when no raise is legal."""
        return int(self.array[betting_layout.MAX_RAISE])

    @property
    def to_call(self) -> int:
        """Chips that the actor must add to call, at most the actor's remaining chips; 0 at the end of the hand."""
        if self.is_over:
            return 0
        matched = min(self.array[betting_layout.MAX_CONTRIB], self._rules_array[betting_layout.STACK + self.actor])
        return int(matched - self.array[betting_layout.CONTRIB + self.actor])

    @property
    def contributions(self) -> tuple[int, ...]:
        """Chips that each seat has contributed over the whole hand."""
        return tuple(self.array[betting_layout.CONTRIB : betting_layout.CONTRIB + self.rules.num_seats].tolist())

    @property
    def folded(self) -> tuple[bool, ...]:
        """Whether each seat has folded."""
        return tuple(
            map(bool, self.array[betting_layout.FOLDED : betting_layout.FOLDED + self.rules.num_seats].tolist())
        )

    @property
    def menu(self) -> tuple[int, ...] | None:
        """Raise-to totals on offer, ascending; None if the game offers every size (see `raise_menu`)."""
        return raise_menu(self.rules, self.array.tolist())

    def apply(self, action: int) -> None:
        """Apply an action of the actor: 0 fold, 1 check or call, N raise to N chips over the whole hand.

        Raises
        ------
        IllegalAction
            If the rules or the game's menu do not allow the action; the state is then unchanged.
        """
        if isinstance(action, np.integer):
            action = int(action)
        if not is_allowed(self.rules, self.array.tolist(), action):
            raise IllegalAction(f"{action!r} is not legal for seat {self.actor}: {self.legal_text()}")
        self.apply_legal(action)

    def apply_legal(self, action: int) -> None:
        """Apply an action without checking it; an illegal action leaves the state meaningless."""
        _kernels().apply_action(self._rules_array, self.array, action)

    def legal_text(self) -> str:
        """Return the legal actions in words, for messages."""
        if self.is_over:
            return "the hand is over"
        parts = ["0 (fold)"] if self.can_fold else []
        parts.append(f"1 (call {self.to_call})" if self.can_fold else "1 (check)")
        menu = self.menu
        if menu is None:
            if self.max_raise:
                parts.append(f"{self.min_raise}..{self.max_raise} (raise to)")
        else:
            parts.extend(f"{total} (raise to)" for total in menu)
        return "legal are " + ", ".join(parts)

    def payoffs(self, deck: np.ndarray) -> np.ndarray:
        """Return every seat's net chips: float64[num_seats], summing to 0.

        Parameters
        ----------
        deck : uint8[num_dealt_cards]
            All hole cards, seat by seat, then the board.

        Raises
        ------
        ValueError
            If the hand is not over, or the deck has another shape.
        """
        if not self.is_over:
            raise ValueError("the hand is not over: no payoffs yet")
        deck = np.ascontiguousarray(deck, dtype=np.uint8)
        if deck.shape != (self.rules.num_dealt_cards,):
            raise ValueError(f"a deck of this game is uint8[{self.rules.num_dealt_cards}], got shape {deck.shape}")
        payoffs = np.empty(self.rules.num_seats)
        ranks = np.zeros(MAX_SEATS, dtype=np.int64)
        _kernels().settle(self._rules_array, _rank_tables(), self.array, deck, ranks, payoffs)
        return payoffs


def is_allowed(rules: HoldemRules, state: list[int], action: object) -> bool:
    """Return whether an action is legal and on the game's menu; `state` is a state array as a list."""
    if type(action) is not int or state[betting_layout.ACTOR] < 0:
        return False
    if action == FOLD:
        return state[betting_layout.CAN_FOLD] != 0
    if action == CALL:
        return True
    menu = raise_menu(rules, state)
    if menu is not None:
        return action in menu
    return action > CALL and state[betting_layout.MIN_RAISE] <= action <= state[betting_layout.MAX_RAISE]


def raise_menu(rules: HoldemRules, state: list[int], dead_chips: int = 0) -> tuple[int, ...] | None:
    """Return the raise-to totals on offer, ascending, or None if every legal size is on offer.

    The menus are those of ``universal_poker``. A limit game offers its fixed raise, and the menu ``fc`` no raise. The
    menus ``fcpa`` and ``fchpa`` offer a raise by the pot where it is legal, and all-in wherever a raise is legal.
    ``fchpa`` adds a raise by half the pot where both this raise and the raise by the pot are legal. `dead_chips` is as
    in `pot_raise`.
    """
    highest = state[betting_layout.MAX_RAISE]
    if highest == 0 or rules.betting_abstraction == "fc":
        return ()
    if rules.is_limit:
        return (highest,)
    if rules.betting_abstraction == "fullgame":
        return None
    return tuple(sorted(set(named_raises(rules, state, dead_chips).values())))


def named_raises(rules: HoldemRules, state: list[int], dead_chips: int = 0) -> dict[str, int]:
    """Return the raise-to totals of a no-limit menu by name: ``half_pot``, ``pot`` and ``all_in``, where offered.

    If a raise by the pot puts in the whole stack, its only name is ``pot``. `dead_chips` is as in `pot_raise`.
    """
    lowest, highest = state[betting_layout.MIN_RAISE], state[betting_layout.MAX_RAISE]
    totals = {}
    pot = pot_raise(rules, state, 1.0, dead_chips)
    if lowest <= pot <= highest:
        half_pot = pot_raise(rules, state, 0.5, dead_chips)
        if rules.betting_abstraction == "fchpa" and lowest <= half_pot:
            totals["half_pot"] = half_pot
        totals["pot"] = pot
    if highest and pot != highest:
        totals["all_in"] = highest
    return totals


def pot_raise(rules: HoldemRules, state: list[int], fraction: float, dead_chips: int = 0) -> int:
    """Return the raise-to total of a raise by a fraction of the pot after calling, legal or not, rounded half up.

    `dead_chips` are chips in the pot that no seat of the state has contributed.
    """
    max_contrib = state[betting_layout.MAX_CONTRIB]
    contributions = state[betting_layout.CONTRIB : betting_layout.CONTRIB + rules.num_seats]
    pot_after_call = sum(contributions) + dead_chips + max_contrib - contributions[state[betting_layout.ACTOR]]
    return max_contrib + int(fraction * pot_after_call + 0.5)


def nearest_raise(betting: Any, total: int) -> int:
    """Return the raise on offer nearest to a total, the smaller of two equally near, or a call if none is on offer.

    Parameters
    ----------
    betting : BettingState or PublicState
        The hand, at a decision.
    total : int
        Raise-to chips, legal or not.
    """
    if betting.max_raise == 0:
        return CALL
    menu = betting.menu
    if menu is not None:
        return min(menu, key=lambda raise_to: abs(raise_to - total), default=CALL)
    return min(max(total, betting.min_raise), betting.max_raise)


def warmup() -> None:
    """Compile every kernel that this module calls."""
    state = BettingState(KUHN)
    state.apply(CALL)
    state.apply(CALL)
    state.payoffs(np.array([0, 4], dtype=np.uint8))
