"""MATCHSTATE lines: what a seat sees, lines as the ACPC's dealer writes them, and whatever else arrives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.random_histories import random_histories, random_history

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC
from plurispiel.evaluation.replay import RAISE, replay_betting
from plurispiel.tournaments.formats.acpc import write_action
from plurispiel.tournaments.formats.game_definition import BUILT_IN
from plurispiel.tournaments.formats.match_state import (
    MAX_LINE,
    read_action,
    read_match_state,
    seen_cards,
    write_match_state,
)

LINE = "MATCHSTATE:1:17:r300c/:|AsKd/Td9d6h"


def states_of(history, seat, number=0):
    """Every state of a hand as a dealer tells it to a seat, with the betting at that point."""
    rules = history.rules
    for count in range(len(history.actions) + 1):
        betting = replay_betting(rules, history.actions[:count])
        folded = betting.state.folded if betting.state.is_over and betting.showdown else None
        seen = seen_cards(history.hole_cards, seat, folded)
        street = betting.state.street
        yield write_match_state(rules, seat, number, betting.actions, street, seen, history.board), betting


def test_a_state():
    state = read_match_state(LINE, HUNL)
    assert (state.seat, state.number) == (1, 17)
    assert state.betting.sizes == (300, 1) and state.betting.state.actor == 0 and not state.is_own_turn
    assert state.hole_cards == ((), parse_cards("AsKd")) and state.board == parse_cards("Td9d6h")
    assert read_match_state("MATCHSTATE:1:0::|AsKd", HUNL).is_own_turn


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("MATCHSTATE:0:0:cr200c/cr850:5d5c|/8dAs8h", HUNL),
        ("MATCHSTATE:1:0:r20000c///:9h9d|AsKd/2c3d4h/5s/9c", HUNL),
        ("MATCHSTATE:0:30:rrrc/rr:AcTs|/JcQs8d", HULH),
        ("MATCHSTATE:2:1:crf:||Js", BUILT_IN["kuhn.limit.3p.game"]),  # the ACPC's reduced deck is J, Q, K, A of spades
    ],
)
def test_lines_come_through(line, rules):
    state = read_match_state(line, rules)
    street = state.betting.state.street
    args = (state.seat, state.number, state.betting.actions, street, state.hole_cards, state.board)
    assert write_match_state(rules, *args) == line


def test_every_state_of_random_hands_comes_through_and_shows_no_more_than_it_may():
    rng = np.random.default_rng(3)
    hands = [*random_histories(5, 40), *(random_history(rng, rules) for rules in (HULH, LEDUC, KUHN) * 4)]
    for history in hands:
        for seat in range(history.rules.num_seats):
            for text, betting in states_of(history, seat, 7):
                state = read_match_state(text, history.rules)
                assert (state.seat, state.number, state.betting.sizes) == (seat, 7, betting.sizes)
                assert state.board == history.board[: betting.board_size]
                is_shown = betting.state.is_over and betting.showdown
                for other, cards in enumerate(state.hole_cards):
                    seen = other == seat or (is_shown and not betting.state.folded[other])
                    assert cards == (history.hole_cards[other] if seen else ())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("", "a state is written MATCHSTATE:seat:hand:betting:cards, got ''"),
        ("STATE:1:17:r300c/:|AsKd/Td9d6h", "a state is written"),
        (LINE + ":c", "a state is written"),
        (LINE.replace(":1:", ":2:"), "the game has the seats 0 to 1, got 2"),
        (LINE.replace(":1:", ":-1:"), "the seat in .* is a number"),
        (LINE.replace(":1:", ":¹:"), "the seat in .* is a number"),
        (LINE.replace(":17:", ":17000000000:"), "the hand in .* is a number"),
        (LINE.replace("r300c", "r150c"), "action 1 of seat 1 on street 0: 150 is not legal"),
        (LINE.replace("r300c/", "r300c"), "the streets of .* do not end"),
        (LINE.replace("r300c", "x"), "betting is written with f, c, r with at most 10 digits, and /"),
        (LINE.replace("6h", ""), "the board has 3 cards"),
        (LINE.replace("6h", "As"), "a card appears twice"),
        (LINE.replace("AsKd", ""), "seat 1 sees 2 hole cards of seat 1"),
        (LINE.replace("AsKd", "As"), "seat 1 sees 2 hole cards of seat 1"),
        (LINE.replace("|", "2c2d|"), "seat 1 sees no hole cards of seat 0"),
        (LINE.replace("|", "||"), "hole cards of 2 seats, got 3"),
        ("MATCHSTATE:1:0:r20000c///:|AsKd/2c3d4h/5s/9c", "seat 1 sees 2 hole cards of seat 0"),
        (LINE + "2c" * MAX_LINE, "a line has at most 4096 bytes"),
    ],
)
def test_what_is_refused(line, what):
    with pytest.raises(ValueError, match=what):
        read_match_state(line, HUNL)


def test_folded_cards_may_be_shown_at_the_end():
    state = read_match_state("MATCHSTATE:1:0:f:9h9d|AsKd", HUNL)
    assert state.hole_cards == (parse_cards("9h9d"), parse_cards("AsKd"))


@given(st.text(max_size=60) | st.text("MATCHSE:01rcf/|AsKdTh9,-", max_size=60).map("MATCHSTATE:1:0:".__add__))
def test_whatever_arrives_is_a_state_or_a_value_error(text):
    try:
        assert 0 <= read_match_state(text, HUNL).seat < 2
    except ValueError:
        pass


@pytest.mark.parametrize("action", [0, 1, 200, 20_000])
def test_actions_come_through(action):
    assert read_action(write_action(action, HUNL), HUNL) == action


@pytest.mark.parametrize("text", ["", "r", "R300", "r-1", "r3.5", "r²", "r" + "9" * 11, "cc", " c", "c\x00", "k"])
def test_what_is_no_action(text):
    with pytest.raises(ValueError, match="an action is written f, c or r and chips"):
        read_action(text, HUNL)
    assert read_action("r", HULH) == RAISE
    with pytest.raises(ValueError, match="f, c or r, got 'r20'"):
        read_action("r20", HULH)
