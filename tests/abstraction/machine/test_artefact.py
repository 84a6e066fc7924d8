"""Artefacts: what is written comes back, and whatever else a folder holds is refused in one line."""

import hashlib
import io
import json
import os
import shutil

import numpy as np
import pytest

from plurispiel.abstraction.machine import artefact
from plurispiel.abstraction.machine.artefact import (
    ArtefactRefused,
    check_once,
    load_artefact,
    stored_config,
    write_artefact,
)

KIND = "test table"
ARRAYS = {
    "regret": np.linspace(-1.0, 1.0, 1000),
    "buckets": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "count": np.array(7, dtype=np.int64),
    "nothing": np.zeros((0, 3), dtype=np.float32),
    "flags": np.array([True, False]),
}
CONFIG = {"size": 3, "shares": [0.5, 1.0], "name": "x"}


@pytest.fixture
def folder(tmp_path):
    write_artefact(tmp_path / "a" / "table", KIND, 2, ARRAYS, CONFIG, seed=5, source="abc")
    return tmp_path / "a" / "table"


def refused(folder, pattern, kind=KIND, version=2):
    with pytest.raises(ArtefactRefused, match=pattern) as raised:
        load_artefact(folder, kind, version)
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)


def digest_of(manifest):
    """Return the digest of a manifest, as the format defines it: that of its JSON, with its keys in order."""
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def edit(folder, change, *, sign=True):
    """Change the manifest; sign it again, as one who means harm would."""
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    if sign:
        manifest["digest"] = digest_of(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def replace_file(folder, name, content, **facts):
    """Put other bytes in a file, and tell the manifest."""
    (folder / name).write_bytes(content)

    def change(manifest):
        entry = manifest["files"].setdefault(name, {"dtype": "<f8", "shape": [1000]})
        entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} | facts

    edit(folder, change)


def saved(array, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def test_round_trip(folder):
    loaded = load_artefact(folder, KIND, 2)
    assert (loaded.config, loaded.seed, loaded.source) == (CONFIG, 5, "abc")
    assert loaded.arrays.keys() == ARRAYS.keys()
    for name, values in ARRAYS.items():
        assert loaded.arrays[name].dtype == values.dtype
        np.testing.assert_array_equal(loaded.arrays[name], values, strict=True)
    assert isinstance(loaded.arrays["regret"].base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        loaded.arrays["regret"][0] = 1.0
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["versions"].keys() == {"plurispiel", "numpy", "numba", "open_spiel"}
    assert manifest["digest"] == loaded.digest
    assert sorted(os.listdir(folder)) == sorted([*(f"{name}.npy" for name in ARRAYS), "manifest.json"])
    assert os.listdir(folder.parent) == ["table"]


def test_the_digest_is_that_of_the_content(folder, tmp_path):
    digest = load_artefact(folder, KIND, 2).digest
    assert write_artefact(tmp_path / "b", KIND, 2, ARRAYS, CONFIG, seed=5, source="abc") == digest
    assert write_artefact(tmp_path / "c", KIND, 2, ARRAYS, CONFIG, seed=6, source="abc") != digest
    other = ARRAYS | {"regret": np.nextafter(ARRAYS["regret"], 2.0)}
    assert write_artefact(tmp_path / "d", KIND, 2, other, CONFIG, seed=5, source="abc") != digest


def test_other_byte_orders_and_layouts(tmp_path):
    big = np.arange(6, dtype=">i4").reshape(2, 3)
    write_artefact(tmp_path / "t", KIND, 1, {"big": big, "turned": big.T}, {})
    loaded = load_artefact(tmp_path / "t", KIND, 1).arrays
    np.testing.assert_array_equal(loaded["big"], big)
    np.testing.assert_array_equal(loaded["turned"], big.T)
    assert loaded["turned"].flags.c_contiguous


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()]), np.zeros(2, dtype="i4,f8")])
def test_only_numbers_are_written(tmp_path, array):
    with pytest.raises(ValueError, match="booleans, integers or floats"):
        write_artefact(tmp_path / "t", KIND, 1, {"x": array}, {})
    with pytest.raises(ValueError, match="names like"):
        write_artefact(tmp_path / "t", KIND, 1, {"../x": np.zeros(1)}, {})
    assert not (tmp_path / "t").exists()


