"""What a stranger may hand over: artefacts whose manifests fit, and whose numbers do not; and bits turned by a disk."""

import dataclasses
import io
import itertools
import json
import os
import shutil
import zipfile

import numpy as np
import pytest
from bit_flips import flipped
from random_blueprint import pack_random

from plurispiel.abstraction.cards import flops
from plurispiel.abstraction.cards.config import StreetConfig
from plurispiel.abstraction.machine import artefact
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.blueprint import run as runs
from plurispiel.agents.blueprint.blueprint import FOLDER, load_blueprint
from plurispiel.agents.blueprint.bundle import _DIGEST_BYTES, _MANIFEST, unpack_blueprint
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.run import TrainingRun, begin_run, checkpoint_folders, load_checkpoint
from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_file import load_spot_solution, save_spot_solution
from plurispiel.agents.spots.spot_solution import solve_spot
from plurispiel.agents.tabular.solution import load_solution, resume_solver, save_solution
from plurispiel.agents.tabular.solvers import make_solver

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

KUHN = dataclasses.replace(read_preset("leduc"), name="k", game="kuhn_poker", iterations=200)
SPOT = Spot("Td9d6h Qc 7s", 60, 30, "AA,KK", "QQ,T9s", {"river": {"oop": {"bet": "0.5p"}}})
FLOP = flops.FlopConfig("f", StreetConfig(3, "histogram"), StreetConfig(4, "ochs"), fit_points=2000, rounds=1)
REST = [card for card in range(52) if card not in (0, 5, 10)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of one artefact of each kind."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plurispiel.agents.blueprint.marks.MATCH_DECKS", 200)
        patch.setattr(runs, "_FINAL_DECKS", 200)
        patch.setenv("PLURISPIEL_CACHE", str(home / "cache"))
        run = begin_run(home / "run", KUHN, lossless_buckets(KUHN.rules), threads=1, num_marks=1)
        run.go()
        solver = make_solver(flatten("kuhn_poker"), "cfr+")
        solver.run(20)
        save_solution(home / "solution", solver, np.array([[20, 0.1, 0.5]]))
        save_spot_solution(home / "spot", solve_spot(SPOT, max_iterations=20))
        flops.flop_buckets([0, 5, 10], FLOP, threads=1)
        (buckets,) = (home / "cache" / "flop-buckets").glob("*/*")
    folders = {"blueprint": home / "run" / FOLDER, "checkpoint": checkpoint_folders(home / "run")[0]}
    return folders | {"solution": home / "solution", "spot": home / "spot", "flop": buckets}


START = {"digest": "0", "iterations": 3, "core_hours": 1.0, "weight_boards": 5.0}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "cache"))


def built_again(*of):
    raise ArtefactRefused("refused")


def load_any(kind, folder):
    """Load an artefact in every way there is, and return what it tells."""
    if kind == "blueprint":
        found = load_blueprint(folder)
        return found.rows.tobytes(), repr(found.config), repr(found.training), repr(found.game)
    if kind == "solution":
        found = load_solution(folder)
        solver = make_solver(flatten("kuhn_poker"), "cfr+")
        curve = resume_solver(folder, solver)
        solver.run(3)
        return repr(found), curve.tobytes(), solver.average_strategy().tobytes()
    if kind == "spot":
        return repr(load_spot_solution(folder, threads=1).record() | {"memory_mb": 0})
    if kind == "flop":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(flops, "_folder", lambda config, flop: folder)
            patch.setattr(flops, "_build", built_again)
            found = flops.flop_buckets((0, 5, 10), FLOP)
        boards = [(0, 5, 10, *later) for count in (1, 2) for later in itertools.combinations(REST, count)]
        return [found.row(board).tobytes() for board in boards]
    home = folder.parents[1]
    checkpoint, refused = load_checkpoint(home)
    if refused:
        raise refused[0]
    run = TrainingRun(home, KUHN, make_trainer(KUHN, lossless_buckets(KUHN.rules), threads=1))
    run.restore(checkpoint)
    return [values.tobytes() for values in run.trainer.state().values()], repr(run.marks), repr(run.start), run.seconds


