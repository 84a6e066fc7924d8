"""Stand-ins for agents that run in processes of their own, made from the agents' specs."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import parse_spec
from plurispiel.tournaments.contestants.acpc_bot import AcpcBot
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits
from plurispiel.tournaments.contestants.line_bot import LineBot
from plurispiel.tournaments.contestants.pokerbots_bot import PokerbotsBot
from plurispiel.tournaments.contestants.program_agent import ProgramAgent
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.speaker import SplitAgent
from plurispiel.tournaments.contestants.supervisor import Contestant
from plurispiel.tournaments.contestants.trial import try_to_load

__all__ = ["Isolation", "isolate", "measured_agents", "split_agents"]

_SPEAKERS_OF: dict[str, type[ProgramAgent]] = {"stdio": LineBot, "acpc": AcpcBot, "pokerbots": PokerbotsBot}
"""The stand-ins for programs, by the protocol that the program speaks."""


@dataclass(frozen=True)
class Isolation:
    """How the processes of a measured agent run.

    Attributes
    ----------
    limits : Limits
        Time and memory.
    sandbox : Sandbox or None
        Limits the files, processes and networks that the agent sees.
    log : Path or None
        File to which the agent's prints are appended.
    """

    limits: Limits = Limits()
    sandbox: Sandbox | None = None
    log: Path | None = None


def isolate(
    spec: str,
    limits: Limits,
    log: Path | None = None,
    sandbox: Sandbox | None = None,
    rivals: Sequence[str] = (),
) -> IsolatedAgent:
    """Return the stand-in for an agent that runs in its own process; the process starts when it is first needed.

    The parameters are those of `IsolatedAgent`.
    """
    parsed = parse_spec(spec)
    if not parsed.is_program:
        return Contestant(spec, limits, log, sandbox, rivals)
    return _SPEAKERS_OF[parsed.name](spec, limits, log, sandbox, rivals)


def split_agents(spec: str, isolation: Isolation, number: int = 1) -> Sequence[SplitAgent | IsolatedAgent]:
    """Return stand-ins for an agent that is also asked for its strategy, outside a tournament.

    Each stand-in has a process that plays. All stand-ins share a further process, which reports the strategy and never
    sees hole cards. A program whose protocol has no questions for strategies reports none, and has no such process.

    Parameters
    ----------
    number : int
        The number of stand-ins, which play one after another.
    """
    players = [_stand_in(spec, isolation) for _ in range(number)]
    teller = _stand_in(spec, isolation)
    if not isinstance(teller, LineBot | Contestant):
        return players
    return [SplitAgent(player, teller) for player in players]


@contextlib.contextmanager
def measured_agents(
    spec: str, isolation: Isolation, number: int = 1, rules: HoldemRules | None = None
) -> Iterator[list[Agent]]:
    """Yield agents of a spec for a measurement; an agent from outside runs in processes, which end with the context.

    Parameters
    ----------
    number : int
        The number of agents: objects of this process, or processes.
    rules : HoldemRules, optional
        The game to be played, as in `IsolatedAgent.load`.

    Raises
    ------
    ValueError
        If the agent does not exist or does not load.
    """
    if not parse_spec(spec).is_foreign:
        yield [make_agent(spec) for _ in range(number)]
        return
    with contextlib.ExitStack() as processes:
        agents: list[Agent] = []
        for _ in range(number):
            contestant = processes.enter_context(contextlib.closing(_stand_in(spec, isolation)))
            try_to_load(contestant, rules)
            agents.append(contestant)
        yield agents


def _stand_in(spec: str, isolation: Isolation) -> IsolatedAgent:
    return isolate(spec, isolation.limits, isolation.log, isolation.sandbox)
