"""A seat for an agent of ours in a match over a connection: the agent is loaded before the match's clock starts."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.agents.base import Agent
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.agents.factory import make_agent, try_stored
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import isolate
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.trial import try_to_load
from plurispiel.tournaments.run.kernels import PLAY, warmup, warmup_play

MATCH = ("evaluation.replay", "tournaments.formats.acpc")
"""The modules whose kernels a match needs besides the modules in `PLAY` and the modules of the agents."""


@contextlib.contextmanager
def seated_agent(spec: str, rules: HoldemRules, limits: Limits, sandbox: Sandbox | None) -> Iterator[Agent]:
    """Yield an agent that has played a hand in every seat, so that its strategy and kernels are loaded.

    An agent from outside runs in a process of its own, with these limits and in this sandbox. Programs are started, but
    play no hand, because a program may count its hands.

    Raises
    ------
    ValueError
        If the agent does not exist, does not load, or does not play the game.
    ArtefactRefused
        If the agent's stored strategy is damaged.
    """
    try_stored(spec, rules)
    warmup((*PLAY, *MATCH))
    warmup_play([spec], rules)
    with contextlib.ExitStack() as stack:
        if parse_spec(spec).is_foreign:
            contestant = stack.enter_context(contextlib.closing(isolate(spec, limits, sandbox=sandbox)))
            try_to_load(contestant, rules)
            agent: Agent = contestant
        else:
            agent = make_agent(spec)
        deck = deal_deck(rules, np.random.default_rng(0))
        for seat in range(0 if parse_spec(spec).is_program else rules.num_seats):
            table = [agent if place == seat else CallAgent() for place in range(rules.num_seats)]
            play_hand(rules, table, deck, [np.random.default_rng(place) for place in range(rules.num_seats)])
        yield agent


def match_folder(name: str) -> Path:
    """Return a folder for the log of a match, named by day and time, among the user's data. It is not created."""
    return user_data_folder() / "matches" / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
