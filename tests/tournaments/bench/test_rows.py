"""The hash of results."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

from plurispiel.tournaments.bench import rows
from plurispiel.tournaments.run.config import TournamentConfig


def test_hash_is_that_of_the_results_and_not_of_the_times(monkeypatch):
    monkeypatch.setattr(
        rows,
        "_TOURNAMENTS",
        {"raw": {"agents": ("call", "random"), "decks": 4, "score": "duplicate"}, "dealt once": _ONCE},
    )
    found, again = rows.bench_rows(), rows.bench_rows(7.0)
    assert found == again  # other times
    assert [(row.name, row.value) for row in found] == [("raw", 8), ("dealt once", 8), ("all", 16)]
    assert len({row.note for row in found}) == 3 and all(len(row.note.split()[1]) == 64 for row in found)


def test_hash_changes_with_any_result():
    config = TournamentConfig(agents=("call", "random"), decks=4, score="duplicate", seed=1)
    changed = (
        {"seed": 2},
        {"deals": "once"},
        {"score": "aivat_duplicate", "values": "checkdown"},
        {"agents": ("call", "call")},
    )
    digests = {rows.rows_digest(dataclasses.replace(config, **change)) for change in ({}, *changed)}
    assert len(digests) == 1 + len(changed)
    assert rows.rows_digest(config) in digests


_ONCE = {"agents": ("call", "random"), "decks": 4, "score": "duplicate", "deals": "once"}


ON_ANY_PROCESSOR = """
from plurispiel.tournaments.bench.rows import rows_digest
from plurispiel.tournaments.run.config import TournamentConfig

search = "search?iterations=20&cards=blueprint&threads=1"
for agents, decks in ((("blueprint", "tag", "equity", "call", "raise", "random"), 16), ((search, "tag"), 4)):
    print(*rows_digest(TournamentConfig(agents=agents, decks=decks, values="checkdown", seed=1)))
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_results_are_the_same_bits_on_every_processor():
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    settings = [{"OPENBLAS_CORETYPE": name} for name in ("SkylakeX", "Haswell", "Prescott")]
    settings.append({"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": " ".join(found)})
    command = [sys.executable, "-c", ON_ANY_PROCESSOR]
    digests = [subprocess.check_output(command, env=os.environ | setting, text=True) for setting in settings]
    assert digests[0].count("\n") == 2
    assert digests[1:] == digests[:1] * 3
