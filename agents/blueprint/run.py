"""A training run in a folder: its checkpoints, its marks and the finished blueprint."""

import contextlib
import dataclasses
import math
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.cards import deck_cards
from plurispiel.abstraction.machine.artefact import (
    ArtefactRefused,
    holds_artefact,
    load_artefact,
    require_replaceable,
    write_artefact,
)
from plurispiel.agents.blueprint.blueprint import CHECKPOINTS, FOLDER, Blueprint, load_rows, tree_digest
from plurispiel.agents.blueprint.blueprint import KIND as BLUEPRINT
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.config import PUBLIC, BlueprintConfig, config_from_dict
from plurispiel.agents.blueprint.devices import CPU, make_trainer
from plurispiel.agents.blueprint.marks import Watched, take_mark
from plurispiel.agents.blueprint.match import play_match
from plurispiel.agents.blueprint.public_trainer import PublicTrainer
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.agents.blueprint.training_record import Mark, mark_from_dict, summarised, work_done

KIND, FORMAT_VERSION = "blueprint checkpoint", 2
SNAPSHOTS = "snapshots"
NUM_KEPT = 2
NUM_MARKS = 10
MAX_WEIGHT = 1_000_000_000
"""The largest regret in chips that each row of a run may start with; regrets are int32."""
MAX_BOARDS = 100_000
"""The largest weight, in boards, of the blueprint from which public chance sampling starts."""
START_BB, START_BOARDS = 1000.0, 3000.0
"""Default weights of the blueprint that a run starts from.

External sampling: big blinds of regret for each row. Public chance sampling: a number of boards.
"""

_PIECE_S = 0.5
_FINAL_DECKS = 1_000_000
_CHUNK = 1 << 22


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """The content of a checkpoint.

    Attributes
    ----------
    config : BlueprintConfig
        The settings with which the run was begun.
    schedule : Schedule
        The schedule of the run, which is longer than that of `config` if the run was extended.
    iteration : int
        Number of iterations done.
    seconds : float
        Training time so far.
    core_seconds : float or None
        Training time so far times threads; None in checkpoints of earlier versions.
    marks : tuple of Mark
        The marks so far.
    num_marks : int
        See `TrainingRun`.
    arrays : dict
        The state of the trainer and of the watched decisions, by name.
    source : str
        Hash of the betting tree (`tree_digest`).
    table_digest : str
        Digest of the bucket table; empty for lossless buckets.
    start : dict or None
    devices : tuple of str
        See `TrainingRun`.
    """

    config: BlueprintConfig
    schedule: Schedule
    iteration: int
    seconds: float
    core_seconds: float | None
    marks: tuple[Mark, ...]
    num_marks: int
    arrays: dict[str, np.ndarray]
    source: str
    table_digest: str
    start: dict[str, Any] | None
    devices: tuple[str, ...] = ()


