"""A blueprint at the table: against any bets, at any table it can play."""

import copy
import dataclasses
import functools
import json
import os
import shutil

import numpy as np
import pyspiel
import pytest
from blueprint_seat import (
    ALL,
    BOARD,
    THREE,
    agent_at,
    blueprint,
    buckets_of,
    node_after,
    random_path,
    sources_of,
    without,
)
from open_spiel.python.algorithms import evaluate_bots
from random_blueprint import MENU, random_blueprint
from table import public_after, random_rules

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.base import Agent, View
from plurispiel.agents.baselines.equity import EquityAgent
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.fallback import SOURCES, kept_rows
from plurispiel.agents.factory import game_note, make_agent
from plurispiel.agents.openspiel import OpenSpielBot
from plurispiel.agents.specs import relocate_spec, unique_names
from plurispiel.evaluation.compliance import check_agent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
FEW_CALLERS = GameMenu((StreetMenu(MENU.streets[0].raises, callers=(0, 1, 0)), *MENU.streets[1:]))
"""Only the small blind may limp, one calls a raise."""


@functools.cache
def few_callers(missing=0.0):
    return random_blueprint(SIXMAX, FEW_CALLERS, missing=missing)


# The contract.


@pytest.mark.parametrize(
    ("seats", "games"),
    [
        (6, [SIXMAX, SIXMAX.with_menu("fchpa"), no_limit_holdem(4, 2_000), THREE]),
        (6, [no_limit_holdem(2, 1_000), dataclasses.replace(SIXMAX, stacks=(300, 20_000, 100, 1_000, 55, 4_000))]),
        (2, [HUNL, HUNL.with_menu("fcpa"), HUNL.with_menu("fc"), HULH]),
    ],
)
def test_keeps_the_contract(seats, games):
    report = check_agent(
        lambda: BlueprintAgent(blueprint(seats, 0.3)), games, num_hands=60, num_decks=6, num_compared=6
    )
    assert report.violations == []
    assert report.tells_range


@pytest.mark.parametrize("rules", [LEDUC, KUHN], ids=["leduc", "kuhn"])
def test_keeps_the_contract_in_small_games(rules):
    found = random_blueprint(rules, game_menu(rules), cards=lossless_buckets(rules), missing=0.3)
    report = check_agent(lambda: BlueprintAgent(found), [rules], num_hands=200)
    assert report.violations == [] and report.tells_range


def test_in_its_own_game_it_is_the_blueprint():
    """With all actions of the tree: the strategy is the one that is looked up, whatever the coins; aces aside."""
    others = (THREE.combos < 48).any(axis=1)
    found, rng = blueprint(3), np.random.default_rng(1)
    for seed in range(200):
        node, actions = random_path(found.tree, rng)
        board = deal_deck(THREE, rng)[:5].tolist()
        public = public_after(THREE, actions, board)
        strategy = agent_at(found, seat=int(rng.integers(3)), seed=seed).range_strategy(public)
        buckets = buckets_of(found, public)
        assert strategy.actions.tolist() == found.tree.actions(node).tolist()
        expected = found.strategy(node, buckets)
        held = others | (public.street > 0)
        np.testing.assert_allclose(strategy.probabilities[held], expected[held], atol=1e-6)
        np.testing.assert_allclose(strategy.probabilities.sum(axis=1), 1.0, atol=1e-12)


def test_a_hand_alone_has_its_row_among_all_hands_to_the_bit():
    """Which is what it acts by; here the four actions of another decision become two."""
    found, actions = blueprint(3), (FOLD, CALL, CALL, CALL, CALL, 10_000)
    node, flop, before = (node_after(found.tree, actions[:count]) for count in (6, 4, 2))
    sibling = node_after(found.tree, (*actions[:5], 300))
    assert found.tree.actions(node).tolist() == [FOLD, CALL] and found.tree.num_actions[before] == 4
    agent = agent_at(without(found, (node, range(20)), (sibling, range(20)), (flop, range(20))), seat=1)
    public = public_after(THREE, actions, BOARD)
    every, sources = sources_of(agent, public)
    assert set(sources) == {"earlier"}
    for combo in ALL:
        alone = agent.strategy(public, np.array([combo]))
        assert np.array_equal(alone.probabilities[0], every.probabilities[combo])


