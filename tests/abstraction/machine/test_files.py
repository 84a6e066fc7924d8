import os

import pytest

from plurispiel.abstraction.machine.files import require_writable, write_atomically, writing_atomically


def test_files_are_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    write_atomically(path, "old")
    assert write_atomically(path, "ä\n") == path
    assert path.read_bytes() == "ä\n".encode()

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text(encoding="utf-8") == "ä\n"
    assert os.listdir(tmp_path) == ["results.json"]


def test_a_stream_becomes_the_file_at_the_end(tmp_path):
    path = tmp_path / "hands.phhs"
    with writing_atomically(path, mode=0o600) as stream:
        stream.write("all")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "all"
    assert os.name == "nt" or path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "it is no plain file; try again"),
        ("missing/kept.json", "No such file or directory; try again"),
        ("kept.json/kept.json", "Not a directory; try again"),
        ("x" * 300, "File name too long; try again"),
    ],
)
def test_files_that_cannot_be_written_are_refused(tmp_path, name, message):
    (tmp_path / "kept.json").write_text("old")
    require_writable(tmp_path / "kept.json")
    require_writable(tmp_path / "new.json")
    with pytest.raises(ValueError, match=f"^cannot write .*: {message}$"):
        require_writable(tmp_path / name, "try again")
    assert os.listdir(tmp_path) == ["kept.json"] and (tmp_path / "kept.json").read_text() == "old"


def test_files_of_another_kind_are_not_replaced(tmp_path):
    path, begins = tmp_path / "page.html", (b"<!DOCTYPE", b"[1]")
    for content in (None, b"", b"<!DOCTYPE html>", b"[1]\na = 1"):
        if content is not None:
            path.write_bytes(content)
        require_writable(path, "try again", begins)
    for content in (b"[", b"import os", b"\xff\x00"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"page.html: the file is of another kind, and would be lost; try again$"):
            require_writable(path, "try again", begins)
