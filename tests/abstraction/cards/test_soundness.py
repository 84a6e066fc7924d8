"""Numbers that no bucket table can have are refused, though their manifest fits."""

import dataclasses
import os

import numpy as np
import pytest
from bucket_table import hide, put

from plurispiel.abstraction.cards.buckets import FORMAT_VERSION, KIND, load_table
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("buckets"),
]


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
    ("turn_centroids", lambda values: values[:0]),
    ("river_thresholds", lambda values: values[::-1]),
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


@pytest.fixture(scope="module")
def kept(bucket_table_folder):
    return load_artefact(bucket_table_folder, KIND, FORMAT_VERSION)


@pytest.mark.parametrize(("name", "change"), ATTACKS)
def test_numbers_that_cannot_be_are_refused_though_the_manifest_fits(kept, tmp_path, monkeypatch, name, change):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))
    arrays = kept.arrays | {name: change(np.array(kept.arrays[name]))}
    forged = dataclasses.replace(kept, arrays=arrays, digest="forged")
    monkeypatch.setattr("plurispiel.abstraction.cards.buckets.load_artefact", lambda *which: forged)
    with pytest.raises(ArtefactRefused, match="is not a bucket table") as refused:
        load_table(tmp_path)
    assert str(refused.value).isprintable()
