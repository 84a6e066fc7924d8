"""Nested search: where segments begin before the flop, frozen decisions, and beliefs after searches."""

import dataclasses
import functools
import itertools
import os
import time

import numpy as np
import pytest
import table
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string
from plurispiel.abstraction.holdem.rules import HUNL, PRESETS, SIXMAX, UNLIMITED_RAISES, HoldemRules, no_limit_holdem
from plurispiel.agents.base import Action, Deal, PublicState, View
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.openspiel import OpenSpielBot
from plurispiel.agents.search import multiway, nested
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.beliefs import initial_beliefs
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.multiway import DEALS, MultiwaySolver, MultiwaySubgame
from plurispiel.agents.search.solution import believed_and_played

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

FEW = SearchConfig(iterations=2, threads=1, cards="blueprint", purge=0.0, continuations=2, warm_start=0.0)
BOARD = parse_cards("QsJh2h7c3d")
MENU = GameMenu((StreetMenu(("0.5p 1p", "1p"), multiway=("1p", "1p")), StreetMenu(("1p",), multiway=("",))))

SMALL = HoldemRules(
    blinds=(2, 4, 0),
    stacks=(90, 100, 110),
    first_seats=(2, 0),
    board_cards=(0, 1),
    num_suits=2,
    num_ranks=3,
    num_hole_cards=1,
)
"""Three players, one card each of a deck of six, any bets."""


@functools.cache
def blueprint(rules):
    cards = lossless_buckets(rules) if rules is SMALL else single_buckets(rules)
    return random_blueprint(rules, MENU, cards=cards)


def agent_at(rules, config=FEW, *, seat=0, found=None):
    return table.agent_at(SearchAgent(BlueprintAgent(found or blueprint(rules)), config), rules, seat)


def public_after(rules, actions, board=BOARD):
    return table.public_after(rules, actions, board)


def whole_strategy(agent, public):
    return agent.strategy(public, np.arange(public.rules.num_combos))


@pytest.mark.parametrize(
    "game, actions, is_searched",
    [
        ("HUNL", (), False),
        ("HUNL", (300,), False),  # on the menu: 200 and 300
        ("HUNL", (400,), False),  # a big blind away
        ("HUNL", (401,), True),
        ("HUNL", (300, 900), False),
        ("HUNL", (300, 1001), True),
        ("HUNL", (CALL, 400), False),
        ("HUNL", (CALL, 402), True),
        ("SIXMAX", (FOLD, FOLD, 350), False),
        ("SIXMAX", (FOLD, FOLD, 451), True),  # four are left
        ("SIXMAX", (FOLD, 451), False),  # five are
        ("SIXMAX", (451, FOLD, FOLD), False),  # and were when it came
        ("SIXMAX", (451, FOLD, FOLD, 3000), True),
        ("SIXMAX", (FOLD, FOLD, FOLD, FOLD, 451), True),
        ("SIXMAX", (FOLD, FOLD, 350, 1200, 2050), True),  # where the tree has no raise any more
    ],
    ids=str,
)
def test_search_begins_after_an_off_tree_raise(game, actions, is_searched):
    rules = PRESETS[game]
    public = public_after(rules, actions)
    agent = agent_at(rules, seat=public.actor)
    found, planned = agent.range_strategy(public), agent.blueprint.range_strategy(public)
    assert len(agent.searches) == is_searched == agent.counts["searches"]
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    assert all(public.is_legal(action) for action in found.actions.tolist())
    text = agent.explain(public)
    if is_searched:
        (solution,) = agent.searches
        assert (
            solution.root.state.array.tolist() == public.betting().array.tolist()
            and solution.root.live_seats == tuple(seat for seat, folded in enumerate(public.folded) if not folded)
        )
        assert f"searched from the raise to {actions[-1]} on the preflop, pot {public.pot}" in text
    else:
        np.testing.assert_array_equal(found.probabilities, planned.probabilities)
        assert "the blueprint plays before the flop" in text


@pytest.mark.parametrize("raised, is_searched", [(2000, False), (1950, True)])
def test_two_need_chips(raised, is_searched):
    """All-in against one, and not quite."""
    rules = dataclasses.replace(HUNL, stacks=(20_000, 2000))
    agent = agent_at(rules, found=blueprint(HUNL))
    agent.range_strategy(public_after(rules, (raised,)))
    assert len(agent.searches) == is_searched


