import dataclasses
import os

import numpy as np
import pytest
from reference import value_net as reference

from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.values import distillation, training_run
from plurispiel.agents.values.distillation import FreshSituations, distil, distilled_evs, level_taught_by, residuals
from plurispiel.agents.values.drawn_situation import DrawnSituation, draw_situation
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, num_inputs
from plurispiel.agents.values.levels import LEVELS, chips_behind, find_level, pot_of
from plurispiel.agents.values.net import ValueNet, new_layers
from plurispiel.agents.values.net_file import load_net, save_net
from plurispiel.agents.values.next_boards import cards_of_next_boards, count_next_boards, next_boards
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.training import NetTrainer, TrainingConfig

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RIVER, TURN = LEVELS["river"], LEVELS["end-of-turn"]
SMALL = TrainingConfig(layers=1, width=16, epochs=3, batch=8, rate=0.001, loss="squared")


def random_net(level, bins, seed=1):
    layers = new_layers((num_inputs(level.rules, bins), 16, 2 * bins), np.random.default_rng(seed))
    layers.weights[-1][:] *= 10.0
    return ValueNet(layers)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teacher") / "river"
    save_net(folder, random_net(RIVER, 32).layers, RIVER, {}, seed=1)
    return folder


def test_values_in_plain_loops():
    """The first street of Leduc poker ends: the mean of a network's values over the boards, by matching hands."""
    net, spr = random_net(LEVELS["leduc"], 5), 8.0 / 6.0
    ordered = ordered_hands(LEDUC, ())
    combos = ordered.hands.combos.tolist()
    weights = np.random.default_rng(3).random((2, 6))
    ranges = weights / weights.sum(axis=1, keepdims=True)
    of_combo = {combo: ranges[:, place] for place, combo in enumerate(combos)}
    cards = LEDUC.combos[:, 0].tolist()
    total = np.zeros((2, 6))
    for card in cards:
        found = canonical_hands(LEDUC, (card,))
        groups = found.hands.groups
        strengths = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
        there = np.array([of_combo[combo] for combo in found.combos.tolist()]).T
        sums = there.sum(axis=1, keepdims=True)
        here = there / sums
        row = reference.inputs(here.tolist(), spr) + board_features(LEDUC, found.board).tolist()
        answers = np.reshape(reference.outputs(net.layers, row), (2, 5))
        evs = reference.evs(answers, here, [{card} for card in found.combos.tolist()], strengths, spr)
        for seat in range(2):
            for h, combo in enumerate(found.combos.tolist()):
                facing = there[1 - seat].sum() - there[1 - seat, h]
                total[seat, combos.index(combo)] += facing * evs[seat][h] / 4.0
    masses = ranges[::-1].sum(axis=1, keepdims=True) - ranges[::-1]
    every = residuals(net, LEDUC, ordered, ranges[:, None], np.array([spr]), np.arange(6))[:, 0]
    np.testing.assert_allclose(every + ordered.checkdown(ranges).evs, total / masses, atol=1e-5)
    # A random board gives an estimate without bias.
    ones = [residuals(net, LEDUC, ordered, ranges[:, None], np.array([spr]), np.array([n]))[:, 0] for n in range(6)]
    np.testing.assert_allclose(np.mean(ones, axis=0), every, atol=1e-6)
    assert abs(ones[0] - every).max() > 0.01


def test_a_range_that_a_card_takes_away():
    ordered = ordered_hands(LEDUC, ())
    ranges = np.full((2, 1, 6), 1.0 / 6.0)
    ranges[1] = np.eye(6)[2]
    found = residuals(random_net(LEVELS["leduc"], 5), LEDUC, ordered, ranges, np.array([2.0]), np.arange(6))
    assert np.isfinite(found).all() and found[0, 0, 2] == 0.0


def test_ranges_of_another_shape_are_refused():
    ordered, net = ordered_hands(LEDUC, ()), random_net(LEVELS["leduc"], 5)
    for shape in [(2, 1, 5), (2, 2, 6), (1, 1, 6)]:
        with pytest.raises(ValueError, match=r"have the shape \(2, 1, 6\), got"):
            residuals(net, LEDUC, ordered, np.ones(shape), np.array([2.0]), np.arange(6))