class TrainingRun:
    """Trains a blueprint and saves checkpoints, so that the training can be resumed after any interruption.

    Parameters
    ----------
    folder : Path
        The folder of the run. It gets three subfolders: ``checkpoints`` (the last two), ``snapshots`` (the blueprint of
        each mark; not the snapshots of `Schedule`) and ``blueprint`` (the finished blueprint).
    config : BlueprintConfig
    trainer : Trainer or PublicTrainer
    num_marks : int
        Number of marks, evenly spaced over the iterations of `config`. An extended run has more marks, at the same
        distance.

    Attributes
    ----------
    marks : list of Mark
        The marks so far.
    seconds, core_seconds : float
        Training time so far, and the same times threads, whose number may change when a run is resumed.
    start : dict or None
        The origin of a run that started from another blueprint: that blueprint's ``digest``, the ``iterations`` and
        ``core_hours`` of its training, and its weight: ``weight_bb``, the big blinds of regret with which each row
        began, or by public chance sampling ``weight_boards``. None if the run started from zero.
    devices : tuple of str
        All that has trained, each once: ``cpu`` and names of GPUs.

    Raises
    ------
    ValueError
        If `num_marks` is not 1 to 1,000.
    """

    def __init__(
        self, folder: Path, config: BlueprintConfig, trainer: Trainer | PublicTrainer, *, num_marks: int = NUM_MARKS
    ):
        if not 1 <= num_marks <= 1000:
            raise ValueError(f"a run has 1 to 1,000 marks, got {num_marks}")
        self.folder = folder
        self.config = config
        self.trainer = trainer
        self.num_marks = num_marks
        self.marks: list[Mark] = []
        self.seconds = self.core_seconds = 0.0
        self.start: dict[str, Any] | None = None
        self.devices: tuple[str, ...] = (trainer.device,)
        self._watched = Watched.none()
        self._kept_at = -1

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint.

        Raises
        ------
        ValueError
            If the checkpoint was made with another bucket table or other betting.
        ArtefactRefused
            If the checkpoint's arrays do not fit the trainer.
        """
        if checkpoint.table_digest != self.trainer.cards.table_digest:
            raise ValueError("the run was begun with another bucket table; build the earlier table again")
        if checkpoint.source != tree_digest(self.trainer.tree):
            raise ValueError("the run was begun with another betting tree; use the version of plurispiel that began it")
        state = {name: values for name, values in checkpoint.arrays.items() if not name.startswith("watched_")}
        self.trainer.schedule = checkpoint.schedule
        try:
            watched = Watched(*(np.array(checkpoint.arrays[f"watched_{n}"]) for n in ("nodes", "cells", "rows")))
            watched.require(self.trainer.tree, self.trainer.num_cells)
            self.trainer.resume(checkpoint.iteration, state)
        except (KeyError, ValueError) as error:
            raise ArtefactRefused(
                f"the run's checkpoint of iteration {checkpoint.iteration} is damaged: {error}; delete it"
            ) from None
        self._watched = watched
        self.marks = list(checkpoint.marks)
        self.seconds = checkpoint.seconds
        if checkpoint.core_seconds is None:  # an earlier version kept the time alone
            self.core_seconds = self.seconds * self.trainer.threads
        else:
            self.core_seconds = checkpoint.core_seconds
        self.start = checkpoint.start
        self.devices = tuple(dict.fromkeys((*checkpoint.devices, self.trainer.device)))
        self._kept_at = checkpoint.iteration

    def go(
        self,
        *,
        seconds: float = math.inf,
        checkpoint_seconds: float = 300.0,
        step: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext,
        on_progress: Callable[[], None] = lambda: None,
        on_mark: Callable[[], None] = lambda: None,
    ) -> None:
        """Train to the end of the schedule, or for a time, and write the blueprint.

        Parameters
        ----------
        seconds : float
            Training ends when `self.seconds`, the run's training time over all calls and resumptions, reaches this
            limit.
        checkpoint_seconds : float
            Minimum time between two checkpoints while the run trains; a last checkpoint is written at the end.
        step : callable
            Returns a context manager. All work that an interrupt must not cut short is done inside such a context,
            which may hold an interrupt back until its exit.
        on_progress : callable
            Called after every piece of training, of about half a second.
        on_mark : callable
            Called after every mark, and once at the end, after the marks' matches against the final blueprint.
        """
        trainer = self.trainer
        end = trainer.schedule.iterations
        rate = 0.0
        kept_at = time.monotonic()
        while trainer.iteration < end and self.seconds < seconds:
            target = min((m for m in self._mark_iterations() if m > trainer.iteration), default=end)
            piece = max(1, round(rate * _PIECE_S)) if rate else 1
            with step():
                begin = time.perf_counter()
                before = trainer.iteration
                trainer.run(min(piece, target - before))
                elapsed = time.perf_counter() - begin
                self.seconds += elapsed
                self.core_seconds += elapsed * trainer.threads
                measured = (trainer.iteration - before) / max(elapsed, 1e-9)
                # A short piece measures the rate badly: a rate that is far too high would make the next piece too long.
                rate = min(measured, 4.0 * rate) if rate and elapsed < _PIECE_S / 4 else measured
                if trainer.iteration in self._mark_iterations():
                    self._mark()
                    on_mark()
            on_progress()
            if time.monotonic() - kept_at > checkpoint_seconds:
                with step():
                    self.keep()
                kept_at = time.monotonic()
        with step():
            self.finish()
        on_mark()

    def keep(self) -> None:
        """Write a checkpoint unless the newest is of the same iteration, and keep only the two newest checkpoints."""
        trainer = self.trainer
        if self._kept_at == trainer.iteration:
            return
        folder = self.folder / CHECKPOINTS
        for left in folder.glob(".*"):  # leftovers of a process that was killed while writing
            shutil.rmtree(left, ignore_errors=True)
        watched = {f"watched_{name}": getattr(self._watched, name) for name in ("nodes", "cells", "rows")}
        write_artefact(
            folder / f"{trainer.iteration:013d}",
            KIND,
            FORMAT_VERSION,
            trainer.state() | watched,
            {
                "config": self.config.as_dict(),
                "schedule": dataclasses.asdict(trainer.schedule),
                "iteration": trainer.iteration,
                "seconds": self.seconds,
                "core_seconds": self.core_seconds,
                "marks": [mark.as_dict() for mark in self.marks],
                "num_marks": self.num_marks,
                "table_digest": trainer.cards.table_digest,
                "start": self.start,
                "devices": self.devices,
            },
            seed=self.config.seed,
            source=tree_digest(trainer.tree),
        )
        self._kept_at = trainer.iteration
        for older in checkpoint_folders(self.folder)[NUM_KEPT:]:
            shutil.rmtree(older, ignore_errors=True)

    def finish(self) -> None:
        """Write a checkpoint and the finished blueprint.

        Before the blueprint is written, the blueprint of each earlier mark plays a match against it.
        """
        self.keep()
        final = self._blueprint()
        for number, mark in enumerate(self.marks):
            if mark.iteration == self.trainer.iteration:
                continue
            with contextlib.suppress(ArtefactRefused):
                earlier = self._snapshot(number, final)
                match = play_match(earlier, final, _FINAL_DECKS, seed=3, threads=self.trainer.threads)
                self.marks[number] = dataclasses.replace(
                    mark, against_final=match.mean, against_final_deviation=match.deviation
                )
        dataclasses.replace(final, training=self._training()).save(self.folder / FOLDER)

    def _mark_iterations(self) -> set[int]:
        """Return the iterations of the marks, those of an extension included."""
        end = self.config.schedule.iterations
        step = end / self.num_marks
        return {round(step * k) for k in range(1, max(1, math.ceil(self.trainer.schedule.iterations / step)) + 1)}

    def _mark(self) -> None:
        """Measure the run, and save its current blueprint among the snapshots."""
        number = len(self.marks)
        blueprint = self._blueprint()
        last = None
        if number:
            with contextlib.suppress(ArtefactRefused):
                last = self._snapshot(number - 1, blueprint)
        mark = take_mark(
            self.trainer, blueprint, self._watched, last, seconds=self.seconds, threads=self.trainer.threads
        )
        blueprint.save(self._snapshot_folder(number))
        self.marks.append(mark)

    def _blueprint(self) -> Blueprint:
        return self.trainer.blueprint(self.config, self._training())

    def _training(self) -> dict[str, Any]:
        return summarised(
            {
                "iterations": self.trainer.iteration,
                "traversals": self.trainer.num_traversals,
                "nodes": self.trainer.num_nodes,
                "seconds": self.seconds,
                "core_seconds": self.core_seconds,
                "threads": self.trainer.threads,
                "device": " and ".join(self.devices),
                "start": self.start,
                "marks": [mark.as_dict() for mark in self.marks],
            }
        )

    def _snapshot(self, number: int, current: Blueprint) -> Blueprint:
        """Return the blueprint of a mark, numbered from 0. Only its rows differ from the current blueprint."""
        return dataclasses.replace(current, rows=load_rows(self._snapshot_folder(number), current))

    def _snapshot_folder(self, number: int) -> Path:
        return self.folder / SNAPSHOTS / f"{number + 1:02d}"


def begin_run(
    folder: Path,
    config: BlueprintConfig,
    cards: CardBuckets,
    *,
    threads: int,
    num_marks: int = NUM_MARKS,
    start: Blueprint | None = None,
    start_weight: float | None = None,
    device: str = CPU,
) -> TrainingRun:
    """Return a new run.

    Parameters
    ----------
    start : Blueprint, optional
        The blueprint to start from; by default the run starts from zero.
    start_weight : float, optional
        The weight of that blueprint. External sampling: big blinds of regret spread over each row
        (`Trainer.start_from`), by default `START_BB`. Public chance sampling: a number of boards
        (`PublicTrainer.start_from`), by default `START_BOARDS`.
    device : str
        Where to train, one of `DEVICES`.

    Raises
    ------
    ValueError
        If the folder holds a run or another folder of its blueprint's name, `num_marks` is not 1 to 1,000, the betting
        tree is too large, or a street with decisions has no buckets. Also if `start` has another game than the run, or
        `start_weight` is below 0 or above `MAX_WEIGHT` chips or `MAX_BOARDS`. Also for the device as `make_trainer`.
    """
    if checkpoint_folders(folder):
        raise ValueError(f"{folder} holds a training run; continue it with resume, or give another folder")
    if holds_artefact(folder / FOLDER):
        raise ValueError(f"{folder} holds a blueprint, and no checkpoint to resume from; give another folder")
    require_replaceable(folder / FOLDER, BLUEPRINT)  # else the folder would be refused after the training
    if start is not None:
        start_weight = weight_of_start(config, start_weight)
    trainer = make_trainer(config, cards, threads=threads, device=device)
    if start is not None:
        start_trainer(trainer, config, start, start_weight)
    run = TrainingRun(folder, config, trainer, num_marks=num_marks)
    if start is not None:
        iterations, core_hours = work_done(start.training)
        unit = "weight_boards" if config.algorithm == PUBLIC else "weight_bb"
        run.start = {"digest": start.digest, "iterations": iterations, "core_hours": core_hours, unit: start_weight}
    return run


def weight_of_start(config: BlueprintConfig, weight: float | None = None) -> float:
    """Return a weight of the blueprint to start from, or the default weight; see `begin_run`.

    Raises
    ------
    ValueError
        If the weight is out of range.
    """
    is_public = config.algorithm == PUBLIC
    if weight is None:
        return START_BOARDS if is_public else START_BB
    largest = MAX_BOARDS if is_public else MAX_WEIGHT / config.rules.big_blind
    if not 0.0 <= weight <= largest:
        raise ValueError(
            f"the weight must be 0 to {largest:,.0f} {'boards' if is_public else 'big blinds'}, got {weight:g}"
        )
    return weight


def start_trainer(
    trainer: Trainer | PublicTrainer, config: BlueprintConfig, start: Blueprint, weight: float | None = None
) -> None:
    """Start a trainer from a blueprint with a weight as for `begin_run`."""
    given = weight_of_start(config, weight)
    trainer.start_from(start, given if config.algorithm == PUBLIC else given * config.rules.big_blind)


def checkpoint_folders(folder: Path) -> list[Path]:
    """Return the folders of a run's checkpoints, the newest first."""
    home = folder / CHECKPOINTS
    folders = [path for path in home.iterdir() if path.name.isdecimal()] if home.is_dir() else []
    return sorted(folders, key=lambda path: int(path.name), reverse=True)


