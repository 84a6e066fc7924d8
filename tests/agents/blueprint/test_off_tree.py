"""Play by the own range: against bets between the sizes of the tree, and where the tree has no decision."""

import dataclasses
import os

import numpy as np
import pytest
from blueprint_seat import BOARD, FLOP, THREE, agent_at, blueprint, node_after, sources_of
from random_blueprint import random_blueprint
from table import public_after

from plurispiel.abstraction.actions.mapping import lower_share
from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu
from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents.base import View
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.off_tree import shared_defence
from plurispiel.agents.factory import make_agent

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def own_range(agent, public):
    """Return the range of the seat to act, from the agent's own strategies, as the formula says."""
    free = public.rules.free_combos(public.board).astype(float)
    reach = free / free.sum()
    for number, taken in enumerate(public.actions):
        if taken.seat == public.actor:
            before = [action for _, action, _ in public.actions[:number]]
            seen = agent.range_strategy(public_after(public.rules, before, public.board))
            action, raises = taken.action, seen.actions[seen.actions > CALL]
            if action > CALL and len(raises):  # an action that the strategy lacks is the nearest
                action = raises[np.argmin(abs(raises - action))]
            if (after := reach * seen.probability(action)).any():
                reach = after
    return reach / reach.sum()


def goes_on(strategy):
    return 1.0 - strategy.probabilities[:, 0]


# Below the smallest size.


def test_a_small_bet_is_answered_by_the_share_of_the_mean_over_the_coin():
    found = blueprint(3)
    # 1,050 lie on the flop, and the only size is the pot.
    for total in (450, 600, 900, 1_300):
        actions = (*FLOP, total)
        public = public_after(THREE, actions, BOARD)
        size = (total - 350) / 1_050
        share = lower_share(size, 0.0, 1.0)
        node = node_after(found.tree, (*FLOP, 1_400))
        buckets = found.cards.row(public.board, 1)
        row = found.strategy(node, np.minimum(buckets, 19)).astype(float)
        nodes = set()
        for seed in range(12):
            agent = agent_at(found, seat=public.actor, seed=seed)
            strategy, sources = sources_of(agent, public)
            assert set(sources) == {"small bet"} and strategy.actions[0] == FOLD
            reach = own_range(agent, public)
            expected = share + (1.0 - share) * float(reach @ (1.0 - row[:, 0] / row.sum(axis=1)))
            assert float(reach @ goes_on(strategy)) == pytest.approx(expected, abs=1e-6)  # rows are float32
            nodes.add(strategy.probabilities.tobytes())
        assert len(nodes) == 2  # raises follow the decision that the coin chose


def test_every_seat_that_answers_a_small_bet_defends_by_order():
    for actions in ((*FLOP, 500), (*FLOP, 500, CALL), (*FLOP, 500, FOLD), (*FLOP, CALL, CALL, 500)):
        public = public_after(THREE, actions, BOARD)
        for seed in range(4):
            agent = agent_at(blueprint(3), seat=public.actor, seed=seed)
            strategy, sources = sources_of(agent, public)
            assert set(sources) == {"small bet"}
            # Of hands that neither raise, nor are ordered by different chances, the stronger call.
            assert 0.5 < float(own_range(agent, public) @ goes_on(strategy)) < 1.0


def test_the_expected_strategy_is_the_mean_over_the_coin():
    public = public_after(THREE, (*FLOP, 500), BOARD)
    shares = {}
    for seed in range(20):
        agent = agent_at(blueprint(3), seat=public.actor, seed=seed)
        strategy = agent.range_strategy(public)
        shares[tuple(strategy.actions.tolist())] = strategy
    assert len(shares) == 2
    share = lower_share(150 / 1_050, 0.0, 1.0)
    mean = agent.expected_strategy(public)
    lower = min(shares.values(), key=lambda strategy: len(strategy.actions))
    upper = max(shares.values(), key=lambda strategy: len(strategy.actions))
    for action in mean.actions.tolist():
        mixtures = [
            part * one.probability(action) + (1 - part) * other.probability(action)
            for part, one, other in ((share, lower, upper), (share, upper, lower))
        ]
        assert any(np.allclose(mean.probability(action), mixture) for mixture in mixtures)
    # The share that folds does not depend on the coin.
    assert np.allclose(own_range(agent, public) @ goes_on(lower), own_range(agent, public) @ goes_on(upper))


