"""Training runs with checkpoints, from a data set to a stored network with its measured errors."""

import dataclasses
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.artefact import (
    ArtefactRefused,
    holds_artefact,
    load_artefact,
    require_replaceable,
    write_artefact,
)
from plurispiel.agents.values.data_set import data_config, load_situations, situations_digest
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.net import Layers, ValueNet
from plurispiel.agents.values.net_file import KIND, StoredNet, load_net, rounded_layers, save_net
from plurispiel.agents.values.torch_training import TorchTrainer
from plurispiel.agents.values.training import NetTrainer, TrainingConfig
from plurispiel.agents.values.training_set import TrainingData, training_set
from plurispiel.agents.values.validation import measure, net_evs

__all__ = [
    "Encoder",
    "checkpoint_folder",
    "earlier_net",
    "keep_checkpoint",
    "make_net",
    "new_trainer",
    "restore_checkpoint",
    "train",
]

_KIND, _FORMAT = "value net in training", 1
CHECKPOINT_SECONDS = 30.0
"""Minimum time between two checkpoints."""

_KINDS = ("numbers", "first", "second")


class Encoder:
    """Encodes situations for training, and computes a network's values of situations, here by numpy."""

    training_set = staticmethod(training_set)
    net_evs = staticmethod(net_evs)


