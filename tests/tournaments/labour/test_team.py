"""How worker processes start; `test_runner` shows that they change no result."""

import sys
import threading

import pytest
from toy_work import Squares

from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.tournaments.labour.ordered import in_order
from plurispiel.tournaments.labour.team import Team
from plurispiel.tournaments.labour.work import WorkerFailed, do, pack
from plurispiel.tournaments.run.block_player import Conduct, Job
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import make_blocks
from plurispiel.tournaments.run.tournament_work import TournamentWork

CONFIG = TournamentConfig(agents=("call", "random"), game="leduc_poker", decks=24, referee="none")


def played(config=CONFIG):
    """Return the chips of every group, and the start method of the worker that played them."""
    work = TournamentWork(config, Conduct(), Streams(config.seats, Seeded(config.public_seed)))
    team = Team(1)
    try:
        methods = {type(worker.process).__name__ for worker in team._workers}
        jobs = (Job(block, frozenset()) for block in make_blocks(config, 1, ()))
        rows = [work.unpacked(block).rows for _, block in in_order(team, work, jobs)]
        chips = [chips for each in rows for chips in each["chips"][::2].tolist()]
    finally:
        team.shutdown()
    return chips, methods


@pytest.fixture
def single_thread(monkeypatch):
    """Count the threads that tests start: a worker of pytest-xdist has one more, which waits for messages."""
    if "torch" in sys.modules:
        pytest.skip("an earlier test of this worker loaded PyTorch, with which no process is copied")
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
    team = Team(3)
    try:
        first, *others = team._workers
        first.pipe.close()
        first.process.join(timeout=5.0)
        assert first.process.exitcode == 0
        assert all(worker.process.is_alive() for worker in others)
    finally:
        team.shutdown()


def test_a_process_that_cannot_be_replaced_fails_its_tasks(monkeypatch):
    team = Team(1, replaces=True)

    def refuse(others):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("plurispiel.tournaments.labour.team._WorkerProcess", refuse)
    try:
        task = team.submit(do, pack(Squares(dies_at=3)), [3])
        with pytest.raises(WorkerFailed, match="a worker process died"):
            task.result(timeout=60.0)
        team._thread.join(timeout=10.0)
        with pytest.raises(WorkerFailed, match="no other can start: no more processes"):
            team.submit(do, pack(Squares()), [1]).result(timeout=10.0)
    finally:
        team.shutdown()


def test_jobs_given_up_in_the_queue_are_not_done():
    team = Team(1, replaces=True)
    try:
        tasks = [team.submit(do, pack(Squares(seconds=0.5)), [2]) for _ in range(3)]
        team.give_up(tasks[2])
        assert tasks[0].result(timeout=60.0).results == tasks[1].result(timeout=60.0).results == [4]
        assert tasks[2].cancelled()
    finally:
        team.shutdown()
