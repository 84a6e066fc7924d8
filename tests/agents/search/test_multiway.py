"""Monte Carlo CFR of a street against exact solutions: with three players, and with leaves."""

import dataclasses
import functools
import os
from itertools import permutations, product

import numpy as np
import pytest
from random_blueprint import random_blueprint
from reference.poker_game import PokerGame

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, raise_menu
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import LEDUC, UNLIMITED_RAISES, HoldemRules, no_limit_holdem
from plurispiel.agents.base import Action, RangeAgent, Strategy
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.resolve.three_way_cfr import ThreeWaySolver
from plurispiel.agents.search.continuations import continuation_strategies
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.multiway import MultiwaySolver, MultiwaySubgame
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import MAX_RAISES

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="random words overflow on purpose, which numpy alone reports"
)

THREE = HoldemRules(
    blinds=(47, 101, 0),
    stacks=(207, 311, 253),
    first_seats=(2,),
    board_cards=(1,),
    num_suits=2,
    num_ranks=4,
    betting_abstraction="fcpa",
)
"""One street, one board card, two hole cards of a deck of eight; all-in for different stacks makes side pots."""

FEW_CALLERS = GameMenu((StreetMenu(("0.5p", "1p"), callers=(0, 1)), StreetMenu(("1p",))))


@functools.cache
def blueprint(rules):
    return random_blueprint(rules, game_menu(rules), cards=lossless_buckets(rules))


def three_with(beliefs, rules=THREE):
    return MultiwaySubgame(BettingState(rules), (0,), beliefs, raise_menu)


def nash_conv(solver, beliefs, rules=THREE):
    """The gains of all players of `THREE` by best responses to the averages, in chips."""
    exact = ThreeWaySolver(BettingState(rules), (0,), beliefs)
    exact.run(1)
    for path in solver.paths:
        node = functools.reduce(lambda node, action: node.children[action], path, exact.root)
        actions, average, _ = solver.strategies(path)
        assert list(node.children) == list(actions)
        node.sums[:] = np.nan_to_num(average[exact.hands.combos].T, nan=1.0)
    return exact.evaluate().nash_conv


@pytest.mark.parametrize(
    "menu, threads, last, bound",
    [("fcpa", 1, 16_000, 5.0), ("fc", 3, 8_000, 1.0), pytest.param("fcpa", 3, 28_000, 5.0, marks=pytest.mark.slow)],
)
def test_three_players_on_the_last_street_come_near_an_equilibrium(menu, threads, last, bound):
    """In chips, of pots of 148 and more. Threads lose updates to each other, more of them on a busy machine."""
    beliefs, rules = np.random.default_rng(5).random((3, THREE.num_combos)), THREE.with_menu(menu)
    after = Continuations(blueprint(rules), rules)
    solver = MultiwaySolver(three_with(beliefs, rules), after, seed=2, threads=threads)
    found = []
    for num_iterations in (10, last):
        solver.run(num_iterations)
        found.append(nash_conv(solver, beliefs, rules))
    assert solver.iteration == 10 + last
    assert found[1] < bound and found[1] < 0.1 * found[0]


def test_a_warm_start_begins_with_the_blueprint_and_fades():
    planned = PlannedRows(blueprint(THREE), hand_in_tree(THREE, blueprint(THREE)))
    beliefs = np.random.default_rng(5).random((3, THREE.num_combos))
    after = Continuations(blueprint(THREE), THREE)
    solver = MultiwaySolver(three_with(beliefs), after, seed=2)
    solver.warm_start(planned, 30.0)
    for path in solver.paths:
        actions, _, current = solver.strategies(path)
        held = ~np.isnan(current[:, 0])
        assert held.sum() > 10
        rows = planned.rows(path, actions, (0,))[held]
        np.testing.assert_allclose(current[held], rows / rows.sum(axis=1, keepdims=True), rtol=1e-5)
    found = []
    for num_iterations in (20, 4_000):
        solver.run(num_iterations)
        found.append(nash_conv(solver, beliefs))
    assert found[1] < 0.15 * found[0], found
    with pytest.raises(ValueError, match="before all iterations, and there were 4,020"):
        solver.warm_start(planned, 30.0)


class Callers:
    """A blueprint that always calls."""

    def rows(self, path, actions, board):
        return np.tile([float(action == CALL) for action in actions], (THREE.num_combos, 1))