def test_a_hand_acts_by_its_row_of_the_range():
    for actions in ((*FLOP, 500), (*FLOP, 5_000), (*FLOP, 1_400, 3_000)):
        public = public_after(THREE, actions, BOARD)
        agent = agent_at(blueprint(3), seat=public.actor)
        strategy = agent.range_strategy(public)
        for cards in ("Qc Qd", "4h 3h", "As Kd"):
            decision = agent.act(View(public, public.actor, parse_cards(cards)))
            row = strategy.probabilities[THREE.combo_id(parse_cards(cards))]
            assert decision.actions == tuple(strategy.actions.tolist()) and decision.probabilities == tuple(
                row.tolist()
            )


# Above the largest size.


def test_a_large_bet_is_answered_by_the_mean_of_two_rows():
    found = blueprint(2)
    rules = found.rules
    limped = (CALL, CALL)  # 200 lie on the flop: half a pot, a pot
    public = public_after(rules, (CALL, 2_000), BOARD)
    # Before the flop the sizes are half a pot, a pot and all-in.
    lower, upper = node_after(found.tree, (CALL, 300)), node_after(found.tree, (CALL, 10_000))
    share = lower_share(1_900 / 200, 1.0, 9_900 / 200)
    classes = found.cards.row((), 0)
    strategy, sources = sources_of(agent_at(found, seat=public.actor), public)
    assert set(sources) == {"large bet"} and limped
    rows, all_in = found.strategy(lower, classes).astype(float), found.strategy(upper, classes).astype(float)
    expected = share * rows[:, 0] + (1.0 - share) * all_in[:, 0]
    others = (rules.combos < 48).any(axis=1)  # aces are not folded
    np.testing.assert_allclose(strategy.probabilities[others, 0], expected[others], atol=1e-6)
    np.testing.assert_allclose(strategy.probabilities[:, 2:].sum(axis=1), share * rows[:, 2:].sum(axis=1), atol=1e-6)


def test_after_a_large_bet_the_tree_goes_on():
    """Today's all-in would have ended it: no bets on later streets."""
    found = blueprint(2)
    public = public_after(found.rules, (CALL, 2_000, CALL), BOARD)
    strategy, sources = sources_of(agent_at(found, seat=public.actor), public)
    assert set(sources) == {"row"} and len(strategy.actions) > 1
    assert strategy.probabilities[:, 1:].sum() > 0.0


# No decision.


def test_without_a_decision_a_like_one_bets_and_defends():
    found = blueprint(3)
    deep = dataclasses.replace(THREE, stacks=(50_000,) * 3)
    # One raise on the flop with three players: a second one is beyond the tree.
    actions = (*FLOP, 1_400, 4_000)
    public = public_after(deep, actions, BOARD)
    agent = agent_at(found, deep, seat=public.actor)
    strategy, sources = sources_of(agent, public)
    assert set(sources) == {"like decision"} and strategy.actions[0] == FOLD
    reach = own_range(agent, public)
    # Two seats answer 3,650 into 1,050 + 1,050.
    assert shared_defence(public) == pytest.approx(1 - (3_650 / 5_750) ** (1 / 2))
    assert float(reach @ goes_on(strategy)) == pytest.approx(shared_defence(public), abs=1e-9)


def test_without_decisions_on_the_street_strength_defends():
    """A blueprint whose later streets have no decision of either kind: the strongest hands of the range call."""
    config = read_preset("headsup-pushfold")
    found = random_blueprint(config.rules, config.game_menu, cards=lossless_buckets(config.rules, 1))
    public = public_after(HUNL, (300, CALL, 400), BOARD)
    agent = agent_at(found, HUNL, seat=public.actor)
    strategy, sources = sources_of(agent, public)
    assert set(sources) == {"off the tree"}
    reach = own_range(agent, public)
    assert float(reach @ goes_on(strategy)) == pytest.approx(6 / 7, abs=1e-9)
    strength = made_strength(HUNL, public.board)
    held = reach > 0.0
    calls = goes_on(strategy)
    assert (np.diff(calls[held][np.argsort(strength[held], kind="stable")]) >= -1e-12).all()


