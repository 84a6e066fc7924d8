"""Many situations at once by PyTorch, against one at a time by numpy and numba."""

import dataclasses
import os

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from random_nets import random_net

from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.agents.continual.depth_limited import solve_to_street_end
from plurispiel.agents.values.batches import BatchSolver, HandOrders, order_rows
from plurispiel.agents.values.batches import solver as batch_solver
from plurispiel.agents.values.batches.encoder import DeviceEncoder
from plurispiel.agents.values.batches.networks import BatchNet
from plurispiel.agents.values.batches.shards import draw_shard, solved_situations, start_of
from plurispiel.agents.values.batches.street_shape import start_state
from plurispiel.agents.values.data_set import DataConfig, Shard
from plurispiel.agents.values.distillation import distilled_evs
from plurispiel.agents.values.drawn_situation import DrawnSituation
from plurispiel.agents.values.levels import find_level
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.solved_situation import solve_exactly
from plurispiel.agents.values.training_run import Encoder

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
]

CPU = torch.device("cpu")
SHALLOW = 9_000
"""Chips of each seat in the pot with which a street has few decisions."""


def drawn(name, count=2):
    """Situations of a level with few chips behind, and the same as `draw_situation` returns them."""
    level = find_level(name)
    some = draw_shard(DataConfig(name, 3, None, "teacher"), Shard("train", 0, count))
    some = some._replace(pots=np.full(count, 2.0 * SHALLOW), behind=np.full(count, 20_000.0 - SHALLOW))
    one_by_one = []
    for number in range(count):
        board = tuple(some.boards[number].tolist())
        ranges = np.zeros((2, level.rules.num_combos))
        order = ordered_hands(level.rules, board).hands.combos
        ranges[:, order] = some.roots[number].astype(np.float64) ** 2
        one_by_one.append((DrawnSituation(start_state(level, SHALLOW), board, ranges), order))
    return level, some, one_by_one


def solver(level, teacher=None):
    return BatchSolver(level, HandOrders(level.rules, CPU), None if teacher is None else BatchNet(teacher.net, CPU))


def test_rivers_are_solved_as_by_the_exact_solver():
    level, some, one_by_one = drawn("river", 1)
    level = dataclasses.replace(level, tolerance=0.001)
    found = solver(level).solve(start_of(some))
    assert (found.slack <= 0.001 * 2.3).all()
    for evs, (situation, order) in zip(found.evs, one_by_one, strict=True):
        expected = solve_exactly(level, situation).evs[:, order]
        weights = situation.ranges[:, order] / situation.ranges.sum(axis=1, keepdims=True)
        missed = abs(evs.astype(np.float64) - expected)
        assert missed.mean() < 0.01 and (weights * missed).sum(axis=1).max() < 0.005


def test_a_turn_is_solved_as_by_the_lookahead(monkeypatch):
    """Two implementations, in float32 and float64, do the same iterations."""
    monkeypatch.setattr(batch_solver, "_DEPTH_LIMITED", 12)
    teacher = random_net("end-of-turn")
    level, some, one_by_one = drawn("turn")
    found = solver(level, teacher).solve(start_of(some))
    for evs, slack, (situation, order) in zip(found.evs, found.slack, one_by_one, strict=True):
        expected = solve_to_street_end(level, situation, teacher, 12)
        assert slack == pytest.approx(expected.slack, abs=1e-5)
        np.testing.assert_allclose(evs, expected.evs[:, order], atol=5e-3)
        assert abs(evs - expected.evs[:, order]).mean() < 3e-4


@pytest.mark.parametrize("name", ["end-of-turn", pytest.param("end-of-flop", marks=pytest.mark.slow)])
def test_distilled_values_are_means_over_all_next_boards(name):
    teacher = random_net(find_level(name).teacher)
    level, some, one_by_one = drawn(name)
    found = solver(level, teacher).distil(start_of(some))
    for evs, (situation, order) in zip(found.evs, one_by_one, strict=True):
        np.testing.assert_allclose(evs, distilled_evs(teacher.net, situation).evs[:, order], atol=1e-3)


@pytest.mark.parametrize("name", ["river", "turn"])
def test_encoding_and_errors_are_those_of_numpy(name):
    level, some, _ = drawn(name)
    evs = np.random.default_rng(1).normal(size=some.evs.shape).astype(np.float16)
    some = some._replace(evs=evs)
    here, there = Encoder(), DeviceEncoder(HandOrders(level.rules, CPU))
    for mine, other in zip(here.training_set(level, some, 64), there.training_set(level, some, 64), strict=True):
        np.testing.assert_allclose(mine, other.numpy(), atol=5e-3, rtol=1e-3)
    net = random_net(name).net
    for mine, other in zip(here.net_evs(net, level, some), there.net_evs(net, level, some), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-3)


def test_tables_give_the_ranks_of_every_board():
    """A table of the first classes of rivers, against boards one by one, and on boards with other suits."""
    rules = find_level("river").rules
    rows = order_rows(rules, 5, 0, 3)
    boards = board_classes(5, rules.num_suits, rules.num_ranks).boards[:3]
    plain, tabled = HandOrders(rules, CPU), HandOrders(rules, CPU, {5: rows})
    combos = plain.combos(boards)
    assert torch.equal(combos, tabled.combos(boards))
    renamed = np.array([[card ^ 3 for card in board] for board in boards.tolist()], np.uint8)  # suits reversed
    assert torch.equal(plain.ranks(renamed, combos), tabled.ranks(renamed, combos))
    assert (tabled.ranks(boards, combos).diff(dim=1) >= 0).all()


def test_a_batch_keeps_what_was_drawn():
    _, some, _ = drawn("river", 1)
    solved = batch_solver.SolvedBatch(some.evs + np.float16(1.0), some.slack, some.iterations)
    kept = solved_situations(some, solved)
    assert (kept.evs == 1.0).all() and kept.boards is some.boards
