"""Networks for the end of a street, distilled from a network for the start of the next one.

The value of a hand at the end of a street is the mean of its values on the boards that may follow. Let m[h] be the
weight of the other seat's hands that are compatible with hand h. On the board with the new card c, let m_c[h] be this
weight, and e_c[h] the expected value of h. Then the expected value at the end of the street is

    e[h] = sum_c m_c[h] e_c[h] / (44 m[h])     on the turn, where 44 rivers are left given both hands.

The network learns the *residual*: the gain of bets over checking down. The same formula holds for the residual, so a
few random cards give an unbiased estimate, which is free of the luck of checking down. Random targets need a squared
error, whose minimum is at their mean. No solver is needed, so each epoch can have new situations.
"""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass
from plurispiel.abstraction.machine.artefact import ArtefactRefused, require_replaceable
from plurispiel.agents.values import gain_kernels as kernels
from plurispiel.agents.values.data_set import DataConfig, load_situations, sample
from plurispiel.agents.values.drawn_situation import SPLITS, DrawnSituation, draw_board, draw_situation
from plurispiel.agents.values.encoding import bins_of, board_features, gate, inputs, num_inputs
from plurispiel.agents.values.levels import LEVELS, Level, chips_behind, find_level, pot_of
from plurispiel.agents.values.net import ValueNet
from plurispiel.agents.values.net_file import KIND, StoredNet, load_net, rounded_layers, save_net
from plurispiel.agents.values.next_boards import chance_of_a_next_board, count_next_boards, next_boards
from plurispiel.agents.values.ordered_hands import OrderedHands, ordered_hands
from plurispiel.agents.values.solved_situation import Solved
from plurispiel.agents.values.training import NetTrainer, TrainingConfig
from plurispiel.agents.values.training_run import checkpoint_folder, earlier_net, new_trainer, train
from plurispiel.agents.values.training_set import TrainingSet, encode
from plurispiel.agents.values.validation import measure
from plurispiel.agents.values.zero_sum import without_gain

__all__ = ["FreshSituations", "distil", "distilled_evs", "level_taught_by", "residuals"]

_PER_BOARD = 4
"""The number of situations that share a board, unless the level has more (`Level.per_board`). Four situations on one
board take half as long as on four boards, since the hands of only one board are ordered."""

_MOST_BOARDS = 1_000
_FLOPS = 200
"""Where more than `_MOST_BOARDS` boards may follow, as before the flop, `_FLOPS` random ones stand for all."""

_BOARDS = len(SPLITS)
"""First entry of the spawn key of a board's random numbers; for a situation, this entry is the number of its split."""


def level_taught_by(level: Level) -> Level:
    """Return the level whose networks are distilled from the networks of `level`, with the menu of `level`.

    Raises
    ------
    ValueError
        If there is no such level.
    """
    for found in LEVELS.values():
        if found.teacher == level.name:
            return find_level(found.name, level.menu)
    *teachers, last = (each.teacher for each in LEVELS.values() if each.teacher)
    raise ValueError(
        f"networks are distilled from those of the level {', '.join(teachers)} or {last}, not of {level.name}"
    )


