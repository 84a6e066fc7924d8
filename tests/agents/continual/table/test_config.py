import pytest

from plurispiel.agents.continual.table import TableConfig


def test_budgets():
    assert TableConfig().search.iterations == 150
    assert TableConfig(iterations=7).search.iterations == 7
    limited = TableConfig(time=2.5).search
    assert (limited.iterations, limited.time) == (0, 2.5)
    assert TableConfig(time=0.3, nets="bundled").search.time == 0.5  # the least of a search; a hand keeps to 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": -1}, "iterations are 2 to"),
        ({"iterations": 1}, "iterations are 2 to 1,000,000, or 0 for the default, got 1"),
        ({"iterations": 5, "time": 1.0}, "give iterations or time, not both, got 5 and 1"),
        ({"time": 0.5}, r"time is 1 \(with nets 0.3\) to 3600 seconds, got 0.5"),
        ({"time": 0.2, "nets": "bundled"}, "time is 0.3 to 3600 seconds, got 0.2"),
        ({"time": float("nan")}, r"time is 1 \(with nets 0.3\) to 3600 seconds, got nan"),
        ({"threads": -1}, "threads must be at least 1"),
        ({"threads": 10**9}, "threads are 1 to 1,024, or 0 for all processors, got 1000000000"),
        ({"estimate": 1.0}, "estimate is a probability"),
        ({"purge": -0.1}, "purge is a probability"),
        ({"cards": "none"}, "cards is flop-500 or blueprint"),
        ({"last_boards": 0}, "last_boards must be 1..16"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        TableConfig(**options)
