"""Vector CFR: the same numbers as scalar CFR on trees of histories, and as independent best responses."""

import dataclasses
import itertools
import os

import numpy as np
import pytest
from reference import public_best_response as reference
from resolved_agent import ResolvedAgent

from plurispiel.abstraction.holdem.betting import CALL, BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_state import STREET
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules, no_limit_holdem
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import Action, PublicState, RangeAgent
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve.deals import deal_streets
from plurispiel.agents.resolve.discounting import parse_discounting
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.public_best_response import subgame_best_response

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

MINI = HoldemRules(
    blinds=(100, 50),
    stacks=(400, 400),
    first_seats=(1, 0),
    board_cards=(0, 1),
    num_suits=2,
    num_ranks=4,
    betting_abstraction="fcpa",
)
THREE_STREETS = HoldemRules(
    blinds=(2, 1),
    stacks=(6, 6),
    first_seats=(1, 0, 0),
    board_cards=(0, 1, 1),
    num_suits=2,
    num_ranks=3,
    num_hole_cards=1,
    betting_abstraction="fcpa",
)
ONE_STREET = dataclasses.replace(LEDUC, first_seats=(0,), board_cards=(0,), raise_sizes=(2,), max_raises=(2,))
WIDE = dataclasses.replace(THREE_STREETS, stacks=(20, 20), num_ranks=2, betting_abstraction="fchpa")
"""More than sixteen ways into a street that is not the last."""

GAMES = {
    "leduc": ("leduc_poker", LEDUC),
    "mini": (game_string(MINI), MINI),
    "three": (None, THREE_STREETS),
    "wide": (None, WIDE),
}
NUM_COMPARED = {MINI: 3, WIDE: 3}


def whole_game(rules, algorithm, **options):
    subgame = Subgame(BettingState(rules), (), np.ones((2, rules.num_combos)))
    return VectorSolver(subgame, algorithm, dtype=np.float64, **options)