def test_replacing(folder):
    before = load_artefact(folder, KIND, 2)
    write_artefact(folder, KIND, 2, {"regret": np.ones(3)}, {})
    after = load_artefact(folder, KIND, 2)
    assert after.arrays.keys() == {"regret"}
    assert os.listdir(folder.parent) == ["table"]
    if os.name != "nt":
        np.testing.assert_array_equal(before.arrays["regret"], ARRAYS["regret"])  # a reader keeps what it mapped


def test_only_own_artefacts_are_replaced(folder, tmp_path):
    with pytest.raises(ArtefactRefused, match="holds a 'test table', not a other"):
        write_artefact(folder, "other", 1, {}, {})
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ArtefactRefused, match="also holds 'notes.txt'"):
        write_artefact(folder, KIND, 2, {}, {})
    mine = tmp_path / "mine"
    mine.mkdir()
    write_artefact(mine, KIND, 2, {}, {})  # an empty folder will do
    shutil.rmtree(mine)
    mine.mkdir()
    (mine / "thesis.txt").write_text("")
    with pytest.raises(ArtefactRefused, match="holds no test table"):
        write_artefact(mine, KIND, 2, {}, {})
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtefactRefused, match="no folder"):
        write_artefact(tmp_path / "file", KIND, 2, {}, {})
    assert load_artefact(folder, KIND, 2).arrays.keys() == ARRAYS.keys()


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_a_writer_killed_at_any_step_leaves_the_old_or_the_new(folder, monkeypatch, step):
    """Also one that cannot clean up behind itself."""

    class Killed(BaseException):
        pass

    def killing(function, at):
        calls = iter(range(100))

        def wrapper(*arguments, **options):
            if next(calls) == at:
                raise Killed
            return function(*arguments, **options)

        return wrapper

    with monkeypatch.context() as patch:
        patch.setattr(artefact.shutil, "rmtree", lambda *_, **__: None)
        if step < 2:
            patch.setattr(artefact.os, "fsync", killing(os.fsync, step))
            expected = ARRAYS.keys()
        else:
            patch.setattr(artefact.os, "rename", killing(os.rename, step - 2))
            expected = ARRAYS.keys()
        patch.setattr(artefact, "_finish_replacement", lambda _: None)
        with pytest.raises(Killed):
            write_artefact(folder, KIND, 2, {"regret": np.ones(3)}, {})
    assert load_artefact(folder, KIND, 2).arrays.keys() == expected
    assert stored_config(folder, KIND) == load_artefact(folder, KIND, 2).config
    write_artefact(folder, KIND, 2, {"regret": np.ones(3)}, {})
    assert load_artefact(folder, KIND, 2).arrays.keys() == {"regret"}
    assert not (folder.parent / ".table.replaced").exists()


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(artefact.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_artefact(tmp_path / "t", KIND, 1, ARRAYS, {})
    assert os.listdir(tmp_path) == []


def test_missing(tmp_path):
    refused(tmp_path / "none", "there is no folder")
    (tmp_path / "file").touch()
    refused(tmp_path / "file", "file is no folder; give")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "holds no test table")


def test_other_kinds_and_formats(folder):
    refused(folder, "holds a 'test table', not a blueprint", kind="blueprint")
    refused(folder, "has format 2 of a test table, this plurispiel reads format 3; .*or use plurispiel '", version=3)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in ARRAYS), "manifest.json"])
