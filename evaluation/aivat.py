"""AIVAT for any number of seats: an unbiased score of a hand with most of its luck removed.

The score of a seat is its payoff plus one correction of mean zero for every random choice with a known distribution.
These choices are chance, the seat's own actions and, once two seats are left, the actions of a trusted opponent.
The seat's hole cards are averaged out as well, since its agent reports the strategy with every other combo.
The other agents need not report anything, and the value function may be any function that was fixed beforehand.

Let i be a seat with value function w, and o_t the hand up to step t without the hole cards of i. B_t(h) is the
probability of combo h given o_t. It is proportional to the product of the probabilities p(a|h) of the seat's own
actions a with h, and 0 if h shares a card with the board or with another seat's hand. The other seats' probabilities
cancel, as they do not depend on h: let q(a) be those of a trusted opponent with its true cards. Let u(h) be the payoff
of the same actions and board if the seat had held h, and w(h, e) the value with h after an event e, such as an action
a. Then

    estimate = sum_h B_T(h) u(h)
             + sum over chance steps  ( E_e[sum_h B_t(h) w(h, e)]          - sum_h B_t+1(h) w(h, e that came) )
             + sum over own actions   ( sum_h B_t(h) sum_a p(a|h) w(h, a)  - sum_h B_t+1(h) w(h, a taken)     )
             + sum over other actions ( sum_h B_t(h) sum_a q(a) w(h, a)    - sum_h B_t+1(h) w(h, a taken)     )

where the *other* actions are those of the trusted opponent once two seats are left. Each bracket has mean 0 given o_t.
The probability of an event e is s = sum_h B_t(h) p(e|h), with q(e) in place of p(e|h) in the last bracket, and s
B_t+1(h) equals B_t(h) p(e|h). The second term of a bracket therefore averages to the first. The payoff term is the
payoff's conditional expectation. Neither argument uses the number of seats or w, and only the last bracket uses an
opponent's strategy.

References
----------
N. Burch et al.: AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information Games.
AAAI (2018): the corrections of chance and own actions, and imaginary observations. N. Brown and T. Sandholm:
Superhuman AI for Multiplayer Poker, Science 365 (2019), supplement: the same for one agent of six.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.betting import FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import SUM_TOLERANCE, Action, Agent, PublicState, Strategy
from plurispiel.evaluation import _aivat_kernels as kernels
from plurispiel.evaluation.hand import CONTESTANT_ERRORS, REPAIRABLE, AgentFault, Fault, Hand, error_text
from plurispiel.evaluation.value_functions import NO_CARD, Checkdown, Question, Situation, ValueFunction

_CERTAIN = 1.0 - 1e-12
"""A share of at least this value counts as 1. A share is a sum of up to 1,326 products, rounded by less than 1e-12."""

_MAX_STATES = 20_000


class BadStrategy(ValueError):
    """A reported strategy is malformed, or contradicts an action that was played."""


class Announced(NamedTuple):
    """The strategy that an agent reported for one of its decisions.

    Attributes
    ----------
    actions, highest : list of int
        The lowest and the highest action of each kind; raises drawn from a range of sizes count as one kind.
    probabilities : float64[num_kinds, num_combos]
        The probability of each kind with each combo; 0 for combos that share a card with the board.
    played : int
        The index of the kind that includes the action played.
    """

    actions: list[int]
    highest: list[int]
    probabilities: np.ndarray
    played: int


class Term(NamedTuple):
    """One correction of a seat's score.

    Attributes
    ----------
    kind : {"deal", "board", "action", "other", "showdown"}
        The luck that the term removes: of the dealt hole cards, of new board cards, of an own action, of an opponent's
        action, or of the seat's own cards at the showdown.
    num_actions : int
        The number of actions in the hand before this event.
    chips : float
        The correction averaged over the seat's imaginary hands; meaningless where the seat's strategy is not known.
    true_chips : float
        The correction with the seat's true cards; the reduced form adds it for the kinds deal, board and other.
    """

    kind: str
    num_actions: int
    chips: float
    true_chips: float


@dataclass(frozen=True, slots=True)
class Score:
    """A seat's payoff in a hand and its corrections, in chips.

    Attributes
    ----------
    payoff : float
        The seat's net chips, without corrections.
    imaginary_hands, chance, own_actions, other_actions : float or None
        Corrections averaged over the seat's imaginary hands, which are the combos that it could have held. None where
        the seat's strategy is not known. The payoff plus all four corrections is the AIVAT estimate.
    true_chance : float
        The correction of chance with the true cards, which needs no strategy.
    true_own_actions : float or None
        The correction of own actions with the true cards; None where the seat's strategy is not known.
    true_other_actions : float
        The correction of a trusted opponent's actions with the true cards, which needs no own strategy: a part of the
        reduced form.
    refused : str
        Why the agent's reported strategy could not be used, or that the agent committed a fault in the hand. Empty if
        the strategy could be used, or if an agent without a fault reported none.
    fault : Fault or None
        The fault that ended the agent's process while the agent was asked for its strategy.
    decisions : tuple of (kind, actions, probabilities)
        For every own decision, the index of the kind that was played, the lowest action of each kind, and the kinds'
        probabilities with the true cards. Empty where the strategy is not known. If a report gives the action played
        probability 0 with every possible combo, only the decisions before that action.
    terms : tuple of Term
        The corrections in the order of the hand. The corrections above are sums of these terms by kind.
    """

    payoff: float
    imaginary_hands: float | None
    chance: float | None
    own_actions: float | None
    other_actions: float | None
    true_chance: float
    true_own_actions: float | None
    true_other_actions: float = 0.0
    refused: str = ""
    decisions: tuple[tuple[int, tuple[int, ...], tuple[float, ...]], ...] = ()
    fault: Fault | None = None
    terms: tuple[Term, ...] = ()

    @property
    def estimate(self) -> float | None:
        """The AIVAT estimate; None where the seat's strategy is not known."""
        corrections = self.imaginary_hands, self.chance, self.own_actions, self.other_actions
        known = [chips for chips in corrections if chips is not None]
        return self.payoff + sum(known) if len(known) == len(corrections) else None

    @property
    def reduced(self) -> float:
        """The estimate that needs no own strategy: payoff, chance and a trusted opponent's actions, with true cards."""
        return self.payoff + self.true_chance + self.true_other_actions


