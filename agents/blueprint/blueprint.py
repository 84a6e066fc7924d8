"""A blueprint: the strategy of an abstract game, learnt before play, and its storage."""

import contextlib
import dataclasses
import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree, TreeSize, build_tree, tree_size
from plurispiel.abstraction.cards.buckets import BucketTable, load_table
from plurispiel.abstraction.cards.config import AbstractionConfig
from plurispiel.abstraction.cards.config import config_from_dict as card_config
from plurispiel.abstraction.cards.model import CardModel, model_from_arrays
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.artefact import (
    Artefact,
    ArtefactRefused,
    check_once,
    holds_artefact,
    load_artefact,
    write_artefact,
)
from plurispiel.abstraction.machine.folders import tables_folder
from plurispiel.agents.blueprint import _blueprint_kernels as kernels
from plurispiel.agents.blueprint.cards import BucketLookup, ModelBuckets, lossless_buckets, table_buckets
from plurispiel.agents.blueprint.config import LOSSLESS, BlueprintConfig, config_from_dict
from plurispiel.agents.blueprint.training_record import work_done

__all__ = ["Blueprint", "GameArrays", "game_arrays", "load_blueprint"]

KIND, FORMAT_VERSION = "blueprint", 1
FOLDER = "blueprint"
"""The name of the subfolder of a training run that holds the finished blueprint."""
CHECKPOINTS = "checkpoints"
"""The name of the subfolder of a training run that holds its checkpoints."""

HIGHEST = 255
"""The number that stands for probability 1 in rows of 8 bits."""

_CARDS, _FLOP_ROWS = "cards_", "flop_rows"


class GameArrays(NamedTuple):
    """An abstract game as kernels read it.

    Attributes
    ----------
    num_seats, num_streets, num_hole_cards, num_board_cards, num_suits : int
        Sizes of the game. `num_streets` counts the streets that have buckets, from the first street on.
    board_sizes : int64[num_streets]
        The number of board cards on each street.
    base : int64[num_streets + 1]
        The index of each street's first cell, then the number of all cells.
    pairs : int64[num_streets]
        The number of (decision, action) pairs of each street, in other words the cells of one bucket.
    """

    num_seats: int
    num_streets: int
    num_hole_cards: int
    num_board_cards: int
    num_suits: int
    board_sizes: np.ndarray
    base: np.ndarray
    pairs: np.ndarray


class StreetCells(NamedTuple):
    """The layout of one street: the row of decision d in a bucket begins at base + bucket * pairs + rows[d].

    Attributes
    ----------
    rows, num_actions : integers[num_decisions]
        The offset of each decision's row among the cells of a bucket, ascending, and its number of actions.
    base : int
        The index of the street's first cell.
    pairs : int
        The number of cells of a bucket.
    num_buckets : int
    """

    rows: np.ndarray
    num_actions: np.ndarray
    base: int
    pairs: int
    num_buckets: int