def test_every_damaged_byte_is_noticed(folder, name):
    content = bytearray((folder / name).read_bytes())
    for position in sorted({0, 1, 7, 8, 9, len(content) // 2, len(content) - 1}):
        damaged = content.copy()
        damaged[position] ^= 1
        (folder / name).write_bytes(damaged)
        refused(folder, "is damaged|has format|is not an array")
    for length in (0, 1, len(content) // 2, len(content) - 1):
        (folder / name).write_bytes(content[:length])
        refused(folder, "bytes instead of|is damaged")
    (folder / name).write_bytes(bytes(content) + b"\0")
    refused(folder, "bytes instead of|is damaged")
    (folder / name).unlink()
    refused(folder, "cannot be read|holds no test table")


def test_changed_manifests_are_noticed(folder):
    edit(folder, lambda manifest: manifest["config"].update(size=4), sign=False)
    refused(folder, "is damaged")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("versions"),
        lambda m: m.update(extra=1),
        lambda m: m.update(files=[]),
        lambda m: m.update(format="2"),
        lambda m: m.update(format=True),
        lambda m: m.update(seed=1.5),
        lambda m: m.update(kind=["x"]),
        lambda m: m["files"]["regret.npy"].pop("sha256"),
        lambda m: m["files"]["regret.npy"].update(dtype="|O"),
        lambda m: m["files"]["regret.npy"].update(dtype="<U8"),
        lambda m: m["files"]["regret.npy"].update(dtype=["<f8"]),
        lambda m: m["files"]["regret.npy"].update(dtype="i4,f8"),
        lambda m: m["files"]["regret.npy"].update(shape=[-1000]),
        lambda m: m["files"]["regret.npy"].update(shape=[1e3]),
        lambda m: m["files"]["regret.npy"].update(shape="1000"),
        lambda m: m["files"]["regret.npy"].update(shape=[1] * 40),
        lambda m: m["files"]["regret.npy"].update(bytes="8128"),
        lambda m: m["files"].update({"../../regret.npy": m["files"]["regret.npy"]}),
        lambda m: m["files"].update({"/etc/passwd": m["files"]["regret.npy"]}),
        lambda m: m["files"].update({"a/b.npy": m["files"]["regret.npy"]}),
        lambda m: m["files"].update({"..npy": m["files"]["regret.npy"]}),
        lambda m: m["files"].update({"manifest.json": m["files"]["regret.npy"]}),
        lambda m: m["files"].update({"regret.npy\n": m["files"]["regret.npy"]}),
    ],
)
def test_hostile_manifests(folder, change):
    edit(folder, change)
    refused(folder, "manifest.json is damaged")


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", '{"kind": NaN}', "[" * 100_000, "1" * 10_000, '"\\ud800"', " " * (1 << 20) + "{}"]
)
def test_manifests_that_are_none(folder, text):
    (folder / "manifest.json").write_text(text)
    refused(folder, "manifest.json is damaged")


def signed(text):
    """Return a manifest of this text with the digest that fits it, as far as there is one."""
    return text.replace("DIGEST", digest_of(json.loads(text)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"size": 3', '"size": 3, "size": 3'),
        ('"size": 3', '"size": 1e999'),
        ('"size": 3', '"size": ' + "[" * 40 + "]" * 40),
        ('"size": 3', '"size": ' + '{"a": ' * 200 + "1" + "}" * 200),
        ('"seed": 5', '"seed": -Infinity'),
    ],
)
def test_manifests_that_are_signed_and_none_of_ours(folder, old, new):
    manifest = json.loads((folder / "manifest.json").read_text()) | {"digest": "DIGEST"}
    text = json.dumps(manifest)
    assert old in text
    (folder / "manifest.json").write_text(signed(text))
    load_artefact(folder, KIND, 2)
    (folder / "manifest.json").write_text(signed(text.replace(old, new)))
    refused(folder, "manifest.json is damaged")


@pytest.mark.parametrize(
    "header", [b"(" * 9000, b"-" * 9000 + b"1", b"{'descr': '|O', 'shape': ()}", b"", b"{" * 9, b"\xff" * 99]
)
def test_headers_that_are_none(folder, header):
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    replace_file(folder, "regret.npy", content)
    refused(folder, "is not an array of the dtype and shape in the manifest")


def test_an_empty_array_of_any_length(folder):
    content = saved(np.zeros((0, 3), np.float32)).replace(b"(0, 3)", b"(0, 9)")
    replace_file(folder, "nothing.npy", content, shape=[0, 9])
    assert load_artefact(folder, KIND, 2).arrays["nothing"].shape == (0, 9)
    replace_file(folder, "nothing.npy", content, shape=[0, 2**62])
    refused(folder, "manifest.json is damaged")


def test_what_passed_a_check_is_not_looked_at_again(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "cache"))
    seen = []

    def fails():
        raise ArtefactRefused("bad")

    loaded = load_artefact(folder, KIND, 2)
    for _ in range(2):
        with pytest.raises(ArtefactRefused, match="bad"):
            check_once(loaded, fails)
    for _ in range(2):
        check_once(loaded, lambda: seen.append(1))
    assert seen == [1]
    write_artefact(folder, KIND, 2, ARRAYS, CONFIG, seed=6)
    check_once(load_artefact(folder, KIND, 2), lambda: seen.append(2))
    assert seen == [1, 2]


