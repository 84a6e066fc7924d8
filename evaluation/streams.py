"""The random streams of a tournament: decks, the order around the table, and every seat's generator.

`Seeded` streams derive from one `numpy.random.SeedSequence`, which is not a one-way function: the state of one seat's
generator reveals all other streams of the run, decks included. So `Seeded` streams serve tables of built-in agents
only. `Keyed` streams are SHA-256 hashes of a key, so that a generator reveals nothing about other streams. They serve
tables with an agent from outside or a person.
"""

import hashlib
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.hand import deal_deck

_DECK, _AGENT, _ORDER, _VALUES, _ADVISER = 0, 1, 3, 4, 5
"""Purposes of streams. Number 2 belongs to the drawing of line-ups (`schedule`). In runs of `Prober`, number 5 belongs
to all random choices but the decks."""

_WORD = 1 << 64

Group = tuple[int, ...]
"""The numbers that identify a duplicate group: in a tournament those of its line-up and its deck, in this order."""


class Source(Protocol):
    """The origin of all streams."""

    def generator(self, purpose: int, group: Group, *path: int) -> np.random.Generator:
        """Return the generator for a purpose in a group; `path` holds further numbers, such as the rotation's."""

    def words(self, purpose: int, group: Group, count: int) -> list[int]:
        """Return `count` 64-bit words for a purpose in a group."""

    def seat_words(self, group: Group, num_seats: int) -> list[int]:
        """Return two 64-bit words for every seat of every rotation, ordered by rotation, then by seat."""

    def without(self, retired: Collection[int]) -> "Source":
        """Return the source for groups with retired agents, whose seats only fold after too many faults."""


class Seeded:
    """Streams of a seed, by `numpy.random.SeedSequence`."""

    def __init__(self, seed: int):
        self._seed = seed

    def generator(self, purpose: int, group: Group, *path: int) -> np.random.Generator:
        """Return the generator of a purpose."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(purpose, *group, *path))
        return np.random.Generator(np.random.PCG64(sequence))

    def words(self, purpose: int, group: Group, count: int) -> list[int]:
        """Return `count` 64-bit words."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(purpose, *group))
        return sequence.generate_state(count, np.uint64).tolist()

    def seat_words(self, group: Group, num_seats: int) -> list[int]:
        """Return two 64-bit words for every seat of every rotation."""
        return self.words(_AGENT, group, 2 * num_seats**2)

    def without(self, retired: Collection[int]) -> "Seeded":
        """Return the same source: built-in agents may see a deck twice, since they keep nothing between hands."""
        return self


class Keyed:
    """Streams of a key, each by a SHA-256 of its own.

    Parameters
    ----------
    keys : sequence of (int, int)
        Pairs (first deck, key): each key serves all decks from its first deck to the last one before the next pair's
        first deck. The first decks ascend from 0, and a key is any whole number. The last number of a group is the
        number of its deck.
    retired : collection of int
        The numbers of the agents that are retired. Each set of retired agents has streams of its own.
    """

    def __init__(self, keys: Sequence[tuple[int, int]], retired: Collection[int] = ()):
        self._keys = keys
        self._without = f" without {sorted(retired)}" if retired else ""

    def generator(self, purpose: int, group: Group, *path: int) -> np.random.Generator:
        """Return the generator of a purpose."""
        return np.random.Generator(np.random.PCG64(self._hash(purpose, group, *path)))

    def words(self, purpose: int, group: Group, count: int) -> list[int]:
        """Return `count` 64-bit words, each from a hash of its own."""
        return [self._hash(purpose, group, place) % _WORD for place in range(count)]

    def seat_words(self, group: Group, num_seats: int) -> list[int]:
        """Return two 64-bit words for every seat of every rotation."""
        words: list[int] = []
        for rotation, seat in itertools.product(range(num_seats), repeat=2):
            state = self._hash(_AGENT, group, rotation, seat)
            words += (state // _WORD % _WORD, state % _WORD)
        return words

    def without(self, retired: Collection[int]) -> "Keyed":
        """Return the source for groups in which some agents are retired, with other streams.

        A group may have been played before it was known that an agent is retired there. It is played again without this
        agent, and the other agents must not see the same deck twice.
        """
        return Keyed(self._keys, retired)

    def _hash(self, purpose: int, group: Group, *path: int) -> int:
        key = next(key for first, key in reversed(self._keys) if group[-1] >= first)
        text = f"plurispiel {key} {purpose} {group} {path}{self._without}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest())


class SeatStreams:
    """Random generators for the seats of one table, re-seeded for every hand.

    Creating a generator costs more than ten times as much as setting its state, and a group of six seats needs 36
    generators.
    """

    def __init__(self, num_seats: int):
        self.generators = [np.random.Generator(np.random.PCG64(0)) for _ in range(num_seats)]
        self._template = self.generators[0].bit_generator.state

    def seed(self, words: Sequence[int]) -> list[np.random.Generator]:
        """Return the generators of all seats, each set to the state that the seat's two words form."""
        template = self._template
        for k, generator in enumerate(self.generators):
            template["state"]["state"] = words[2 * k] << 64 | words[2 * k + 1]
            generator.bit_generator.state = template
        return self.generators


class Streams:
    """The streams of a tournament, by group and rotation.

    Parameters
    ----------
    num_seats : int
        Seats at a table, which is also the number of rotations.
    source : Source
        The origin of all streams: a seed or keys.
    once : bool
        Whether each rotation of a group is dealt a deck of its own; otherwise all rotations are dealt the same deck.
    """

    def __init__(self, num_seats: int, source: Source, *, once: bool = False):
        self._num_seats = num_seats
        self._source = source
        self._once = once
        self._seats = SeatStreams(num_seats)

    def without(self, retired: Collection[int]) -> "Streams":
        """Return the streams of groups in which some agents are retired."""
        source = self._source.without(retired) if retired else self._source
        return self if source is self._source else Streams(self._num_seats, source, once=self._once)

    def decks(self, rules: HoldemRules, group: Group) -> list[np.ndarray]:
        """Return the deck of every rotation: uint8[num_dealt_cards] each."""
        if not self._once:
            return [deal_deck(rules, self._source.generator(_DECK, group))] * self._num_seats
        return [deal_deck(rules, self._source.generator(_DECK, group, turn)) for turn in range(self._num_seats)]

    def order(self, group: Group) -> list[int]:
        """Return the order of agents around the table, as positions in the line-up.

        The rotations of a group move this order seat by seat.
        """
        return self._source.generator(_ORDER, group).permutation(self._num_seats).tolist()

    def values(self, group: Group) -> np.random.Generator:
        """Return the generator of AIVAT's value function."""
        return self._source.generator(_VALUES, group)

    def adviser(self, group: Group) -> np.random.Generator:
        """Return the generator of an agent that advises a person, and has no seat."""
        return self._source.generator(_ADVISER, group)

    def seats(self, group: Group) -> Iterator[list[np.random.Generator]]:
        """Yield all seats' generators for each rotation: the same objects, re-seeded."""
        words = self._source.seat_words(group, self._num_seats)
        words_each = 2 * self._num_seats
        for first in range(0, len(words), words_each):
            yield self._seats.seed(words[first : first + words_each])
