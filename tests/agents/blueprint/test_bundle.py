"""Packed blueprints: the same strategy in a small file, and nothing believed that was not compared."""

import dataclasses
import hashlib
import itertools
import json
import os
import shutil
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.blueprint.blueprint import load_blueprint
from plurispiel.agents.blueprint.bundle import (
    _round,
    num_levels,
    pack_blueprint,
    packed_facts,
    unpack_blueprint,
    unpacked_folder,
)
from plurispiel.agents.blueprint.cards import table_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, MenuConfig
from plurispiel.agents.blueprint.match import reach_rows
from plurispiel.agents.factory import game_note

pytestmark = [
    pytest.mark.xdist_group("buckets"),
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
]

MENU = MenuConfig(("1p allin", "allin"), flop=("1p",), multiway={"flop": ("",)}, callers={"preflop": (1, 0)})
CONFIG = BlueprintConfig("small", 10, seats=3, stack_bb=20, menu=MENU, cards="smallest")


def enter_home(patch, folder, bucket_table_folder):
    """Make a folder the user's, with a link to the bucket table."""
    patch.setenv("PLURISPIEL_HOME", str(folder / "home"))
    patch.setenv("PLURISPIEL_CACHE", str(folder / "cache"))
    tables = folder / "home" / "abstractions"
    tables.mkdir(parents=True)
    os.symlink(bucket_table_folder, tables / "smallest")


@pytest.fixture(scope="module")
def made(tmp_path_factory, bucket_table_folder):
    """A folder with a blueprint, ``kept``, and the same packed, ``small.blueprint``, which no test changes."""
    folder, rules = tmp_path_factory.mktemp("made"), CONFIG.rules
    with pytest.MonkeyPatch.context() as patch:
        enter_home(patch, folder, bucket_table_folder)
        found = random_blueprint(rules, CONFIG.game_menu, cards=table_buckets(rules, load_table(bucket_table_folder)))
        dataclasses.replace(found, config=CONFIG, training={"iterations": 10}).save(folder / "kept")
        pack_blueprint(folder / "kept", folder / "small.blueprint", num_decks=0)
    return folder


@pytest.fixture
def kept(made, tmp_path, monkeypatch, bucket_table_folder):
    enter_home(monkeypatch, tmp_path, bucket_table_folder)
    return made / "kept"


@pytest.fixture
def packed(made, kept, tmp_path):
    return Path(shutil.copy(made / "small.blueprint", tmp_path))


@pytest.mark.slow
def test_a_packed_blueprint_is_the_same_to_a_level(kept, packed, tmp_path):
    path, hidden = tmp_path / "again.blueprint", tmp_path / ".again.blueprint"
    hidden.write_text("mine")
    report = pack_blueprint(kept, path, num_decks=0)
    assert hidden.read_text() == "mine" and len(list(tmp_path.glob(".again*"))) == 1
    assert report["bytes"] == path.stat().st_size and report["rows"] == report["rows_kept"]
    assert path.read_bytes() == packed.read_bytes()
    unpack_blueprint(path, tmp_path / "unpacked")
    before, after = load_blueprint(kept), load_blueprint(tmp_path / "unpacked")
    assert after.config == before.config and after.training.items() >= before.training.items()
    for street in range(4):
        for node in before.decisions(street)[:50].tolist():
            buckets = np.arange(before.cards.num_buckets[street])
            change = abs(after.strategy(node, buckets) - before.strategy(node, buckets))
            assert change.max() <= 1.1 / num_levels(street)
    folder = unpacked_folder(path)
    assert folder.parent == tmp_path / "cache" / "blueprints" and unpacked_folder(path) == folder
    assert np.array_equal(load_blueprint(folder).rows, after.rows)