@jit_only
@pytest.mark.parametrize(
    "name, algorithm",
    [*itertools.product(("leduc", "mini", "three"), ("cfr", "cfr+", "lcfr", "dcfr")), ("wide", "lcfr")],
)
def test_every_iteration_is_that_of_scalar_cfr(name, algorithm):
    game, rules = GAMES[name]
    tree = flatten(game or game_string(rules))
    scalar, vector = make_solver(tree, algorithm), whole_game(rules, algorithm)
    for _ in range(NUM_COMPARED.get(rules, 12)):  # then ties, broken by rounding: sums over ranges are not exact zeros
        scalar.run(1)
        vector.run(1)
        found = strategy_from_agent(tree, ResolvedAgent(vector))
        np.testing.assert_allclose(found, scalar.average_strategy(), rtol=0, atol=1e-9)
        expected, measured = exploitability(tree, scalar.average_strategy()), vector.evaluate()
        np.testing.assert_allclose(measured.values, expected.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(measured.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
        assert measured.exploitability == pytest.approx(expected.exploitability, abs=1e-9)


def by_rank(board):
    """Lossless buckets of games with one hole card: the ranks of hand and board."""
    ranks = [card // 4 for card in board]
    return np.array([int(card) // 4 + 3 * ranks[0] + (9 * (1 + ranks[1]) if len(ranks) > 1 else 0) for card in CARDS])


def hand_by_hand(num_combos):
    """Lossless buckets of any game: every hand of every board has one of its own."""
    numbers = {}
    return lambda board: numbers.setdefault(board, len(numbers)) * num_combos + np.arange(num_combos)


CARDS = LEDUC.combos[:, 0]  # of `THREE_STREETS`, too


@jit_only
@pytest.mark.parametrize("name, algorithm", [("leduc", "cfr+"), ("leduc", "dcfr"), ("three", "dcfr"), ("wide", "cfr")])
def test_lossless_buckets_change_nothing(name, algorithm):
    game, rules = GAMES[name]
    tree = flatten(game or game_string(rules))
    buckets = by_rank if rules.num_combos == len(CARDS) else hand_by_hand(rules.num_combos)
    subgame = Subgame(BettingState(rules), (), np.ones((2, rules.num_combos)), buckets=buckets)
    scalar, vector = make_solver(tree, algorithm), VectorSolver(subgame, algorithm, dtype=np.float64, threads=2)
    for _ in range(NUM_COMPARED.get(rules, 8)):
        scalar.run(1)
        vector.run(1)
        found = strategy_from_agent(tree, ResolvedAgent(vector))
        np.testing.assert_allclose(found, scalar.average_strategy(), rtol=0, atol=1e-9)
        expected, measured = exploitability(tree, scalar.average_strategy()), vector.evaluate()
        np.testing.assert_allclose(measured.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
        by_buckets = vector.evaluate_by_buckets()
        np.testing.assert_allclose(by_buckets.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)


@jit_only
@pytest.mark.parametrize("buckets", [None, by_rank])
@pytest.mark.parametrize("options", [{"run_outs": 2}, {"thinning": 400}])
def test_sampled_run_outs_come_to_the_same(buckets, options):
    """Leduc's value and little to gain, from a few of six cards an iteration; whatever the threads."""
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, 6)), buckets=buckets)
    first, second = (
        VectorSolver(subgame, "lcfr", dtype=np.float64, threads=threads, seed=3, **options) for threads in (1, 2)
    )
    for solver in (first, second):
        solver.run(1_500)
    np.testing.assert_array_equal(first.streets[1].sums[0], second.streets[1].sums[0])
    found = first.evaluate()
    assert found.exploitability < 0.1
    assert found.values[0] == pytest.approx(-0.0856, abs=0.1)
    other = VectorSolver(subgame, "lcfr", dtype=np.float64, seed=4, **options)
    other.run(3)
    assert (other.streets[1].sums[0] != first.streets[1].sums[0]).any()
    for wrong in ({"run_outs": 17}, {"thinning": -1}, {"run_outs": 1, "thinning": 1}):
        with pytest.raises(ValueError, match=r"run_outs must|thinning must"):
            VectorSolver(subgame, **wrong)


@jit_only
@pytest.mark.parametrize("rules", [LEDUC, THREE_STREETS])
@pytest.mark.parametrize("options", [{"run_outs": 1}, {"run_outs": 3}, {"thinning": 9}])
@pytest.mark.parametrize("buckets", [None, by_rank])
def test_sampled_values_are_right_on_average(rules, options, buckets):
    """Regrets of a first iteration, from uniform strategies, over many draws; in buckets on the last street, too."""
    subgame = Subgame(BettingState(rules), (), np.ones((2, 6)), buckets=buckets)

    def first_regrets(street, **drawn):
        solver = VectorSolver(subgame, "cfr", dtype=np.float64, threads=1, **drawn)
        solver.run(1)
        return solver.streets[street].regrets[0].ravel()

    for street in (0, -1) if buckets else (0,):
        expected = first_regrets(street)
        draws = np.stack([first_regrets(street, seed=seed, **options) for seed in range(200)])
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert 0.0 < error.max() < 0.25 * abs(expected).max()
        assert (abs(draws.mean(axis=0) - expected) <= 5.0 * error + 1e-9).all()


@jit_only
def test_coarse_buckets_cost_something():
    """With all hands alike on the second street, no strategy there knows its hand; best responses do."""
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, 6)), buckets=lambda board: np.zeros(6, int))
    solver = VectorSolver(subgame, "dcfr", dtype=np.float64)
    solver.run(200)
    found, by_buckets = solver.evaluate(), solver.evaluate_by_buckets()
    assert 0.3 < found.exploitability < 3.0
    assert found.values.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(by_buckets.values, found.values, rtol=0, atol=1e-12)
    assert (by_buckets.best_response_values <= found.best_response_values).all()


def check_first(rules, array):
    """Leduc's raises on the second street only: there all hands have the same past."""
    return raise_menu(rules, array) if array[STREET] else ()


@jit_only
@pytest.mark.parametrize("options, bound", [({}, 0.0002), ({"run_outs": 2}, 0.01), ({"thinning": 100}, 0.01)])
def test_strategies_by_bucket_come_to_an_equilibrium_among_themselves(options, bound):
    ranges = np.array([[1.0, 0.1, 0.3, 0.02, 0.7, 0.2], [0.05, 1.0, 0.6, 0.3, 0.1, 0.9]])
    subgame = Subgame(BettingState(LEDUC), (), ranges, check_first, buckets=lambda board: np.arange(6) % 2)
    solver = VectorSolver(subgame, "lcfr", dtype=np.float64, **options)
    solver.run(1_000)
    assert 0.0 <= solver.evaluate_by_buckets().exploitability < bound
    assert solver.evaluate().exploitability > 0.2


