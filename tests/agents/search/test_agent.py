"""Search at the table: the strategies of its solver, beliefs and frozen decisions, against any bets."""

import copy
import dataclasses
import os
import time

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots
from search_seat import (
    FEW,
    START,
    TO_RIVER,
    TO_TURN,
    agent_at,
    blueprint,
    live_combos,
    public_after,
    whole_strategy,
)

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string
from plurispiel.abstraction.holdem.rules import HUNL, no_limit_holdem
from plurispiel.agents.base import Deal, View
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.factory import make_agent
from plurispiel.agents.openspiel import OpenSpielBot
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import MIN_BELIEF
from plurispiel.agents.search.two_seats import LAST_STREET_FACTOR
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.compliance import check_agent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.local_best_response import MENUS, LocalBestResponse

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.mark.parametrize("before", [START, TO_TURN], ids=["flop", "turn"])
def test_a_warm_start_begins_with_the_blueprint(before):
    """The first iteration plays the blueprint's strategy, each raise as the nearest one on offer."""
    agent = agent_at(dataclasses.replace(FEW, iterations=1, warm_start=1e4))
    public = public_after(before)
    found, planned = agent.range_strategy(public), agent.blueprint.range_strategy(public)
    held = live_combos(public) & (agent.beliefs(public)[public.actor] > 0.0)
    for kind in range(3):
        shares = [each.probabilities[held][:, np.minimum(each.actions, 2) == kind] for each in (found, planned)]
        np.testing.assert_allclose(*(rows.sum(axis=1) for rows in shares), atol=1e-5)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_safe_search_relies_little_on_beliefs_about_the_opponent(seat):
    """On the river, with wrong beliefs, no hand of the opponent wins much more than against the blueprint."""
    public, other = public_after(TO_RIVER), 1 - seat
    lost, gained = [], []

    def wrong_beliefs(root):
        beliefs = root.beliefs.copy()
        if root.state.street == 3:
            beliefs[other] *= np.random.default_rng(3).random(len(beliefs[other])) < 0.3  # it may hold the rest as well
            beliefs /= beliefs.sum(axis=1, keepdims=True)
        return beliefs

    for is_safe in (False, True):
        config = dataclasses.replace(FEW, iterations=40, safe=is_safe)
        agent = agent_at(config, seat=seat, beliefs=wrong_beliefs)
        agent.range_strategy(public)
        (solution,) = (each for each in agent.searches if each.root.state.street == 3)
        beliefs = solution.root.beliefs
        assert (solution.evaluation is None) == is_safe
        ranges = beliefs.copy()
        ranges[other] = live_combos(public)
        solver = VectorSolver(Subgame(public.betting(), public.board, ranges, FEW.menu(3, 4).raises), threads=1)
        planned = PlannedRows(blueprint(2), hand_in_tree(HUNL, blueprint(2))).rows_for(solver, TO_RIVER)
        (street,), values = solver.streets, []
        for searches in (False, True):
            for decision in street.betting.decisions:
                path = tuple(action for _, action, _ in decision.actions)
                rows = planned(0, decision)
                if searches and decision.seat == seat:
                    rows = np.nan_to_num(solution.nodes[path].played, nan=1.0)
                street.write(street.sums, decision, np.ones((1326, len(decision.children))) if rows is None else rows)
            facing = solver.facing[other]
            values.append(solver.combo_values(other)[0] / np.where(facing > 0.0, facing, 1.0))
        before, now = values
        lost.append(np.maximum(now - before, 0.0)[live_combos(public)].mean())
        gained.append(float((before - now) @ beliefs[other]))
    assert lost[1] <= 0.5 * lost[0] and gained[1] > 0.5 * gained[0] > 0.0, (lost, gained)


