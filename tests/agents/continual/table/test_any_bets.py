"""Continual re-solving against bets of log-uniform sizes, at stacks of any depth."""

import dataclasses
import os

import numpy as np
import pytest
import table
from random_nets import save_flop_nets
from search_seat import Gambler, blueprint

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.continual.table import TableAgent, TableConfig, kept_lines
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import deal_deck, play_hand

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

CONFIG = TableConfig(iterations=2, threads=1, cards="blueprint", last_boards=1)


class Checked(TableAgent):
    """Checks the strategies that it reports."""

    def range_strategy(self, public):
        found = super().range_strategy(public)
        assert (found.probabilities >= 0.0).all() and all(map(public.is_legal, found.actions.tolist()))
        np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, atol=1e-6)
        if public.street or self.blueprint is None:
            carried = self.decision(public).carried
            assert np.isfinite(carried.range).all() and abs(carried.range.sum() - 1.0) < 1e-9
            assert np.isfinite(carried.estimate).all() and abs(carried.estimate.sum() - 1.0) < 1e-9
            assert carried.bounds is None or np.isfinite(carried.bounds).all()
        return found


def own_decisions(rules, hand, seat):
    """The public states at the decisions of a seat, in order."""
    state, done, found = BettingState(rules), (), []
    board = tuple(hand.deck.tolist()[rules.num_seats * rules.num_hole_cards :])
    for action in hand.actions:
        if state.actor == seat:
            found.append(PublicState(rules, state.array.tolist(), board[: rules.board_size(state.street)], done))
        done += (Action(state.actor, action.action, state.street),)
        state.apply(action.action)
    return found


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """No solution before the flop comes from the user's cache."""
    monkeypatch.setattr(kept_lines, "user_cache_folder", lambda: tmp_path / "cache")


def fuzz(num_hands, nets="", seed=11, **options):
    """Play hands against an opponent that bets any size, and ask again in another order."""
    config = dataclasses.replace(CONFIG, nets=str(nets), **options)
    rng, agents = np.random.default_rng(seed), [Checked(config, BlueprintAgent(blueprint(2))) for _ in range(2)]
    agent, late = agents
    for number in range(num_hands):
        stacks = tuple(rng.choice([350, 2500, 10_000, 20_000, 60_000], 2).tolist())
        rules, seat = dataclasses.replace(no_limit_holdem(2), stacks=stacks), number % 2
        if nets:
            rules = table.random_rules(2, rng)
        players = [Gambler(), Gambler()]
        players[seat] = agent
        rngs = [[np.random.default_rng((number, place)) for place in range(2)] for _ in range(2)]
        hand = play_hand(rules, players, deal_deck(rules, rng), rngs[0])
        assert not hand.faults, (rules, hand)
        score = Aivat(rules).scores(hand, players)[seat]
        assert not score.refused and np.isfinite(score.estimate), score.refused
        late.restart(rules, seat, rngs[1][seat])
        asked = own_decisions(rules, hand, seat)
        for public in rng.permutation(len(asked)).tolist():
            told, again = (each.range_strategy(asked[public]) for each in (agent, late))
            np.testing.assert_array_equal(told.actions, again.actions)
            np.testing.assert_array_equal(told.probabilities, again.probabilities)
    return agent


def test_any_bets_are_answered():
    agent = fuzz(8)
    assert agent.counts["solver"] > 5


def test_any_bets_are_answered_with_networks(tmp_path):
    agent = fuzz(6, save_flop_nets(tmp_path))
    assert agent.counts["nets"] > 2


ALL_NETS = ("end-of-preflop", "flop", "end-of-flop", "turn")


def test_any_bets_are_answered_without_a_blueprint(tmp_path):
    agent = fuzz(6, save_flop_nets(tmp_path, names=ALL_NETS), preflop="nets", cards="flop-500")
    assert agent.counts["nets"] > 2 and not agent.counts["blueprint"]


@pytest.mark.slow
def test_any_bets_are_answered_without_a_blueprint_at_length(tmp_path):
    agent = fuzz(200, save_flop_nets(tmp_path, names=ALL_NETS), preflop="nets", cards="flop-500")
    assert agent.counts["nets"] > 200 and agent.counts["clamped"] > 0


@pytest.mark.slow
def test_any_bets_are_answered_at_length():
    agent = fuzz(1000)
    assert agent.counts["solver"] > 500 and agent.counts["decisions"] > 1500


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_any_bets_are_answered_with_networks_at_length(seed):
    """Stacks of 1 to 600 big blinds: deeper ones than in training are clamped and counted."""
    agent = fuzz(500, "bundled", seed)
    assert agent.counts["nets"] > 100 and agent.counts["clamped"] > 0