def test_a_cache_that_cannot_be_written_costs_time_only(folder, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "file"))
    seen = []
    for _ in range(2):
        check_once(load_artefact(folder, KIND, 2), lambda: seen.append(1))
    assert seen == [1, 1]


def test_bytes_that_are_no_text(folder):
    (folder / "manifest.json").write_bytes(b"\xff\xfe{}")
    refused(folder, "manifest.json is damaged")


def test_files_that_are_not_what_the_manifest_says(folder):
    replace_file(folder, "regret.npy", saved(np.array([{"a": 1}], dtype=object), allow_pickle=True))
    refused(folder, "regret.npy is not an array of the dtype and shape in the manifest")
    replace_file(folder, "regret.npy", saved(np.zeros(1000, dtype=np.float32)))
    refused(folder, "is not an array")
    replace_file(folder, "regret.npy", saved(np.zeros((10, 100)).T), shape=[100, 10])
    refused(folder, "is not an array")
    replace_file(folder, "regret.npy", saved(np.zeros(1000), version=(2, 0)), shape=[1000])
    refused(folder, "is not an array")
    replace_file(folder, "regret.npy", b"cos\nsystem\n(S'true'\ntR.")
    refused(folder, "is not an array")
    replace_file(folder, "regret.npy", saved(np.zeros(1000)))
    assert load_artefact(folder, KIND, 2).arrays["regret"].sum() == 0.0


def test_shapes_larger_than_their_file(folder):
    content = saved(np.zeros(1000))
    huge = content.replace(b"'shape': (1000,), }" + b" " * 12, b"'shape': (1000000000000000,), }"[:31])
    assert huge != content
    replace_file(folder, "regret.npy", huge, shape=[1_000_000_000_000_000])
    refused(folder, "is not an array")


@pytest.mark.skipif(os.name == "nt", reason="links and pipes")
def test_links_and_pipes(folder, tmp_path):
    outside = tmp_path / "outside.npy"
    shutil.copy(folder / "regret.npy", outside)
    (folder / "regret.npy").unlink()
    (folder / "regret.npy").symlink_to(outside)
    refused(folder, "regret.npy is a link")
    (folder / "regret.npy").unlink()
    os.mkfifo(folder / "regret.npy")
    refused(folder, "regret.npy is not a plain file")
    (folder / "regret.npy").unlink()
    (folder / "regret.npy").mkdir()
    refused(folder, "regret.npy (cannot be read|is not a plain file)")
    shutil.rmtree(folder / "regret.npy")
    shutil.copy(outside, folder / "regret.npy")
    load_artefact(folder, KIND, 2)
    (tmp_path / "link").symlink_to(folder)  # the folder itself may be given by another name
    load_artefact(tmp_path / "link", KIND, 2)
    write_artefact(tmp_path / "link", KIND, 2, {"regret": np.ones(3)}, {})
    assert load_artefact(folder, KIND, 2).arrays["regret"].tolist() == [1.0] * 3