@pytest.mark.parametrize("before", [START, TO_TURN, TO_RIVER], ids=["flop", "turn", "river"])
def test_a_street_is_played_as_its_solver_says(before):
    """Equal to a solver made here, with the same betting, beliefs and buckets."""
    agent = agent_at()
    public = public_after(before)
    beliefs = agent.beliefs(public)
    np.testing.assert_allclose(beliefs[:, live_combos(public)].sum(axis=1), 1.0)
    menu = FEW.menu(public.street, 4)
    buckets = blueprint(2).cards
    is_last = public.street == 3
    subgame = Subgame(
        public.betting(),
        public.board,
        np.where(beliefs >= MIN_BELIEF * beliefs.max(axis=1, keepdims=True), beliefs, 0.0),
        menu.raises,
        buckets=None if is_last else lambda board: buckets.row(board, len(board) - 2),
    )
    options = {} if is_last else {"algorithm": "dcfr", "run_outs": FEW.run_outs}
    solver = VectorSolver(subgame, threads=1, last_boards=1 if public.street == 1 else 0, **options)
    solver.run(FEW.iterations * (LAST_STREET_FACTOR if is_last else 1))
    played, num_never = {}, 0
    for decision in solver.streets[0].betting.decisions:
        path = tuple(action for _, action, _ in decision.actions)
        at = public_after((*before, *path))
        found, planned = agent.range_strategy(at), agent.blueprint.range_strategy(at)
        assert found.actions.tolist() == list(decision.children)
        rows = solver.ranges[decision.seat] > 0.0
        for number, action in enumerate(decision.actions):
            if action[0] == decision.seat:  # who has never done that plays the blueprint
                known, chances = played[path[:number]]
                rows &= chances[:, known.index(action[1])] > 0.0
        played[path] = tuple(decision.children), solver.strategy(0, decision)
        np.testing.assert_array_equal(found.probabilities[rows], solver.strategy(0, decision)[rows])
        never = live_combos(at) & ~rows
        if found.actions[0] == planned.actions[0] == 0:
            np.testing.assert_allclose(found.probabilities[never, 0], planned.probabilities[never, 0], atol=1e-6)
            num_never += never.sum()
        np.testing.assert_allclose(found.probabilities[live_combos(at)].sum(axis=1), 1.0)
    assert (num_never > 0) == is_last
    assert agent.counts["searches"] == public.street and agent.counts["searches again"] == 0


