"""A player's clock: the limit of an answer, and that of a hand."""

import pytest

from plurispiel.tournaments.deal import clocks


def test_answers_share_the_time_of_a_hand(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(clocks.time, "monotonic", lambda: now[0])
    clock = clocks.PlayerClock(5.0, 12.0)
    given = []

    def answer(seconds):
        with clock.running() as left:
            given.append(left)
            now[0] += seconds

    for _ in range(2):
        clock.begin_hand()
        for seconds in (4.0, 5.0, 3.5, 1.0):
            answer(seconds)
            now[0] += 50.0  # others think
    assert given == [5.0, 5.0, 3.0, 0.0] * 2
    with pytest.raises(RuntimeError), clock.running():
        raise RuntimeError("the time of an answer that fails counts, too")