class Watched(Agent):
    """Checks everything a blueprint answers."""

    def __init__(self, agent, every):
        self.agent, self.every, self.decisions = agent, every, 0

    def restart(self, rules, seat, rng):
        self.agent.restart(rules, seat, rng)

    def act(self, view):
        decision = self.agent.act(view)
        self.decisions += 1
        assert all(map(view.public.is_legal, decision.actions)) and decision.action in decision.actions
        assert min(decision.probabilities) >= 0.0 and abs(sum(decision.probabilities) - 1.0) < 1e-9
        if self.decisions % self.every == 0:
            strategy = self.agent.range_strategy(view.public)
            assert strategy.actions.tolist() == list(decision.actions)
            rows = strategy.probabilities
            assert (rows >= 0.0).all() and np.allclose(rows.sum(axis=1), 1.0, atol=1e-9)
            own = view.public.rules.combo_id(view.hole_cards)
            assert np.array_equal(rows[own], decision.probabilities)
        return decision


class Gambler(Agent):
    """Bets of every size: small ones are as likely as large ones. It seldom folds."""

    def act(self, view):
        public = view.public
        draw = self.rng.random()
        if public.can_fold and draw < 0.1:
            return FOLD
        if draw < 0.65 or not public.max_raise:
            return CALL
        low, high = np.log([public.min_raise, public.max_raise])
        return int(np.clip(np.exp(self.rng.uniform(low, high)), public.min_raise, public.max_raise))


@pytest.mark.parametrize(
    ("num_hands", "seats"),
    [(200, 6), (120, 2), (120, 3), (80, 4), (80, 5), pytest.param(100_000, 6, marks=pytest.mark.slow)],
)
def test_any_bets_any_stacks(num_hands, seats):
    found, rng = few_callers(0.3), np.random.default_rng(seats)
    watched = Watched(BlueprintAgent(found), every=4 if num_hands < 1000 else 25)
    for _ in range(num_hands):
        rules = random_rules(seats, rng)
        table = [watched if seat == 0 else Gambler() for seat in rng.permutation(seats)]
        hand = play_hand(rules, table, deal_deck(rules, rng), rng.spawn(seats))
        assert hand.faults == ()
    counts = watched.agent.counts
    assert counts.total() == watched.decisions > num_hands / 2
    rare = {"off the tree"} if num_hands >= 800 else {"off the tree", "sibling", "earlier"}
    assert set(SOURCES) - set(counts) <= rare


def test_more_players_after_the_flop_than_in_the_tree():
    """Whoever is out of the tree has not folded: equity against all of them counts, until they have."""
    found = few_callers()
    limped = [CALL] * 6  # the tree has the blinds alone
    public = public_after(SIXMAX, limped, BOARD)
    agent = agent_at(found)
    strategy, sources = sources_of(agent, public)
    assert set(sources) == {"crowded"}
    equity = EquityAgent().strategy(public, ALL)
    assert np.array_equal(strategy.actions, equity.actions)
    assert np.array_equal(strategy.probabilities, equity.probabilities)
    raised = [*limped, 500, CALL, FOLD, FOLD, FOLD, FOLD]
    _, sources = sources_of(agent, public_after(SIXMAX, raised, BOARD))
    assert "crowded" not in sources
    _, sources = sources_of(agent, public_after(SIXMAX, limped[:4], BOARD))
    assert "crowded" not in sources


@pytest.mark.slow
def test_blueprints_among_themselves():
    """All seats, each with coins of its own."""
    found, rng = blueprint(6, 0.3), np.random.default_rng(9)
    table = [Watched(BlueprintAgent(found), every=10) for _ in range(6)]
    for _ in range(200):
        rules = random_rules(6, rng)
        assert play_hand(rules, table, deal_deck(rules, rng), rng.spawn(6)).faults == ()


