"""Jobs that are handed out and joined: order, errors, and how many are taken at a time."""

import contextlib
import itertools
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from toy_work import Squares

from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import as_done, in_order, tasks_in_order
from plurispiel.tournaments.labour.team import Team
from plurispiel.tournaments.labour.work import Alone, Borrowed, WorkerFailed, do

pytestmark = pytest.mark.xdist_group("processes")

SQUARES = [(number, number * number) for number in range(60)]


@contextlib.contextmanager
def labour_of(kind):
    if kind == "alone":
        with Alone() as alone:
            yield alone
    elif kind == "team":
        with Team(2) as team:
            yield team
    else:
        pool = ThreadPoolExecutor if kind == "threads" else ProcessPoolExecutor
        with pool(2) as executor:
            yield Borrowed(executor, 2)


@pytest.mark.parametrize("kind", ["alone", "team", "pool"])
def test_results_come_in_the_order_of_the_jobs(kind):
    with labour_of(kind) as labour:
        assert list(in_order(labour, Squares(0.002), range(60))) == SQUARES


def test_the_results_of_a_task_come_together():
    with Team(2) as team:
        tasks = list(tasks_in_order(team, Squares(0.002), range(60)))
    assert list(itertools.chain(*tasks)) == SQUARES
    assert all(tasks) and len(tasks) < 60


@pytest.mark.parametrize("kind", ["alone", "team", "pool"])
def test_each_job_is_done_once_in_any_order(kind):
    with labour_of(kind) as labour:
        assert sorted(as_done(labour, Squares(0.002), range(60))) == SQUARES


@pytest.mark.parametrize("kind", ["alone", "team", "pool"])
def test_an_error_comes_after_the_results_of_all_jobs_before_it(kind):
    with labour_of(kind) as labour, contextlib.closing(in_order(labour, Squares(fails_at=40), range(60))) as results:
        assert list(itertools.islice(results, 40)) == SQUARES[:40]
        with pytest.raises(ValueError, match="^no square of 40$"):
            next(results)


def test_one_work_after_another_is_done_by_the_same_processes():
    with Team(2) as team:
        pids = team.pids
        with pytest.raises(ValueError, match="no square of 3"):
            list(in_order(team, Squares(fails_at=3), range(60)))
        assert list(in_order(team, Squares(), range(60))) == SQUARES
        assert team.pids == pids


def test_a_work_that_rested_begins_again_with_its_next_jobs(monkeypatch):
    monkeypatch.setattr("plurispiel.tournaments.labour.team._IDLE_S", 0.01)
    with Team(1) as team:
        packed = team.engage(Squares())
        for number in range(3):
            assert team.submit(do, packed, [number]).result().results == [number**2]
            time.sleep(0.1)


def test_a_work_that_cannot_begin_is_told_before_any_job():
    jobs = iter(range(60))
    for labour in (Alone(), Team(2)):
        with labour, pytest.raises(ValueError, match="^an agent is missing$"):
            in_order(labour, Squares(cannot_begin="an agent is missing"), jobs)
    assert next(jobs) == 0


def test_the_death_of_a_worker_ends_the_work_in_one_line():
    with Team(2) as team:
        with pytest.raises(WorkerFailed, match=r"a worker process died \(exit code 3\); run the same command again"):
            list(in_order(team, Squares(dies_at=30), range(60)))
        with pytest.raises(OSError):
            list(in_order(team, Squares(), range(60)))


def test_this_process_takes_a_job_when_the_one_before_is_used():
    jobs = iter(range(60))
    with Alone() as alone, contextlib.closing(in_order(alone, Squares(), jobs)) as results:
        for number in range(10):
            assert next(results) == SQUARES[number]
        assert next(jobs) == 10


def test_few_jobs_are_taken_ahead_of_the_oldest_unfinished_one():
    taken = []
    jobs = (taken.append(number) or number for number in itertools.count())
    with Team(2) as team, contextlib.closing(in_order(team, Squares(0.02), jobs)) as results:
        next(results)
        assert len(taken) <= 2 * 2 + 1


def test_short_jobs_are_joined_and_long_ones_are_not():
    def sizes(seconds):
        found = []

        class Watched(Borrowed):
            least_seconds = 0.05

            def submit(self, do, /, packed, jobs):
                found.append(len(jobs))
                return super().submit(do, packed, jobs)

        with ThreadPoolExecutor(1) as executor:
            assert len(list(in_order(Watched(executor, 1), Squares(seconds), [0] * 40))) == 40
        return found

    assert max(sizes(0.0)) > 4
    assert max(sizes(0.06)) == 1


def test_one_worker_is_this_process():
    assert isinstance(local_labour(1), Alone)
    with local_labour(2) as team:
        assert team.slots == 2
