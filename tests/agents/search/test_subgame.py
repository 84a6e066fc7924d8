"""The game of a search: what its two players may do is what they may do at the table."""

import dataclasses

import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.search.beliefs import initial_beliefs
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.subgame import Root

BOARD = parse_cards("QsJh2h7c3d")


@pytest.mark.parametrize("menu", ["fcpa", "fchpa"])
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("street", [2, 3])
def test_two_who_are_left_are_offered_the_raises_of_the_table(menu, seats, street):
    rules = dataclasses.replace(no_limit_holdem(seats), betting_abstraction=menu)
    table = BettingState(rules)
    for answers in ([CALL] * (seats - 1), [FOLD] * (seats - 2)):
        table.apply(table.menu[0])
        for action in answers:
            table.apply(action)
    while table.street < street:
        table.apply(CALL)
    game = Root(table, BOARD[: rules.board_size(street)], initial_beliefs(rules)).game
    assert game.dead_chips > 0
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