def residuals(
    teacher: ValueNet,
    rules: HoldemRules,
    ordered: OrderedHands,
    ranges: np.ndarray,
    spr: np.ndarray,
    chosen: np.ndarray | None = None,
    *,
    threads: int = 1,
) -> np.ndarray:
    """Return expected values minus values of checking down, at the end of a street: float64[2, n, num_hands], in pots.

    Parameters
    ----------
    teacher : ValueNet
        For the start of the next street.
    rules : HoldemRules
    ordered : OrderedHands
        The hands on the board of the street.
    ranges : float64[2, n, num_hands]
        Rows sum to 1.
    spr : float64[n]
        Chips behind, in pots.
    chosen : int[k], optional
        Numbers of the boards to take the mean over (`next_boards`). All of them, the default, give the exact mean of
        the teacher's values, and k random ones an unbiased estimate. Before the flop, always give `chosen`: there are
        too many flops to take all.
    threads : int
        Number of threads for the network; the result does not depend on it.

    Raises
    ------
    ValueError
        If the ranges do not have these shapes.
    """
    shape = (2, len(spr), len(ordered.hands.combos))
    if ranges.shape != shape:  # kernels check no bounds
        raise ValueError(f"ranges of this board and these stacks have the shape {shape}, got {ranges.shape}")
    numbers = None if chosen is None else tuple(chosen.tolist())
    boards = next_boards(rules, ordered.board, teacher.num_bins, numbers)
    weights = np.array(ranges, np.float64, order="C")
    seen, rows = [], []
    for hands, places, bins, features in boards:
        here, totals = np.empty((2, len(spr), len(places))), np.empty((2, len(spr)))
        # If all hands of a range hold the new card, the range has no weight on this board: any range may stand in.
        kernels.fill_ranges(weights, places, here, totals)
        seen.append((bins, here, fold_mass(hands, here[::-1]), totals, places))
        rows.append(inputs(bins, here, spr, features))
    outputs = teacher.outputs(np.concatenate(rows), threads=threads).reshape(len(boards), len(spr), 2, -1)
    values, gates = np.zeros(ranges.shape), gate(spr)
    for (bins, here, masses, totals, places), some in zip(seen, outputs, strict=True):
        gains = np.empty_like(here)
        kernels.fill_gains(bins.first, bins.share, some, gates, masses, gains)
        kernels.add_gains(without_gain(gains, here, masses), totals, places, values)
    number = count_next_boards(rules, ordered.board)
    values *= chance_of_a_next_board(rules, ordered.board) * number / len(boards)
    if number > _MOST_BOARDS:  # a chosen flop stands for the flops in other suits: hands of a class get their mean
        sizes = np.diff(ordered.hands.groups)
        values = np.repeat(np.add.reduceat(values, ordered.hands.groups[:-1], axis=2) / sizes, sizes, axis=2)
    masses = ordered.masses(ranges)
    return np.divide(values, masses, out=np.zeros_like(values), where=masses > 0.0)


def distilled_evs(teacher: ValueNet, situation: DrawnSituation) -> Solved:
    """Return the mean of a teacher's values over the boards of the next street, in the place of a solution.

    The mean is over all boards, but before the flop over `_FLOPS` boards, the same for all situations.
    """
    ordered = ordered_hands(situation.state.rules, situation.board)
    combos, spr = ordered.hands.combos, np.array([_spr(situation)])
    ranges = _rows(situation, ordered)[:, None]
    chosen = None
    if (number := count_next_boards(situation.state.rules, situation.board)) > _MOST_BOARDS:
        chosen = np.random.default_rng(number).permutation(number)[:_FLOPS]
    found = ordered.checkdown(ranges).evs + residuals(teacher, situation.state.rules, ordered, ranges, spr, chosen)
    evs = np.zeros(situation.ranges.shape)
    evs[:, combos] = found[:, 0]
    return Solved(evs, 0.0, 0)


class FreshSituations:
    """New random situations for each epoch, with a teacher's values on random boards of the next street.

    Parameters
    ----------
    teacher : ValueNet
    level : Level
        The end of a street.
    number : int
        Situations of an epoch.
    num_boards : int
        Boards of the next street for each situation.
    seed : int
    """

    def __init__(self, teacher: ValueNet, level: Level, number: int, num_boards: int, seed: int):
        self._teacher, self._level, self._number, self._num_boards = teacher, level, number, num_boards
        self._seed = seed
        self.num_bins = level.num_bins
        self.num_inputs = num_inputs(level.rules, level.num_bins)

    def of_epoch(self, number: int) -> TrainingSet:
        """Return the situations of an epoch, counted from 1."""
        first, end = (number - 1) * self._number, number * self._number
        step = max(_PER_BOARD, self._level.per_board)
        parts = [self._some(start, min(start + step, end)) for start in range(first, end, step)]
        return TrainingSet(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _some(self, first: int, end: int) -> TrainingSet:
        """Return the situations with numbers from `first` to `end` - 1, on one board."""
        level, split = self._level, SPLITS[0]
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(_BOARDS, first)))
        board = draw_board(level, split, rng)
        drawn = [draw_situation(level, self._seed, split, number, board) for number in range(first, end)]
        ordered = ordered_hands(level.rules, board)
        chosen = rng.permutation(count_next_boards(level.rules, board))[: self._num_boards]
        ranges = np.stack([_rows(each, ordered) for each in drawn], axis=1)
        spr = np.array([_spr(each) for each in drawn])
        found = residuals(self._teacher, level.rules, ordered, ranges, spr, chosen)
        bins, features = bins_of(ordered.hands, self.num_bins), board_features(level.rules, board)
        return encode(bins, features, ranges, ordered.masses(ranges), found, spr)


