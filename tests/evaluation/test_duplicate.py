"""Duplicate groups: decks, rotations, random streams and scores."""

import dataclasses
import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Agent
from plurispiel.agents.baselines.equity import EquityAgent
from plurispiel.agents.baselines.simple import CallAgent, FoldAgent, RaiseAgent, RandomAgent
from plurispiel.evaluation.duplicate import AgentScore, play_group, rotations
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.evaluation.streams import SeatStreams, Seeded, Streams

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="a minute without the compiler")


def play(rules, agents, *, seed=1, group=(0, 0), contestants=None, hands=None):
    kept = [] if hands is None else hands
    seats = range(rules.num_seats)
    streams = Streams(rules.num_seats, Seeded(seed))
    return play_group(
        rules, lambda rotation: agents, contestants or seats, streams, group, lambda hand, *_: kept.append(hand)
    )


def group_deck(rules, seed, *group):
    return Streams(rules.num_seats, Seeded(seed)).decks(rules, group)[0]


class Recorder(Agent):
    """Calls, and keeps its seat, its cards and its first random number in each hand."""

    def __init__(self, hands=None):
        self.hands = [] if hands is None else hands

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.first = rng.integers(2**62)

    def observe(self, event):
        if hasattr(event, "hole_cards"):
            self.hands.append((self.seat, event.hole_cards, int(self.first)))

    def act(self, view):
        return 1


@pytest.mark.parametrize("seats", range(2, 11))
def test_every_position_sits_once_in_every_seat(seats):
    found = rotations(seats)
    assert len(found) == seats
    for seating in found:
        assert sorted(seating) == list(range(seats))
    for seat in range(seats):
        assert sorted(seating[seat] for seating in found) == list(range(seats))
    # The order around the table stays: the neighbour on the left is always the same.
    for seating in found:
        assert all(seating[(k + 1) % seats] == (seating[k] + 1) % seats for k in range(seats))


def test_a_deck_depends_on_seed_and_group_alone():
    first = group_deck(SIXMAX, 1, 0, 0)
    assert np.array_equal(first, group_deck(SIXMAX, 1, 0, 0))
    others = [group_deck(SIXMAX, *key) for key in [(1, 0, 1), (1, 1, 0), (2, 0, 0), (0, 1, 0)]]
    assert len({deck.tobytes() for deck in [first, *others]}) == 5
    hands = []
    play(SIXMAX, [RandomAgent() for _ in range(6)], seed=1, group=(0, 0), hands=hands)
    play(SIXMAX, [CallAgent() for _ in range(6)], seed=1, group=(0, 0), hands=hands)
    assert len(hands) == 12
    assert all(np.array_equal(hand.deck, first) for hand in hands)


def test_a_group_holds_every_seat_and_its_cards_once():
    agents = [Recorder() for _ in range(6)]
    play(SIXMAX, agents, group=(3, 4))
    deck = group_deck(SIXMAX, 1, 3, 4).tolist()
    for agent in agents:
        assert sorted(seat for seat, _, _ in agent.hands) == list(range(6))
        assert all(cards == tuple(deck[2 * seat : 2 * seat + 2]) for seat, cards, _ in agent.hands)


def test_random_streams_differ_by_seat_rotation_group_and_seed_only():
    def numbers(**options):
        agents = [Recorder() for _ in range(6)]
        play(SIXMAX, agents, **options)
        return [number for agent in agents for _, _, number in agent.hands]

    first = numbers()
    assert first == numbers()
    everything = first + numbers(seed=2) + numbers(group=(0, 1)) + numbers(group=(1, 0))
    assert len(everything) == 4 * 36 == len(set(everything))


def test_streams_are_free_of_what_was_drawn_before():
    """A half-used 64-bit word or a Gaussian kept back must not reach the next hand."""
    streams = SeatStreams(2)
    words = [1, 2, 3, 4]
    first = [generator.integers(10**6, size=5, dtype=np.uint32).tolist() for generator in streams.seed(words)]
    for generator in streams.generators:
        generator.integers(3, dtype=np.uint32)
    again = [generator.integers(10**6, size=5, dtype=np.uint32).tolist() for generator in streams.seed(words)]
    assert first == again
    assert first[0] != first[1]


