"""Histories: their number is known before they are walked, and a tree too large is refused."""

import pytest

from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.histories import Size, estimate_size
from plurispiel.abstraction.trees.ladder import LADDER, find_game


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))


def test_estimate():
    assert estimate_size(find_game("leduc")).histories == pytest.approx(9_457, rel=0.1)
    assert estimate_size(find_game("kuhn")).histories == pytest.approx(58, rel=0.05)


@pytest.mark.parametrize(
    ("game", "limit", "message"),
    [
        ("leduc", 9_456, "9,457 histories, 0.3 MB"),
        (LADDER["holdem-flop"].game, 10**9, r"1.9e\+14 histories, more than 1,000 TB"),
        ("HUNL", 10**5, "at least .* histories"),
        ("liars_dice(numdice=3)", 10**6, "about .* histories, .* TB"),
        ("tic_tac_toe", 10_000, "about 5.*,... histories, .* MB"),
        ("chess", 10**6, "about .* histories"),
    ],
)
def test_too_large(game, limit, message):
    with pytest.raises(ValueError, match=f"too large for a tree: {message}.*; the limit is {limit:,} ") as refusal:
        flatten(game, max_histories=limit)
    assert "\n" not in str(refusal.value)


def test_limit_is_reached_exactly():
    assert flatten("leduc", max_histories=9_457).num_histories == 9_457
    game = "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))"
    size = flatten(game).num_histories
    assert flatten(game, max_histories=size).num_histories == size
    with pytest.raises(ValueError, match="too large"):
        flatten(game, max_histories=size - 1)


def test_numbers_have_32_bits():
    with pytest.raises(ValueError, match="at most 2,147,483,646, got 3,000,000,000"):
        flatten("kuhn", max_histories=3_000_000_000)


def test_sizes_in_words():
    words = [str(Size(10**k)).partition(", ")[2] for k in (1, 8, 11, 15)]
    assert words == ["0.0 MB", "3.7 GB", "3.7 TB", "more than 1,000 TB"]
    assert str(Size(1e300, "about ")) == "about 1e+300 histories, more than 1,000 TB"


def test_the_size_is_said_first():
    said = []
    flatten("leduc", say=said.append)
    assert said == ["9,457 histories, 0.3 MB"]
    with pytest.raises(ValueError, match="too large"):
        flatten("leduc", max_histories=10, say=said.append)
    flatten("tiny_hanabi", say=said.append)
    assert said[1:] == ["about 55 histories, 0.0 MB"]