def game_arrays(rules: HoldemRules, size: TreeSize, num_buckets: tuple[int, ...]) -> GameArrays:
    """Return an abstract game as kernels read it, from the size of its betting tree and the buckets of each street.

    Raises
    ------
    ValueError
        If a street with decisions has no buckets.
    """
    streets = len(num_buckets)
    if any(size.pairs[streets:]):
        raise ValueError(f"the tree has decisions after its first {streets} streets, and only these have buckets")
    cells = [pairs * buckets for pairs, buckets in zip(size.pairs, num_buckets, strict=False)]
    return GameArrays(
        rules.num_seats,
        streets,
        rules.num_hole_cards,
        rules.num_board_cards,
        rules.num_suits,
        np.array([rules.board_size(street) for street in range(streets)], np.int64),
        np.cumsum([0, *cells]).astype(np.int64),
        np.array(size.pairs[:streets], np.int64),
    )


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A strategy for the decisions of an abstract game.

    Attributes
    ----------
    rules : HoldemRules
    tree : BettingTree
    cards : BucketLookup
    game : GameArrays
    rows : float32 or uint8[num_cells], read-only
        The probability of each cell, as a float or in units of 1/255. The cells of a row, one for each action of a
        decision in one bucket, sum to 1 in float32 and to about 255 in uint8. A row of zeros is missing: never visited
        in training, or dropped by `pack_blueprint`.
    config : BlueprintConfig or None
        The settings of the blueprint; None for a blueprint without settings, which cannot be saved.
    training : dict
        The record of the training: iterations, seconds and so on.
    digest : str
        Digest of the blueprint's whole artefact; empty if it was not loaded from an artefact.
    """

    rules: HoldemRules
    tree: BettingTree
    cards: BucketLookup
    game: GameArrays
    rows: np.ndarray
    config: BlueprintConfig | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self):
        # For numba, read-only and writable arrays differ in type. Rows from a file are read-only. Other rows are made
        # read-only too, so that kernels are not compiled a second time.
        rows = self.rows.view()
        rows.setflags(write=False)
        object.__setattr__(self, "rows", rows)

    def strategy(self, node: int, buckets: np.ndarray) -> np.ndarray:
        """Return the probabilities of a decision's actions in some buckets: float32[len(buckets), num_actions].

        Missing rows are zeros.
        """
        street = self.tree.street[node]
        first = int(self.game.base[street]) + int(self.tree.row[node])
        rows = np.empty((len(buckets), int(self.tree.num_actions[node])), np.float32)
        kernels.read_rows(self.rows, first, int(self.game.pairs[street]), buckets.astype(np.int64), rows)
        return rows

    def decisions(self, street: int) -> np.ndarray:
        """Return the nodes of a street's decisions, in the order of their rows: int32[num_decisions]."""
        return street_decisions(self.tree, street)

    def num_rows(self) -> list[tuple[int, int]]:
        """Return, for each street, the number of rows and the number of rows that are not missing."""
        counts = []
        for street, buckets in enumerate(self.cards.num_buckets):
            cells = street_cells(self.tree, self.game, street, buckets)
            counts.append((len(cells.rows) * buckets, kernels.count_rows(cells, self.rows)))
        return counts

    def save(self, folder: Path) -> str:
        """Write the blueprint as an artefact, replacing an older artefact in the folder, and return its digest.

        The artefact has no bucket table. Unless the buckets are lossless, it has the card model, and the buckets on
        flops if `BucketLookup.flop_rows` has them; the card model computes all other buckets.

        Raises
        ------
        ValueError
            If the blueprint has no configuration.
        ArtefactRefused
            If the folder is not empty and holds anything but a blueprint.
        """
        if self.config is None:
            raise ValueError("a blueprint without its configuration cannot be saved: give it a config")
        model = self.cards.model
        cards: dict[str, Any] = {"kind": LOSSLESS}
        arrays = {}
        if model is not None:
            cards = {"kind": "table", "digest": self.cards.table_digest, "config": model.config.as_dict()}
            arrays = {_CARDS + name: values for name, values in model.arrays().items()}
            if self.cards.flop_rows is not None:
                arrays[_FLOP_ROWS] = self.cards.flop_rows
        counts = self.num_rows()
        return write_artefact(
            folder,
            KIND,
            FORMAT_VERSION,
            arrays | {"rows": self.rows},
            {
                "config": self.config.as_dict(),
                "cards": cards,
                "training": dict(self.training),
                "rows": [number for number, _ in counts],
                "rows_learnt": [number for _, number in counts],
            },
            seed=self.config.seed,
            source=tree_digest(self.tree),
        )


def row_sums(rows: np.ndarray) -> np.ndarray:
    """Return the sum of each of many short rows, several times faster than ``rows.sum(axis=1)``."""
    return functools.reduce(np.add, rows.T)


