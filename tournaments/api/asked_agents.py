"""Instances of an agent that a command asks for strategies.

If an agent from outside is given by its spec, each instance runs in a process of its own.
"""

import contextlib
import copy
from collections.abc import Iterator

from plurispiel.agents.base import Agent
from plurispiel.agents.specs import parse_spec
from plurispiel.tournaments.contestants.isolation import measured_agents
from plurispiel.tournaments.contestants.outside_options import OutsideOptions, Say
from plurispiel.tournaments.run.kernels import PLAY, warmup

__all__ = ["asked_agents"]


@contextlib.contextmanager
def asked_agents(agent: str | Agent, number: int, outside: OutsideOptions, warn: Say) -> Iterator[list[Agent]]:
    """Yield a list of instances of an agent; the processes of an agent from outside end with the context.

    Parameters
    ----------
    agent : str or Agent
        A spec or an object. The object and its copies stay in this process.
    number : int
        The number of instances.
    outside : OutsideOptions
        How an agent from outside that is given by its spec runs.
    warn : callable
        Called with the warning that agents run without a sandbox.

    Raises
    ------
    ValueError
        If the agent does not exist or does not load, is a program of another protocol than ``stdio``, or the sandbox
        does not work.
    """
    if not isinstance(agent, str):
        yield [agent, *(copy.deepcopy(agent) for _ in range(number - 1))]
        return
    parsed = parse_spec(agent)
    if parsed.is_program and parsed.name != "stdio":
        raise ValueError(
            f"{agent!r} speaks a protocol that plays whole hands, so it cannot be asked about a single decision; "
            "give a program that speaks the line protocol, as stdio:PROGRAM"
        )
    isolation = outside.isolation([agent], warn)
    if parsed.is_foreign:
        warmup(PLAY)  # a sandboxed agent reads compiled kernels from the cache, but cannot write them there
    with measured_agents(agent, isolation, number) as agents:
        yield agents
