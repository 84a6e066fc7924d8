"""The person's seat: what is shown before the end of a hand is public, or the person's own."""

import io
import re

import numpy as np
import pytest
from played_table import RandomKeys, play_table

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.formats.files import read_hands
from plurispiel.tournaments.play.adviser import HintAdviser
from plurispiel.tournaments.play.person import Person
from plurispiel.tournaments.play.screen import Left, Screen

CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")


@pytest.mark.parametrize(
    ("rules", "agents", "hands"),
    [
        (HUNL, ["random"], 60),
        (SIXMAX, ["random", "call", "tag"], 30),
        (no_limit_holdem(3), ["raise", "random"], 30),
        (LEDUC, ["random"], 60),
        (KUHN, ["random"], 60),
    ],
)
def test_no_card_of_another_seat_is_shown_before_the_end(tmp_path, rules, agents, hands):
    check_what_is_shown(tmp_path, rules, agents, hands)


@pytest.mark.slow
@pytest.mark.parametrize("seats", range(2, 7))
def test_no_card_of_another_seat_is_shown_in_2_000_hands(tmp_path, seats):
    check_what_is_shown(tmp_path, no_limit_holdem(seats), ["random"], 400)


def check_what_is_shown(tmp_path, rules, agents, hands):
    """Compare the text before the end of each hand with the cards in the file.

    The text has no card of another seat, and no board card before its street.
    """
    folder = tmp_path / "table"
    is_whole, text = play_table(folder, rules, agents, RandomKeys(5), hands=hands, hint=agents[0])
    assert is_whole
    histories = list(read_hands(next(folder.glob("hands.[pl]*"))))
    shown = re.split(r"^hand \d+$", text, flags=re.MULTILINE)[1:]
    assert len(histories) == len(shown) == hands
    num_own = 0
    for history, part in zip(histories, shown, strict=True):
        before = part.partition(" is over: ")[0].rpartition("\n")[0]
        own = [card_text(card) for card in history.hole_cards[history.names.index("you")]]
        board = [card_text(card) for card in history.board]
        if rules in (LEDUC, KUHN):  # whose logs name other cards of the same order
            own = CARD.findall(part.partition("\n")[2].partition("\n")[0])
            board = CARD.findall(re.search(r"is over: .*", part)[0])
        streets = re.split(r"^-- ", before, flags=re.MULTILINE)
        for street, piece in enumerate(streets):
            assert {*CARD.findall(piece)} <= {*own, *board[: rules.board_size(street)]}
        num_own += set(own) <= set(CARD.findall(before))
    assert num_own == hands  # the test does see cards


@pytest.mark.parametrize("hint", [None, "equity"])
def test_the_text_does_not_depend_on_what_is_hidden(hint):
    """The same hand with other hidden cards shows the same text, hints included."""

    def shown(deck):
        out = io.StringIO()
        adviser = HintAdviser(make_agent(hint), hint) if hint else None
        person = Person(Screen(out, RandomKeys(int(deck[0])), 80), adviser)
        person.sit(["you", "a", "b"], np.random.default_rng(4))
        agents = [person, make_agent("call"), make_agent("random")]
        hand = play_hand(rules, agents, deck, [np.random.default_rng(seat) for seat in range(3)])
        assert not hand.faults
        return out.getvalue(), hand.actions

    rules = no_limit_holdem(3)
    rng = np.random.default_rng(7)
    for _ in range(15):
        deck = deal_deck(rules, rng)
        other = deck.copy()
        other[2:6] = deck[[4, 5, 3, 2]]
        text, actions = shown(deck)
        last = max(action.street for action in actions)
        seen = 6 + rules.board_size(last)
        rest = np.setdiff1d(rules.cards, deck[:seen])
        other[seen:] = rng.permutation(rest)[: len(deck) - seen]
        assert shown(other) == (text, actions)


def test_the_end_of_the_input_ends_the_hand_and_is_no_fault():
    person = Person(Screen(io.StringIO(), io.StringIO("zz\n")))
    person.sit(["you", "call"], np.random.default_rng(0))
    deck = deal_deck(KUHN, np.random.default_rng(0))
    with pytest.raises(Left):
        play_hand(KUHN, [person, make_agent("call")], deck, [np.random.default_rng(seat) for seat in range(2)])


def test_who_quits_folds_or_checks_to_the_end(tmp_path):
    is_whole, text = play_table(tmp_path / "table", HUNL, ["call"], ["q"])
    assert is_whole and "BTN you: fold" in text and "hand 1 is over: all others folded" in text
    assert text.count("your action") == 1 and "next hand?" not in text


def test_help_table_and_keys_are_shown_on_request(tmp_path):
    _, text = play_table(tmp_path / "table", HUNL, ["call"], ["?", "t", "", "zz", "q"])
    assert text.count("pot 150") == 2 and text.count("c call 50") == 3
    assert "rN bet or raise to N chips on this street" in text and "'zz' is no key" in text
