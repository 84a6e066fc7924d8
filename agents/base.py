"""What an agent is: the contract, what it sees, and what it answers.

A hand goes ``restart``, then events in order through ``observe`` (the own cards, every action, the new
board cards), and ``act`` whenever the seat is to act. Everything an agent may know arrives this way.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_state
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, nearest_raise, pot_raise, raise_menu
from plurispiel.abstraction.holdem.rules import HoldemRules


class Deal(NamedTuple):
    """The own hole cards, at the start of a hand."""

    hole_cards: tuple[int, ...]


class Action(NamedTuple):
    """What a seat did: 0 fold, 1 check or call, N raise to N chips over the whole hand."""

    seat: int
    action: int
    street: int


class Board(NamedTuple):
    """New board cards, at the start of a street."""

    cards: tuple[int, ...]
    street: int


Event = Deal | Action | Board


class PublicState:
    """What everybody at the table sees when a seat is to act.

    Attributes
    ----------
    rules : HoldemRules
    street : int
        Betting round, from 0.
    actor : int
        Seat to act.
    board : tuple of int
        Board cards so far, in the order dealt.
    actions : tuple of Action
        Every action so far; with `rules` and `board` the whole public history.
    contributions : tuple of int
        Chips each seat has put in over the whole hand.
    can_fold : bool
        Whether the actor faces a bet.
    min_raise, max_raise : int
        Lowest and highest legal raise-to; 0 when no raise is legal.
    menu : tuple of int or None
        The raise-to totals on offer, ascending, where they are finitely many; None where every size is.
    """

    __slots__ = ("rules", "street", "actor", "board", "actions", "can_fold", "min_raise", "max_raise", "menu", "_state")

    def __init__(
        self, rules: HoldemRules, state: list[int], board: tuple[int, ...] = (), actions: tuple[Action, ...] = ()
    ):
        self.rules = rules
        self.street = state[betting_state.STREET]
        self.actor = state[betting_state.ACTOR]
        self.board = board
        self.actions = actions
        self.can_fold = state[betting_state.CAN_FOLD] != 0
        self.menu = menu = raise_menu(rules, state)
        if menu is None:
            self.min_raise = state[betting_state.MIN_RAISE]
            self.max_raise = state[betting_state.MAX_RAISE]
        else:
            self.min_raise, self.max_raise = (menu[0], menu[-1]) if menu else (0, 0)
        self._state = state

    @property
    def contributions(self) -> tuple[int, ...]:
        """Chips each seat has put in over the whole hand."""
        return tuple(self._state[betting_state.CONTRIB : betting_state.CONTRIB + self.rules.num_seats])

    @property
    def folded(self) -> tuple[bool, ...]:
        """Whether each seat has folded."""
        return tuple(map(bool, self._state[betting_state.FOLDED : betting_state.FOLDED + self.rules.num_seats]))

    @property
    def pot(self) -> int:
        """Chips in the middle."""
        return sum(self._state[betting_state.CONTRIB : betting_state.CONTRIB + self.rules.num_seats])

    @property
    def to_call(self) -> int:
        """Chips the actor must add to call, never more than it has."""
        contribution = self._state[betting_state.CONTRIB + self.actor]
        asked = self._state[betting_state.MAX_CONTRIB] - contribution
        if self.rules.stacks is None:
            return asked
        return min(asked, self.rules.stacks[self.actor] - contribution)

    @property
    def num_live(self) -> int:
        """Seats that have not folded."""
        return self._state[betting_state.NUM_LIVE]

    @property
    def num_raises(self) -> int:
        """Bets and raises on this street; blinds do not count."""
        return self._state[betting_state.NUM_RAISES]

    def raise_by_pot(self, fraction: float) -> int:
        """Return the action nearest to a raise by a fraction of the pot after calling; a call if none is legal."""
        return nearest_raise(self, pot_raise(self.rules, self._state, fraction))

    def is_legal(self, action: int) -> bool:
        """Return whether the actor may take an action."""
        if action == FOLD:
            return self.can_fold
        if action == CALL:
            return True
        if self.menu is not None:
            return action in self.menu
        return self.min_raise <= action <= self.max_raise and action > CALL

    def betting(self) -> BettingState:
        """Return an independent betting state at this point."""
        return BettingState(self.rules, np.array(self._state, dtype=np.int64))


class View(NamedTuple):
    """What one seat sees when it is to act."""

    public: PublicState
    seat: int
    hole_cards: tuple[int, ...]


class Decision(NamedTuple):
    """An action, and the distribution it was drawn from (the seat's row of a `Strategy`), if the agent tells.

    An agent may also return the bare action.
    """

    action: int
    actions: tuple[int, ...] = ()
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True)
class Strategy:
    """What an agent would do at one public state with every combo.

    Attributes
    ----------
    actions : int64[num_actions]
        The action of each column.
    probabilities : float64[num_combos, num_actions]
        Row k is what it does with the hole cards ``rules.combos[k]`` (``rules.combo_id(hole_cards)`` returns k), and
        sums to 1. Rows of combos that cannot be held (a card on the board) mean nothing.
    highest : int64[num_actions] or None
        A column may stand for a raise drawn uniformly from ``actions[k]..highest[k]`` chips inclusive;
        None where every column is a single action.
    """

    actions: np.ndarray
    probabilities: np.ndarray
    highest: np.ndarray | None = None

    def probability(self, action: int) -> np.ndarray:
        """Return the probability of one action for every combo: float64[num_combos]."""
        highest = self.actions if self.highest is None else self.highest
        chance = np.zeros(len(self.probabilities))
        for column, (low, high) in enumerate(zip(self.actions, highest, strict=True)):
            if low <= action <= high:
                chance += self.probabilities[:, column] / (high - low + 1)
        return chance


class Agent:
    """A program that acts for one seat. Subclasses need `act`; the rest has defaults.

    Attributes
    ----------
    name : str
        By default the class's name.
    is_deterministic : bool
        Whether in the same hand, with the same `rng`, it always acts and tells the same. An agent that does not say so
        is taken to be one that may not: what it tells is written down in play where it is to be shown later.

    Examples
    --------
    >>> class Sheriff(Agent):
    ...     def act(self, view):
    ...         return view.public.raise_by_pot(1.0) if view.public.num_raises == 0 else CALL
    >>> Sheriff().name
    'Sheriff'
    """

    name: str = ""
    is_deterministic: bool = False

    rules: HoldemRules
    seat: int
    rng: np.random.Generator

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand at a seat. All randomness has to come from `rng`, which is only good for this hand."""
        self.rules = rules
        self.seat = seat
        self.rng = rng

    def observe(self, event: Event) -> None:
        """See what happens, in order: the own `Deal`, each `Action` (own ones too), each `Board`."""

    def act(self, view: View) -> "Decision | int":
        """Return what to do: by default a draw from the own row of `range_strategy`."""
        strategy = self.range_strategy(view.public)
        if strategy is None:
            raise TypeError(f"{type(self).__name__} must define act(view)")
        own = [view.public.rules.combo_id(view.hole_cards)]
        highest = None if strategy.highest is None else np.asarray(strategy.highest)
        row = np.asarray(strategy.probabilities, dtype=np.float64)[own]
        return draw(Strategy(np.asarray(strategy.actions), row, highest), self.rng)

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return what this agent would do here with every combo, or None if it cannot tell.

        This must be the very distribution that `act` draws from, and must not depend on the own cards.
        """
        return None

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Return what to expect of this agent before it has thrown the coins that the last action calls for.

        What they can only learn later, such as what a bet counts as, is averaged over. By default there are no coins.
        """
        return self.range_strategy(public)


class RangeAgent(Agent):
    """An agent that is defined by its strategy for any set of combos; `act` draws from it.

    Subclasses need `strategy`, so that what acts and what is reported cannot differ.
    """

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids`` (int64[n])."""
        raise TypeError(f"{type(self).__name__} must define strategy(public, combo_ids)")

    def act(self, view: View) -> Decision:
        """Draw from the own row of the strategy."""
        own = np.array([view.public.rules.combo_id(view.hole_cards)])
        return draw(self.strategy(view.public, own), self.rng)

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos."""
        return self.strategy(public, np.arange(public.rules.num_combos))


def draw(strategy: Strategy, rng: np.random.Generator) -> Decision:
    """Draw an action from the first row of a strategy."""
    row = strategy.probabilities[0].tolist()
    actions = tuple(strategy.actions.tolist())
    column = draw_column(row, rng)
    action = actions[column]
    if strategy.highest is not None and strategy.highest[column] > action:
        action = int(rng.integers(action, strategy.highest[column], endpoint=True))
    return Decision(action, actions, tuple(row))


def draw_column(row: list[float], rng: np.random.Generator) -> int:
    """Draw a column of probabilities that sum to 1."""
    column = len(row) - 1
    if row[column] < 1.0:
        threshold = rng.random()
        for k, probability in enumerate(row):
            threshold -= probability
            if threshold < 0.0:
                column = k
                break
        while row[column] == 0.0:  # rounding can leave the threshold above 0 behind the last possible column
            column -= 1
    return column