# The bundled blueprints at the spots of their leaks.

SPOT = parse_cards("Ah Kd Qs 9c 8h")


def bundled(rules, actions, seed=1, spec="blueprint"):
    public = public_after(rules, actions, SPOT)
    agent = make_agent(spec)
    agent.restart(rules, public.actor, np.random.default_rng(seed))
    return agent, public


def seven_high(rules, strategy):
    """Return how often 7h2d (seven high on the board) does not fold."""
    return goes_on(strategy)[rules.combo_id(parse_cards("7h 2d"))]


@pytest.mark.parametrize("actions", [(200,), (210,), (220,), (225, 350)], ids=str)
def test_seven_deuce_folds_to_small_raises(actions):
    for seed in range(6):
        agent, public = bundled(SIXMAX, actions, seed)
        assert seven_high(SIXMAX, agent.range_strategy(public)) == 0.0
        assert seven_high(SIXMAX, agent.expected_strategy(public)) == 0.0


@pytest.mark.parametrize("checks", [1, 5], ids=["flop", "river"])
def test_the_strongest_hands_defend_against_a_fifth_of_the_pot(checks):
    # 100 into 500: pot / (pot + bet) is 5/6 of the range.
    agent, public = bundled(HUNL, (250, CALL, *[CALL] * checks, 350), spec="blueprint:headsup-refined")
    strategy = agent.range_strategy(public)
    reach = own_range(agent, public)
    assert 0.7 < float(reach @ goes_on(strategy)) < 0.95
    calls = strategy.probability(CALL)
    strength = made_strength(HUNL, public.board)
    held = reach > 0.0
    weak, strong = (held & (strength < 0.2)), (held & (strength > 0.4))
    assert weak.any()
    assert float(reach[weak] @ calls[weak]) < 0.1 * reach[weak].sum()
    assert float(reach[strong] @ goes_on(strategy)[strong]) > 0.9 * reach[strong].sum()


def test_after_an_overbet_the_best_hands_bet_the_river():
    """Last to act, with the top 2 % of hands, where the hand left the tree at an earlier bet."""
    # 200 bb: 1,250 into 500 on the turn is called, and the river is checked to the seat in position.
    agent, public = bundled(HUNL, (250, CALL, CALL, CALL, 1_500, CALL, CALL))
    strategy = agent.range_strategy(public)
    top = made_strength(HUNL, public.board) >= 0.98
    assert strategy.probability(CALL)[top].mean() < 0.05
    assert 0.1 < float(own_range(agent, public) @ strategy.probability(CALL)) < 0.9


def test_no_probability_is_below_0_against_a_small_bet():
    """Hands that always raise, in sizes whose probabilities sum to 1 + 2e-16, do not call."""
    sizes = StreetMenu(("1p", "0.5p 1p 2p allin"))
    found = random_blueprint(HUNL, GameMenu((StreetMenu(("1p",)), sizes, StreetMenu(("1p",)))))
    node = node_after(found.tree, (CALL, CALL, 300))
    start, end, first = int(found.game.base[1]), int(found.game.base[2]), int(found.tree.row[node])
    rows, always = found.rows.copy(), (7, 55, 16, 15)  # once divided by their sum, they sum to 1 + 2e-16
    table = rows[start:end].reshape(found.cards.num_buckets[1], -1)
    table[10:, first : first + 6] = [0, 0, *always]  # the upper half of the hands neither folds nor calls
    found, most = dataclasses.replace(found, rows=rows), 0.0
    for seed in range(8):  # the coin decides whether hands raise as after no bet
        agent = agent_at(found, seat=1, seed=seed)
        public = public_after(HUNL, (CALL, CALL, 200), BOARD)
        strategy, sources = sources_of(agent, public)
        assert set(sources) == {"small bet"}
        most = max(most, strategy.probabilities[:, 2:].sum(axis=1).max())
        for played in (strategy.probabilities, agent.expected_strategy(public).probabilities):
            assert played.min() >= 0.0 and np.allclose(played.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert most > 1.0
