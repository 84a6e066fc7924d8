"""Training runs: marks, checkpoints and what comes of them; blueprints as artefacts."""

import dataclasses
import itertools
import json
import os
import shutil

import numpy as np
import pytest

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.blueprint import run as runs
from plurispiel.agents.blueprint.blueprint import FOLDER, load_blueprint, tree_digest
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.library import find_blueprint
from plurispiel.agents.blueprint.match import play_match
from plurispiel.agents.blueprint.run import TrainingRun, begin_run, checkpoint_folders, load_checkpoint
from plurispiel.agents.blueprint.starting_rows import starting_rows
from plurispiel.agents.blueprint.training_record import mark_from_dict

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

LEDUC = dataclasses.replace(read_preset("leduc"), iterations=4_000, prune_from=0.1, prune_below_bb=-50.0)
WHOLE_CHIPS = dataclasses.replace(LEDUC, exact=False, discount_until=0.3, average_from=0.2, num_snapshots=7)
STATE = ("regrets", "sums", "later_sums", "weighted_visits", "streams", "counters")


@pytest.fixture(autouse=True)
def quick_marks(monkeypatch):
    monkeypatch.setattr("plurispiel.agents.blueprint.marks.MATCH_DECKS", 500)
    monkeypatch.setattr(runs, "_FINAL_DECKS", 500)


def begin(folder, config, **options):
    return begin_run(folder, config, lossless_buckets(config.rules), threads=1, **options)


def restore(folder):
    checkpoint, refused = load_checkpoint(folder)
    config = checkpoint.config
    trainer = make_trainer(config, lossless_buckets(config.rules), threads=1)
    run = TrainingRun(folder, config, trainer, num_marks=checkpoint.num_marks)
    run.restore(checkpoint)
    return run, refused


class StopError(Exception):
    pass


def stop_after(pieces):
    count = itertools.count()

    def step():
        if next(count) >= pieces:
            raise StopError

    return step


@pytest.mark.parametrize("config", [LEDUC, WHOLE_CHIPS], ids=["exact", "whole chips"])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(tmp_path, config, monkeypatch):
    """Stopped at moments that depend on the clock: the blueprints are the same bytes, and so are the marks."""
    monkeypatch.setattr(runs, "_PIECE_S", 0.01)
    whole = begin(tmp_path / "whole", config)
    whole.go()
    begin(tmp_path / "parts", config).keep()
    parts = None
    for pieces in range(2, 30, 3):
        parts, _ = restore(tmp_path / "parts")
        try:
            parts.go(on_progress=stop_after(pieces))
            break
        except StopError:
            parts.keep()
    else:
        parts, _ = restore(tmp_path / "parts")
        parts.go()
    assert parts.trainer.iteration == whole.trainer.iteration == 4_000
    for name in STATE:
        assert np.array_equal(getattr(parts.trainer, name), getattr(whole.trainer, name)), name
    first, second = (load_blueprint(tmp_path / name / FOLDER) for name in ("whole", "parts"))
    assert np.array_equal(first.rows, second.rows)
    assert len(whole.marks) == 10 and not np.isnan(whole.marks[-1].drift)
    for one, other in zip(whole.marks, parts.marks, strict=True):
        same = {"seconds": 0.0, "resident_mb": 0.0}
        assert dataclasses.replace(one, **same).as_dict() == dataclasses.replace(other, **same).as_dict()
    assert [mark_from_dict(mark) for mark in first.training["marks"]][3].iteration == 1_600


def test_a_longer_run_goes_on(tmp_path):
    begin(tmp_path, LEDUC).go()
    checkpoint, _ = load_checkpoint(tmp_path)
    run, _ = restore(tmp_path)
    run.restore(dataclasses.replace(checkpoint, schedule=checkpoint.schedule.extended(6_000)))
    run.go()
    assert run.trainer.iteration == 6_000 and len(run.marks) == 15
    assert load_blueprint(tmp_path / FOLDER).training["iterations"] == 6_000


