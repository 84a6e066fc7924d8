"""Local best response: an opponent that knows an agent's strategy, and what it wins at least.

It follows the agent's range exactly, and at each decision takes what is best if nobody bets any more after it: a call
by its equity, a bet by what folds to it and by its equity against the rest. Whatever it wins shows how much the agent
can lose; the best response wins no less.

References
----------
V. Lisy and M. Bowling: Equilibrium Approximation Quality of Current No-Limit Poker Bots. AAAI-17 Workshop on Computer
Poker (2017). M. Moravcik et al.: DeepStack, Science 356 (2017), supplement, table S2 (the menus).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, PublicState, RangeAgent, Strategy
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import Hand, play_hand
from plurispiel.evaluation.streams import SeatStreams, Seeded, Streams
from plurispiel.evaluation.value_functions import NO_CARD, Checkdown, Situation

__all__ = ["MENUS", "GroupScore", "LocalBestResponse", "Menu", "Prober", "StrategyUnknown", "check_told"]

ALL_IN = float("inf")
GEOMETRIC_56 = (*(0.05 * 1.15**k for k in range(55)), ALL_IN)
"""Shares of the pot, each 1.15 times the one before: even steps on a logarithmic scale, and all-in."""

_STREAM = 5


class StrategyUnknown(ValueError):
    """An agent does not tell what it does with every hand."""


@dataclass(frozen=True)
class Menu:
    """What local best response may do.

    Attributes
    ----------
    name, text : str
    bets : tuple
        By street, the last for all later ones: shares of the pot, `ALL_IN` for all chips; none of them leaves fold
        and call; None leaves call alone.
    """

    name: str
    text: str
    bets: tuple[tuple[float, ...] | None, ...]

    def actions(self, public: PublicState) -> list[int]:
        """Return what is on offer at a decision, ascending."""
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
        Menu("fcpa", "calls; on turn and river bets the pot or all-in, too", (None, None, _POT_ALL_IN)),
        Menu("56bets", "calls; on turn and river makes 56 sizes of bets (geometric)", (None, None, GEOMETRIC_56)),
        Menu("flop56", "calls; on the flop makes 56 sizes of bets, later folds and calls", (None, GEOMETRIC_56, ())),
    )
}
"""The menus of DeepStack's table S2."""


class LocalBestResponse(RangeAgent):
    """Plays a local best response to one opponent.

    Parameters
    ----------
    opponent : Agent
        The very one that sits at the table: it is asked for its strategy in the hand that is played.
    menu : Menu
    values : Checkdown, optional
        Finds equities, restarted with every new deck.

    Attributes
    ----------
    refusal : ValueError or None
        What the opponent did not tell in this hand.
    """

    name = "local best response"

    def __init__(self, opponent: Agent, menu: Menu = MENUS["fcpa"], values: Checkdown | None = None):
        self._opponent = opponent
        self._menu = menu
        self._values = values or Checkdown()

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand."""
        if rules.num_seats != 2:
            raise ValueError(f"local best response plays heads-up, got {rules.num_seats} seats")
        super().restart(rules, seat, rng)
        self.refusal: ValueError | None = None
        self._reaches: dict[tuple[tuple[Action, ...], tuple[int, ...]], np.ndarray] = {}

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return what is best with each combo: one action with certainty."""
        actions = self._menu.actions(public)
        reach = self._reach(public.actions, public.board)
        staying = [self._staying(public, action) if action > CALL else None for action in actions]
        chosen = np.zeros((len(combo_ids), len(actions)))
        for row, combo in enumerate(combo_ids.tolist()):
            gains = self._gains(public, combo, reach, actions, staying) if len(actions) > 1 else [0.0]
            chosen[row, int(np.argmax(gains))] = 1.0
        return Strategy(np.array(actions), chosen)

    def expectation(self, hand: Hand) -> float:
        """Return what the seat may expect of a hand it has just played, in chips: luck of the showdown taken out.

        The opponent's cards are weighed by all that it did, and boards by their chances from the last decision on.
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
        return -float(weights @ self._values.values(situation)) / float(weights.sum())

    def _gains(
        self,
        public: PublicState,
        combo: int,
        reach: np.ndarray,
        actions: list[int],
        staying: Sequence[np.ndarray | None],
    ) -> list[float]:
        """Return what each action is worth, in chips, more than folding at once."""
        state = public.betting().array.tolist()
        situation = self._situation(combo, public.board, public.actions, state)
        weights = reach * situation.holdable()
        total = float(weights.sum())
        if total <= 0.0:  # such a range has no hand for this board: check, and see
            return [float(action == CALL) for action in actions]
        losses = 1.0 - self._equity(situation)
        pot, asked = public.pot, public.to_call
        most = max(public.contributions)
        gains = []
        for action, stays in zip(actions, staying, strict=True):
            if action == FOLD:
                gains.append(0.0)
                continue
            bet = action - most if action > CALL else 0
            left = weights if stays is None else weights * stays
            share = float(left.sum()) / total
            wins = float(left @ losses) / (share * total) if share > 0.0 else 0.0
            gains.append((1.0 - share) * pot + share * (wins * (pot + bet) - (1.0 - wins) * (asked + bet)))
        return gains

    def _staying(self, public: PublicState, action: int) -> np.ndarray:
        """Return with which probability each of the opponent's combos would not fold to a bet."""
        state = public.betting()
        state.apply_legal(action)
        if state.is_over or state.actor == self.seat:  # nothing is asked of it
            return np.ones(self.rules.num_combos)
        taken = Action(self.seat, action, public.street)
        after = PublicState(self.rules, state.array.tolist(), public.board, (*public.actions, taken))
        strategy = self._told(after, self._opponent.expected_strategy(after))
        return 1.0 - strategy.probability(FOLD)

    def _reach(self, actions: tuple[Action, ...], board: tuple[int, ...]) -> np.ndarray:
        """Return with which probability the opponent would have acted as it did, by combo: float64[num_combos]."""
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
        """Return what the opponent told, if it did."""
        try:
            return check_told(self._opponent, public, strategy)
        except ValueError as error:
            self.refusal = error
            raise

    def _situation(
        self, combo: int, board: tuple[int, ...], actions: tuple[Action, ...], state: list[int]
    ) -> Situation:
        """Return the opponent's situation, with one own combo known."""
        hole_cards = np.full((2, self.rules.num_hole_cards), NO_CARD, np.uint8)
        hole_cards[self.seat] = self.rules.combos[combo]
        return Situation(self.rules, 1 - self.seat, hole_cards, board, actions, state)

    def _equity(self, situation: Situation) -> np.ndarray:
        """Return the opponent's share of the pot, by combo, if nobody bets any more: float64[num_combos]."""
        state = situation.state.copy()
        for seat in range(2):  # a pot of two chips, one of each
            state[betting.CONTRIB + seat] = 1
        return (self._values.values(situation._replace(state=state)) + 1.0) / 2.0