def test_hands_that_are_left_out_play_the_blueprint():
    """Beliefs allow pocket pairs alone; other hands take the actions nearest to the blueprint's."""
    public = public_after(TO_RIVER)
    pairs = (HUNL.combos[:, 0] // 4 == HUNL.combos[:, 1] // 4) & live_combos(public)
    agent = agent_at(beliefs=lambda root: np.where(pairs | (root.state.street < 3), root.beliefs, 0.0))
    found, planned = agent.range_strategy(public), agent.blueprint.range_strategy(public)
    others = live_combos(public) & ~pairs
    assert agent.searches[-1].hands == (int(pairs.sum()),) * 2
    np.testing.assert_allclose(found.probability(1)[others], planned.probability(1)[others])
    raised = [column for column, action in enumerate(found.actions) if action > 1]
    np.testing.assert_allclose(found.probabilities[others][:, raised].sum(axis=1), 1 - planned.probability(1)[others])


def test_actions_on_the_menu_bring_no_new_search():
    agent = agent_at()
    at_root = agent.range_strategy(public_after(START))
    searches = agent.searches
    raised = int(at_root.actions[-2])
    answer = agent.range_strategy(public_after((*START, raised)))
    again = agent.range_strategy(public_after((*START, raised, int(answer.actions[-1]))))
    assert len(again.actions) and agent.searches == searches and len(searches) == 1
    np.testing.assert_array_equal(agent.range_strategy(public_after(START)).probabilities, at_root.probabilities)


@pytest.mark.parametrize("freeze", ["range", "hand"])
@pytest.mark.parametrize("play", ["average", "final"])
def test_decisions_of_the_seat_are_frozen(freeze, play):
    """After an off-tree raise: bit for bit for all hands, or for the one that is held."""
    agent = agent_at(dataclasses.replace(FEW, freeze=freeze, play=play))
    own = HUNL.combo_id(parse_cards("AsKd"))
    agent.observe(Deal(parse_cards("AsKd")))
    before = [whole_strategy(agent, public_after(path)) for path in (START, (*START, 500, 1500))]
    strange = 1777
    path = (*START, 500, strange)
    assert strange not in whole_strategy(agent, public_after(path[:-1])).actions
    answer = whole_strategy(agent, public_after(path))
    first, second = agent.searches
    assert second.root is first.root and len(second.frozen) == 1
    assert agent.counts["searches"] == 1 and agent.counts["searches again"] == 1
    now = second.nodes[()]
    rows = [own] if freeze == "hand" else np.flatnonzero(~np.isnan(first.nodes[()].played[:, 0]))
    np.testing.assert_array_equal(now.played[rows], first.nodes[()].played[rows])
    np.testing.assert_array_equal(now.average[rows], first.nodes[()].played[rows])
    others = np.delete(np.flatnonzero(~np.isnan(first.nodes[()].played[:, 0])), 0)
    assert (now.played[others] != first.nodes[()].played[others]).any() == (freeze == "hand")
    assert strange in second.nodes[(500,)].actions and not first.added and second.added
    later = whole_strategy(agent, public_after((*path, int(answer.actions[-1]))))
    assert len(agent.searches) == 2 and len(later.actions) >= 2
    for told, kept in zip(before, (START, (*START, 500, 1500)), strict=True):
        np.testing.assert_array_equal(whole_strategy(agent, public_after(kept)).probabilities, told.probabilities)


def test_off_tree_raises_before_the_first_decision_of_the_seat_take_one_search():
    agent = agent_at(seat=1)
    found = agent.range_strategy(public_after((*START, 777)))
    (solution,) = agent.searches
    assert 777 in solution.nodes[()].actions and not solution.frozen
    assert sorted(found.actions.tolist())[:2] == [0, 1]


@pytest.mark.parametrize("play", ["average", "final"])
def test_the_same_seed_plays_the_same(play):
    config = dataclasses.replace(FEW, play=play, threads=2)
    hands = []
    for threads in (1, 2):
        agent = SearchAgent(BlueprintAgent(blueprint(2)), dataclasses.replace(config, threads=threads))
        played = []
        for number in range(2):
            deck = deal_deck(HUNL, np.random.default_rng(number))
            rngs = [np.random.default_rng((number, seat)) for seat in range(2)]
            played.append(play_hand(HUNL, [agent, make_agent("call")], deck, rngs).actions)
        hands.append(played)
    assert hands[0] == hands[1]


def test_only_a_search_by_iterations_is_deterministic():
    assert make_agent("search?iterations=5").is_deterministic
    assert not make_agent("search?time=0.5").is_deterministic and not make_agent("search").is_deterministic


def test_searches_that_come_again_are_kept():
    agent = agent_at()
    found = agent.range_strategy(public_after(START))
    agent.restart(HUNL, 1, np.random.default_rng(1))
    np.testing.assert_array_equal(agent.range_strategy(public_after(START)).probabilities, found.probabilities)
    assert agent.counts["searches"] == 2 and agent.counts["solved"] == 1


def test_time_is_kept():
    """A search under a time limit ends, and does some iterations; how many is not tested."""
    agent = agent_at(dataclasses.replace(FEW, iterations=0, time=0.5))
    started = time.perf_counter()
    agent.range_strategy(public_after(TO_TURN))
    spent = time.perf_counter() - started
    for solution in agent.searches:
        assert solution.iterations > 0
    assert sum(solution.seconds for solution in agent.searches) <= spent


def test_final_iterate_and_purging():
    average, final, purged = (
        agent_at(dataclasses.replace(FEW, **options)).range_strategy(public_after(TO_TURN)).probabilities
        for options in ({}, {"play": "final"}, {"purge": 0.2})
    )
    live = live_combos(public_after(TO_TURN))
    assert (average[live] != final[live]).any()
    held = live & (final != average).any(axis=1)
    kept = np.where(average[held] < 0.2, 0.0, average[held])
    assert (kept != average[held]).any()
    np.testing.assert_allclose(purged[held], kept / kept.sum(axis=1, keepdims=True))


def test_what_is_solved_exactly_is_not_purged():
    average, purged = (
        agent_at(dataclasses.replace(FEW, purge=purge)).range_strategy(public_after(TO_RIVER)).probabilities
        for purge in (0.0, 0.4)
    )
    live = live_combos(public_after(TO_RIVER))
    assert ((average[live] > 0.01) & (average[live] < 0.3)).any()
    np.testing.assert_array_equal(purged[live], average[live])


def test_roots_at_decisions_of_the_seat():
    """At its first decision of a street nothing changes; later the root is at the decision, by what the seat did."""
    config = dataclasses.replace(FEW, root="decision")
    first, later, faced = public_after(START), public_after((*START, 1, 500, 1500)), public_after((*START, 500, 20000))
    agent = agent_at(config, seat=0)
    np.testing.assert_array_equal(
        agent.range_strategy(first).probabilities, agent_at(FEW, seat=0).range_strategy(first).probabilities
    )
    agent = agent_at(config, seat=1)
    strategy = agent.range_strategy(later)
    root = agent.searches[-1].root
    assert root.state.array.tolist() == later.betting().array.tolist() and root.state.actor == 1
    assert "from the raise to 1500 on the flop" in agent.explain(later)
    np.testing.assert_array_equal(agent.beliefs(later), root.beliefs)
    before = public_after((*START, 1))
    expected = agent.beliefs(before)[1] * agent.range_strategy(before).probability(500)
    np.testing.assert_allclose(root.beliefs[1], expected / expected.sum(), rtol=1e-9)
    live = live_combos(later)
    np.testing.assert_allclose(strategy.probabilities[live].sum(axis=1), 1.0, rtol=1e-6)
    agent = agent_at(config, seat=0)  # the answer to an all-in is searched from its bet before
    agent.range_strategy(faced)
    assert agent.searches[-1].root.state.array.tolist() == first.betting().array.tolist()
    assert 20000 in agent.searches[-1].nodes[(500,)].actions


def test_explained_on_the_river():
    agent = agent_at()
    text = agent.explain(public_after(TO_RIVER))
    assert "exploitability" in text and "values" in text and "bits" in text
    assert agent.searches[-1].evaluation.exploitability >= -1e-6


def test_conformance():
    config = dataclasses.replace(FEW, iterations=2, run_outs=1)
    games = [no_limit_holdem(2, 3000), no_limit_holdem(3, 2000)]
    report = check_agent(lambda: SearchAgent(BlueprintAgent(blueprint(3)), config), games, num_hands=6, num_decks=3)
    assert report.tells_range and not report.violations, str(report)


def test_scored_by_aivat():
    """The strategies reported after the hand are those that were played."""
    rules = HUNL
    agents = [agent_at(), agent_at(seat=1)]
    for number in range(3):
        deck = deal_deck(rules, np.random.default_rng((3, number)))
        hand = play_hand(rules, agents, deck, [np.random.default_rng((number, seat)) for seat in range(2)])
        assert not hand.faults
        for score in Aivat(rules).scores(hand, agents):
            assert not score.refused and score.estimate is not None


def test_probed_by_local_best_response():
    agent = agent_at()
    prober = LocalBestResponse(agent, MENUS["fcpa"])
    deck = deal_deck(HUNL, np.random.default_rng(4))
    hand = play_hand(HUNL, [prober, agent], deck, [np.random.default_rng(seat) for seat in range(2)])
    assert not hand.faults and np.isfinite(prober.expectation(hand))


def test_strategies_that_depend_on_the_hand_held_are_not_reported():
    """AIVAT and local best response would be biased: they need strategies that are the same for any hand held."""
    agents = [agent_at(dataclasses.replace(FEW, freeze="hand"), seat=seat) for seat in range(2)]
    deck = deal_deck(HUNL, np.random.default_rng(4))
    hand = play_hand(HUNL, agents, deck, [np.random.default_rng(seat) for seat in range(2)])
    assert agents[0].range_strategy(public_after(START)) is None
    assert agents[0].expected_strategy(public_after(START)) is None
    for score in Aivat(HUNL).scores(hand, agents):
        assert not hand.faults and score.own_actions is None and score.true_chance is not None
    prober = LocalBestResponse(agents[1], MENUS["fcpa"])
    hand = play_hand(HUNL, [prober, agents[1]], deck, [np.random.default_rng(seat) for seat in range(2)])
    assert prober.refusal is not None


@pytest.mark.parametrize("text", ["fullgame", "fcpa"])
def test_openspiel_bots_join_and_are_cloned(text):
    """A bot that joins in mid-hand, and one that is cloned there, have the policy of the first."""
    rules = no_limit_holdem(2, 2000).with_menu(text)
    game = OpenSpielGame(game_string(rules))

    def bot(seat, agent=None):
        return OpenSpielBot(agent or SearchAgent(BlueprintAgent(blueprint(2)), FEW), game, seat, seed=3)

    bots = [bot(0), bot(1)]
    state = game.game.new_initial_state()
    returns = evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(2))
    assert sum(returns) == pytest.approx(0.0)
    assert sum(pyspiel.evaluate_bots(game.game.new_initial_state(), [bot(0), bot(1)], 5)) == pytest.approx(0)
    state = game.game.new_initial_state()
    rng = np.random.default_rng(8)
    agents = [SearchAgent(BlueprintAgent(blueprint(2)), FEW) for _ in range(2)]
    first = [bot(seat, agent) for seat, agent in enumerate(agents)]
    searched = 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
            continue
        seat = state.current_player()
        policy = first[seat].get_policy(state)
        joined = bot(seat)
        joined.restart_at(state)
        assert joined.get_policy(state) == policy
        assert first[seat].clone().get_policy(state) == policy
        searched += agents[seat].counts["searches"]
        state.apply_action(1)
    assert searched > 0


def test_a_copy_is_independent():
    agent = agent_at()
    agent.range_strategy(public_after(START))
    twin = copy.deepcopy(agent)
    twin.range_strategy(public_after((*START, 1, 777)))
    assert len(twin.searches) == 2 and len(agent.searches) == 1
    assert agent.counts["searches"] == 1 and twin.searches[0] is agent.searches[0]


def test_views_are_answered_as_told():
    agent = agent_at()
    public = public_after(TO_RIVER)
    cards = parse_cards("AhKh")
    decision = agent.act(View(public, 0, cards))
    told = agent.range_strategy(public)
    np.testing.assert_array_equal(decision.probabilities, told.probabilities[HUNL.combo_id(cards)])
    assert decision.action in told.actions and agent.counts["searched"] == 1
