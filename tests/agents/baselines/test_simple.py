import numpy as np
import pytest
from table import public_after

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import BUILT_IN
from plurispiel.evaluation.compliance import check_agent

ODD_DECK = HoldemRules(
    blinds=(100, 50), stacks=(600, 900), first_seats=(1, 0, 0), board_cards=(0, 3, 1), num_suits=3, num_ranks=6
)
THREE_CARDS = HoldemRules(
    blinds=(10, 20, 0),
    stacks=(400, 300, 500),
    first_seats=(2, 0),
    board_cards=(0, 2),
    num_suits=2,
    num_ranks=7,
    num_hole_cards=3,
)
GAMES = [HUNL, SIXMAX, LEDUC, KUHN, HULH, no_limit_holdem(3, 2_000), SIXMAX.with_menu("fchpa"), ODD_DECK, THREE_CARDS]


@pytest.mark.parametrize("name", BUILT_IN)
def test_keeps_the_contract(name):
    report = check_agent(lambda: make_agent(name), GAMES, num_hands=60, num_decks=6, num_compared=6)
    assert report.violations == []
    assert report.tells_range
    assert report.decisions > 500


@pytest.mark.parametrize(
    ("name", "games", "tells_range"),
    [
        ("openspiel:uniform_random", [LEDUC, KUHN, HUNL.with_menu("fchpa")], False),
        ("openspiel:fixed_action_preference?actions=2:1:0", [LEDUC, SIXMAX.with_menu("fcpa")], False),
        ("openspiel:uniform_restricted_actions?policy_name=HalfCallHalfRaise", [LEDUC, HULH], False),
        ("openspiel:cfr?iterations=5", [LEDUC, KUHN], True),
    ],
)
def test_openspiel_s_agents_keep_the_contract(name, games, tells_range):
    report = check_agent(lambda: make_agent(name), games, num_hands=60, num_decks=6, num_compared=6)
    assert report.violations == []
    assert report.tells_range == tells_range


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BUILT_IN)
def test_acts_as_it_says_over_100000_decisions(name, is_whole):
    """By default over a part of them, which is smaller for agents that draw nothing."""
    part = 1 if is_whole else 25 if name in ("random", "tag", "equity") else 100
    games = [(LEDUC, 36_000), (KUHN, 30_000), (SIXMAX.with_menu("fcpa"), 2_000), (HUNL, 3_000)]
    decisions = 0
    for rules, num_hands in games:  # fold rarely gets to act twice
        report = check_agent(lambda: make_agent(name), [rules], num_hands=num_hands // part, num_decks=5)
        assert report.violations == []
        decisions += report.decisions
    assert decisions >= 100_000 // part


def test_random_is_uniform_over_a_finite_menu():
    strategy = make_agent("random").range_strategy(public_after(SIXMAX.with_menu("fchpa"), []))
    assert strategy.actions.tolist() == [FOLD, CALL, 225, 350, 10_000]
    assert (strategy.probabilities == 0.2).all()
    assert strategy.highest is None
    leduc = make_agent("random").range_strategy(public_after(LEDUC, []))
    assert leduc.actions.tolist() == [CALL, 3]
    assert (leduc.probabilities == 0.5).all()


def test_random_in_full_no_limit_draws_the_size_uniformly():
    strategy = make_agent("random").range_strategy(public_after(SIXMAX, []))
    assert strategy.actions.tolist() == [FOLD, CALL, 200]
    assert strategy.highest.tolist() == [FOLD, CALL, 10_000]
    assert strategy.probabilities.shape == (1326, 3)
    np.testing.assert_allclose(strategy.probability(9_999), 1 / 3 / 9_801)
    np.testing.assert_allclose(strategy.probability(199), 0)
    np.testing.assert_allclose(strategy.probability(FOLD), 1 / 3)


def test_fold_checks_when_that_is_free():
    fold = make_agent("fold")
    assert fold.action(public_after(SIXMAX, [])) == FOLD
    assert fold.action(public_after(SIXMAX, [CALL] * 5)) == CALL


def test_raise_bets_the_pot():
    raiser = make_agent("raise")
    assert raiser.action(public_after(SIXMAX, [])) == 350
    assert raiser.action(public_after(HUNL, [CALL, CALL], "2c7d9h")) == 300
    assert raiser.action(public_after(HUNL, [20_000])) == CALL
