"""Building bucket tables: their reports, and their quality. The presets are slow tests."""

import dataclasses
import os

import numpy as np
import pytest
from bucket_table import CARDS, SMALL_TABLE, random_boards
from reference import buckets as reference

from plurispiel.abstraction.cards import _buckets_kernels as kernels
from plurispiel.abstraction.cards import build as building
from plurispiel.abstraction.cards.buckets import NUM_BOARDS
from plurispiel.abstraction.cards.build import build_table
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, PRESETS, StreetConfig
from plurispiel.abstraction.cards.run_outs import NUM_RIVERS, RunOutReader, empty_run_outs
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.machine.artefact import ArtefactRefused

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("buckets"),
]


def test_the_report_counts_every_hand_on_every_board(table):
    found, _ = table
    for street in BUCKETED_STREETS:
        report, sizes = found.reports[street], board_classes(CARDS[street]).sizes
        rows = found.stored[street]
        assert report.sizes.sum() == sizes.sum() * {"flop": 1176, "turn": 1128, "river": 1081}[street]
        if street != "river":  # where there are 178 million
            live = rows != 255
            assert (np.bincount(rows[live], np.repeat(sizes, live.sum(axis=1))) == report.sizes).all()
        assert np.isclose(report.sizes @ report.equity / report.sizes.sum(), 0.5)
        assert (np.diff(report.equity) > -0.05).all() and report.equity[-1] > report.equity[0] + 0.3
        assert report.quality["explained"] > 0.5
        for bucket in range(found.num_buckets[street]):
            for board, combo in report.examples[bucket]:
                assert board == -1 or rows[board, combo] == bucket
            assert report.examples[bucket, 0, 0] >= 0


def test_statistics_are_weighted_means_and_deviations():
    rng = np.random.default_rng(8)
    labels, weights = rng.integers(0, 3, (50, 40)).astype(np.int32), rng.integers(1, 24, 50)
    equity = np.clip(rng.normal([0.2, 0.5, 0.8], 0.004, (50, 40, 3)), 0, 1)[
        np.arange(50)[:, None], np.arange(40), labels
    ]
    sums = np.rint(equity * 1980 * 46).astype(np.int64)
    moments = np.zeros((3, 4), np.int64)
    kernels.add_statistics(labels, sums, weights, 46, moments)
    number, total, rounded, squares = moments.T
    for bucket in range(3):
        held, mass = labels == bucket, np.broadcast_to(weights[:, None], labels.shape)
        mean = np.average(equity[held], weights=mass[held])
        spread = np.sqrt(np.average((equity[held] - mean) ** 2, weights=mass[held]))
        assert number[bucket] == mass[held].sum() and np.isclose(total[bucket] / number[bucket] / 1980 / 46, mean)
        found = np.sqrt(squares[bucket] / number[bucket] - (rounded[bucket] / number[bucket]) ** 2) / 1980
        assert np.isclose(found, spread, rtol=0.02)


def test_a_finished_table_is_not_built_again(table, monkeypatch):
    found, folder = table
    monkeypatch.delattr(building, "_Builder")
    assert build_table(SMALL_TABLE, folder).digest == found.digest
    with pytest.raises(ArtefactRefused, match="with other settings"):
        build_table(dataclasses.replace(SMALL_TABLE, seed=2), folder)


def test_a_folder_that_holds_something_else_is_refused_before_the_build(tmp_path, monkeypatch):
    monkeypatch.delattr(building, "_Builder")
    (tmp_path / "letter").touch()
    with pytest.raises(ArtefactRefused, match="holds no bucket table"):
        build_table(SMALL_TABLE, tmp_path)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_table(table):
    """With other threads, in memory: every array is equal."""
    found, _ = table
    again = build_table(SMALL_TABLE, threads=3)
    for street in BUCKETED_STREETS:
        assert (again.stored[street] == found.stored[street]).all()
    for name, values in again.model.arrays().items():
        assert (values == found.model.arrays()[name]).all()


@pytest.mark.slow
def test_potential_aware_buckets_are_the_same_without_the_table():
    config = dataclasses.replace(
        SMALL_TABLE,
        flop=StreetConfig(8, "potential"),
        turn=StreetConfig(16, "potential"),
        river=StreetConfig(9, "ochs"),
        rounds=1,
    )
    found = build_table(config, threads=2)
    for street, number in (("flop", 2), ("turn", 40), ("river", 40)):
        assert found.num_buckets[street] == config.street(street).buckets
        for board in random_boards(street, number, 7):
            assert (found.model.classify(board) == found.row(board)).all()


@pytest.fixture(scope="module")
def preset_tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("presets")
    return {name: build_table(PRESETS[name], folder / name, threads=2) for name in ("pluribus", "ehs")}


@pytest.mark.slow
def test_pluribus_and_its_classifier_agree_on_2000_boards(preset_tables):
    found = preset_tables["pluribus"]
    assert sum(found.stored[street].nbytes for street in BUCKETED_STREETS) <= 220e6
    for street in BUCKETED_STREETS:
        for board in random_boards(street, 2000, 5):
            assert (found.model.classify(board) == found.row(board)).all()


@pytest.mark.slow
def test_pluribus_tells_draws_from_pairs_and_mean_equity_does_not(preset_tables):
    """On Qs Jh 2h: deuces paired without hearts, and flush draws whose mean equity differs by less than 0.002."""
    board = np.array(parse_cards("QsJh2h"), np.uint8)
    pluribus, plain = (preset_tables[name].row(board).astype(int) for name in ("pluribus", "ehs"))
    cards = reference.COMBOS
    equity = np.full(1326, np.nan)
    run_outs = empty_run_outs(1, 3)
    RunOutReader(3).fill(board[None], run_outs)
    equity[~np.isin(cards, board).any(axis=1)] = run_outs.sums[0] / (1980 * NUM_RIVERS[3])
    ranks, free = cards // 4, ~np.isin(cards // 4, (10, 9))  # no queen, no jack
    live = ~np.isin(cards, board).any(axis=1) & free.all(axis=1)
    draws = np.flatnonzero(live & (cards % 4 == 2).all(axis=1) & (ranks > 0).all(axis=1))
    pairs = np.flatnonzero(live & ((ranks == 0).sum(axis=1) == 1) & (cards % 4 != 2).all(axis=1))
    alike = [(d, p) for d in draws for p in pairs if abs(equity[d] - equity[p]) < 0.002]
    assert len(alike) >= 10
    for draw, pair in alike:
        assert pluribus[draw] != pluribus[pair] and abs(plain[draw] - plain[pair]) <= 1


@pytest.mark.slow
def test_pluribus_leaves_half_of_what_mean_equity_leaves(preset_tables):
    for street in ("flop", "turn"):
        quality = preset_tables["pluribus"].reports[street].quality
        assert quality["mean_distance"] <= 0.5 * quality["ehs_mean_distance"]
        assert NUM_BOARDS[street] == len(preset_tables["ehs"].stored[street])
