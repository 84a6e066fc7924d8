"""Buckets of the turns and rivers of one flop."""

import os

import numpy as np
import pytest
from reference import buckets as reference

from plurispiel.abstraction.cards.config import StreetConfig
from plurispiel.abstraction.cards.flops import FlopConfig, flop_buckets, is_kept
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import parse_cards

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

FLOP = FlopConfig("few", StreetConfig(30, "histogram"), StreetConfig(40, "ochs"), fit_points=2000, rounds=2)


def test_buckets_of_one_flop(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))
    flop = parse_cards("QsJh2h")
    one = flop_buckets(flop, FLOP, threads=2)
    assert one.num_buckets == {"turn": 30, "river": 40} and is_kept(flop, FLOP)
    again = flop_buckets(parse_cards("2hQsJh"), FLOP)  # from the cache
    renamed = flop_buckets(relabel_cards(flop, 7), FLOP)
    fresh = flop_buckets(flop, FLOP, threads=1, keep=False)
    rng = np.random.default_rng(1)
    rest = np.setdiff1d(np.arange(52), flop)
    for count in (1, 2):
        for _ in range(20):
            board = np.array([*flop, *rng.permutation(rest)[:count]])
            row = one.row(board)
            live = ~np.isin(reference.COMBOS, board).any(axis=1)
            assert (row[live] < one.num_buckets["turn" if count == 1 else "river"]).all()
            assert (row[~live] == 65535).all()
            assert (again.row(board) == row).all() and (fresh.row(board) == row).all()
            swapped = [*board[[2, 0, 1]], *board[3:][::-1]]
            assert (one.row(swapped, np.empty(1326, np.uint16)) == row).all()
            assert (renamed.row(relabel_cards(board, 7))[relabel_combos()[7]] == row).all()
    with pytest.raises(ValueError, match="a board here is QsJh2h"):
        one.row(parse_cards("QsJh2h"))
    with pytest.raises(ValueError, match="a board here is"):
        one.row(parse_cards("QsJh3h2h"))
    with pytest.raises(ValueError, match="a board here is"):
        one.row([*parse_cards("QsJh2h"), 60])
    stored = next(tmp_path.glob("flop-buckets/*/*")) / "turn.npy"
    stored.write_bytes(stored.read_bytes()[:-9])
    assert not is_kept(flop, FLOP)
    assert (flop_buckets(flop, FLOP).row(board) == row).all()
