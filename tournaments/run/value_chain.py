"""The chain of value networks: each network is trained with values of the network before it, beginning on the river.

The order is: river (solved exactly), end of the turn, turn (solved to the end of the street), end of the flop, flop,
end of the first street. Each stage has a folder of situations and a folder of its network. A stage is done once it has
a network.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.values.data_set import DataConfig
from plurispiel.agents.values.levels import LEVELS, find_level
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.agents.values.torch_training import find_device
from plurispiel.agents.values.training import NetTrainer, TrainingConfig
from plurispiel.agents.values.training_run import Encoder, checkpoint_folder, earlier_net, make_net
from plurispiel.tournaments.run.folder_lock import locked
from plurispiel.tournaments.run.value_data import solve_situations

__all__ = ["CHAINS", "Chain", "Stage", "find_chain", "train_chain"]


class Stage(NamedTuple):
    """A network of the chain.

    Attributes
    ----------
    level : str
        A name of `LEVELS`.
    teacher : str or None
        The level of the network that gives the values; None for exact solutions.
    situations : int
        Number of situations to train with.
    share : float
        The share of a time limit that the stage's situations may take.
    layers, width : int
        Number of the network's hidden layers and their width.
    """

    level: str
    teacher: str | None
    situations: int
    share: float
    layers: int
    width: int


class Chain(NamedTuple):
    """A preset of `values train-all`.

    Attributes
    ----------
    stages : tuple of Stage
    epochs, batch : int
        As in `TrainingConfig`.
    device : str
        As in `TrainingConfig`. A device of PyTorch also computes the values of situations, many at a time, except at
        the end of the first street.
    """

    stages: tuple[Stage, ...]
    epochs: int
    batch: int
    device: str


CHAINS = {
    "two-cores": Chain(
        (
            Stage("river", None, 200_000, 0.4, 4, 384),
            Stage("end-of-turn", "river", 20_000, 0.1, 4, 384),
            Stage("turn", "end-of-turn", 10_000, 0.3, 4, 384),
            Stage("end-of-flop", "turn", 10_000, 0.1, 4, 384),
            Stage("flop", "end-of-flop", 4_000, 0.07, 4, 384),
            Stage("end-of-preflop", "flop", 4_000, 0.03, 3, 256),
        ),
        40,
        250,
        "numpy",
    ),
    "h200": Chain(
        (
            Stage("river", None, 400_000, 0.4, 4, 1_024),
            Stage("end-of-turn", "river", 120_000, 0.09, 5, 768),
            Stage("turn", "end-of-turn", 120_000, 0.29, 4, 384),
            Stage("end-of-flop", "turn", 80_000, 0.1, 4, 384),
            Stage("flop", "end-of-flop", 60_000, 0.09, 4, 384),
            Stage("end-of-preflop", "flop", 10_000, 0.03, 3, 256),
        ),
        50,
        1_000,
        "cuda",
    ),
}
_RATE = 0.001
_COMPARED = ("layers", "width", "epochs", "seed")
"""The settings of training that a network in the folder must share. It may be from `values train` or `values distil`
with another batch, rate or loss, which `values train-all` cannot be given."""

_ORIGIN = "chain"
"""The entry of a network's record with what `train_chain` was asked for: `_asked`."""


