"""The CFR family equals plain versions written from the papers, is unbiased where it samples, and goes on exactly."""

import itertools
import os

import numpy as np
import pytest
from reference import cfr as reference
from reference import xoshiro

from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.abstraction.trees.game_tree import flatten, uniform_strategy
from plurispiel.agents.tabular import _solvers_kernels as kernels
from plurispiel.agents.tabular.solvers import (
    ALGORITHMS,
    ExternalSampling,
    FullWidth,
    empty_samples,
    make_solver,
    parse_algorithm,
)
from plurispiel.evaluation.best_response import exploitability

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RULES = {
    "cfr": dict(rule=reference.cfr, weight=lambda t: 1.0),
    "cfr+": dict(rule=reference.cfr_plus, weight=lambda t: t),
    "lcfr": dict(rule=reference.linear, weight=lambda t: t),
    "dcfr": dict(rule=reference.discounted(1.5, 0.0), weight=lambda t: t**2),
    "dcfr(2,-1,3)": dict(rule=reference.discounted(2.0, -1.0), weight=lambda t: t**3),
    "pcfr+": dict(rule=reference.cfr_plus, weight=lambda t: t**2, predictive=True),
    "hybrid(1)": dict(rule=reference.cfr_plus, weight=lambda t: float(t > 1), simultaneous=True),
}
GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=3,points_order=descending))"
THREE_STREETS = (
    "universal_poker(numRounds=3,blind=1 1,stack=4 4,firstPlayer=1 1 1,numSuits=1,numRanks=5,numBoardCards=0 1 1)"
)
SMALL = ["kuhn", "kuhn3", "liars_dice(dice_sides=2)", GOOFSPIEL]


def rows(tree, average):
    """Return a reference's average as a strategy; uniform where it has been nowhere."""
    strategy = uniform_strategy(tree)
    for number, key in enumerate(tree.infoset_keys):
        begin, end = tree.infoset_first[number : number + 2]
        known = average.get((int(tree.infoset_player[number]), key), {})
        for place in range(begin, end):
            strategy[place] = known.get(int(tree.action_ids[place]), strategy[place])
    return strategy


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("name", RULES)
def test_the_papers_rules_from_the_start(name, updates):
    """On Kuhn poker, where no ties arise: elsewhere rounding decides them, here one way and there the other."""
    tree = flatten("kuhn")
    plain = reference.CFR(tree.openspiel_game, **(RULES[name] | {"simultaneous": updates == "simultaneous"}))
    plain.run(60)
    solver = make_solver(tree, f"{name}:{updates}")
    solver.run(60)
    np.testing.assert_allclose(solver.average_strategy(), rows(tree, plain.average()), atol=1e-9)
    np.testing.assert_allclose(solver.current_strategy(), rows(tree, plain.strategy), atol=1e-9)


@pytest.mark.parametrize(
    ("game", "name"),
    [*itertools.product(SMALL[1:], RULES), ("leduc", "dcfr"), ("leduc", "pcfr+"), ("leduc", "hybrid(1)")],
)
def test_the_papers_rules_from_any_regrets(game, name):
    """Random regrets to begin with leave no ties."""
    tree = flatten(game)
    plain = reference.CFR(tree.openspiel_game, **RULES[name])
    solver = make_solver(tree, name)
    regret = np.random.default_rng(8).random(tree.num_actions)
    for place, key in zip(
        tree.infoset_first.tolist(), zip(tree.infoset_player.tolist(), tree.infoset_keys, strict=True), strict=False
    ):
        for k, action in enumerate(plain.regrets[key]):
            plain.regrets[key][action] = float(regret[place + k])
        plain.strategy[key] = reference.match(plain.regrets[key])
    solver.resume(
        0, {"regret": regret, "strategy": rows(tree, plain.strategy), "strategy_sum": np.zeros(tree.num_actions)}
    )
    iterations = 2 if game == "leduc" else 12
    plain.run(iterations)
    solver.run(iterations)
    np.testing.assert_allclose(solver.average_strategy(), rows(tree, plain.average()), atol=1e-9)
    np.testing.assert_allclose(solver.current_strategy(), rows(tree, plain.strategy), atol=1e-9)


