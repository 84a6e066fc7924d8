"""Continual re-solving from the start of the hand, with networks of random numbers and no blueprint."""

import copy
import dataclasses
import os

import numpy as np
import pytest
import table
from random_nets import save_flop_nets
from search_seat import START, live_combos, public_after

from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.base import View
from plurispiel.agents.blueprint import library
from plurispiel.agents.continual.lookahead import Lookahead
from plurispiel.agents.continual.table import TableAgent, TableConfig, kept_lines
from plurispiel.agents.factory import make_agent

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RAISE = 1777
"""A size that no menu has."""


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    names = ("end-of-preflop", "flop", "end-of-flop", "turn")
    return str(save_flop_nets(tmp_path_factory.mktemp("nets"), 0.1, names))


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache of solutions before the flop that only these tests use."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_lines, "user_cache_folder", lambda: folder)
        yield folder


@pytest.fixture
def no_blueprint(monkeypatch, tmp_path):
    """The package without its blueprints."""
    monkeypatch.setattr(library, "_BOTS", tmp_path / "nowhere")
    monkeypatch.setattr(library, "blueprints_folder", lambda: tmp_path / "nowhere")


@pytest.fixture(scope="module")
def agent(nets):
    return table.agent_at(TableAgent(TableConfig(iterations=8, threads=1, nets=nets, preflop="nets")), HUNL)


def test_the_blueprints_are_not_there(no_blueprint, nets):
    assert agent_digest(f"continual?nets={nets}&preflop=nets")
    with pytest.raises(Exception, match="blueprint"):
        table.agent_at(TableAgent(TableConfig(iterations=2)), HUNL).range_strategy(public_after(()))


def test_it_plays_each_street_without_a_blueprint(no_blueprint, agent):
    agent = copy.deepcopy(agent)
    agent.counts.clear()
    for path in ((), (250,), (250, RAISE), START):
        public = public_after(path)
        found = agent.range_strategy(public)
        np.testing.assert_allclose(found.probabilities[live_combos(public)].sum(axis=1), 1.0, atol=1e-6)
        assert np.isfinite(found.probabilities).all() and all(map(public.is_legal, found.actions.tolist()))
        agent.act(View(public, public.actor, parse_cards("AsKd")))
    assert agent.origins == {"blueprint": 0, "solver": 0, "nets": 4} and agent.blueprint is None
    assert "decisions to the end of the street; 8 iterations" in agent.explain(public_after(()))
    assert agent.explain(public_after((250,))).startswith("solved from a decision before the flop, pot 350")


def test_hands_of_a_class_are_played_alike_before_the_flop(agent):
    classes = preflop_classes()
    first = np.array([np.flatnonzero(classes == number)[0] for number in range(169)])
    for path in ((), (250,), (250, RAISE)):
        rows = agent.range_strategy(public_after(path)).probabilities
        np.testing.assert_allclose(rows, rows[first][classes], atol=1e-6)


def test_the_start_of_the_hand_bounds_the_seat_that_acts_first(agent):
    """The other seat's first bounds are the opponent's values at the start; a bet of any size changes none of them."""
    start = agent.solution(public_after(()))
    assert start.bounds is None and start.seat == 1  # the small blind
    hands = rank_hands(HUNL, ()).combos
    masses = fold_mass(rank_hands(HUNL, ()), np.full(1_326, 1.0 / 1_326))
    expected = start.lookahead.means.values[1, 0, hands] / masses
    for path in ((1,), (250,), (RAISE,)):
        bounds = agent.decision(public_after(path)).carried.bounds
        np.testing.assert_allclose(bounds[hands], expected)


def test_the_flop_has_bounds_by_the_network_for_its_start(agent):
    """Nothing after the start of the hand is solved without bounds."""
    for path in (START, (300, 1, 1)):
        public = public_after(path)
        carried = agent.decision(public).carried
        assert np.isfinite(carried.bounds).all() and abs(carried.bounds).max() > 1.0
        assert (carried.range[~live_combos(public)] == 0.0).all()
        assert carried.range.sum() == pytest.approx(1.0)


def test_lines_are_kept_for_later_hands(agent):
    for path in ((), (250,)):
        agent.range_strategy(public_after(path))
    solves = agent.counts["solves"]
    for seat in (0, 1):
        agent.restart(HUNL, seat, np.random.default_rng(2))
        for path in ((), (250,)):
            agent.range_strategy(public_after(path))
    assert agent.counts["solves"] == solves