class Aivat:
    """Scores hands of one game with one value function.

    Parameters
    ----------
    rules : HoldemRules
        The game of all hands to score.
    value_function : ValueFunction
        Guesses the values in all corrections; by default `Checkdown`.

    Attributes
    ----------
    announced : list of (list of Announced, or None)
        For each seat, the strategies that its agent reported at its decisions in the hand scored most recently. None
        if the agent reported no strategy, or one that cannot be used; but a report that gives a played action
        probability 0 with every possible combo is kept.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem.rules import LEDUC
    >>> from plurispiel.agents import make_agent
    >>> from plurispiel.evaluation import play_hand
    >>> agents = [make_agent("tag"), make_agent("call")]
    >>> deck = np.array([9, 0, 8], dtype=np.uint8)  # king against jack, and a king comes
    >>> hand = play_hand(LEDUC, agents, deck, [np.random.default_rng(seat) for seat in range(2)])
    >>> score = Aivat(LEDUC).scores(hand, agents)[0]
    >>> score.payoff, round(score.estimate, 3)
    (7.0, 5.0)
    """

    def __init__(self, rules: HoldemRules, value_function: ValueFunction | None = None):
        self._rules = rules
        self._states = _States(rules)
        self._values = value_function or Checkdown()
        self._showdowns = self._values if type(self._values) is Checkdown else Checkdown()
        self.restart(np.random.default_rng(0))

    def restart(self, rng: np.random.Generator) -> None:
        """Forget the previous deck, and sample outcomes of chance from `rng` from now on.

        Consecutive hands of the same deck share the values that were computed for it.

        Parameters
        ----------
        rng : Generator
            Independent of the decks and of the agents' streams.
        """
        self._rng = rng
        self._deck = b""
        self.announced: list[list[Announced] | None] = []
        self._starts: dict[int, tuple[Situation, np.ndarray]] = {}
        self._deal_means: dict[int, float] = {}
        self._free: dict[tuple[int, ...], np.ndarray] = {}

    def scores(self, hand: Hand, agents: Sequence[Agent], trusted: Collection[int] = ()) -> tuple[Score, ...]:
        """Return the score of every seat of a hand.

        Parameters
        ----------
        agents : sequence of Agent
            For each seat the agent that reports the strategy: the agent that played the hand, or another in its place.
            Every seat's reports correct the seat's own score. An agent that may lie for its own gain must therefore be
            replaced by an agent that reports nothing.
        trusted : collection of int
            Seats whose reports also correct the score of their last opponent, once only two seats are left in a hand.
        """
        if hand.deck.tobytes() != self._deck:
            self.restart(self._rng)
            self._deck = hand.deck.tobytes()
            self._values.restart(self._rng)
            self._showdowns.restart(self._rng)
        states = self._states.along(hand.actions)
        asked = self._ask(hand, states, agents)
        self.announced = [answers.announced for answers in asked]
        told = [answers.announced if seat in trusted else None for seat, answers in enumerate(asked)]
        return tuple(self._score(hand, states, seat, asked[seat], told) for seat in range(self._rules.num_seats))

    def _score(
        self,
        hand: Hand,
        states: list[list[int]],
        seat: int,
        asked: "_Answers",
        told: Sequence[list[Announced] | None],
    ) -> Score:
        announced, refused = asked.announced, asked.refused
        rules = self._rules
        num_hole = rules.num_hole_cards
        hole_cards = hand.deck[: rules.num_seats * num_hole].reshape(-1, num_hole).tolist()
        combos = list(map(rules.combo_id, hole_cards))
        own = combos[seat]
        board = tuple(hand.deck[rules.num_seats * num_hole :].tolist())
        start, weights = self._start(hand, seat, states[0])
        mean = self._deal_mean(seat)
        walk = _Walk(start, weights, own, self._states.after, is_told=announced is not None)
        decisions = [0] * rules.num_seats
        for number, action in enumerate(hand.actions):
            size = rules.board_size(action.street)
            if size > len(walk.board):
                walk.at(hand.actions[:number], states[number])
                walk.see_board(board[:size], self._without(board[len(walk.board) : size]))
            decision = decisions[action.seat]
            decisions[action.seat] += 1
            others = told[action.seat] if states[number][betting.NUM_LIVE] == 2 else None
            if others is not None or (announced is not None and action.seat == seat):
                walk.at(hand.actions[:number], states[number])
                try:
                    if announced is not None and action.seat == seat:
                        walk.act(announced[decision], action, states[number + 1])
                    elif others is not None and action.seat != seat:
                        walk.watch(others[decision], combos[action.seat], action, states[number + 1])
                except BadStrategy as error:
                    announced, refused = None, str(error)
            if action.seat == seat and action.action == FOLD:
                break  # no later event changes the seat's payoff, and therefore no later correction is needed
        walk.at(hand.actions, states[-1])
        is_shown = hand.showdown and seat not in hand.folded
        if is_shown and len(walk.board) < len(board):
            walk.see_board(board, self._without(board[len(walk.board) :]))
        sums = walk.settle(self._values, mean)
        # Without a showdown the payoff is the same with every hand.
        imaginary = 0.0
        if is_shown:
            payoffs = self._showdowns.values(walk.situation())
            imaginary = dot(walk.weights, payoffs) - hand.payoffs[seat]
            sums.terms.append(Term("showdown", len(hand.actions), imaginary, 0.0))
        known = announced is not None
        return Score(
            payoff=hand.payoffs[seat],
            imaginary_hands=imaginary if known else None,
            chance=sums.chance if known else None,
            own_actions=sums.own_actions if known else None,
            other_actions=sums.other_actions if known else None,
            true_chance=sums.true_chance,
            true_own_actions=sums.true_own_actions if known else None,
            true_other_actions=sums.true_other_actions,
            refused=refused,
            decisions=tuple(walk.decisions),
            fault=asked.fault,
            terms=tuple(sums.terms),
        )

    def _ask(self, hand: Hand, states: list[list[int]], agents: Sequence[Agent]) -> "list[_Answers]":
        """Return every agent's reported strategy at each of its decisions."""
        rules = hand.rules
        board = tuple(hand.deck[rules.num_seats * rules.num_hole_cards :].tolist())
        asked = []
        for agent in agents:
            tells = getattr(type(agent), "range_strategy", Agent.range_strategy) is not Agent.range_strategy
            asked.append(_Answers([] if tells else None))
        for fault in hand.faults:
            asked[fault.seat].refuse("it committed a fault, after which its seat did not play its strategy")
        for number, (seat, action, street) in enumerate(hand.actions):
            answers = asked[seat]
            if answers.announced is None:
                continue
            # The agent gets a copy of the state, because it could write to the state.
            public = PublicState(rules, states[number].copy(), board[: rules.board_size(street)], hand.actions[:number])
            try:
                strategy = agents[seat].range_strategy(public)
                if strategy is None:
                    answers.announced = None
                else:
                    answers.announced.append(_announced(public, strategy, action, self._without(public.board)))
            except BadStrategy as error:
                answers.refuse(f"range_strategy: {error}")
            except AgentFault as error:
                answers.refuse(error.message)
                if error.kind not in REPAIRABLE:
                    answers.fault = Fault(seat, error.kind, error.message)
            except CONTESTANT_ERRORS as error:
                answers.refuse(f"range_strategy: {error_text(error)}")
        return asked

    def _start(self, hand: Hand, seat: int, state: list[int]) -> tuple[Situation, np.ndarray]:
        """Return the situation after the deal, and the weight of each combo: B_1, uniform over free combos."""
        if seat not in self._starts:
            rules = self._rules
            shown = rules.num_seats * rules.num_hole_cards
            hole_cards = hand.deck[:shown].reshape(rules.num_seats, rules.num_hole_cards).copy()
            hole_cards[seat] = NO_CARD
            board = tuple(hand.deck[shown : shown + rules.board_size(0)].tolist())
            situation = Situation(rules, seat, hole_cards, board, (), state)
            weights = situation.holdable().astype(np.float64)
            self._starts[seat] = situation, weights / weights.sum()
        return self._starts[seat]

    def _without(self, cards: tuple[int, ...]) -> np.ndarray:
        """Return which combos share no card with the given ones, kept for this deck: bool[num_combos]."""
        if cards not in self._free:
            self._free[cards] = self._rules.free_combos(cards)
        return self._free[cards]

    def _deal_mean(self, seat: int) -> float:
        if seat not in self._deal_means:
            self._deal_means[seat] = self._values.deal_mean(self._rules, seat)
        return self._deal_means[seat]


