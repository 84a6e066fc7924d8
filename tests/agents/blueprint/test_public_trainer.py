"""Public chance sampling, proved on games that can be solved."""

import dataclasses
import itertools

import numpy as np
import pytest
from reference import regrets as reference

from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import KUHN, LEDUC, HoldemRules
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import ALGORITHMS, read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.public_boards import draw_board, public_board
from plurispiel.agents.blueprint.run import TrainingRun, begin_run, load_checkpoint
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability

torch = pytest.importorskip("torch", reason="needs PyTorch")
from plurispiel.agents.blueprint.public_trainer import PublicTrainer  # noqa: E402

pytestmark = pytest.mark.torch

TWO_CARDS = HoldemRules(
    blinds=(1, 2), stacks=(4, 7), first_seats=(0, 1), board_cards=(0, 1), num_suits=2, num_ranks=3,
    betting_abstraction="fcpa",
)  # fmt: skip
THREE_CARDS = dataclasses.replace(TWO_CARDS, num_hole_cards=3, first_seats=(0,), board_cards=(0,))
LINEAR = {"discount_until": 1.0, "average_from": 0.0}


def make(rules, iterations, *, menu=None, schedule=None, **options):
    plan = Schedule(iterations, **(LINEAR | (schedule or {})))
    return PublicTrainer(rules, menu or game_menu(rules), lossless_buckets(rules), plan, **({"exact": True} | options))


def distance(name, trainer):
    tree = flatten(name)
    return exploitability(tree, strategy_from_agent(tree, BlueprintAgent(trainer.blueprint()))).nash_conv


def cells(trainer, tables):
    """Return tables in the order of a blueprint's cells."""
    flat = np.zeros(trainer.num_cells)
    for street, (table, buckets) in enumerate(zip(tables, trainer.cards.num_buckets, strict=True)):
        first, end = trainer.game.base[street : street + 2]
        flat[first:end].reshape(buckets, -1)[:, trainer._tables.pairs[street]] = table.numpy().T
    return flat


@pytest.mark.parametrize("rules", [KUHN, LEDUC, TWO_CARDS, THREE_CARDS], ids=["kuhn", "leduc", "two", "three"])
def test_the_mean_over_all_boards_is_the_exact_regret(rules):
    trainer = make(rules, 1000)
    trainer.run(20)
    tables = trainer._tables
    before = [table.clone() for table in tables.regrets]
    frozen = cells(trainer, before)

    total = np.zeros(trainer.num_cells)
    boards = list(itertools.permutations(rules.cards.tolist(), rules.num_board_cards))
    for board in boards:
        for table, values in zip(tables.regrets, before, strict=True):
            table.copy_(values)
        tables.update(public_board(rules, trainer.cards, board), 1.0, 0.0)
        total += cells(trainer, tables.regrets) - frozen
    expected = sum(reference.regrets_by_cell(trainer, frozen, seat) for seat in (0, 1))
    assert (expected != 0.0).sum() > 8
    np.testing.assert_allclose(total / len(boards) / tables.num_pairs, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "iterations", "bound"), [("kuhn", 300, 0.05), ("leduc", 400, 0.4), ("holdem-mini", 100, 60.0)]
)
def test_it_converges(name, iterations, bound):
    trainer = make(rules_of(find_game(name)), iterations)
    trainer.run()
    nash_conv = distance(name, trainer)
    assert nash_conv < bound
    regret, met = trainer.regret_per_visit()
    assert regret >= nash_conv - 1e-9  # the regret bound: these games have perfect recall
    assert 0 < sum(met) <= trainer.num_rows


def test_half_the_digits_come_as_near():
    """In float32, with rows of 8 bits."""
    trainer = make(LEDUC, 400, exact=False)
    trainer.run()
    assert distance("leduc", trainer) < 0.4


