import os
import time

import pytest

from plurispiel.abstraction.machine.threads import num_processors, run_chunks


class Progress:
    """Counts as a progress bar does."""

    n = 0

    def update(self, steps):
        self.n += steps


@pytest.mark.parametrize(("total", "threads"), [(0, 1), (5, 1), (5, 4), (100, 1), (101, 3)])
def test_every_number_is_worked_on_once(total, threads):
    done, workers, progress = [], [], Progress()

    def make_worker():
        workers.append(None)
        return lambda part: done.extend(range(part.start, part.stop))

    run_chunks(make_worker, total, chunk=7, threads=threads, progress=progress)
    assert sorted(done) == list(range(total)) and progress.n == total
    assert len(workers) <= threads


def test_an_error_of_a_worker_ends_the_work():
    done = []

    def work(part):
        if part.start == 10:
            raise ZeroDivisionError
        time.sleep(0.001)
        done.append(part.start)

    with pytest.raises(ZeroDivisionError):
        run_chunks(lambda: work, 20_000, chunk=10, threads=2)
    assert len(done) < 1_000


def test_at_least_one_processor():
    assert 1 <= num_processors() <= os.cpu_count()