def test_what_agents_and_hands_share_changes_nothing():
    """Each answer is that of an agent which has seen nothing else."""
    found, rng = few_callers(0.3), np.random.default_rng(12)
    kept_rows.cache_clear()
    asked = []

    class Noted(Watched):
        def restart(self, rules, seat, rng):
            self.start = copy.deepcopy(rng)
            super().restart(rules, seat, rng)

        def act(self, view):
            decision = super().act(view)
            asked.append((view, self.start, decision, self.agent.range_strategy(view.public)))
            return decision

    table = [Noted(BlueprintAgent(found), every=10) for _ in range(5)] + [Gambler()]
    tables = [SIXMAX, *(random_rules(6, rng) for _ in range(3))]
    for number in range(32):
        rules = tables[number % 4]
        assert play_hand(rules, rng.permutation(table), deal_deck(rules, rng), rng.spawn(6)).faults == ()
    assert kept_rows.cache_info().misses == 1  # five agents
    for place in rng.permutation(len(asked))[:32]:
        view, start, decision, strategy = asked[place]
        kept_rows.cache_clear()
        agent = BlueprintAgent(found)
        agent.restart(view.public.rules, view.seat, copy.deepcopy(start))
        alone = agent.range_strategy(view.public)
        assert np.array_equal(alone.actions, strategy.actions)
        assert np.array_equal(alone.probabilities, strategy.probabilities)
        assert agent.act(view)[1:] == decision[1:]


def test_agents_share_strategies_before_the_flop_that_nobody_can_write_to():
    blueprint = random_blueprint(HUNL, GameMenu((StreetMenu(("1p allin", "allin")), StreetMenu(("1p",)))))
    agents = [BlueprintAgent(blueprint) for _ in range(2)]
    public = public_after(HUNL, (300,))
    for agent in agents:
        agent.restart(HUNL, public.actor, np.random.default_rng(0))
    first, second = (agent.range_strategy(public) for agent in agents)
    assert first is second
    assert not first.probabilities.flags.writeable and not first.actions.flags.writeable
    own = agents[0].strategy(public, np.arange(HUNL.num_combos))
    assert first.actions.tolist() == own.actions.tolist()
    assert first.probabilities.tolist() == own.probabilities.tolist()
    small = public_after(HUNL, (210,))  # below the smallest size: the strategy depends on the agent's own range
    assert agents[0].range_strategy(small).probabilities.flags.writeable


def test_aces_are_never_folded_before_the_flop():
    rules = no_limit_holdem(3, 1_000_000)
    aces = rules.combo_id(parse_cards("Ac Ad"))
    found = blueprint(3)
    agent = agent_at(dataclasses.replace(found, rows=np.zeros_like(found.rows)), rules)
    strategy = agent.range_strategy(public_after(rules, (1_000_000,)))
    assert strategy.probabilities[:, 1].sum() == 6 and strategy.probabilities[aces, 1] == 1.0
    # Also where a stand-in folds them, or their own row.
    rows = found.rows.copy()
    for total in (225, 350):
        node = node_after(found.tree, (total,))
        cells = np.arange(169)[:, None] * found.game.pairs[0] + found.tree.row[node] + np.arange(3)
        rows[cells] = [255, 0, 0] if total == 350 else 0
    folds = dataclasses.replace(found, rows=rows)
    strategy, sources = sources_of(agent_at(folds), public_after(THREE, (225,)))
    assert set(sources) == {"sibling"}
    assert strategy.probabilities[:, 0].sum() == 1320 and strategy.probabilities[aces].tolist() == [0.0, 1.0, 0.0]
    public = public_after(THREE, (350,))
    strategy, sources = sources_of(agent_at(folds), public)
    assert set(sources) == {"row"}
    assert strategy.probabilities[:, 0].sum() == 1320 and strategy.probabilities[aces].tolist() == [0.0, 1.0, 0.0]
    decision = agent_at(folds, seat=public.actor).act(View(public, public.actor, parse_cards("Ac Ad")))
    assert decision.action == CALL and decision.probabilities == (0.0, 1.0, 0.0)