@pytest.mark.parametrize("is_seen", [False, True])
def test_a_warm_start_leaves_out_a_decision_whose_seen_action_the_blueprint_never_takes(is_seen):
    beliefs = np.random.default_rng(5).random((3, THREE.num_combos))
    seen = (raise_menu(THREE, BettingState(THREE).array.tolist())[0], CALL)
    subgame = dataclasses.replace(three_with(beliefs), seen=seen if is_seen else ())
    solver = MultiwaySolver(subgame, Continuations(blueprint(THREE), THREE), seed=2)
    solver.warm_start(Callers(), 30_000.0)
    for path in solver.paths:
        actions, _, current = solver.strategies(path)
        expected = np.full(len(actions), 1.0 / len(actions)) if is_seen and not path else np.equal(actions, CALL)
        assert (current[~np.isnan(current[:, 0])] == expected).all()
    solver.run(80)
    actions, _, answers = solver.strategies(seen[:1])
    is_visited = (answers[~np.isnan(answers[:, 0])] != np.equal(actions, CALL)).any()
    assert is_visited == is_seen


def test_a_search_whose_first_deals_fail_has_an_average(monkeypatch):
    solver = MultiwaySolver(three_with(np.ones((3, THREE.num_combos))), Continuations(blueprint(THREE), THREE))
    solver.warm_start(PlannedRows(blueprint(THREE), hand_in_tree(THREE, blueprint(THREE))), 30.0)
    monkeypatch.setattr(solver, "_deal", lambda seat, worker: False)
    solver.run(1)
    for path in solver.paths:
        _, average, current = solver.strategies(path)
        reached = ~np.isnan(average[:, 0]) & (abs(average - 1.0 / average.shape[1]) > 1e-6).any(axis=1)
        assert reached.any()
        np.testing.assert_allclose(average[reached], current[reached], rtol=1e-5)


def test_ranges_that_cannot_meet_are_refused():
    after, beliefs = Continuations(blueprint(THREE), THREE), np.zeros((3, THREE.num_combos))
    beliefs[:, 5] = 1.0
    with pytest.raises(ValueError, match="no compatible hands"):
        MultiwaySolver(three_with(beliefs), after)
    beliefs[1:] = 0.0
    with pytest.raises(ValueError, match="no compatible hands"):
        MultiwaySolver(three_with(beliefs), after)


def test_a_seat_that_folds_loses_its_contribution():
    """Also where the blueprint's tree has given its seat to another player."""
    rules, history = no_limit_holdem(4), (300, CALL, CALL)
    found = random_blueprint(rules, FEW_CALLERS, cards=single_buckets(rules))
    after, state = Continuations(found, rules), BettingState(rules)
    for action in history:
        state.apply(action)
    seat, beliefs = 1, np.ones((4, rules.num_combos))
    folds = {(): np.tile([1.0, 0.0], (rules.num_combos, 1))}
    subgame = MultiwaySubgame(state, (), beliefs, lambda rules, array: (), history, frozen=folds)
    solver = MultiwaySolver(subgame, after)
    assert state.actor == seat and after.place((*history, FOLD)).seats[seat] < 0
    for _ in range(5):
        values = solver.sample_values(seat)
        assert set(values[~np.isnan(values)]) == {-100.0}


@functools.cache
def deep_blueprint():
    """For three players with a hundred big blinds, who bet the pot once on each street."""
    rules = no_limit_holdem(3)
    return random_blueprint(rules, GameMenu((StreetMenu(("1p",)),)), cards=single_buckets(rules))


@pytest.mark.parametrize("stacks", [(10_000, 10_000, 350), (1000, 1000, 1000), (10_000, 600, 500)], ids=str)
def test_no_value_at_leaves_exceeds_the_stacks(stacks):
    """A flop of three players, with a blueprint of deeper stacks; a player all-in with quad aces wins its pot."""
    rules = dataclasses.replace(no_limit_holdem(3), stacks=stacks)
    state, history, board = BettingState(rules), (350, CALL, CALL), parse_cards("AsAhKd")
    for action in history:
        state.apply(action)
    after = Continuations(deep_blueprint(), rules, 1)
    beliefs = np.ones((3, rules.num_combos))
    solver = MultiwaySolver(MultiwaySubgame(state, board, beliefs, lambda rules, array: (), history), after)
    assert len(solver.leaf_paths) == 1
    quads, found = rules.combo_id(parse_cards("AcAd")), []
    for seat in range(3):
        most = [min(stack, stacks[seat]) for other, stack in enumerate(stacks) if other != seat]
        for _ in range(200):
            values = solver.sample_values(seat)
            assert -max(most) <= np.nanmin(values) and np.nanmax(values) <= sum(most)
            if seat == 2 and not np.isnan(values[quads]):
                found.append(values[quads])
    assert len(found) > 100 and max(found) > 350.0
    if stacks[2] == 350:
        assert set(found) == {700.0}


