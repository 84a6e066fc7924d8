"""Does an agent act otherwise once it has seen a deck? Its processes tell, without asking it."""

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
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.supervisor import Contestant, Limits

__all__ = ["Recall", "check_recall"]


class Recall(NamedTuple):
    """How many decks were played in two rotations, and how many hands went otherwise with a process for each."""

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
    """Play decks in two rotations with one process for both, and with one for each, and compare what is done.

    Everybody else calls, so that hands go on to the river and the board is seen.

    Parameters
    ----------
    seconds : float
        No deck is begun after so many.
    on_deck : callable
        Called after each deck.

    Raises
    ------
    ValueError
        If there is no such agent.
    AgentFault
        If it does not load.
    """
    decks = different = 0
    with contextlib.ExitStack() as processes:
        both, first, second = (
            processes.enter_context(contextlib.closing(Contestant(spec, limits, sandbox=sandbox))) for _ in range(3)
        )
        for contestant in (both, first, second):
            contestant.load()  # in this thread: a process ends with the one that has started it
        pool = processes.enter_context(ThreadPoolExecutor(3))
        end = time.monotonic() + seconds

        def play(contestant: Contestant, deck: int, rotations: tuple[int, ...]) -> list[tuple[Action, ...]]:
            return [_actions(rules, contestant, rotation, (seed, deck)) for rotation in rotations]

        while decks < num_decks and time.monotonic() < end:
            parts = [(both, (0, 1)), (first, (0,)), (second, (1,))]
            played = [pool.submit(play, contestant, decks, rotations) for contestant, rotations in parts]
            together, *apart = (part.result() for part in played)
            different += sum(one != other for one, (other,) in zip(together, apart, strict=True))
            decks += 1
            on_deck()
    return Recall(decks, different)


def _actions(rules: HoldemRules, agent: Agent, seat: int, entropy: tuple[int, int]) -> tuple[Action, ...]:
    """Return what is done in a hand, the agent in a seat, all others calling."""
    table = [agent if place == seat else CallAgent() for place in range(rules.num_seats)]
    rngs = [np.random.default_rng((*entropy, seat, place)) for place in range(rules.num_seats)]
    return play_hand(rules, table, deal_deck(rules, np.random.default_rng(entropy)), rngs).actions
