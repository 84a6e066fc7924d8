"""Solves of the flop with networks of random numbers in place of turn and river: bookkeeping and hazards."""

import copy
import dataclasses
import os
from types import SimpleNamespace

import numpy as np
import pytest
import table
from random_nets import random_net, save_flop_nets
from search_seat import START, blueprint, live_combos, public_after

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.base import TellsOrigins, View
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.continual.end_net_leaves import EndNetLeaves
from plurispiel.agents.continual.start_values import start_values
from plurispiel.agents.continual.table import TableAgent, TableConfig, street
from plurispiel.agents.continual.table.street import SolvedStreet
from plurispiel.agents.factory import make_agent
from plurispiel.agents.resolve.gadget import Gadget
from plurispiel.agents.values.net_file import save_net

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RAISE = 1777
"""A size that no menu has."""

HOLE = parse_cards("AsKd")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    nets = save_flop_nets(tmp_path_factory.mktemp("nets"))
    return TableConfig(iterations=4, threads=1, cards="blueprint", last_boards=1, nets=str(nets))


def agent_at(config, seat=0):
    return table.agent_at(TableAgent(config, BlueprintAgent(blueprint(2))), HUNL, seat)


def test_the_flop_is_solved_with_networks_and_later_streets_without(config):
    agent = agent_at(config)
    flop, turn = public_after(START), public_after((*START, 1, 1))
    assert isinstance(agent.solution(flop), SolvedStreet) and not isinstance(agent.solution(turn), SolvedStreet)
    for public in (flop, turn, public_after((*START, 417, 1, 1, 600, 1))):
        found = agent.range_strategy(public)
        np.testing.assert_allclose(found.probabilities[live_combos(public)].sum(axis=1), 1.0, atol=1e-6)
        assert np.isfinite(found.probabilities).all() and all(map(public.is_legal, found.actions.tolist()))
    assert "decisions to the end of the street; 4 iterations" in agent.explain(flop)


def test_an_own_action_moves_the_bounds(config):
    """They are the opponent's mean values after the action over the weight of the own hands that take it."""
    agent = agent_at(config)
    first, later = public_after(START), public_after((*START, 500, RAISE))
    before, now, solved = agent.decision(first), agent.decision(later), agent.solution(first)
    number = before.actions.index(500)
    expected = before.carried.range * before.played[:, number]
    np.testing.assert_allclose(now.carried.range, expected / expected.sum(), atol=1e-15)
    lookahead = solved.lookahead
    hands = rank_hands(HUNL, first.board)
    masses = fold_mass(hands, np.ascontiguousarray(lookahead.reach_after(0)[hands.combos, number]))
    values = lookahead.means.values[1, lookahead.decision(0).children[500], hands.combos]
    np.testing.assert_allclose(now.carried.bounds[hands.combos] * masses, values, atol=1e-9)


def test_a_card_moves_the_bounds_and_impossible_hands_drop_out(config):
    """They are sums of the network's values over pairs of ranges, over sums of weights: no mean of ratios."""
    agent = agent_at(config)
    before, public = public_after(START), public_after((*START, 1, 1, 500))
    solved, carried = agent.solution(before), agent.decision(public).carried
    pairs = solved.lookahead.end_pairs[:, :, 0]  # both check: the first end
    assert 1 <= len(pairs) <= 4
    state = solved.lookahead.betting.end_states[0]
    values, masses = start_values(solved._nets.start, HUNL, public.board, pairs, state)
    weights = masses[1].sum(axis=0)
    expected = np.divide(values[1].sum(axis=0), weights, out=np.zeros_like(weights), where=weights > 0.0)
    np.testing.assert_allclose(agent.solution(public_after((*START, 1, 1))).bounds, expected)
    assert np.isfinite(carried.bounds).all() and (carried.range[~live_combos(public)] == 0.0).all()
    assert (carried.bounds[~live_combos(public)] == 0.0).all()


def test_the_first_decision_after_networks_is_solved_from_the_start_of_the_street(config):
    """The flop's solution does not tell with which hands the opponent bets on the turn; that of the turn does."""
    agent, path = agent_at(config, 1), (*START, 1, 1, 600)
    turn, raised = public_after(path), public_after((*path, 1800, 5400))
    assert agent.solution(turn).history == (*START, 1, 1) and agent.decision(turn).path == (600,)
    assert agent.solution(turn).bounds is not None and 600 in agent.solution(turn).strategy(()).actions
    assert agent.solution(raised).history == (*path, 1800, 5400) and agent.decision(raised).path == ()
    before = agent.decision(turn)
    expected = before.carried.range * before.played[:, before.actions.index(1800)]
    np.testing.assert_allclose(agent.decision(raised).carried.range, expected / expected.sum(), atol=1e-15)