@functools.cache
def calling_blueprint():
    """For three players, who always check and call."""
    rules = no_limit_holdem(3)
    menu = GameMenu((StreetMenu(("1p",)), StreetMenu(("0.6p allin", "0.75p allin", "allin"))))
    known = random_blueprint(rules, menu, cards=single_buckets(rules))
    tree, rows = known.tree, np.zeros_like(known.rows)
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        column = tree.actions(node).tolist().index(CALL)
        rows[known.game.base[tree.street[node]] + tree.row[node] + column] = 1
    return dataclasses.replace(known, rows=rows)


@pytest.mark.parametrize(
    "path",
    [
        (450, FOLD, CALL),  # so small a bet is a check in the blueprint's tree, where nobody has folded
        (875, FOLD, 1925),
        (875, FOLD, 2975),  # more than in the tree
        (1400, FOLD, 2450),
    ],
    ids=str,
)
def test_at_leaves_raises_are_called_and_a_folded_seat_wins_nothing(path):
    """Two of three reach the showdown, and the one who folded had the best hand."""
    rules, history, board = no_limit_holdem(3), (350, CALL, CALL), parse_cards("AsAhKd")
    after, state = Continuations(calling_blueprint(), rules, 1), BettingState(rules)
    for action in history:
        state.apply(action)
    hands = [rules.combo_id(parse_cards(text)) for text in ("7c2d", "AcAd", "KcKh")]  # the second folds
    beliefs = np.zeros((3, rules.num_combos))
    beliefs[range(3), hands] = 1.0

    def menu(rules, array):
        return tuple(action for action in path if action > CALL and action > max(array[betting.CONTRIB :][:3]))

    subgame = MultiwaySubgame(state, board, beliefs, menu, history)
    solver, frozen = MultiwaySolver(subgame, after), {}
    for number, action in enumerate(path):
        actions = solver.strategies(path[:number])[0]
        frozen[path[:number]] = np.tile(np.array(actions) == action, (rules.num_combos, 1)).astype(float)
    solver = MultiwaySolver(dataclasses.replace(subgame, frozen=frozen), after)
    assert after.place((*history, *path)) is not None and path in solver.leaf_paths
    most = max(path)
    for seat, expected in enumerate((-most, -350, most + 350)):
        value = np.nan
        while np.isnan(value):  # the board took one of its cards
            value = solver.sample_values(seat)[hands[seat]]
        assert value == expected


@pytest.mark.parametrize("stacks", [(10_000,) * 3, (10_000, 700, 500), (350, 20_000, 900)], ids=str)
def test_values_at_leaves_sum_to_zero(stacks):
    """By blueprints that take one action everywhere."""
    rules = dataclasses.replace(no_limit_holdem(3), stacks=stacks)
    state, history, board = BettingState(rules), (350, CALL, CALL), parse_cards("AsAhKd")
    for action in history:
        state.apply(action)
    rng, known, found = np.random.default_rng(2), deep_blueprint(), set()
    firsts = known.tree.row[known.tree.actor >= 0] + known.game.base[known.tree.street[known.tree.actor >= 0]]
    counts = known.tree.num_actions[known.tree.actor >= 0]
    for _ in range(30):
        rows = np.zeros_like(known.rows)
        rows[firsts + rng.integers(counts)] = 1
        after = Continuations(dataclasses.replace(known, rows=rows), rules, 1)
        cards = rng.permutation(np.setdiff1d(rules.cards, board))[:6].reshape(3, 2)
        hands = [rules.combo_id(pair.tolist()) for pair in cards]
        beliefs = np.zeros((3, rules.num_combos))
        beliefs[range(3), hands] = 1.0
        subgame = MultiwaySubgame(state, board, beliefs, lambda rules, array: (), history)
        values, seed = [np.nan], 0
        while np.isnan(values).any():  # the board took a card of a hand
            seed += 1  # the same deal, seen by each seat
            solvers = [MultiwaySolver(subgame, after, seed=seed) for _ in range(3)]
            values = [solver.sample_values(seat)[hands[seat]] for seat, solver in enumerate(solvers)]
        assert abs(sum(values)) < 1e-6 and min(values) >= -max(stacks)
        found.update(values)
    assert len(found) > 3, found