@pytest.mark.parametrize("name", ["mccfr", "linear-mccfr"])
@pytest.mark.parametrize("game", SMALL)
def test_external_sampling_draw_for_draw(game, name):
    tree = flatten(game)
    iterations = 40
    state = [int(word) for word in xoshiro_stream(np.random.SeedSequence(3))]
    words = iter(xoshiro.words(state, 100_000))
    weight = (lambda t: t) if name == "linear-mccfr" else (lambda t: 1)
    plain = reference.ExternalSampling(tree.openspiel_game, weight, lambda: (next(words) >> 11) * 2.0**-53)
    plain.run(iterations)
    solver = make_solver(tree, name, seed=3)
    solver.run(iterations)
    np.testing.assert_allclose(solver.average_strategy(), rows(tree, plain.average()), atol=1e-9)
    found = {key: dict(regrets) for key, regrets in plain.regrets.items()}
    expected = rows(tree, {key: reference.match(regrets) for key, regrets in found.items() if regrets})
    np.testing.assert_allclose(solver.current_strategy(), expected, atol=1e-9)


def frozen_profile(tree):
    """Return random regrets, and the strategy that they stand for."""
    solver = make_solver(tree, "mccfr")
    frozen = np.random.default_rng(2).normal(size=tree.num_actions)
    solver.arrays()["regret"][:] = frozen
    return frozen, solver.current_strategy()


class Moments:
    """Sums of samples, to compare their mean with what it should be."""

    def __init__(self, size):
        self.count, self.total, self.squares = 0, np.zeros(size), np.zeros(size)
        self.nonzero = np.zeros(size, dtype=int)

    def add(self, samples):
        """Add samples, one a row."""
        self.count += len(samples)
        self.total += samples.sum(axis=0)
        self.squares += (samples * samples).sum(axis=0)
        self.nonzero += (abs(samples) > 1e-12).sum(axis=0)  # less is rounding

    def require_mean(self, expected, largest):
        """Assert that means lie within four standard errors; where little was drawn, little was to be expected."""
        mean = self.total / self.count
        error = np.sqrt(np.maximum(self.squares / self.count - mean**2, 0.0) / self.count)
        often = self.nonzero >= 50
        assert often.sum() > 5
        assert (abs(mean - expected) <= 4.0 * error + 1e-12)[often].all()
        assert (abs(expected[~often]) <= 100.0 * largest / self.count).all()


@jit_only
@pytest.mark.parametrize("game", ["kuhn", "kuhn3", "leduc"])
def test_sampled_regrets_are_unbiased(game):
    """With a frozen profile their mean is the counterfactual regret of the full width, in every infoset."""
    tree = flatten(game)
    frozen, strategy = frozen_profile(tree)
    full = make_solver(tree, "cfr:simultaneous")
    zeros = np.zeros(tree.num_actions)
    full.resume(0, {"regret": zeros, "strategy_sum": zeros, "strategy": strategy})
    full.run(1)
    samples = empty_samples(tree, seed=4)
    for player in range(tree.num_players):
        own = np.repeat(tree.infoset_player == player, np.diff(tree.infoset_first))
        moments, drawn = Moments(own.sum()), np.empty((1_000, own.sum()))
        for _ in range(30):
            for each in drawn:
                samples.regret[:] = frozen
                kernels.traverse(tree.nodes, samples, player, 1.0, False)
                each[:] = samples.regret[own]
            moments.add(drawn - frozen[own])
        assert (samples.regret == frozen)[~own].all()
        moments.require_mean(full.arrays()["regret"][own], 2.0 * abs(tree.payoffs).max())


