"""The schedule of a tournament: its line-ups, and the blocks of decks in which they are played."""

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np

from plurispiel.tournaments.run.config import TournamentConfig

MAX_LINEUPS = 100
BLOCK_DECKS = 8
_LOOK_GROWTH = 32  # the next check of the stop rule comes after 1/32 more decks, at least one block
_LINEUP_STREAM = 2  # key of the random numbers that draw line-ups
_SWAPS = 20_000  # attempts to even out the drawn line-ups


class Block(NamedTuple):
    """Decks ``first..first + num_decks - 1`` of one line-up: a worker's unit of work."""

    lineup: int
    first: int
    num_decks: int


Position = tuple[int, int, int]
"""The position of a group in the schedule: (deck // BLOCK_DECKS, line-up, deck); earlier groups have smaller tuples."""


def position(lineup: int, deck: int) -> Position:
    """Return the position in the schedule of the group of a line-up on a deck."""
    return deck // BLOCK_DECKS, lineup, deck


def make_lineups(config: TournamentConfig) -> list[tuple[int, ...]]:
    """Return the line-ups, each as the numbers of its agents.

    A ``round-robin`` has every set of agents that fills the table. A ``gauntlet`` has the first agent with every set of
    other agents that fills the table, or with copies of one other agent. The other formats have one line-up. If there
    are more sets than ``config.lineups`` (default `MAX_LINEUPS`), that many are drawn at random. All agents, except a
    gauntlet's first, then appear equally often, up to a difference of one, and pairs meet about equally often.
    """
    num_agents, seats = len(config.agents), config.seats
    if config.format == "lineup":
        return [tuple(range(seats))]
    if config.format == "lineup-1v5":
        return [(0, *[1] * (seats - 1))]
    if config.format == "lineup-5v1":
        return [(*[0] * (seats - 1), 1)]
    if config.format == "round-robin":
        return _choose(list(range(num_agents)), seats, (), config)
    others = list(range(1, num_agents))
    if config.copies or len(others) < seats - 1:
        return [(0, *[other] * (seats - 1)) for other in others]
    return _choose(others, seats - 1, (0,), config)


def make_blocks(config: TournamentConfig, num_lineups: int, done: Iterable[tuple[int, int]]) -> Iterator[Block]:
    """Yield the blocks that are still to be played: for each range of decks, one line-up after the other.

    In this order, the numbers of decks that two line-ups have played never differ by more than a block.

    Parameters
    ----------
    done : iterable of (lineup, deck)
        Groups that are already stored.
    """
    stored = set(done)
    for first in range(0, config.decks, BLOCK_DECKS):
        for lineup in range(num_lineups):
            missing = [d for d in range(first, min(first + BLOCK_DECKS, config.decks)) if (lineup, d) not in stored]
            start = 0
            for k in range(1, len(missing) + 1):
                if k == len(missing) or missing[k] != missing[k - 1] + 1:
                    yield Block(lineup, missing[start], k - start)
                    start = k


def look_decks(decks: int) -> Iterator[int]:
    """Yield the numbers of decks after which the stop rule is checked: multiples of `BLOCK_DECKS` below `decks`.

    In long runs each number is about 3 % above the previous number.

    >>> list(look_decks(40))
    [8, 16, 24, 32]
    """
    look = BLOCK_DECKS
    while look < decks:
        yield look
        look += BLOCK_DECKS * max(1, look // (_LOOK_GROWTH * BLOCK_DECKS))


def _choose(pool: list[int], size: int, fixed: tuple[int, ...], config: TournamentConfig) -> list[tuple[int, ...]]:
    """Return line-ups of the agents in `fixed` plus `size` agents of a pool: all line-ups, or an even draw of them."""
    wanted = config.lineups or MAX_LINEUPS
    if comb(len(pool), size) <= wanted:
        return [(*fixed, *chosen) for chosen in combinations(pool, size)]
    rng = np.random.default_rng(np.random.SeedSequence(config.public_seed, spawn_key=(_LINEUP_STREAM,)))
    lineups = _draw(len(pool), size, wanted, rng)
    _even_out(lineups, len(pool), rng)
    return [(*fixed, *sorted(pool[index] for index in lineup)) for lineup in lineups]


def _draw(num_agents: int, size: int, count: int, rng: np.random.Generator) -> list[list[int]]:
    """Return `count` random line-ups of `size` different agents, numbered 0..num_agents - 1.

    All agents appear equally often, up to a difference of one.
    """
    appearances = np.zeros(num_agents, dtype=np.int64)
    lineups = []
    for _ in range(count):
        chosen = np.lexsort((rng.random(num_agents), appearances))[:size]  # the fewest first, ties in random order
        appearances[chosen] += 1
        lineups.append(chosen.tolist())
    return lineups


def _even_out(lineups: list[list[int]], num_agents: int, rng: np.random.Generator) -> None:
    """Swap agents between line-ups at random, so that all pairs meet about equally often.

    `lineups` is modified in place.
    """
    meetings = [[0] * num_agents for _ in range(num_agents)]
    for lineup in lineups:
        for one, other in permutations(lineup, 2):
            meetings[one][other] += 1
    tables = rng.integers(len(lineups), size=(_SWAPS, 2)).tolist()
    places = rng.integers(len(lineups[0]), size=(_SWAPS, 2)).tolist()
    for (first, second), (place, other_place) in zip(tables, places, strict=True):
        one, other = lineups[first][place], lineups[second][other_place]
        if one in lineups[second] or other in lineups[first]:
            continue
        # An agent that is in both line-ups meets `one` and `other` as often before as after the swap.
        left = [agent for agent in lineups[first] if agent != one and agent not in lineups[second]]
        joined = [agent for agent in lineups[second] if agent != other and agent not in lineups[first]]
        # Half the change of the sum of squared meetings. A swap that leaves the sum equal is made, as it may open the
        # way for swaps that lower the sum.
        if (
            sum(meetings[other][agent] - meetings[one][agent] + 1 for agent in left)
            + sum(meetings[one][agent] - meetings[other][agent] + 1 for agent in joined)
        ) > 0:
            continue
        lineups[first][place], lineups[second][other_place] = other, one
        for agents, gone, come in ((left, one, other), (joined, other, one)):
            for agent in agents:
                for a, b in ((agent, gone), (gone, agent)):
                    meetings[a][b] -= 1
                for a, b in ((agent, come), (come, agent)):
                    meetings[a][b] += 1
