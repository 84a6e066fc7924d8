"""Solved situations on disk, in shards of a thousand. A run that solves them resumes after any interruption.

A shard holds the situations of consecutive numbers. A situation follows from the seed, the split and its number
(`draw_situation`), so interruptions do not change the data.
"""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.machine.artefact import (
    Artefact,
    ArtefactRefused,
    holds_artefact,
    load_artefact,
    write_artefact,
)
from plurispiel.agents.values.drawn_situation import SPLITS, DrawnSituation, draw_situation
from plurispiel.agents.values.levels import Level, chips_behind, find_level, pot_of
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.self_play import bundled_digest
from plurispiel.agents.values.solved_situation import Solved

__all__ = [
    "FLUSH_SECONDS",
    "SHARD",
    "DataConfig",
    "Shard",
    "Situations",
    "append_to_shard",
    "data_config",
    "fill_shard",
    "joined",
    "keep_shard",
    "load_accuracy",
    "load_situations",
    "missing_shards",
    "num_there",
    "sample",
    "situations_digest",
    "solve_numbers",
]

SHARD = 1_000
"""Number of situations in a full shard."""

FLUSH_SECONDS = 60.0
"""Time between two writes of an unfinished shard: an interruption loses the situations solved since the last write."""

_KIND, _FORMAT = "value data", 1
_MAX_CHIPS, _MAX_SLACK = 1e6, 1e6
_PURPOSES = {"train": "train with", "unseen": "measure with"}

Solve = Callable[[Level, DrawnSituation], Solved]
"""Returns the solution of a situation, as `solve_exactly` does."""


class DataConfig(NamedTuple):
    """The origin of a data set.

    Attributes
    ----------
    level : str
    seed : int
    menu : str, optional
        The raises in solved situations; by default those of the level.
    teacher : str, optional
        The digest of the network that gave the values.
    """

    level: str
    seed: int
    menu: str | None = None
    teacher: str | None = None

    def find_level(self) -> Level:
        """Return the level with the menu; errors are those of `levels.find_level`."""
        return find_level(self.level, self.menu)


class Shard(NamedTuple):
    """A part of a data set, kept in its own folder.

    Attributes
    ----------
    split : str
    first : int
        Number of the shard's first situation.
    size : int
        Number of situations that the shard should have.
    """

    split: str
    first: int
    size: int

    def place(self, folder: Path) -> Path:
        """Return the shard's folder, a subfolder of the data set's folder."""
        return folder / f"{self.split}-{self.first // SHARD:05}"


class Situations(NamedTuple):
    """Solved situations. Hands are in the order of `ordered_hands`; all boards of a level have equally many hands.

    Attributes
    ----------
    boards : uint8[n, num_cards]
        Each board represents all boards that differ from it by a renaming of suits (`boards.BoardClasses`).
    pots, behind : float64[n]
        Chips in the pot, from both seats, and chips that each seat can still put in.
    roots : float16[n, 2, num_hands]
        Square roots of the weights in both ranges; the sum of the weights need not be 1. `ranges` returns ranges
        that sum to 1.
    evs : float16[n, 2, num_hands]
        Values in pots (`Solved.evs`).
    slack : float32[n]
        `Solved.slack`.
    iterations : int32[n]
    """

    boards: np.ndarray
    pots: np.ndarray
    behind: np.ndarray
    roots: np.ndarray
    evs: np.ndarray
    slack: np.ndarray
    iterations: np.ndarray

    def ranges(self, chosen: np.ndarray | slice) -> np.ndarray:
        """Return the ranges of chosen situations: float64[2, n, num_hands], rows that sum to 1."""
        weights = self.roots[chosen].astype(np.float64) ** 2
        return np.ascontiguousarray((weights / weights.sum(axis=2, keepdims=True)).transpose(1, 0, 2))

    @property
    def spr(self) -> np.ndarray:
        """Chips behind, divided by the pot: float64[n]."""
        return self.behind / self.pots

    def first(self, count: int) -> "Situations":
        """Return the first `count` situations."""
        return Situations(*(each[:count] for each in self))