def test_lines_are_kept_on_disk(nets, agent, cache, monkeypatch):
    """Another process reads what the first one solved, the same bits; damaged files are solved anew."""
    paths = [public_after(path) for path in ((), (250,))]
    told = [agent.range_strategy(public).probabilities for public in paths]
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert 0 < sum(path.stat().st_size for path in files) < 16 * 2**20
    config = agent.config

    def another():
        return table.agent_at(TableAgent(config), HUNL)

    readers = [another() for _ in paths]
    with monkeypatch.context() as patch:
        patch.setattr(Lookahead, "solve", None)
        for reader, public, expected in zip(readers, paths, told, strict=True):
            np.testing.assert_array_equal(reader.range_strategy(public).probabilities, expected)
    values = next(path for path in files if path.name.startswith("values"))
    values.write_bytes(values.read_bytes()[:-8])
    for public, expected in zip(paths, told, strict=True):
        np.testing.assert_array_equal(another().range_strategy(public).probabilities, expected)
    manifest = values.parent / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:-8])
    for is_solved in (True, False):  # the first reader writes the folder anew
        reader = another()
        with monkeypatch.context() as patch:
            if not is_solved:
                patch.setattr(Lookahead, "solve", None)
            for public, expected in zip(paths, told, strict=True):
                np.testing.assert_array_equal(reader.range_strategy(public).probabilities, expected)
    timed = TableAgent(dataclasses.replace(config, iterations=0, time=1.0))
    before = sorted(cache.rglob("*"))
    table.agent_at(timed, HUNL).range_strategy(public_after((200,)))
    assert sorted(cache.rglob("*")) == before


def test_play_is_the_same_without_a_cache(agent, monkeypatch):
    """Without a home folder nothing is kept, and solutions have the same bits."""
    told = agent.range_strategy(public_after((250,))).probabilities

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kept_lines, "user_cache_folder", nowhere)
    other = table.agent_at(TableAgent(agent.config), HUNL)
    np.testing.assert_array_equal(other.range_strategy(public_after((250,))).probabilities, told)


def test_a_solution_that_had_little_time_is_replaced_in_a_later_hand(agent):
    """The big blind solves the start of the hand in half of its time; the button then has all of it."""
    timed = table.agent_at(TableAgent(dataclasses.replace(agent.config, iterations=0, time=0.3)), HUNL)
    public = public_after(())
    start = timed.solution(public)
    for seconds, iterations, is_enough in ((0.3, 20, True), (0.001, 1_000, True), (0.001, 20, False)):
        start.seconds, start.iterations = seconds, iterations
        assert timed.solution(public) is start  # within the hand
        timed.restart(HUNL, 1, np.random.default_rng(2))
        assert (timed.solution(public) is start) == is_enough


def test_networks_fit_the_seats_that_act_first(agent):
    """Before the flop either seat may act first: networks know nothing of these bets."""
    agent = copy.deepcopy(agent)
    rules = dataclasses.replace(HUNL, first_seats=(0, 0, 0, 0))
    agent.restart(rules, 0, np.random.default_rng(1))
    for actions in ((), (1,)):
        assert np.isfinite(agent.range_strategy(table.public_after(rules, actions)).probabilities).all()
    with pytest.raises(ArtefactRefused, match=r"seats \(0, 0, 0\) act first from street 1 on .* got \(1, 1, 1\)"):
        agent.restart(dataclasses.replace(HUNL, first_seats=(0, 1, 1, 1)), 0, np.random.default_rng(1))


def test_options(nets, tmp_path):
    for options, said in (
        ({"preflop": "nets"}, "give their folder by nets=FOLDER"),
        ({"preflop": "nets", "nets": nets, "cards": "blueprint"}, "leave out cards=blueprint"),
        ({"preflop": "net", "nets": nets}, "preflop is blueprint or nets, got 'net'"),
    ):
        with pytest.raises(ValueError, match=said):
            TableConfig(**options)
    assert agent_digest(f"continual?nets={nets}") != agent_digest(f"continual?nets={nets}&preflop=nets")
    few = save_flop_nets(tmp_path)
    with pytest.raises(ArtefactRefused, match="end-of-preflop"):
        make_agent(f"continual?nets={few}&preflop=nets").restart(HUNL, 0, np.random.default_rng(1))


def test_the_networks_of_the_package_play_before_the_flop(no_blueprint):
    """The worst hand folds on the button, and the best one raises; so does the big blind against a raise."""
    config = TableConfig(iterations=60, threads=1, nets="bundled", preflop="nets")
    agent = table.agent_at(TableAgent(config), HUNL)
    for path in ((), (250,)):
        found = agent.range_strategy(public_after(path))
        fold, call = (found.actions.tolist().index(action) for action in (0, 1))
        hands = ("AsAd", "KsKd", "AsKs", "3s2d")
        aces, *strong, worst = (found.probabilities[HUNL.combo_id(parse_cards(each))] for each in hands)
        assert all(row[fold] < 0.01 for row in (aces, *strong)) and aces[call] < 0.2 and worst[fold] > 0.8
        share = found.probabilities[:, fold].mean()
        assert (0.02 < share < 0.3) if not path else (0.2 < share < 0.6)
    assert agent.counts["clamped"] == 0