def load_blueprint(folder: Path) -> Blueprint:
    """Return a verified blueprint; its rows are memory-mapped.

    Lossless buckets are computed. Other buckets are read from the bucket table used in training if this table is in the
    user's tables folder. Otherwise the card model computes them, except buckets on flops that the artefact holds.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged blueprint.
    """
    artefact = load_artefact(folder, KIND, FORMAT_VERSION)
    with _soundness(artefact):
        config = config_from_dict(artefact.config["config"])
        rules, rows = config.rules, artefact.arrays["rows"]
        size = tree_size(rules, config.game_menu, max_nodes=2 * rows.size + 1000)  # more than any tree with these rows
        cards = _cards(artefact, rules, max(street for street, pairs in enumerate(size.pairs) if pairs) + 1)
        game = game_arrays(rules, size, cards.num_buckets)
        if rows.dtype not in (np.uint8, np.float32) or rows.shape != (int(game.base[-1]),):
            raise ValueError(
                f"its rows are {rows.dtype}{list(rows.shape)}, and its tree has {int(game.base[-1])} cells"
            )
        tree = build_tree(rules, config.game_menu, size)  # built only after the check, as a file may claim any size
        if artefact.source != tree_digest(tree):
            raise ValueError("its betting tree differs from the tree of the game and bet sizes in its settings")
        training = artefact.config["training"]
        _require_training(training)
        blueprint = Blueprint(rules, tree, cards, game, rows, config, training, artefact.digest)
        check_once(artefact, lambda: _require_probabilities(blueprint))
        return blueprint


@contextlib.contextmanager
def _soundness(artefact: Artefact) -> Iterator[None]:
    """Raise ArtefactRefused if the content of an artefact turns out not to be that of a blueprint."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ArtefactRefused(f"{artefact.folder} is no sound {KIND}: {error}; train it again") from None


def _require_training(training: Any) -> None:
    """Raise ValueError if the record of a training is malformed."""
    if not isinstance(training, dict) or type(training.get("iterations")) is not int:
        raise ValueError("the record of its training is missing or damaged")
    for name in ("iterations", "traversals", "nodes", "threads", "seconds", "core_seconds"):
        value = training.get(name, 0)
        if not isinstance(value, (int, float)) or value < 0:
            raise ValueError(f"{name} of its training must be a number of at least 0, got {value!r:.40}")
    device = training.get("device", "cpu")
    if not isinstance(device, str) or not device.isprintable() or len(device) > 500:
        raise ValueError("the device of its training must be a short text")
    if start := training.get("start"):
        weight = start["weight_boards"] if "weight_boards" in start else start["weight_bb"]
        numbers = start["iterations"], start["core_hours"], weight
        digest = start["digest"]
        if not (isinstance(digest, str) and digest.isalnum()) or not all(map(_is_amount, numbers)):
            raise ValueError("the record of the blueprint it was trained from is damaged")
    work_done(training)


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e18


def _require_probabilities(blueprint: Blueprint) -> None:
    """Raise ValueError if a float32 row is neither zeros nor probabilities that sum to 1.

    Rows of 8 bits are divided by their sum when they are read, so any numbers are valid there.
    """
    if blueprint.rows.dtype != np.float32:
        return
    for street, buckets in enumerate(blueprint.cards.num_buckets):
        counts = blueprint.tree.num_actions[blueprint.decisions(street)].astype(np.int64)
        if not len(counts):
            continue
        first, end = blueprint.game.base[street : street + 2].tolist()
        table = blueprint.rows[first:end].reshape(buckets, -1)
        for row in table:  # bucket by bucket: a large table does not fit into memory twice
            sums = np.add.reduceat(row, np.cumsum(counts) - counts)
            if not (row >= 0.0).all() or not ((sums == 0.0) | (abs(sums - 1.0) < 1e-3)).all():
                raise ValueError("probabilities do not sum to 1, or are below 0")


def load_rows(folder: Path, blueprint: Blueprint) -> np.ndarray:
    """Return the rows of another blueprint, which must have the same betting tree, number of cells and type of rows.

    Tree and buckets are not built again. Whether the buckets themselves are the same is not checked.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged blueprint, or one that differs in tree, cells or type of rows.
    """
    artefact = load_artefact(folder, KIND, FORMAT_VERSION)
    rows = artefact.arrays.get("rows", np.empty(0))
    if (
        artefact.source != tree_digest(blueprint.tree)
        or rows.shape != blueprint.rows.shape
        or rows.dtype != blueprint.rows.dtype
    ):
        raise ArtefactRefused(
            f"{artefact.folder} holds a {KIND} with another tree, or rows of another shape or dtype; train it again"
        )
    with _soundness(artefact):
        _require_probabilities(dataclasses.replace(blueprint, rows=rows))
    return rows


def blueprint_rules(folder: Path) -> HoldemRules:
    """Return the game that a blueprint was trained for, without building its tree or buckets.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged blueprint.
    """
    artefact = load_artefact(folder, KIND, FORMAT_VERSION)
    with _soundness(artefact):
        return config_from_dict(artefact.config["config"]).rules


def blueprint_digest(folder: Path) -> str:
    """Return the digest of a blueprint's artefact, which identifies its strategy; errors as in `blueprint_rules`."""
    return load_artefact(folder, KIND, FORMAT_VERSION).digest