@jit_only
@pytest.mark.parametrize("game", ["kuhn", "kuhn3", "leduc"])
def test_sampled_averages_are_unbiased(game):
    """An infoset's strategy is added as often as chance and its player's own plan lead to it."""
    tree = flatten(game)
    frozen, strategy = frozen_profile(tree)
    chance, plan = tree.chance.copy(), np.ones((tree.num_histories, tree.num_players))
    for history in range(1, tree.num_histories):
        parent = tree.parent[history]
        actor = tree.player[parent]
        chance[history] *= chance[parent]
        plan[history] = plan[parent]
        if actor >= 0:
            plan[history, actor] *= strategy[
                tree.infoset_first[tree.infoset[parent]] + history - tree.first_child[parent]
            ]
    decisions = np.flatnonzero(tree.player >= 0)
    visits = chance[decisions] * plan[decisions, tree.player[decisions]]
    visits = np.bincount(tree.infoset[decisions], visits)
    expected = np.repeat(visits, np.diff(tree.infoset_first)) * strategy
    samples = empty_samples(tree, seed=4)
    for player in range(tree.num_players):
        own = np.repeat(tree.infoset_player == player, np.diff(tree.infoset_first))
        moments, drawn = Moments(own.sum()), np.empty((1_000, own.sum()))
        samples.regret[:] = frozen
        for _ in range(30):
            for each in drawn:
                samples.strategy_sum[:] = 0.0
                if tree.num_players == 2:
                    samples.regret[:] = frozen  # the traverser learns
                    kernels.traverse(tree.nodes, samples, 1 - player, 1.0, True)
                else:
                    kernels.sample_plan(tree.nodes, samples, player, 1.0)
                each[:] = samples.strategy_sum[own]
            moments.add(drawn)
        assert not samples.strategy_sum[~own].any()
        moments.require_mean(expected[own], 1.0)


@pytest.mark.parametrize("name", [*ALGORITHMS, "cfr:simultaneous"])
@pytest.mark.parametrize("game", ["kuhn", "kuhn3"])
def test_runs_can_be_cut_anywhere(game, name):
    tree = flatten(game)
    whole = make_solver(tree, name, seed=7)
    whole.run(61)
    parts = make_solver(tree, name, seed=7)
    for count in (1, 20, 40):
        parts.run(count)
        again = make_solver(tree, name, seed=99)
        again.resume(parts.iteration, {key: values.copy() for key, values in parts.arrays().items()})
        parts = again
    assert parts.iteration == 61
    for key, values in whole.arrays().items():
        np.testing.assert_array_equal(parts.arrays()[key], values)
    np.testing.assert_array_equal(parts.average_strategy(), whole.average_strategy())


@pytest.mark.parametrize("algorithm", ["cfr", "mccfr"])
def test_a_number_of_iterations_that_is_none_is_refused(algorithm):
    solver = make_solver(flatten("kuhn"), algorithm)
    with pytest.raises(ValueError, match="must not be negative, got -5"):
        solver.run(-5)
    with pytest.raises(TypeError):
        solver.run(2.5)
    assert solver.iteration == 0


def test_another_state_is_refused():
    solver = make_solver(flatten("kuhn"), "cfr")
    good = {key: values.copy() for key, values in solver.arrays().items()}
    for bad in (
        {},
        good | {"regret": np.zeros(3)},
        good | {"strategy": good["strategy"].astype(np.float32)},
        make_solver(flatten("kuhn3"), "cfr").arrays(),
        make_solver(flatten("kuhn"), "mccfr").arrays(),
        good | {"regret": np.full(24, np.nan)},
    ):
        with pytest.raises(ValueError, match="does not belong to cfr on kuhn_poker|not finite"):
            solver.resume(1, bad)
    assert solver.iteration == 0


def test_same_seed_same_numbers():
    tree = flatten("leduc")

    def regrets(seed):
        solver = make_solver(tree, "mccfr", seed=seed)
        solver.run(500)
        return solver.arrays()["regret"].tolist()

    assert regrets(1) == regrets(1) != regrets(2)


