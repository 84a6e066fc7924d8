"""The public-tree best response: equal to plain loops, to OpenSpiel, and to what can be said in closed form."""

import dataclasses
import os

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy
from reference import public_best_response as reference
from reference import showdown

from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import load_game, parse_game
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands, showdown_margin
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.ladder import LADDER
from plurispiel.agents import make_agent
from plurispiel.agents.base import Action, Agent, Board, Deal, PublicState, Strategy
from plurispiel.agents.openspiel import agent_policy
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.public_best_response import public_best_response, subgame_best_response
from plurispiel.evaluation.public_walk import PublicWalk

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

HOLDEM_FLOP = parse_game(LADDER["holdem-flop"].game)


def small_game(num_suits, num_ranks, board_cards, num_hole_cards=2, stack=500, first_seats=(1, 0, 0), **changes):
    return HoldemRules(
        blinds=(100, 50),
        stacks=(stack, stack),
        first_seats=first_seats[: len(board_cards)],
        board_cards=board_cards,
        num_suits=num_suits,
        num_ranks=num_ranks,
        num_hole_cards=num_hole_cards,
        betting_abstraction="fcpa",
        **changes,
    )


class Noise(Agent):
    """Random probabilities at every public state and for every combo, many of them 0, in any order of actions."""

    def __init__(self, seed):
        self.seed = seed

    def range_strategy(self, public):
        history = [action.action for action in public.actions]
        rng = np.random.default_rng([self.seed, *history, 99, *public.board])
        actions = rng.permutation([FOLD, CALL, *public.menu] if public.can_fold else [CALL, *public.menu])
        if len(actions) > 1 and rng.random() < 0.3:
            actions = actions[:-1]  # never the last one
        weights = rng.random((public.rules.num_combos, len(actions)))
        weights[rng.random(weights.shape) < 0.4] = 0.0
        weights[weights.sum(axis=1) == 0.0, 0] = 1.0
        return Strategy(actions, weights / weights.sum(axis=1, keepdims=True))


class Wave(Agent):
    """Probabilities that depend on the betting and the strength of the hand now, so not on which suit is which."""

    def __init__(self, seed):
        self.seed = seed

    def range_strategy(self, public):
        actions = np.array([FOLD, CALL, *public.menu] if public.can_fold else [CALL, *public.menu])
        rng = np.random.default_rng([self.seed, *(action.action for action in public.actions)])
        strength = made_strength(public.rules, public.board)[:, None]
        weights = np.sin(rng.random(len(actions)) + 5 * rng.random(len(actions)) * strength) ** 2
        return Strategy(actions, weights / weights.sum(axis=1, keepdims=True))


def pair(spec):
    return [make_agent(spec), make_agent(spec)]


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


SMALL = {
    "one board card": small_game(2, 3, (0, 1), stack=300),
    "two of three suits": small_game(3, 2, (0, 2), stack=300),
    "flop": small_game(2, 4, (0, 3), stack=250),
    "three streets": small_game(2, 3, (0, 1, 1), stack=200),
    "a board at once": small_game(2, 3, (1,), stack=300),
    "a street without cards": small_game(2, 3, (0, 0, 1), stack=200),
    "one hole card": small_game(2, 3, (0, 1), num_hole_cards=1),
    "unequal stacks": dataclasses.replace(small_game(2, 3, (0, 1)), stacks=(450, 220)),
    "limit": dataclasses.replace(LEDUC, num_ranks=4),
    "Kuhn": KUHN,
}


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
    for agents in (pair("random"), pair("tag"), [Noise(3), Noise(3)]):
        table = openspiel_policy.tabular_policy_from_callable(game, agent_policy(agents[0], game).action_probabilities)
        expected = pyspiel.nash_conv(game, openspiel_policy.python_policy_to_pyspiel_policy(table))
        assert public_best_response(rules, agents).nash_conv == pytest.approx(expected, abs=1e-9)


@jit_only
def test_equal_the_flat_tree_of_holdem_mini():
    """4,349,545 histories, which OpenSpiel's own tree walk agrees with (tests of the flat tree)."""
    tree = flatten(LADDER["holdem-mini"].game)
    rules = parse_game(tree.game)
    for make in (lambda: make_agent("random"), lambda: make_agent("tag"), lambda: Noise(6)):
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


class Broken(Agent):
    """Calls, but for one thing."""

    def __init__(self, answer):
        self.answer = answer

    def range_strategy(self, public):
        strategy = Strategy(np.array([CALL]), np.ones((public.rules.num_combos, 1)))
        return self.answer(public, strategy) if public.board else strategy


