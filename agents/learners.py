"""Policies and learners of OpenSpiel from a user's file, as agents: the spec ``openspiel:FILE.py:NAME``.

A *learner* is an ``rl_agent.AbstractAgent`` of OpenSpiel. At the table it does not learn.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import rl_environment

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.guests import PolicyAgent, require_menu, universal_poker
from plurispiel.agents.user_code import call_factory, check_options, factory_in_file

__all__ = ["LearnerAgent", "LearnerPolicy", "learner_agent"]


class LearnerPolicy:
    """The policy that learners play when they are evaluated.

    Parameters
    ----------
    learners : sequence of rl_agent.AbstractAgent
        A single learner that plays all seats, with player id 0 as in `make_environment`. Or a learner for each seat,
        with the seat as its player id as in OpenSpiel's ``rl_environment``.
    """

    def __init__(self, learners: Sequence[Any]):
        self._learners = learners

    def action_probabilities(self, state: pyspiel.State) -> dict[int, float]:
        """Return the probability of each action id for the seat to act, from the information of this seat alone."""
        seat = state.current_player()
        player = seat if len(self._learners) > 1 else 0
        # A learner reads the entry of its player id. Every entry describes the seat to act, so that the learner sees no
        # other seat's cards.
        num_entries = max(state.num_players(), len(self._learners))
        observations = {
            "info_state": [state.information_state_tensor(seat)] * num_entries,
            "legal_actions": [state.legal_actions(seat)] * num_entries,
            "current_player": player,
            "serialized_state": [],
        }
        step = rl_environment.TimeStep(observations, None, None, rl_environment.StepType.FIRST)
        answer = self._learners[player].step(step, is_evaluation=True)
        if answer.probs is None or len(answer.probs) == 0:
            return {int(answer.action): 1.0}
        return {number: float(each) for number, each in enumerate(answer.probs)}


class LearnerAgent(PolicyAgent):
    """An agent that plays a policy or learners. They are made when the first hand begins, and again for other rules.

    Parameters
    ----------
    make : callable
        ``make(game)`` returns a ``policy.Policy`` or ``pyspiel.Policy``, a learner, or a learner for each seat.
    game : str
        OpenSpiel's game string of the game that is handed to `make`, or empty for ``universal_poker`` with the table's
        rules. A policy with an attribute ``game`` plays that game.

    Raises
    ------
    ValueError
        If `game` is no poker game, or every raise size is legal in it.
    """

    def __init__(self, make: Callable[[pyspiel.Game], Any], game: str = ""):
        self._make = make
        self._given = require_menu(OpenSpielGame(game)) if game else None
        self._rules: HoldemRules | None = None

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the table has other rules than the policy's game, every raise size is legal in this game, or `make`
            returns neither a policy nor learners for the seats. An error that `make` raises is passed on.
        """
        if rules != self._rules:
            self._game = require_menu(self._given or universal_poker(rules))
            made = self._make(self._game.game)
            own = getattr(made, "game", None)
            if isinstance(own, pyspiel.Game) and str(own) != str(self._game.game):
                self._game = require_menu(OpenSpielGame(own))
            self._policy = _as_policy(made, rules.num_seats)
        super().restart(rules, seat, rng)
        self._rules = rules


def learner_agent(file: str, name: str, options: dict[str, str], spec: str) -> LearnerAgent:
    """Return the agent of a spec ``openspiel:FILE.py:NAME?key=value``.

    Parameters
    ----------
    file : str
        A Python file.
    name : str
        A function or class of the file: `make` of `LearnerAgent`, called with the other options as keywords.
    options : dict
        ``game`` of `LearnerAgent`; all others are those of the function.
    spec : str
        The spec, for messages.

    Raises
    ------
    ValueError
        If the name is missing, the file raises an error or has no such function, the function does not take the
        options, or `LearnerAgent` refuses the game.
    """
    if not name:
        raise ValueError(f"the function that returns the policy is missing, write openspiel:{file}:NAME")
    game = options.get("game", "")
    others = {key: value for key, value in options.items() if key != "game"}
    factory = factory_in_file(file, name, spec)
    check_options(factory, others, spec, "game")
    agent = LearnerAgent(lambda handed: call_factory(factory, others, spec, handed), game)
    agent.name = f"openspiel:{name}"
    return agent


def _as_policy(made: Any, num_seats: int) -> Any:
    """Return the policy, or the learners as a policy.

    Raises
    ------
    ValueError
        If `made` is neither, or the number of learners is neither 1 nor the number of seats.
    """
    if callable(getattr(made, "action_probabilities", None)):
        return made
    learners = made if isinstance(made, list | tuple) else [made]
    if any(isinstance(each, pyspiel.Bot) or not callable(getattr(each, "step", None)) for each in learners):
        kinds = ", ".join(type(each).__name__ for each in learners)
        raise ValueError(
            f"return a policy, a learner or a list of learners of OpenSpiel, got {kinds} (a bot plays as "
            "FILE.py:CLASS, with plurispiel.agents.openspiel.BotAgent)"
        )
    if len(learners) not in (1, num_seats):
        raise ValueError(f"give one learner, or one for each of {num_seats} seats, got {len(learners)}")
    return LearnerPolicy(learners)