def test_without_the_table_the_buckets_are_computed(packed, tmp_path):
    with_table = load_blueprint(unpacked_folder(packed))
    rules, spec = CONFIG.rules, f"search:{packed}"
    assert game_note(spec, rules) == ""
    (tmp_path / "home" / "abstractions" / "smallest").unlink()
    assert game_note(spec, rules).endswith("needs the bucket table smallest (plurispiel abstraction build smallest)")
    assert game_note(f"blueprint:{packed}", rules) == ""
    without = load_blueprint(unpacked_folder(packed))
    assert type(without.cards) is not type(with_table.cards)
    for board in ((), (3, 17, 40), (3, 17, 40, 50), (3, 17, 40, 50, 8)):
        street = max(len(board) - 2, 0)
        free = ~np.isin(with_table.rules.combos, board).any(axis=1)
        assert np.array_equal(with_table.cards.row(board, street)[free], without.cards.row(board, street)[free])


def test_buckets_on_flops_are_stored_and_those_that_the_model_computes(kept, tmp_path):
    (tmp_path / "home" / "abstractions" / "smallest").unlink()
    blueprint, rng = load_blueprint(kept), np.random.default_rng(1)
    computed = dataclasses.replace(blueprint.cards, flop_rows=None)
    for _ in range(20):
        board = tuple(rng.choice(52, 3, replace=False).tolist())
        free = ~np.isin(blueprint.rules.combos, board).any(axis=1)
        assert np.array_equal(blueprint.cards.row(board, 1)[free], computed.row(board, 1)[free])
    highest = np.full_like(blueprint.cards.flop_rows, 255)  # as a hostile file may hold
    hostile = dataclasses.replace(blueprint.cards, flop_rows=highest)
    assert hostile.row((3, 17, 40), 1).max() == blueprint.cards.num_buckets[1] - 1
    dataclasses.replace(blueprint, cards=dataclasses.replace(hostile, flop_rows=highest[1:])).save(tmp_path / "short")
    with pytest.raises(ArtefactRefused, match=r"its buckets on flops are uint8\[1754, 1326\], not \[1755, 1326\]"):
        load_blueprint(tmp_path / "short")


@pytest.mark.parametrize("least", [0, 2])
def test_what_play_does_not_reach_is_left_out_or_rounded(kept, tmp_path, least):
    path, counted = tmp_path / "small.blueprint", dict.fromkeys((3, 17, 51), 0)
    blueprint = load_blueprint(kept)
    reached = reach_rows(blueprint, 500)
    report = pack_blueprint(kept, path, num_decks=500, least=least)
    assert 0 < sum(report["rows_kept"]) <= sum(report["rows"])
    unpack_blueprint(path, tmp_path / "unpacked")
    after = load_blueprint(tmp_path / "unpacked")
    for street in range(4):
        for node in blueprint.decisions(street).tolist():
            buckets = np.arange(blueprint.cards.num_buckets[street])
            cells = int(blueprint.game.base[street]) + buckets * int(blueprint.game.pairs[street])
            visits, rows = reached[cells + int(blueprint.tree.row[node])], after.strategy(node, buckets)
            assert np.array_equal(rows.any(axis=1), visits >= least)
            for row, number in zip(rows[visits >= least], visits[visits >= least], strict=True):
                if street:
                    steps = 3 if number < 4 else 17 if number < 255 else 51
                    assert np.allclose(row * steps, np.rint(row * steps), atol=1e-9)
                    counted[steps] += 1
    assert (reached[: blueprint.game.pairs[0] * 169].reshape(169, -1)[:, 0] > 0).any()
    assert min(counted[3], counted[17]) > 3
    assert (sum(report["rows_kept"]) == sum(report["rows"])) == (least == 0)
    one, three = (reach_rows(blueprint, 250_001, threads=threads) for threads in (1, 3))
    assert np.array_equal(one, three) and (one == 255).any()
    for wrong in (-1, 256):  # counts end at 255: 256 would leave nothing
        with pytest.raises(ValueError, match=rf"0 to 255, where counts end, got {wrong}"):
            pack_blueprint(kept, tmp_path / "none.blueprint", least=wrong)
    assert not (tmp_path / "none.blueprint").exists()


