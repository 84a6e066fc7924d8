"""The blueprint trainer, proved on games that can be solved."""

import dataclasses
import functools
import itertools
import os
import sys

import numpy as np
import pytest
from open_spiel.python.algorithms.exploitability import nash_conv
from reference import regrets as reference

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, game_menu
from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.abstraction.machine.memory import resident_bytes
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.blueprint import trainer as trainer_module
from plurispiel.agents.blueprint import traversal_kernels as kernels
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets, table_buckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.agents.openspiel import agent_policy
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

PLAIN = {"discount_until": 0.0, "prune_from": 1.0, "average_from": 0.0, "average_every": 1, "num_snapshots": 0}
NO_VISITS = np.empty(0, np.float32)


def train(name, iterations, *, schedule=None, **options):
    rules = rules_of(find_game(name))
    options = {"exact": True, "average_all": True} | options
    plan = Schedule(iterations, **(PLAIN | (schedule or {})))
    trainer = Trainer(rules, game_menu(rules), cards_of(name), plan, **options)
    trainer.run()
    return trainer


def distance(name, trainer):
    """Return NashConv by our own best responses."""
    tree = tree_of(name)
    return exploitability(tree, strategy_from_agent(tree, BlueprintAgent(trainer.blueprint()))).nash_conv


@functools.cache
def cards_of(name):
    return lossless_buckets(rules_of(find_game(name)))


tree_of = functools.cache(flatten)


def test_leduc_is_as_near_to_equilibrium_as_other_external_sampling():
    """OpenSpiel's: NashConv / 2 of 1.12 after 1,000 iterations, 0.270 after 10,000."""
    assert distance("leduc", train("leduc", 1_000)) / 2 < 1.3
    assert distance("leduc", train("leduc", 10_000)) / 2 < 0.3


def test_linear_discounting_is_better():
    seeds = range(3)
    plain = [distance("leduc", train("leduc", 10_000, seed=seed)) for seed in seeds]
    linear = [distance("leduc", train("leduc", 10_000, seed=seed, schedule={"discount_until": 1.0})) for seed in seeds]
    assert np.mean(linear) < 0.9 * np.mean(plain)


def test_three_seats():
    assert distance("kuhn3", train("kuhn3", 100_000)) < 0.02


def test_whole_chips_do_as_well_where_they_are_small():
    """With regrets in int32; Leduc's bets are 2 and 4 chips."""
    assert distance("leduc", train("leduc", 10_000, exact=False)) / 2 < 0.3


