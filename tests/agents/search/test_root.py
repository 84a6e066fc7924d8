"""The game of a search: its two players have the actions that they have at the table."""

import dataclasses
import itertools

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.search.beliefs import initial_beliefs
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.root import Root, can_search_street

BOARD = parse_cards("QsJh2h7c3d")


def two_of(rules, street):
    """The game of a search and its table, where all but two have called before the flop and folded on it."""
    table = BettingState(rules)
    for answers in ([CALL] * (rules.num_seats - 1), [FOLD] * (rules.num_seats - 2)):
        table.apply(table.menu[0])
        for action in answers:
            table.apply(action)
    while table.street < street:
        table.apply(CALL)
    game = Root(table, BOARD[: rules.board_size(street)], initial_beliefs(rules)).game
    assert game.dead_chips > 0
    return game, table


@pytest.mark.parametrize("menu", ["fcpa", "fchpa"])
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("street", [2, 3])
def test_two_who_are_left_are_offered_the_raises_of_the_table(menu, seats, street):
    game, table = two_of(dataclasses.replace(no_limit_holdem(seats), betting_abstraction=menu), street)
    offer, checked = game.menu(SearchConfig(), {}), 0
    for raises in (offer, None):
        for found in street_betting(game.state, menu=raises, dead_chips=game.dead_chips):
            for decision in found.decisions:
                state = table.copy()
                for _, action, _ in decision.actions:
                    state.apply(action)
                checked += len(state.menu) > 1
                assert tuple(action for action in decision.children if action > CALL) == state.menu
    assert checked >= 4


@pytest.mark.parametrize("actions", [(CALL,) * 10, (FOLD, *(CALL,) * 9)], ids=["ten", "nine"])
def test_ten_players_are_too_many(actions):
    state = BettingState(no_limit_holdem(10))
    for action in actions:
        state.apply(action)
    assert state.street == 1 and can_search_street(state) == (FOLD in actions)


def test_values_equal_the_payoffs_of_the_table():
    """Over all pairs of hands, without bets: better, worse and equal ones."""
    rules = no_limit_holdem(4).with_menu("fcpa")
    game, table = two_of(rules, 3)
    ranges = np.stack([parse_range("AQ,KJ,22"), parse_range("AQ,QJ,T9")])
    solver = VectorSolver(Subgame(game.state, BOARD, ranges, lambda rules, state: (), game.dead_chips))
    solver.run(2)
    seats = [seat for seat, folded in enumerate(table.folded) if not folded]
    for _ in seats:
        table.apply(CALL)
    payoffs, rest = [], [card for card in rules.cards.tolist() if card not in BOARD]
    for pair in itertools.product(*(rules.combos[row > 0.0].tolist() for row in ranges)):
        held = {*pair[0], *pair[1]}
        if len(held) < 4 or not held <= {*rest}:
            continue
        hands = iter(card for card in rest if card not in held)
        deck = [
            card
            for seat in range(rules.num_seats)
            for card in (pair[seats.index(seat)] if seat in seats else (next(hands), next(hands)))
        ]
        payoffs.append(table.payoffs(np.array([*deck, *BOARD]))[seats])
    found = solver.evaluate()
    np.testing.assert_allclose(found.values, np.mean(payoffs, axis=0), rtol=1e-6)
    assert found.values.sum() == pytest.approx(game.dead_chips)