def test_rounded_rows_are_the_nearest_that_sum_to_one():
    rng, counts, levels = np.random.default_rng(4), np.array([2, 5, 3, 1, 5]), 51
    starts = np.cumsum(counts) - counts
    table = rng.integers(0, 256, (40, counts.sum()), dtype=np.uint8) * rng.integers(0, 2, (40, counts.sum()), np.uint8)
    steps = rng.choice([1, 3, 17, 51], (40, 5)).astype(np.uint8)
    rounded = table.copy()
    _round(rounded, counts, steps, levels)
    for (bucket, d), few in np.ndenumerate(steps.astype(int)):
        part = slice(starts[d], starts[d] + counts[d])
        row, found = table[bucket, part].tolist(), rounded[bucket, part].tolist()
        if not any(row):
            assert not any(found)
            continue
        size = levels // few
        assert sum(found) == levels and not any(number % size for number in found)
        down = [few * number // sum(row) for number in row]
        lost = [(few * number % sum(row), -place) for place, number in enumerate(row)]
        most = sorted(range(len(row)), key=lost.__getitem__, reverse=True)[: few - sum(down)]
        assert found == [size * (number + (place in most)) for place, number in enumerate(down)]
        exact = [Fraction(levels * number, sum(row)) for number in row]
        possible = (
            [mix for mix in itertools.product(range(few + 1), repeat=len(row)) if sum(mix) == few] if few < 4 else []
        )
        errors = [sum((size * part - number) ** 2 for part, number in zip(mix, exact, strict=True)) for mix in possible]
        error = sum((number - goal) ** 2 for number, goal in zip(found, exact, strict=True))
        assert all(error <= other for other in errors)
        assert all(abs(number - goal) < size for number, goal in zip(found, exact, strict=True))


@pytest.mark.slow
def test_the_manifest_says_what_the_last_doubling_won(kept, tmp_path):
    facts = dict(nodes=1, resident_mb=1.0, met=1.0, regret=1.0, drift=None, seat_values=(), seat_deviations=())
    marks = [
        {"iteration": 25 * k, "seconds": 60.0 * k, "missing": 0.0, **facts}
        | {"against_final": [-40.0, -12.5, -3.0, None][k - 1], "against_final_deviation": 2.0}
        for k in range(1, 5)
    ]
    path = tmp_path / "marked.blueprint"
    for iterations, doubling in (
        (99, (12.5, 3.92, 50)),  # half of it, rounded up
        (98, (40.0, 3.92, 25)),
        (40, (None, None, None)),
    ):
        training = {"iterations": iterations, "seconds": 5400.0, "threads": 4, "marks": marks}
        dataclasses.replace(load_blueprint(kept), training=training).save(tmp_path / "marked")
        pack_blueprint(tmp_path / "marked", path, num_decks=0)
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
        record = manifest["config"]["training"]
        assert packed_facts(path).record == manifest["config"] and manifest["seed"] == 1
        assert tuple(record[f"last_doubling_{name}"] for name in ("mbb", "ci95", "from")) == doubling
        assert record["core_hours"] == 6.0 and record["iterations"] == iterations and len(record["marks"]) == 4


def test_a_damaged_file_is_refused_and_named(packed, tmp_path):
    good = packed.read_bytes()
    for number, content in enumerate(
        (b"", good[:1000], good[: len(good) // 2] + b"\x00" + good[len(good) // 2 + 1 :], good[::-1])
    ):
        bad = tmp_path / f"bad{number}.blueprint"
        bad.write_bytes(content)
        with pytest.raises(ArtefactRefused, match=f"bad{number}.blueprint is damaged"):
            unpacked_folder(bad)
    swapped = tmp_path / "swapped.blueprint"
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(swapped, "w") as copy:
        for entry in archive.infolist():
            content = archive.read(entry)
            copy.writestr(entry.filename, content[:-1] + b"\x01" if entry.filename.startswith("rows_1") else content)
    with pytest.raises(ArtefactRefused, match="the SHA-256 of its content differs from the one at its end"):
        unpacked_folder(swapped)
    signed(swapped)
    with pytest.raises(
        ArtefactRefused, match="swapped.blueprint.*the SHA-256 of rows_1 differs from the one in the manifest"
    ):
        unpacked_folder(swapped)
    with pytest.raises(ArtefactRefused, match="there is no file .*none.blueprint"):
        unpacked_folder(tmp_path / "none.blueprint")
    assert not list((tmp_path / "cache" / "blueprints").iterdir())


def signed(path):
    """Give an archive the hash of its content again."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"0" * 64
    content = path.read_bytes()[:-64]
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
