"""Our agents as OpenSpiel's bots, policies and reinforcement-learning agents."""

import copy
from typing import TYPE_CHECKING

import numpy as np
import pyspiel
from open_spiel.python import rl_agent

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.agents.base import Agent
from plurispiel.agents.openspiel.feed import HandFeed, own_view

if TYPE_CHECKING:
    from plurispiel.agents.openspiel.policy import AgentPolicy


class OpenSpielBot(pyspiel.Bot):
    """An agent at a seat of a ``universal_poker``, ``leduc_poker`` or ``kuhn_poker`` game.

    OpenSpiel's loops show every bot all cards; this bot reads only its hole cards, the board and the actions. It reads
    them from the history of a state, and therefore accepts any state at any time. A state that does not continue the
    bot's current hand begins a new hand, as `restart_at` does.

    Parameters
    ----------
    agent : Agent
    game : pyspiel.Game, OpenSpielGame or str
        A loaded game, the name of a game preset, or a game string.
    player_id : int
        The bot's seat.
    seed : int or SeedSequence
        Seed of the agent's random numbers. Bots with the same seed that receive the same calls play alike. Every hand
        has its own random stream.

    Attributes
    ----------
    agent : Agent

    Raises
    ------
    ValueError
        If `player_id` is not a seat of the game, or `HoldemRules` cannot express the game.

    Examples
    --------
    >>> from plurispiel.agents.base import Agent
    >>> class Caller(Agent):
    ...     def act(self, view):
    ...         return 1
    >>> game = pyspiel.load_game("leduc_poker")
    >>> bots = [OpenSpielBot(Caller(), game, player) for player in range(2)]
    >>> abs(pyspiel.evaluate_bots(game.new_initial_state(), bots, seed=1)[0]) in (0.0, 1.0)
    True
    """

    def __init__(
        self,
        agent: Agent,
        game: "pyspiel.Game | OpenSpielGame | str",
        player_id: int,
        seed: int | np.random.SeedSequence = 0,
    ):
        super().__init__()
        self.agent = agent
        self._game = game if isinstance(game, OpenSpielGame) else OpenSpielGame(game)
        self._player_id = player_id
        if not 0 <= player_id < self._game.rules.num_seats:
            raise ValueError(f"player_id must be 0..{self._game.rules.num_seats - 1} in this game, got {player_id}")
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed, spawn_key=(player_id,))
        self._hand_seeds, self._clone_seeds = seed.spawn(2)
        self._hand: HandFeed | None = None

    def player_id(self) -> int:
        """Return the seat."""
        return self._player_id

    def restart(self) -> None:
        """Expect a new hand."""
        self._hand = None

    def restart_at(self, state: pyspiel.State) -> None:
        """Begin a new hand, and follow it up to the state."""
        self._hand = None
        self._follow(state.history())

    def inform_action(self, state: pyspiel.State, player_id: int, action: int) -> None:
        """Follow the state and the action or card that comes next."""
        self._follow([*state.history(), action])

    def step(self, state: pyspiel.State) -> int:
        """Return the id of the agent's action, or INVALID_ACTION if it is not the seat's turn.

        Raises
        ------
        ValueError
            If the agent's action is illegal.
        """
        hand = self._to_act(state)
        if hand is None:
            return pyspiel.INVALID_ACTION
        return self._take(hand, hand.act().action)

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        """Return the action probabilities in the form of `get_policy`, and the id of the action that was drawn.

        If it is not the seat's turn, the result is an empty list and INVALID_ACTION.

        Raises
        ------
        ValueError
            If the agent's action is illegal, or an illegal action has a positive probability.
        """
        hand = self._to_act(state)
        if hand is None:
            return [], pyspiel.INVALID_ACTION
        policy = hand.range_policy()
        decision = hand.act()
        if policy is None:
            policy = hand.decision_policy(decision)
        return list(policy.items()), self._take(hand, decision.action)

    def provides_policy(self) -> bool:
        """Return True."""
        return True

    def get_policy(self, state: pyspiel.State) -> list[tuple[int, float]]:
        """Return the legal action ids with their probabilities; an empty list if it is not the seat's turn.

        The probabilities are the row of the hole cards in the agent's `range_strategy`. If `range_strategy` returns
        None, they are those that `act` reports; an action that `act` returns without probabilities has probability 1.
        In a game where every raise size is legal, actions of probability 0 are left out.

        Raises
        ------
        ValueError
            If an illegal action has a positive probability.
        """
        hand = self._to_act(state)
        if hand is None:
            return []
        policy = hand.range_policy()
        return list((hand.decision_policy(hand.act()) if policy is None else policy).items())

    def is_clonable(self) -> bool:
        """Return True."""
        return True

    def clone(self) -> "OpenSpielBot":
        """Return an independent bot with the same knowledge and policy.

        The new bot draws from another random stream, as OpenSpiel demands.
        """
        agent, hand = copy.deepcopy((self.agent, self._hand), {id(self._game): self._game})
        twin = OpenSpielBot(agent, self._game, self._player_id, self._clone_seeds.spawn(1)[0])
        if hand is not None:
            hand.reseed(twin._hand_seeds.spawn(1)[0])
            twin._hand = hand
        return twin

    def _follow(self, history: list[int]) -> None:
        seen = own_view(self._game.rules, history, self._player_id)
        if not seen:
            self._hand = None
        elif self._hand is None or not self._hand.follow(seen):
            seed = self._hand_seeds.spawn(1)[0]
            self._hand = HandFeed(self.agent, self._game, self._player_id, seen, seed)
            self._hand.follow(seen)

    def _to_act(self, state: pyspiel.State) -> HandFeed | None:
        self._follow(state.history())
        return self._hand if state.current_player() == self._player_id else None

    def _take(self, hand: HandFeed, action: int) -> int:
        number = hand.action_id(action)
        hand.follow([*hand.seen, number])
        return number