class _Part(NamedTuple):
    """A value in a correction: the mean over the combos by `weights`, and the value of the true combo, with factors."""

    question: int
    weights: np.ndarray
    factors: list[float]
    true_factors: list[float]


class _Event(NamedTuple):
    """An event to correct for; `kind` and `num_actions` as in `Term`."""

    kind: str
    num_actions: int
    parts: list[_Part]


class _Sums:
    """The corrections of one seat's score; sums whose names begin with ``true_`` are of the true combo."""

    def __init__(self) -> None:
        self.chance = self.own_actions = self.other_actions = 0.0
        self.true_chance = self.true_own_actions = self.true_other_actions = 0.0
        self.terms: list[Term] = []


class _Walk:
    """One seat's pass through a hand: the weights B_t of the seat's combos, and the values that the corrections need.

    `own` is the combo that the seat really held. If the seat's strategy is not known, no values of other combos are
    asked for, and only the true corrections have a meaning. The weights depend on no value. So the value function is
    asked for all values of a hand at once, when the walk has ended (`settle`).
    """

    def __init__(self, start: Situation, weights: np.ndarray, own: int, after: "_After", *, is_told: bool):
        self.is_told = is_told
        self._rules, self._seat, self._hole_cards, self.board, self._actions, self._state, _ = start
        self.weights = weights
        self._own = own
        self._after = after
        self._questions: list[Question] = []
        self.decisions: list[tuple[int, tuple[int, ...], tuple[float, ...]]] = []
        self._events = [_Event("deal", 0, [self._part(weights, [-1.0], [-1.0])])]

    def at(self, actions: tuple[Action, ...], state: list[int]) -> None:
        """Go on to the point after some actions, before the next event."""
        self._actions, self._state = actions, state

    def situation(self) -> Situation:
        """Return the present situation."""
        return Situation(self._rules, self._seat, self._hole_cards, self.board, self._actions, self._state)

    def see_board(self, board: tuple[int, ...], is_free: np.ndarray) -> None:
        """Correct for board cards up to `board`, after which only the combos in `is_free` are possible."""
        before = self._part(self.weights, [1.0], [1.0], num_cards=len(board) - len(self.board))
        self.board = board
        # B_t+1: these cards were equally likely with every combo that is still free, so only the other combos drop out.
        self.weights = self.weights * is_free
        self.weights /= self.weights.sum()
        after = self._part(self.weights, [-1.0], [-1.0])
        self._events.append(_Event("board", len(self._actions), [before, after]))

    def act(self, announced: Announced, action: Action, state: list[int]) -> None:
        """Correct for an own action, which led to `state`, and update the weights: B_t+1(h) ~ B_t(h) p(a|h)."""
        played, probabilities = announced.played, announced.probabilities
        shares = [dot(row, self.weights) for row in probabilities]
        if not shares[played] > 0.0:
            raise BadStrategy("it gives the action that was played probability 0 with every hand")
        row = probabilities[:, self._own].tolist()
        self.decisions.append((played, tuple(announced.actions), tuple(row)))
        if shares[played] >= _CERTAIN and row[played] == 1.0:  # no choice, no luck
            self._pass_on(action, state)
            return
        event = _Event("action", len(self._actions), [])
        for kind, taken in enumerate(announced.actions):
            if shares[kind] <= 0.0 and row[kind] <= 0.0:
                continue
            # A raise drawn from a range of sizes takes the value of the lowest size on both sides of the correction.
            # Any value leaves the score unbiased if both sides take the same value.
            # `weights` divided by the share of the action are B_t+1.
            factors, true_factors = [1.0], [row[kind]]
            if kind == played:
                factors, true_factors = [-1.0 / shares[kind], 1.0], [-1.0, row[kind]]
            follows = self._follow(taken, action, state)
            event.parts.append(self._part(self.weights * probabilities[kind], factors, true_factors, follows))
        self.weights = self.weights * probabilities[played] / shares[played]
        self._events.append(event)

    def watch(self, announced: Announced, combo: int, action: Action, state: list[int]) -> None:
        """Correct for the opponent's action, by its probabilities with the opponent's true cards, `combo`."""
        played, row = announced.played, announced.probabilities[:, combo].tolist()
        if row[played] == 1.0 or row[played] == 0.0:  # no luck, or a report that contradicts the play
            self._pass_on(action, state)
            return
        event = _Event("other", len(self._actions), [])
        for kind, taken in enumerate(announced.actions):
            # The mean less the value of the action that came, in one sum: B is the same before and after.
            share = row[kind] - (kind == played)
            if share:
                event.parts.append(self._part(self.weights, [share], [share], self._follow(taken, action, state)))
        self._events.append(event)

    def _pass_on(self, action: Action, state: list[int]) -> None:
        """Ask for the values after an action without a correction, for a value function that takes means over actions.

        No correction contains these values. Such a function needs them, as they are also the values before the action.
        """
        self._part(self.weights, [1.0], [1.0], self._follow(action.action, action, state))

    def _follow(self, taken: int, played: Action, state: list[int]) -> "_Followed":
        """Return the actions and the betting state after an action, which need not be the one that was played."""
        if taken == played.action:
            return (*self._actions, played), state
        return (*self._actions, Action(played.seat, taken, played.street)), self._after(self._actions, taken)

    def _part(
        self,
        weights: np.ndarray,
        factors: list[float],
        true_factors: list[float],
        followed: "_Followed | None" = None,
        *,
        num_cards: int = 0,
    ) -> _Part:
        """Ask for the values of the combos with positive weight and of the true combo, here or after an action."""
        actions, state = followed or (self._actions, self._state)
        situation = Situation(self._rules, self._seat, self._hole_cards, self.board, actions, state)
        if not self.is_told:  # the forms with the true cards need the value of the true combo alone
            self._questions.append(Question(situation, num_cards, None, self._own))
            return _Part(len(self._questions) - 1, weights, factors, true_factors)
        most = max(map(abs, factors))
        counted = weights if most == 1.0 else weights * most
        self._questions.append(Question(situation, num_cards, counted, self._own))
        return _Part(len(self._questions) - 1, weights, factors, true_factors)

    def settle(self, value_function: ValueFunction, deal_mean: float) -> _Sums:
        """Return the corrections for all events, where `deal_mean` is the mean value over all deals."""
        sums = _Sums()
        answers = value_function.answers(self._questions)
        for kind, num_actions, parts in self._events:
            chips = true_chips = deal_mean if kind == "deal" else 0.0
            for question, weights, factors, true_factors in parts:
                values = answers[question]
                value, true_value = dot(weights, values), float(values[self._own])
                for factor in factors:
                    chips += factor * value
                for factor in true_factors:
                    true_chips += factor * true_value
            if kind == "action":
                sums.own_actions += chips
                sums.true_own_actions += true_chips
            elif kind == "other":
                sums.other_actions += chips
                sums.true_other_actions += true_chips
            else:
                sums.chance += chips
                sums.true_chance += true_chips
            sums.terms.append(Term(kind, num_actions, chips, true_chips))
        return sums