def make_net(
    data: Path,
    out: Path,
    config: TrainingConfig,
    *,
    situations: int | None = None,
    num_bins: int | None = None,
    encoder: Encoder | None = None,
    origin: Mapping[str, Any] | None = None,
    on_epoch: Callable[[NetTrainer], None] = lambda trainer: None,
) -> StoredNet:
    """Train a network with all situations, and write it.

    Another network is trained with a tenth of the situations. Both are measured; of the other network, only its errors
    are kept. The same call resumes where an earlier one was stopped, and returns the network if it is there already.
    A network in `out` of the same level, but of other settings or data, is replaced.

    Parameters
    ----------
    data : Path
        Folder of a data set.
    out : Path
        Folder of the network.
    config : TrainingConfig
    situations : int, optional
        Number of situations to train with; by default all.
    num_bins : int, optional
        Number of bins of strength; by default that of the level.
    encoder : Encoder, optional
        Encodes situations and measures errors in place of numpy, with the same results up to rounding.
    origin : dict, optional
        Further entries of the record.
    on_epoch : callable
        Called after each epoch.

    Raises
    ------
    ArtefactRefused
        If the data, the checkpoint or the content of the folder `out` cannot be used.
    TrainingStopped
        If training diverges.
    ValueError
        If the number of bins does not suit the level, the device is not available, or a number of the network is too
        large for float16.
    """
    encoder = encoder or Encoder()
    level = data_config(data).find_level()
    fewest, most = level.bin_limits
    bins = (level.num_bins or most) if num_bins is None else num_bins
    if not fewest <= bins <= most:
        allowed = f"{fewest} to {most:,}, the number of hands on a board of {level.name}"
        if fewest == most:
            allowed = f"{most} at the level {level.name}, one for each class of hands"
        raise ValueError(f"bins are {allowed}, got {bins}")
    require_replaceable(out, KIND)
    known = load_situations(data, "train", situations)
    unseen = load_situations(data, "unseen")
    source = situations_digest(known, unseen)
    wanted = {"data": source, "training": dataclasses.asdict(config)} | dict(origin or {})
    there = earlier_net(out, level)
    if there and there.net.num_bins == bins and wanted.items() <= there.record.items():
        return there
    folder, record = checkpoint_folder(out), dict[str, Any](wanted)
    count = len(known.pots)
    for name, number in (("tenth", max(1, count // 10)), ("all", count)):
        trainer = new_trainer(config, encoder.training_set(level, known.first(number), bins))
        train(trainer, folder / name, source, on_epoch)
        rounded = rounded_layers(trainer.layers)
        validation = measure(ValueNet(rounded), level, unseen, encoder.net_evs)
        if name == "tenth":
            record["tenth"] = {"situations": number} | {key: validation[key] for key in ("mae", "rms", "huber")}
        else:
            record |= {"situations": number, "curve": trainer.errors, "validation": validation}
    save_net(out, trainer.layers, level, record, seed=config.seed)
    shutil.rmtree(folder, ignore_errors=True)
    return load_net(out)


def earlier_net(folder: Path, level: Level) -> StoredNet | None:
    """Return the network in a folder, or None if the folder holds no artefact.

    A new network of the same level may replace it.

    Raises
    ------
    ArtefactRefused
        If the network is damaged, or of another level.
    """
    if not holds_artefact(folder):
        return None
    there = load_net(folder)
    if there.level.name != level.name:
        raise ArtefactRefused(
            f"{folder} holds a network of the level {there.level.name}, and a network of the level {level.name} does "
            "not replace it; give another folder"
        )
    return there


def new_trainer(config: TrainingConfig, data: TrainingData) -> NetTrainer:
    """Return a trainer that has not begun; ValueError if its device is not available."""
    return NetTrainer(config, data) if config.device == "numpy" else TorchTrainer(config, data)


def train(
    trainer: NetTrainer,
    folder: Path,
    source: str,
    on_epoch: Callable[[NetTrainer], None] = lambda trainer: None,
    *,
    seconds: float = CHECKPOINT_SECONDS,
) -> None:
    """Train until all epochs are done; begin at the folder's checkpoint if it has the same settings and data.

    Parameters
    ----------
    trainer : NetTrainer
        Before its first epoch. Modified in place.
    folder : Path
        The checkpoint's folder.
    source : str
        A digest or another text that identifies the data.
    on_epoch : callable
        Called after each epoch.
    seconds : float
        Minimum time between two checkpoints. A checkpoint follows the last epoch in any case.

    Raises
    ------
    ArtefactRefused
        If the checkpoint is damaged, or of a network with other shapes.
    TrainingStopped
        If training diverges.
    """
    restore_checkpoint(trainer, folder, source)
    kept = time.monotonic()
    while trainer.epoch < trainer.config.epochs:
        trainer.run_epoch()
        if time.monotonic() - kept >= seconds or trainer.epoch == trainer.config.epochs:
            keep_checkpoint(trainer, folder, source)
            kept = time.monotonic()
        on_epoch(trainer)


def checkpoint_folder(folder: Path) -> Path:
    """Return the folder in which an unfinished run keeps its checkpoints, beside the folder of the network."""
    return folder.with_name(f".{folder.name}.training")


def keep_checkpoint(trainer: NetTrainer, folder: Path, source: str) -> None:
    """Write all that the rest of a run depends on, except the data."""
    arrays = {"errors": np.array(trainer.errors)}
    for kind, rows in zip(_KINDS, (trainer.layers.arrays(), *trainer.moments), strict=True):
        arrays |= {f"{kind}{number}": each for number, each in enumerate(rows)}
    write_artefact(folder, _KIND, _FORMAT, arrays, dataclasses.asdict(trainer.config), source=source)


def restore_checkpoint(trainer: NetTrainer, folder: Path, source: str) -> None:
    """Restore a run from its checkpoint; without a checkpoint of the same settings and data, change nothing.

    Raises
    ------
    ArtefactRefused
        If the checkpoint is damaged, or of a network with other shapes.
    """
    if not holds_artefact(folder):
        return
    artefact = load_artefact(folder, _KIND, _FORMAT)
    if artefact.config != dataclasses.asdict(trainer.config) or artefact.source != source:
        return
    new = trainer.layers.arrays()
    found = []
    for kind in _KINDS:
        rows = [artefact.arrays.get(f"{kind}{number}") for number in range(len(new))]
        if any(
            row is None or row.shape != like.shape or row.dtype != like.dtype or not np.isfinite(row).all()
            for row, like in zip(rows, new, strict=True)
        ):
            raise ArtefactRefused(
                f"{folder} holds a checkpoint that is damaged or of another network; delete the folder to begin anew"
            )
        found.append([np.array(row) for row in rows])
    errors = artefact.arrays.get("errors")
    if errors is None or errors.ndim != 1 or not 1 <= len(errors) <= trainer.config.epochs:
        raise ArtefactRefused(
            f"{folder} holds a checkpoint without a valid list of the epochs' errors; delete the folder to begin anew"
        )
    trainer.layers, trainer.moments = Layers.of(found[0]), found[1:]
    trainer.errors = errors.tolist()
    trainer.epoch = len(trainer.errors)
