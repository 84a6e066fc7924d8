"""Public chance sampling, proved on games that can be solved."""

import dataclasses
import functools
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
from plurispiel.agents.blueprint._round_kernels import SHOWN
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.config import ALGORITHMS, PUBLIC, BlueprintConfig, MenuConfig, read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.public_boards import draw_board, num_hand_pairs, num_hands, public_board
from plurispiel.agents.blueprint.public_trainer import PublicTrainer, _averages
from plurispiel.agents.blueprint.run import TrainingRun, begin_run, load_checkpoint
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.starting_rows import bucket_counts
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability

TWO_CARDS = HoldemRules(
    blinds=(1, 2), stacks=(4, 7), first_seats=(0, 1), board_cards=(0, 1), num_suits=2, num_ranks=3,
    betting_abstraction="fcpa",
)  # fmt: skip
THREE_CARDS = dataclasses.replace(TWO_CARDS, num_hole_cards=3, first_seats=(0,), board_cards=(0,))
LINEAR = {"discount_until": 1.0, "average_from": 0.0}


class TorchTrainer(PublicTrainer):
    """Trains with the tables of the GPU on the CPU."""

    def _make_tables(self):
        tables = pytest.importorskip("plurispiel.agents.blueprint._public_tables", reason="needs PyTorch")
        self._limits = functools.partial(tables.torch_limits, self.threads)
        return tables.PublicTables(self.rules, self.tree, self.cards.num_buckets, "cpu", double=self.exact)


BOTH = pytest.mark.parametrize("trainer", [PublicTrainer, pytest.param(TorchTrainer, marks=pytest.mark.torch)])


def make(rules, iterations, *, trainer=PublicTrainer, menu=None, schedule=None, **options):
    plan = Schedule(iterations, **(LINEAR | (schedule or {})))
    return trainer(rules, menu or game_menu(rules), lossless_buckets(rules), plan, **({"exact": True} | options))


def distance(name, trainer):
    tree = flatten(name)
    return exploitability(tree, strategy_from_agent(tree, BlueprintAgent(trainer.blueprint()))).nash_conv


def regrets(trainer):
    return [trainer._tables.read("regrets", street, slice(None)).copy() for street in range(len(trainer._decisions))]


def cells(trainer, tables):
    """Return tables in the order of a blueprint's cells."""
    flat = np.zeros(trainer.num_cells)
    for street, (table, buckets) in enumerate(zip(tables, trainer.cards.num_buckets, strict=True)):
        first, end = trainer.game.base[street : street + 2]
        flat[first:end].reshape(buckets, -1)[:] = table.T
    return flat


@BOTH
@pytest.mark.parametrize("rules", [KUHN, LEDUC, TWO_CARDS, THREE_CARDS], ids=["kuhn", "leduc", "two", "three"])
def test_the_mean_over_all_boards_is_the_exact_regret(rules, trainer):
    if rules is THREE_CARDS and trainer is PublicTrainer:
        with pytest.raises(ValueError, match="on the CPU is for one or two hole cards, the game has 3"):
            make(rules, 1000)
        return
    trained = make(rules, 1000, trainer=trainer)
    trained.run(20)
    before = regrets(trained)
    frozen = cells(trained, before)

    total = np.zeros(trained.num_cells)
    boards = list(itertools.permutations(rules.cards.tolist(), rules.num_board_cards))
    for board in boards:
        for street, values in enumerate(before):
            trained._tables.write("regrets", street, values)
        trained._tables.update(public_board(rules, trained.cards, board), 1.0, 0.0)
        total += cells(trained, regrets(trained)) - frozen
    expected = sum(reference.regrets_by_cell(trained, frozen, seat) for seat in (0, 1))
    assert (expected != 0.0).sum() > 8
    np.testing.assert_allclose(total / len(boards) / num_hand_pairs(trained.rules), expected, atol=1e-12)


@pytest.mark.torch
def test_the_cpu_adds_what_a_gpu_adds():
    """Regrets and sums of one board in hold'em with many bet sizes, which fill more than sixteen ends of a round."""
    rules = dataclasses.replace(rules_of(find_game("holdem-mini")), stacks=(20_000, 35_000))
    streets = ("0.5p 1p 2p allin", "0.5p 1p 2p allin", "1p allin")
    menu = BlueprintConfig("many", 1, game="holdem-mini", menu=MenuConfig(streets, flop=streets)).game_menu
    pair = [make(rules, 10, trainer=each, menu=menu, threads=2) for each in (PublicTrainer, TorchTrainer)]
    rng = np.random.default_rng(1)
    start = {name: rng.normal(size=values.shape) for name, values in pair[0].state().items()}
    for each in pair:
        each.resume(3, start)
        each.run(1)
    for name, values in pair[0].state().items():
        other = pair[1].state()[name]
        np.testing.assert_allclose(values, other, atol=1e-11 * np.abs(other).max(), err_msg=name)
        assert (values != start[name]).any()


