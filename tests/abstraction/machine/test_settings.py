"""Settings files: what is read, and what is refused in one line."""

import os
from pathlib import Path

import pytest

from plurispiel.abstraction.machine.settings import MAX_DEPTH, read_settings, require_name


def nested(depth):
    return b"x = " + b"[" * depth + b"]" * depth


def test_settings_are_read_as_utf_8(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes('name = "Jürgen"\r\n[flop]\nsizes = [1, 2.5]\n'.encode())
    assert read_settings(path) == {"name": "Jürgen", "flop": {"sizes": [1, 2.5]}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"decks = ", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML: 'utf-8'"),
        (nested(5000), "not valid TOML: nested too deeply"),
        (b"{ a = " * 5000, "not valid TOML"),
        (nested(MAX_DEPTH), f"nested more than {MAX_DEPTH} deep"),
        (b".".join([b"a"] * 2000) + b" = 1", f"nested more than {MAX_DEPTH} deep"),
        (b"x = " + b"1" * 5000, "not valid TOML"),
        (b"#" * (1 << 20) + b"#", "at most 1,048,576 bytes"),
    ],
)
def test_what_is_no_settings_is_refused(tmp_path, content, message):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        read_settings(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def test_as_deep_as_allowed(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(nested(MAX_DEPTH - 1))
    assert "x" in read_settings(path)


def test_what_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ValueError, match=f"cannot read {path}: "):
            read_settings(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs an endless file")
def test_an_endless_file_is_refused():
    with pytest.raises(ValueError, match="at most"):
        read_settings(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["pluribus", "my table 2", "ä", "a.b-c_d"])
def test_names_of_folders(name):
    require_name(name)


@pytest.mark.parametrize(
    "name", ["", "..", ".hidden", "a/b", "/etc", "a\\b", "a\nb", "\x1b[31m", "x" * 101, 3, None, ["x"]]
)
def test_what_names_no_folder(name):
    with pytest.raises(ValueError, match="name") as raised:
        require_name(name)
    assert str(raised.value).isprintable()