def find_chain(name: str) -> Chain:
    """Return a preset by its name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in CHAINS:
        raise ValueError(f"a preset of the chain is {' or '.join(CHAINS)}, got {name!r}{suggestion(name, CHAINS)}")
    return CHAINS[name]


def train_chain(
    folder: Path,
    chain: Chain,
    *,
    workers: int,
    seed: int,
    unseen: int,
    seconds: float | None = None,
    on_stage: Callable[[str], None] = lambda text: None,
    on_solved: Callable[[str], None] = lambda split: None,
    on_epoch: Callable[[NetTrainer], None] = lambda trainer: None,
) -> list[StoredNet]:
    """Train all networks of a chain that a folder lacks, and return all.

    The same call resumes a call that was stopped; a network counts as done if its settings and its teacher are those
    of the call. Another batch, rate, loss or device makes no difference, nor do situations for which the time was too
    short. The caller keeps the folder locked (`folder_lock.locked`).

    Parameters
    ----------
    folder : Path
        Has a subfolder for each network, named by its level, and one for its situations, named LEVEL-data.
    chain : Chain
    workers : int
        The number of processes that solve situations. Where a device of PyTorch computes the values, the processes
        draw situations instead.
    seed : int
        Seed of situations and of first weights.
    unseen : int
        The number of situations of each level with which errors are measured.
    seconds : float, optional
        Time for situations. A stage that has used up its share of the time is trained with the situations that it has.
        At least one situation is solved to train with, and one to measure with, even if no time is left.
    on_stage, on_solved, on_epoch : callable
        `on_stage` is called with the level at the start of a stage, `on_solved` as in `data_set.sample`, and `on_epoch`
        as in `make_net`.

    Raises
    ------
    ArtefactRefused
        If the content of the folder cannot be used, or a network has other settings or another teacher.
    TrainingStopped
        If training diverges.
    ValueError
        If a number is out of range (`TrainingConfig`), the device does not exist, or another process writes the
        situations or the network of a stage.
    OSError
        If a worker died.
    """
    device = None if chain.device == "numpy" else find_device(chain.device)
    trainings = [  # refused here, before any situation is solved
        TrainingConfig(stage.layers, stage.width, chain.epochs, chain.batch, _RATE, seed, "huber", chain.device)
        for stage in chain.stages
    ]
    known: dict[str, StoredNet] = {}
    for stage, training in zip(chain.stages, trainings, strict=True):  # refused here as well
        if there := _done(folder, stage, training, _asked(stage, unseen, known)):
            known[stage.level] = there
    tables: dict[int, np.ndarray] = {}
    nets: dict[str, StoredNet] = {}
    for stage, training in zip(chain.stages, trainings, strict=True):
        place, data = folder / stage.level, folder / f"{stage.level}-data"
        on_stage(stage.level)
        asked = _asked(stage, unseen, nets)
        if there := _done(folder, stage, training, asked):
            nets[stage.level] = there
            continue
        teacher = folder / stage.teacher if stage.teacher else None
        config = DataConfig(stage.level, seed, None, nets[stage.teacher].digest if stage.teacher else None)
        encoder, begun = Encoder(), time.monotonic()
        with locked(data):
            # Each split has an end of its own, so that no split stays empty: a chain without situations cannot go on.
            for split, count, part in (("unseen", unseen, _UNSEEN), ("train", stage.situations, 1.0)):
                until = None if seconds is None else begun + part * stage.share * seconds
                # Values at the end of the first street are means over drawn flops, which a device does not draw.
                if device is None or not LEVELS[stage.level].board_size:
                    solve_situations(data, config, {split: 1}, 1, lambda split: None, teacher)  # even with no time left
                    solve_situations(data, config, {split: count}, workers, on_solved, teacher, until=until)
                else:
                    encoder = _on_device(
                        data, config, {split: count}, device, tables, nets, stage, workers, on_solved, until
                    )
        with locked(checkpoint_folder(place), place):
            origin = {_ORIGIN: asked}
            nets[stage.level] = make_net(data, place, training, encoder=encoder, origin=origin, on_epoch=on_epoch)
    return list(nets.values())


def _asked(stage: Stage, unseen: int, nets: Mapping[str, StoredNet]) -> dict[str, Any]:
    """Return what a call asks of a stage beside its `TrainingConfig`; without the teacher if `nets` lacks it."""
    asked: dict[str, Any] = {"situations": stage.situations, "unseen": unseen}
    if stage.teacher and stage.teacher in nets:
        asked["teacher"] = nets[stage.teacher].digest
    return asked


def _done(folder: Path, stage: Stage, training: TrainingConfig, asked: dict[str, Any]) -> StoredNet | None:
    """Return the network of a stage; None if there is none.

    Raises
    ------
    ArtefactRefused
        If the network is damaged, of another level, or not what is asked for.
    """
    place = folder / stage.level
    there = earlier_net(place, LEVELS[stage.level])
    if there is None:
        return None
    found: dict[str, Any] = {"menu": there.level.menu, "bins": there.net.num_bins}
    for part in (there.record.get("training"), there.record.get(_ORIGIN)):
        found |= part if isinstance(part, dict) else {}
    level = LEVELS[stage.level]
    wanted = {"menu": level.menu, "bins": level.num_bins} | {name: getattr(training, name) for name in _COMPARED}
    wanted |= asked
    names = [name for name in wanted if name in found and found[name] != wanted[name]]
    if names:
        told = ", ".join(f"{name} {found[name]!s:.16} instead of {wanted[name]!s:.16}" for name in names)
        folders = f"{place} and {place}-data" if {"menu", "seed", *asked} & set(names) else str(place)
        raise ArtefactRefused(
            f"{place} was trained with {told}; give another folder (--out), or remove {folders} to train it anew"
        )
    return there


def _on_device(
    data: Path,
    config: DataConfig,
    counts: dict[str, int],
    device: Any,
    tables: dict[int, np.ndarray],
    nets: Mapping[str, StoredNet],
    stage: Stage,
    workers: int,
    on_solved: Callable[[str], None],
    until: float | None,
) -> Encoder:
    """Find values on a device of PyTorch, and return the encoder for that device.

    Orders of hands that `tables` lacks, by size of the board, are added to `tables`.
    """
    # Imported here: these modules are for PyTorch alone.
    from plurispiel.agents.values.batches.encoder import DeviceEncoder
    from plurispiel.agents.values.batches.hand_orders import HandOrders
    from plurispiel.tournaments.run.device_data import order_tables, solve_on_device

    level, rules = find_level(stage.level), LEVELS[stage.level].rules
    if stage.situations >= _MANY:  # for fewer situations, `HandOrders` orders the hands of each board when needed
        sizes = {rules.board_size(rules.num_streets - 1), level.board_size, rules.board_size(level.next_street)}
        tables |= order_tables(rules, sorted(sizes - set(tables)), workers)
    orders = HandOrders(rules, device, tables)
    teacher = nets[stage.teacher] if stage.teacher else None
    solve_on_device(data, config, counts, orders, teacher, workers, on_solved, until=until)
    return DeviceEncoder(orders)


_MANY = 10_000
_UNSEEN = 0.15
"""The largest share of a stage's time for the situations with which errors are measured."""
