"""What a cluster makes of the outcomes of workers; without a scheduler."""

import random
from concurrent.futures import Future
from pathlib import Path

import pytest
from toy_work import Reads

pytest.importorskip("distributed")
cluster = pytest.importorskip("plurispiel.tournaments.labour.cluster")

from plurispiel.tournaments.labour.travel import Homecoming  # noqa: E402
from plurispiel.tournaments.labour.work import Done, Overdue, WorkerFailed  # noqa: E402
from plurispiel.tournaments.labour.workshop import Delivery  # noqa: E402


class Outcomes:
    """An executor with prepared outcomes: deliveries, and exceptions to raise."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)

    def submit(self, do, *arguments, **where):
        future = Future()
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
        return future


def delivery(worker, text="right", error=None):
    results = [] if error else [Homecoming(text, {"bot.log": b"hello"})]
    return Delivery(Done(results, error, 0.1), worker, f"tls://{worker}:1")


@pytest.fixture
def connected():
    """Make a cluster of two workers whose outcomes are given."""

    def connect(*outcomes, checks=False, logs=None):
        found = cluster.Cluster.__new__(cluster.Cluster)
        found.path = Path("c.json")
        found.said = []
        found._say = found.said.append
        found._draw, found._share, found._checked = random.Random(0), float(checks), 0
        found._work = Reads(Path("words"))
        if logs:
            object.__setattr__(found._work, "logs", logs)
        found._open, found._threads = {}, {"tls://a:1": 1, "tls://b:1": 1}
        found._present = lambda: found._threads
        found._executor = Outcomes(*outcomes)
        return found

    return connect


def test_logs_that_cannot_be_written_end_the_run(connected, tmp_path):
    (tmp_path / "logs").write_text("no folder")
    for outcomes, checks in (([delivery("a")], False), ([delivery("a"), delivery("b")], True)):
        task = connected(*outcomes, checks=checks, logs=tmp_path / "logs").submit(None, "packed", [1])
        with pytest.raises(OSError, match="logs"):
            task.result(timeout=5.0)


def test_a_check_that_fails_accuses_no_machine(connected):
    for error in (OSError("no space left"), WorkerFailed("a worker failed")):
        found = connected(delivery("a"), delivery("b", error=error), checks=True)
        assert found.submit(None, "packed", [1]).result(timeout=5.0).results == ["right"]
        assert found.said == [f"jobs could not be checked on b: {error}"] and not found._checked
    found = connected(delivery("a"), delivery("b"), checks=True)
    assert found.submit(None, "packed", [1]).result(timeout=5.0).results == ["right"] and found._checked == 1
    found = connected(delivery("a"), delivery("b", "wrong"), checks=True)
    with pytest.raises(cluster.MachinesDisagree, match="different results"):
        found.submit(None, "packed", [1]).result(timeout=5.0)


def test_one_worker_that_cannot_begin_does_not_end_the_run(connected):
    begun, died = Delivery(Done([], None, 0.1), "b", "tls://b:1"), WorkerFailed("a worker process died")
    connected(died, begun)._prepare("packed")
    connected(begun, died)._prepare("packed")
    with pytest.raises(WorkerFailed, match="died"):
        connected(died, died)._prepare("packed")
    with pytest.raises(ValueError, match="no such file"):
        connected(begun, delivery("a", error=ValueError("no such file")))._prepare("packed")


def test_jobs_that_always_take_too_long_end_the_run_with_advice(connected):
    late = [delivery("a", error=Overdue("1 job took 99 s and more")) for _ in range(4)]
    found = connected(*late)
    with pytest.raises(WorkerFailed, match="1 job took 99 s .* run the same command again to resume"):
        found.submit(None, "packed", [1]).result(timeout=5.0)
    assert len(found.said) == 3
