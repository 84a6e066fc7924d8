"""The interface of an agent: its events, its view of a hand and its answers.

A hand begins with a call of ``restart``. Then ``observe`` receives the events in order: the agent's own cards, every
action, and new board cards. ``act`` is called whenever the agent's seat is to act. An agent gets no other information.

Cards are numbers, ``4 * rank + suit``, from 0 (2c) to 51 (As): ranks ascend from deuce to ace, and suits are in the
order c, d, h, s. `cards_text` and `parse_cards` convert cards to text and back: ``cards_text((51, 0)) == "As2c"``.
Combos, the rows of a `Strategy`, are in the order of `HoldemRules.combos`. `HoldemRules.combo_id` returns the number of
a combo.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, nearest_raise, pot_raise, raise_menu
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import HoldemRules


class Deal(NamedTuple):
    """The hole cards of the agent's own seat, at the start of a hand."""

    hole_cards: tuple[int, ...]


class Action(NamedTuple):
    """A seat's action: 0 fold, 1 check or call, N raise to N chips over the whole hand."""

    seat: int
    action: int
    street: int


class Board(NamedTuple):
    """New board cards, at the start of a street on which a seat is to act."""

    cards: tuple[int, ...]
    street: int


Event = Deal | Action | Board


class PublicState:
    """The public information when a seat is to act.

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
        Every action so far. `rules`, `board` and `actions` together are the whole public history.
    can_fold : bool
        Whether the actor may fold, because it faces a bet or a blind above its own contribution.
    min_raise, max_raise : int
        Smallest and largest legal raise, as the actor's total of chips over the whole hand; 0 if no raise is legal.
    menu : tuple of int or None
        The legal raise-to totals, ascending; empty if no raise is legal. None if every size from `min_raise` to
        `max_raise` is legal.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem.rules import SIXMAX
    >>> state = BettingState(SIXMAX)
    >>> state.apply(250)
    >>> public = PublicState(SIXMAX, state.array.tolist(), (), (Action(2, 250, 0),))
    >>> public.position, public.to_call, public.last_raise, public.raise_to(300)
    ('HJ', 250, Action(seat=2, action=250, street=0), 400)
    """

    __slots__ = ("rules", "street", "actor", "board", "actions", "can_fold", "min_raise", "max_raise", "menu", "_state")

    def __init__(
        self, rules: HoldemRules, state: list[int], board: tuple[int, ...] = (), actions: tuple[Action, ...] = ()
    ):
        self.rules = rules
        self.street = state[betting_layout.STREET]
        self.actor = state[betting_layout.ACTOR]
        self.board = board
        self.actions = actions
        self.can_fold = state[betting_layout.CAN_FOLD] != 0
        self.menu = menu = raise_menu(rules, state)
        if menu is None:
            self.min_raise = state[betting_layout.MIN_RAISE]
            self.max_raise = state[betting_layout.MAX_RAISE]
        else:
            self.min_raise, self.max_raise = (menu[0], menu[-1]) if menu else (0, 0)
        self._state = state

    @property
    def contributions(self) -> tuple[int, ...]:
        """Chips each seat has put in over the whole hand."""
        return tuple(self._state[betting_layout.CONTRIB : betting_layout.CONTRIB + self.rules.num_seats])

    @property
    def street_contributions(self) -> tuple[int, ...]:
        """Chips each seat has put in on this street; preflop, the blinds count."""
        blinds, stacks = self.rules.blinds, self.rules.stacks
        before = list(blinds) if self.street else [0] * self.rules.num_seats
        highest = max(blinds)
        for seat, action, street in self.actions:
            if street == self.street:
                break
            if action != FOLD:
                highest = action if action > CALL else highest
                before[seat] = highest if stacks is None else min(highest, stacks[seat])
        return tuple(now - then for now, then in zip(self.contributions, before, strict=True))

    @property
    def stacks(self) -> tuple[int, ...] | None:
        """Chips each seat has left to bet; None in limit games, which have no stacks."""
        if self.rules.stacks is None:
            return None
        return tuple(stack - chips for stack, chips in zip(self.rules.stacks, self.contributions, strict=True))

    @property
    def position(self) -> str:
        """Position of the actor: SB, BB, UTG, ... BTN; heads-up, the button posts the small blind and is BTN."""
        return seat_positions(self.rules)[self.actor]

    @property
    def last_raise(self) -> Action | None:
        """The latest bet or raise on this street, with its raise-to total; None if there is none besides the blinds."""
        for action in reversed(self.actions):
            if action.street != self.street:
                return None
            if action.action > CALL:
                return action
        return None

    @property
    def folded(self) -> tuple[bool, ...]:
        """For each seat, whether it has folded."""
        return tuple(map(bool, self._state[betting_layout.FOLDED : betting_layout.FOLDED + self.rules.num_seats]))

    @property
    def pot(self) -> int:
        """Chips in the middle, bets of this street included."""
        return sum(self._state[betting_layout.CONTRIB : betting_layout.CONTRIB + self.rules.num_seats])

    @property
    def to_call(self) -> int:
        """Chips the actor must add to call, at most the rest of its stack."""
        contribution = self._state[betting_layout.CONTRIB + self.actor]
        asked = self._state[betting_layout.MAX_CONTRIB] - contribution
        if self.rules.stacks is None:
            return asked
        return min(asked, self.rules.stacks[self.actor] - contribution)

    @property
    def num_live(self) -> int:
        """Number of seats that have not folded."""
        return self._state[betting_layout.NUM_LIVE]

    @property
    def num_raises(self) -> int:
        """Number of bets and raises on this street; blinds do not count."""
        return self._state[betting_layout.NUM_RAISES]

    def raise_to(self, chips: int) -> int:
        """Return the legal raise nearest to a total of chips over the whole hand; a call if no raise is legal."""
        return nearest_raise(self, chips)

    def raise_by_pot(self, fraction: float) -> int:
        """Return the legal raise nearest to a raise by `fraction` of the pot after calling; a call if none is legal."""
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
    """All information of a seat that is to act.

    Attributes
    ----------
    public : PublicState
    seat : int
        The actor. With n seats, three or more, the small blind is seat 0 and the button seat n - 1. Heads-up, the big
        blind is seat 0 and the button seat 1, except in a game whose seat 0 posts the smaller blind.
    hole_cards : tuple of int
        The actor's hole cards in the order dealt; `cards_text` writes them. A card is ``4 * rank + suit``, with ranks
        from deuce (0) to ace (12) and suits in the order c, d, h, s. ``public.rules.combo_id(hole_cards)`` is the row
        of these cards in a `Strategy`.
    """

    public: PublicState
    seat: int
    hole_cards: tuple[int, ...]


