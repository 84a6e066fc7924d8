"""The public-tree best response: equal to plain loops, to OpenSpiel, and to what can be said in closed form."""

import dataclasses
import os

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy
from public_games import SMALL, Noise, Wave, pair, small_game
from reference import public_best_response as reference
from reference import showdown

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import load_game, parse_game
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands, showdown_margin
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.ladder import LADDER
from plurispiel.agents import make_agent
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.openspiel import agent_policy
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.public_best_response import public_best_response, subgame_best_response
from plurispiel.evaluation.public_walk import PublicWalk

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


HOLDEM_FLOP = parse_game(LADDER["holdem-flop"].game)


def start(rules):
    return PublicState(rules, BettingState(rules).array.tolist())


def check(rules, agents, **options):
    """Compare with the reference, and return the result."""
    found = public_best_response(rules, agents, **options)
    own, best = reference.values(start(rules), np.ones((2, rules.num_combos)), agents)
    np.testing.assert_allclose(found.values, own, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.best_response_values, best, rtol=0, atol=1e-9)
    assert found.values.sum() == pytest.approx(0.0, abs=1e-9)
    assert found.exploitability == pytest.approx(sum(best) / 2, abs=1e-9)
    return found


@pytest.mark.parametrize("rules", SMALL.values(), ids=SMALL)
def test_equal_plain_loops_for_any_strategies(rules):
    if os.environ.get("NUMBA_DISABLE_JIT") and rules.num_combos > 15:
        pytest.skip("minutes without the compiler")
    found = check(rules, [Noise(1), Noise(2)])
    if rules.num_board_cards:
        assert found.suit_symmetric is False


@pytest.mark.parametrize("rules", SMALL.values(), ids=SMALL)
def test_equal_plain_loops_for_symmetric_strategies(rules):
    if os.environ.get("NUMBA_DISABLE_JIT") and rules.num_combos > 15:
        pytest.skip("minutes without the compiler")
    found = check(rules, [Wave(1), Wave(2)])
    assert found.suit_symmetric is (True if rules.num_board_cards else None)


@jit_only
@pytest.mark.parametrize("name", ["random", "call", "tag", "equity", "raise"])
def test_boards_by_class_give_what_all_boards_give(name, monkeypatch):
    rules = small_game(3, 4, (0, 3))
    by_class = public_best_response(rules, pair(name))
    monkeypatch.setattr(PublicWalk, "_is_suit_symmetric", lambda *args: False)
    all_boards = public_best_response(rules, pair(name))
    assert (by_class.suit_symmetric, all_boards.suit_symmetric) == (True, False)
    assert (by_class.num_boards, all_boards.num_boards) == (len(board_classes(3, 3, 4).boards), 220)
    for field in ("values", "best_response_values", "combo_values"):
        np.testing.assert_allclose(getattr(by_class, field), getattr(all_boards, field), rtol=0, atol=1e-9)


@pytest.mark.parametrize("rules", [LEDUC, SMALL["one board card"], SMALL["one hole card"]], ids=range(3))
def test_equal_openspiel(rules):
    """Through OpenSpiel's own tree, infosets and best response, for one agent at both seats."""
    game = load_game(rules)
    for agents in (pair("tag"), [Noise(3), Noise(3)]):
        table = openspiel_policy.tabular_policy_from_callable(game, agent_policy(agents[0], game).action_probabilities)
        expected = pyspiel.nash_conv(game, openspiel_policy.python_policy_to_pyspiel_policy(table))
        assert public_best_response(rules, agents).nash_conv == pytest.approx(expected, abs=1e-9)


@jit_only
def test_equal_the_flat_tree_of_holdem_mini():
    """4,349,545 histories, which OpenSpiel's own tree walk agrees with (tests of the flat tree)."""
    tree = flatten(LADDER["holdem-mini"].game)
    rules = parse_game(tree.game)
    for make in (lambda: make_agent("tag"), lambda: Noise(6)):
        expected = exploitability(tree, strategy_from_agent(tree, make()))
        found = public_best_response(rules, [make(), make()])
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)


def test_known_values():
    assert public_best_response(KUHN, pair("random")).nash_conv == pytest.approx(11 / 12, abs=1e-12)
    assert public_best_response(LEDUC, pair("random")).nash_conv == pytest.approx(1709 / 360, abs=1e-12)


def random_ranges(rules, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((2, rules.num_combos)) < 0.3, 0.0, rng.random((2, rules.num_combos)))


