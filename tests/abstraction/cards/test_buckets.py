"""Bucket tables: the buckets of all hands, and files that are none. One small table stands for the presets."""

import os
import shutil

import numpy as np
import pytest
from bucket_table import random_boards

from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.machine.artefact import ArtefactRefused

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("buckets"),
]


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