def load_checkpoint(folder: Path) -> tuple[Checkpoint, list[ArtefactRefused]]:
    """Return a run's newest undamaged checkpoint, and the errors of the damaged checkpoints that are newer.

    Raises
    ------
    ValueError
        If the folder holds no run.
    ArtefactRefused
        If all checkpoints of the run are damaged.
    """
    refused: list[ArtefactRefused] = []
    for path in checkpoint_folders(folder):
        try:
            return _read_checkpoint(path), refused
        except ArtefactRefused as error:
            refused.append(error)
    if refused:
        raise refused[0]
    raise ValueError(f"{folder} holds no training run (no {CHECKPOINTS}); give the folder of a training run")


def _read_checkpoint(path: Path) -> Checkpoint:
    artefact = load_artefact(path, KIND, FORMAT_VERSION)
    record = artefact.config
    try:
        config = config_from_dict(record["config"])
        schedule = Schedule(**record["schedule"])
        marks = tuple(mark_from_dict(mark) for mark in record["marks"])
        iteration, seconds, num_marks = record["iteration"], record["seconds"], record["num_marks"]
        if type(iteration) is not int or type(num_marks) is not int or not isinstance(seconds, (int, float)):
            raise ValueError("iteration and num_marks must be whole numbers, and seconds a number")
        core_seconds = record.get("core_seconds")
        if core_seconds is not None and not isinstance(core_seconds, (int, float)):
            raise ValueError("core_seconds must be a number")
        if (
            not 0 <= iteration <= schedule.iterations
            or not 1 <= num_marks <= 1000
            or min(seconds, core_seconds or 0) < 0
        ):
            raise ValueError("iteration, num_marks, seconds or core_seconds is out of range")
        if record.get("start") is not None:
            work_done({"iterations": iteration, "start": record["start"]})
        devices = tuple(record.get("devices", ()))
        if (
            not all(isinstance(name, str) and name.isprintable() for name in devices)
            or len(" and ".join(devices)) > 400
        ):
            raise ValueError("devices must be short texts")
        _require_state(artefact.arrays, config)
        return Checkpoint(
            config,
            schedule,
            iteration,
            float(seconds),
            core_seconds,
            marks,
            num_marks,
            artefact.arrays,
            artefact.source,
            str(record["table_digest"]),
            record.get("start"),
            devices,
        )
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ArtefactRefused(f"{path} is no sound {KIND}: {error}; delete it") from None


def _require_state(arrays: Mapping[str, np.ndarray], config: BlueprintConfig) -> None:
    """Raise ValueError if training cannot continue from these numbers. `resume` checks their shapes and dtypes."""
    for name, values in arrays.items():
        for first in range(0, 0 if name in ("streams", "decks") else len(values), _CHUNK):
            part = values[first : first + _CHUNK]
            if not np.isfinite(part).all() or (not name.startswith("regrets") and (part < 0).any()):
                raise ValueError(f"{name} must hold finite numbers, and only regrets may be negative")
    if config.algorithm == PUBLIC:
        return
    cards = deck_cards(config.rules.num_suits, config.rules.num_ranks)
    if not (np.sort(arrays["decks"], axis=-1) == np.sort(cards)).all():
        raise ValueError("a deck does not hold every card once")
    if not arrays["streams"][:, :4].any(axis=1).all():
        raise ValueError("a stream of random numbers has the state 0, which gives the same number for ever")
