"""Local best response (LBR): an opponent that knows an agent's strategy, to bound exploitability from below.

LBR tracks the agent's range exactly by Bayes' rule, and takes the action with the best value if all later betting is
checks and calls. With pot P, amount to call A, and win rate W of LBR's hand against the range, the gains over folding
are

    fold 0,    call W P - (1 - W) A,    bet b: F P + (1 - F) (W' (P + b) - (1 - W') (A + b)),

where b is the chips added beyond a call, F the share of the range that folds to the bet, and W' the win rate against
the rest of the range. The bound is LBR's real winnings. An inexact gain therefore loosens the bound but never
invalidates it. LBR reads the agent's real strategy, including the translation of off-tree bets. Where the agent
translates a bet at random, LBR takes the mixture over translations (`Agent.expected_strategy`), because LBR must not
know the random choice before it bets.

References
----------
V. Lisy and M. Bowling: Equilibrium Approximation Quality of Current No-Limit Poker Bots. AAAI-17 Workshop on Computer
Poker (2017). M. Moravcik et al.: DeepStack, Science 356 (2017), supplement, table S2 (the menus).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import SUM_TOLERANCE, Action, Agent, PublicState, RangeAgent, Strategy
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import CONTESTANT_ERRORS, Hand, RemoteAgent, error_fault, play_hand
from plurispiel.evaluation.situations import NO_CARD, Situation
from plurispiel.evaluation.streams import SeatStreams, Source, Streams
from plurispiel.evaluation.value_functions import Checkdown

__all__ = ["MENUS", "GroupScore", "LocalBestResponse", "Menu", "Prober", "StrategyUnknown", "check_told"]

ALL_IN = float("inf")
# The caption of DeepStack's table S2 says "56 equidistant pot fractions" and lists none. The fractions here are
# equidistant on a logarithmic scale.
GEOMETRIC_56 = (*(0.05 * 1.15**k for k in range(55)), ALL_IN)
"""56 bets as shares of the pot: 55 sizes from 5 % up, each 15 % larger than the one before, and all-in."""

_STREAM = 5


class StrategyUnknown(ValueError):
    """An agent does not report its strategy for all combos."""


@dataclass(frozen=True)
class Menu:
    """The actions that local best response may take.

    Attributes
    ----------
    name : str
        The menu's name in options and results.
    text : str
        A description for the user.
    bets : tuple of (tuple of float, or None)
        For each street, the bets as shares of the pot, `ALL_IN` for all chips; the last entry also serves later
        streets. An empty tuple allows only fold and call, and None allows only call.
    """

    name: str
    text: str
    bets: tuple[tuple[float, ...] | None, ...]

    def actions(self, public: PublicState) -> list[int]:
        """Return the actions of the menu at a decision, ascending."""
        bets = self.bets[min(public.street, len(self.bets) - 1)]
        if bets is None:
            return [CALL]
        raises = {public.max_raise if bet == ALL_IN else public.raise_by_pot(bet) for bet in bets}
        return sorted({CALL, *([FOLD] if public.can_fold else []), *(raises - {0})})


_POT_ALL_IN = (1.0, ALL_IN)
MENUS = {
    menu.name: menu
    for menu in (
        Menu("fc", "folds and calls", ((),)),
        Menu("fcpa", "calls; from the turn on also folds and bets the pot or all-in", (None, None, _POT_ALL_IN)),
        Menu("56bets", "calls; from the turn on also folds and bets 56 geometric sizes", (None, None, GEOMETRIC_56)),
        Menu(
            "flop56",
            "calls; on the flop also folds and bets 56 geometric sizes; from the turn on folds and calls",
            (None, GEOMETRIC_56, ()),
        ),
    )
}
"""The menus of DeepStack's table S2, with the bets of `GEOMETRIC_56` as the 56 sizes."""