class Decision(NamedTuple):
    """An action and, optionally, the actions and the probabilities from which it was drawn.

    `actions` are the columns of a `Strategy`, and `probabilities` are its row for the hole cards. `Agent.act` may also
    return the bare action.
    """

    action: int
    actions: tuple[int, ...] = ()
    probabilities: tuple[float, ...] = ()


SUM_TOLERANCE = 1e-6
"""Largest allowed difference of a reported row's sum from 1: agents may compute in float32."""


@dataclass(frozen=True)
class Strategy:
    """The probabilities of an agent's actions at one public state, for every combo.

    Attributes
    ----------
    actions : int64[num_actions]
        The action of each column.
    probabilities : float64[num_combos, num_actions]
        Row k is for the hole cards ``rules.combos[k]`` (``rules.combo_id(hole_cards)`` returns k) and sums to 1 within
        `SUM_TOLERANCE`. Rows of combos that share a card with the board are ignored. `RangeAgent.strategy` returns rows
        for the given combos only.
    highest : int64[num_actions] or None
        Column k stands for a raise drawn uniformly from ``actions[k]`` to ``highest[k]`` chips, both included. The two
        are equal in a column for a single action. None if every column is for a single action.
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
    """A program that acts for one seat.

    Subclasses must define `act`, or `range_strategy`, from which `act` then draws. The other methods have defaults.

    Attributes
    ----------
    name : str
        By default the class's name.
    is_deterministic : bool
        Whether the agent's actions and reported strategies depend on the hand and `rng` alone. The report of a run asks
        such an agent for its strategies again, unless the agent plays in its own process. The strategies of all other
        agents are in the report only if they were recorded during play.

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
        """Begin a new hand at a seat. All randomness must come from `rng`, which is valid for this hand only."""
        self.rules = rules
        self.seat = seat
        self.rng = rng

    def observe(self, event: Event) -> None:
        """Receive an event: the seat's own `Deal`, then each `Action` (its own too) and each `Board`, in order.

        By default nothing is done.
        """

    def act(self, view: View) -> "Decision | int":
        """Return the action to take: by default a draw from the hole cards' row of `range_strategy`.

        Raises
        ------
        TypeError
            By default, if the agent has no `range_strategy` either.
        """
        strategy = self.range_strategy(view.public)
        if strategy is None:
            raise TypeError(f"{type(self).__name__} must define act(view)")
        combo_ids = [view.public.rules.combo_id(view.hole_cards)]
        highest = None if strategy.highest is None else np.asarray(strategy.highest)
        row = np.asarray(strategy.probabilities, dtype=np.float64)[combo_ids]
        return draw(Strategy(np.asarray(strategy.actions), row, highest), self.rng)

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return this agent's strategy for every combo, or None if the agent does not report its strategy.

        The strategy must be the distribution that `act` draws from, and must not depend on the agent's hole cards.
        """
        return None

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Return the mean of `range_strategy` over random choices that the agent has yet to make in this state.

        An example of such a choice is the size to which action translation maps an off-tree bet. Most agents make no
        such choices, so by default the result is that of `range_strategy`.
        """
        return self.range_strategy(public)


