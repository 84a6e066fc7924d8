"""The trainer on the GPU, with its kernels compiled for this processor (`reference.host_cuda`)."""

import dataclasses
import functools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from reference import regrets as reference
from reference.host_cuda import COMPILER, NAME, DeviceArray, host_cupy

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem.hand_ranks import hand_rank
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import LEDUC, SIXMAX, HoldemRules
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.blueprint import cuda_trainer
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.cuda_trainer import CudaTrainer
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.run import TrainingRun, begin_run, load_checkpoint
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++, which compiles the kernels for the processor")
PLAIN = {"discount_until": 0.0, "prune_from": 1.0, "average_from": 0.0, "average_every": 1, "num_snapshots": 0}
PUSH = GameMenu((StreetMenu(("1p allin", "allin")),))
KUHN3 = rules_of(find_game("kuhn3"))
SIDE_POTS = HoldemRules(blinds=(1, 2, 2), stacks=(3, 5, 8), num_suits=1, num_ranks=4, num_hole_cards=1)


IMPORT_CUPY = cuda_trainer.import_cupy


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    monkeypatch.setattr(cuda_trainer, "import_cupy", host_cupy)


def scaled(rules, factor):
    """The same game with larger chips, so that rounded regrets are nearly exact."""
    changes = {
        name: tuple(factor * chips for chips in getattr(rules, name))
        for name in ("blinds", "stacks", "raise_sizes")
        if getattr(rules, name)
    }
    return dataclasses.replace(rules, **changes)


def trained(kind, iterations, *, rules=LEDUC, menu=None, cards=None, run=None, **options):
    schedule = {name: options.pop(name) for name in tuple(options) if name in Schedule.__dataclass_fields__}
    plan = Schedule(iterations, **(PLAIN | schedule))
    trainer = kind(rules, menu or game_menu(rules), cards or lossless_buckets(rules), plan, **options)
    trainer.run(run)
    return trainer