def test_decisions_are_counted():
    found, rng = blueprint(3, 0.3), np.random.default_rng(3)
    agent = BlueprintAgent(found)
    for _ in range(50):
        play_hand(THREE, [agent, Gambler(), Gambler()], deal_deck(THREE, rng), rng.spawn(3))
    before = agent.counts.copy()
    agent.range_strategy(public_after(THREE, ()))  # asking is no decision
    assert agent.counts == before and before.total() > 50 and set(before) <= set(SOURCES)


def test_other_games_are_refused():
    for rules, message in ((SIXMAX, "tables of 2..3 seats, got 6"), (LEDUC, "4 suits of 13 ranks")):
        with pytest.raises(ValueError, match=message):
            agent_at(blueprint(3), rules)


# Coins.


def test_one_draw_in_a_hand():
    """What a bet counts as depends on the hand's stream and the action's number, not on when it is asked."""
    actions = (280, FOLD)
    public = public_after(THREE, actions)
    answers = []
    for seed in range(60):
        agent = agent_at(blueprint(3), seat=1, seed=seed)
        first = agent.range_strategy(public).probabilities
        agent.act(View(public, public.actor, parse_cards("Qc Qd")))
        assert np.array_equal(agent.range_strategy(public).probabilities, first)
        assert np.array_equal(agent_at(blueprint(3), seat=1, seed=seed).range_strategy(public).probabilities, first)
        answers.append(first.tobytes())
    # 280 is 0.72 of the pot: it counts as 0.5 with probability 0.4884.
    share = max(answers.count(answer) for answer in set(answers)) / 60
    assert len(set(answers)) == 2 and share == pytest.approx(0.5, abs=0.2)


# OpenSpiel.


@pytest.mark.parametrize("name", ["HUNL", "SIXMAX"])
def test_hands_in_openspiels_loops(name):
    game = OpenSpielGame(name)
    seats = game.rules.num_seats
    agents = [BlueprintAgent(blueprint(6, 0.3)) if seat % 2 else Gambler() for seat in range(seats)]
    bots = [OpenSpielBot(agent, game, player, seed=7) for player, agent in enumerate(agents)]
    for hand in range(15):
        for returns in (
            pyspiel.evaluate_bots(game.game.new_initial_state(), bots, hand),
            evaluate_bots.evaluate_bots(game.game.new_initial_state(), bots, np.random.RandomState(hand)),
        ):
            assert sum(returns) == pytest.approx(0.0, abs=1e-9)
    assert all(agent.counts.total() for agent in agents[1::2])


@pytest.mark.parametrize("name", ["HUNL", "SIXMAX"])
def test_restart_in_mid_hand(name):
    """A bot that joins plays as the one that followed: the same policy and the same action."""
    game = OpenSpielGame(name)
    rng = np.random.default_rng(5)
    asked = 0
    for hand in range(12):
        player = hand % game.rules.num_seats
        followed = OpenSpielBot(BlueprintAgent(blueprint(6, 0.3)), game, player, seed=hand)
        followed.restart()
        state = game.game.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == player:
                joined = OpenSpielBot(BlueprintAgent(blueprint(6, 0.3)), game, player, seed=hand)
                joined.restart_at(state)
                assert joined.get_policy(state) == followed.get_policy(state)
                policy, action = joined.step_with_policy(state)
                assert followed.step(state) == action and sum(dict(policy).values()) == pytest.approx(1.0)
                assert dict(policy)[action] > 0.0
                asked += 1
            else:
                legal = state.legal_actions()
                action = int(rng.choice(legal if state.is_chance_node() else [1, 1, 1, *legal[:1], *legal[1:400:80]]))
                followed.inform_action(state, state.current_player(), action)
            state.apply_action(action)
    assert asked > 15


