"""The raises on offer in a search: sizes left out where a street grows too large, and play there."""

import dataclasses
import os

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import StreetTooLarge, street_betting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HoldemRules, no_limit_holdem
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import single_buckets
from plurispiel.agents.search import street_tree
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.beliefs import initial_beliefs
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.root import TWO_SEATS_NODES, TWO_SEATS_NODES_A_SECOND, Root
from plurispiel.agents.search.street_tree import MAX_NODES, SearchBetting

BOARD = parse_cards("QsJh2h7c3d")
FEW = SearchConfig(iterations=1, threads=1, continuations=2, cards="blueprint", warm_start=0.0)
MANY_SIZES = SearchConfig(street_sizes=("0.3p 0.5p 1p 2p",) * 3, later_sizes=("0.5p 1p",) * 3)
NONE = GameMenu((StreetMenu(("",)),))
LIMIT = HoldemRules(
    blinds=(5, 10, 0, 0, 0),
    stacks=None,
    first_seats=(2, 0, 0, 0),
    board_cards=(0, 3, 1, 1),
    betting="limit",
    raise_sizes=(10, 10, 20, 20),
    max_raises=(4, 4, 4, 4),
    betting_abstraction="fcpa",
)
needs_compiler = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def root_after(rules, actions):
    state = BettingState(rules)
    for action in actions:
        state.apply(action)
    return Root(state, BOARD[: rules.board_size(state.street)], initial_beliefs(rules))


def street_of(root, menu):
    return SearchBetting(root.state, menu, None, (), max_raises=root.game.max_raises)


@pytest.mark.parametrize(
    "seats, sizes, kept",
    [
        (6, ("0.75p allin", "allin"), ("0.75p allin", "allin")),
        (8, ("0.75p allin", "allin"), ("0.75p allin",)),
        (6, ("0.5p 1p 2p allin", "1p allin", "allin"), ("0.5p 1p 2p allin",)),
        (9, ("0.75p allin", "allin"), ("0.75p",)),
    ],
)
def test_the_last_sizes_go_where_a_street_is_too_large(seats, sizes, kept):
    rules, config = no_limit_holdem(seats), SearchConfig(multiway_sizes=sizes)
    root = root_after(rules, (CALL,) * 3 * seats)
    street = street_of(root, root.game.menu(config, {}))
    expected = street_of(root, SearchConfig(multiway_sizes=kept).multiway_menu(seats).raises)
    assert street.actions == expected.actions and len(street.paths) < MAX_NODES
    if kept != sizes:
        with pytest.raises(StreetTooLarge, match="more than 7,000 nodes"):
            street_of(root, config.multiway_menu(seats).raises)


@pytest.mark.parametrize(
    "rules, config, rows",
    [
        (no_limit_holdem(2).with_menu("fcpa"), SearchConfig(), None),
        (no_limit_holdem(2).with_menu("fchpa"), SearchConfig(), (2, 1, 1)),
        (dataclasses.replace(HULH, max_raises=None), SearchConfig(iterations=1), (3, 2, 2)),
        (
            no_limit_holdem(2),
            SearchConfig(street_sizes=("0.3p 0.5p 1p 2p",) * 3, later_sizes=("0.5p 1p",) * 3),
            (2, 2, 1),
        ),
    ],
    ids=["fcpa", "fchpa", "limit without limits", "many sizes"],
)
def test_two_players_have_as_many_raises_as_there_is_time_for(rules, config, rows):
    """Sizes after the most raises are left out first, and on no street all of them."""
    root = root_after(rules, (CALL, CALL))
    streets = street_betting(root.game.state, menu=root.game.menu(config, {}))
    most = TWO_SEATS_NODES if config.iterations else TWO_SEATS_NODES_A_SECOND
    assert max(len(street.nodes.kind) for street in streets) <= most
    for number, street in enumerate(streets):
        deepest = 0
        for decision in street.decisions:
            num_raises = int(decision.state[betting_layout.NUM_RAISES])
            deepest = max(deepest, num_raises + any(action > CALL for action in decision.children))
        assert deepest == rows[number] if rows else deepest >= 4


def test_a_root_after_raises_is_measured_as_it_is_solved():
    """Two raises were made on the flop, and the street ends after the next."""
    rules = no_limit_holdem(7)
    root = root_after(rules, (CALL,) * 7 + (350, 2100))
    street = street_of(root, root.game.menu(SearchConfig(multiway_sizes=("0.5p 1p allin",) * 3), {}))
    assert root.game.max_raises == 3 and len(street.paths) <= MAX_NODES


def test_the_last_sizes_go_where_the_tables_are_too_large(monkeypatch):
    rules, config = no_limit_holdem(4), SearchConfig()
    before = (CALL,) * 4
    root = root_after(rules, before)
    whole = street_of(root, root.game.menu(config, {})).max_bytes(config.continuations)
    monkeypatch.setattr(street_tree, "MAX_BYTES", whole - 1)
    root = root_after(rules, before)
    assert street_of(root, root.game.menu(config, {})).max_bytes(config.continuations) < whole


@pytest.mark.parametrize("rules", [LIMIT, no_limit_holdem(4).with_menu("fchpa")], ids=["limit", "fchpa"])
def test_games_of_few_raises_offer_them_as_often_as_the_settings_do(rules):
    root = root_after(rules, (CALL,) * 3 * rules.num_seats)
    state = root.state.copy()
    raises = root.game.menu(SearchConfig(), {})
    for num_raises in range(3):
        offered = raises(rules, state.array.tolist())
        assert offered == (state.menu if num_raises < 2 else ())
        state.apply(state.menu[0])
    assert len(street_of(root, raises).paths) <= MAX_NODES


@needs_compiler
@pytest.mark.parametrize("max_nodes", [40, 200])
def test_raises_off_a_small_menu_are_answered(max_nodes, monkeypatch):
    """Hands with many raises of any size; every decision has a strategy."""
    monkeypatch.setattr(street_tree, "MAX_NODES", max_nodes)
    rules = no_limit_holdem(4, 3000)
    agent = SearchAgent(BlueprintAgent(random_blueprint(rules, NONE, cards=single_buckets(rules))), FEW)
    rng, num_frozen, num_raises = np.random.default_rng(5), 0, 0
    for number in range(8):
        agent.restart(rules, number % 4, np.random.default_rng(1))
        told, state = (), BettingState(rules)
        while not state.is_over:
            public = PublicState(rules, state.array.tolist(), BOARD[: rules.board_size(state.street)], told)
            strategy = agent.range_strategy(public)
            np.testing.assert_allclose(strategy.probabilities.sum(axis=1), 1.0, rtol=1e-5)
            raises = [a for a in strategy.actions.tolist() if a > CALL]
            if state.street and state.max_raise and rng.random() < 0.4:
                off_tree = int(rng.integers(state.min_raise, min(state.max_raise, 2 * state.min_raise) + 1))
                action = off_tree if rng.random() < 0.5 or not raises else raises[0]
                num_raises += 1
            else:
                action = FOLD if state.can_fold and rng.random() < 0.2 else CALL
            told += (Action(state.actor, action, state.street),)
            state.apply(action)
        num_frozen += sum(len(solution.frozen) for solution in agent.searches)
    assert num_raises > 20 and num_frozen > 5