def copied(made, kind, tmp_path):
    """Return a copy of an artefact; of a checkpoint in a run of its own."""
    folder = tmp_path / "copy" / "checkpoints" / made[kind].name
    shutil.copytree(made[kind], folder)
    return folder


def forge(folder, arrays=None, **config):
    """Write an artefact again with other content, and a manifest that fits."""
    manifest = json.loads((folder / "manifest.json").read_text())
    kept = load_artefact(folder, manifest["kind"], manifest["format"])
    held = {name: np.array(values) for name, values in kept.arrays.items()}
    for name, change in (arrays or {}).items():
        held[name] = change(held[name])
    held = {name: values for name, values in held.items() if values is not None}
    changed = kept.config | config
    write_artefact(folder, manifest["kind"], manifest["format"], held, changed, seed=kept.seed, source=kept.source)


def put(value, place=0):
    def change(values):
        values.reshape(-1)[place] = value
        return values

    return change


def cast(dtype):
    return lambda values: values.astype(dtype)


def hide(values):
    """Say of a combo that it shares a card with the board."""
    return put(65535, np.flatnonzero(values != 65535)[0])(values)


def gone(values):
    return None


def short(values):
    return values[:-1]


def long(values):
    return np.concatenate([values, values[-1:]])


def deep(values):
    return values.reshape(1, *values.shape)


NAN, INF = float("nan"), float("inf")
ATTACKS = [
    *(("blueprint", "rows", change) for change in (put(NAN), put(-1.0), put(INF), put(-INF), put(0.9), put(1e30))),
    *(("blueprint", "rows", change) for change in (cast(np.float64), cast(np.int32), cast(bool), short)),
    *(("blueprint", "rows", change) for change in (long, deep, gone)),
    *(("solution", "strategy", change) for change in (put(NAN), put(-1.0), put(0.9), cast(np.float32), short)),
    *(("solution", "infoset_player", change) for change in (put(1), put(-1), put(127), cast(np.int64), short, gone)),
    *(("solution", "infoset_parent", change) for change in (put(0), put(-2), put(10**6), short)),
    *(("solution", "action_ids", change) for change in (put(1), put(-1), put(2**31 - 1), short)),
    *(("solution", "infoset_first", change) for change in (put(1), put(-1), put(0, 3), put(10**6, -1), short, deep)),
    *(("solution", "key_bytes", change) for change in (put(65), put(255), put(0), short, gone)),
    *(("solution", "key_first", change) for change in (put(-1), put(10**9, -1), put(2**60, 1))),
    *(("solution", "curve", change) for change in (put(NAN), cast(np.int8), deep)),
    *(("solution", "solver_regret", change) for change in (put(NAN), put(INF), short, gone)),
    *(("solution", "solver_strategy_sum", change) for change in (put(NAN), put(-1.0))),
    *(("checkpoint", "regrets", change) for change in (put(NAN), cast(np.float32), short, long, gone)),
    *(("checkpoint", "sums", change) for change in (put(NAN), put(-1.0), short)),
    *(("checkpoint", "weighted_visits", change) for change in (put(NAN), put(-1.0))),
    *(("checkpoint", "decks", change) for change in (put(200), put(0, slice(None)), cast(np.int64), gone, np.ravel)),
    *(("checkpoint", "streams", change) for change in (put(0, slice(0, 4)), np.ravel, cast(np.int64))),
    *(("checkpoint", "counters", change) for change in (put(-1), np.ravel)),
    *(("checkpoint", "watched_nodes", change) for change in (put(-1), put(2**62), short, cast(np.int32))),
    *(("checkpoint", "watched_cells", change) for change in (put(-1), put(2**62), deep)),
    *(("checkpoint", "watched_rows", change) for change in (put(NAN), short)),
    *(("spot", "sums_0_0", change) for change in (put(NAN), put(-1.0), short, cast(np.float16), gone)),
    *(("flop", "turn", change) for change in (put(7, 5), put(65534, 5), hide, cast(np.uint8), short, gone)),
    *(("flop", "river", change) for change in (put(4, -1), hide, deep, cast(np.int64))),
]  # fmt: skip
CONFIGS = [
    ("blueprint", {"training": 3}),
    ("blueprint", {"training": {"iterations": "x"}}),
    ("blueprint", {"training": {"iterations": 3, "marks": 5}}),
    ("blueprint", {"training": {"iterations": 3, "marks": [{"iteration": "x"}]}}),
    ("blueprint", {"training": {"iterations": 3, "start": [1]}}),
    ("blueprint", {"training": {"iterations": 3, "start": START | {"weight_boards": 10**400}}}),
    ("blueprint", {"training": {"iterations": 3, "start": START | {"weight_boards": True}}}),
    ("blueprint", {"training": {"iterations": 3, "start": START | {"iterations": -1}}}),
    ("blueprint", {"training": {"iterations": 3, "start": START | {"digest": "\x1b[2J"}}}),
    ("blueprint", {"cards": {}}),
    ("blueprint", {"cards": {"kind": "table", "config": {}, "digest": ""}}),
    ("blueprint", {"config": {}}),
    ("blueprint", {"config": KUHN.as_dict() | {"name": "../../x"}}),
    ("blueprint", {"config": KUHN.as_dict() | {"game": "leduc"}}),
    ("blueprint", {"config": KUHN.as_dict() | {"game": "", "seats": 10, "menu": {"preflop": ["1p"] * 9}}}),
    ("checkpoint", {"iteration": -1}),
    ("checkpoint", {"iteration": 1.5}),
    ("checkpoint", {"iteration": 10**30}),
    ("checkpoint", {"num_marks": 10**12}),
    ("checkpoint", {"seconds": "x"}),
    ("checkpoint", {"schedule": {"iterations": "x"}}),
    ("checkpoint", {"schedule": [1]}),
    ("checkpoint", {"marks": [None]}),
    ("checkpoint", {"start": {"iterations": "x", "core_hours": 1.0}}),
    ("checkpoint", {"devices": 3}),
    ("checkpoint", {"devices": ["cpu", "\x1b[31m"]}),
    ("checkpoint", {"devices": ["cpu"] * 1000}),
    ("solution", {"game": 5}),
    ("solution", {"game": "leduc_poker"}),
    ("solution", {"iterations": -1}),
    ("solution", {"openspiel_recall": False}),
    ("spot", {"iterations": 0}),
    ("spot", {"seconds": -1.0}),
    ("spot", {"algorithm": ["cfr+"]}),
    ("spot", {"spot": []}),
    ("spot", {"spot": {"board": "Td9d6h", "pot": 60, "stacks": 30, "oop": "random", "ip": "random"}}),
]  # fmt: skip