def test_without_a_bucket_table_the_blueprint_plays():
    agent = agent_at(HUNL, found=random_blueprint(HUNL))
    public = public_after(HUNL, (1000,))
    planned = agent.blueprint.range_strategy(public)
    np.testing.assert_array_equal(agent.range_strategy(public).probabilities, planned.probabilities)
    assert not agent.searches


@pytest.mark.parametrize("rules, history", [(HUNL, (300, 1001)), (SIXMAX, (FOLD, FOLD, 451))], ids=["two", "four"])
def test_a_search_before_the_flop_plays_its_solver_s_strategy(rules, history):
    """Equal to a solver made here: the betting from the raise to the flop, with the beliefs at the raise."""
    agent = agent_at(rules)
    root = public_after(rules, history)
    beliefs = agent.beliefs(root)
    beliefs[list(np.flatnonzero(root.folded))] = 0.0
    state, raises = root.betting(), root.num_raises
    menu = dataclasses.replace(FEW, preflop_sizes=("",) * raises + FEW.preflop_sizes).preflop_menu(0).raises
    after = Continuations(blueprint(rules), rules, FEW.continuations)
    solver = MultiwaySolver(MultiwaySubgame(state, (), beliefs, menu, history, UNLIMITED_RAISES), after)
    solver.run(FEW.iterations * DEALS)
    assert len(solver.paths) > 3
    played = {}
    for path in solver.paths:
        at = public_after(rules, (*history, *path))
        assert at.street == 0 and at.actor == solver.seat(path)
        actions, average, _ = solver.strategies(path)
        found = agent.range_strategy(at)
        assert tuple(found.actions.tolist()) == actions
        rows = np.ones(rules.num_combos, bool)
        for number, action in enumerate(path):
            if solver.seat(path[:number]) == at.actor:  # who has never done that plays the blueprint
                known, chances = played[path[:number]]
                rows &= chances[:, known.index(action)] > 0.0
        played[path] = actions, average
        np.testing.assert_array_equal(found.probabilities[rows], average[rows])
    assert len(agent.searches) == 1  # what is on the menu brings no new search


def test_rows_of_decisions_are_made_when_they_are_asked_for(monkeypatch):
    """A street of many players has thousands of decisions, of which a hand meets a few."""
    made = []
    monkeypatch.setattr(multiway, "believed_and_played", lambda *rows: made.append(rows) or believed_and_played(*rows))
    agent = agent_at(SIXMAX)
    agent.range_strategy(public_after(SIXMAX, (FOLD, FOLD, 451)))
    (solution,) = agent.searches
    assert len(made) == 1 and len(solution.nodes) == solution.num_decisions == len(list(solution.nodes)) > 30
    assert solution.nodes[()] is solution.nodes[()] and len(made) == 1
    for path, node in solution.nodes.items():
        assert public_after(SIXMAX, (FOLD, FOLD, 451, *path)).street == 0
        np.testing.assert_allclose(np.nansum(node.average, axis=1), 1.0)
    assert len(made) == len(solution.nodes)
    with pytest.raises(KeyError):
        solution.nodes[(FOLD, FOLD, FOLD)]


def test_beliefs_before_a_search_follow_the_blueprint():
    """A raise between two of its sizes counts by the pseudo-harmonic mapping."""
    agent = agent_at(HUNL)
    first = agent.blueprint.range_strategy(public_after(HUNL, ()))
    second = agent.blueprint.range_strategy(public_after(HUNL, (300,)))
    beliefs = agent.beliefs(public_after(HUNL, (300, 700)))
    raised = initial_beliefs(HUNL)[1] * first.probability(300)
    np.testing.assert_allclose(beliefs[1], raised / raised.sum())
    assert second.actions.tolist() == [0, 1, 900]
    share = (1.0 - 2 / 3) / (1.0 + 2 / 3)  # 400 more in a pot of 600, between a call and all of it
    raised = share * second.probability(1) + (1.0 - share) * second.probability(900)
    np.testing.assert_allclose(beliefs[0], raised / raised.sum())
    assert not agent.searches  # nothing was decided behind it