def test_openspiel_agrees():
    trainer = train("kuhn3", 20_000)
    game = flatten("kuhn3").openspiel_game
    theirs = nash_conv(game, agent_policy(BlueprintAgent(trainer.blueprint()), game))
    assert np.isclose(theirs, distance("kuhn3", trainer), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "samples"), [("kuhn3", 20_000), pytest.param("leduc", 60_000, marks=pytest.mark.slow)]
)
def test_sampled_regrets_are_unbiased(name, samples):
    """With a frozen strategy the mean change at every infoset is the exact regret, within 4.5 standard errors."""
    trainer = train(name, 50, seed=7)
    game, work, dealt = trainer.game, trainer.workspaces[0], trainer.dealt_game
    frozen = trainer.regrets.copy()
    for seat in range(trainer.rules.num_seats):
        expected = reference.regrets_by_cell(trainer, frozen, seat)
        total, squares = np.zeros(len(frozen)), np.zeros(len(frozen))
        stream = trainer.streams[0]
        drawn = np.empty((500, len(frozen)))
        for _ in range(samples // len(drawn)):
            for each in drawn:
                trainer.regrets[:] = frozen
                kernels.deal_hand(dealt.tables, dealt.game, dealt.cards, stream, work)
                kernels.traverse_betting(
                    dealt.tree, game, trainer.settings, trainer.regrets, NO_VISITS, stream, work, seat, False
                )
                each[:] = trainer.regrets
            drawn -= frozen
            total += drawn.sum(axis=0)
            squares += (drawn**2).sum(axis=0)
        mean = total / samples
        error = np.sqrt((squares / samples - mean**2) / samples)
        met = error > 0
        assert met.sum() > 10 and np.allclose(mean[~met], expected[~met], atol=1e-3)
        assert (np.abs(mean - expected)[met] <= 4.5 * error[met] + 1e-12).all()


@pytest.mark.parametrize(
    ("name", "iterations", "schedule", "prune_below", "less"),
    [
        ("leduc", 200_000, {"discount_until": 1.0}, -2_000.0, 0.99),
        ("holdem-mini", 320_000, {}, -30_000.0, 0.9),
    ],
)
@pytest.mark.slow
def test_pruning_visits_less_and_is_as_near_to_equilibrium(name, iterations, schedule, prune_below, less):
    """Within a tenth, in the mean of some runs."""
    seeds = range(4)
    plain = [train(name, iterations, seed=seed, schedule=schedule) for seed in seeds]
    schedule = schedule | {"prune_from": 0.05}
    pruned = [train(name, iterations, seed=seed, schedule=schedule, prune_below=prune_below) for seed in seeds]
    assert sum(each.num_nodes for each in pruned) < less * sum(each.num_nodes for each in plain)
    distances = [np.mean([distance(name, each) for each in runs]) for runs in (plain, pruned)]
    assert np.isclose(distances[1], distances[0], rtol=0.1)


def shares_of_blinds(iterations, **options):
    """Return the exact exploitability of holdem-mini, by the sum of the blinds, after each number of iterations."""
    schedule = {"discount_until": 1.0, "average_every": 4}
    return [distance("holdem-mini", train("holdem-mini", n, schedule=schedule, **options)) / 300 for n in iterations]


@pytest.mark.slow  # that more iterations are nearer, test_averages_by_visits_converge finds too
def test_twice_the_iterations_are_nearer_to_equilibrium():
    """In holdem-mini, in the mean of three runs."""
    shares = [shares_of_blinds([80_000, 160_000, 320_000], seed=seed) for seed in range(3)]
    means = np.mean(shares, axis=0)
    assert (means[1:] < 0.85 * means[:-1]).all()


@pytest.mark.slow
def test_averages_over_less_of_a_run_are_farther_from_equilibrium():
    """In the mean of two runs. README has figures of longer ones."""
    schedule = {"average_from": 0.02, "average_every": 4, "num_snapshots": 200}
    means = []
    for share in (1.0, 0.5, 0.25):
        runs = [
            train("holdem-mini", 160_000, seed=k, schedule=schedule | {"average_over": share}, exact=False)
            for k in range(2)
        ]
        means.append(np.mean([distance("holdem-mini", each) for each in runs]))
    assert means[0] < 0.8 * means[1] and means[1] < 0.8 * means[2], means


@pytest.mark.slow
def test_whole_chips_come_within_a_hundredth_of_the_blinds():
    assert shares_of_blinds([3_000_000], exact=False)[0] < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "whole chips"])
def test_every_doubling_is_nearer_to_equilibrium(exact):
    numbers = [20_000 * 2**k for k in range(9)]
    means = np.mean([shares_of_blinds(numbers, seed=seed, exact=exact) for seed in range(3)], axis=0)
    print(np.round(100 * means, 3))
    assert (means[1:] < means[:-1]).all() and means[-1] < 0.01


def test_pieces_are_the_whole():
    """One thread, any pieces: bit for bit."""
    schedule = {"discount_until": 0.5, "prune_from": 0.2, "num_snapshots": 7, "average_from": 0.1}
    plan = Schedule(3_000, **(PLAIN | schedule))
    rules = dataclasses.replace(LEDUC)
    made = [
        Trainer(rules, game_menu(rules), lossless_buckets(rules), plan, prune_below=-400.0, exact=exact)
        for exact in (True, True, False, False)
    ]
    for whole, pieces in (made[:2], made[2:]):
        whole.run()
        for part in (1, 10, 999, 1_000, 77, 10_000):
            pieces.run(part)
        assert whole.iteration == pieces.iteration == 3_000
        for name in ("regrets", "sums", "later_sums", "streams", "counters"):
            assert (getattr(whole, name) == getattr(pieces, name)).all(), name
        assert whole.later_sums.any()


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "whole chips"])
def test_averages_restart_where_their_share_of_the_run_begins(exact):
    schedule = {"average_from": 0.1, "num_snapshots": 9}
    plan = Schedule(4_000, **(PLAIN | schedule | {"average_over": 0.5}))
    assert plan.renewals == {500, 1_000, 2_000}
    assert Schedule(900, average_from=0.15, average_over=1 / 3).renewals == {178, 267, 400, 600}
    rules = dataclasses.replace(LEDUC)
    renewed, plain = (
        Trainer(rules, game_menu(rules), lossless_buckets(rules), found, exact=exact)
        for found in (plan, Schedule(4_000, **(PLAIN | schedule)))
    )
    for until in (1_000, 2_000):  # at a restart the old averages are still readable
        for trainer in (renewed, plain):
            trainer.run(until - trainer.iteration)
        assert renewed.later_sums.any() and renewed.sums.any()
        before = {"sums": plain.sums.copy(), "later_sums": plain.later_sums.copy()}
    renewed.run()
    plain.run()
    assert (renewed.regrets == plain.regrets).all()
    for name, values in before.items():
        np.testing.assert_allclose(getattr(renewed, name), getattr(plain, name) - values, atol=1e-5)