def test_situations_at_the_end_of_the_turn():
    for number in (0, 2):  # random, and from play
        situation = draw_situation(TURN, 1, "train", number)
        assert len(situation.board) == 4 and situation.state.street == 3
        assert pot_of(situation.state) + 2 * chips_behind(situation.state) == 40_000
        np.testing.assert_array_equal((situation.ranges > 0.0).sum(axis=1), 1128)
    assert draw_situation(LEVELS["turn"], 1, "train", 2).state.street == 2


def test_training_set(teacher):
    """Situations come in fours on a board; with all rivers the targets are the exact means by bin."""
    net = load_net(teacher).net
    fresh = FreshSituations(net, TURN, 6, 48, seed=1)
    first, second = fresh.of_epoch(1), fresh.of_epoch(2)
    assert first.inputs.shape == (6, fresh.num_inputs) and first.targets.shape == (6, 2, TURN.num_bins)
    boards = [each.inputs[:, 4 * TURN.num_bins + 4 :] for each in (first, second)]
    assert (boards[0][:4] == boards[0][0]).all() and (boards[0][4] != boards[0][0]).any()
    assert (first.targets != second.targets).any()
    for each, other in zip(first, fresh.of_epoch(1), strict=True):
        np.testing.assert_array_equal(each, other)
    few = FreshSituations(net, TURN, 6, 2, seed=1).of_epoch(1)
    np.testing.assert_array_equal(few.inputs, first.inputs)
    assert 0.0 < abs(few.targets - first.targets).mean() < 2.0 * abs(first.targets).mean()


def test_the_turns_after_a_flop_have_their_hands_by_strength():
    """All turns at once, from the rivers that follow them, against each turn by itself."""
    rules = LEVELS["end-of-flop"].rules
    board = parse_cards("QsJh2h")
    boards = next_boards(rules, board, 64)
    assert len(boards) == count_next_boards(rules, board) == 49
    combos = ordered_hands(rules, board).hands.combos
    for number in (0, 17, 48):
        cards = cards_of_next_boards(rules, board)[number]
        expected = canonical_hands(rules, board + cards)
        found, there = boards[number], bins_of(expected.hands, 64)
        np.testing.assert_array_equal(found.features, board_features(rules, expected.board))
        np.testing.assert_array_equal(found.hands.groups, expected.hands.groups)
        order, known = np.argsort(combos[found.places]), np.argsort(expected.combos)
        np.testing.assert_array_equal(combos[found.places][order], expected.combos[known])
        np.testing.assert_array_equal(found.bins.first[order], there.first[known])
        np.testing.assert_array_equal(found.bins.share[order], there.share[known])
    assert next_boards(rules, board, 64, (17,))[0].hands.combos.tolist() == boards[17].hands.combos.tolist()


def test_without_chips_behind_a_distilled_value_is_that_of_checking_down(teacher):
    state = BettingState(TURN.rules)
    state.apply(20_000)
    state.apply(1)
    drawn = draw_situation(TURN, 1, "train", 0)
    situation = DrawnSituation(state, drawn.board, drawn.ranges)
    assert chips_behind(state) == 0
    ordered = ordered_hands(TURN.rules, drawn.board)
    ranges = drawn.ranges[:, ordered.hands.combos]
    expected = ordered.checkdown(ranges / ranges.sum(axis=1, keepdims=True)).evs
    np.testing.assert_allclose(
        distilled_evs(load_net(teacher).net, situation).evs[:, ordered.hands.combos], expected, atol=1e-12
    )


class Stopped(Exception):
    pass