def test_copies_of_a_random_agent_share_nothing():
    hands = []
    play(HUNL, [RandomAgent(), RandomAgent()], hands=hands)
    differ = 0
    for group in range(20):
        hands.clear()
        scores = play(HUNL, [RandomAgent(), RandomAgent()], group=(0, group), hands=hands)
        # With one stream for both, or one for each seat whatever the rotation, both hands would be the same.
        differ += hands[0].actions != hands[1].actions
        assert scores[0].chips == -scores[1].chips
    assert differ >= 15


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, LEDUC, KUHN, no_limit_holdem(7), no_limit_holdem(9, stack=777)])
@pytest.mark.parametrize("agent", [CallAgent, FoldAgent, RaiseAgent])
def test_equal_deterministic_agents_score_exactly_zero(rules, agent):
    for group in range(25):
        scores = play(rules, [agent() for _ in range(rules.num_seats)], group=(0, group))
        assert [score.chips for score in scores.values()] == [0.0] * rules.num_seats
        assert all(score.hands == rules.num_seats for score in scores.values())


@jit_only
def test_equal_agents_score_exactly_zero_when_pots_split_into_thirds():
    rules = no_limit_holdem(7)
    thirds = 0
    for group in range(600):
        hands = []
        scores = play(rules, [CallAgent() for _ in range(7)], group=(0, group), hands=hands)
        if any(payoff % 1 for payoff in hands[0].payoffs):
            thirds += 1
            assert [score.chips for score in scores.values()] == [0.0] * 7
        if thirds == 3:
            break
    assert thirds == 3


@jit_only
def test_equity_agents_score_exactly_zero():
    scores = play(SIXMAX, [EquityAgent() for _ in range(6)])
    assert [score.chips for score in scores.values()] == [0.0] * 6


def test_scores_of_fold_against_raise():
    # Each blind once: -100 and -50 to the pot raise.
    scores = play(HUNL, [FoldAgent(), RaiseAgent()])
    assert [(score.hands, score.chips, score.chips_squared) for score in scores.values()] == [
        (2, -150.0, 100.0**2 + 50.0**2),
        (2, 150.0, 100.0**2 + 50.0**2),
    ]
    assert [score.faults for score in scores.values()] == [0, 0]


def test_copies_of_a_contestant_are_scored_together():
    agents = [FoldAgent(), *(RaiseAgent() for _ in range(5))]
    apart = play(SIXMAX, agents, group=(0, 5))
    together = play(SIXMAX, agents, group=(0, 5), contestants=[7, 3, 3, 3, 3, 3])
    assert set(together) == {7, 3}
    assert together[7] == apart[0]
    assert together[7].chips == -150.0
    assert together[3].hands == 30
    assert together[3].chips == 150.0
    assert together[3].chips_squared == pytest.approx(sum(apart[k].chips_squared for k in range(1, 6)))
    counts = [np.frombuffer(apart[k].play, np.uint8).astype(int) for k in range(1, 6)]
    assert np.array_equal(np.frombuffer(together[3].play, np.uint8), sum(counts))


def test_faults_are_counted_and_the_first_is_kept():
    class Broken(Agent):
        def act(self, view):
            raise ZeroDivisionError(f"seat {view.seat}")

    scores = play(HUNL, [CallAgent(), Broken()])
    assert [score.faults for score in scores.values()] == [0, 2]
    good, broken = scores.values()
    assert good.first_fault == ""
    assert broken.first_fault.startswith("act: ZeroDivisionError: seat ")
    assert "test_duplicate.py, line" in broken.first_fault


def test_the_estimate_takes_what_corrections_there_are():
    plain = AgentScore(2, 100.0, 1e4, 0, b"")
    assert plain.estimate == 100.0
    by_chance = dataclasses.replace(plain, true_chance=-30.0)
    assert by_chance.estimate == 70.0
    full = dataclasses.replace(by_chance, imaginary_hands=1.0, chance=2.0, own_actions=4.0, other_actions=-8.0)
    assert full.estimate == 99.0


def test_counts_of_play_are_a_row_for_each_seat():
    scores = play(SIXMAX, [CallAgent() for _ in range(6)])
    for score in scores.values():
        counts = np.frombuffer(score.play, dtype=np.uint8).reshape(6, len(COUNTERS))
        of = dict(zip(COUNTERS, counts.T.tolist(), strict=True))
        assert of["hands"] == [1] * 6
        assert of["vpip"] == [1, 0, 1, 1, 1, 1]  # the big blind checks
        assert of["raised_preflop"] == [0] * 6
        assert of["first_in_chances"] == of["first_in_limps"] == [0, 0, 1, 0, 0, 0]
        assert of["showdowns"] == [1] * 6