def test_averages_by_visits_converge():
    """In Leduc, in the mean of three runs, in whole chips."""
    schedule = {"average_from": 0.1, "discount_until": 1.0, "average_every": 4}
    means = []
    for iterations in (2_000, 8_000, 32_000):
        options = {"schedule": schedule, "average_all": False, "exact": False}
        runs = [train("leduc", iterations, seed=k, **options) for k in range(3)]
        means.append(np.mean([distance("leduc", each) for each in runs]))
    assert means[1] < 0.6 * means[0] and means[2] < 0.6 * means[1], means


def test_visits_count_rows_by_the_reach_of_their_seat():
    """In Leduc with a frozen strategy, within 4.5 standard errors of a Poisson count."""
    trainer = train("leduc", 50, seed=7, average_all=False)
    rules, tree, game, dealt = trainer.rules, trainer.tree, trainer.game, trainer.dealt_game
    work, stream, frozen = trainer.workspaces[0], trainer.streams[0], trainer.regrets.copy()
    samples, visits, scratch = 20_000, np.zeros(len(frozen), np.float32), np.zeros(32)
    for number in range(2 * samples):
        kernels.deal_hand(dealt.tables, dealt.game, dealt.cards, stream, work)
        kernels.traverse_betting(
            dealt.tree, game, trainer.settings, trainer.regrets, visits, stream, work, number % 2, False
        )
        trainer.regrets[:] = frozen
    decks = list(itertools.permutations(rules.cards.tolist(), 3))
    expected = np.zeros(len(frozen))
    for deck in decks:
        reaches = {0: (1.0, 1.0)}  # of both seats
        for node in range(len(tree.actor)):
            seat = int(tree.actor[node])
            if seat < 0:
                continue
            street, count, first = int(tree.street[node]), int(tree.num_actions[node]), int(tree.first_child[node])
            bucket = int(
                trainer.cards.row(tuple(deck[2:]) if street else (), street)[rules.combo_id(deck[seat : seat + 1])]
            )
            cell = int(game.base[street] + bucket * game.pairs[street] + tree.row[node])
            kernels.match_regrets(frozen, cell, count, scratch)
            if street:
                expected[cell : cell + count] += reaches[node][seat] * scratch[:count] / len(decks)
            for place in range(count):
                reach = list(reaches[node])
                reach[seat] *= scratch[place]
                reaches[first + place] = tuple(reach)
    assert not visits[: int(game.base[1])].any()  # the first street has its own average
    assert (np.abs(visits - samples * expected) <= 4.5 * np.sqrt(samples * expected) + 1e-3).all()


def test_sums_by_visits_are_halved_before_float32_stops_counting():
    trainer = train("leduc", 100, average_all=False)
    many = np.float32(2.0**22)
    trainer.later_sums[trainer.later_sums > 0] = many
    trainer.schedule = Schedule(2_000, **PLAIN)
    trainer.run()
    assert trainer.later_sums.max() < 2 * many


def test_two_threads_learn_the_same_game():
    trainer = train("leduc", 20_000, threads=2)
    assert trainer.num_traversals == 40_000 and distance("leduc", trainer) / 2 < 0.4


def test_whole_chips_stay_within_their_bounds():
    trainer = train("leduc", 5_000, exact=False, prune_below=-30.0)
    assert trainer.regrets.dtype == np.int32 and trainer.regrets.min() == -31
    many = 2**31 - 1
    trainer.regrets[:] = many
    trainer.schedule = Schedule(6_000, **PLAIN)
    trainer.run()
    assert trainer.regrets.max() == many and trainer.regrets.min() >= -31


def test_discounts_make_the_weights_of_the_steps_linear():
    plan = Schedule(100_000)
    weights = np.ones(41)
    for iteration, factor in plan.discounts.items():
        weights[: round(iteration / 250)] *= factor
    assert np.allclose(weights, np.minimum(np.arange(1, 42), 40) / 40)
    assert max(plan.snapshots) == 100_000 and len(plan.snapshots) == 50 and min(plan.snapshots) == 11_800


