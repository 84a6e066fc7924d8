import io
import re

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import play_hand
from plurispiel.tournaments.play.hand_review import HandReview
from plurispiel.tournaments.play.screen import Screen


def review_of(rules, deck, names=("call", "random")):
    agents = [make_agent(name) for name in names]
    hand = play_hand(rules, agents, np.array(deck, dtype=np.uint8), [np.random.default_rng(3) for _ in agents])
    aivat = Aivat(rules)
    aivat.scores(hand, [Agent(), agents[1]])
    return HandReview(hand, ["you", *names[1:]], aivat.announced), hand


def shown(call):
    out = io.StringIO()
    call(Screen(out, io.StringIO(), 80))
    return out.getvalue()


def test_the_end_shows_all_cards_payoffs_and_decisions():
    review, hand = review_of(LEDUC, [9, 0, 8])
    text = shown(lambda screen: review.show(screen, 7))
    assert "hand 7 is over: " in text and "4d" in text and "2c" in text
    assert [decision.who for decision in review.decisions] == [
        ["BB you", "BTN random"][action.seat] for action in hand.actions
    ]
    assert "1 preflop BB you: check\n" in text and "2 preflop BTN random: " in text
    assert " (50%, 50%)\n" in text


def test_grids_on_request():
    review, _ = review_of(HUNL, [51, 50, 3, 7, *range(10, 15)], ("raise", "tag"))
    silent, told = (
        [(one.grid is None) == empty for one in review.decisions].index(True) + 1 for empty in (True, False)
    )
    refused = shown(lambda screen: review.show_grid(screen, silent))
    assert re.search(rf"this player tells no strategy; g shows decision (\d+, )*{told}\b", refused)
    text = shown(lambda screen: review.show_grid(screen, told))
    assert [line[0] for line in text.splitlines()[-15:-2]] == list("AKQJT98765432")
    for number in (0, 99):
        assert f"got {number}" in shown(lambda screen, number=number: review.show_grid(screen, number))


def test_hands_at_a_showdown_have_names():
    review, _ = review_of(HUNL, [51, 50, 3, 7, 49, 0, 4, 9, 22], ("call", "call"))
    text = shown(lambda screen: review.show(screen, 1))
    assert re.search(r"BB you +As Ah +\+100  three of a kind\n", text) and re.search(
        r"BTN call +2s 3s +-100  two pair\n", text
    )
