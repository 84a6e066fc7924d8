"""Values of networks at the end of a street, and after the next card."""

import dataclasses
import os

import numpy as np
import pytest
from random_nets import random_net

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.continual.end_net_leaves import EndNetLeaves, deepest_spr
from plurispiel.agents.continual.leaf_values import Boundary
from plurispiel.agents.continual.start_values import start_values
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, gate, inputs
from plurispiel.agents.values.levels import chips_behind, find_level, pot_of
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.zero_sum import without_gain

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

TURN = (0, 5, 10, 20)
RAISES = find_level("turn").raises


def boundary(rules=HUNL, part=2_000, street=2):
    state = BettingState(rules)
    state.apply(part if part > rules.big_blind else 1)
    while state.street < street:
        state.apply(1)
    first, second = street_betting(state, menu=RAISES, num_streets=2)
    board = TURN[: rules.board_size(street)]
    return Boundary(rules, street, board, second, rank_hands(rules, board), tuple(first.end_states))


def reach_at(end, seed=1):
    return np.random.default_rng(seed).random((2, len(end.ends), len(end.hands.combos)))


def test_values_sum_to_zero_and_threads_change_no_bit():
    end = boundary()
    reach = reach_at(end)
    values = EndNetLeaves(random_net("end-of-turn"), end).values(reach)
    assert values.shape == (2, len(end.ends), 1, len(end.hands.combos))
    gains = (reach * values[:, :, 0]).sum(axis=2)
    assert (abs(gains.sum(axis=0)) < 1e-5 * abs(reach * values[:, :, 0]).sum(axis=(0, 2))).all()
    np.testing.assert_array_equal(values, EndNetLeaves(random_net("end-of-turn"), end, threads=2).values(reach))


def test_after_an_all_in_values_are_those_of_checking_down():
    end = boundary()
    reach = reach_at(end)
    found = EndNetLeaves(random_net("end-of-turn"), end).values(reach)[:, :, 0]
    plain = EndNetLeaves(random_net("end-of-turn", scale=0.0), end).values(reach)[:, :, 0]
    ordered = ordered_hands(HUNL, TURN)
    masses, evs = ordered.checkdown(_in_order(end, ordered, reach))
    for number, state in enumerate(end.ends):
        expected = _back(end, ordered, masses[:, number] * evs[:, number] * pot_of(state))
        np.testing.assert_allclose(plain[:, number], expected, rtol=1e-3, atol=1e-3 * pot_of(state))
        if chips_behind(state) == 0:
            np.testing.assert_array_equal(found[:, number], plain[:, number])
        else:
            assert abs(found[:, number] - plain[:, number]).max() > 1.0


def _in_order(end, ordered, rows):
    numbers = {combo: number for number, combo in enumerate(end.hands.combos.tolist())}
    return np.ascontiguousarray(rows[:, :, [numbers[combo] for combo in ordered.hands.combos.tolist()]])


def _back(end, ordered, rows):
    numbers = {combo: number for number, combo in enumerate(ordered.hands.combos.tolist())}
    return rows[:, [numbers[combo] for combo in end.hands.combos.tolist()]]


def test_a_seat_that_never_comes_gives_finite_values():
    end = boundary()
    reach = reach_at(end)
    reach[0, 0] = 0.0
    reach[1, 1, 1:] = 0.0
    leaves = EndNetLeaves(random_net("end-of-turn"), end)
    values = leaves.values(reach)
    assert np.isfinite(values).all() and (values[1, 0] == 0.0).all()
    reach[0, 0] = 1.0  # its own values are those of a range of equal weights
    np.testing.assert_array_equal(leaves.values(reach)[0, 0], values[0, 0])


def test_gains_are_those_of_the_network():
    """With the ranges and outputs in the order of the board's representative, hand by hand."""
    end, net = boundary(), random_net("end-of-turn")
    reach = reach_at(end)
    leaves, plain = EndNetLeaves(net, end), EndNetLeaves(random_net("end-of-turn", scale=0.0), end)
    known = canonical_hands(HUNL, end.board)
    numbers = {combo: number for number, combo in enumerate(end.hands.combos.tolist())}
    places = [numbers[combo] for combo in known.combos.tolist()]
    assert places != sorted(places)
    bins = bins_of(known.hands, net.net.num_bins)
    found = (leaves.values(reach) - plain.values(reach))[:, :, 0][:, :, places]
    for number, state in enumerate(end.ends):
        if not chips_behind(state):
            continue
        rows, spr = reach[:, number, None][:, :, places], np.array([chips_behind(state) / pot_of(state)])
        totals = rows.sum(axis=2, keepdims=True)
        masses = fold_mass(known.hands, (rows / totals)[::-1])
        outputs = net.net.outputs(inputs(bins, rows / totals, spr, board_features(HUNL, known.board)))
        added = gate(spr)[:, None] * bins.spread(outputs.transpose(1, 0, 2).astype(float)) * masses
        expected = without_gain(added, rows / totals, masses)[:, 0] * totals[::-1, 0] * pot_of(state)
        np.testing.assert_allclose(found[:, number], expected, rtol=1e-4, atol=1e-4 * abs(expected).max())


