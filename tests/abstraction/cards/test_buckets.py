"""Bucket tables: one small table, built once (conftest.py), stands for the presets, which are slow tests."""

import dataclasses
import os
import shutil

import numpy as np
import pytest
from bucket_table import SMALL_TABLE
from reference import buckets as reference

from plurispiel.abstraction.cards import _buckets_kernels as kernels
from plurispiel.abstraction.cards import build as building
from plurispiel.abstraction.cards.buckets import FORMAT_VERSION, KIND, NUM_BOARDS, load_table
from plurispiel.abstraction.cards.build import build_table
from plurispiel.abstraction.cards.classifier import FeatureReader
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, PRESETS, StreetConfig
from plurispiel.abstraction.cards.opponents import opponent_clusters
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.cards.run_outs import NUM_RIVERS, RunOutReader, empty_run_outs
from plurispiel.abstraction.holdem.boards import board_classes, relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("buckets"),
]

CARDS = {"flop": 3, "turn": 4, "river": 5}


@pytest.fixture(scope="module")
def table(bucket_table_folder):
    return load_table(bucket_table_folder), bucket_table_folder


def random_boards(street, number, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(52)[: CARDS[street]] for _ in range(number)], np.uint8)


@pytest.mark.parametrize(("street", "number"), [("flop", 4), ("turn", 60), ("river", 150)])
def test_buckets_are_the_same_without_the_table(table, street, number):
    found, _ = table
    boards = random_boards(street, number, 1)
    rows = found.rows(boards)
    for board, row in zip(boards, rows, strict=True):
        assert (found.row(board) == row).all()
        assert (found.model.classify(board) == row).all()
        live = ~np.isin(reference.COMBOS, board).any(axis=1)
        assert (row[live] < found.num_buckets[street]).all() and (row[~live] == 255).all()


@pytest.mark.parametrize(("street", "number"), [("flop", 1), ("turn", 5), ("river", 10)])
def test_renamed_suits_have_the_same_bucket(table, street, number):
    found, _ = table
    for board in random_boards(street, number, 2):
        row = found.row(board)
        for permutation in range(0, 24, 5):
            renamed = relabel_cards(board, permutation)
            for other in (found.row(renamed), found.model.classify(renamed)):
                assert (other[relabel_combos()[permutation]] == row).all()
    pairs = random_boards(street, 4000, 3)
    permutations = np.random.default_rng(4).integers(0, 24, len(pairs))
    renamed = np.array([relabel_cards(board, p) for board, p in zip(pairs, permutations, strict=True)])
    moved = np.take_along_axis(found.rows(renamed), relabel_combos()[permutations], axis=1)
    assert (moved == found.rows(pairs)).all()


def test_before_the_flop_every_starting_hand_is_its_own(table):
    found, _ = table
    for row in (found.row([]), found.model.classify(())):
        assert row.dtype == np.uint8 and (row == preflop_classes()).all()
    assert found.num_buckets == {"preflop": 169, "flop": 12, "turn": 20, "river": 9}


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


def test_out_is_filled_and_returned(table):
    found, _ = table
    out = np.zeros(1326, np.uint8)
    board = np.array(parse_cards("QsJh2h"), np.uint8)
    assert found.row(board, out) is out and out.any()
    assert (found.model.classify(board, np.zeros(1326, np.uint8)) == out).all()
    assert (found.row(parse_cards("2hQsJh")) == out).all()


@pytest.mark.parametrize(
    "board", [(0, 1), (0, 0, 1), (0, 1, 52), (1, 2, -1), (0, 1, 2, 3, 4, 5), (0.5, 1, 2), ((0, 1, 2),)]
)
def test_what_is_no_board_is_refused(table, board):
    for look_up in (table[0].row, table[0].model.classify):
        with pytest.raises(ValueError, match="a board has 0, 3, 4 or 5 different cards"):
            look_up(board)


def test_a_finished_table_is_not_built_again(table, monkeypatch):
    found, folder = table
    monkeypatch.delattr(building, "_Builder")
    assert build_table(SMALL_TABLE, folder).digest == found.digest
    with pytest.raises(ArtefactRefused, match="of other settings"):
        build_table(dataclasses.replace(SMALL_TABLE, seed=2), folder)


def damage(folder, name, change):
    path = folder / name
    data = bytearray(path.read_bytes())
    path.write_bytes(change(data))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("turn.npy", lambda data: data[:-1]),
        ("turn.npy", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        ("flop_centroids.npy", lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:]),
        ("manifest.json", lambda data: data.replace(b'"buckets": 20', b'"buckets": 21')),
        ("manifest.json", lambda data: data.replace(b"bucket table", b"bucket chair")),
    ],
)
def test_a_damaged_or_foreign_table_is_refused(table, tmp_path, name, change):
    copy = tmp_path / "copy"
    shutil.copytree(table[1], copy)
    damage(copy, name, change)
    with pytest.raises(ArtefactRefused) as refused:
        load_table(copy)
    assert "\n" not in str(refused.value)