@pytest.mark.parametrize(
    ("name", "iterations", "bound"), [("kuhn", 300, 0.05), ("leduc", 400, 0.4), ("holdem-mini", 100, 60.0)]
)
@BOTH
def test_it_converges(name, iterations, bound, trainer):
    trained = make(rules_of(find_game(name)), iterations, trainer=trainer)
    trained.run()
    nash_conv = distance(name, trained)
    assert nash_conv < bound
    regret, met = trained.regret_per_visit()
    assert regret >= nash_conv - 1e-9  # the regret bound: these games have perfect recall
    assert 0 < sum(met) <= trained.num_rows


@BOTH
def test_half_the_digits_come_as_near(trainer):
    """In float32, with rows of 8 bits."""
    trained = make(LEDUC, 400, trainer=trainer, exact=False)
    trained.run()
    assert distance("leduc", trained) < 0.4


def test_hands_of_two_cards_and_stacks_of_two_sizes():
    """The winner of an all-in takes what the other seat can match; both seats' values sum to zero."""
    rules = dataclasses.replace(rules_of(find_game("holdem-mini")), stacks=(600, 350))
    trainer = make(rules, 10)
    trainer.run()
    tables = trainer._tables
    totals = tables._values[0].sum(1)  # of all hands, each of which reaches the first round
    assert abs(totals[0]) > 1.0
    np.testing.assert_allclose(totals.sum(), 0.0, atol=1e-6 * abs(totals[0]))
    rounds = tables._rounds
    assert rounds.chips[rounds.kind == SHOWN].max() == 350


@BOTH
def test_a_run_in_parts_equals_a_whole_run(trainer):
    whole, part, rest = (make(LEDUC, 30, trainer=trainer, threads=threads) for threads in (1, 1, 3))
    whole.run()
    part.run(13)
    rest.resume(part.iteration, part.state())
    part.run()
    assert (part.blueprint().rows == whole.blueprint().rows).all()
    rest.run()
    assert rest.iteration == 30
    assert (rest.blueprint().rows == whole.blueprint().rows).all()
    with pytest.raises(ValueError, match="sums_by_row_1 is missing, or has another dtype"):
        rest.resume(13, {name: values for name, values in part.state().items() if name != "sums_by_row_1"})


@BOTH
def test_weights_stay_the_same_after_the_discounts(trainer):
    trained = make(LEDUC, 40, trainer=trainer, schedule={"discount_until": 0.31})
    trained.run()
    weights = sum(min(step, 12.4) for step in range(1, 41))
    largest = 0.0
    for table, starts in zip(regrets(trained), trained._decisions, strict=True):
        largest += np.maximum(np.maximum.reduceat(table, starts), 0.0).sum()
    regret, met = trained.regret_per_visit()
    assert regret == pytest.approx(largest / weights / num_hand_pairs(trained.rules))
    assert met == [18, 450]


@pytest.mark.parametrize("streets", [1, 4])
def test_all_in_or_fold(streets):
    """Rows on the first street alone: the shares of hands of the known solution, 58.3 and 37.4 %."""
    config = dataclasses.replace(read_preset("headsup-pushfold"), algorithm=PUBLIC, iterations=2000, average_from=0.1)
    cards = lossless_buckets(config.rules, 1) if streets == 1 else single_buckets(config.rules)
    trained = make_trainer(config, cards)
    trained.run()
    rows = trained.blueprint().rows.reshape(169, 4) / 255.0
    shares = np.bincount(cards.row((), 0)) / 1326 @ rows
    np.testing.assert_allclose(shares[[1, 3]], [0.583, 0.374], atol=0.04)
    assert trained.regret_per_visit()[1] == [338] + [0] * (streets - 1)


def test_averages_of_rows_that_were_not_reached():
    regrets = np.array([[1.0, -1.0, 0.0, 4.0], [3.0, -2.0, 0.0, 0.0], [5.0, 5.0, 0.0, 0.0]])
    sums = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 3.0], [2.0, 0.0, 0.0, 0.0]])
    expected = [[0.25, 0.5, 0.0, 0.25], [0.75, 0.5, 0.0, 0.75], [1.0, 1.0, 0.0, 0.0]]
    np.testing.assert_allclose(_averages(regrets, sums, np.array([0, 2])), expected)


@pytest.mark.torch
def test_pytorch_takes_the_threads_and_tells_of_missing_memory():
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    trainer = make(KUHN, 10, trainer=TorchTrainer, threads=3)
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
        with pytest.raises(
            ArtefactRefused, match=r"damaged: regrets(_by_row_0)? is missing, or has another dtype or shape"
        ):
            TrainingRun(run.folder, other, make_trainer(other, cards)).restore(checkpoint)


@BOTH
def test_averages_can_restart(trainer):
    late, renewed = (
        make(LEDUC, 40, trainer=trainer, schedule={name: 0.5}) for name in ("average_from", "average_over")
    )
    late.run()
    renewed.run()
    assert (late.blueprint().rows == renewed.blueprint().rows).all()


def reach_by_play(trainer, strategy, node, seat):
    """Return the number of a seat's hands that play to a node without a board, by following the betting upwards."""
    tree, reach = trainer.tree, np.full(trainer.cards.num_buckets[0], 1.0)
    while (parent := int(tree.parent[node])) >= 0:
        if tree.actor[parent] == seat:
            reach *= strategy[int(tree.row[parent]) + node - int(tree.first_child[parent])]
        node = parent
    return reach.sum()