def test_ends_pay_as_the_rules_do():
    """Three seats with different stacks: side pots, ties, folds."""
    rules = dataclasses.replace(no_limit_holdem(3), stacks=(700, 350, 1300))
    menu = GameMenu((StreetMenu(("1p allin", "allin")),))
    tree, cards = build_tree(rules, menu), lossless_preflop(rules)
    trainer = Trainer(rules, menu, cards, Schedule(10, **PLAIN))
    work, dealt = trainer.workspaces[0], trainer.dealt_game
    ends = np.flatnonzero(tree.actor < 0)
    rng = np.random.default_rng(1)
    for node in rng.choice(ends, 400).tolist():
        actions, at = [], node
        while tree.parent[at] >= 0:
            actions.append(int(tree.action[at]))
            at = int(tree.parent[at])
        state = BettingState(rules)
        for action in reversed(actions):
            state.apply(action)
        kernels.deal_hand(dealt.tables, dealt.game, dealt.cards, trainer.streams[0], work)
        if rng.random() < 0.5:  # a board that plays: everybody ties
            work.ranks[:3] = 5000
            work.deck[:11] = [0, 5, 10, 4, 9, 1, 48, 44, 40, 36, 32]
        payoffs = state.payoffs(np.ascontiguousarray(work.deck[:11]))
        for seat in range(3):
            if not state.folded[seat]:
                value = kernels.end_value(dealt.tree, node, seat, 3, work.ranks)
                assert np.isclose(value, payoffs[seat])


def lossless_preflop(rules, num_buckets=1):
    """Return cards of which only the starting hands are told apart, quick to make; later all are in one bucket."""
    before = lossless_buckets(dataclasses.replace(rules, board_cards=(0,), first_seats=rules.first_seats[:1]))
    flat = np.zeros((1, rules.num_combos), np.uint8)  # of every board, as the entries are 0
    flat.setflags(write=False)  # the type of tables, for which kernels are compiled anyway
    entries = tuple(np.zeros(3_000_000, np.int32) for _ in range(3))
    arrays = before.arrays._replace(
        entries=(before.arrays.entries[0], *entries), rows=(before.arrays.rows[0], flat, flat, flat)
    )
    return dataclasses.replace(
        before, rules=rules, num_buckets=(before.num_buckets[0], *[num_buckets] * 3), arrays=arrays
    )


@pytest.mark.xdist_group("buckets")
@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six-max"])
def test_deals_have_the_buckets_of_the_table(bucket_table_folder, rules):
    table = load_table(bucket_table_folder)
    cards = table_buckets(rules, table)
    assert cards.num_buckets == (169, 12, 20, 9) and cards.table_digest == table.digest
    trainer = Trainer(rules, GameMenu((StreetMenu(("allin",)),)), cards, Schedule(10, num_snapshots=1))
    work, dealt = trainer.workspaces[0], trainer.dealt_game
    for _ in range(50):
        kernels.deal_hand(dealt.tables, dealt.game, dealt.cards, trainer.streams[0], work)
        deck = work.deck[: rules.num_dealt_cards].copy()
        board = deck[2 * rules.num_seats :]
        for street, size in enumerate((0, 3, 4, 5)):
            row = table.row(board[:size])
            assert (cards.row(tuple(board[:size].tolist()), street) == row).all()
            for seat in range(rules.num_seats):
                assert work.buckets[4 * seat + street] == row[rules.combo_id(deck[2 * seat : 2 * seat + 2].tolist())]
    trainer.run()
    assert trainer.num_traversals == 10 * rules.num_seats and trainer.later_sums.any()


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="iterations and average_every are 1 or more"):
        Schedule(0)
    with pytest.raises(ValueError, match="num_snapshots is 0 to 250, got 251"):
        Schedule(10, num_snapshots=251)
    with pytest.raises(ValueError, match="prune_from is a share of the run, 0 to 1, got 2"):
        Schedule(10, prune_from=2)
    with pytest.raises(ValueError, match="average_over is a share"):
        Schedule(10, average_over=0.0)
    with pytest.raises(ValueError, match="prune_below must be a negative regret"):
        Trainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), Schedule(10), prune_below=1.0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell, or give memory out otherwise")
def test_memory_is_taken_for_what_is_met_only(monkeypatch):
    """Through traversals, discounts, averages and snapshots."""
    monkeypatch.setattr(trainer_module, "available_bytes", lambda: 1.0)
    monkeypatch.setattr(Schedule, "num_discount_steps", 4)  # each looks at all of a gigabyte's pages
    trainer_module.warmup()
    menu = GameMenu((StreetMenu(("1p allin", "allin")),))
    plan = Schedule(400, discount_until=1.0, average_from=0.1, average_every=10, num_snapshots=5)
    trainer = Trainer(SIXMAX, menu, lossless_preflop(SIXMAX, 20), plan)
    virtual = trainer.regrets.nbytes + trainer.later_sums.nbytes
    before = resident_bytes()
    trainer.run()
    assert virtual > 2**28 and trainer.later_sums.any() and trainer.sums.any()
    assert resident_bytes() - before < 0.2 * virtual