def check_told(agent: Agent, public: PublicState, strategy: Strategy | None) -> Strategy:
    """Return what an agent told of all its combos, if it did, and in the right shape.

    Raises
    ------
    StrategyUnknown
        If it told nothing.
    ValueError
        If what it told are no rows for all combos.
    """
    explained = "python -m pydoc plurispiel.agents.Strategy explains its rows"
    if strategy is None:
        raise StrategyUnknown(
            f"{agent.name}: it does not tell what it does with every hand, which local best response has to know; "
            f"give it range_strategy(public) ({explained})"
        )
    if not isinstance(strategy, Strategy):
        what = type(strategy).__name__
        raise ValueError(f"{agent.name}: range_strategy returned {what}, which is no Strategy ({explained})")
    wanted, got = (public.rules.num_combos, len(strategy.actions)), np.shape(strategy.probabilities)
    if got != wanted:
        raise ValueError(f"{agent.name}: range_strategy has rows of shape {got}, not {wanted} ({explained})")
    return strategy


class GroupScore(NamedTuple):
    """What local best response won of a deck, in chips a hand, over both seats with both pairs of hole cards.

    Attributes
    ----------
    payoff : float
        As it was paid.
    expectation : float
        With showdowns weighed by the opponent's range (`LocalBestResponse.expectation`).
    corrected : float
        With all luck taken out that AIVAT can take out of what the opponent lost; NaN where that was not asked for.
    """

    payoff: float
    expectation: float
    corrected: float


class _Silent(Agent):
    """Stands for local best response where it must not be asked what it would do with every hand."""


class Prober:
    """Plays local best response against one agent, deck by deck.

    Parameters
    ----------
    rules : HoldemRules
    agent : Agent
    menu : Menu
    seed : int
    aivat : bool
        Score the agent by AIVAT with checkdown values, too: fewer hands do, each takes two to three times as long.
    """

    hands_per_group = 4

    def __init__(self, rules: HoldemRules, agent: Agent, menu: Menu, seed: int, *, aivat: bool = False):
        self._rules = rules
        self._aivat = Aivat(rules) if aivat else None
        self._seed = seed
        self._values = Checkdown()
        self._players = LocalBestResponse(agent, menu, self._values), agent
        self._decks = Streams(2, Seeded(seed))
        self._streams = SeatStreams(2)

    def play(self, number: int) -> GroupScore:
        """Play the deck of this number four times.

        Raises
        ------
        StrategyUnknown
            If the agent does not tell its strategy.
        ValueError
            If it commits a fault.
        """
        rules, (prober, agent) = self._rules, self._players
        cards = rules.num_hole_cards
        deck = self._decks.decks(rules, (number,))[0]
        swapped = np.concatenate([deck[cards : 2 * cards], deck[:cards], deck[2 * cards :]])
        words = np.random.SeedSequence(self._seed, spawn_key=(_STREAM, number)).generate_state(10, np.uint64).tolist()
        self._values.restart(np.random.default_rng(words[8]))
        if self._aivat:
            self._aivat.restart(np.random.default_rng(words[9]))
        payoff = expectation = corrected = 0.0
        for turn, dealt in enumerate((deck, swapped)):
            for seat in range(2):
                rngs = self._streams.seed([*words[4 * turn + 2 * seat :][:2]] * 2)
                hand = play_hand(rules, (prober, agent) if seat == 0 else (agent, prober), dealt, rngs)
                if hand.faults:
                    raise prober.refusal or ValueError(f"{agent.name}: {hand.faults[0].message}")
                payoff += hand.payoffs[seat]
                expectation += prober.expectation(hand)
                corrected += self._corrected(hand, 1 - seat)
        return GroupScore(*(chips / self.hands_per_group for chips in (payoff, expectation, corrected)))

    def _corrected(self, hand: Hand, seat: int) -> float:
        """Return what the agent in a seat has lost by AIVAT, in chips."""
        if self._aivat is None:
            return float("nan")
        prober, agent = self._players
        agents = [agent, _Silent()] if seat == 0 else [_Silent(), agent]
        score = self._aivat.scores(hand, agents)[seat]
        if score.estimate is None:
            raise prober.refusal or ValueError(f"{agent.name}: {score.refused}")
        return -score.estimate