def missing_table(folder: Path) -> str:
    """Return the name of a blueprint's bucket table if the table is missing in the user's tables folder, else "".

    A blueprint with lossless buckets has no table, so none is missing.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged blueprint.
    """
    config = missing_table_config(folder)
    return "" if config is None else config.name


def missing_table_config(folder: Path) -> AbstractionConfig | None:
    """Return the configuration of a blueprint's bucket table if `missing_table` names one; errors as there."""
    artefact = load_artefact(folder, KIND, FORMAT_VERSION)
    with _soundness(artefact):
        cards = artefact.config["cards"]
        has_all = cards["kind"] == LOSSLESS or _built_table(cards, artefact.arrays) is not None
        return None if has_all else card_config(cards["config"])


def street_decisions(tree: BettingTree, street: int) -> np.ndarray:
    """Return the nodes of a street's decisions, in the order of their rows: int32[num_decisions]."""
    nodes = np.flatnonzero((tree.street == street) & (tree.actor >= 0)).astype(np.int32)
    return nodes[np.argsort(tree.row[nodes], kind="stable")]


def street_cells(tree: BettingTree, game: GameArrays, street: int, num_buckets: int) -> StreetCells:
    """Return the layout of a street's rows."""
    nodes = street_decisions(tree, street)
    base, pairs = int(game.base[street]), int(game.pairs[street])
    return StreetCells(tree.row[nodes], tree.num_actions[nodes], base, pairs, num_buckets)


def tree_digest(tree: BettingTree) -> str:
    """Return the SHA-256 of a betting tree: its decisions, its actions and the contributions at its ends."""
    digest = hashlib.sha256()
    for values in (tree.actor, tree.street, tree.num_actions, tree.action, tree.contributions):
        digest.update(values.tobytes())
    return digest.hexdigest()


def _cards(artefact: Artefact, rules: HoldemRules, num_streets: int) -> BucketLookup:
    """Return the buckets of the blueprint in an artefact, on the first `num_streets` streets."""
    cards, arrays = artefact.config["cards"], artefact.arrays
    if cards["kind"] == LOSSLESS:
        return lossless_buckets(rules, num_streets)
    if table := _built_table(cards, arrays):
        return table_buckets(rules, table, num_streets)
    config = card_config(cards["config"])
    model = model_from_arrays(config, {k.removeprefix(_CARDS): v for k, v in arrays.items() if k.startswith(_CARDS)})
    flop_rows = arrays.get(_FLOP_ROWS)
    shape = (len(board_classes(3).boards), rules.num_combos)
    if flop_rows is not None and (flop_rows.dtype != model.dtype("flop") or flop_rows.shape != shape):
        raise ValueError(f"its buckets on flops are {flop_rows.dtype}{list(flop_rows.shape)}, not {list(shape)}")
    return ModelBuckets(model, num_streets, str(cards["digest"]), flop_rows)


def _built_table(cards: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> BucketTable | None:
    """Return the user's bucket table with a blueprint's buckets; None if the user's tables folder lacks such a table.

    `arrays` are those of the blueprint's artefact. A table built with other versions of numpy or numba has another
    digest, because an artefact's digest covers them. It serves as well if its card model is the same.
    """
    folder = tables_folder() / card_config(cards["config"]).name
    if holds_artefact(folder):
        with contextlib.suppress(ArtefactRefused):
            table = load_table(folder)
            if table.digest == cards["digest"] or _is_model(table.model, cards, arrays):
                return table
    return None


def _is_model(model: CardModel, cards: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bool:
    """Return whether a card model is that of a blueprint's artefact."""
    return model.config == card_config(cards["config"]) and all(
        np.array_equal(values, arrays[_CARDS + name]) for name, values in model.arrays().items()
    )