def test_distil(teacher, tmp_path, monkeypatch):
    """A run that is stopped after each epoch gives the same network; other settings or teachers give another one."""
    options = {"situations": 12, "unseen": 4, "num_boards": 2}
    straight = distil(teacher, tmp_path / "straight", SMALL, **options)
    monkeypatch.setattr(training_run.train, "__kwdefaults__", {"seconds": 0.0})

    epochs = []

    def stop(trainer):
        epochs.append(trainer.epoch)
        raise Stopped

    for _ in range(SMALL.epochs):
        with pytest.raises(Stopped):
            distil(teacher, tmp_path / "stopped", SMALL, **options, on_epoch=stop)
    assert epochs == [1, 2, 3]
    stopped = distil(teacher, tmp_path / "stopped", SMALL, **options)
    assert stopped.record == straight.record and stopped.level == TURN
    for mine, other in zip(stopped.net.layers.arrays(), straight.net.layers.arrays(), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert straight.record["validation"]["situations"] == 4 and len(straight.record["curve"]) == 3
    assert not distillation.checkpoint_folder(tmp_path / "stopped").exists()
    monkeypatch.setattr(NetTrainer, "run_epoch", stop)
    assert distil(teacher, tmp_path / "straight", SMALL, **options).digest == straight.digest
    with pytest.raises(Stopped):
        distil(teacher, tmp_path / "straight", dataclasses.replace(SMALL, seed=2), **options)


def test_another_teacher_begins_anew(teacher, tmp_path, monkeypatch):
    options = {"situations": 4, "unseen": 2, "num_boards": 1}
    config = dataclasses.replace(SMALL, epochs=1)
    other = tmp_path / "other"
    save_net(other, random_net(RIVER, 32, seed=2).layers, RIVER, {}, seed=1)
    expected = distil(other, tmp_path / "expected", config, **options)

    def stop(trainer):
        raise Stopped

    with pytest.raises(Stopped):
        distil(teacher, tmp_path / "net", dataclasses.replace(config, epochs=2), **options, on_epoch=stop)
    assert distil(other, tmp_path / "net", config, **options).record == expected.record


def test_errors(teacher, tmp_path):
    with pytest.raises(ValueError, match="level river, turn or flop, not of leduc"):
        level_taught_by(LEVELS["leduc"])
    assert level_taught_by(find_level("river", "fchpa")).menu == "fchpa"
    with pytest.raises(ValueError, match="squared loss, got 'huber'"):
        distil(teacher, tmp_path / "net", dataclasses.replace(SMALL, loss="huber"))
    with pytest.raises(ArtefactRefused, match="level river, and a network of the level end-of-turn does not replace"):
        distil(teacher, teacher, SMALL)
    assert load_net(teacher).level == RIVER
    with pytest.raises(ArtefactRefused, match="no folder"):
        distil(tmp_path / "nowhere", tmp_path / "net", SMALL)


def test_before_the_flop_hands_of_a_class_have_one_weight_and_one_value():
    """Random flops give an estimate without bias, as 1,755 classes of flops stand for all renamings of suits."""
    level, net = LEVELS["end-of-preflop"], random_net(LEVELS["flop"], 16)
    assert level_taught_by(LEVELS["flop"]).name == "end-of-preflop"
    ordered = ordered_hands(level.rules, ())
    classes, sizes = preflop_classes()[ordered.hands.combos], np.diff(ordered.hands.groups)
    assert (np.diff(classes.astype(int)) >= 0).all() and len(sizes) == 169
    for number in (0, 2):  # random, and from play
        drawn = draw_situation(level, 1, "train", number)
        assert drawn.board == () and drawn.state.street == 1
        ranges = drawn.ranges[:, ordered.hands.combos]
        np.testing.assert_array_equal(ranges, np.repeat(ranges[:, ordered.hands.groups[:-1]], sizes, axis=1))
    ranges = (ranges / ranges.sum(axis=1, keepdims=True))[:, None]
    found = residuals(net, level.rules, ordered, ranges, np.array([3.0]), np.array([17, 9_000]))
    np.testing.assert_allclose(found, np.repeat(found[:, :, ordered.hands.groups[:-1]], sizes, axis=2), atol=1e-9)
    assert 0.0 < abs(found).max() < 10.0
    gain = (ranges * found * ordered.masses(ranges)).sum()
    assert abs(gain) < 1e-6


def test_a_network_for_the_end_of_the_first_street(monkeypatch):
    monkeypatch.setattr(distillation, "_FLOPS", 1)
    level, net = LEVELS["end-of-preflop"], random_net(LEVELS["flop"], 16)
    fresh = FreshSituations(net, level, 3, 1, seed=1)
    first = fresh.of_epoch(1)
    assert first.inputs.shape == (3, 4 * 169 + 21) and first.targets.shape == (3, 2, 169)
    assert (first.hands.sum(axis=2) == 1_326).all()
    solved = distilled_evs(net, draw_situation(level, 1, "unseen", 0))
    assert np.isfinite(solved.evs).all() and abs(solved.evs).max() < 10.0