class LocalBestResponse(RangeAgent):
    """Plays a local best response to one opponent.

    Parameters
    ----------
    opponent : Agent
        The very instance that plays in the other seat: its strategy is read during the hand, and may depend on the
        random numbers with which it acts.
    menu : Menu
        The actions that may be taken.
    values : Checkdown, optional
        Computes equities; the caller restarts the object with every new deck (`Prober.play`).

    Attributes
    ----------
    refusal : ValueError or None
        Why the opponent's report could not be used in this hand; None if it could.
    """

    name = "local best response"

    def __init__(self, opponent: Agent, menu: Menu = MENUS["fcpa"], values: Checkdown | None = None):
        self._opponent = opponent
        self._menu = menu
        self._values = values or Checkdown()

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the game does not have two seats.
        """
        if rules.num_seats != 2:
            raise ValueError(f"local best response plays heads-up, got {rules.num_seats} seats")
        super().restart(rules, seat, rng)
        self.refusal: ValueError | None = None
        self._reaches: dict[tuple[tuple[Action, ...], tuple[int, ...]], np.ndarray] = {}

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy that takes the best action of each combo with probability 1.

        Raises
        ------
        ValueError
            If the opponent's report cannot be used (`check_told`).
        """
        actions = self._menu.actions(public)
        reach = self._reach(public.actions, public.board)
        staying = self._staying(public, actions)
        chosen = np.zeros((len(combo_ids), len(actions)))
        for row, combo in enumerate(combo_ids.tolist()):
            gains = self._gains(public, combo, reach, actions, staying) if len(actions) > 1 else [0.0]
            chosen[row, int(np.argmax(gains))] = 1.0  # the first of equal gains: a fold if nothing gains
        return Strategy(np.array(actions), chosen)

    def expectation(self, hand: Hand) -> float:
        """Return the net chips of a hand that has just been played, with the luck of a showdown averaged out.

        A showdown is averaged over the opponent's range after all its actions, and over the board cards after the last
        decision. The mean over hands stays the same, and the variance falls. That holds for true reports: a false
        report moves this mean, but not the mean of the payoffs.

        Raises
        ------
        ValueError
            If the opponent's report cannot be used (`check_told`).
        """
        if not hand.showdown:
            return hand.payoffs[self.seat]
        rules = hand.rules
        shown = 2 * rules.num_hole_cards
        own = rules.combo_id(hand.deck[self.seat * rules.num_hole_cards :][: rules.num_hole_cards].tolist())
        size = rules.board_size(hand.actions[-1].street) if hand.actions else rules.board_size(0)
        board = tuple(hand.deck[shown : shown + size].tolist())
        state = BettingState(rules)
        for action in hand.actions:
            state.apply_legal(action.action)
        situation = self._situation(own, board, hand.actions, state.array.tolist())
        weights = self._reach(hand.actions, board) * situation.holdable()
        total = float(weights.sum())
        if total <= 0.0:  # by its own report the opponent would have played no hand like this: nothing to average over
            return hand.payoffs[self.seat]
        return -dot(weights, self._values.values(situation)) / total  # the opponent's chips, so minus

    def _gains(
        self,
        public: PublicState,
        combo: int,
        reach: np.ndarray,
        actions: list[int],
        staying: Sequence[np.ndarray | None],
    ) -> list[float]:
        """Return the gain of each action over a fold, in chips, by the formulas in the module's docstring.

        If no combo that the opponent may hold has reach, no gain is defined: the result is 1 for `CALL`, else 0.

        Parameters
        ----------
        combo : int
            The combo that local best response holds.
        reach : float64[num_combos]
            The opponent's reach with each combo (`_reach`).
        staying : sequence of float64[num_combos] or None
            For each action, the probability that each of the opponent's combos continues; None where all continue.
        """
        state = public.betting().array.tolist()
        situation = self._situation(combo, public.board, public.actions, state)
        weights = reach * situation.holdable()
        total = float(weights.sum())
        if total <= 0.0:  # the reported range is empty on this board, so no equity is defined: check or call
            return [float(action == CALL) for action in actions]
        losses = 1.0 - self._equity(situation)
        pot, asked = public.pot, public.to_call
        highest = max(public.contributions)
        gains = []
        for action, stays in zip(actions, staying, strict=True):
            if action == FOLD:
                gains.append(0.0)
                continue
            bet = action - highest if action > CALL else 0
            staying_range = weights if stays is None else weights * stays
            share = float(staying_range.sum()) / total  # 1 - F
            win_rate = dot(staying_range, losses) / (share * total) if share > 0.0 else 0.0
            gains.append((1.0 - share) * pot + share * (win_rate * (pot + bet) - (1.0 - win_rate) * (asked + bet)))
        return gains

    def _staying(self, public: PublicState, actions: Sequence[int]) -> list[np.ndarray | None]:
        """Return the probability that each of the opponent's combos continues after each action.

        Returns
        -------
        list of float64[num_combos] or None
            None after a fold or call, and if the opponent is all-in.
        """
        reached = {action: self._after(public, action) for action in actions if action > CALL}
        asked = {action: after for action, after in reached.items() if after is not None}
        told = dict(zip(asked, self._expected(list(asked.values())), strict=True))
        return [1.0 - told[action].probability(FOLD) if action in told else None for action in actions]

    def _after(self, public: PublicState, action: int) -> PublicState | None:
        """Return the opponent's decision after a bet; None if the opponent is all-in and has none."""
        state = public.betting()
        state.apply_legal(action)
        if state.is_over or state.actor == self.seat:
            return None
        taken = Action(self.seat, action, public.street)
        return PublicState(self.rules, state.array.tolist(), public.board, (*public.actions, taken))

    def _expected(self, publics: list[PublicState]) -> list[Strategy]:
        """Return the opponent's expected strategies at decisions after bets that it has not seen.

        The opponent has not translated such a bet yet, so its strategy is the mixture over translations. `_reach` asks
        later, when the bet is translated, and takes `range_strategy`.
        """
        opponent = self._opponent
        if isinstance(opponent, RemoteAgent):  # one message for all sizes of a bet
            told = opponent.expected_strategies(publics)
        else:
            told = [opponent.expected_strategy(public) for public in publics]
        return [self._told(public, strategy) for public, strategy in zip(publics, told, strict=True)]

    def _reach(self, actions: tuple[Action, ...], board: tuple[int, ...]) -> np.ndarray:
        """Return the opponent's reach with each combo, from its own actions alone: float64[num_combos]."""
        if not actions:
            return np.ones(self.rules.num_combos)
        *before, (seat, action, street) = actions
        seen = board[: self.rules.board_size(street)]
        key = actions, seen
        if key not in self._reaches:
            reach = self._reach(tuple(before), seen)
            if seat != self.seat:
                state = BettingState(self.rules)
                for taken in before:
                    state.apply_legal(taken.action)
                public = PublicState(self.rules, state.array.tolist(), seen, tuple(before))
                strategy = self._told(public, self._opponent.range_strategy(public))
                reach = reach * strategy.probability(action)
            self._reaches[key] = reach
        return self._reaches[key]

    def _told(self, public: PublicState, strategy: Strategy | None) -> Strategy:
        """Return the opponent's report after checking it."""
        try:
            return check_told(self._opponent, public, strategy)
        except ValueError as error:
            self.refusal = error
            raise

    def _situation(
        self, combo: int, board: tuple[int, ...], actions: tuple[Action, ...], state: list[int]
    ) -> Situation:
        """Return the opponent's situation if local best response holds a combo."""
        hole_cards = np.full((2, self.rules.num_hole_cards), NO_CARD, np.uint8)
        hole_cards[self.seat] = self.rules.combos[combo]
        return Situation(self.rules, 1 - self.seat, hole_cards, board, actions, state)

    def _equity(self, situation: Situation) -> np.ndarray:
        """Return the opponent's equity with each combo if all later betting is checks: float64[num_combos]."""
        state = situation.state.copy()
        for seat in range(2):  # with a contribution of 1 each, checkdown values are 2 * equity - 1
            state[betting.CONTRIB + seat] = 1
        return (self._values.values(situation._replace(state=state)) + 1.0) / 2.0


