"""A table as the person's seat sees it during a hand, and the whole hand after its end.

A `Sight` gets the messages of `play_hand` to the person's seat, and knows no other cards. So its view cannot hold a
hidden card.
"""

from typing import Any

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.base import Action, Board, Deal, Event, PublicState
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.formats.bets import street_bet_of_total
from plurispiel.tournaments.play.dealing import Scored, Seating
from plurispiel.tournaments.play.hand_review import made_words
from plurispiel.tournaments.play.prompt import legal_keys, raise_marks, raise_range
from plurispiel.tournaments.play.table_view import Follower, street_start
from plurispiel.tournaments.run.hand_story import cell_names, cells_across, hand_story, judged
from plurispiel.tournaments.run.scores import FULL
from plurispiel.tournaments.run.witness import Told


class Sight:
    """The knowledge of the person's seat about a hand.

    Parameters
    ----------
    rules : HoldemRules
        The game.
    seating : Seating
        The names around the table.
    """

    def __init__(self, rules: HoldemRules, seating: Seating):
        self._rules = rules
        self._seating = seating
        self._follower = Follower(rules)
        self._cards: list[str] = []
        self._board: list[str] = []
        self._actions: list[dict[str, Any]] = []
        self._street = 0

    def observe(self, event: Event) -> None:
        """Take in an event that the person's seat is told."""
        match event:
            case Deal(hole_cards):
                self._cards = list(map(card_text, hole_cards))
            case Board(cards, street):
                self._street = street
                self._follower.begin_street(street)
                self._board += map(card_text, cards)
            case Action(seat, action, street):
                self._street = street
                self._follower.begin_street(street)
                words = self._follower.take(action)
                self._actions.append({"seat": seat, "street": street, "text": words})

    def view(self) -> dict[str, Any]:
        """Return the table as plain values.

        Returns
        -------
        dict
            ``hand``, ``you`` (the person's seat), ``names`` and ``positions`` of the seats, ``cards`` (texts by seat,
            None for hidden cards), ``board``, ``bets`` (chips of each seat on this street), ``pot`` (the contributions
            of all seats, ``bets`` included), ``stacks`` (chips behind; None in limit games), ``folded``, ``street``,
            ``turn`` (the seat to act or None) and ``actions``.
        """
        state, rules = self._follower.state, self._rules
        paid = state.contributions
        cards: list[list[str] | None] = [None] * rules.num_seats
        cards[self._seating.seat] = self._cards
        return {
            "hand": self._seating.number,
            "you": self._seating.seat,
            "names": list(map(printable, self._seating.names)),
            "positions": list(seat_positions(rules)),
            "cards": cards,
            "board": list(self._board),
            "bets": [now - before for now, before in zip(paid, self._follower.before, strict=True)],
            "pot": sum(paid),
            "stacks": None if rules.stacks is None else [s - p for s, p in zip(rules.stacks, paid, strict=True)],
            "folded": list(state.folded),
            "street": self._street,
            "turn": state.actor if state.actor >= 0 else None,
            "actions": list(self._actions),
        }


def table_facts(rules: HoldemRules, title: str, values: str) -> dict[str, Any]:
    """Return the properties of a table that no hand changes, as plain values."""
    return {
        "title": title,
        "bb": rules.big_blind,
        "streets": [STREETS[street].capitalize() for street in range(rules.num_streets)],
        "board_size": rules.num_board_cards,
        "hole_cards": rules.num_hole_cards,
        "cells": cell_names(rules),
        "across": cells_across(rules),
        "values": values,
    }


def legal_moves(public: PublicState) -> dict[str, Any]:
    """Return the legal actions as plain values.

    Returns
    -------
    dict
        ``fold`` (whether it is legal), ``call`` (chips to add; 0 is a check), ``call_words``, ``bet`` (whether a raise
        would be the street's first bet), ``raise`` (smallest and largest amount in chips of the street, or None),
        ``menu`` (the legal amounts if not all amounts between are legal, or None) and ``marks`` (words and amounts of
        usual raises).
    """
    before = street_start(public)
    amounts = raise_range(public)
    menu = None
    if public.menu:
        menu = [street_bet_of_total(total, before[public.actor]) for total in public.menu]
        amounts = menu[0], menu[-1]
    words = {key.key: key.words for key in legal_keys(public)}
    return {
        "fold": public.can_fold,
        "call": public.to_call,
        "call_words": words["c"],
        "bet": max(public.contributions) == max(before),
        "raise": None if amounts is None else list(amounts),
        "menu": menu,
        "marks": [[words, amount] for words, amount in raise_marks(public)],
    }


def hand_end(hand: Hand, seating: Seating) -> dict[str, Any]:
    """Return the end of a hand as plain values: the cards of all seats, the board dealt, payoffs and made hands."""
    rules, cards = hand.rules, list(map(card_text, hand.deck.tolist()))
    size, seats = rules.num_hole_cards, range(rules.num_seats)
    last = max((action.street for action in hand.actions), default=0)
    dealt = rules.num_board_cards if hand.showdown else rules.board_size(last)
    return {
        "showdown": hand.showdown,
        "cards": [cards[seat * size : (seat + 1) * size] for seat in seats],
        "board": cards[rules.num_seats * size :][:dealt],
        "payoffs": list(hand.payoffs),
        "made": [made_words(hand, seat) for seat in seats],
    }


def hand_data(hand: Hand, seating: Seating, scored: Scored, values: str, *, shows_strategies: bool) -> dict[str, Any]:
    """Return a finished hand for the hand viewer (`report.viewer.js`), with its AIVAT terms."""
    rules, seats = hand.rules, range(hand.rules.num_seats)
    announced = scored.announced if shows_strategies else [None] * rules.num_seats
    story = judged(hand_story(Told(hand, seats, scored.scores, announced)), [FULL] * rules.num_seats)
    return {
        "names": {"0": list(map(printable, seating.names))},
        "cells": {"0": cell_names(rules)},
        "across": {"0": cells_across(rules)},
        "values": {"0": f"The values of AIVAT: {values}."},
        "opening": [0, len(story["steps"]) - 1],
        "hands": [{"name": f"hand {seating.number}", "run": "0", "remark": "", **story}],
    }