def sample(
    folder: Path,
    config: DataConfig,
    counts: dict[str, int],
    solve: Solve,
    on_solved: Callable[[str], None] = lambda split: None,
    until: float | None = None,
) -> None:
    """Solve the situations that a data set lacks, shard by shard.

    An unfinished shard is written about every `FLUSH_SECONDS`. After an interruption, the next call goes on with it.

    Parameters
    ----------
    folder : Path
        Holds a subfolder for each shard.
    config : DataConfig
    counts : dict of str to int
        The numbers of situations of each split that the data set should have. A data set that has more keeps them.
    solve : callable
    on_solved : callable
        Called with the split after each situation, also for situations that were there already.
    until : float, optional
        The time of `time.monotonic` from which on no further situation is begun.

    Raises
    ------
    ValueError
        If there is no such level or menu.
    ArtefactRefused
        If the folder holds shards that are damaged or of another origin.
    """
    for shard in missing_shards(folder, config, counts, on_solved):
        if until is not None and time.monotonic() >= until:
            return
        fill_shard(folder, config, shard, solve, on_solved, until)


def missing_shards(
    folder: Path, config: DataConfig, counts: dict[str, int], on_there: Callable[[str], None] = lambda split: None
) -> Iterator[Shard]:
    """Yield the shards that a data set lacks, in whole or in part. Parameters and errors are as in `sample`.

    `on_there` is called with the split for each situation that is there already.
    """
    for split, count in counts.items():
        for first in range(0, count, SHARD):
            shard = Shard(split, first, min(SHARD, count - first))
            there = num_there(folder, config, shard)
            for _ in range(min(there, shard.size)):
                on_there(split)
            if there < shard.size:
                yield shard


def fill_shard(
    folder: Path,
    config: DataConfig,
    shard: Shard,
    solve: Solve,
    on_solved: Callable[[str], None] = lambda split: None,
    until: float | None = None,
) -> None:
    """Solve the situations that a shard lacks, and write them about every `FLUSH_SECONDS` and at the end.

    The parameter `until` and the errors are as in `sample`.
    """
    end = shard.first + shard.size
    number, kept = shard.first + num_there(folder, config, shard), time.monotonic()
    parts: list[Situations] = []
    while number < end:
        parts.append(solve_numbers(config, shard.split, [number], solve, on_solved))
        number += 1
        now = time.monotonic()
        is_over = until is not None and now >= until
        if number == end or is_over or now - kept >= FLUSH_SECONDS:
            append_to_shard(folder, config, shard, number - len(parts), joined(parts))
            parts, kept = [], now
        if is_over:
            return


