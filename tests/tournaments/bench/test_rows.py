"""The hash of results."""

import dataclasses

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