@pytest.mark.parametrize("actions", [(), (CALL,), (CALL, CALL), (CALL, CALL, CALL), (CALL, CALL, CALL, CALL)])
def test_subgames_equal_plain_loops(actions):
    rules = SMALL["three streets"]
    state, taken = BettingState(rules), ()
    for action in actions:
        taken += (Action(state.actor, action, state.street),)
        state.apply(action)
    board = (5, 0)[: rules.board_size(state.street)]
    public = PublicState(rules, state.array.tolist(), board, taken)
    ranges = random_ranges(rules, len(actions))
    agents = [Noise(4), Noise(5)]
    found = subgame_best_response(public, 7.0 * ranges, agents, threads=1)
    own, best = reference.values(public, ranges, agents)
    np.testing.assert_allclose(found.values, own, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.best_response_values, best, rtol=0, atol=1e-9)
    # The values of single combos, weighted by how often they meet a hand, make up the whole.
    combos = rules.combos.tolist()
    for seat in range(2):
        met = np.array(showdown.fold_mass(combos, combos, board, ranges[1 - seat]))
        met[np.isin(rules.combos, board).any(axis=1)] = 0.0
        np.testing.assert_array_equal(np.isnan(found.combo_values[seat]), met == 0.0)
        weights = ranges[seat] * met
        assert np.nansum(weights * found.combo_values[seat]) / weights.sum() == pytest.approx(best[seat], abs=1e-9)


def calling_subgame(board, num_streets):
    """Return heads-up no-limit hold'em on a board, everybody having called so far."""
    rules = HUNL.with_menu("fcpa")
    state, taken = BettingState(rules), ()
    for _ in range(2 * num_streets):
        taken += (Action(state.actor, CALL, state.street),)
        state.apply(CALL)
    return PublicState(rules, state.array.tolist(), board, taken)


def value_against_call(board, reach, stack, blind):
    """Return each combo's weighted value on the last street: all-in with what is ahead, else check. Also the mass."""
    hands = rank_hands(HUNL, board)
    margin, mass = (np.zeros(1326) for _ in range(2))
    margin[hands.combos] = showdown_margin(hands, reach[hands.combos])
    mass[hands.combos] = fold_mass(hands, reach[hands.combos])
    return np.maximum(stack * margin, blind * margin), mass


@jit_only
def test_river_subgame_against_an_agent_that_calls():
    board = parse_cards("Qs Jh 2h 7c 3d")
    ranges = random_ranges(HUNL, 0)
    found = subgame_best_response(calling_subgame(board, 3), ranges, pair("call"))
    for seat in range(2):
        value, mass = value_against_call(board, ranges[1 - seat], 20_000, 100)
        possible = mass > 0
        np.testing.assert_array_equal(~np.isnan(found.combo_values[seat]), possible)
        np.testing.assert_allclose(found.combo_values[seat][possible], (value / np.maximum(mass, 1e-99))[possible])
    assert found.num_boards == 1
    assert found.suit_symmetric is None


@jit_only
def test_turn_subgame_against_an_agent_that_calls():
    """Waiting for the river costs nothing, and shows more: the value is the mean of what each river gives."""
    board = parse_cards("Qs Jh 2h 2d")
    ranges = random_ranges(HUNL, 1)
    found = subgame_best_response(calling_subgame(board, 2), ranges, pair("call"))
    assert found.num_boards == 48
    hands = rank_hands(HUNL, board)
    for seat in range(2):
        reach = ranges[1 - seat]
        value = np.zeros(1326)
        for river in range(52):
            if river not in board:
                value += value_against_call((*board, river), reach, 20_000, 100)[0] / 44
        mass = fold_mass(hands, reach[hands.combos])
        np.testing.assert_allclose(found.combo_values[seat][hands.combos], value[hands.combos] / mass)
        weights = ranges[seat][hands.combos]
        expected = (weights * value[hands.combos]).sum() / (weights * mass).sum()
        assert found.best_response_values[seat] == pytest.approx(expected, rel=1e-12)


@jit_only
def test_two_streets_of_the_full_deck_against_an_agent_that_calls():
    found = public_best_response(HOLDEM_FLOP, pair("call"))
    classes = board_classes(3)
    total = 0.0
    for board, size in zip(classes.boards.tolist(), classes.sizes.tolist(), strict=True):
        total += size * value_against_call(tuple(board), np.ones(1326), 10_000, 100)[0].sum()
    pairs, flops = 1326 * 1225, 17_296  # flops that two known hands leave
    np.testing.assert_allclose(found.best_response_values, total / (pairs * flops), rtol=1e-12)
    np.testing.assert_allclose(found.values, 0.0, atol=1e-9)
    assert (found.suit_symmetric, found.num_boards) == (True, 1755)
    classes_of_hands = np.unique(found.combo_values[0].round(6))
    assert len(classes_of_hands) <= 169


