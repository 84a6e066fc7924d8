"""The child processes of a worker, without a cluster around them."""

import contextlib
import os
import signal
import time

import pytest
from toy_work import Reads

from plurispiel.tournaments.labour.parcels import make_parcel, pieces
from plurispiel.tournaments.labour.travel import PostedWork
from plurispiel.tournaments.labour.work import Overdue, WorkerFailed, pack

pytest.importorskip("distributed")
workshop = pytest.importorskip("plurispiel.tournaments.labour.workshop")

pytestmark = pytest.mark.xdist_group("processes")


class Scheduler:
    """Answers what a workshop asks."""

    def __init__(self, files=()):
        self.files = {make_parcel(path).files[0][2]: path for path in files}
        self.slowest = 0.0
        self.sent = []

    def __call__(self, request, digest, **arguments):
        if request == "piece":
            self.sent.append(self.files[digest].name)
            return next(pieces(self.files[digest]))
        assert request == "slowest"
        self.slowest = max(self.slowest, arguments["seconds"])
        return self.slowest


@pytest.fixture
def read(tmp_path, monkeypatch):
    """A work that reads a file of the run's machine, as it travels."""
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "there" / "words.txt"
    path.parent.mkdir()
    path.write_text("some words")
    return path, pack(PostedWork(Reads(path), {str(path): make_parcel(path)}))


@contextlib.contextmanager
def shop(tmp_path, slots=1, artefacts=None):
    with contextlib.closing(workshop.Workshop(slots, tmp_path / "c.json", artefacts)) as found:
        yield found


def results(done):
    return [each.result for each in done.results]


def test_a_file_is_fetched_once_or_taken_from_a_shared_folder(tmp_path, read):
    path, packed = read
    ask = Scheduler([path])
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / path.name).write_text("other words")
    with shop(tmp_path, artefacts=shared) as found:
        assert found.prepare(packed, ask).error is None
        assert results(found.deliver(packed, ["", ""], 1.0, ask)) == ["some words"] * 2
    assert ask.sent == [path.name]
    (shared / path.name).write_text("some words")
    with shop(tmp_path, artefacts=shared) as found:
        path.unlink()
        assert results(found.deliver(packed, [""], 1.0, Scheduler())) == ["some words"]


def test_a_child_that_dies_is_replaced_and_costs_no_other(tmp_path, read):
    path, packed = read
    ask = Scheduler([path])
    with shop(tmp_path, slots=2) as found:
        before = set(found._team.pids)
        with pytest.raises(WorkerFailed, match="a worker process died"):
            found.deliver(packed, ["die"], 1.0, ask)
        assert results(found.deliver(packed, [""] * 8, 1.0, ask)) == ["some words"] * 8
        assert len(before & set(found._team.pids)) == 1 and len(set(found._team.pids)) == 2


@pytest.mark.parametrize("is_stopped", [False, True])
def test_jobs_that_hang_are_given_up_with_their_child(tmp_path, read, monkeypatch, is_stopped):
    path, packed = read
    monkeypatch.setattr(workshop, "_LOOK_S", 0.1)
    monkeypatch.setattr(workshop, "_LEAST_LIMIT_S", 0.5)
    ask = Scheduler([path])
    with shop(tmp_path) as found:
        assert results(found.deliver(packed, ["0.1"], 1.0, ask)) == ["some words"]
        assert 0.1 <= ask.slowest < 2.0
        (child,) = found._team.pids
        done = found.deliver(packed, ["stop" if is_stopped else "1000"], 1.0, ask)
        assert isinstance(done.error, Overdue) and "1 job took" in str(done.error)
        assert results(found.deliver(packed, [""], 1.0, ask)) == ["some words"]
        with pytest.raises(ProcessLookupError):
            os.kill(child, signal.SIGCONT)


def test_jobs_have_all_the_time_before_the_first_is_measured(tmp_path, read, monkeypatch):
    path, packed = read
    monkeypatch.setattr(workshop, "_LOOK_S", 0.05)
    monkeypatch.setattr(workshop, "_LEAST_LIMIT_S", 0.1)
    with shop(tmp_path) as found:
        begin = time.monotonic()
        assert results(found.deliver(packed, ["0.5"], 1.0, Scheduler([path]))) == ["some words"]
        assert time.monotonic() - begin >= 0.5


def test_an_entry_of_the_shared_folder_that_cannot_be_sent_is_no_obstacle(tmp_path, read, monkeypatch):
    path, packed = read
    ask, shared = Scheduler([path]), tmp_path / "shared"
    shared.mkdir()
    (shared / path.name).write_text("many other words")
    monkeypatch.setattr("plurispiel.tournaments.labour.parcels.MAX_BYTES", 10)
    with shop(tmp_path, artefacts=shared) as found:
        assert results(found.deliver(packed, [""], 1.0, ask)) == ["some words"]


def test_jobs_of_a_lost_scheduler_are_given_up(tmp_path, read, monkeypatch):
    path, packed = read
    monkeypatch.setattr(workshop, "_LOOK_S", 0.1)
    ask = Scheduler([path])

    def lost(request, **arguments):
        raise RuntimeError("IOLoop is closed")

    with shop(tmp_path) as found:
        assert results(found.deliver(packed, [""], 1.0, ask)) == ["some words"]
        with pytest.raises(RuntimeError, match="closed"):
            found.deliver(packed, ["1000"], 1.0, lost)
        (child,) = found._team._workers
        limit = time.monotonic() + 60.0
        while child in found._team._workers:
            assert time.monotonic() < limit
            time.sleep(0.01)
        assert child.process.exitcode
        assert results(found.deliver(packed, [""], 1.0, ask)) == ["some words"]