def test_what_was_made_loads(made, tmp_path):
    for kind in made:
        folder = copied(made, kind, tmp_path / kind)
        assert load_any(kind, folder) == load_any(kind, folder)  # from the second time on it is known


@pytest.mark.parametrize(("kind", "name", "change"), ATTACKS)
def test_numbers_that_the_manifest_fits(made, tmp_path, kind, name, change):
    folder = copied(made, kind, tmp_path)
    forge(folder, {name: change})
    refused(kind, folder)


@pytest.mark.parametrize(("kind", "config"), CONFIGS)
def test_records_that_the_manifest_fits(made, tmp_path, kind, config):
    folder = copied(made, kind, tmp_path)
    forge(folder, **config)
    refused(kind, folder)


def refused(kind, folder):
    with pytest.raises(ArtefactRefused) as raised:
        load_any(kind, folder)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("num_flips", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_refused_or_changes_nothing(made, tmp_path, num_flips):
    for kind in made:
        folder = copied(made, kind, tmp_path / kind)
        want = load_any(kind, folder)
        names = sorted(os.listdir(folder))
        outcomes = []
        for name in names:
            good = (folder / name).read_bytes()
            for content in flipped(good, max(1, num_flips // len(made) // len(names)), seed=len(outcomes)):
                (folder / name).write_bytes(content)
                try:
                    assert load_any(kind, folder) == want, (kind, name)
                    outcomes.append("harmless")
                except ArtefactRefused:
                    outcomes.append("refused")
            (folder / name).write_bytes(good)
        assert "refused" in outcomes


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    return pack_random(tmp_path_factory.mktemp("packed"), "small", game="kuhn_poker", cards="lossless").read_bytes()


def repack(content, change):
    """Change the entries of a packed blueprint, a dict of bytes, and seal it again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
        archive.comment = b"0" * _DIGEST_BYTES
    return sealed(stream.getvalue())


def sealed(content):
    body = content[:-_DIGEST_BYTES]
    return body + artefact.hashlib.sha256(body).hexdigest().encode()


def saved(values):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, values, version=(1, 0), allow_pickle=values.dtype == object)
    return stream.getvalue()


def array(content, name="rows_0"):
    """Put the bytes of an array into a packed blueprint, and their hash into its manifest."""

    def change(entries):
        manifest = json.loads(entries[_MANIFEST])
        manifest["sha256"][name] = artefact.hashlib.sha256(content).hexdigest()
        entries[_MANIFEST] = json.dumps(manifest).encode()
        entries[f"{name}.npy"] = content

    return change


def record(**changes):
    def change(entries):
        entries[_MANIFEST] = json.dumps(json.loads(entries[_MANIFEST]) | changes).encode()

    return change


def whole(text):
    return lambda entries: entries.update({_MANIFEST: text})


CLAIMS_MUCH = saved(np.zeros(3, np.uint8)).replace(b"(3,), }" + b" " * 15, b"(1125899906842624,), }")
PACKED = [
    array(CLAIMS_MUCH),
    array(saved(np.zeros((3, 3)))),
    array(saved(np.zeros((1, 3, 3), np.uint8))),
    array(saved(np.full((4, 3), 99, np.uint8)), "rows_1"),
    array(saved(np.array([{}], object))),
    array(b""),
    array(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535),
    array(b"\x93NUMPY\x01\x00\x10\x27" + b"-" * 9999 + b"1"),
    array(saved(np.zeros((3, 3), np.uint8)), "../../x"),
    record(config=3),
    record(config={"training": {"iterations": 1}}),
    record(levels=0),
    record(levels=16),
    record(levels="x"),
    record(seed="x"),
    record(seed=[1]),
    record(sha256=[]),
    record(sha256={"rows_7": "x"}),
    record(kind=["x"]),
    record(format=10**40),
    whole(b"[" * 100_000),
    whole(b"[]"),
    whole(b"7"),
    whole(b"\xff"),
    whole(b""),
    whole(b'{"kind": 1e999}'),
    whole(b" " * (1 << 21)),
]


@pytest.mark.parametrize("change", PACKED)
def test_packed_blueprints_that_are_sealed(packed, tmp_path, change):
    path = tmp_path / "x.blueprint"
    path.write_bytes(repack(packed, change))
    assert path.read_bytes() != packed
    refused_packed(path, tmp_path / "out")


def refused_packed(path, folder):
    with pytest.raises(ArtefactRefused) as raised:
        unpack_blueprint(path, folder)
        load_blueprint(folder)
    assert str(raised.value).isprintable()


def test_what_unpacks_to_more_than_there_is(packed, tmp_path, monkeypatch):
    path = tmp_path / "x.blueprint"
    path.write_bytes(repack(packed, array(saved(np.zeros((1000, 1000), np.uint8)))))
    monkeypatch.setattr("plurispiel.agents.blueprint.bundle.available_bytes", lambda: 1_000_000)
    with pytest.raises(ArtefactRefused, match="half of the free memory"):
        unpack_blueprint(path, tmp_path / "out")


@pytest.mark.parametrize("seal", [False, True])
@pytest.mark.parametrize("num_flips", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_flipped_bits_of_a_packed_blueprint(packed, tmp_path, num_flips, seal):
    """Sealed again they are a stranger's: whatever still loads has sound rows."""
    path = tmp_path / "x.blueprint"
    for number, content in enumerate(flipped(packed, num_flips)):
        path.write_bytes(sealed(content) if seal else content)
        folder = tmp_path / f"out{number}"
        try:
            unpack_blueprint(path, folder)
            load_blueprint(folder)
        except ArtefactRefused as error:
            assert str(error).isprintable()
        else:
            assert seal
