"""Made hands and draws against hand ranks from the rules, and as players name them."""

import numpy as np
import pytest
from reference.hand_rank import category

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.agents.spots.hand_kinds import DRAWS, MADE_HANDS, draw_of, made_hand_of

CATEGORIES = {
    "straight flush": ["straight flush"],
    "quads": ["four of a kind"],
    "full house": ["full house"],
    "flush": ["flush"],
    "straight": ["straight"],
    "set": ["three of a kind"],
    "trips": ["three of a kind"],
    "two pair": ["two pair"],
}


def test_made_hands_are_the_categories_of_the_rules():
    """Pairs on the board do not count, so that two pair and pair may be named by the hole cards' part alone."""
    rng = np.random.default_rng(3)
    for _ in range(3000):
        size = int(rng.integers(5, 8))
        cards = tuple(rng.permutation(52)[:size].tolist())
        found, known = made_hand_of(cards[:2], cards[2:]), category(cards)
        assert known in CATEGORIES.get(found, ["two pair", "pair", "high card"])
        if known in ("two pair", "pair", "high card"):
            assert MADE_HANDS.index(found) >= MADE_HANDS.index("two pair")


@pytest.mark.parametrize(
    "hole, board, made, draw",
    [
        ("AhKh", "Qh Jh 2c", "ace high", "flush and straight draw"),
        ("AhKh", "Qc Jd 2c", "ace high", "gutshot"),
        ("9h8h", "7c 6d 2s", "no pair", "open-ended"),
        ("9h7h", "8c 5d Js", "no pair", "open-ended"),  # two gutshots: a six or a ten
        ("Ah2h", "3h 4d Kc", "ace high", "gutshot"),
        ("9h9d", "9c 2c 3d", "set", "no draw"),
        ("9h9d", "8c 8d 3d", "overpair", "no draw"),
        ("7h7d", "Qc 8c 8d", "pocket pair", "no draw"),
        ("AhQd", "Qc 8c 8d", "top pair", "no draw"),
        ("Ah8h", "Qc 8c 8d", "trips", "no draw"),
        ("QhJd", "Qc Jc 2d", "two pair", "no draw"),
        ("Jh2d", "Qc Jc 5d", "second pair", "no draw"),
        ("Jh5s", "Qc Tc 5d", "low pair", "no draw"),
        ("KhTh", "Qh 8c 3d", "no pair", "backdoor flush draw"),
        ("KhTh", "Qh 8h 3d 2h", "flush", "no draw"),
        ("KhTh", "Qh 8h 3d 2c", "no pair", "flush draw"),
        ("KhTh", "Qh 8h 3d 2c 2d", "no pair", "no draw"),
        ("2c2d", "Ah Kh Qh Jh", "pocket pair", "no draw"),  # the draws are the board's alone
        ("AsKc", "Qh Jd Ts", "straight", "no draw"),
    ],
)
def test_players_names(hole, board, made, draw):
    assert (made_hand_of(parse_cards(hole), parse_cards(board)), draw_of(parse_cards(hole), parse_cards(board))) == (
        made,
        draw,
    )
    assert made in MADE_HANDS and draw in DRAWS
