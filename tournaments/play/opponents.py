"""The agents at a person's table; those from outside run in processes of their own."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.agents.baselines.simple import FoldAgent
from plurispiel.agents.factory import game_note, make_agent
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import Fault
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits
from plurispiel.tournaments.contestants.isolation import isolate
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.trial import try_to_load

MAX_FAULTS = 20
"""Number of faults after which an agent's seat only folds, as by default in a tournament."""


_DEFAULT, _SMALL_GAMES = "blueprint", "tag"


class Opponents(contextlib.AbstractContextManager):
    """The agents of a table; the end of the context ends their processes.

    Parameters
    ----------
    specs : sequence of str
        The spec of each opponent.
    limits : Limits
        Limits of agents in their own processes.
    sandbox : Sandbox or None
        Limits the files and processes that agents from outside see.
    log : Path
        File for the prints of agents from outside.

    Attributes
    ----------
    agents : list of Agent
        The agent of each opponent. A retired agent is replaced by one that only folds.
    are_trusted : tuple of bool
        Whether each opponent is an agent of this package, whose reported strategy corrects scores.

    Raises
    ------
    ValueError
        If an agent does not exist or does not load.
    """

    def __init__(self, specs: Sequence[str], limits: Limits, sandbox: Sandbox | None, log: Path):
        self._processes = contextlib.ExitStack()
        self._limits = limits
        self._sandbox = sandbox
        self._log = log
        self._num_faults = [0] * len(specs)
        self.are_trusted = tuple(not parse_spec(spec).is_foreign for spec in specs)
        with contextlib.ExitStack() as guard:
            guard.push(self)
            self.agents = [self.make(spec, [other for other in specs if other != spec]) for spec in specs]
            guard.pop_all()

    def __exit__(self, *error: object) -> None:
        """End all processes."""
        self._processes.close()

    def make(self, spec: str, rivals: Sequence[str] = ()) -> Agent:
        """Return a new agent; an agent from outside runs in a process of its own, which ends with the context.

        Parameters
        ----------
        rivals : sequence of str
            Specs of agents whose files the sandbox masks.

        Raises
        ------
        ValueError
            If the agent does not exist or does not load.
        """
        if not parse_spec(spec).is_foreign:
            return make_agent(spec)
        contestant = isolate(spec, self._limits, self._log, self._sandbox, rivals)
        self._processes.callback(contestant.close)
        try_to_load(contestant)
        return contestant

    def count(self, faults: Sequence[tuple[int, Fault]]) -> list[int]:
        """Count faults, given as (opponent, fault); return the numbers of the opponents that these faults retire."""
        retired = []
        for number, _ in faults:
            self._num_faults[number] += 1
            if self._num_faults[number] == MAX_FAULTS:
                agent = self.agents[number]
                if isinstance(agent, IsolatedAgent):
                    agent.close()
                self.agents[number] = FoldAgent()
                retired.append(number)
        return retired


def default_agent(rules: HoldemRules) -> str:
    """Return the spec of the usual opponent: ``blueprint``, or ``tag`` in a game without a bundled blueprint."""
    try:
        game_note(_DEFAULT, rules)
    except ValueError:
        return _SMALL_GAMES
    return _DEFAULT


def with_opponents(rules: HoldemRules, specs: Sequence[str]) -> list[str]:
    """Return the spec of every opponent at a full table: the given specs, repeated in order.

    Raises
    ------
    ValueError
        If there are more specs than seats for them.

    >>> from plurispiel.abstraction.holdem.rules import SIXMAX
    >>> with_opponents(SIXMAX, ["tag", "call"])
    ['tag', 'call', 'tag', 'call', 'tag']
    """
    seats = rules.num_seats - 1
    if len(specs) > seats:
        raise ValueError(f"{len(specs)} agents and you need {len(specs) + 1} seats, and this game has {seats + 1}")
    return [specs[k % len(specs)] for k in range(seats)]
