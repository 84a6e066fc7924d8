"""Values of the actions at suspected leaks, against plain recursion and plain sums."""

import os

import numpy as np
import pytest
from random_blueprint import random_blueprint
from reference.poker_game import PokerGame

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import LEDUC, SIXMAX
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.search.beliefs import planned_beliefs
from plurispiel.evaluation.blueprint_values import BlueprintValues
from plurispiel.tournaments.bench import leak_values as module

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="random words overflow on purpose, which numpy alone reports"
)

MENU = GameMenu((StreetMenu(("0.5p 1p allin", "allin")), StreetMenu(("1p allin", "allin"), multiway=("1p",))))


def public_after(rules, actions, board=()):
    state, taken = BettingState(rules), ()
    for action in actions:
        taken += (Action(state.actor, action, state.street),)
        state.apply(action)
    return PublicState(rules, state.array.tolist(), board, taken)


def leduc():
    blueprint = random_blueprint(LEDUC, game_menu(LEDUC), cards=lossless_buckets(LEDUC))
    agent = BlueprintAgent(blueprint)
    agent.restart(LEDUC, 0, np.random.default_rng(0))
    return agent, BlueprintValues(blueprint)


@pytest.mark.parametrize(
    ("actions", "board"),
    [((3,), ()), ((1, 3, 1, 7), tuple(LEDUC.cards[4:5].tolist()))],
    ids=["before the board", "after"],
)
def test_values_have_the_mean_of_plain_recursion(actions, board):
    agent, values = leduc()
    game = PokerGame(LEDUC, [agent] * 2)
    public = public_after(LEDUC, actions, board)
    _, beliefs = planned_beliefs(agent, LEDUC, public.actions, board)
    menu = agent.range_strategy(public).actions.tolist()
    other, actor = 1 - public.actor, public.actor
    samples = np.array(
        [module.action_values(values, public, beliefs, menu, np.random.default_rng(seed), 30) for seed in range(40)]
    )
    assert {FOLD, CALL} < set(menu)
    mean, deviation = samples.mean(axis=0), samples.std(axis=0) / len(samples) ** 0.5
    cards, compared = LEDUC.combos[:, 0].tolist(), 0
    for own, own_card in enumerate(cards):
        if own_card in board:
            assert np.isnan(samples[:, own]).all()
            continue
        for column, action in enumerate(menu):
            line = (*public.actions, Action(actor, action, public.street))
            total = expected = 0.0
            for theirs, card in enumerate(cards):
                if card in (own_card, *board):
                    continue
                deck = np.zeros(3, np.uint8)
                deck[[actor, other]] = own_card, card
                deck[2] = board[0] if board else next(each for each in cards if each not in (own_card, card))
                total += beliefs[other, theirs]
                expected += beliefs[other, theirs] * game.value(deck, len(board), line, actor)
            assert abs(mean[own, column] - expected / total) <= 4.5 * deviation[own, column] + 1e-6
            compared += 1
    assert compared == len(menu) * (len(cards) - len(board))


def test_sums_of_a_decision(monkeypatch):
    agent, values = leduc()
    public = public_after(LEDUC, (3,))
    strategy = agent.range_strategy(public)
    assert strategy.actions.tolist() == [FOLD, CALL, 5]
    rng = np.random.default_rng(5)
    chips = rng.normal(size=(6, 3))
    chips[5] = np.nan  # no deal allowed this hand
    monkeypatch.setattr(module, "action_values", lambda *_: chips)
    leak = module.Leak("a raise", lambda _: True, lambda _: np.arange(6) != 2)
    row = module.leak_row(agent, values, public, leak, rng)
    shares, weights, gains = np.zeros(4), np.zeros(4), np.zeros(4)
    for combo in (0, 1, 3, 4):
        fold, call, raised = np.asarray(strategy.probabilities)[combo] / 6
        shares += [1 / 6, fold, call, raised]
        weights += [call, fold, call, raised]
        to_fold, to_call, to_raise = chips[combo]
        gains += [
            call * (to_fold - to_call), fold * (to_call - to_fold), call * (to_raise - to_call),
            raised * (to_call - to_raise),
        ]  # fmt: skip
    np.testing.assert_allclose(row.shares, shares, atol=1e-12)
    np.testing.assert_allclose(row.weights, weights, atol=1e-12)
    np.testing.assert_allclose(row.gains, gains, atol=1e-12)
    nothing = module.Leak("nothing", lambda _: True, lambda _: np.zeros(6, np.bool_))
    assert module.leak_row(agent, values, public, nothing, rng) is None


def test_figures_of_six_seats():
    agent = BlueprintAgent(random_blueprint(SIXMAX, MENU, cards=single_buckets(SIXMAX)))
    rows = module.bench_leak_values(0.001, agent, module.LEAKS[:4])
    names = [f"{leak.name}: {change}" for leak in module.LEAKS[:4] for change in module.CHANGES]
    without_raise = [name for name in names if "raises" in name and "big blind" not in name]  # some menus have none
    found = [row.name for row in rows]
    assert [name for name in names if name in found] == found and set(names) - set(found) <= set(without_raise)
    for row in rows:
        shares = [float(part.split(" %")[0]) for part in row.note.split("; ")[1].split(", ")]
        assert sum(shares) == pytest.approx(100.0, abs=0.2) and row.unit == "bb"
        assert ", 2 decisions;" in row.note and np.isfinite(row.value)
    assert any(abs(row.value) > 0.5 for row in rows)


def test_the_interval_is_that_of_a_ratio():
    rng = np.random.default_rng(8)
    weights, gains = rng.random((50, 4)) + 0.1, rng.normal(300.0, 200.0, (50, 4))
    rows = [module.LeakRow(np.ones(4), *pair) for pair in zip(weights, gains, strict=True)]
    figures = module._figures("x", rows)
    for k, figure in enumerate(figures):
        picks = rng.integers(50, size=(20_000, 50))
        ratios = gains[picks, k].sum(axis=1) / weights[picks, k].sum(axis=1) / 100.0
        half = float(figure.note.split()[1].strip(","))
        assert figure.value == pytest.approx(gains[:, k].sum() / weights[:, k].sum() / 100.0)
        assert half == pytest.approx(1.96 * ratios.std(), rel=0.06)