ORIGINS = ("blueprint", "solver", "nets")
"""The origins of decisions.

``blueprint`` is a stored strategy. ``nets`` is a solve in which networks give the values of later streets, and
``solver`` any other solve.
"""


@runtime_checkable
class TellsOrigins(Protocol):
    """An agent that tells how it found its decisions.

    Attributes
    ----------
    origins : mapping of str to int
        The number of decisions of each of the `ORIGINS` so far; empty if the agent does not tell origins apart.
    clamped : int
        Number of street ends, in all solves so far, where the chips behind are a larger multiple of the pot than
        anywhere in the training of the networks.
    """

    @property
    def origins(self) -> Mapping[str, int]:
        """See the class."""

    @property
    def clamped(self) -> int:
        """See the class."""


class RangeAgent(Agent):
    """An agent that is defined by its strategy for any set of combos; `act` draws from it.

    Subclasses define `strategy` alone, so that the actions and the reported strategy cannot differ.
    """

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids`` (int64[n]).

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise TypeError(f"{type(self).__name__} must define strategy(public, combo_ids)")

    def act(self, view: View) -> Decision:
        """Draw from the hole cards' row of the strategy."""
        combo_ids = np.array([view.public.rules.combo_id(view.hole_cards)])
        return draw(self.strategy(view.public, combo_ids), self.rng)

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos."""
        return self.strategy(public, np.arange(public.rules.num_combos))


def draw(strategy: Strategy, rng: np.random.Generator) -> Decision:
    """Return an action drawn from the first row of a strategy, with that row."""
    row = strategy.probabilities[0].tolist()
    actions = tuple(strategy.actions.tolist())
    column = draw_column(row, rng)
    action = actions[column]
    if strategy.highest is not None and strategy.highest[column] > action:
        action = int(rng.integers(action, strategy.highest[column], endpoint=True))
    return Decision(action, actions, tuple(row))


def draw_column(row: list[float], rng: np.random.Generator) -> int:
    """Return the index of a column, drawn by the probabilities in `row`, which sum to 1."""
    column = len(row) - 1
    if row[column] < 1.0:
        threshold = rng.random()
        for k, probability in enumerate(row):
            threshold -= probability
            if threshold < 0.0:
                column = k
                break
        while row[column] == 0.0:  # rounding can leave the threshold above 0 after the last possible column
            column -= 1
    return column
