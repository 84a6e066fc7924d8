"""Values before the flop by classes of hands, against all 1,326 hands one by one."""

import os

import numpy as np
import pytest
from random_nets import random_net

from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.continual.end_net_leaves import end_net_leaves
from plurispiel.agents.continual.lookahead import Lookahead
from plurispiel.agents.values.encoding import bins_of, board_features, gate, inputs
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.zero_sum import without_gain

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.fixture(scope="module")
def net():
    return random_net("end-of-preflop", bins=169)


def lookahead(net):
    return Lookahead(BettingState(HUNL), (), (), end_net_leaves(net), net.level.raises)


def test_values_are_those_of_all_hands_one_by_one(net):
    solver = lookahead(net)
    ends = solver.betting.end_states
    by_class = np.random.default_rng(1).random((2, len(ends), 169))
    by_class[1, 2] = 0.0  # a seat that never comes to this end
    hands = rank_hands(HUNL, ())
    reach = by_class[:, :, preflop_classes()[hands.combos]]
    found = solver.leaves.values(reach)[:, :, 0]
    ordered = ordered_hands(HUNL, ())
    numbers = np.empty(1326, np.int64)
    numbers[hands.combos] = np.arange(1326)
    places = numbers[ordered.hands.combos]
    bins = bins_of(ordered.hands, 169)
    assert (bins.share == 0.0).all() and bins.hands.tolist() == np.bincount(preflop_classes()).tolist()
    for end, state in enumerate(ends):
        pot, spr = pot_of(state), np.array([chips_behind(state) / pot_of(state)])
        rows = reach[:, end, None][:, :, places]
        totals = rows.sum(axis=2, keepdims=True)
        ranges = np.where(totals > 0.0, rows / np.maximum(totals, 1e-300), 1.0 / 1326)
        masses, down = ordered.checkdown(ranges)
        outputs = net.net.outputs(inputs(bins, ranges, spr, board_features(HUNL, ()))).transpose(1, 0, 2)
        added = without_gain(gate(spr)[:, None] * bins.spread(outputs.astype(float)) * masses, ranges, masses)
        expected = (down * masses + added) * totals[::-1] * pot
        np.testing.assert_allclose(found[:, end, places], expected[:, 0], rtol=1e-4, atol=1e-3 * pot)


def test_an_all_in_is_worth_its_equity(net):
    """Aces against kings, both all-in: 81.9 % and a small share of ties."""
    solver = lookahead(net)
    end = max(range(len(solver.betting.end_states)), key=lambda number: pot_of(solver.betting.end_states[number]))
    assert chips_behind(solver.betting.end_states[end]) == 0
    hands, classes = rank_hands(HUNL, ()), preflop_classes()
    aces, kings = (HUNL.combo_id(cards) for cards in ((51, 50), (47, 46)))
    reach = np.zeros((2, len(solver.betting.end_states), 1326))
    reach[0, end] = classes[hands.combos] == classes[aces]
    reach[1, end] = classes[hands.combos] == classes[kings]
    value = solver.leaves.values(reach)[0, end, 0, hands.combos.tolist().index(aces)]
    assert value / 6.0 / 20_000 == pytest.approx(0.6389, abs=2e-3)


def test_hands_of_a_class_are_played_alike_and_values_sum_to_zero(net):
    solver = lookahead(net)
    ranges = np.full((2, 1326), 1.0 / 1326)
    solved = solver.solve(ranges, 6, 3, num_pairs=2)
    classes = preflop_classes()
    first = np.array([np.flatnonzero(classes == number)[0] for number in range(169)])
    np.testing.assert_allclose(solved.strategy(0), solved.strategy(0)[first][classes], atol=1e-9)
    values = (ranges * solved.means.values[:, 0]).sum()
    assert abs(values) < 1e-3 * 300
    masses = fold_mass(rank_hands(HUNL, ()), ranges[0])
    assert np.isfinite(solved.means.values).all() and masses.min() > 0.0


def test_a_network_for_another_street_is_refused():
    with pytest.raises(ArtefactRefused, match="level end-of-flop, not for the end of street 0"):
        lookahead(random_net("end-of-flop"))
