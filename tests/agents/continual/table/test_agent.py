"""Continual re-solving at the table, with a blueprint of random rows and few iterations."""

import copy
import os

import numpy as np
import pyspiel
import pytest
import table
from open_spiel.python.algorithms import evaluate_bots
from search_seat import BOARD, START, TO_RIVER, TO_TURN, blueprint, live_combos, public_after

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, no_limit_holdem
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.continual.table import TableAgent, TableConfig
from plurispiel.agents.continual.table import agent as agent_module
from plurispiel.agents.factory import make_agent
from plurispiel.agents.openspiel import OpenSpielBot
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.compliance import check_agent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.local_best_response import MENUS, LocalBestResponse

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

FEW = TableConfig(iterations=4, threads=1, cards="blueprint", last_boards=1)
SHORT = no_limit_holdem(2, 1000)


def agent_at(config=FEW, *, rules=HUNL, seat=0):
    return table.agent_at(TableAgent(config, BlueprintAgent(blueprint(rules.num_seats))), rules, seat)


def test_before_the_flop_the_blueprint_plays():
    agent, public = agent_at(seat=1), table.public_after(HUNL, ())
    np.testing.assert_array_equal(
        agent.range_strategy(public).probabilities, agent.blueprint.range_strategy(public).probabilities
    )
    assert agent.expected_strategy(public).actions.tolist() == agent.range_strategy(public).actions.tolist()
    assert not agent.counts["solves"] and agent.explain(public).startswith("the blueprint plays before the flop")


def test_strategies_are_whole():
    """On each street, after bets that no menu has: rows of probabilities for all hands, and the bets are answered."""
    agent = agent_at()
    for path in (START, (*START, 1, 417), (*TO_TURN, 1, 777), (*TO_TURN, 1, 777, 1, 1, 3333), (*TO_RIVER, 1, 20000)):
        public = public_after(path)
        found = agent.range_strategy(public)
        assert np.isfinite(found.probabilities).all() and (found.probabilities >= 0.0).all()
        np.testing.assert_allclose(found.probabilities[live_combos(public)].sum(axis=1), 1.0, atol=1e-6)
        assert all(map(public.is_legal, found.actions.tolist()))
        solved = agent.solution(public)
        assert solved.root.state.array.tolist() == public.betting().array.tolist()
    assert not agent.counts["anew"]


def test_order_and_copies_and_threads_change_nothing():
    path = (*START, 500, 1777)  # a raise to a size that is not on offer
    paths = [START, path, (*path, 1, 1, 2500), (*path, 1, 1, 2500, 1)]
    first = agent_at()
    told = [first.range_strategy(public_after(each)).probabilities for each in paths]
    for agent in (agent_at(), agent_at(TableConfig(**{**vars(FEW), "threads": 2})), copy.deepcopy(first)):
        for each, expected in reversed(list(zip(paths, told, strict=True))):
            np.testing.assert_array_equal(agent.range_strategy(public_after(each)).probabilities, expected)
    twin = copy.deepcopy(first)
    later = public_after((*path, 1, 1, 2600))
    np.testing.assert_array_equal(
        twin.range_strategy(later).probabilities, agent_at().range_strategy(later).probabilities
    )
    # The turn's check is a decision of its own. The copies have solved none again.
    assert first.counts["solves"] == agent.counts["solves"] == len(paths) + 1 == twin.counts["solves"] - 1


def test_solutions_that_are_forgotten_are_solved_again(monkeypatch):
    monkeypatch.setattr(agent_module, "_NUM_KEPT", 1)
    agent, paths = agent_at(), [(*TO_TURN, 1, 400), (*TO_TURN, 1, 500)]
    told = [agent.range_strategy(public_after(path)).probabilities for path in paths]
    agent.restart(HUNL, 0, np.random.default_rng(1))
    again = [agent.range_strategy(public_after(path)).probabilities for path in paths]
    np.testing.assert_array_equal(told, again)
    assert agent.counts["solves"] > 2 * 4


def test_played_by_all():
    """Compliance, an OpenSpiel bot, local best response and AIVAT."""
    few = TableConfig(iterations=2, threads=1, cards="blueprint", last_boards=1)
    report = check_agent(
        lambda: TableAgent(few, BlueprintAgent(blueprint(2))), [no_limit_holdem(2, 500)], num_hands=4, num_decks=2
    )
    assert report.tells_range and not report.violations, str(report)
    rng, game = np.random.default_rng(6), pyspiel.load_game(game_string(SHORT))
    bots = [
        OpenSpielBot(make_agent("call"), game, 0),
        OpenSpielBot(TableAgent(few, BlueprintAgent(blueprint(2))), game, 1),
    ]
    for _ in range(2):
        returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)
        assert sum(returns) == 0.0
    agent = agent_at(few, rules=SHORT)
    prober = LocalBestResponse(agent, MENUS["fcpa"])
    hand = play_hand(SHORT, [prober, agent], deal_deck(SHORT, np.random.default_rng(4)), [rng, rng])
    assert not hand.faults and np.isfinite(prober.expectation(hand))
    agents = [agent_at(few, rules=SHORT), agent]
    hand = play_hand(SHORT, agents, deal_deck(SHORT, np.random.default_rng(5)), [rng, rng])
    for score in Aivat(SHORT).scores(hand, agents):
        assert not score.refused and score.estimate is not None
    assert agent.counts["decisions"] == agent.counts["blueprint"] + agent.counts["solver"]


def test_time_is_kept():
    """A decision under a time limit ends, and does some iterations; how many is not tested."""
    agent = agent_at(TableConfig(time=1.0, threads=1, cards="blueprint", last_boards=1))
    public = public_after(TO_RIVER)
    assert not agent.is_deterministic and np.isfinite(agent.range_strategy(public).probabilities).all()
    assert agent.solution(public).solver.iteration > 0


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (no_limit_holdem(3), "heads-up no-limit hold'em, and .*, got a no-limit game of 3 seats and 4 streets"),
        (no_limit_holdem(6), "6 seats and 4 streets"),
    ],
)
def test_games_that_it_does_not_play(rules, message):
    with pytest.raises(ValueError, match=message):
        make_agent("continual").restart(rules, 0, np.random.default_rng(1))


def test_explained():
    agent = agent_at()
    assert "no bounds" in agent.explain(public_after((*START, 1)))
    text = agent.explain(public_after((*TO_TURN, 1, 777)))
    assert "a decision on the turn Qs" in text and "bounds of" in text and "bits" in text
    assert len(BOARD) == 5