def test_clone():
    game = OpenSpielGame("HUNL")
    state = game.replay(range(9), [333])
    bot = OpenSpielBot(BlueprintAgent(blueprint(2)), game, 0, seed=1)
    bot.restart_at(state)
    twins = [bot.clone() for _ in range(8)]
    assert all(twin.agent.blueprint is bot.agent.blueprint for twin in twins)  # a blueprint is large
    assert all(twin.get_policy(state) == bot.get_policy(state) for twin in twins)
    assert len({twin.step(state) for twin in twins}) > 1  # each draws its own
    assert bot.agent.counts.total() == 0
    again = OpenSpielBot(BlueprintAgent(blueprint(2)), game, 0, seed=1)
    again.restart_at(state)
    assert again.step(state) == bot.step(state)
    bots = [bot.clone(), OpenSpielBot(Gambler(), game, 1)]
    assert sum(pyspiel.evaluate_bots(game.game.new_initial_state(), bots, 1)) == 0


# Specs.

PUSHFOLD = dataclasses.replace(read_preset("headsup-pushfold"), iterations=2_000, num_snapshots=0)


def save(folder, config=PUSHFOLD):
    trainer = make_trainer(config, lossless_buckets(config.rules, 1))
    trainer.run()
    return trainer.blueprint(config, {"iterations": config.iterations}).save(folder)


def test_specs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    digest = save(tmp_path / "runs" / "pushed" / "blueprint")
    shutil.copytree(tmp_path / "runs" / "pushed", tmp_path / "home" / "blueprints" / "mine")
    for text in ("runs/pushed", "runs/pushed/blueprint", "mine"):
        assert make_agent(f"blueprint:{text}").name == f"blueprint:{text}"
        assert agent_digest(f"blueprint:{text}") == f"{digest} defence 0.8"
        assert agent_digest(f"blueprint:{text}?defence=0") == digest
    assert make_agent("blueprint:mine").blueprint is make_agent("blueprint:mine").blueprint
    assert unique_names(["blueprint:runs/pushed", "blueprint:a/pushed"]) == ["blueprint:pushed", "blueprint:pushed#2"]
    assert relocate_spec("blueprint:runs/pushed", tmp_path) == f"blueprint:{tmp_path}/runs/pushed"
    assert relocate_spec("blueprint:mine", tmp_path) == "blueprint:mine"
    assert game_note("blueprint:mine", no_limit_holdem(2, 1_000)) == ""
    assert game_note("blueprint:mine", HUNL) == "trained for 10 bb, plays 200 bb and scales bets to the pot"
    with pytest.raises(ValueError, match="tables of 2 seats, got 6"):
        game_note("blueprint:mine", SIXMAX)
    save(tmp_path / "runs" / "pushed" / "blueprint", dataclasses.replace(PUSHFOLD, seed=2))
    assert agent_digest("blueprint:runs/pushed?defence=0") != digest
    for spec in ("blueprint?x=1", "blueprint:mine?x=1"):
        with pytest.raises(ValueError, match="written blueprint, blueprint:FOLDER or blueprint:NAME"):
            make_agent(spec)
    with pytest.raises(ValueError, match="'nowhere' is neither a folder nor the name of a blueprint.*there are .*mine"):
        make_agent("blueprint:nowhere")


def test_a_tournament_says_what_it_was_trained_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path))
    save(tmp_path / "blueprints" / "mine" / "blueprint")
    arguments = ["tournament", "--decks", "10", "--workers", "1", "--agents", "blueprint:mine,tag"]
    assert main([*arguments, "--json"]) == 0
    told = capsys.readouterr()
    assert told.err.count("blueprint:mine: trained for 10 bb, plays 200 bb and scales bets to the pot") == 1
    names = [(agent["name"], agent["faults"]) for agent in json.loads(told.out)["agents"]]
    assert names == [("blueprint:mine", 0), ("tag", 0)]
    assert main(["tournament", "--agents", "blueprint:mine,call,call"]) == 2
    assert capsys.readouterr().err.endswith(": the blueprint plays at tables of 2 seats, got 3\n")
