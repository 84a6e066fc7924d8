"""The lock of a run folder, beside those who only look at the folder."""

import contextlib
import os
import types

import pytest

from plurispiel.tournaments.run import folder_lock
from plurispiel.tournaments.run.folder_lock import is_locked, lock_folder, locked, unlock_folder

fcntl = pytest.importorskip("fcntl")


def test_a_look_at_the_folder_does_not_keep_a_run_from_starting(tmp_path, monkeypatch):
    look = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(look, fcntl.LOCK_SH)  # as `is_locked`; it ends while `lock_folder` pauses
    clock = types.SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda seconds: os.close(look))
    monkeypatch.setattr(folder_lock, "time", clock)
    handle = lock_folder(tmp_path)
    monkeypatch.undo()
    assert is_locked(tmp_path)
    with pytest.raises(BlockingIOError):
        lock_folder(tmp_path)
    unlock_folder(handle)
    assert not is_locked(tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes on this system")
def test_a_copy_of_the_process_does_not_hold_the_lock(tmp_path):
    """Else a worker that is still playing would keep a folder locked whose run was killed."""
    handle = lock_folder(tmp_path)
    if handle is None:
        pytest.skip("no locks in this folder")
    copy = os.fork()
    if copy == 0:
        try:
            os.fstat(handle)
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
    assert is_locked(tmp_path)
    unlock_folder(handle)
    assert not is_locked(tmp_path)


def test_a_locked_folder_is_made_and_removed_if_it_stays_empty(tmp_path):
    folder = tmp_path / "new" / "folder"
    with locked(folder):
        assert is_locked(folder)
        with pytest.raises(ValueError, match="another process writes .*folder; wait for it, or end it"), locked(folder):
            pass
        with pytest.raises(ValueError, match="another process writes x;"), locked(folder, "x"):
            pass
        assert folder.exists()
    assert not folder.exists()
    with locked(folder):
        (folder / "kept").touch()
    assert folder.exists() and not is_locked(folder)
    for below, reason in (("kept", "File exists"), ("kept/x", "Not a directory")):
        message = f"cannot use the folder .*{below}: {reason}; give another folder"
        with pytest.raises(ValueError, match=message), locked(folder / below):
            pass


@pytest.mark.parametrize(("module", "name"), [(os, "open"), (fcntl, "flock")])
def test_a_folder_that_the_process_before_has_removed_is_locked_anew(tmp_path, monkeypatch, module, name):
    """Whether it is removed before it is opened, or between opening and locking it."""
    folder, call, removed = tmp_path / "folder", getattr(module, name), []

    def late(*arguments):
        if not removed:
            folder.rmdir()
            removed.append(folder)
        return call(*arguments)

    monkeypatch.setattr(module, name, late)
    with locked(folder):
        monkeypatch.undo()
        assert removed and is_locked(folder)
    assert not folder.exists()


def test_the_folder_of_another_process_is_not_removed(tmp_path):
    """A training run removes its folder before the end, and a second run may make and lock it anew by then."""
    folder = tmp_path / "folder"
    with contextlib.ExitStack() as second:
        with locked(folder):
            folder.rmdir()
            second.enter_context(locked(folder))
        assert is_locked(folder)
    assert not folder.exists()
