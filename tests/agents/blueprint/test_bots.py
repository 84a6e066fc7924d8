"""The blueprints in the package: small, sane before the flop, and with a record of how they were made."""

from types import SimpleNamespace

import numpy as np
import pytest

from plurispiel.abstraction.cards.preflop import preflop_classes, preflop_names
from plurispiel.abstraction.holdem.betting import FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.abstraction.machine.artefact import load_artefact
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint import blueprint as module
from plurispiel.agents.blueprint.agent import blueprint_agent
from plurispiel.agents.blueprint.blueprint import load_blueprint
from plurispiel.agents.blueprint.bundle import packed_facts
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.first_in import first_in, shares
from plurispiel.agents.blueprint.library import bundled_blueprints, find_blueprint, pick_bundled
from plurispiel.agents.blueprint.training_record import CI95, work_done

GAMES = {"headsup-refined": HUNL, "sixmax-wide": SIXMAX}
PUBLISHED = {"UTG": 0.18, "HJ": 0.24, "CO": 0.31, "BTN": 0.42}
"""Raises first in of Pluribus."""


def test_there_are_some_for_each_usual_game():
    assert {found.name: found.rules for found in bundled_blueprints()} == GAMES
    for found in bundled_blueprints():
        assert found.path.stat().st_size < 20 * 2**20
    assert [pick_bundled(rules).name for rules in (HUNL, SIXMAX)] == ["headsup-refined", "sixmax-wide"]


@pytest.mark.parametrize("name", GAMES)
def test_how_it_was_made_is_recorded(name):
    found = next(found for found in bundled_blueprints() if found.name == name)
    training = packed_facts(found.path).record["training"]
    assert work_done(training)[0] >= 3 * 10**9 and training["nodes"] >= (4 if training.get("start") else 100) * 10**9
    preset = read_preset(name)
    assert (found.config.menu, found.config.cards, found.rules) == (preset.menu, preset.cards, preset.rules)
    if training.get("device", "cpu") == "cpu":
        assert work_done(training)[1] > 1.0 and training["last_doubling_ci95"] < 40.0
    else:  # stopped before the last mark
        mark = training["marks"][-1]
        assert "NVIDIA" in training["device"] and mark["iteration"] < training["iterations"]
        assert abs(mark["against_final"]) < 10.0 and CI95 * mark["against_final_deviation"] < 10.0


@pytest.mark.parametrize("name", GAMES)
def test_aces_are_never_folded_before_the_flop(name):
    agent = blueprint_agent(name)
    rules, tree = GAMES[name], load_blueprint(find_blueprint(name)).tree
    aces = np.flatnonzero(preflop_classes() == preflop_names().index("AA"))
    decisions = np.flatnonzero((tree.street == 0) & (tree.actor >= 0))
    for node in decisions[:: max(1, len(decisions) // 150)].tolist():
        taken = []
        while node:
            taken.append(int(tree.action[node]))
            node = int(tree.parent[node])
        state, actions = BettingState(rules), []
        for action in taken[::-1]:
            actions.append(Action(state.actor, action, state.street))
            state.apply(action)
        public = PublicState(rules, state.array.tolist(), (), tuple(actions))
        agent.restart(rules, state.actor, np.random.default_rng(0))
        assert agent.range_strategy(public).probability(FOLD)[aces].max() == 0.0


def test_six_handed_more_hands_are_opened_the_nearer_to_the_button():
    blueprint = load_blueprint(find_blueprint("sixmax-wide"))
    sizes = np.bincount(preflop_classes())
    weights = dict(zip(preflop_names(), sizes / sizes.sum(), strict=True))
    found = {}
    for seat, strategy in first_in(blueprint).items():
        hands = shares(strategy)
        found[seat] = {kind: sum(weights[hand] * row[kind] for hand, row in hands.items()) for kind in hands["AA"]}
        assert hands["AA"]["fold"] == 0.0 and hands["72o"]["fold"] > 0.5
        assert hands["KK"]["raise"] > 0.5 and (seat == "SB" or hands["AKs"]["raise"] > 0.9)
    raises = {seat: row["raise"] for seat, row in found.items()}
    assert raises["UTG"] < raises["HJ"] < raises["CO"] < raises["BTN"]
    for seat, published in PUBLISHED.items():
        assert raises[seat] == pytest.approx(published, abs=0.04)
        assert found[seat]["call"] < 0.03
    assert raises["SB"] == pytest.approx(1 / 3, abs=0.04) and found["SB"]["call"] == pytest.approx(0.29, abs=0.04)


def test_heads_up_the_button_plays_most_hands():
    hands = shares(first_in(load_blueprint(find_blueprint("headsup-refined")))["BTN"])
    weights = np.bincount(preflop_classes()) / 1326
    played = sum(weight * (1.0 - hands[name]["fold"]) for name, weight in zip(preflop_names(), weights, strict=True))
    assert 0.6 < played < 0.95
    assert hands["AA"]["raise"] > 0.5 and hands["72o"]["fold"] > 0.3


def test_a_table_built_with_other_versions_serves(monkeypatch):
    """The digest of a table covers the versions of numpy and numba; its card model does not."""
    artefact = load_artefact(find_blueprint("headsup-refined"), module.KIND, module.FORMAT_VERSION)
    model = load_blueprint(find_blueprint("headsup-refined")).cards.model
    cards = artefact.config["cards"]
    monkeypatch.setattr(module, "holds_artefact", lambda folder: True)
    monkeypatch.setattr(module, "load_table", lambda folder: table)
    table = SimpleNamespace(digest="another", model=model)
    assert module._built_table(cards, artefact.arrays) is table
    name = "cards_river_centroids"
    assert module._built_table(cards, artefact.arrays | {name: artefact.arrays[name] + 1}) is None
    other = cards | {"config": cards["config"] | {"seed": 2}}
    assert module._built_table(other, artefact.arrays) is None