def check_told(agent: Agent, public: PublicState, strategy: Strategy | None) -> Strategy:
    """Return the strategy that an agent reported, if it has probabilities for every combo that the board leaves free.

    Raises
    ------
    StrategyUnknown
        If the agent reported none.
    ValueError
        If the report is not a `Strategy`, has a wrong shape, has rows that are not probabilities, or gives probability
        to an illegal action.
    """
    explained = "python -m pydoc plurispiel.agents.Strategy explains its rows"
    if strategy is None:
        raise StrategyUnknown(
            f"{agent.name}: it does not tell what it does with every hand, which local best response has to know; "
            f"give it range_strategy(public) ({explained})"
        )
    if not isinstance(strategy, Strategy):
        what = type(strategy).__name__
        raise ValueError(f"{agent.name}: range_strategy returned {what}, which is not a Strategy ({explained})")
    wanted, got = (public.rules.num_combos, len(strategy.actions)), np.shape(strategy.probabilities)
    if got != wanted:
        raise ValueError(f"{agent.name}: range_strategy has rows of shape {got}, not {wanted} ({explained})")
    rows = np.asarray(strategy.probabilities)[public.rules.free_combos(public.board)]
    # NaN and infinity fail, too: every comparison with NaN is false, and a row with infinity does not sum to 1.
    if not ((rows >= 0.0).all() and (abs(rows.sum(axis=1) - 1.0) <= SUM_TOLERANCE).all()):
        raise ValueError(
            f"{agent.name}: range_strategy has rows that are not probabilities of at least 0 that sum to 1 within "
            f"{SUM_TOLERANCE:g} ({explained})"
        )
    played = (rows > 0.0).any(axis=0)
    for actions in (strategy.actions, strategy.actions if strategy.highest is None else strategy.highest):
        for action in np.asarray(actions)[played].tolist():
            if not public.is_legal(action):
                legal = public.betting().legal_text()
                raise ValueError(f"{agent.name}: range_strategy gives probability to the action {action}: {legal}")
    return strategy


