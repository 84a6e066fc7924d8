"""One table at which learners play among agents; the caller chooses the actions of the learners."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyspiel

from plurispiel.abstraction.actions.tree_kernels import MAX_ACTIONS
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game, rules_of
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.base import Action, Agent
from plurispiel.agents.environment import table_kernels as kernels
from plurispiel.agents.environment.observation import Observer
from plurispiel.agents.environment.tables import learner_menu, new_tables, num_ids, table_game
from plurispiel.agents.factory import make_agent
from plurispiel.agents.openspiel.feed import HandFeed

__all__ = ["LearnerTable", "LearnerHand", "game_rules"]


class LearnerHand(NamedTuple):
    """A hand that is over, as a `score` receives it.

    Attributes
    ----------
    rules : HoldemRules
    deck : uint8[num_dealt_cards]
        All hole cards, seat by seat, then the board.
    actions : tuple of Action
    payoffs : tuple of float
        Net chips of every seat.
    seat : int
        The learner's seat.
    agents : tuple of (Agent or None)
        The agent of each seat, as it is at the end of this hand; None for a learner.
    """

    rules: HoldemRules
    deck: np.ndarray
    actions: tuple[Action, ...]
    payoffs: tuple[float, ...]
    seat: int
    agents: tuple[Agent | None, ...]


class LearnerTable:
    """Hands between learners and agents.

    The players are the learners, then the opponents. In a hand, player k sits at seat ``(k + shift) % num_seats``.

    Parameters
    ----------
    rules : HoldemRules
    opponents : sequence of (str or Agent)
        The agents at the table, as specs or as objects. Each remaining seat has a learner.
    seat : {"rotate", "random"} or int
        The shift. ``rotate``: it grows by one with each hand. ``random``: it is drawn for each hand. A number: it is
        always this number.
    observation : str
        A layout, see `environment.observation`.
    sizes : str or None
        The learners' bet sizes in a game where every size is legal.
    seed : int
        Seed of the deals and of the agents' random numbers.
    score : callable, optional
        ``score(hand)`` returns the chips that count as a learner's reward, for a `LearnerHand`; by default the payoff.

    Attributes
    ----------
    rules : HoldemRules
    num_learners, num_ids : int
        Number of learners, and number of ids of a learner's actions.
    observer : Observer
    state : list of int
        The betting state.
    rewards : list of float
        Each learner's reward of the last hand that ended, in big blinds.

    Raises
    ------
    ValueError
        If an argument is out of range, or there is no such agent.
    """

    MAX_WALKS = 1_000

    def __init__(
        self,
        rules: HoldemRules,
        opponents: Sequence["str | Agent"],
        *,
        seat: "str | int" = "rotate",
        observation: str = "information-state",
        sizes: str | None = None,
        seed: int = 0,
        score: Callable[[LearnerHand], float] | None = None,
    ):
        self.rules = rules
        self.num_learners = rules.num_seats - len(opponents)
        if self.num_learners < 1:
            raise ValueError(f"{rules.num_seats} seats leave {rules.num_seats - 1} to opponents, got {len(opponents)}")
        if seat not in ("rotate", "random") and seat not in range(rules.num_seats):
            raise ValueError(f"seat is 'rotate', 'random' or 0..{rules.num_seats - 1}, got {seat!r}")
        self._agents = [make_agent(each) if isinstance(each, str) else each for each in opponents]
        self._seat, self._score = seat, score
        menu = learner_menu(rules, sizes)
        self.num_ids = num_ids(rules, menu)
        self.observer = Observer(rules, observation)
        self._openspiel = OpenSpielGame(load_game(rules))
        self._game = table_game(rules, menu, every_size=sizes is not None)
        self._by_id = np.empty(self.num_ids, np.int64)
        self._offered = np.empty(MAX_ACTIONS, np.int64)
        self.reseed(seed)

    def reseed(self, seed: int | None) -> None:
        """Restart the sequence of hands with another seed; None for a seed that the system draws.

        Raises
        ------
        ValueError
            If the seed is below 0.
        """
        if seed is not None and seed < 0:
            raise ValueError(f"seed is a whole number from 0, got {seed}")
        deals, self._agent_seeds, shifts = np.random.SeedSequence(seed).spawn(3)
        self._tables = new_tables(self.rules, 1, deals)
        self._rng = np.random.default_rng(shifts)
        self._shift = -1 if self._seat == "rotate" else 0
        self._tables.states[0, betting_layout.ACTOR] = -1
        self.state = self._tables.states[0].tolist()
        self.rewards = [0.0] * self.num_learners

    @property
    def is_over(self) -> bool:
        """Whether there is no hand, or the hand is over."""
        return self.state[betting_layout.ACTOR] < 0

    @property
    def learner(self) -> int:
        """The learner to act, -1 at the end of a hand."""
        return -1 if self.is_over else (self.state[betting_layout.ACTOR] - self._shift) % self.rules.num_seats

    @property
    def deck(self) -> np.ndarray:
        """The cards of the hand, a copy: uint8[num_dealt_cards], all hole cards, seat by seat, then the board."""
        return self._tables.cards[0, : self.rules.num_dealt_cards].copy()

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the hand."""
        return tuple(self._actions)

    def seat_of(self, learner: int) -> int:
        """Return a learner's seat in this hand."""
        return (learner + self._shift) % self.rules.num_seats

    def observe(self, learner: int) -> np.ndarray:
        """Return a learner's observation: float32[observer.size]."""
        return self.observer.observe(self._game, self._tables, 0, self.seat_of(learner))

    def legal_ids(self) -> list[int]:
        """Return the ids that the learner to act may choose, ascending; none at the end of a hand."""
        if self.is_over:
            return []
        kernels.ids_at_table(self._game, self._tables, 0, self._offered, self._by_id)
        return np.flatnonzero(self._by_id >= 0).tolist()

    def mask(self) -> np.ndarray:
        """Return 1 for each legal id of the learner to act, else 0: int8[num_ids]."""
        mask = np.zeros(self.num_ids, np.int8)
        mask[self.legal_ids()] = 1
        return mask

    def total(self, number: int) -> int:
        """Return the action of a legal id: 0 fold, 1 check or call, N raise to N chips.

        Raises
        ------
        ValueError
            If the id is not legal.
        """
        legal = self.legal_ids()
        if number not in legal:
            raise ValueError(f"legal actions are {legal}, got {number!r}")
        return int(self._by_id[number])

    def begin(self) -> None:
        """Deal a new hand, and let the agents act until a learner is to act or the hand is over."""
        rules = self.rules
        if self._seat == "random":
            self._shift = int(self._rng.integers(rules.num_seats))
        else:
            self._shift = (self._shift + 1) % rules.num_seats if isinstance(self._seat, str) else int(self._seat)
        with np.errstate(over="ignore"):  # without the compiler, numpy warns where a uint64 wraps around
            kernels.begin_table(self._game, self._tables, 0)
        self._actions: list[Action] = []
        self._ids = [self._openspiel.card_id(card) for card in self._tables.cards[0].tolist()]
        self._later = self._board_ids(0, rules.board_size(0))
        self._feeds: dict[int, HandFeed] = {}
        seeds = self._agent_seeds.spawn(len(self._agents))
        for player, (agent, seed) in enumerate(zip(self._agents, seeds, strict=True), start=self.num_learners):
            seat = self.seat_of(player)
            hole = self._ids[seat * rules.num_hole_cards : (seat + 1) * rules.num_hole_cards]
            self._feeds[seat] = HandFeed(agent, self._openspiel, seat, hole, seed)
        self.state = self._tables.states[0].tolist()
        self._play_on()

    def begin_for_learner(self) -> tuple[int, float]:
        """Deal hands until a learner is to act, and skip the hands that end before a learner's first turn.

        Returns
        -------
        int
            The number of skipped hands.
        float
            The sum of the first learner's rewards in the skipped hands, in big blinds.

        Raises
        ------
        ValueError
            If no learner gets a turn in `MAX_WALKS` hands in a row.
        """
        reward = 0.0
        for number in range(self.MAX_WALKS):
            self.begin()
            if not self.is_over:
                return number, reward
            reward += self.rewards[0]
        raise ValueError(
            f"no learner got a turn in {self.MAX_WALKS:,} hands; give another seat, or opponents that fold less"
        )

    def act(self, number: int) -> None:
        """Let the learner act, then the agents, until a learner is to act or the hand is over.

        Raises
        ------
        ValueError
            If the id is not legal, or an agent's action is not.
        """
        self._take(self.total(number))
        self._play_on()

    def _play_on(self) -> None:
        hole_cards = self.rules.num_hole_cards
        while not self.is_over and (feed := self._feeds.get(self.state[betting_layout.ACTOR])) is not None:
            feed.follow([*feed.seen[:hole_cards], *self._later])
            action = feed.act().action
            feed.action_id(action)
            self._take(int(action))
        if self.is_over:
            self._end()

    def _take(self, total: int) -> None:
        seat, street = self.state[betting_layout.ACTOR], self.state[betting_layout.STREET]
        self._later.append(self._openspiel.action_id(self.state, total))
        self._actions.append(Action(seat, total, street))
        kernels.act_at_table(self._game, self._tables, 0, total)
        self.state = self._tables.states[0].tolist()
        if not self.is_over:
            sizes = self.rules.board_size(street), self.rules.board_size(self.state[betting_layout.STREET])
            self._later += self._board_ids(*sizes)

    def _board_ids(self, start: int, stop: int) -> list[int]:
        first = self.rules.num_seats * self.rules.num_hole_cards
        return self._ids[first + start : first + stop]

    def _end(self) -> None:
        rules, deck = self.rules, self.deck
        payoffs = tuple(BettingState(rules, self._tables.states[0]).payoffs(deck).tolist())
        for feed in self._feeds.values():
            feed.follow([*feed.seen[: rules.num_hole_cards], *self._later])
        playing = {seat: feed.agent for seat, feed in self._feeds.items()}
        for learner in range(self.num_learners):
            seat = self.seat_of(learner)
            chips = payoffs[seat]
            if self._score is not None:
                agents = tuple(playing.get(each) for each in range(rules.num_seats))
                chips = float(self._score(LearnerHand(rules, deck, self.actions, payoffs, seat, agents)))
            self.rewards[learner] = chips / rules.big_blind


def game_rules(game: "str | pyspiel.Game | HoldemRules") -> HoldemRules:
    """Return the rules of a game: a name of the ladder or of a preset, a game string, a loaded game, or rules.

    Raises
    ------
    ValueError
        If there is no such game, or `HoldemRules` cannot express it.
    """
    if isinstance(game, HoldemRules):
        return game
    return rules_of(find_game(game) if isinstance(game, str) else game)