def test_later_off_tree_raises_are_added_and_decisions_of_the_seat_frozen():
    """Bit for bit for all hands, or with `freeze=hand` for the one held; an agent asked later finds the same."""
    own = HUNL.combo_id(parse_cards("AsKd"))
    for freeze in ("range", "hand"):
        config = dataclasses.replace(FEW, freeze=freeze)
        agents = [agent_at(HUNL, config) for _ in range(2)]
        for agent in agents:
            agent.observe(Deal(parse_cards("AsKd")))
        agent, late = agents
        first = whole_strategy(agent, public_after(HUNL, (700,)))
        raised = int(first.actions[2])
        again = (700, raised, 5555)
        assert 5555 not in whole_strategy(agent, public_after(HUNL, again[:-1])).actions
        answer = whole_strategy(agent, public_after(HUNL, again))
        before, after = agent.searches
        assert agent.counts["searches"] == agent.counts["searches again"] == 1
        assert after.root is before.root and list(after.frozen) == [()] and 5555 in after.nodes[(raised,)].actions
        rows = [own] if freeze == "hand" else slice(None)
        np.testing.assert_array_equal(after.nodes[()].played[rows], before.nodes[()].played[rows])
        np.testing.assert_array_equal(after.nodes[()].average[rows], before.nodes[()].played[rows])
        changed = after.nodes[()].average != before.nodes[()].average
        assert changed.any() == (freeze == "hand")
        np.testing.assert_array_equal(
            whole_strategy(late, public_after(HUNL, again)).probabilities, answer.probabilities
        )
        on_flop = public_after(HUNL, (*again, CALL))
        np.testing.assert_array_equal(late.beliefs(on_flop), agent.beliefs(on_flop))
        held = np.where(np.isin(HUNL.combos, on_flop.board).any(axis=1), 0.0, 1.0)
        expected = held * agent.beliefs(public_after(HUNL, again[:1]))[0]
        expected *= after.nodes[()].average[:, 2] * after.nodes[(raised, 5555)].average[:, 1]
        np.testing.assert_allclose(agent.beliefs(on_flop)[0], expected / expected.sum())


CALLED = (350, CALL, CALL)  # three on the flop


def test_a_raise_of_the_seat_that_ends_a_subgame_is_frozen():
    """After the second raise of a flop another search looks further; the seat's raise stays, and beliefs follow it."""
    rules = no_limit_holdem(3)
    agent = agent_at(rules, seat=1)
    bet = int(agent.range_strategy(public_after(rules, CALLED)).actions[2])
    acted = agent.range_strategy(public_after(rules, (*CALLED, bet)))
    again = (*CALLED, bet, int(acted.actions[2]))
    agent.range_strategy(public_after(rules, again))
    solution = agent.searches[-1]
    assert list(solution.frozen) == [(bet,)]
    held = ~np.isnan(solution.nodes[(bet,)].average[:, 0])
    assert held.any()
    np.testing.assert_array_equal(solution.nodes[(bet,)].average[held], acted.probabilities[held])
    on_turn = public_after(rules, (*again, CALL, CALL))
    beliefs = solution.root.beliefs[1] * acted.probabilities[:, 2]
    beliefs[np.isin(rules.combos, on_turn.board).any(axis=1)] = 0.0
    np.testing.assert_allclose(agent.beliefs(on_turn)[1], beliefs / beliefs.sum())


@pytest.mark.parametrize("rules, called", [(HUNL, (300, CALL)), (no_limit_holdem(3), CALLED)], ids=["two", "three"])
def test_hands_are_taken_over_after_any_raise_of_the_seat(rules, called):
    """An off-tree raise, answered by another one."""
    agent = agent_at(rules)
    public = public_after(rules, (*called, 1127, 3461, FOLD)[: 2 + rules.num_seats + (rules.num_seats == 3)])
    assert public.actor == 0
    strategy = agent.range_strategy(public)
    np.testing.assert_allclose(strategy.probabilities.sum(axis=1), 1.0)
    assert not agent.searches[-1].frozen


def test_searches_of_earlier_segments_take_half_of_the_time(monkeypatch):
    taken, real = [], nested.solve_multiway

    def solve(*place, deadline, **options):
        taken.append(deadline - time.perf_counter())
        return real(*place, deadline=time.perf_counter(), **options)

    monkeypatch.setattr(nested, "solve_multiway", solve)
    rules = no_limit_holdem(3)
    agent = agent_at(rules, dataclasses.replace(FEW, iterations=0, time=1000.0))
    agent.range_strategy(public_after(rules, (*CALLED, CALL, CALL, CALL)))  # the turn, the flop before not asked for
    np.testing.assert_allclose(taken, [500.0, 1000.0], atol=100.0)
    agent.beliefs(public_after(rules, (*CALLED, CALL, CALL, CALL, CALL, CALL, CALL)))
    assert len(taken) == 2  # nothing has been done on the river