def with_row(change):
    def answer(public, strategy):
        row = max(k for k, combo in enumerate(public.rules.combos.tolist()) if not set(combo) & set(public.board))
        strategy.probabilities[row] = change
        return strategy

    return answer


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda public, strategy: None, "does not tell its strategy"),
        (lambda public, strategy: 1 / 0, "ZeroDivisionError"),
        (lambda public, strategy: Strategy(strategy.actions, np.ones((3, 1))), "must have the shape"),
        (lambda public, strategy: Strategy(np.array([77]), strategy.probabilities), "legal actions"),
        (with_row(0.9), "sum to 1"),
        (with_row(np.nan), "sum to 1"),
    ],
)
def test_what_is_no_strategy_is_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        public_best_response(LEDUC, [Broken(answer), make_agent("call")])


def test_negative_probabilities_are_refused():
    def answer(public, strategy):
        if not public.menu:
            return strategy
        probabilities = np.tile([2.0, -1.0], (public.rules.num_combos, 1))
        return Strategy(np.array([CALL, public.menu[0]]), probabilities)

    with pytest.raises(ValueError, match="sum to 1"):
        public_best_response(LEDUC, [Broken(answer), make_agent("call")])


def test_rows_of_hands_on_the_board_mean_nothing():
    def answer(public, strategy):
        strategy.probabilities[np.isin(public.rules.combos, public.board).any(axis=1)] = np.nan
        return strategy

    expected = public_best_response(LEDUC, pair("call")).values
    np.testing.assert_array_equal(public_best_response(LEDUC, [Broken(answer), make_agent("call")]).values, expected)


def test_raises_from_a_range_are_single_sizes_of_the_menu():
    rules = SMALL["one board card"]

    class Spread(Agent):
        def range_strategy(self, public):
            actions = [CALL, *([public.menu[-1]] if public.menu else [])]
            probabilities = np.full((public.rules.num_combos, len(actions)), 1.0 / len(actions))
            return Strategy(np.array(actions), probabilities, np.array(actions))

    class Plain(Spread):
        def range_strategy(self, public):
            return dataclasses.replace(super().range_strategy(public), highest=None)

    spread, plain = (public_best_response(rules, [kind(), kind()]) for kind in (Spread, Plain))
    np.testing.assert_array_equal(spread.combo_values, plain.combo_values)


def test_columns_of_one_action_add_up():
    class Twice(Noise):
        def range_strategy(self, public):
            strategy = super().range_strategy(public)
            actions = np.concatenate([strategy.actions, strategy.actions])
            return Strategy(actions, np.hstack([0.25 * strategy.probabilities, 0.75 * strategy.probabilities]))

    twice, once = (public_best_response(LEDUC, [kind(1), kind(2)]) for kind in (Twice, Noise))
    np.testing.assert_allclose(twice.combo_values, once.combo_values, rtol=0, atol=1e-12)


def test_play_that_depends_on_the_order_of_a_flop_is_refused():
    class Reader(Agent):
        def range_strategy(self, public):
            descends = len(public.board) > 1 and public.board[0] > public.board[1]
            action = public.raise_by_pot(1.0) if descends else CALL
            return Strategy(np.array([action]), np.ones((public.rules.num_combos, 1)))

    with pytest.raises(ValueError, match="order of cards"):
        public_best_response(SMALL["two of three suits"], [Reader(), Reader()])


def test_an_agent_that_listens_is_told_the_hand():
    class Listener(Noise):
        def restart(self, rules, seat, rng):
            super().restart(rules, seat, rng)
            self.heard = []

        def observe(self, event):
            self.heard.append(event)

        def range_strategy(self, public):
            assert isinstance(self.heard[0], Deal)
            assert not set(self.heard[0].hole_cards) & set(public.board)
            assert tuple(event for event in self.heard if isinstance(event, Action)) == public.actions
            boards = [event for event in self.heard if isinstance(event, Board)]
            assert sum((event.cards for event in boards), ()) == public.board
            assert [event.street for event in boards] == list(range(1, public.street + 1))
            return super().range_strategy(public)

    rules = SMALL["three streets"]
    heard = public_best_response(rules, [Listener(1), Listener(2)])
    np.testing.assert_array_equal(heard.values, public_best_response(rules, [Noise(1), Noise(2)]).values)


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
    with pytest.raises(ValueError, match="two instances"):
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
