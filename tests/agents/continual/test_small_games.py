import os

import numpy as np
import pyspiel
import pytest
from reference import continual as reference

from plurispiel.abstraction.holdem.betting_layout import CONTRIB
from plurispiel.abstraction.trees.game_tree import checked_strategy, flatten
from plurispiel.agents.continual import ContinualConfig, continual_strategy
from plurispiel.agents.continual import carried as carried_module
from plurispiel.agents.continual import exact_values as exact_values_module
from plurispiel.agents.continual.carried import Carried
from plurispiel.agents.continual.exact_values import ExactLeaves
from plurispiel.agents.continual.lookahead import Lookahead
from plurispiel.agents.resolve.vector_cfr_kernels import OWN
from plurispiel.evaluation.best_response import exploitability

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

LEAVES = 84
"""Ends of the first street of Leduc in all six lookaheads that begin there, times six cards."""


@pytest.fixture(scope="module")
def leduc():
    return flatten("leduc_poker")


def distance(tree, **options):
    strategy, _ = continual_strategy(tree, ContinualConfig(**options))
    return exploitability(tree, checked_strategy(tree, strategy)).exploitability


def slope(points):
    """The slope of a line through the logarithms of points (x, y)."""
    return float(np.polyfit(*np.log(np.array(points)).T, 1)[0])


@pytest.mark.parametrize(("iterations", "inner"), [(2, 1), (7, 3)])
def test_reference(leduc, iterations, inner):
    """Later, rounding decides between actions of equal regret, and both versions go ways of their own."""
    game = pyspiel.load_game("leduc_poker")
    expected = reference.Continual(game, iterations, reference.Ends(inner)).strategy
    actual, counts = continual_strategy(leduc, ContinualConfig(iterations=iterations, inner=inner))
    rows = [expected[state.current_player(), state.information_state_string()] for state in leduc.infoset_states()]
    np.testing.assert_allclose(actual, np.concatenate([[row[key] for key in sorted(row)] for row in rows]), atol=1e-9)
    assert counts["solves"] == counts["decisions"] == 186
    assert counts["inner_solves"] == LEAVES * iterations


@jit_only
def test_values_behind_a_street_alone_cross_its_end(leduc, monkeypatch):
    """Whatever a solve of the first street leaves behind of the second one is destroyed."""
    values = ExactLeaves.values

    def then_destroyed(self, reach):
        found = values(self, reach)
        for tables in (*self._street.regrets, *self._street.sums, self._totals, *self._above.reach):
            tables[:] = np.nan
        return found

    expected, counts = continual_strategy(leduc, ContinualConfig(iterations=20))
    monkeypatch.setattr(ExactLeaves, "values", then_destroyed)
    actual, _ = continual_strategy(leduc, ContinualConfig(iterations=20))
    np.testing.assert_array_equal(actual, expected)
    assert counts["inner_iterations"] == LEAVES * 20 * 60


@jit_only
def test_theorem_1_iterations(leduc):
    found = {count: distance(leduc, iterations=count) for count in (30, 100)}
    assert found[100] <= 0.065
    assert -1.0 <= slope(list(found.items())) <= -0.4


@jit_only
@pytest.mark.slow
def test_theorem_1_more_iterations(leduc):
    found = {count: distance(leduc, iterations=count) for count in (30, 100, 300, 1_000)}
    assert found[300] <= 0.034
    assert found[1_000] <= 0.019
    assert -1.0 <= slope(list(found.items())) <= -0.4
    assert distance(leduc, iterations=1_000, inner=200) <= 0.0125


@jit_only
@pytest.mark.slow
def test_theorem_1_errors(leduc):
    found = {noise: distance(leduc, iterations=100, noise=noise) for noise in (0.03, 0.1)}
    assert found[0.03] <= 0.12
    assert found[0.1] <= 0.32
    assert distance(leduc, iterations=100, noise=0.1, kind="fresh") < found[0.1] / 2.0


def without_facing_mass(self, dealt, opponent, *, entry=Lookahead._entry):
    """The values of terminating are not weighted as the values of the subgame are."""
    found = entry(self, dealt, opponent)
    if opponent is not None:
        found.terminating[:] = opponent.bounds[self._hands.combos]
    return found


def in_another_unit(self, dealt, opponent, *, entry=Lookahead._entry):
    """Chips that the opponent has put in already do not count as lost."""
    if opponent is not None:
        opponent = opponent._replace(bounds=opponent.bounds + self.betting.decisions[0].state[CONTRIB + opponent.seat])
    return entry(self, dealt, opponent)


def of_the_other_seat(self, solution, node, other, reach=None, *, bounded=Carried.bounded):
    return bounded(self, solution, node, 1 - other, reach)


def without_normalisation(rules, board, reach, *, facing=carried_module.facing):
    """Values under the reach of all own actions are divided by the mass of the normalised range."""
    return facing(rules, board, reach / max(reach.sum(), 1e-300))


MUTATIONS = {
    "facing mass left out": (Lookahead, "_entry", without_facing_mass),
    "wrong unit": (Lookahead, "_entry", in_another_unit),
    "the other seat's bounds": (Carried, "bounded", of_the_other_seat),
    "normalisation left out": (carried_module, "facing", without_normalisation),
    "leaf values of the average strategy": (exact_values_module, "BEST", OWN),
}


@jit_only
def test_without_a_mutation_the_few_iterations_of_the_next_test_suffice(leduc):
    assert distance(leduc, iterations=100, inner=20) < 0.08


@jit_only
@pytest.mark.parametrize(("iterations", "inner"), [(100, 20), pytest.param(300, 60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutations(leduc, monkeypatch, mutation, iterations, inner):
    monkeypatch.setattr(*MUTATIONS[mutation])
    found = distance(leduc, iterations=iterations, inner=inner)
    print(f"{mutation}, {iterations} iterations: {found:.3f}")
    assert found > 0.1


@jit_only
@pytest.mark.slow
@pytest.mark.parametrize("name", ["leduc-9", "holdem-mini"])
def test_theorem_1_in_other_games(name):
    tree = flatten(name)
    found = {count: distance(tree, iterations=count) for count in (30, 100, 300)}
    assert -1.0 <= slope(list(found.items())) <= -0.4


@jit_only
@pytest.mark.slow
@pytest.mark.parametrize("bounds", ["average", "best"])
def test_ranges_at_ends_hardly_reached_spoil_other_bounds(leduc, monkeypatch, bounds):
    """There the average strategy of the opponent has an arbitrary range; a little of every hand cures most of it."""
    before = distance(leduc, iterations=300, bounds=bounds)
    values = ExactLeaves.values
    monkeypatch.setattr(ExactLeaves, "values", lambda self, reach: values(self, reach + 1e-4 / 6.0))
    assert distance(leduc, iterations=300, bounds=bounds) < before / 2.0