def joined(parts: Sequence[Situations]) -> Situations:
    """Return the situations of all parts, in order. There must be at least one part."""
    return Situations(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def num_there(folder: Path, config: DataConfig, shard: Shard) -> int:
    """Return the number of situations that a shard has."""
    place = shard.place(folder)
    return len(_shard(place, config, shard.split, shard.first).pots) if holds_artefact(place) else 0


def solve_numbers(
    config: DataConfig,
    split: str,
    numbers: Iterable[int],
    solve: Solve,
    on_solved: Callable[[str], None] = lambda split: None,
) -> Situations:
    """Return the solved situations of some numbers, at least one; `on_solved` is called as in `sample`."""
    level, rows = config.find_level(), []
    for number in numbers:
        situation = draw_situation(level, config.seed, split, number)
        rows.append(_row(situation, solve(level, situation)))
        on_solved(split)
    return Situations(*(np.stack(column) for column in zip(*rows, strict=True)))


def append_to_shard(folder: Path, config: DataConfig, shard: Shard, begin: int, new: Situations) -> None:
    """Write a shard with the situations that it has, followed by new ones, of which the first has the number `begin`.

    Raises
    ------
    ArtefactRefused
        If the situations that the shard has do not end before `begin`, or cannot be used.
    """
    place, there = shard.place(folder), num_there(folder, config, shard)
    if shard.first + there != begin:  # where folders cannot be locked
        raise ArtefactRefused(
            f"{place} has {there:,} situations instead of {begin - shard.first:,}: another process has changed it; "
            "give the same command again"
        )
    for left in folder.glob(f".{place.name}-*"):  # leftovers of a process that was killed while writing
        shutil.rmtree(left, ignore_errors=True)
    if there:
        new = joined([_shard(place, config, shard.split, shard.first), new])
    keep_shard(folder, config, shard, new)


def keep_shard(folder: Path, config: DataConfig, shard: Shard, situations: Situations) -> None:
    """Write all situations of a shard."""
    facts = _facts(config, shard.split, shard.first)
    write_artefact(shard.place(folder), _KIND, _FORMAT, situations._asdict(), facts, seed=config.seed)


def load_situations(
    folder: Path, split: str, count: int | None = None, *, config: DataConfig | None = None
) -> Situations:
    """Return the situations of a split; without `count`, all up to the first shard that is missing.

    Without `config` the origin is read from the folder (`data_config`).

    Raises
    ------
    ArtefactRefused
        If the folder holds no data set, a shard is damaged or of another origin, or there are fewer situations
        than `count`.
    """
    config = config or data_config(folder)
    parts = [
        _shard(folder / f"{split}-{number:05}", config, split, number * SHARD) for number in _numbers(folder, split)
    ]
    if not parts:
        raise ArtefactRefused(
            f"{folder} holds no situations to {_PURPOSES[split]}; plurispiel values sample makes some"
        )
    found = joined(parts)
    if count is not None and len(found.pots) < count:
        raise ArtefactRefused(
            f"{folder} has {len(found.pots):,} situations to {_PURPOSES[split]}, not {count:,}; "
            "plurispiel values sample makes more"
        )
    return found if count is None else found.first(count)


def load_accuracy(folder: Path, split: str) -> tuple[np.ndarray, np.ndarray]:
    """Return `Situations.slack` and `Situations.iterations` of a split, with one shard in memory at a time.

    Both are empty if the folder holds no situations of the split. Other errors are as in `load_situations`.
    """
    config = data_config(folder)
    slack, iterations = [np.zeros(0, np.float32)], [np.zeros(0, np.int32)]
    for number in _numbers(folder, split):
        shard = _shard(folder / f"{split}-{number:05}", config, split, number * SHARD)
        slack.append(np.array(shard.slack))
        iterations.append(np.array(shard.iterations))
    return np.concatenate(slack), np.concatenate(iterations)


def data_config(folder: Path) -> DataConfig:
    """Return the origin of a data set.

    Raises
    ------
    ArtefactRefused
        If there is no folder, or it holds the first shard of neither split. Also if the first shard is damaged or of
        another version.
    """
    if not folder.is_dir():
        found = f"{folder} is no folder" if folder.exists() else f"there is no folder {folder}"
        raise ArtefactRefused(f"{found}; give a folder that plurispiel values sample has written")
    split = next((each for each in SPLITS if holds_artefact(folder / f"{each}-00000")), None)
    if split is None:
        raise ArtefactRefused(
            f"{folder} holds no complete value data; run plurispiel values sample with this folder again"
        )
    place = folder / f"{split}-00000"
    artefact = load_artefact(place, _KIND, _FORMAT)
    seed, said = artefact.seed if artefact.seed is not None else -1, artefact.config.get
    teacher = said("teacher")
    config = DataConfig(str(said("level")), seed, str(said("menu")), None if teacher is None else str(teacher))
    try:
        facts = _facts(config, split, 0)
    except ValueError:  # another level or menu
        facts = {}
    if artefact.config != facts:
        raise ArtefactRefused(f"{place} is not a shard of this version of plurispiel; make the data again")
    return config


def situations_digest(*parts: Situations) -> str:
    """Return a hash of situations."""
    digest = hashlib.sha256()
    for part in parts:
        for each in part:
            digest.update(f"{each.dtype} {each.shape}".encode() + np.ascontiguousarray(each).tobytes())
    return digest.hexdigest()


def _numbers(folder: Path, split: str) -> Iterator[int]:
    """Yield the numbers of shards, from 0 up to the first that is missing."""
    number = 0
    while holds_artefact(folder / f"{split}-{number:05}"):
        yield number
        number += 1


def _shard(place: Path, config: DataConfig, split: str, first: int) -> Situations:
    """Return the situations of a shard after checks of its origin, shapes and numbers."""
    artefact = load_artefact(place, _KIND, _FORMAT)
    if artefact.config != _facts(config, split, first) or artefact.seed != config.seed:
        raise ArtefactRefused(f"{place} holds other situations than asked for; give another folder")
    if not _is_sound(artefact, config.find_level()):
        raise ArtefactRefused(f"{place} holds impossible numbers; make the data again")
    return Situations(**{name: artefact.arrays[name] for name in Situations._fields})


def _facts(config: DataConfig, split: str, first: int) -> dict[str, Any]:
    """Return the configuration of a shard."""
    level = config.find_level()
    facts = {
        "level": level.name,
        "split": split,
        "first": first,
        "menu": level.menu,
        "tolerance": level.tolerance,
        "blueprint": level.blueprint and bundled_digest(level.blueprint),
    }
    return facts if config.teacher is None else facts | {"teacher": config.teacher}


def _row(situation: DrawnSituation, solved: Solved) -> tuple[np.ndarray, ...]:
    """Return the entries of a situation in the arrays of `Situations`."""
    order = ordered_hands(situation.state.rules, situation.board).hands.combos
    return (
        np.array(situation.board, np.uint8),
        np.array(pot_of(situation.state), np.float64),
        np.array(chips_behind(situation.state), np.float64),
        np.sqrt(situation.ranges[:, order]).astype(np.float16),
        solved.evs[:, order].astype(np.float16),
        np.array(solved.slack, np.float32),
        np.array(solved.iterations, np.int32),
    )


def _is_sound(artefact: Artefact, level: Level) -> bool:
    """Return whether the arrays of an untrusted file have the shapes, types and ranges of a shard."""
    arrays = artefact.arrays
    if set(arrays) != set(Situations._fields) or arrays["pots"].ndim != 1:
        return False
    count, rules = len(arrays["pots"]), level.rules
    num_hands = level.num_hands
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        "boards": ((count, level.board_size), np.uint8),
        "pots": ((count,), np.float64),
        "behind": ((count,), np.float64),
        "roots": ((count, 2, num_hands), np.float16),
        "evs": ((count, 2, num_hands), np.float16),
        "slack": ((count,), np.float32),
        "iterations": ((count,), np.int32),
    }
    if not 1 <= count <= SHARD or any(
        (arrays[name].shape, arrays[name].dtype) != (shape, np.dtype(kind)) for name, (shape, kind) in shapes.items()
    ):
        return False
    boards = np.sort(arrays["boards"], axis=1)
    return bool(
        np.isin(boards, rules.cards).all()
        and (np.diff(boards, axis=1) != 0).all()
        and all(np.isfinite(arrays[name]).all() for name in ("roots", "evs"))
        # A number that is not finite is within no limits.
        and ((arrays["pots"] >= 1.0) & (arrays["pots"] <= _MAX_CHIPS)).all()
        and ((arrays["behind"] >= 0.0) & (arrays["behind"] <= _MAX_CHIPS)).all()
        and (np.abs(arrays["slack"]) <= _MAX_SLACK).all()
        and (arrays["roots"] >= 0.0).all()
        and (arrays["roots"].max(axis=2) > 0.0).all()
    )