_Followed = tuple[tuple[Action, ...], list[int]]
_After = Callable[[tuple[Action, ...], int], list[int]]


class _States:
    """The betting states of hands of one game, kept by the actions that lead to them.

    Hands share most of their states before the flop. Nobody may write to a state.
    """

    def __init__(self, rules: HoldemRules):
        self._rules = rules
        self._known: dict[tuple[int, ...], list[int]] = {}

    def along(self, actions: Sequence[Action]) -> list[list[int]]:
        """Return the state before every action, and after the last action."""
        taken = tuple([action for _, action, _ in actions])
        return [self._find(taken[:number]) for number in range(len(taken) + 1)]

    def after(self, actions: Sequence[Action], action: int) -> list[int]:
        """Return the state after some actions and one more."""
        return self._find((*[earlier for _, earlier, _ in actions], action))

    def _find(self, taken: tuple[int, ...]) -> list[int]:
        state = self._known.get(taken)
        if state is None:
            betting_state = BettingState(self._rules)
            if taken:
                betting_state = BettingState(self._rules, np.array(self._find(taken[:-1]), dtype=np.int64))
                betting_state.apply_legal(taken[-1])
            if len(self._known) >= _MAX_STATES:
                self._known.clear()
            state = self._known[taken] = betting_state.array.tolist()
        return state


