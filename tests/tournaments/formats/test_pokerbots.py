"""Hands in the clauses of Pokerbots, and answers, against hands written out by hand."""

import pytest

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.evaluation.hand import AgentFault, HandEnd
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.formats.pokerbots import end_clauses, hand_clauses, read_answer

BOARD = parse_cards("Td9d6h2c2d")
HOLE = parse_cards("QhJh")


def told(sizes, seat):
    """The clauses of a hand up to its last action."""
    betting = replay_betting(HUNL, sizes)
    street = 3 if betting.state.is_over and betting.showdown else betting.state.street
    board = BOARD[: HUNL.board_size(street)]
    return " ".join(hand_clauses(HUNL, seat, HOLE, betting.actions, street, board))


@pytest.mark.parametrize(
    ("sizes", "clauses"),
    [
        ([], "HQh,Jh"),
        ([0], "HQh,Jh F"),
        ([1], "HQh,Jh C"),
        ([1, 1], "HQh,Jh C K BTd,9d,6h"),
        ([300, 1, 1, 450, 1], "HQh,Jh R300 C BTd,9d,6h K R150 C BTd,9d,6h,2c"),
        ([300, 900, 1, 1000, 0], "HQh,Jh R300 R900 C BTd,9d,6h R100 F"),
        ([20_000, 1], "HQh,Jh R20000 C BTd,9d,6h K K BTd,9d,6h,2c K K BTd,9d,6h,2c,2d K K"),
        ([1, 1, 1, 20_000, 1], "HQh,Jh C K BTd,9d,6h K R19900 C BTd,9d,6h,2c K K BTd,9d,6h,2c,2d K K"),
        ([1] * 8, "HQh,Jh C K BTd,9d,6h K K BTd,9d,6h,2c K K BTd,9d,6h,2c,2d K K"),
    ],
)
def test_a_hand_is_told(sizes, clauses):
    assert told(sizes, 1) == f"P0 {clauses}"  # seat 1 posts the small blind
    assert told(sizes, 0) == f"P1 {clauses}"


def test_the_end_of_a_hand():
    def end(payoffs, shown):
        return [end_clauses(HUNL, seat, HandEnd((), 3, BOARD, shown, payoffs)) for seat in (0, 1)]

    assert end((-300.0, 300.0), ((), ())) == [["D-300"], ["D300"]]
    both = (parse_cards("AsKd"), HOLE)
    assert end((450.0, -450.0), both) == [["OQh,Jh", "D450"], ["OAs,Kd", "D-450"]]
    assert end((-0.5, 0.5), both) == [["OQh,Jh", "D0"], ["OAs,Kd", "D0"]]
    assert end((0.5, -0.5), both) == [["OQh,Jh", "D1"], ["OAs,Kd", "D-1"]]


@pytest.mark.parametrize(
    ("sizes", "line", "action"),
    [
        ([], "F", 0),
        ([], "C", 1),
        ([1], "K", 1),
        ([], "R250", 250),
        ([300, 1], "R150", 450),
        ([300, 1, 450], "R600", 900),
        ([300, 1, 450], "R5", 305),  # not legal, which the table finds
    ],
)
def test_an_answer_is_read(sizes, line, action):
    assert read_answer(line, replay_betting(HUNL, sizes)) == action


@pytest.mark.parametrize(
    ("line", "kind"),
    [(line, "protocol") for line in ("", "A20", "f", "call", "KK", "C 3", "K K", "D0", "\u0660")]
    + [(line, "illegal") for line in ("K", "R", "R0", "R1", "R-5", "R2.5", "R 300", "R1234567890", "R\u0663")],
)
def test_what_is_no_answer_of_the_small_blind(line, kind):
    with pytest.raises(AgentFault) as fault:
        read_answer(line, replay_betting(HUNL, []))
    assert fault.value.kind == kind


def test_an_unknown_clause_is_said_to_belong_to_a_variant():
    with pytest.raises(AgentFault, match="variants with other clauses are not played; got 'A20'"):
        read_answer("A20", replay_betting(HUNL, []))
    with pytest.raises(AgentFault, match="C is a call where none is possible"):
        read_answer("C", replay_betting(HUNL, [1]))