def some_hands(count):
    """Public states of hands of the small game, with an off-tree raise before the flop and no others."""
    rng = np.random.default_rng(7)
    for number in range(count):
        agent = agent_at(SMALL, dataclasses.replace(FEW, iterations=3), seat=number % 3)
        deck = rng.permutation(SMALL.cards)
        state, told, off_tree_at = BettingState(SMALL), (), int(rng.integers(2))
        while not state.is_over:
            board = (int(deck[-1]),)[: SMALL.board_size(state.street)]
            public = PublicState(SMALL, state.array.tolist(), board, told)
            yield agent, public
            actions = [action for action in agent.range_strategy(public).actions.tolist() if action or len(told) < 2]
            action = int(rng.choice(actions))
            if len(told) == off_tree_at:
                action = 31 + int(rng.integers(20))
            told += (Action(state.actor, action, state.street),)
            state.apply(action)


def test_beliefs_are_bayes_over_all_joint_deals():
    """The product of the beliefs, over hands that share no card, is the posterior of an observer without cards."""
    searched = 0
    for agent, public in some_hands(5):
        beliefs, rows = agent.beliefs(public), {}
        for number, (seat, action, street) in enumerate(public.actions):
            before = [told.action for told in public.actions[:number]]
            strategy = agent.range_strategy(public_after(SMALL, before, public.board if street else ()))
            chances = strategy.probability(action)
            if action not in strategy.actions:
                at = public_after(SMALL, before)
                highest = int(strategy.actions[-1])
                size, top = ((total - max(at.contributions)) / (at.pot + at.to_call) for total in (action, highest))
                share = max(top - size, 0.0) / (top * (1.0 + size))
                chances = share * strategy.probability(CALL) + (1.0 - share) * strategy.probability(highest)
            rows.setdefault(seat, []).append(chances)
        expected = np.zeros((SMALL.num_combos,) * 3)
        believed = np.zeros_like(expected)
        for deal in itertools.permutations(range(SMALL.num_combos), 3):
            if not any(int(SMALL.combos[combo, 0]) in public.board for combo in deal):
                expected[deal] = np.prod([row[deal[seat]] for seat, told in rows.items() for row in told])
                believed[deal] = np.prod([beliefs[seat, combo] for seat, combo in enumerate(deal)])
        np.testing.assert_allclose(believed / believed.sum(), expected / expected.sum(), rtol=0, atol=1e-12)
        searched += public.street == 0 and len(agent.searches) > 0
    assert searched > 5


def test_decisions_are_counted():
    agent = agent_at(HUNL)
    public = public_after(HUNL, (777,))
    cards = parse_cards("AhKh")
    decision = agent.act(View(public, 0, cards))
    told = agent.range_strategy(public)
    np.testing.assert_array_equal(decision.probabilities, told.probabilities[HUNL.combo_id(cards)])
    assert agent.counts["decisions"] == agent.counts["searched"] == 1
    assert agent.searches[0].iterations == FEW.iterations and agent.searches[0].seconds > 0.0


def test_openspiel_bots_that_join_have_the_same_policy():
    rules = no_limit_holdem(2, 2000)
    game = OpenSpielGame(game_string(rules))

    def bot(seat, agent=None):
        return OpenSpielBot(agent or SearchAgent(BlueprintAgent(blueprint(HUNL)), FEW), game, seat, seed=3)

    state = game.game.new_initial_state()
    for _ in range(4):
        state.apply_action(state.legal_actions()[-1])
    agents = [SearchAgent(BlueprintAgent(blueprint(HUNL)), FEW) for _ in range(2)]
    first = [bot(seat, agent) for seat, agent in enumerate(agents)]
    for action in (650, 1700, CALL):
        seat = state.current_player()
        policy = first[seat].get_policy(state)
        joined = bot(seat)
        joined.restart_at(state)
        assert joined.get_policy(state) == policy == first[seat].clone().get_policy(state)
        state.apply_action(action)
    assert agents[0].counts["searches"] == 1