def test_one_solve_serves_all_bets_of_the_menu(config):
    agent, start = agent_at(config, 1), (*START, 1, 1)
    publics = [public_after((*start, action)) for action in (1, 500, 20_000)]
    told = [agent.range_strategy(public).probabilities for public in publics]
    solves = agent.counts["solves"]
    assert agent.solution(publics[0]) is agent.solution(publics[2]) and solves == 2  # the flop and the turn
    for public, expected in zip(publics, told, strict=True):
        np.testing.assert_array_equal(agent_at(config, 1).range_strategy(public).probabilities, expected)
    agent.range_strategy(public_after((*start, 600)))
    assert agent.counts["solves"] == solves + 1
    assert agent.solution(public_after(start)).seat == 0 and agent.solution(publics[0]).seat == 1


def test_a_bet_below_every_menu_is_answered_from_behind_it(config):
    """The smallest legal bet is a fifth of the pot: part of the state, though no menu has it."""
    agent = agent_at(config, 1)
    assert public_after(START).min_raise == 350 and 350 not in agent.decision(public_after((*START, 1))).actions
    first, later = public_after((*START, 350)), public_after((*START, 1, 1, 350))
    assert agent.decision(first).path == (350,) and agent.solution(first).history == START
    assert agent.decision(later).path == (350,) and agent.solution(later).history == (*START, 1, 1)
    for public in (first, later):
        assert np.isfinite(agent.range_strategy(public).probabilities).all()


def test_after_an_all_in_nothing_is_solved(config):
    agent = agent_at(config, 1)
    public = public_after((*START, 20_000))
    assert agent.range_strategy(public).actions.tolist() == [0, 1]
    solves = agent.counts["solves"]
    hand = BettingState(HUNL)
    for action in (*START, 20_000, 1):
        hand.apply(action)
    assert hand.is_over and agent.counts["solves"] == solves


def test_order_copies_and_threads_change_nothing(config):
    paths = [START, (*START, 500, RAISE), (*START, 500, RAISE, 1, 1, 2500), (*START, 1, 1, 600)]
    first = agent_at(config)
    told = [first.range_strategy(public_after(each)).probabilities for each in paths]
    for agent in (agent_at(config), agent_at(dataclasses.replace(config, threads=2)), copy.deepcopy(first)):
        for each, expected in reversed(list(zip(paths, told, strict=True))):
            np.testing.assert_array_equal(agent.range_strategy(public_after(each)).probabilities, expected)


def test_lines_that_no_hand_takes(config):
    agent = agent_at(config)
    public = public_after((*START, 444, RAISE))
    carried, free = agent.decision(public).carried, live_combos(public)
    assert carried.bounds is None and agent.counts["anew"] == 1
    np.testing.assert_allclose(carried.range, free / free.sum())


def test_a_narrow_range_gives_finite_bounds(config):
    """After an action of two hands, most hands of the opponent face almost nothing."""
    agent = agent_at(dataclasses.replace(config, purge=0.9))
    for path in ((*START, 500, RAISE), (*START, 1, 500, 1, 777), (*START, 20_000)):
        public = public_after(path)
        if public.actor == 0:
            bounds = agent.decision(public).carried.bounds
            assert bounds is None or np.isfinite(bounds).all()
        assert np.isfinite(agent.range_strategy(public).probabilities).all()


def test_time_is_kept(config):
    agent = agent_at(dataclasses.replace(config, iterations=0, time=1.0))
    public = public_after(START)
    assert np.isfinite(agent.range_strategy(public).probabilities).all()
    assert 20 <= agent.solution(public).iterations <= 1_000


@pytest.mark.parametrize(("settings", "count"), [({"iterations": 60}, 3), ({"iterations": 0, "time": 0.3}, 0)])
def test_the_error_of_the_network_is_measured_while_solves_are_averaged(config, monkeypatch, settings, count):
    """Every tenth of 30 averaged iterations; a short time limit leaves no time for that."""
    measured, plain = [], EndNetLeaves.correction
    monkeypatch.setattr(EndNetLeaves, "correction", lambda *args: measured.append(1) or plain(*args))
    agent = agent_at(dataclasses.replace(config, **settings))
    assert np.isfinite(agent.range_strategy(public_after(START)).probabilities).all()
    assert len(measured) == count