def test_time_ends_a_run_with_a_blueprint(tmp_path):
    run = begin(tmp_path, dataclasses.replace(LEDUC, iterations=10**9))
    run.go(seconds=0.2)
    assert 0 < run.trainer.iteration < 10**8
    assert load_blueprint(find_blueprint(str(tmp_path))).training["iterations"] == run.trainer.iteration
    shutil.rmtree(tmp_path / runs.CHECKPOINTS)
    with pytest.raises(ValueError, match="holds a blueprint, and no checkpoint to resume from; give another folder"):
        begin(tmp_path, LEDUC)


def test_two_checkpoints_are_kept_and_a_damaged_one_is_passed_over(tmp_path):
    run = begin(tmp_path, LEDUC)
    for _ in range(4):
        run.trainer.run(100)
        run.keep()
    (tmp_path / runs.CHECKPOINTS / ".0000000000500-left").mkdir()
    run.trainer.run(100)
    run.keep()
    names = [path.name for path in (tmp_path / runs.CHECKPOINTS).iterdir()]
    assert sorted(names) == ["0000000000400", "0000000000500"]
    newest, older = checkpoint_folders(tmp_path)
    with open(newest / "regrets.npy", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x07")
    found, refused = restore(tmp_path)
    assert found.trainer.iteration == 400 and len(refused) == 1 and "is damaged" in str(refused[0])
    shutil.rmtree(older)
    with pytest.raises(ArtefactRefused, match="damaged"):
        load_checkpoint(tmp_path)
    with pytest.raises(ValueError, match="holds no training run"):
        load_checkpoint(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="holds a training run"):
        begin(tmp_path, LEDUC)


def test_a_folder_that_the_blueprint_cannot_replace_is_refused_before_training(tmp_path):
    (tmp_path / "blueprint").mkdir()
    (tmp_path / "blueprint" / "letter.txt").write_text("dear")
    with pytest.raises(ArtefactRefused, match="give another folder"):
        begin(tmp_path, LEDUC)


def test_a_checkpoint_of_another_game_is_refused(tmp_path):
    begin(tmp_path, LEDUC).keep()
    checkpoint, _ = load_checkpoint(tmp_path)
    mini = dataclasses.replace(LEDUC, game="leduc-4")
    trainer = make_trainer(mini, lossless_buckets(mini.rules))
    with pytest.raises(ValueError, match="regrets has"):
        TrainingRun(tmp_path, mini, trainer).restore(checkpoint)
    with pytest.raises(ValueError, match="another bucket table"):
        run, _ = restore(tmp_path)
        run.restore(dataclasses.replace(checkpoint, table_digest="0" * 64))
    arrays = {name: values for name, values in checkpoint.arrays.items() if name != "watched_nodes"}
    with pytest.raises(ArtefactRefused, match="checkpoint of iteration 0 is damaged: 'watched_nodes'; delete it"):
        run.restore(dataclasses.replace(checkpoint, arrays=arrays))


def test_more_threads_take_up_a_run(tmp_path):
    run = begin(tmp_path, LEDUC)
    run.trainer.run(1_000)
    run.keep()
    checkpoint, _ = load_checkpoint(tmp_path)
    trainer = make_trainer(LEDUC, lossless_buckets(LEDUC.rules), threads=3)
    again = TrainingRun(tmp_path, LEDUC, trainer)
    again.restore(checkpoint)
    assert trainer.num_traversals == 2_000 and len({tuple(stream) for stream in trainer.streams.tolist()}) == 3
    again.go()
    assert trainer.num_traversals == 8_000


@pytest.mark.parametrize("is_earlier", [False, True], ids=["now", "earlier version"])
def test_core_hours_are_of_the_threads_of_their_time(tmp_path, is_earlier):
    run = begin(tmp_path, LEDUC)
    run.trainer.run(1_000)
    run.seconds = run.core_seconds = 7200.0
    run.keep()
    checkpoint, _ = load_checkpoint(tmp_path)
    again = TrainingRun(tmp_path, LEDUC, make_trainer(LEDUC, lossless_buckets(LEDUC.rules), threads=3))
    again.restore(dataclasses.replace(checkpoint, core_seconds=None if is_earlier else checkpoint.core_seconds))
    again.go()
    training = load_blueprint(tmp_path / "blueprint").training
    first = 6.0 if is_earlier else 2.0
    assert training["core_hours"] == pytest.approx(first + 3.0 * (training["seconds"] - 7200.0) / 3600.0)


def test_rows_of_8_bits_are_the_strategy(tmp_path):
    trainer = make_trainer(WHOLE_CHIPS, lossless_buckets(WHOLE_CHIPS.rules))
    trainer.run()
    blueprint = trainer.blueprint(WHOLE_CHIPS, {"iterations": trainer.iteration})
    assert blueprint.rows.dtype == np.uint8
    blueprint.save(tmp_path / "kept")
    found = load_blueprint(tmp_path / "kept")
    assert np.array_equal(found.rows, blueprint.rows) and found.config == WHOLE_CHIPS
    assert tree_digest(found.tree) == tree_digest(trainer.tree)
    learnt = 0
    for street, buckets in enumerate(found.cards.num_buckets):
        sums = trainer.sums if street == 0 else trainer.later_sums
        for node in found.decisions(street).tolist():
            for bucket in range(buckets):
                cell = int(found.game.base[street] + bucket * found.game.pairs[street] + found.tree.row[node])
                cells = slice(cell, cell + int(found.tree.num_actions[node]))
                row = found.strategy(node, np.array([bucket]))[0]
                weights = sums[cells].astype(float)
                if not weights.any():
                    weights = np.maximum(trainer.regrets[cells], 0.0)
                if not trainer.regrets[cells].any() and not sums[cells].any():
                    assert not row.any()
                    continue
                learnt += 1
                if weights.any():
                    assert np.allclose(row, weights / weights.sum(), atol=1.5 / 255)
    assert learnt == sum(number for _, number in found.num_rows())


def test_damaged_foreign_and_future_blueprints_are_refused(tmp_path):
    run = begin(tmp_path, LEDUC)
    run.go()
    manifest = tmp_path / FOLDER / "manifest.json"
    text = manifest.read_text()
    for changed, message in (
        (text.replace('"format": 1', '"format": 2'), "is damaged"),
        (text.replace('"seed": 1', '"seed": 2', 1), "is damaged"),
        ("{", "is damaged"),
    ):
        manifest.write_text(changed)
        with pytest.raises(ArtefactRefused, match=message):
            load_blueprint(tmp_path / FOLDER)
    manifest.write_text(text)
    with pytest.raises(ArtefactRefused, match="holds a 'blueprint checkpoint', not a blueprint"):
        load_blueprint(checkpoint_folders(tmp_path)[0])
    blueprint = load_blueprint(tmp_path / FOLDER)
    other = dataclasses.replace(LEDUC, game="kuhn3")
    dataclasses.replace(blueprint, config=other).save(tmp_path / "foreign")
    with pytest.raises(ArtefactRefused, match="is no sound blueprint"):
        load_blueprint(tmp_path / "foreign")
    with pytest.raises(ValueError, match="without its configuration"):
        dataclasses.replace(blueprint, config=None).save(tmp_path / "none")
    assert json.loads(text)["config"]["rows_learnt"][0] == 18


def test_a_warm_start_begins_with_the_blueprint(tmp_path):
    begin(tmp_path / "first", dataclasses.replace(LEDUC, iterations=20_000)).go()
    start = load_blueprint(tmp_path / "first" / FOLDER)
    run = begin(tmp_path / "second", LEDUC, start=start)
    before = run.trainer.blueprint()
    assert np.allclose(before.rows, start.rows, atol=1e-5)
    run.go()
    cold = begin(tmp_path / "cold", LEDUC)
    cold.go()
    assert run.marks[0].regret > 0 and play_match(before, cold.trainer.blueprint(), 20_000).mean > -50.0
    with pytest.raises(ValueError, match="cannot start from"):
        run.trainer.start_from(start, 1.0)
    for game in ("leduc-4", "kuhn3"):
        with pytest.raises(ValueError, match="another game"):
            begin(tmp_path / "third", dataclasses.replace(LEDUC, game=game), start=start)
    with pytest.raises(ValueError, match="weight must be 0 to .* big blinds, got -1"):
        begin(tmp_path / "third", LEDUC, start=start, start_weight=-1.0)
    other = make_trainer(LEDUC, single_buckets(LEDUC.rules))
    other.start_from(start, 1e6)
    for node, rows in starting_rows(start, other.tree, other.cards):
        begun = other.blueprint().strategy(node, np.arange(len(rows)))
        np.testing.assert_allclose(begun, rows, atol=1e-5)