class RLAgent(rl_agent.AbstractAgent):
    """An agent in OpenSpiel's ``rl_environment``, for games with few actions, because a step lists them all.

    Parameters
    ----------
    player_id, agent, game, seed
        The parameters of `OpenSpielBot`. The environment must be made with ``include_full_state=True``.

    Raises
    ------
    ValueError
        As by `OpenSpielBot`.
    """

    def __init__(self, player_id: int, agent: Agent, game: "pyspiel.Game | OpenSpielGame | str", seed: int = 0):
        self._bot = OpenSpielBot(agent, game, player_id, seed)

    def step(self, time_step, is_evaluation: bool = False) -> rl_agent.StepOutput | None:
        """Return the action and the probabilities of all action ids, or None at the end of an episode.

        If it is not the seat's turn, the action is INVALID_ACTION, and all probabilities are 0.

        Raises
        ------
        ValueError
            If the time step holds no state, or as by `OpenSpielBot.step_with_policy`.
        """
        serialized = time_step.observations.get("serialized_state")
        if not serialized:
            raise ValueError("the time step holds no state: make the environment with include_full_state=True")
        game, state = pyspiel.deserialize_game_and_state(serialized)
        policy, action = self._bot.step_with_policy(state)
        if time_step.last():
            return None
        probabilities = np.zeros(game.num_distinct_actions())
        for number, probability in policy:
            probabilities[number] = probability
        return rl_agent.StepOutput(action=action, probs=probabilities)


def agent_policy(agent: Agent, game: "pyspiel.Game | OpenSpielGame | str") -> "AgentPolicy":
    """Return an agent as an ``open_spiel.python.policy.Policy`` of a game.

    OpenSpiel's Python algorithms take this policy as it is. Its C++ algorithms need a table, which is made by
    ``policy.python_policy_to_pyspiel_policy(policy.tabular_policy_from_callable(game, agent_policy(agent, game)))``.

    Raises
    ------
    ValueError
        If the agent has no `range_strategy`, or `HoldemRules` cannot express the game.
    """
    from plurispiel.agents.openspiel.policy import AgentPolicy  # OpenSpiel's module takes half a second to import

    return AgentPolicy(agent, game if isinstance(game, OpenSpielGame) else OpenSpielGame(game))
