"""An environment for one learner among agents, compatible with OpenSpiel's ``rl_environment``."""

from collections.abc import Callable, Sequence

import pyspiel
from open_spiel.python import rl_environment

from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.agents.openspiel.learner_table import LearnerHand, LearnerTable, game_rules

__all__ = ["LearnerEnvironment", "all_opponents", "make_environment"]


class LearnerEnvironment:
    """An ``rl_environment`` of one player, id 0, who learns among agents; see `make_environment`.

    Attributes
    ----------
    table : LearnerTable
        The table, which has the cards, the actions and the learner's seat of the current hand.
    """

    num_players = 1
    num_actions_per_step = 1
    is_turn_based = True
    is_discrete = True

    def __init__(self, table: LearnerTable, discount: float = 1.0):
        if not 0.0 <= discount <= 1.0:
            raise ValueError(f"discount is 0 to 1, got {discount}")
        self.table = table
        self._discount = discount
        self._should_reset = True

    @property
    def game(self) -> pyspiel.Game:
        """The game with all its players, as ``universal_poker``."""
        return load_game(self.table.rules)

    @property
    def name(self) -> str:
        """The short name of `game`."""
        return str(self.game.get_type().short_name)

    @property
    def max_game_length(self) -> int:
        """OpenSpiel's bound on the length of a hand."""
        return int(self.game.max_game_length())

    def observation_spec(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of an observation's parts."""
        return {
            "info_state": (self.table.observer.size,),
            "legal_actions": (self.table.num_ids,),
            "current_player": (),
            "serialized_state": (),
        }

    def action_spec(self) -> dict[str, object]:
        """Return the range of the actions' ids."""
        return {"num_actions": self.table.num_ids, "min": 0, "max": self.table.num_ids - 1, "dtype": int}

    def seed(self, seed: int | None = None) -> None:
        """Restart the sequence of hands with another seed; None for a seed that the system draws."""
        self.table.reseed(seed)
        self._should_reset = True

    def reset(self) -> rl_environment.TimeStep:
        """Deal a hand, and return its first time step.

        If the hand ends before the learner's first turn, this time step is also the last one, and has the reward.
        """
        self.table.begin()
        if self.table.is_over:
            return self.get_time_step()
        self._should_reset = False
        return rl_environment.TimeStep(self._observations(), None, None, rl_environment.StepType.FIRST)

    def step(self, actions: Sequence[int]) -> rl_environment.TimeStep:
        """Take the learner's action, the only one of `actions`, and return the next time step.

        After the last step of a hand, and before the first hand, this is a `reset`, and the action is ignored.

        Raises
        ------
        ValueError
            If `actions` does not hold exactly one action, or the action is not legal.
        """
        if len(actions) != 1:
            raise ValueError(f"a step takes the action of one learner, got {len(actions)} actions")
        if self._should_reset:
            return self.reset()
        self.table.act(int(actions[0]))
        return self.get_time_step()

    def get_time_step(self) -> rl_environment.TimeStep:
        """Return the time step at this point of the hand, MID or LAST."""
        is_over = self.table.is_over
        self._should_reset = is_over
        step_type = rl_environment.StepType.LAST if is_over else rl_environment.StepType.MID
        reward = self.table.rewards[0] if is_over else 0.0
        discount = 0.0 if is_over else self._discount
        return rl_environment.TimeStep(self._observations(), [reward], [discount], step_type)

    def _observations(self) -> dict[str, object]:
        return {
            "info_state": [self.table.observe(0).tolist()],
            "legal_actions": [self.table.legal_ids()],
            "current_player": pyspiel.PlayerId.TERMINAL if self.table.is_over else 0,
            "serialized_state": [],
        }


def make_environment(
    game: "str | pyspiel.Game | HoldemRules",
    opponents: "Sequence[str | Agent] | str" = ("tag",),
    *,
    seat: "str | int" = "rotate",
    observation: str = "information-state",
    sizes: str | None = None,
    discount: float = 1.0,
    seed: int = 0,
    score: Callable[[LearnerHand], float] | None = None,
) -> LearnerEnvironment:
    """Return an environment for one learner among agents, compatible with OpenSpiel's ``rl_environment``.

    The learner is player 0, the only player, whatever its seat. The rewards are in big blinds.

    Parameters
    ----------
    game : str, pyspiel.Game or HoldemRules
        The name of a game (``plurispiel ls games``, ``plurispiel ls presets``), a game string, a loaded game, or rules.
    opponents : sequence of (str or Agent)
        Agents, as specs or as objects, in the order of the seats after the learner's. A single spec stands for all.
    seat : {"rotate", "random"} or int
        The learner's seat. ``rotate``: the next seat in each hand, from 0 on. ``random``: drawn for each hand. A
        number: always this seat.
    observation : {"information-state", "observation", "compact"}
        The layout of ``info_state``: OpenSpiel's tensors, or ours (`environment.observation`).
    sizes : str, optional
        The learner's bet sizes, as in ``"0.5p 1p allin"``, in a game where every size is legal. The ids of actions are
        then 0 fold, 1 check or call, and from 2 on the raises on offer, ascending. In a game with a menu of its own
        the ids are those of ``universal_poker``, and all seats have the same menu.
    discount : float
        The discount of a time step that is neither the first nor the last.
    seed : int
        Seed of the deals and of the agents' random numbers.
    score : callable, optional
        ``score(hand)`` returns the chips that count as the learner's reward, in place of the payoff, for a
        `LearnerHand`. An example is `evaluation.corrected_reward.CorrectedReward`.

    Raises
    ------
    ValueError
        If an argument is out of range, or there is no such game or agent.

    Examples
    --------
    >>> environment = make_environment("leduc", ["call"], seed=1)
    >>> step = environment.reset()
    >>> step.observations["legal_actions"], environment.observation_spec()["info_state"]
    ([[1, 2]], (98,))
    """
    rules = game_rules(game)
    table = LearnerTable(
        rules,
        all_opponents(rules, opponents, rules.num_seats - 1),
        seat=seat,
        observation=observation,
        sizes=sizes,
        seed=seed,
        score=score,
    )
    return LearnerEnvironment(table, discount)


def all_opponents(rules: HoldemRules, opponents: "Sequence[str | Agent] | str", number: int) -> list[str | Agent]:
    """Return `number` opponents, as specs or agents: those given, or a single given spec, repeated.

    Raises
    ------
    ValueError
        If another number of opponents is given; a single `Agent` is not repeated.
    """
    given: list[str | Agent] = [opponents] if isinstance(opponents, str) else list(opponents)
    if len(given) == 1 and isinstance(given[0], str):
        given *= number
    if len(given) != number:
        raise ValueError(
            f"{rules.num_seats} seats leave {number} to opponents: give one spec or {number}, got {len(given)}"
        )
    return given
