"""The bench of memory, and by it the memory of long runs."""

import sys

import pytest

from plurispiel.tournaments.bench import tournament_memory

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of processes in /proc")


def test_growth_with_the_number_of_hands(monkeypatch):
    most = {(500, 1_500): [(100 << 20, 50 << 20), (104 << 20, 50 << 20)]}
    monkeypatch.setattr(tournament_memory, "memory_of_run", lambda decks: most[tuple(decks)])
    assert [(row.name, row.value, row.note) for row in tournament_memory.bench_tournament_memory()] == [
        ("1,000 hands with AIVAT, main process", 100.0, "most until then"),
        ("3,000 hands with AIVAT, main process", 104.0, "most until then, +4.0 MiB"),
        ("1,000 hands with AIVAT, largest worker", 50.0, "most until then"),
        ("3,000 hands with AIVAT, largest worker", 50.0, "most until then, +0.0 MiB"),
    ]


@needs_proc
def test_memory_of_a_run():
    (main_before, worker_before), (main, worker) = tournament_memory.memory_of_run([8, 16])
    assert main >= main_before > 1 << 20 and worker >= worker_before > 1 << 20


@needs_proc
@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_hands():
    """Caches fill up to some megabytes; 4 KiB a hand, of results that somebody keeps, would be 24 MiB."""
    (main_before, worker_before), (main, worker) = tournament_memory.memory_of_run([2_000, 6_000])
    assert main - main_before < 2 << 20 and worker - worker_before < 12 << 20