class TimedLookahead:
    """Its iterations take the time given, the first correction as long as 25 of them, and others as long as 12."""

    def __init__(self, iteration):
        self.iteration, self.now, self.num_corrections = iteration, 0.0, 0

    def solve(self, ranges, iterations, omitted, corrected=0):
        self.now += iterations * self.iteration
        for _ in range(0, iterations - omitted if corrected else 0, max(corrected, 1)):
            self.now += (12 if self.num_corrections else 25) * self.iteration
            self.num_corrections += 1


@pytest.mark.parametrize("iteration", [0.0005, 0.002, 0.008, 0.0105, 0.011, 0.02, 0.04])
def test_corrections_keep_the_time_limit_on_slow_machines_too(monkeypatch, iteration):
    lookahead = TimedLookahead(iteration)
    monkeypatch.setattr(street, "time", SimpleNamespace(perf_counter=lambda: lookahead.now))
    count, corrected = street._fitting(lookahead, np.ones(2), 1.0, 10)
    assert corrected == (10 if iteration < 0.0106 else 0)
    lookahead.solve(np.ones(2), count, count // 2, corrected=corrected)
    assert 0.8 < lookahead.now < 1.0 or count == (20 if iteration > 0.03 else 1_000)


@pytest.mark.parametrize("settings", [{}, {"iterations": 0, "time": 1.0}])
def test_an_all_in_against_an_own_bet_is_answered(config, settings):
    """No end of the street has chips behind: there is no error of the network to measure."""
    agent = agent_at(dataclasses.replace(config, **settings))
    found = agent.range_strategy(public_after((*START, 500, 20_000)))
    assert found.actions.tolist() == [0, 1] and np.isfinite(found.probabilities).all()


def test_decisions_are_counted_by_what_answers(config):
    agent = agent_at(config)
    for path in ((250,), START, (*START, 1, 1)):
        agent.act(View(public_after(path), 0, HOLE))
    assert agent.origins == {"blueprint": 1, "solver": 1, "nets": 1} and agent.counts["decisions"] == 3
    assert isinstance(agent, TellsOrigins) and agent.clamped == agent.counts["clamped"]


def test_other_networks_are_another_agent(config, tmp_path):
    other = save_flop_nets(tmp_path, scale=2.0)
    digests = {agent_digest(f"continual{nets}") for nets in ("", f"?nets={config.nets}", f"?nets={other}")}
    assert len(digests) == 3


def test_the_networks_of_the_package_answer_a_flop(config):
    """Against a bet of the pot, a set never folds and a hand without a pair or a draw mostly does."""
    agent = agent_at(dataclasses.replace(config, iterations=30, nets="bundled"), 1)
    public = public_after((*START, 500))
    assert isinstance(agent.solution(public), SolvedStreet) and agent.counts["clamped"] == 0
    found = agent.range_strategy(public)
    folds = found.probabilities[:, found.actions.tolist().index(0)]
    best, worst = (HUNL.combo_id(parse_cards(each)) for each in ("QhQd", "5c4d"))
    assert folds[best] < 0.05 < 0.5 < folds[worst]
    assert agent_digest("continual?nets=bundled").startswith(agent_digest("continual"))


def test_folders_without_the_networks_are_refused(config, tmp_path):
    with pytest.raises(ArtefactRefused, match="end-of-flop"):
        make_agent(f"continual?nets={tmp_path}").restart(HUNL, 0, np.random.default_rng(1))
    net = random_net("turn")
    save_net(tmp_path / "end-of-flop", net.net.layers, net.level, {}, seed=1)
    save_net(tmp_path / "turn", net.net.layers, net.level, {}, seed=1)
    with pytest.raises(ArtefactRefused, match="is a network for the level turn, not end-of-flop"):
        make_agent(f"continual?nets={tmp_path}").restart(HUNL, 0, np.random.default_rng(1))


def test_a_gadget_tells_chips_apart_at_deep_stacks():
    """In float32, values of ten million chips are whole numbers: hands with a small gain would never be told apart."""
    bounds, facing = np.full(2, 1e7), np.ones(2)
    gadget = Gadget(0, bounds, facing)
    gadget.learn(np.array([1e7 + 0.25, 1e7 - 0.25]), np.ones(3))
    np.testing.assert_array_equal(gadget.accepted, [1.0, 0.0])