@jit_only
@pytest.mark.parametrize(
    ("game", "name", "iterations", "bound"),
    [
        ("kuhn", "mccfr", 300_000, 0.01),
        ("kuhn", "linear-mccfr", 300_000, 0.01),
        ("kuhn3", "mccfr", 300_000, 0.01),
        ("kuhn3", "cfr+", 3_000, 0.01),
        ("kuhn3", "dcfr", 3_000, 0.01),
        ("kuhn3", "cfr:simultaneous", 10_000, 0.01),
        ("liars_dice(dice_sides=3)", "cfr+", 1_000, 0.001),
        (GOOFSPIEL, "cfr+", 1_000, 0.001),
        (THREE_STREETS, "cfr+", 500, 0.01),
    ],
)
def test_convergence(game, name, iterations, bound):
    tree = flatten(game)
    solver = make_solver(tree, name, seed=1)
    before = exploitability(tree, solver.average_strategy()).nash_conv
    solver.run(iterations)
    after = exploitability(tree, solver.average_strategy()).nash_conv
    assert after < bound < before


@pytest.mark.slow
def test_three_player_leduc():
    tree = flatten("leduc3")
    solver = make_solver(tree, "cfr+")
    solver.run(100)
    assert exploitability(tree, solver.average_strategy()).nash_conv < 0.1


def test_kuhn_value():
    tree = flatten("kuhn")
    solver = make_solver(tree, "cfr+")
    solver.run(10_000)
    assert exploitability(tree, solver.average_strategy()).values[0] == pytest.approx(-1 / 18, abs=1e-5)


@jit_only
def test_leduc_value():
    tree = flatten("leduc")
    solver = make_solver(tree, "cfr+")
    solver.run(3_000)
    found = exploitability(tree, solver.average_strategy())
    assert found.values[0] == pytest.approx(-0.085606424, abs=found.nash_conv)
    assert found.nash_conv < 1e-4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cfr", FullWidth("cfr")),
        (" CFR+ ", ALGORITHMS["cfr+"]),
        ("cfr+:alternating", ALGORITHMS["cfr+"]),
        ("cfr:simultaneous", FullWidth("cfr:simultaneous", simultaneous=True)),
        ("hybrid(10)", FullWidth("hybrid(10)", beta=-np.inf, simultaneous=True, omitted=10)),
        ("dcfr( 1.5,inf , 2 )", FullWidth("dcfr(1.5,inf,2)", alpha=1.5, gamma=2.0)),
        ("linear-mccfr", ExternalSampling("linear-mccfr", gamma=1.0)),
    ],
)
def test_algorithm_texts(text, expected):
    found = parse_algorithm(text)
    assert found == expected
    assert parse_algorithm(found.name) == found


def test_varied_algorithms_have_their_own_names():
    names = [f"{name}:{updates}" for name, updates in itertools.product(RULES, ("alternating", "simultaneous"))]
    assert len({parse_algorithm(name).name for name in names}) == len(names)
    for name in names:
        assert parse_algorithm(parse_algorithm(name).name) == parse_algorithm(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown algorithm ''"),
        ("cfr++", "choose from cfr, cfr[+], lcfr"),
        ("cfr(1)", "cfr takes no numbers"),
        ("dcfr(1)", r"dcfr\(ALPHA,BETA,GAMMA\)"),
        ("dcfr(1,x,2)", r"dcfr\(ALPHA,BETA,GAMMA\)"),
        ("dcfr(nan,0,2)", r"dcfr\(ALPHA,BETA,GAMMA\)"),
        ("dcfr(1.5,0,99)", "GAMMA in 0..16"),
        ("hybrid(-1)", r"hybrid\(N\)"),
        ("hybrid(1.5)", r"hybrid\(N\)"),
        ("hybrid(inf)", r"hybrid\(N\)"),
        ("cfr:sometimes", "alternating or simultaneous, got 'sometimes'"),
        ("mccfr:alternating", "mccfr takes neither numbers nor"),
        ("mccfr(2)", "mccfr takes neither numbers nor"),
    ],
)
def test_algorithm_refusals(text, message):
    with pytest.raises(ValueError, match=message):
        parse_algorithm(text)
