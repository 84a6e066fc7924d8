"""Bets of a street, read and written, against random hands; what the rules or the form do not allow."""

import numpy as np
import pytest
from reference.random_histories import random_history

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.formats.street_bets import read_street_bets, write_street_bet


def written(actions):
    """The moves of a hand, with a bar between streets."""
    moves = []
    for count, action in enumerate(actions):
        betting = replay_betting(HUNL, actions[:count])
        moves += ["/"] * (betting.state.street - moves.count("/"))
        moves.append(write_street_bet(action, betting))
    return moves


def test_random_hands_come_back():
    rng = np.random.default_rng(5)
    for number in range(100):
        actions = list(random_history(rng, HUNL, str(number)).actions)
        betting = read_street_bets(written(actions), "/", HUNL)
        assert list(betting.sizes) == actions and betting.state.is_over


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("b200 c / k b200", [200, 1, 1, 400]),
        ("c k / k b100 b400 c / k k / b100 f", [1, 1, 1, 200, 500, 1, 1, 1, 600, 0]),
        ("b20000 c / / /", [20_000, 1]),
        ("b200 c /", [200, 1]),
        ("", []),
        ("f", [0]),
    ],
)
def test_documented_forms(text, actions):
    moves = text.split()
    assert list(read_street_bets(moves, "/", HUNL).sizes) == actions


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("b200 c k", "ends elsewhere"),
        ("b200 c", "ends elsewhere"),
        ("b200 /", "ends elsewhere"),
        ("/ c", "ends elsewhere"),
        ("f / / / /", "ends elsewhere"),
        ("f k", "after the end"),
        ("k", "a check where none"),
        ("c c", "a call where none"),
        ("b150", "not legal"),
        ("b20001", "not legal"),
        ("c k / f", "not legal"),
        ("b1", "an action is written"),
        ("b", "an action is written"),
        ("b٣٠٠", "an action is written"),
        ("b-5", "an action is written"),
        ("B200", "an action is written"),
        ("", "an action is written"),
    ],
)
def test_what_is_refused(text, what):
    with pytest.raises(ValueError, match=what):
        read_street_bets(text.split() or [""], "/", HUNL)
