"""How worker processes start; `test_runner` shows that they change no result."""

import sys
import threading

import pytest

from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.tournaments.run import workers
from plurispiel.tournaments.run.block_player import Conduct, Job
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import make_blocks

CONFIG = TournamentConfig(agents=("call", "random"), decks=24, referee="none")


def played(config=CONFIG):
    """Return the chips of every group, and the start methods of the workers that played them."""
    team = workers.Team(config, Conduct(workers=2), Streams(config.seats, Seeded(config.public_seed)))
    try:
        methods = {type(worker.process).__name__ for worker in team._workers}
        jobs = (Job(block, frozenset()) for block in make_blocks(config, 1, ()))
        chips = [chips for _, result in team.play(jobs) for chips in result.rows["chips"][::2].tolist()]
    finally:
        team.close()
    return chips, methods


@pytest.fixture
def single_thread(monkeypatch):
    """Count the threads that tests start: a worker of pytest-xdist has one more, which waits for messages."""
    already, count = threading.active_count() - 1, threading.active_count
    monkeypatch.setattr(threading, "active_count", lambda: count() - already)


@pytest.mark.skipif(sys.platform != "linux", reason="copies on Linux only")
def test_workers_are_copies_unless_another_thread_runs(single_thread):
    """A lock that the other thread holds would stay locked in a copy."""
    chips, methods = played()
    assert methods == {"ForkProcess"} and len(chips) == 24 and len(set(chips)) > 1
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        others, methods = played()
    finally:
        end.set()
        thread.join()
    assert methods == {"SpawnProcess"}
    assert others == chips


@pytest.mark.skipif(sys.platform != "linux", reason="copies on Linux only")
def test_a_worker_ends_when_its_own_pipe_closes(single_thread):
    """A worker that was copied later has no open copy of this pipe."""
    team = workers.Team(CONFIG, Conduct(workers=3), Streams(CONFIG.seats, Seeded(CONFIG.public_seed)))
    try:
        first, *others = team._workers
        first.pipe.close()
        first.process.join(timeout=5.0)
        assert first.process.exitcode == 0
        assert all(worker.process.is_alive() for worker in others)
    finally:
        team.close()
