"""The bench of memory."""

import pytest

from plurispiel.tournaments.bench import tournament_memory
from plurispiel.tournaments.bench.measurement import peak_memory


def test_growth_with_the_number_of_hands(monkeypatch):
    peaks = {500: (100 << 20, 50 << 20), 1_500: (104 << 20, 49 << 20)}
    monkeypatch.setattr(tournament_memory, "_peaks_of_new_process", peaks.__getitem__)
    assert [(row.name, row.value, row.note) for row in tournament_memory.bench_tournament_memory()] == [
        ("1,000 hands with AIVAT, main process", 100.0, "peak"),
        ("3,000 hands with AIVAT, main process", 104.0, "peak, +4.0 MiB"),
        ("1,000 hands with AIVAT, largest worker", 50.0, "peak"),
        ("3,000 hands with AIVAT, largest worker", 49.0, "peak, -1.0 MiB"),
    ]


def test_peaks_of_a_run():
    main_bytes, worker_bytes = tournament_memory.tournament_peaks(2)
    assert main_bytes > 1 << 20 and worker_bytes > 1 << 20
    assert peak_memory()[0].value == pytest.approx(main_bytes / 2**20, rel=0.2)