@jit_only
def test_hands_count_in_their_bucket_as_often_as_they_are_held():
    """Hands that are next to never held change nothing for the others of their bucket."""
    found = []
    for weight in (0.0, 1e-10):
        ranges = np.array([[1.0, weight, 0.3, weight, weight, 0.2], [weight, 1.0, 0.6, weight, 0.1, weight]])
        subgame = Subgame(BettingState(LEDUC), (), ranges, check_first, buckets=lambda board: np.arange(6) % 2)
        solver = VectorSolver(subgame, "lcfr", dtype=np.float64)
        solver.run(50)
        found.append([*solver.evaluate().values, *solver.evaluate_by_buckets().best_response_values])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6)


@jit_only
def test_locked_decisions_are_played_as_given():
    """Leduc with player 0's first decision given: player 1's best answer, and nobody's gain from changing it."""
    free = whole_game(LEDUC, "dcfr")
    root = free.streets[0].betting.decisions[0]
    lock = np.tile([0.25, 0.75], (6, 1))
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, 6)), locks={root.actions: lock})
    solver = VectorSolver(subgame, "dcfr", dtype=np.float64)
    for each in (free, solver):
        each.run(400)
    np.testing.assert_array_equal(solver.strategy(0, root), lock)
    found = solver.evaluate()
    assert found.exploitability < 0.002
    assert found.values[0] < free.evaluate().values[0] - 0.01
    for wrong in ({root.actions: lock[:, :1]}, {root.actions: 2 * lock}, {((0, 7, 0),): lock}):
        with pytest.raises(ValueError, match="lock"):
            VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, 6)), locks=wrong))


