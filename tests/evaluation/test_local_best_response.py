"""Local best response: known values, bounds by exact best responses, and showdowns expected as they come out."""

import os

import numpy as np
import pytest
from random_blueprint import random_blueprint
from reference.poker_game import PokerGame, decks

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import Action, Agent, PublicState, Strategy
from plurispiel.agents.baselines.simple import CallAgent, FoldAgent, RandomAgent
from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.local_best_response import (
    GEOMETRIC_56,
    MENUS,
    LocalBestResponse,
    Menu,
    Prober,
    StrategyUnknown,
)
from plurispiel.evaluation.streams import Seeded

jit_only = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes, and bytes that overflow, without the compiler"
)
EVERYTHING = Menu("all", "every bet on every street", ((1.0,),))


def exact_value(rules, agent, menu, seat):
    """Return what local best response wins in a seat, over all deals and all that the agent may do."""
    prober = LocalBestResponse(agent, menu)
    prober.restart(rules, seat, np.random.default_rng(0))
    agents = [prober, agent] if seat == 0 else [agent, prober]
    game = PokerGame(rules, agents)
    everything = decks(rules)
    return sum(game.value(deck, 0, (), seat) for deck in everything) / len(everything)


@jit_only
@pytest.mark.parametrize(("menu", "won"), [("fc", 250.0), ("fcpa", 750.0), ("56bets", 750.0), ("flop56", 750.0)])
def test_an_agent_that_always_folds_loses_what_it_must(menu, won):
    prober = Prober(HUNL, FoldAgent(), MENUS[menu], Seeded(1))
    for number in range(3):
        score = prober.play(number)
        assert score.payoff * 10.0 == pytest.approx(won)
        assert menu == "fc" or score.expectation == score.payoff  # there hands are shown


@jit_only
def test_an_agent_that_always_calls_gains_nothing_without_bets():
    prober = Prober(HUNL, CallAgent(), MENUS["fc"], Seeded(1))
    scores = [prober.play(number) for number in range(5)]
    assert [score.payoff for score in scores] == pytest.approx([0.0] * 5)
    assert any(abs(score.expectation) > 1.0 for score in scores)


def test_menus_are_those_of_the_paper():
    state = BettingState(HUNL)
    for action in (CALL, CALL, CALL, CALL):
        state.apply(action)
    turn = PublicState(HUNL, state.array.tolist(), (0, 1, 2, 3), ())
    assert MENUS["fc"].actions(turn) == [CALL]
    assert MENUS["fcpa"].actions(turn) == [CALL, 300, 20_000]
    bets = MENUS["56bets"].actions(turn)
    assert len(GEOMETRIC_56) == 56 and GEOMETRIC_56[54] == pytest.approx(94.77, abs=0.02)
    assert bets[:2] == [CALL, 200] and bets[-2:] == [round(100 + 200 * GEOMETRIC_56[54]), 20_000]
    assert len(bets) < 57  # bets below the smallest become it
    state.apply(500)
    facing = PublicState(HUNL, state.array.tolist(), (0, 1, 2, 3), ())
    assert MENUS["fc"].actions(facing) == [FOLD, CALL]
    assert MENUS["fcpa"].actions(facing) == [FOLD, CALL, 1500, 20_000]
    start = PublicState(HUNL, BettingState(HUNL).array.tolist(), (), ())
    assert MENUS["fc"].actions(start) == [FOLD, CALL]
    assert [MENUS[name].actions(start) for name in ("fcpa", "56bets", "flop56")] == [[CALL]] * 3


@pytest.mark.parametrize(
    ("rules", "num_policies"),
    [(KUHN, 40), pytest.param(LEDUC, 4, marks=jit_only), pytest.param(LEDUC, 100, marks=pytest.mark.slow)],
    ids=["kuhn", "leduc", "leduc, 100 policies"],
)
def test_it_never_wins_more_than_the_best_response(rules, num_policies):
    tree = flatten(game_string(rules))
    cards = lossless_buckets(rules)
    local = []
    for seed in range(num_policies):
        agent = BlueprintAgent(random_blueprint(rules, game_menu(rules), cards=cards, seed=seed))
        agent.restart(rules, 0, np.random.default_rng(0))
        best = exploitability(tree, strategy_from_agent(tree, agent))
        for seat in range(2):
            value = exact_value(rules, agent, EVERYTHING, seat)
            assert value <= best.best_response_values[seat] + 1e-9
            local.append(value - best.values[seat])
    assert np.mean(local) > 0.1


@jit_only
def test_a_uniformly_random_agent_loses_much():
    prober = Prober(HUNL, RandomAgent(), MENUS["fcpa"], Seeded(2))
    scores = np.array([prober.play(number) for number in range(60)]) * 10.0
    assert scores[:, 1].mean() - 3.0 * scores[:, 1].std() / 60**0.5 > 2000.0