@jit_only
def test_folding_loses_three_quarters_of_a_big_blind():
    found = public_best_response(HOLDEM_FLOP, pair("fold"))
    assert found.best_response_values.tolist() == pytest.approx([50.0, 100.0])  # seat 0 is the big blind
    assert found.exploitability == pytest.approx(0.75 * HOLDEM_FLOP.big_blind)
    assert found.values.tolist() == pytest.approx([50.0, -50.0])


@jit_only
@pytest.mark.slow
def test_holdem_flop_with_all_flops(monkeypatch):
    agents = [make_agent("tag"), make_agent("call")]
    by_class = public_best_response(HOLDEM_FLOP, agents)
    monkeypatch.setattr(PublicWalk, "_is_suit_symmetric", lambda *args: False)
    all_boards = public_best_response(HOLDEM_FLOP, agents)
    assert (by_class.num_boards, all_boards.num_boards) == (1_755, 22_100)
    np.testing.assert_allclose(by_class.best_response_values, all_boards.best_response_values, rtol=1e-12)
    np.testing.assert_allclose(by_class.combo_values, all_boards.combo_values, rtol=1e-9)


@jit_only
def test_any_number_of_threads_gives_the_same_numbers():
    rules = small_game(3, 4, (0, 3))
    progress = []
    one = public_best_response(rules, [Noise(1), Wave(1)], threads=1, on_progress=lambda *done: progress.append(done))
    three = public_best_response(rules, [Noise(1), Wave(1)], threads=3)
    for field in ("values", "best_response_values", "combo_values"):
        np.testing.assert_array_equal(getattr(one, field), getattr(three, field))
    assert progress[-1] == (220, 220)


def test_nothing_is_read_before_it_is_written(monkeypatch):
    """Workspaces begin with whatever lay in memory; the chips allow raises after the big blind should have folded."""
    rules = small_game(2, 3, (0, 1), stack=2_000)
    agents = [make_agent("fold"), make_agent("random")]
    clean = public_best_response(rules, agents, threads=1)
    empty, rubbish = np.empty, np.append(1e9 * np.random.default_rng(0).random(10_006), np.nan)

    def poisoned(shape, dtype=float, **options):
        array = empty(shape, dtype, **options)
        if array.dtype == np.float64:
            array.flat = rubbish  # over and over
        else:
            array.view(np.uint8).fill(0xFF)
        return array

    monkeypatch.setattr(np, "empty", poisoned)
    found = public_best_response(rules, agents, threads=1)
    np.testing.assert_array_equal(found.combo_values, clean.combo_values)
    np.testing.assert_array_equal(found.values, clean.values)
    assert found.suit_symmetric is True


def test_wrong_games_are_refused():
    for rules, message in [
        (SIXMAX.with_menu("fcpa"), "two seats"),
        (HUNL, "needs a menu"),
        (HUNL.with_menu("fcpa"), "one or two streets"),
        (dataclasses.replace(HOLDEM_FLOP, num_hole_cards=3), "one or two hole cards"),
    ]:
        with pytest.raises(ValueError, match=message):
            public_best_response(rules, pair("call"))


def test_wrong_ranges_and_agents_are_refused():
    public = start(LEDUC)
    agent = make_agent("call")
    with pytest.raises(ValueError, match="two different instances"):
        public_best_response(LEDUC, [agent, agent])
    with pytest.raises(ValueError, match="threads"):
        public_best_response(LEDUC, pair("call"), threads=0)
    for ranges in (np.ones((2, 5)), -np.ones((2, 6)), np.full((2, 6), np.nan)):
        with pytest.raises(ValueError, match="weights of at least 0"):
            subgame_best_response(public, ranges, pair("call"))
    with pytest.raises(ValueError, match="no two compatible hands"):
        subgame_best_response(public, np.eye(6)[[0, 0]], pair("call"))
    state = BettingState(LEDUC).array.tolist()
    with pytest.raises(ValueError, match="the whole board"):
        subgame_best_response(PublicState(LEDUC, state, (0,)), np.ones((2, 6)), pair("call"))