def distil(
    teacher: Path,
    out: Path,
    config: TrainingConfig,
    *,
    situations: int = 10_000,
    unseen: int = 1_000,
    num_boards: int = 8,
    on_epoch: Callable[[NetTrainer], None] = lambda trainer: None,
) -> StoredNet:
    """Distil a network for the end of a street, measure it on unseen situations, and write it.

    The same call resumes where an earlier one was stopped, and returns the network if it is there already.
    A network in `out` of the same level, but of other settings or another teacher, is replaced.

    Parameters
    ----------
    teacher : Path
        Folder of a network for the start of the next street.
    out : Path
        Folder of the network.
    config : TrainingConfig
        With a squared loss.
    situations : int
        Situations of each epoch.
    unseen : int
        Situations to measure errors with. Their values are those of `distilled_evs`.
    num_boards : int
        Boards of the next street for each situation of the training.
    on_epoch : callable
        Called after each epoch.

    Raises
    ------
    ArtefactRefused
        If the teacher, the checkpoint or the content of the folder `out` cannot be used.
    TrainingStopped
        If training diverges.
    ValueError
        If no level is taught by the teacher's level (`level_taught_by`), the loss is not squared, the device is not
        available, or a number of the network is too large for float16.
    """
    if config.loss != "squared":
        raise ValueError(f"distillation has a squared loss, got {config.loss!r}")
    source = load_net(teacher)
    level = level_taught_by(source.level)
    require_replaceable(out, KIND)
    record: dict[str, Any] = {
        "data": source.digest,
        "training": dataclasses.asdict(config),
        "situations": situations * config.epochs,
        "boards": num_boards,
        "unseen": unseen,
    }
    there = earlier_net(out, level)
    if there and record.items() <= there.record.items():
        return there
    folder = checkpoint_folder(out)
    data = DataConfig(level.name, config.seed, level.menu, source.digest)
    held_out = folder / "unseen"
    try:
        sample(held_out, data, {"unseen": unseen}, lambda _, drawn: distilled_evs(source.net, drawn))
    except ArtefactRefused:  # damaged, or of another teacher or seed
        shutil.rmtree(held_out, ignore_errors=True)
        sample(held_out, data, {"unseen": unseen}, lambda _, drawn: distilled_evs(source.net, drawn))
    trainer = new_trainer(config, FreshSituations(source.net, level, situations, num_boards, config.seed))
    train(trainer, folder / "all", f"{source.digest} {situations} {num_boards}", on_epoch)
    known = load_situations(held_out, "unseen", unseen, config=data)
    record |= {"curve": trainer.errors, "validation": measure(ValueNet(rounded_layers(trainer.layers)), level, known)}
    save_net(out, trainer.layers, level, record, seed=config.seed)
    shutil.rmtree(folder, ignore_errors=True)
    return load_net(out)


def _rows(situation: DrawnSituation, ordered: OrderedHands) -> np.ndarray:
    """Return both ranges in the order of the hands: float64[2, num_hands], rows that sum to 1."""
    weights = situation.ranges[:, ordered.hands.combos]
    return weights / weights.sum(axis=1, keepdims=True)


def _spr(situation: DrawnSituation) -> float:
    return chips_behind(situation.state) / pot_of(situation.state)