@jit_only
@pytest.mark.slow
def test_aivat_takes_out_luck_and_leaves_the_mean():
    prober = Prober(HUNL, TightAggressiveAgent(), MENUS["fcpa"], Seeded(4), aivat=True)
    scores = np.array([prober.play(number) for number in range(250)]) * 10.0
    paid, corrected = scores[:, 0], scores[:, 2]
    error = (corrected - paid).std() / len(scores) ** 0.5
    assert abs((corrected - paid).mean()) < 4.0 * error
    assert corrected.std() < 0.85 * paid.std()
    plain = Prober(HUNL, TightAggressiveAgent(), MENUS["fcpa"], Seeded(4))
    assert [plain.play(number)[:2] for number in range(3)] == [prober.play(number)[:2] for number in range(3)]


@jit_only
def test_expected_showdowns_have_the_mean_of_paid_ones():
    agent = TightAggressiveAgent()
    prober = Prober(HUNL, agent, Menu("bets", "bets on all streets", ((1.0,),)), Seeded(3))
    scores = np.array([prober.play(number) for number in range(150)])
    difference = scores[:, 0] - scores[:, 1]
    assert difference.std() > 10.0
    assert abs(difference.mean()) < 4.0 * difference.std() / len(scores) ** 0.5


def test_a_bet_between_two_sizes_is_valued_by_both_and_met_by_one():
    menu = GameMenu((StreetMenu(("0.5p 1p allin", "allin")), StreetMenu(("1p allin",))))
    agent = BlueprintAgent(random_blueprint(HUNL, menu, cards=single_buckets(HUNL)))
    state = BettingState(HUNL)
    state.apply(250)
    public = PublicState(HUNL, state.array.tolist(), (), (Action(1, 250, 0),))
    folds = []
    for seed in range(200):
        agent.restart(HUNL, 0, np.random.default_rng(seed))
        folds.append(agent.range_strategy(public).probability(FOLD)[7])
    expected = agent.expected_strategy(public)
    assert expected.probabilities.sum(axis=1) == pytest.approx(np.ones(1326))
    assert len(set(folds)) == 2
    chance = np.mean(np.array(folds) == min(folds))
    assert min(folds) < expected.probability(FOLD)[7] < max(folds)
    found = (max(folds) - expected.probability(FOLD)[7]) / (max(folds) - min(folds))
    assert abs(found - chance) < 4.0 * (chance * (1.0 - chance) / 200) ** 0.5
    assert chance not in (0.0, 1.0)


def test_agents_that_do_not_tell_are_refused():
    class Silent(Agent):
        def act(self, view):
            return CALL

    with pytest.raises(StrategyUnknown, match="Silent: .*does not tell what it does with every hand"):
        Prober(HUNL, Silent(), MENUS["fc"], Seeded(1)).play(0)

    class Liar(CallAgent):
        def act(self, view):
            raise RuntimeError("it does not tell what it does with every hand")

    with pytest.raises(ValueError, match="Liar: act: .*does not tell") as caught:
        Prober(HUNL, Liar(), MENUS["fc"], Seeded(1)).play(0)
    assert caught.type is ValueError


def test_agents_that_fail_are_named():
    class Broken(CallAgent):
        def act(self, view):
            raise OSError("no disk")

    with pytest.raises(ValueError, match="Broken: .*no disk"):
        Prober(HUNL, Broken(), MENUS["fc"], Seeded(1)).play(0)

    class Forgetful(CallAgent):
        def range_strategy(self, public):
            if len(public.board) == 5:
                raise LookupError("no memory")
            return super().range_strategy(public)

    with pytest.raises(ValueError, match="Forgetful: range_strategy: LookupError: no memory"):
        for number in range(5):
            Prober(HUNL, Forgetful(), MENUS["fc"], Seeded(1)).play(number)


@pytest.mark.parametrize("action", [12_345_678, -5, 2**62, 101])
def test_reports_of_illegal_actions_are_refused(action):
    class Liar(Agent):
        def act(self, view):
            return CALL

        def range_strategy(self, public):
            return Strategy(np.array([action]), np.ones((public.rules.num_combos, 1)))

    with pytest.raises(ValueError, match=f"gives probability to the action {action}: legal are "):
        Prober(HUNL, Liar(), MENUS["fcpa"], Seeded(1)).play(0)


def test_it_is_played_heads_up():
    with pytest.raises(ValueError, match="heads-up, got 6 seats"):
        LocalBestResponse(CallAgent()).restart(SIXMAX, 0, np.random.default_rng(0))