def test_hands_of_two_cards_and_stacks_of_two_sizes():
    """The winner of an all-in takes what the other seat can match; both seats' values sum to zero."""
    rules = dataclasses.replace(rules_of(find_game("holdem-mini")), stacks=(600, 350))
    trainer = make(rules, 10)
    trainer.run()
    tables = trainer._tables
    root = tables._levels[0]
    totals = (root.ranges[:, [1, 0]] * root.values).sum((0, 2))
    assert abs(float(totals[0])) > 1.0
    np.testing.assert_allclose(float(totals.sum()), 0.0, atol=1e-6 * abs(float(totals[0])))
    ends = [chips for level in tables._levels for chips in level.ends if chips.shown]
    assert max(float(each.chips.max()) for each in ends) == 350.0


def test_a_run_in_parts_equals_a_whole_run():
    whole, part = make(LEDUC, 30), make(LEDUC, 30)
    whole.run()
    part.run(13)
    rest = make(LEDUC, 30)
    rest.resume(part.iteration, part.state())
    rest.run()
    assert rest.iteration == 30
    assert (rest.blueprint().rows == whole.blueprint().rows).all()
    with pytest.raises(ValueError, match="sums_1 is missing, or has another dtype"):
        rest.resume(13, {name: values for name, values in part.state().items() if name != "sums_1"})


def test_weights_stay_the_same_after_the_discounts():
    trainer = make(LEDUC, 40, schedule={"discount_until": 0.31})
    trainer.run()
    weights = sum(min(step, 12.4) for step in range(1, 41))
    total, met = trainer._tables.positive_regrets()
    regret, rows = trainer.regret_per_visit()
    assert regret == pytest.approx(total / weights / trainer._tables.num_pairs) and rows == met


def test_pytorch_takes_the_threads_and_tells_of_missing_memory():
    trainer = make(KUHN, 10, threads=3)
    before, seen = torch.get_num_threads(), []

    def update(*given):
        seen.append(torch.get_num_threads())
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB\nSee the documentation")

    trainer._tables.update = update
    with pytest.raises(MemoryError, match=r"^CUDA out of memory. Tried to allocate 9 GiB$"):
        trainer.run()
    assert seen == [3] and torch.get_num_threads() == before
    with pytest.raises(MemoryError, match="allocate memory"), trainer._limits():
        torch.empty(1 << 50)


def test_a_checkpoint_of_the_other_algorithm_is_refused(tmp_path):
    configs = [dataclasses.replace(read_preset("kuhn3"), game="kuhn_poker", algorithm=name) for name in ALGORITHMS]
    cards = lossless_buckets(KUHN)
    for config, other in zip(configs, configs[::-1], strict=True):
        run = begin_run(tmp_path / config.algorithm, config, cards, threads=1)
        run.trainer.run(2)
        run.keep()
        checkpoint, _ = load_checkpoint(run.folder)
        TrainingRun(run.folder, config, make_trainer(config, cards)).restore(checkpoint)
        with pytest.raises(ArtefactRefused, match=r"damaged: regrets(_0)? is missing, or has another dtype or shape"):
            TrainingRun(run.folder, other, make_trainer(other, cards)).restore(checkpoint)


def test_averages_can_restart():
    late, renewed = make(LEDUC, 40, schedule={"average_from": 0.5}), make(LEDUC, 40, schedule={"average_over": 0.5})
    late.run()
    renewed.run()
    assert (late.blueprint().rows == renewed.blueprint().rows).all()


def test_three_seats_are_refused():
    rules = rules_of(find_game("kuhn3"))
    with pytest.raises(ValueError, match="for two seats, the game has 3"):
        make(rules, 10)


def test_boards_are_drawn_by_seed_and_number():
    assert draw_board(LEDUC, 1, 5) == draw_board(LEDUC, 1, 5)
    drawn = [draw_board(LEDUC, 1, number) for number in range(200)]
    assert {card for (card,) in drawn} == set(LEDUC.cards.tolist())
    assert drawn != [draw_board(LEDUC, 2, number) for number in range(200)]
