"""Speed of learners' environments."""

import os

import pytest

from plurispiel.tournaments.bench import environment


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="a measurement of compiled code")
def test_rates_beside_openspiel(monkeypatch):
    monkeypatch.setattr(environment, "NUM_TABLES", 16)
    rows = {row.name: row for row in environment.bench_environment(0.01)}
    assert all(row.value > 10.0 and row.unit == "hands/s" for row in rows.values())
    peers = [rows[f"rl_environment, {table}"].value for table in ("heads-up", "six-handed")]
    for table, peer in zip(("heads-up", "six-handed"), peers, strict=True):
        row = rows[f"16 tables, {table}, random"]
        assert row.value > 10.0 * peer and float(row.note.split()[0].replace(",", "")) == pytest.approx(
            row.value / peer, abs=0.51
        )
    assert list(rows).index("  observation compact") < list(rows).index("rl_environment, six-handed")