def put(value, place):
    def change(values):
        values.reshape(-1)[place] = value
        return values

    return change


def hide(values):
    """Say of a combo that it shares a card with the board."""
    return put(255, np.flatnonzero(values != 255)[0])(values)


def show(values):
    return put(0, np.flatnonzero(values == 255)[-1])(values)


ATTACKS = [
    ("river", hide),
    ("turn", lambda rows: put(20, np.flatnonzero(rows != 255)[-1])(rows)),
    ("flop", show),
    ("flop", lambda rows: rows.astype(np.uint16)),
    ("turn", lambda rows: rows[:-1]),
    ("clusters", put(8, 0)),
    ("clusters", lambda values: values.astype(np.int64)),
    ("turn_centroids", lambda values: values[:, :-1]),
    ("turn_centroids", lambda values: values.astype(np.float32)),
    ("turn_centroids", lambda values: np.concatenate([values, values])),
    ("river_centroids", lambda values: values[:0]),
    ("flop_thresholds", lambda values: np.arange(3)),
    ("flop_ground", lambda values: np.zeros((3, 3), np.float32)),
    ("river_equity", put(np.nan, 0)),
    ("river_equity_sd", put(-1.0, 0)),
    ("river_sizes", put(-1, 0)),
    ("river_sizes", lambda values: values[:-1]),
    ("flop_examples", put(10**6, 0)),
    ("flop_examples", lambda values: values.reshape(-1)),
    ("flop_quality", lambda values: values[:-1]),
]


@pytest.mark.parametrize(("name", "change"), ATTACKS)
def test_numbers_that_cannot_be_are_refused_though_the_manifest_fits(table, tmp_path, monkeypatch, name, change):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))
    kept = load_artefact(table[1], KIND, FORMAT_VERSION)
    arrays = kept.arrays | {name: change(np.array(kept.arrays[name]))}
    forged = dataclasses.replace(kept, arrays=arrays, digest="forged")
    monkeypatch.setattr("plurispiel.abstraction.cards.buckets.load_artefact", lambda *which: forged)
    with pytest.raises(ArtefactRefused, match="is no bucket table") as refused:
        load_table(table[1])
    assert str(refused.value).isprintable()


def test_a_stage_of_other_settings_is_not_used(table, tmp_path):
    found, _ = table
    model = found.model.streets["river"]
    part = building.StreetBuckets(model, np.array(found.stored["river"]), found.reports["river"])
    building._save_stage(tmp_path / "river", SMALL_TABLE, part)
    assert building._load_stage(tmp_path / "river", SMALL_TABLE, "river") is not None
    assert building._load_stage(tmp_path / "river", dataclasses.replace(SMALL_TABLE, rounds=4), "river") is None
    assert building._load_stage(tmp_path / "turn", SMALL_TABLE, "turn") is None
    building._save_stage(tmp_path / "river", SMALL_TABLE, part._replace(rows=hide(np.array(part.rows))))
    assert building._load_stage(tmp_path / "river", SMALL_TABLE, "river") is None  # built again


@pytest.mark.slow
def test_the_same_seed_gives_the_same_table(table):
    """With other threads, in memory: every array is equal."""
    found, _ = table
    again = build_table(SMALL_TABLE, threads=3)
    for street in BUCKETED_STREETS:
        assert (again.stored[street] == found.stored[street]).all()
    for name, values in again.model.arrays().items():
        assert (values == found.model.arrays()[name]).all()


def test_potential_features_count_the_next_streets_buckets():
    board = np.array(parse_cards("QsJh2h7c"), np.uint8)
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 24, (52, 1326)).astype(np.uint16)  # by the river card
    reader = FeatureReader(
        "turn", "potential", opponent_clusters(), next_rows=lambda boards: rows[boards[:, 4]], num_next_buckets=24
    )
    points = reader.read(board[None]).points
    live = np.flatnonzero(~np.isin(reference.COMBOS, board).any(axis=1))
    for place in range(0, len(live), 50):
        hand = reference.COMBOS[live[place]]
        rivers = [card for card in range(52) if card not in board and card not in hand]
        expected = np.bincount([rows[card, live[place]] for card in rivers], minlength=24)
        assert (points[place] == 5 * expected).all() and expected.sum() == 46


@pytest.mark.slow
def test_potential_aware_buckets_are_the_same_without_the_table():
    config = dataclasses.replace(
        SMALL_TABLE, turn=StreetConfig(16, "potential"), flop=StreetConfig(8, "potential"), rounds=1
    )
    found = build_table(config, threads=2)
    for street, number in (("flop", 2), ("turn", 40)):
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
