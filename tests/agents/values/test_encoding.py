import numpy as np
import pytest
from reference import value_net as reference

from plurispiel.abstraction.holdem.boards import find_boards, relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, num_inputs
from plurispiel.agents.values.floor import encoding_floor, fit
from plurispiel.agents.values.levels import LEVELS
from plurispiel.agents.values.net import ValueNet, new_layers
from plurispiel.agents.values.range_generator import draw_ranges
from plurispiel.agents.values.validation import net_evs

RIVER = LEVELS["river"]
BOARD = tuple(sorted(parse_cards("QsJh2h7c3d")))


def situations(boards, ranges, pot=100.0, behind=400.0):
    """Situations with the given roots of ranges, all of one pot, whose exact values are 0."""
    count = len(boards)
    roots = np.asarray(ranges, np.float16)
    return Situations(
        np.array(boards, np.uint8),
        np.full(count, pot),
        np.full(count, behind),
        roots,
        np.zeros_like(roots),
        np.zeros(count, np.float32),
        np.zeros(count, np.int32),
    )


def random_net(level, bins, seed=1):
    layers = new_layers((num_inputs(level.rules, bins), 12, 2 * bins), np.random.default_rng(seed))
    layers.weights[-1][:] *= 10.0
    return ValueNet(layers)


def drawn(level, board, seed=1):
    groups = rank_hands(level.rules, board).groups
    return np.sqrt(draw_ranges(groups, 2, np.random.default_rng(seed)))


def test_bins():
    hands = rank_hands(HUNL, BOARD)
    bins = bins_of(hands, 32)
    rows = np.random.default_rng(1).random((2, 3, 1081))
    summed = bins.summed(rows)
    np.testing.assert_allclose(summed.sum(axis=2), rows.sum(axis=2))
    np.testing.assert_allclose(bins.hands.sum(), 1081.0)
    np.testing.assert_allclose(bins.means(np.ones((2, 3, 1081))), 1.0)
    # Inputs and outputs are transposes of each other.
    outputs = np.random.default_rng(2).random((2, 3, 32))
    np.testing.assert_allclose((bins.spread(outputs) * rows).sum(), (outputs * summed).sum())
    for first, end in zip(hands.groups, hands.groups[1:], strict=False):
        assert len(set(bins.first[first:end])) == len(set(bins.share[first:end])) == 1
    places = bins.first + bins.share
    assert places[0] >= 0.0 and places[-1] <= 31.0 and (np.diff(places) >= 0.0).all()


def test_rows_of_another_board_are_refused():
    bins = bins_of(rank_hands(HUNL, BOARD), 32)
    for count in (1_080, 2_162):
        with pytest.raises(ValueError, match=f"rows have 1,081 hands, got {count:,}"):
            bins.summed(np.ones((2, count)))


def test_a_bin_for_each_hand():
    bins = bins_of(rank_hands(LEDUC, (4,)), 5)
    rows = np.random.default_rng(1).random((2, 5))
    np.testing.assert_array_equal(bins.summed(rows), rows)
    np.testing.assert_array_equal(bins.spread(rows), rows)


def test_values_in_plain_loops():
    """The values of a network in Leduc poker: residual, gate, matching masses, and a sum of 0 with card removal."""
    level, board = LEVELS["leduc"], (8,)
    net, hands = random_net(level, 5), rank_hands(LEDUC, board)
    some = situations([board], [drawn(level, board)], pot=6.0, behind=8.0)
    actual, _, masses = net_evs(net, level, some)
    ranges = some.ranges(slice(None))[:, 0]
    strengths = np.repeat(np.arange(len(hands.groups) - 1), np.diff(hands.groups))
    cards = [set(each) for each in LEDUC.combos[hands.combos].tolist()]
    row = reference.inputs(ranges.tolist(), 8.0 / 6.0) + board_features(LEDUC, board).tolist()
    answers = np.reshape(reference.outputs(net.layers, row), (2, 5))
    expected = reference.evs(answers, ranges, cards, strengths, 8.0 / 6.0)
    np.testing.assert_allclose(actual[0], expected, atol=1e-5)
    gain = (ranges * masses[0] * actual[0]).sum()
    assert abs(gain) < 1e-6 * abs(masses[0] * actual[0]).max()


def test_values_sum_to_0_and_checking_down():
    some = situations([BOARD] * 2, [drawn(RIVER, BOARD, seed) for seed in (1, 2)])
    net = random_net(RIVER, 32)
    evs, down, masses = net_evs(net, RIVER, some)
    assert abs(evs - down).max() > 0.1
    gain = (some.ranges(slice(None)).transpose(1, 0, 2) * masses * evs).sum(axis=(1, 2))
    assert (abs(gain) < 1e-6 * abs(masses * evs).max()).all()
    without = net_evs(net, RIVER, some._replace(behind=np.zeros(2)))[0]
    np.testing.assert_allclose(without, down, atol=1e-12)


def test_a_single_hand_without_matching_hands():
    roots = np.zeros((1, 2, 1081))
    roots[:, :, 7] = 1.0
    evs, _, masses = net_evs(random_net(RIVER, 32), RIVER, situations([BOARD], roots))
    assert np.isfinite(evs).all()
    assert (masses[:, :, 7] == 0.0).all() and (evs[:, :, 7] == 0.0).all()


@pytest.mark.parametrize("renaming", [1, 9, 23])
def test_renamed_suits(renaming):
    """A network values a hand on a board alike, however their suits are named."""
    board = tuple(relabel_cards(BOARD, renaming).tolist())
    images = relabel_combos()[renaming]
    net = random_net(RIVER, 32)
    evs = []
    for cards, renamed in ((BOARD, np.arange(1326)), (board, images)):
        found = canonical_hands(HUNL, cards)
        weights = np.random.default_rng(1).random((2, 1326))
        here = np.empty_like(weights)
        here[:, renamed] = weights
        some = situations([found.board], [np.sqrt(here[:, found.combos])])
        values = np.zeros((2, 1326))
        values[:, found.combos] = net_evs(net, RIVER, some)[0][0]
        evs.append(values[:, renamed])
    np.testing.assert_allclose(evs[1], evs[0], atol=1e-5)


def test_canonical_hands():
    found = canonical_hands(LEDUC, (5,))
    _, renaming = find_boards(np.array([5], np.uint8), 2, 3)
    images = relabel_combos(2, 3, 1)[int(renaming)]
    assert found.board == (4,)
    np.testing.assert_array_equal(images[found.combos], found.hands.combos)


def test_floor():
    """The best outputs leave no error where a value is linear in strength, and none with a bin for each hand."""
    hands = rank_hands(HUNL, BOARD)
    bins = bins_of(hands, 16)
    rows = np.random.default_rng(1).standard_normal((3, 16))
    np.testing.assert_allclose(fit(bins, bins.spread(rows)), bins.spread(rows), atol=1e-6)
    noise = np.random.default_rng(2).standard_normal((2, 1081))
    left = noise - fit(bins, noise)
    np.testing.assert_allclose(bins.summed(left), 0.0, atol=1e-5)  # the residual of least squares
    leduc = situations([(4,)], [drawn(LEVELS["leduc"], (4,))])
    leduc.evs[:] = np.random.default_rng(3).standard_normal(leduc.evs.shape)
    assert encoding_floor(LEVELS["leduc"], leduc, 5) < 1e-6 < encoding_floor(LEVELS["leduc"], leduc, 3)
