"""Test of whether an agent plays a deck differently after it has played the same deck from another seat.

One process of the agent plays every deck twice, from seat 0 and then from seat 1. A second process plays every deck
from seat 0 only, and a third from seat 1 only, so that these two processes meet each deck once. For the same deck and
seat, all processes get the same random stream. If the first process acts differently from the second or the third, the
agent may remember decks, or learn from other hands. Its play may also depend on more than the hand and the random
stream, such as the clock or random numbers from another source.
"""

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits
from plurispiel.tournaments.contestants.isolation import isolate
from plurispiel.tournaments.contestants.sandbox import Sandbox

__all__ = ["Recall", "check_recall"]


class Recall(NamedTuple):
    """The number of decks played, and the number of hands in which the processes acted differently.

    There are two hands for each deck.
    """

    decks: int
    different: int


def check_recall(
    spec: str,
    rules: HoldemRules,
    limits: Limits,
    sandbox: Sandbox | None = None,
    *,
    num_decks: int,
    seconds: float,
    seed: int,
    on_deck: Callable[[], object] = lambda: None,
) -> Recall:
    """Count the hands in which a process that meets each deck twice acts unlike a process that meets it once.

    The module describes the three processes. All other seats call, so that hands reach the river unless the agent
    folds.

    Parameters
    ----------
    num_decks : int
        Largest number of decks.
    seconds : float
        Seconds from the start of the first deck, after which no further deck is begun.
    seed : int
        Seed of the decks and of all random streams.
    on_deck : callable
        Called after each deck.

    Raises
    ------
    ValueError
        If the agent does not exist.
    AgentFault
        If the agent does not load.
    """
    decks = different = 0
    with contextlib.ExitStack() as processes:
        both, first, second = (
            processes.enter_context(contextlib.closing(isolate(spec, limits, sandbox=sandbox))) for _ in range(3)
        )
        for contestant in (both, first, second):
            contestant.load(rules)  # in this thread: a process ends with the thread that started it
        pool = processes.enter_context(ThreadPoolExecutor(3))
        end = time.monotonic() + seconds

        def play(contestant: IsolatedAgent, deck: int, seats: tuple[int, ...]) -> list[tuple[Action, ...]]:
            return [_actions(rules, contestant, seat, (seed, deck)) for seat in seats]

        while decks < num_decks and time.monotonic() < end:
            parts = [(both, (0, 1)), (first, (0,)), (second, (1,))]
            played = [pool.submit(play, contestant, decks, seats) for contestant, seats in parts]
            together, *apart = (part.result() for part in played)
            different += sum(one != other for one, (other,) in zip(together, apart, strict=True))
            decks += 1
            on_deck()
    return Recall(decks, different)


def _actions(rules: HoldemRules, agent: Agent, seat: int, entropy: tuple[int, int]) -> tuple[Action, ...]:
    """Return the actions of all seats in a hand with the agent in one seat and callers in the others.

    The deck depends on `entropy` alone, the random streams also on the agent's seat.
    """
    table = [agent if place == seat else CallAgent() for place in range(rules.num_seats)]
    rngs = [np.random.default_rng((*entropy, seat, place)) for place in range(rules.num_seats)]
    return play_hand(rules, table, deal_deck(rules, np.random.default_rng(entropy)), rngs).actions