@BOTH
def test_a_start_has_the_regret_of_its_weight(trainer):
    first = make(KUHN, 50, trainer=trainer)
    first.run()
    start = first.blueprint()
    trained = make(KUHN, 50, trainer=trainer)
    trained.start_from(start, 20.0)
    (found,), strategy = regrets(trained), start.rows.reshape(3, -1).T.astype(float)
    for node in np.flatnonzero(trained.tree.actor >= 0).tolist():
        row, seat = int(trained.tree.row[node]), int(trained.tree.actor[node])
        part = slice(row, row + int(trained.tree.num_actions[node]))
        stake = int(trained.tree.paid[node]) * reach_by_play(trained, strategy, node, 1 - seat)
        np.testing.assert_allclose(found[part], 20 * 21 / 2 * stake * strategy[part], rtol=1e-6)
    assert trained.iteration == 0 and not any(trained.state()[name].any() for name in trained.state() if "sums" in name)
    np.testing.assert_allclose(trained.blueprint().rows, start.rows, atol=1e-6)
    with pytest.raises(ValueError, match="another game"):
        make(LEDUC, 50, trainer=trainer).start_from(start, 20.0)
    trained.run(1)
    with pytest.raises(ValueError, match="a run that has begun cannot start from"):
        trained.start_from(start, 20.0)


def test_a_start_weighs_the_hands_of_a_bucket_and_at_least_a_big_blind():
    """Before the flop every hand reaches the first decision; the small blind has paid half of a big blind there."""
    rules = rules_of(find_game("holdem-mini"))
    config = BlueprintConfig("merged", 60, game="holdem-mini", algorithm=PUBLIC, discount_until=0.5)
    cards = lossless_buckets(rules)
    arrays = cards.arrays._replace(rows=(np.minimum(cards.arrays.rows[0], 1), *cards.arrays.rows[1:]))
    merged = dataclasses.replace(cards, num_buckets=(2, *cards.num_buckets[1:]), arrays=arrays)
    first = make_trainer(config, merged)
    first.run()
    trained = make_trainer(config, merged)
    trained.start_from(first.blueprint(), 40.0)
    root = trained.tree.row[0], trained.tree.row[0] + trained.tree.num_actions[0]
    found = regrets(trained)[0][root[0] : root[1]].sum(axis=0)
    weight = 30 * 31 / 2 + 10 * 30  # boards after half of the run weigh as much as the last one before
    assert trained.tree.paid[0] < rules.big_blind
    expected = weight * rules.big_blind * num_hands(rules) * bucket_counts(rules, merged)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[1] > 5 * found[0]


@BOTH
def test_a_start_keeps_its_answers_to_what_it_never_does(trainer):
    """Answers to a bet that the start never makes; with other answers, the other seat would begin to bet."""
    long = make(LEDUC, 1000, trainer=trainer)
    long.run()
    start = long.blueprint()
    rows = start.rows.copy()
    first, street_pairs = int(start.tree.row[0]), int(start.game.pairs[0])
    table = rows[: 3 * street_pairs].reshape(3, street_pairs)
    number = int(start.tree.num_actions[0])
    table[:, first : first + number] = [1.0] + [0.0] * (number - 1)
    changed = dataclasses.replace(start, rows=rows)
    trained = make(LEDUC, 1000, trainer=trainer)
    trained.start_from(changed, 1000.0)
    np.testing.assert_allclose(trained.blueprint().rows, changed.rows, atol=1e-6)


@BOTH
def test_a_start_saves_boards(trainer):
    long = make(LEDUC, 3000, trainer=trainer)
    long.run()
    cold, warm = (make(LEDUC, 100, trainer=trainer, exact=False, threads=2) for _ in range(2))
    warm.start_from(long.blueprint(), 100.0)
    before = distance("leduc", warm)
    for each in (cold, warm):
        each.run()
    assert before < 0.2 and distance("leduc", warm) < 0.5 * distance("leduc", cold)


def test_a_start_in_finer_buckets_is_improved():
    """A blueprint that does not see the board's suits and ranks becomes one that does."""
    coarse = PublicTrainer(LEDUC, game_menu(LEDUC), single_buckets(LEDUC), Schedule(300, **LINEAR))
    coarse.run()
    fine = make(LEDUC, 300)
    fine.start_from(coarse.blueprint(), 50.0)
    begun = distance("leduc", fine)
    fine.run()
    assert distance("leduc", fine) < 0.3 * begun


def test_three_seats_are_refused():
    rules = rules_of(find_game("kuhn3"))
    with pytest.raises(ValueError, match="for two seats, the game has 3"):
        make(rules, 10)


def test_boards_are_drawn_by_seed_and_number():
    assert draw_board(LEDUC, 1, 5) == draw_board(LEDUC, 1, 5)
    drawn = [draw_board(LEDUC, 1, number) for number in range(200)]
    assert {card for (card,) in drawn} == set(LEDUC.cards.tolist())
    assert drawn != [draw_board(LEDUC, 2, number) for number in range(200)]
