"""The situation in words: right, whole, and the same whatever the others hold."""

import re

import numpy as np
import pytest

from plurispiel.abstraction.holdem.cards import card_text, cards_text, parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.agents.base import Agent
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.contestants.situation import situation_text


class Teller(RandomAgent):
    """Plays at random, and keeps the text of every decision."""

    def __init__(self):
        self.told = []

    def act(self, view):
        self.told.append((view, situation_text(view.public, view.seat, view.hole_cards)))
        return super().act(view)


class Repeater(Agent):
    """Plays given actions."""

    def __init__(self, actions):
        self._actions = list(actions)

    def act(self, view):
        return self._actions.pop(0)


def test_a_hand_in_words():
    deck = np.array(parse_cards("QhJhAsKdTd9d6h2c2d"), dtype=np.uint8)
    teller = Teller()
    teller.act = lambda view: (
        teller.told.append((view, situation_text(view.public, view.seat, view.hole_cards))),
        {0: 300, 1: 1, 2: 20_000}.get(view.public.street, 1),
    )[1]
    play_hand(HUNL, [Repeater([1, 450, 900, 1]), teller], deck, [np.random.default_rng(0)] * 2)
    assert teller.told[0][1] == (
        "You are seat 1 (BTN) of 2 players in no-limit poker. Blinds: seat 0 (BB) 100, seat 1 (BTN) 50.\n"
        "Your hole cards: As Kd.\n"
        "Street: preflop. Board: no cards yet.\n"
        "Nobody has acted yet.\n"
        "Pot: 150. Chips: seat 0 (BB) 100 in, 19900 left; you 50 in, 19950 left.\n"
        "To call: 50, which is 25 % of the pot after your call.\n"
        "Legal actions: fold (f); call 50 (c); raise to any total from 200 to 20000 over the whole hand "
        "(r200 to r20000)."
    )
    assert teller.told[2][1] == (
        "You are seat 1 (BTN) of 2 players in no-limit poker. Blinds: seat 0 (BB) 100, seat 1 (BTN) 50.\n"
        "Your hole cards: As Kd.\n"
        "Street: turn. Board: Td 9d 6h 2c.\n"
        "Preflop: you raise to 300 (250 more), seat 0 (BB) calls 200.\n"
        "Flop: seat 0 (BB) bets to 450 (150 more), you call 150.\n"
        "Turn: seat 0 (BB) bets to 900 (450 more).\n"
        "Pot: 1350. Chips: seat 0 (BB) 900 in, 19100 left; you 450 in, 19550 left.\n"
        "To call: 450, which is 25 % of the pot after your call.\n"
        "Legal actions: fold (f); call 450 (c); raise to any total from 1350 to 20000 over the whole hand "
        "(r1350 to r20000)."
    )


@pytest.mark.parametrize("rules", [SIXMAX, HUNL, HULH, LEDUC, KUHN], ids=["six", "hunl", "hulh", "leduc", "kuhn"])
def test_hidden_cards_change_nothing(rules):
    """The same actions with other hidden cards give the same texts, which name the seat's own cards and the board."""
    rng = np.random.default_rng(7)
    size, seats = rules.num_hole_cards, rules.num_seats
    compared = 0
    for number in range(12):
        seat = number % seats
        deck = deal_deck(rules, rng)
        tellers = [Teller() for _ in range(seats)]
        rngs = [np.random.default_rng((number, each)) for each in range(seats)]
        hand = play_hand(rules, tellers, deck, rngs)
        own = slice(seat * size, (seat + 1) * size)
        board = deck[seats * size :]
        hidden = np.setdiff1d(rules.cards, [*deck[own], *board])
        other = deck.copy()
        places = [k for k in range(seats * size) if not own.start <= k < own.stop]
        other[places] = rng.permutation(hidden)[: len(places)]
        again = [Repeater(a.action for a in hand.actions if a.seat == each) for each in range(seats)]
        again[seat] = Teller()
        repeated = play_hand(rules, again, other, [np.random.default_rng((number, each)) for each in range(seats)])
        assert repeated.actions == hand.actions
        texts = [text for _, text in tellers[seat].told]
        assert texts == [text for _, text in again[seat].told]
        for view, text in tellers[seat].told:
            known = {card_text(card) for card in (*view.hole_cards, *view.public.board)}
            assert set(re.findall(r"\b[2-9TJQKA][cdhs]\b", text)) == known
            for chips in (view.public.pot, *view.public.contributions, view.public.to_call):
                assert chips == 0 or re.search(rf"\b{chips}\b", text)
            for line in text.splitlines():
                assert line.endswith(".") and "  " not in line
            assert cards_text(view.hole_cards[:1]) in text
            compared += 1
    assert compared >= 12
