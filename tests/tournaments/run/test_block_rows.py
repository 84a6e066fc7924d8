"""The rows of a block: what is packed is what is read, in an order of its own."""

import numpy as np

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.tournaments.run.block_rows import Played, Remark, pack_rows, row_type, unpack_rows
from plurispiel.tournaments.run.config import TournamentConfig


def score(config, rng, faults=0, **fields):
    """A score of a group, with numbers at random."""
    sums = 3 if config.uses_aivat else 1
    aivat = {"true_chance": 0.1, "calibration": rng.normal(size=10).tobytes()} if config.uses_aivat else {}
    return AgentScore(
        hands=config.seats,
        chips=float(rng.normal()),
        chips_squared=float(rng.random()),
        faults=faults,
        play=rng.integers(256, size=config.seats * len(COUNTERS), dtype=np.uint8).tobytes(),
        seat_sums=rng.normal(size=(config.seats, sums)).tobytes(),
        answers=7,
        answer_seconds=0.5,
        slowest_answer=0.25,
        **aivat | fields,
    )


def test_what_is_packed_is_what_is_read():
    rng = np.random.default_rng(1)
    for settings in ({"seats": 2, "score": "duplicate"}, {"seats": 3, "score": "aivat"}):
        config = TournamentConfig(agents=("call", "fold", "tag"), **settings)
        full = {"imaginary_hands": 1 / 3, "own_actions": float("inf"), "table_sum": -1e100} if config.uses_aivat else {}
        late = {"faults": 2, "first_fault": "\0 ä", "fault_kinds": "timeout timeout", "refused": "no"}
        groups = [
            {2: score(config, rng, **full), 0: score(config, rng)},
            {2: score(config, rng), 0: score(config, rng, **late)},
        ]
        rows, remarks = pack_rows(config, 1, 5, groups)
        assert rows.dtype == row_type(config) and rows["agent"].tolist() == [0, 2, 0, 2]
        assert remarks == [Remark(1, 6, 0, "\0 ä", "timeout timeout", "no")]
        crossed = np.frombuffer(rows.tobytes(), row_type(config))
        read = list(unpack_rows(crossed, remarks))
        assert [key for *key, _ in read] == [[1, 5, 0], [1, 5, 2], [1, 6, 0], [1, 6, 2]]
        for _, deck, agent, found in read:
            want = groups[deck - 5][agent]
            assert found == want and found.slowest_answer == 0.25 and isinstance(found.chips, float)


def test_the_groups_after_a_deck_are_left_out():
    rng = np.random.default_rng(2)
    config = TournamentConfig(agents=("call", "fold"), score="raw")
    groups = [{0: score(config, rng, first_fault="late"), 1: score(config, rng)}] * 3
    played = Played(*pack_rows(config, 0, 8, groups), {8: b"a", 10: b"b"}, {9: b"c"}, {(0, "starts"): 1})
    first = played.until(9)
    assert first.rows["deck"].tolist() == [8, 8, 9, 9] and [remark.deck for remark in first.remarks] == [8, 9]
    assert (first.hands, first.stories, first.events) == ({8: b"a"}, {9: b"c"}, {(0, "starts"): 1})
