"""Where a tournament's randomness comes from, and what one seat's generator gives away."""

import hashlib
import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.evaluation.streams import Keyed, Seeded, Streams

BOTS = Path(__file__).parents[1] / "tournaments" / "contestants" / "bots"


def loaded(path):
    """A module of the bots' folder, which is no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


attack = loaded(BOTS / "seed_sequence.py").attack


@pytest.mark.parametrize("seed", [1, 2**127 + 12345])
def test_one_generator_of_a_seed_gives_the_whole_deal_away(seed):
    """The attack works: without this the next test shows nothing."""
    group = (3, 14)
    streams = Streams(6, Seeded(seed))
    seats = [[rng.bit_generator.state["state"]["state"] for rng in rngs] for rngs in streams.seats(group)]
    for rotation, rngs in enumerate(streams.seats(group)):
        if rotation == 4:
            states, deck = attack(rngs[2], group, 4, 2, 6)
    assert states == list(itertools.chain(*seats))
    sequence = np.random.SeedSequence(seed, spawn_key=(0, *group))
    assert deck == sequence.generate_state(8).tolist()


@pytest.mark.parametrize("keys", [((0, 1),), ((0, 2**127 + 12345),), ((0, 5), (10, 6))])
def test_one_generator_of_a_key_gives_no_other_stream_away(keys):
    group = (3, 14)
    streams = Streams(6, Keyed(keys))
    seats = [rng.bit_generator.state["state"]["state"] for rngs in streams.seats(group) for rng in rngs]
    assert len(set(seats)) == 36
    for rotation, rngs in enumerate(streams.seats(group)):
        for seat, rng in enumerate(rngs):
            states, _ = attack(rng, group, rotation, seat, 6)
            own = 6 * rotation + seat
            assert states[own] == seats[own]  # what the attack was given
            found = {state for place, state in enumerate(states) if place != own}
            assert not found & set(seats)


def test_no_two_keyed_streams_share_a_pool(monkeypatch):
    """Every generator is made of a hash of its own, whatever its purpose, group, rotation and seat."""
    hashed = []
    sha256 = hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda data: hashed.append(bytes(data)) or sha256(data))
    for once in (False, True):
        streams = Streams(3, Keyed(((0, 1), (1, 2))), once=once)
        hashed.clear()
        for group in itertools.product(range(2), range(3)):
            streams.decks(SIXMAX, group), streams.order(group), streams.values(group), list(streams.seats(group))
            streams.adviser(group)
        assert len(hashed) == len(set(hashed)) == 6 * ((3 if once else 1) + 3 + 9)


def test_streams_of_a_seed_are_what_they_always_were():
    """Decks, orders, values and all seats of four seeds: bit for bit those of the versions before there were keys."""
    found = hashlib.sha256()
    for seed, rules in itertools.product((0, 1, 7, 2**70), (HUNL, SIXMAX)):
        streams = Streams(rules.num_seats, Seeded(seed))
        for group in ((0, 0), (3, 5)):
            found.update(streams.decks(rules, group)[0].tobytes() + bytes(streams.order(group)))
            for rngs in streams.seats(group):
                for rng in rngs:
                    found.update(rng.bytes(8))
            found.update(streams.values(group).bytes(8))
    assert found.hexdigest().startswith("429895727eac1173")


def test_words_of_a_seed_are_those_of_a_sequence_and_of_a_key_hashes():
    expected = np.random.SeedSequence(7, spawn_key=(5, 3)).generate_state(10, np.uint64).tolist()
    assert Seeded(7).words(5, (3,), 10) == expected
    groups = [Keyed(((0, 1), (2, 8))).words(5, (number,), 10) for number in range(4)]
    words = {word for group in groups for word in group}
    assert len(words) == 40 and all(0 <= word < 1 << 64 for word in words)
    assert groups[0][:4] == Keyed(((0, 1),)).words(5, (0,), 4)


@pytest.mark.parametrize("source", [Seeded(1), Keyed(((0, 1),))], ids=["seeded", "keyed"])
def test_rotations_share_a_deck_or_have_one_each(source):
    shared, once = (Streams(6, source, once=once) for once in (False, True))
    assert len({deck.tobytes() for deck in shared.decks(SIXMAX, (0, 0))}) == 1
    decks = [deck.tobytes() for group in ((0, 0), (0, 1), (1, 0)) for deck in once.decks(SIXMAX, group)]
    assert len(set(decks)) == len(decks) == 18


def test_each_key_deals_from_its_first_deck_on():
    one, other, both = (Streams(2, Keyed(keys)) for keys in (((0, 1),), ((0, 2),), ((0, 1), (8, 2))))

    def dealt(streams, deck):
        return streams.decks(HUNL, (4, deck))[0].tobytes()

    assert [dealt(both, deck) for deck in (0, 7)] == [dealt(one, deck) for deck in (0, 7)]
    assert [dealt(both, deck) for deck in (8, 99)] == [dealt(other, deck) for deck in (8, 99)]
    assert dealt(one, 7) != dealt(other, 7)


def test_keyed_decks_are_fair():
    """Every card is dealt to every place as often as any other: chi-squared over 4,000 decks, 52 x 9 cells."""
    streams = Streams(2, Keyed(((0, 3),)))
    places = np.stack([streams.decks(HUNL, (0, deck))[0] for deck in range(4_000)]).T
    counts = np.stack([np.bincount(cards, minlength=52) for cards in places])
    expected = 4_000 / 52
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert 9 * 51 - 5 * (2 * 9 * 51) ** 0.5 < statistic < 9 * 51 + 5 * (2 * 9 * 51) ** 0.5


def test_once_agents_only_fold_other_decks_are_dealt():
    """Groups are played again when an agent is retired: whoever has seen them would see them twice."""
    keyed, group = Streams(2, Keyed(((0, 3),))), (0, 5)

    def dealt(streams):
        states = [rng.bit_generator.state["state"]["state"] for rngs in streams.seats(group) for rng in rngs]
        return [deck.tobytes() for deck in streams.decks(HUNL, group)], streams.order(group), states

    assert dealt(keyed.without(frozenset())) == dealt(keyed)
    found = [dealt(keyed.without(retired)) for retired in ((), (0,), (1,), (0, 1))]
    assert len({tuple(decks) for decks, _, _ in found}) == 4
    assert len({state for _, _, states in found for state in states}) == 16
    assert dealt(keyed.without({1, 0})) == found[3]  # a set has no order
    seeded = Streams(2, Seeded(3))
    assert dealt(seeded.without((0,))) == dealt(seeded)