class Biased(RangeAgent):
    """Plays a continuation of a blueprint."""

    name = "biased"

    def __init__(self, rules, policy):
        self._agent = BlueprintAgent(blueprint(rules))
        self._agent.restart(rules, 0, np.random.default_rng(0))
        self._policy = policy

    def strategy(self, public, combo_ids):
        strategy = self._agent.strategy(public, combo_ids)
        return Strategy(
            strategy.actions, continuation_strategies(strategy.probabilities, strategy.actions)[self._policy]
        )


class LeafGame:
    """The rest of a two-player game's street, walked in full against average strategies."""

    def __init__(self, rules, solver, num_policies, history=()):
        self.rules, self.solver, self.history = rules, solver, history
        self.policies = range(num_policies)
        biased = [Biased(rules, policy) for policy in self.policies]
        self.games = {pair: PokerGame(rules, [biased[k] for k in pair]) for pair in product(self.policies, repeat=2)}

    def worth(self, path, hands, policies, seat):
        state, actions = BettingState(self.rules), []
        for action in (*self.history, *path):
            actions.append(Action(state.actor, action, state.street))
            state.apply(action)
        held = [int(self.rules.combos[combo, 0]) for combo in hands]
        spare = next(card for card in self.rules.cards.tolist() if card not in held)
        deck = np.array([*held, spare], np.uint8)
        return self.games[policies].value(deck, 0, tuple(actions), seat)

    def value(self, seat, own, path, reach, is_best):
        """Return the value of a seat's hand against all hands of the opponent, weighted by `reach`."""
        if path in self.solver.paths:
            actions, average, _ = self.solver.strategies(path)
            if self.solver.seat(path) == seat:
                below = [self.value(seat, own, (*path, action), reach, is_best) for action in actions]
                return max(below) if is_best else float(average[own] @ below)
            return sum(
                self.value(seat, own, (*path, action), reach * average[:, k], is_best)
                for k, action in enumerate(actions)
            )
        theirs, mine = (self.solver.choices(path, each) for each in (1 - seat, seat))
        below = []
        for policy in self.policies if mine is not None else (0,):
            total = 0.0
            for other in np.flatnonzero(reach).tolist():
                hands = (own, other) if seat == 0 else (other, own)
                for answer in self.policies if theirs is not None else (0,):
                    chance = reach[other] * (theirs[other, answer] if theirs is not None else 1.0)
                    pair = (policy, answer) if seat == 0 else (answer, policy)
                    total += chance * self.worth(path, hands, pair, seat)
            below.append(total)
        if mine is None:
            return below[0]
        return max(below) if is_best else float(mine[own] @ below)

    def gain(self, seat, beliefs):
        """Return the gain of a best response over the average strategy, in chips a hand."""
        found = 0.0
        for own in range(self.rules.num_combos):
            reach = beliefs[1 - seat].copy()
            reach[own] = 0.0
            chips = [self.value(seat, own, (), reach, is_best) for is_best in (True, False)]
            found += beliefs[seat, own] * (chips[0] - chips[1])
        meet = sum(beliefs[0, a] * beliefs[1, b] for a, b in permutations(range(self.rules.num_combos), 2))
        return found / meet


@pytest.mark.parametrize(
    "num_policies, history",
    [(1, ()), pytest.param(4, (), marks=pytest.mark.slow), pytest.param(4, (3,), marks=pytest.mark.slow)],
)
def test_leaves_are_an_equilibrium_of_continuations(num_policies, history):
    """From the start of a street to its second raise; after a raise, to the next street."""
    beliefs = np.random.default_rng(3).random((2, LEDUC.num_combos))
    after = Continuations(blueprint(LEDUC), LEDUC, num_policies)
    state = BettingState(LEDUC)
    for action in history:
        state.apply(action)
    max_raises = UNLIMITED_RAISES if history else MAX_RAISES
    subgame = MultiwaySubgame(state, (), beliefs, raise_menu, history, max_raises)
    solver = MultiwaySolver(subgame, after, seed=4, with_choices=True)
    assert (max(solver.paths, key=len) == (5,)) == bool(history)
    solver.run(20)
    game = LeafGame(LEDUC, solver, num_policies, history)
    early = sum(game.gain(seat, beliefs) for seat in range(2))
    solver.run(18_000)
    gains = [game.gain(seat, beliefs) for seat in range(2)]
    assert min(gains) > -1e-9
    assert sum(gains) < 0.06 and sum(gains) < 0.3 * early