class GroupScore(NamedTuple):
    """The winnings of local best response in a group, in chips per hand.

    Each number is the mean over four hands. With a shared deck, LBR plays both pairs of hole cards in both seats.

    Attributes
    ----------
    payoff : float
        Net chips won at the table.
    expectation : float
        The payoff with each showdown averaged over the opponent's range (`LocalBestResponse.expectation`).
    corrected : float
        The AIVAT estimate of the chips that the opponent lost; NaN without AIVAT.
    reduced : float
        AIVAT's reduced form of the chips that the opponent lost, without the opponent's own report; NaN without AIVAT.
    own : float
        AIVAT's reduced form of the chips that local best response won; NaN without AIVAT.
    """

    payoff: float
    expectation: float
    corrected: float
    reduced: float
    own: float


class _Silent(Agent):
    """Stands in for local best response in AIVAT, which would ask it for rows of 1,326 combos at great cost."""


class Prober:
    """Plays local best response against one agent, in groups of four hands.

    Parameters
    ----------
    rules : HoldemRules
        A game with two seats.
    agent : Agent
        The agent to measure.
    menu : Menu
        The actions of local best response.
    source : Source
        The origin of the decks and of all random choices. Agents from outside need `Keyed`: their generators must not
        reveal the cards.
    others : sequence of Agent
        Three further agents, which play the second to fourth hand of each group in place of `agent`. Without them,
        `agent` plays all four. With a shared deck, local best response then holds cards that `agent` held in an earlier
        hand of the group: an agent that remembers its hands would know them.
    once : bool
        Whether each hand of a group is dealt a deck of its own. Otherwise all four hands share a deck, and the last two
        swap the hole cards of the seats.
    aivat : bool
        Whether to score the agent by AIVAT as well, with checkdown values. Fewer hands suffice, but each takes two to
        three times as long.

    Attributes
    ----------
    agents : tuple of Agent
        The measured agent in each hand of a group.
    """

    hands_per_group = 4

    def __init__(
        self,
        rules: HoldemRules,
        agent: Agent,
        menu: Menu,
        source: Source,
        *,
        others: Sequence[Agent] = (),
        once: bool = False,
        aivat: bool = False,
    ):
        self.agents = (agent, *(others or [agent] * 3))
        self._rules = rules
        self._aivat = Aivat(rules) if aivat else None
        self._source = source
        self._values = Checkdown()
        self._probers = [LocalBestResponse(each, menu, self._values) for each in self.agents]
        self._once = once
        self._decks = Streams(self.hands_per_group, source, once=once)
        self._streams = SeatStreams(2)

    def play(self, number: int) -> GroupScore:
        """Play the four hands of group `number`.

        Raises
        ------
        StrategyUnknown
            If the agent does not report its strategy.
        ValueError
            If the agent commits a fault, or its report cannot be used.
        """
        # Two words for the streams of each hand, then one for the equities and one for AIVAT.
        words = self._source.words(_STREAM, (number,), 2 * self.hands_per_group + 2)
        if self._aivat:
            self._aivat.restart(np.random.default_rng(words[9]))
        payoff = expectation = 0.0
        corrected = np.zeros(3)
        for place, (prober, agent, deck) in enumerate(
            zip(self._probers, self.agents, self._dealt(number), strict=True)
        ):
            if place == 0 or self._once:
                self._values.restart(np.random.default_rng(words[8]))
            seat = place % 2
            # Both seats get the same stream: local best response takes each action with probability 0 or 1, so its
            # random numbers decide nothing.
            rngs = self._streams.seed([*words[2 * place :][:2]] * 2)
            hand = play_hand(self._rules, (prober, agent) if seat == 0 else (agent, prober), deck, rngs)
            if hand.faults:
                raise prober.refusal or ValueError(f"{agent.name}: {hand.faults[0].message}")
            payoff += hand.payoffs[seat]
            try:
                expectation += prober.expectation(hand)
            except CONTESTANT_ERRORS as error:  # the agent is asked about its last decision
                raise prober.refusal or ValueError(
                    f"{agent.name}: {error_fault(1 - seat, 'range_strategy', error).message}"
                ) from error
            corrected += self._corrected(hand, agent, prober)
        return GroupScore(*(chips / self.hands_per_group for chips in (payoff, expectation, *corrected.tolist())))

    def _dealt(self, number: int) -> list[np.ndarray]:
        """Return the deck of each hand of a group: uint8[num_dealt_cards] each."""
        decks = self._decks.decks(self._rules, (number,))
        if self._once:
            return decks
        # Both seats play both pairs of hole cards, so an agent that always folds loses exactly the same on every deck.
        deck, cards = decks[0], self._rules.num_hole_cards
        swapped = np.concatenate([deck[cards : 2 * cards], deck[:cards], deck[2 * cards :]])
        return [deck, deck, swapped, swapped]

    def _corrected(self, hand: Hand, agent: Agent, prober: LocalBestResponse) -> np.ndarray:
        """Return a hand's `GroupScore.corrected`, `reduced` and `own`: float64[3]."""
        if self._aivat is None:
            return np.full(3, np.nan)
        seat = 1 - prober.seat
        agents = [agent, _Silent()] if seat == 0 else [_Silent(), agent]
        scores = self._aivat.scores(hand, agents)
        score = scores[seat]
        if score.estimate is None:
            raise prober.refusal or ValueError(f"{agent.name}: {score.refused}")
        return np.array([-score.estimate, -score.reduced, scores[1 - seat].reduced])