def test_deeper_stacks_than_in_training_are_clamped_and_counted():
    deep = dataclasses.replace(HUNL, stacks=(60_000, 60_000))
    net = random_net("end-of-turn")
    end = boundary(deep, 100)
    found = EndNetLeaves(net, end)
    assert found.num_clamped == sum(chips_behind(state) / pot_of(state) > deepest_spr(net.level) for state in end.ends)
    assert found.num_clamped > 0 and np.isfinite(found.values(reach_at(end))).all()
    assert EndNetLeaves(net, boundary(HUNL, 100)).num_clamped == 0


@pytest.mark.parametrize(("street", "start"), [(2, "river"), (1, "turn")])
def test_corrected_values_are_means_over_all_next_boards(street, start):
    """Whatever the network for the end of the street says: its error is measured and taken away."""
    end, next_net = boundary(street=street, part=3_000), random_net(start)
    reach = reach_at(end)
    known, combos = random_net(("end-of-flop", "end-of-turn")[street - 1]), end.hands.combos
    leaves = EndNetLeaves(known, end, next_net=next_net.net)
    correction = leaves.correction(reach)
    found = leaves.values(reach, correction)
    deep = [number for number, state in enumerate(end.ends) if chips_behind(state)][-2:]
    pairs = np.zeros((len(deep), 2, HUNL.num_combos))
    pairs[:, :, combos] = reach[:, deep].transpose(1, 0, 2)
    expected = np.zeros((2, len(deep), HUNL.num_combos))
    cards = [card for card in range(52) if card not in end.board]
    for card in cards:
        for row, number in enumerate(deep):
            values, _ = start_values(next_net, HUNL, (*end.board, card), pairs[row : row + 1], end.ends[number])
            expected[:, row] += values[:, 0] / (len(cards) - 4)
    scale = abs(expected).max()
    np.testing.assert_allclose(found[:, deep, 0], expected[:, :, combos], atol=2e-3 * scale)
    assert abs(leaves.values(reach)[:, deep, 0] - expected[:, :, combos]).max() > 0.05 * scale
    threaded = EndNetLeaves(known, end, threads=2, next_net=next_net.net)
    np.testing.assert_array_equal(threaded.values(reach, threaded.correction(reach)), found)
    elsewhere = leaves.values(reach_at(end, 2), correction)
    gains = (reach_at(end, 2) * elsewhere[:, :, 0]).sum(axis=2)
    assert (abs(gains.sum(axis=0)) < 1e-4 * abs(elsewhere).sum(axis=(0, 2, 3))).all()


def test_reach_of_another_size_is_refused():
    end = boundary()
    leaves = EndNetLeaves(random_net("end-of-turn"), end, next_net=random_net("river").net)
    for wrong in (reach_at(end)[..., :-1], reach_at(end)[:1]):
        with pytest.raises(ValueError, match=f"reach has {len(end.hands.combos):,} hands of 2 seats, got "):
            leaves.correction(wrong)


def test_networks_for_another_place_are_refused():
    with pytest.raises(ArtefactRefused, match="level turn, not for the end of street 2"):
        EndNetLeaves(random_net("turn"), boundary())
    with pytest.raises(ArtefactRefused, match="not for the end of street 0"):
        EndNetLeaves(random_net("end-of-turn"), Boundary(LEDUC, 0, (), None, rank_hands(LEDUC, ())))


def test_values_after_a_card():
    """Rows are independent, values sum to 0, and hands that hold a card of the board have none."""
    net, board = random_net("turn"), TURN
    state = boundary(street=1).ends[0]
    reach = np.random.default_rng(2).random((3, 2, HUNL.num_combos))
    values, masses = start_values(net, HUNL, board, reach, state)
    one, _ = start_values(net, HUNL, board, 7.0 * reach[1:2], state)
    np.testing.assert_allclose(one[:, 0], 7.0 * values[:, 1], rtol=1e-9)
    free = HUNL.free_combos(board)
    assert (values[:, :, ~free] == 0.0).all() and (masses[:, :, free] > 0.0).all()
    gains = (reach.transpose(1, 0, 2) * values).sum(axis=(0, 2))
    assert (abs(gains) < 1e-6 * abs(values).sum()).all()
    hands = rank_hands(HUNL, board)
    np.testing.assert_allclose(
        masses[0][:, hands.combos], fold_mass(hands, np.ascontiguousarray(reach[:, 1][:, hands.combos])), rtol=1e-9
    )


def test_chips_that_the_shorter_stack_cannot_call_are_not_in_the_pot():
    state = BettingState(dataclasses.replace(HUNL, stacks=(5_000, 20_000)))
    for action in (20_000, CALL):
        state.apply(action)
    assert sorted(state.contributions) == [5_000, 20_000]
    assert (pot_of(state), chips_behind(state)) == (10_000, 0)