@dataclass
class _Answers:
    """An agent's reported strategies at its decisions of a hand, or why they cannot be used."""

    announced: list[Announced] | None
    refused: str = ""
    fault: Fault | None = None

    def refuse(self, text: str) -> None:
        self.announced, self.refused = None, text


def _announced(public: PublicState, strategy: Strategy, played: int, is_free: np.ndarray) -> Announced:
    """Return the strategy reported for a decision, checked for the combos in `is_free`.

    Raises
    ------
    BadStrategy
        If the strategy is malformed, or cannot have led to the action that was played.
    """
    rules = public.rules
    lowest = np.asarray(strategy.actions)
    highest = lowest if strategy.highest is None else np.asarray(strategy.highest)
    rows = np.require(strategy.probabilities, np.float64, ["C", "W"])
    if lowest.ndim != 1 or highest.shape != lowest.shape or rows.shape != (rules.num_combos, len(lowest)):
        raise BadStrategy(
            f"it needs k actions, no highest actions or k of them, and probabilities[{rules.num_combos}, k], "
            f"got shapes {lowest.shape}, {highest.shape} and {rows.shape}"
        )
    probabilities = np.empty((len(lowest), rules.num_combos))
    if not kernels.read_rows(rows, is_free, SUM_TOLERANCE, probabilities):
        raise BadStrategy(f"its rows are no probabilities of at least 0 that sum to 1 within {SUM_TOLERANCE:g}")
    lows, highs = lowest.tolist(), highest.tolist()
    for low, high in zip(lows, highs, strict=True):
        if low > high or not public.is_legal(low) or not public.is_legal(high):
            raise BadStrategy(f"it names actions {low}..{high}, which are not legal")
    # Ranges may overlap. They are made disjoint, so that the action played belongs to one kind only.
    if lows != highs or len(set(lows)) < len(lows):
        lows, highs, probabilities = _disjoint(lows, highs, probabilities)
    for kind, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if low <= played <= high:
            return Announced(lows, highs, probabilities, kind)
    raise BadStrategy(f"it does not name {played}, the action that was played")


def _disjoint(lows: list[int], highs: list[int], probabilities: np.ndarray) -> tuple[list[int], list[int], np.ndarray]:
    """Return disjoint ranges of actions and their probabilities: float64[num_ranges, num_combos].

    The probability of each given range is spread evenly over its sizes.
    """
    edges = sorted({*lows, *(high + 1 for high in highs)})
    ranges, columns = [], []
    for low, end in zip(edges, edges[1:], strict=False):
        covering = [k for k in range(len(lows)) if lows[k] <= low and highs[k] >= end - 1]
        if covering:
            ranges.append((low, end - 1))
            columns.append(sum(probabilities[k] * ((end - low) / (highs[k] - lows[k] + 1)) for k in covering))
    return [low for low, _ in ranges], [high for _, high in ranges], np.stack(columns)


def warmup() -> None:
    """Compile every kernel of this module."""
    kernels.read_rows(np.ones((1, 1)), np.ones(1, dtype=bool), 0.0, np.empty((1, 1)))