@needs_compiler
@pytest.mark.parametrize(
    ("rules", "menu", "samples"), [(KUHN3, None, 20_000), (LEDUC, None, 60_000), (SIDE_POTS, PUSH, 40_000)],
    ids=["kuhn3", "leduc", "side pots"],
)  # fmt: skip
def test_sampled_regrets_are_unbiased(rules, menu, samples):
    """The mean change at every infoset is the exact regret, within 4.5 standard errors and a thousandth of a chip.

    The regrets at the start are so large that the changes hardly move the strategy.
    """
    rules = scaled(rules, 1_000)
    trainer = trained(CudaTrainer, 256 * samples, rules=rules, menu=menu, average_from=1.0, run=1)
    frozen = np.random.default_rng(5).integers(2e8, 15e8, len(trainer.regrets)).astype(np.int32)
    batches = []
    for _ in range(50):
        trainer.resume(trainer.iteration, trainer.state() | {"regrets": frozen})
        trainer.run(samples // 50)
        batches.append((trainer.state()["regrets"].astype(float) - frozen) / (samples // 50))
    expected = sum(reference.regrets_by_cell(trainer, frozen, seat) for seat in range(rules.num_seats))
    mean, error = np.mean(batches, axis=0), np.std(batches, axis=0, ddof=1) / 50**0.5
    assert (error > 0).sum() > 10
    assert (np.abs(mean - expected) <= 4.5 * error + 1.0).all()


def nash_conv(trainer):
    tree = flatten("leduc")
    return exploitability(tree, strategy_from_agent(tree, BlueprintAgent(trainer.blueprint()))).nash_conv


@needs_compiler
@pytest.mark.parametrize("options", [{"average_all": True}, {"discount_until": 1.0}], ids=["deals", "visits"])
def test_leduc_is_as_near_to_equilibrium_as_on_the_processor(options):
    """Averaged over deals on all streets, or over visits on the later street; in the mean of three runs."""
    ours, theirs = (
        np.mean([nash_conv(trained(kind, 20_000, seed=seed, **options)) for seed in range(3)])
        for kind in (CudaTrainer, Trainer)
    )
    assert ours < 1.25 * theirs


PRUNED = {"discount_until": 1.0, "prune_from": 0.05, "prune_below": -500.0}


@needs_compiler
def test_pruning_with_threads_side_by_side(monkeypatch):
    monkeypatch.setattr(cuda_trainer, "import_cupy", functools.partial(host_cupy, 2))
    pruned, plain = trained(CudaTrainer, 100_000, **PRUNED), trained(CudaTrainer, 100_000, discount_until=1.0)
    assert pruned.num_nodes < 0.98 * plain.num_nodes and nash_conv(pruned) / 2 < 0.3
    assert pruned.num_traversals == plain.num_traversals == 200_000


@needs_compiler
def test_as_much_is_pruned_as_on_the_processor():
    """In the mean of four runs, as one seed differs from another by more than a hundredth."""
    ours, theirs = (
        np.mean(
            [(run.num_nodes, run.num_visits) for run in (trained(kind, 100_000, seed=k, **PRUNED) for k in range(4))], 0
        )
        for kind in (CudaTrainer, Trainer)
    )
    assert np.allclose(ours, theirs, rtol=0.02)


@needs_compiler
def test_whole_chips_stay_within_their_bounds():
    trainer = trained(CudaTrainer, 2_000, prune_below=-30.0)
    assert trainer.state()["regrets"].min() == -31
    trainer.resume(0, trainer.state() | {"regrets": np.full(len(trainer.regrets), 2**31 - 1, np.int32)})
    trainer.run()
    regrets = trainer.state()["regrets"]
    assert regrets.min() >= -31 and regrets[regrets < 2**31 - 1].max() == 2**31 - 2**27


@needs_compiler
@pytest.mark.parametrize("rules", [LEDUC, SIXMAX, KUHN3], ids=["leduc", "six-max", "kuhn3"])
def test_deals_have_the_ranks_and_buckets_of_the_processor(rules):
    cards = single_buckets(rules) if rules is SIXMAX else lossless_buckets(rules)
    trainer = trained(CudaTrainer, 1, rules=rules, menu=PUSH if rules is SIXMAX else None, cards=cards, run=0)
    bucket = np.dtype(max(rows.dtype for rows in cards.arrays.rows))
    seen = set()
    for number in range(200):
        deck = np.zeros(rules.num_dealt_cards, np.uint8).view(DeviceArray)
        buckets = np.zeros(4 * rules.num_seats, bucket).view(DeviceArray)
        ranks = np.zeros(rules.num_seats, np.uint16).view(DeviceArray)
        deal = (np.uint64(7), np.int64(number), deck, buckets, ranks)
        trainer._function("deal_one")((1,), (1,), (*trainer._game, *deal))
        assert set(deck) <= set(rules.cards) and len(set(deck)) == len(deck)
        seen |= set(deck)
        board = np.array(deck[rules.num_seats * rules.num_hole_cards :])
        for seat in range(rules.num_seats):
            hole = np.array(deck[seat * rules.num_hole_cards :][: rules.num_hole_cards])
            assert ranks[seat] == hand_rank(np.concatenate([hole, board]))
            for street in range(rules.num_streets):
                row = cards.row(tuple(board[: rules.board_size(street)].tolist()), street)
                assert buckets[4 * seat + street] == row[rules.combo_id(hole.tolist())]
    assert seen == set(rules.cards)


@needs_compiler
@pytest.mark.parametrize("num_snapshots", [0, 5])
def test_discounts_snapshots_and_restarts_are_those_of_the_processor(num_snapshots):
    ours, theirs = (trained(kind, 100, num_snapshots=num_snapshots, run=0) for kind in (CudaTrainer, Trainer))
    rng = np.random.default_rng(3)
    state = theirs.state()
    regrets = rng.integers(-(10**6), 10**6, len(theirs.regrets), np.int32)
    state["regrets"] = np.where(rng.random(len(regrets)) < 0.5, regrets, np.int32(0))
    state["sums"] = rng.random(len(theirs.sums)) * 1e5
    state["later_sums"] = (rng.random(len(theirs.later_sums)) * 1e4).astype(theirs.later_sums.dtype)
    steps = [lambda trainer: trainer._discount(7 / 8), lambda trainer: trainer._clear_averages()]
    if num_snapshots:
        steps.append(lambda trainer: trainer._add_snapshot())
    for step in steps:
        for trainer in (ours, theirs):
            trainer.resume(0, state)
            step(trainer)
        for name, values in theirs.state().items():
            assert (ours.state()[name] == values).all(), name
        assert ours.regret_per_visit() == theirs.regret_per_visit()
        assert (ours.blueprint().rows == theirs.blueprint().rows).all()


@needs_compiler
def test_sums_by_visits_are_halved_before_float32_stops_counting():
    trainer = trained(CudaTrainer, 256)
    state = trainer.state()
    many = np.where(state["later_sums"] > 0, np.float32(1.01 * 2.0**22), np.float32(0.0))
    trainer.resume(0, state | {"later_sums": many})
    trainer.run(1)
    assert trainer.state()["later_sums"].max() < 1.02 * 2.0**21
    trainer.resume(0, state | {"later_sums": 3.0 * many})
    trainer.run(3)  # of one launch each
    assert trainer.state()["later_sums"].max() <= 2.0**22


@needs_compiler
@pytest.mark.parametrize("num_snapshots", [0, 7])
def test_a_resumed_run_is_the_whole_run(num_snapshots):
    """Bit for bit where one thread runs at a time, if it is cut between launches."""
    plan = {"discount_until": 0.5, "prune_from": 0.2, "average_from": 0.1, "average_over": 0.5, "prune_below": -400.0}
    plan["num_snapshots"] = num_snapshots
    whole, first = trained(CudaTrainer, 2_560, **plan), trained(CudaTrainer, 2_560, run=1_280, **plan)
    second = trained(CudaTrainer, 2_560, run=0, **plan)
    saved = {name: values.copy() for name, values in first.state().items()}
    second.resume(1_280, saved)
    second.run()
    for name, values in whole.state().items():
        assert values.any() and (second.state()[name] == values).all(), name
    processor = trained(Trainer, 2_560, run=0, **plan)
    processor.resume(1_280, saved)
    processor.run()
    assert processor.num_traversals == whole.num_traversals


@needs_compiler
def test_a_run_on_the_gpu_is_recorded_and_resumes_on_the_processor(tmp_path):
    config = dataclasses.replace(read_preset("leduc"), exact=False, iterations=4_000)
    cards = lossless_buckets(config.rules)
    start = make_trainer(config, cards).blueprint(config, {"iterations": 0})
    run = begin_run(tmp_path, config, cards, threads=1, num_marks=2, start=start, device="cuda")
    run.go(seconds=1e-9)
    assert 0 < run.trainer.iteration
    checkpoint, _ = load_checkpoint(tmp_path)
    again = TrainingRun(tmp_path, config, make_trainer(config, cards, device="cuda"), num_marks=2)
    again.restore(checkpoint)
    again.go()
    assert again.trainer.device == NAME and len(again.marks) == 2
    training = again.trainer.blueprint(config, again._training()).training
    assert training["device"] == NAME and training["core_hours"] is None and training["nodes"] > 0
    checkpoint, _ = load_checkpoint(tmp_path)
    last = TrainingRun(tmp_path, config, make_trainer(config, cards), num_marks=2)
    last.restore(checkpoint)
    training = last._blueprint().training
    assert training["device"] == f"{NAME} and cpu" and training["core_hours"] is None


def test_what_the_gpu_cannot_do_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ValueError, match=r"needs CuPy: pip install 'plurispiel\[cuda\]', or take device cpu"):
        IMPORT_CUPY()
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False)))
    with pytest.raises(ValueError, match="CuPy finds no NVIDIA GPU here; take device cpu"):
        IMPORT_CUPY()
    config = read_preset("leduc")
    with pytest.raises(ValueError, match="a device is cpu or cuda, got 'tpu'"):
        make_trainer(config, lossless_buckets(config.rules), device="tpu")
    with pytest.raises(ValueError, match="whole chips only; take exact = false, or device cpu"):
        CudaTrainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), Schedule(10), exact=True)