@jit_only
@pytest.mark.parametrize("rules", [LEDUC, ONE_STREET])
def test_single_hands_can_be_locked(rules):
    """Two of six hands at Leduc's first decision, on the first street and on the only one."""
    root = BettingState(rules)
    lock = np.full((6, 2), np.nan)
    lock[:2] = 0.3, 0.7
    first = street_betting(root)[0].decisions[0]
    solver = VectorSolver(Subgame(root, (), np.ones((2, 6)), locks={first.actions: lock}), "cfr", dtype=np.float64)
    held = solver.streets[0].rows(solver.streets[0].regrets, first, 0).copy()
    free = whole_game(rules, "cfr")
    for each in (free, solver):
        each.run(1)
    now = solver.streets[0].rows(solver.streets[0].regrets, first, 0)
    combos = solver.streets[0].entries(solver.streets[0].sums, first, 0)[0]
    locked = np.flatnonzero(combos < 2)
    np.testing.assert_array_equal(now[:, locked], held[:, locked])
    solver.run(300)
    free.run(300)
    np.testing.assert_allclose(solver.strategy(0, first)[:2], lock[:2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(solver.current_strategy(0, first)[:2], lock[:2], rtol=0, atol=1e-15)
    assert (solver.strategy(0, first)[2:] != 0.5).all()
    assert (solver.combo_values(1)[0] >= solver.combo_values(1)[1] - 1e-12).all()
    assert solver.evaluate().values[0] < free.evaluate().values[0]


def test_fewer_last_boards_stand_for_all():
    """Behind each turn some rivers: as many ways of dealing in all, each card about equally often."""
    rules, board = no_limit_holdem(2, 1000, (1, 2)), parse_cards("QsJh2h")
    ranges = np.ones((2, 1326))
    alike = np.zeros((0, 1326))
    full, some = (deal_streets(rules, 1, board, ranges, alike, np.float64, last_boards=n)[-1] for n in (0, 3))
    assert len(some.boards) < len(full.boards) / 10
    for deals in (full, some):
        per_board = np.diff(deals.arrays.member_first) * deals.arrays.weight
        np.testing.assert_allclose(np.add.reduceat(per_board, deals.child_first[:-1]), 48 / 44)
        assert deals.arrays.multiplicity.sum() == pytest.approx(49 * 48)
    rivers = np.bincount([each[-1] // 4 for each in some.boards], some.arrays.multiplicity)
    assert (abs(rivers / rivers.mean() - 1.0) < 0.5).all()
    equal = deal_streets(rules, 1, board, ranges, alike, np.float64, last_boards=10_000)[-1]
    np.testing.assert_allclose(equal.arrays.weight, full.arrays.weight)


@jit_only
def test_a_run_can_be_ended():
    for rules, bound in ((LEDUC, 3), (ONE_STREET, 48)):
        answers = iter([True] * 3 + [False] * 1000)
        solver = whole_game(rules, "cfr+")
        solver.run(1000, goes_on=lambda answers=answers: next(answers))
        assert 0 < solver.iteration <= bound
        other = whole_game(rules, "cfr+")
        other.run(solver.iteration)
        np.testing.assert_array_equal(solver.streets[0].sums[0], other.streets[0].sums[0])


@jit_only
def test_a_street_with_card_removal_has_the_value_of_its_tree():
    tree = flatten(game_string(MINI))
    scalar, vector = make_solver(tree, "cfr+"), whole_game(MINI, "dcfr-restarts")
    scalar.run(1_000)
    vector.run(1_000)
    expected = exploitability(tree, scalar.average_strategy())
    found = exploitability(tree, strategy_from_agent(tree, ResolvedAgent(vector)))
    assert found.exploitability == pytest.approx(vector.evaluate().exploitability, abs=1e-9)
    assert max(found.exploitability, expected.exploitability) < 0.1  # of 50 and 100 chips in the middle
    assert found.values[0] == pytest.approx(expected.values[0], abs=0.2)


TURN = HoldemRules(
    blinds=(100, 50),
    stacks=(300, 300),
    first_seats=(1, 0),
    board_cards=(1, 1),
    num_suits=2,
    num_ranks=4,
    betting_abstraction="fcpa",
)
"""Turn and river with a deck of eight cards, two of them a hand."""


class ByFirstCard(RangeAgent):
    """Plays the solution of the board at hand."""

    name = "by first card"

    def __init__(self, solvers):
        self._agents = {card: ResolvedAgent(solver) for card, solver in solvers.items()}

    def strategy(self, public, combo_ids):
        return self._agents[public.board[0]].strategy(public, combo_ids)


@jit_only
@pytest.mark.parametrize("by_buckets", [False, True])
def test_turn_spots_are_the_game_tree_behind_their_boards(by_buckets):
    """A game that begins with a dealt turn is as many spots as there are turns; OpenSpiel's tree holds all of them."""
    tree = flatten(game_string(TURN))
    solvers = {}
    for card in TURN.cards.tolist():
        rows = hand_by_hand(TURN.num_combos) if by_buckets else None
        subgame = Subgame(BettingState(TURN), (card,), np.ones((2, TURN.num_combos)), buckets=rows)
        solvers[card] = VectorSolver(subgame, "cfr+", dtype=np.float64)
    scalar, agent = make_solver(tree, "cfr+"), ByFirstCard(solvers)
    for iterations in (2, 98):
        scalar.run(iterations)
        for solver in solvers.values():
            solver.run(iterations)
        found, expected = strategy_from_agent(tree, agent), scalar.average_strategy()
        if scalar.iteration == 2:  # then ties are broken by rounding
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        in_tree, by_board = exploitability(tree, found), [solver.evaluate() for solver in solvers.values()]
        for name in ("values", "best_response_values"):
            mean = np.mean([getattr(each, name) for each in by_board], axis=0)
            np.testing.assert_allclose(getattr(in_tree, name), mean, rtol=0, atol=1e-9)
    solved = exploitability(tree, expected)
    assert 0.0 < in_tree.exploitability < 0.1  # of 100 and 50 chips in the middle
    assert 0.0 < solved.exploitability < 0.1
    assert in_tree.values[0] == pytest.approx(solved.values[0], abs=in_tree.exploitability + solved.exploitability)


def test_restarts_forget_what_was_before():
    steps = parse_discounting("dcfr-restarts").steps(0, 20)
    weights = np.ones(20)
    for t in range(1, 20):
        weights[:t] *= steps[t, 2]
    assert (weights[:15] == 0.0).all()
    np.testing.assert_allclose(weights[15:] / weights[15], np.arange(1, 6) ** 3.0)
    plain = parse_discounting("dcfr").steps(0, 20)
    np.testing.assert_array_equal(steps[:, :2], plain[:, :2])
    np.testing.assert_allclose(np.cumprod(plain[::-1, 2])[:-1], (np.arange(19, 0, -1) / 20.0) ** 2)
    np.testing.assert_array_equal(plain[7:], parse_discounting("dcfr").steps(7, 13))


@pytest.mark.parametrize(
    "text", ["mccfr", "pcfr+", "hybrid", "cfr:simultaneous", "dcfr-restart", "nonsense", "-restarts"]
)
def test_other_algorithms_are_refused(text):
    with pytest.raises(ValueError, match=r"unknown algorithm|a subgame is solved by"):
        parse_discounting(text)


def heads_up(board, menu, stack=500, pot=100):
    """Return a public state on the board's street with so many chips in the pot, and the actions before."""
    rules = no_limit_holdem(2, stack=stack + pot // 2, blinds=(1, 2)).with_menu(menu)
    state, actions = BettingState(rules.with_menu("fullgame")), []
    for action in [pot // 2, CALL, *[CALL, CALL] * (len(board) - 3)]:
        actions.append(Action(state.actor, action, state.street))
        state.apply(action)
    state = BettingState(rules, state.array)
    return state, PublicState(rules, state.array.tolist(), board, tuple(actions))


def random_ranges(seed, texts=("random", "random")):
    rng = np.random.default_rng(seed)
    return np.stack([parse_range(text) * rng.random(1326) ** 3 for text in texts])


@jit_only
@pytest.mark.parametrize(
    "board, menu, ranges",
    [
        ("Td 9d 6h Qc 7s", "fchpa", ("random", "random")),
        ("As Ks Qs Js Ts", "fcpa", ("random", "22+,A2s+")),  # the board plays
        ("7c 7d 7h 2s 2d", "fchpa", ("TT+,AhKh", "88-22,76s")),
        ("Ah Kh 9h 4h", "fcpa", ("55+,AKs,QhJh", "44+,T9s,87s")),
        ("Ah Kh 9c 4h", "fc", ("random", "random")),
    ],
)
def test_values_and_exploitability_are_those_of_an_independent_best_response(board, menu, ranges):
    cards = parse_cards(board)
    state, public = heads_up(cards, menu)
    weights = (
        random_ranges(len(board), ranges) if ranges[1] != "44+,T9s,87s" else np.stack(list(map(parse_range, ranges)))
    )
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-3)):
        solver = VectorSolver(Subgame(state, cards, weights), dtype=dtype)
        solver.run(7)
        agents = [ResolvedAgent(solver, len(public.actions)) for _ in range(2)]
        expected = subgame_best_response(public, weights, agents)
        found = solver.evaluate()
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=tolerance)
        np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=tolerance)
        assert found.exploitability == pytest.approx(expected.exploitability, abs=tolerance)
        assert found.values.sum() == pytest.approx(0.0, abs=tolerance)


class Remembered(RangeAgent):
    """Asks an agent once at each public state."""

    name = "remembered"

    def __init__(self, agent):
        self._agent, self._known = agent, {}

    def strategy(self, public, combo_ids):
        key = public.board, public.actions
        if key not in self._known:
            self._known[key] = self._agent.strategy(public, combo_ids)
        return self._known[key]


@pytest.mark.slow
@jit_only
@pytest.mark.parametrize("by_buckets", [False, True])
def test_a_flop_is_worth_what_plain_loops_find(by_buckets):
    """A few hands each, over all turns and rivers of a flop on which diamonds and spades are alike."""
    cards = parse_cards("Ah Kh 9c")
    state, public = heads_up(cards, "fcpa", stack=100)
    weights = np.stack([parse_range("AsKd,AdKs,7h7c:0.5"), parse_range("QhJh,9s9d:0.25")])
    rows = (lambda board: np.arange(1326) % 7) if by_buckets else None
    solver = VectorSolver(Subgame(state, cards, weights, buckets=rows), dtype=np.float64)
    solver.run(12)
    assert [len(street.deals.boards) for street in solver.streets] == [1, 36, 1_429]
    agents = [Remembered(ResolvedAgent(solver, len(public.actions))) for _ in range(2)]
    own, best = reference.values(public, weights, agents)
    found = solver.evaluate()
    np.testing.assert_allclose(found.values, own, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.best_response_values, best, rtol=0, atol=1e-9)


@jit_only
def test_a_flop_in_lossless_buckets_is_the_exact_one():
    """One bucket for each hand on each board that is dealt, suits that are alike dealt once."""
    cards = parse_cards("Ah Kh 9c")
    state, _ = heads_up(cards, "fcpa", stack=60)
    weights = np.stack([parse_range("AsKd,AdKs,7h7c:0.5"), parse_range("QhJh,9s9d:0.25,8s8d")])
    places = np.cumsum(weights.sum(axis=0) > 0.0)
    numbers = {}

    def one_each(board):
        return numbers.setdefault(board, len(numbers)) * (places[-1] + 1) + places

    exact, by_buckets = (
        VectorSolver(Subgame(state, cards, weights, buckets=rows), "cfr", dtype=np.float64) for rows in (None, one_each)
    )
    for solver in (exact, by_buckets):
        assert [len(street.deals.boards) for street in solver.streets] == [1, 36, 1_429]
        solver.run(6)
    expected = exact.evaluate()
    assert expected.exploitability > 0.1
    for found in (by_buckets.evaluate(), by_buckets.evaluate_by_buckets()):
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
    for number, street in enumerate(exact.streets):
        for decision in street.betting.decisions:
            for board in range(0, len(street.deals.boards), 97):
                pair = (solver.strategy(number, decision, board) for solver in (exact, by_buckets))
                np.testing.assert_allclose(*pair, rtol=0, atol=1e-9)


@jit_only
def test_isomorphic_cards_are_dealt_once():
    """Monotone and rainbow turns: as many rivers as differ, and the values of all of them."""
    whole, part = np.ones((2, 1326)), np.ones((2, 1326))
    part[0, 10] = 0.5  # 3d2c tells the suits apart
    for board, weights, rivers in (("Ah Kh 9h 4h", whole, 22), ("Ah Kd 9c 4s", whole, 48), ("Ah Kh 9h 4h", part, 48)):
        cards = parse_cards(board)
        state, _ = heads_up(cards, "fc")
        solver = VectorSolver(Subgame(state, cards, weights))
        assert len(solver.streets[1].deals.boards) == rivers
        assert len(solver.streets[1].deals.renamings[0]) == 48


@jit_only
def test_the_same_for_any_number_of_threads():
    cards = parse_cards("Ah Kh 9h 4c")
    state, _ = heads_up(cards, "fcpa")
    sums = []
    for threads in (1, 3):
        solver = VectorSolver(Subgame(state, cards, random_ranges(1, ("66+,AT+", "random"))), threads=threads)
        solver.run(3)
        sums.append(solver.streets[1].sums[0])
    np.testing.assert_array_equal(*sums)


@jit_only
def test_dead_chips_are_won_with_the_rest():
    """By the best hand, and in halves by equal ones; turning the subgame down is weighed against it."""
    cards = parse_cards("Td 9d 6h Qc 7s")
    state, _ = heads_up(cards, "fc")
    weights = np.stack([parse_range("QQ"), parse_range("AA")])
    for dead_chips in (0, 7):
        solver = VectorSolver(Subgame(state, cards, weights, dead_chips=dead_chips))
        solver.run(2)
        found = solver.evaluate()
        for values in (found.values, found.best_response_values):
            np.testing.assert_allclose(values, [50 + dead_chips, -50])
        queens = (weights[0] > 0.0) & (solver.facing[0] > 0.0)
        np.testing.assert_allclose(solver.combo_values(0)[:, queens] / solver.facing[0, queens], 50 + dead_chips)
        for bound, is_accepted in ((49 + dead_chips, True), (51 + dead_chips, False)):
            solver.let_turn_down(0, np.full(1326, float(bound)))
            solver.run(2)
            assert (solver._gadget.accepted[queens] == is_accepted).all()
        equal = VectorSolver(Subgame(state, cards, weights[[1, 1]], dead_chips=dead_chips))
        np.testing.assert_allclose(equal.evaluate().values, dead_chips / 2)


def test_refusals():
    state = BettingState(LEDUC)
    with pytest.raises(ValueError, match="whole board"):
        Subgame(state, (3,), np.ones((2, 6)))
    with pytest.raises(ValueError, match="two seats and 6 combos"):
        Subgame(state, (), np.ones((2, 5)))
    with pytest.raises(ValueError, match="weights of at least 0"):
        Subgame(state, (), -np.ones((2, 6)))
    alone = np.zeros((2, 6))
    alone[:, 3] = 1.0
    with pytest.raises(ValueError, match="no compatible hands"):
        VectorSolver(Subgame(state, (), alone))
    with pytest.raises(ValueError, match="threads"):
        VectorSolver(Subgame(state, (), np.ones((2, 6))), threads=0)
    with pytest.raises(ValueError, match="holds"):
        limited = dataclasses.replace(LEDUC)

        def refuse(num_bytes):
            raise ValueError(f"holds {num_bytes}")

        VectorSolver(Subgame(BettingState(limited), (), np.ones((2, 6))), on_memory=refuse)
