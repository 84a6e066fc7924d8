"""The kinds of agents that run in processes of their own, by their specs."""

from collections.abc import Sequence
from pathlib import Path

from plurispiel.agents.specs import parse_spec
from plurispiel.tournaments.contestants.acpc_bot import AcpcBot
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits
from plurispiel.tournaments.contestants.line_bot import LineBot
from plurispiel.tournaments.contestants.pokerbots_bot import PokerbotsBot
from plurispiel.tournaments.contestants.program_agent import ProgramAgent
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.speaker import SplitAgent
from plurispiel.tournaments.contestants.supervisor import Contestant

__all__ = ["isolate", "split_agent"]

_SPEAKERS_OF: dict[str, type[ProgramAgent]] = {"stdio": LineBot, "acpc": AcpcBot, "pokerbots": PokerbotsBot}
"""The stand-ins for programs, by the protocol that the program speaks."""


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


def split_agent(spec: str, limits: Limits, sandbox: Sandbox | None = None) -> SplitAgent | IsolatedAgent:
    """Return the stand-in for a program that is also asked for its strategy, outside a tournament.

    A program whose protocol has no questions for strategies reports none.
    """
    player = isolate(spec, limits, sandbox=sandbox)
    teller = isolate(spec, limits, sandbox=sandbox)
    if not (isinstance(player, LineBot) and isinstance(teller, LineBot)):
        return player
    return SplitAgent(player, teller)
