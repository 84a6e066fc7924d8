"""Bet-size menus: the grammar, and the chips that sizes mean."""

import dataclasses

import pytest

from plurispiel.abstraction.actions.menu import BetMenu, BetSize, parse_sizes, raise_totals
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX

POT, ALL_IN = BetSize("pot", 1.0), BetSize("all-in")


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("0.5p 1p allin", (BetSize("pot", 0.5), POT, ALL_IN)),
        ("45%,100%", (BetSize("pot", 0.45), POT)),
        ("2.5bb", (BetSize("big blind", 2.5),)),
        ("  AllIn ", (ALL_IN,)),
        (".75P", (BetSize("pot", 0.75),)),
        ("", ()),
    ],
)
def test_grammar(text, sizes):
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["pot", "50", "-1p", "0p", "1p;2p", "2x", "5000p", "1e9%", "nanp"])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="bet sizes are written like"):
        parse_sizes(text)


def totals(text, *actions, rules=HUNL, **options):
    state = BettingState(rules)
    for action in actions:
        state.apply(action)
    return raise_totals(parse_sizes(text), rules, state.array.tolist(), **options)


def test_shares_are_of_the_pot_after_calling():
    # Raise to 300 before the flop, called: 600 in the pot. A bet of 300 makes 900, calling 1,200.
    assert totals("0.5p 1p allin", 300, CALL) == (600, 900, 20_000)
    assert totals("50% 1p", 300, CALL, 600) == (600 + 600, 600 + 1200)
    assert totals("1p", 300, CALL, dead_chips=101) == (300 + 701,)
    assert totals("1p", rules=SIXMAX) == (350,)
    assert totals("2.5bb 3bb") == (250, 300)


def test_sizes_fit_the_rules():
    assert totals("1% 2%", 300, CALL) == (400,)  # both become the smallest bet
    assert totals("30p 29p 28p", 300, CALL) == (300 + 16_800, 300 + 17_400, 20_000)  # 90 % of the stack is all-in
    assert totals("30p 29p 28p", 300, CALL, all_in_share=1.1) == (17_100, 17_700, 18_300)
    assert totals("40p", 300, CALL, all_in_share=1.1) == (20_000,)
    assert totals("33p", 300, CALL, all_in_share=1.1) == (20_000,)  # 20,100 would be more than there is
    short = dataclasses.replace(HUNL, stacks=(450, 450))
    assert totals("1p", 300, CALL, rules=short) == (450,)
    assert totals("1p allin", 300, CALL, 450, rules=short) == ()


def test_menus_by_street_seat_and_raise():
    first, later = parse_sizes("0.5p"), parse_sizes("1p allin")
    menu = BetMenu((((first,),), ((first, later), (later,))))
    state = BettingState(HUNL)
    assert menu.raises(HUNL, state.array.tolist()) == (200,)
    for action in (300, CALL):
        state.apply(action)
    assert menu.raises(HUNL, state.array.tolist()) == (600,)
    state.apply(600)
    assert menu.raises(HUNL, state.array.tolist()) == (1_800, 20_000)  # seat 1
    state.apply(1_800)
    assert menu.raises(HUNL, state.array.tolist()) == (5_400, 20_000)  # seat 0, its second raise
    assert menu.sizes_at(3, 5, 9) == later


@pytest.mark.parametrize("sizes", [(), ((),), (((),),)])
def test_a_menu_has_an_entry_for_everything(sizes):
    with pytest.raises(ValueError, match="needs at least one street"):
        BetMenu(sizes)
