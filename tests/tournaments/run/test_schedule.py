"""Line-ups and blocks."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, MAX_LINEUPS, make_blocks, make_lineups


def lineups(count, **options):
    return make_lineups(TournamentConfig(agents=("call",) * count, **options))


def test_a_lineup_is_one_table():
    assert lineups(6) == [(0, 1, 2, 3, 4, 5)]
    assert lineups(2) == [(0, 1)]


@pytest.mark.parametrize(("count", "seats"), [(3, 2), (4, 3), (7, 6), (9, 7), (14, 2), (10, 10)])
def test_a_round_robin_plays_every_lineup_when_they_are_few(count, seats):
    found = lineups(count, seats=seats, format="round-robin")
    assert found == list(combinations(range(count), seats))
    assert len(found) <= MAX_LINEUPS


def test_a_hundred_lineups_are_drawn_unless_more_are_asked_for():
    assert comb(12, 6) == 924
    assert len(lineups(12)) == 100
    assert len(lineups(12, lineups=30)) == 30
    assert len(lineups(12, lineups=923)) == 923
    assert lineups(12, lineups=924) == list(combinations(range(12), 6))
    assert len(lineups(7, seats=6, lineups=3)) == 3


@pytest.mark.parametrize(
    ("count", "seats", "number", "spread"),
    [(15, 2, 0, 1), (40, 2, 100, 1), (16, 3, 0, 1), (12, 6, 0, 1), (11, 6, 50, 2), (20, 6, 0, 2), (30, 6, 0, 3)],
)
def test_draws_are_even(count, seats, number, spread):
    found = lineups(count, seats=seats, format="round-robin", lineups=number, seed=1)
    assert all(len(set(table)) == seats and list(table) == sorted(table) for table in found)
    games = Counter(agent for table in found for agent in table)
    assert len(games) == count
    assert max(games.values()) - min(games.values()) <= 1
    meetings = Counter(pair for table in found for pair in combinations(table, 2))
    often = [meetings[pair] for pair in combinations(range(count), 2)]
    assert max(often) - min(often) <= spread


def test_two_at_a_table_do_not_meet_twice_before_all_have_met():
    found = lineups(15, seats=2, format="round-robin")
    assert len(set(found)) == len(found) == 100


def test_draws_follow_the_seed_alone():
    first = lineups(14, seed=3)
    assert first == lineups(14, seed=3, decks=5)
    assert first != lineups(14, seed=4)


def test_a_gauntlet_is_the_first_against_all_sets_of_others():
    assert lineups(4, format="gauntlet", seats=2) == [(0, 1), (0, 2), (0, 3)]
    assert lineups(4, format="gauntlet", seats=3) == [(0, 1, 2), (0, 1, 3), (0, 2, 3)]
    assert lineups(4, format="gauntlet") == [(0, 1, 2, 3)]


def test_a_gauntlet_of_copies():
    tables = [(0, 1, 1, 1, 1, 1), (0, 2, 2, 2, 2, 2)]
    assert lineups(3, format="gauntlet", seats=6, copies=True) == tables
    assert lineups(3, format="gauntlet", seats=6) == tables  # too few others for a table
    assert lineups(3, format="gauntlet", copies=True) == [(0, 1, 1), (0, 2, 2)]
    assert lineups(2, format="gauntlet", seats=2, copies=True) == [(0, 1)]


def test_a_large_gauntlet_is_drawn_evenly():
    found = lineups(20, format="gauntlet", seats=6)
    assert len(found) == 100
    assert all(table[0] == 0 and 0 not in table[1:] for table in found)
    games = Counter(agent for table in found for agent in table[1:])
    assert set(games) == set(range(1, 20))
    assert max(games.values()) - min(games.values()) <= 1


@settings(max_examples=100, deadline=None)
@given(
    decks=st.integers(1, 60),
    num_lineups=st.integers(1, 4),
    done=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 80))),
)
def test_blocks_cover_exactly_what_is_missing(decks, num_lineups, done):
    config = TournamentConfig(agents=("call", "call"), decks=decks)
    blocks = list(make_blocks(config, num_lineups, done))
    groups = [(b.lineup, deck) for b in blocks for deck in range(b.first, b.first + b.num_decks)]
    assert len(groups) == len(set(groups))
    assert set(groups) == {(table, deck) for table in range(num_lineups) for deck in range(decks)} - done
    assert all(1 <= block.num_decks <= BLOCK_DECKS for block in blocks)


def test_lineups_take_turns():
    config = TournamentConfig(agents=("call",) * 3, seats=2, decks=20)
    blocks = list(make_blocks(config, 3, []))
    assert [(block.lineup, block.first, block.num_decks) for block in blocks] == [
        *((table, 0, 8) for table in range(3)),
        *((table, 8, 8) for table in range(3)),
        *((table, 16, 4) for table in range(3)),
    ]
    assert list(make_blocks(config, 3, [(table, deck) for table in range(3) for deck in range(20)])) == []
