"""The blueprint trainer on an NVIDIA GPU: the algorithm of `trainer`, with a GPU thread for each hand in progress.

The kernels are in ``traversal.cu``. CuPy compiles them for the game at hand, and the arrays that training changes stay
in the GPU's memory. They come back only for a checkpoint, a blueprint or a measurement.
"""

import functools
import importlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree, GameMenu
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint, street_cells
from plurispiel.agents.blueprint.cards import MAX_STREETS, CardBuckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer

_SOURCE = Path(__file__).with_name("traversal.cu")
_BLOCKS, _SHARED_BYTES = (128, 64, 32), 48 * 1024
"""Threads of a block, by preference, and the shared memory that a block may have without asking for more."""

_BLOCKS_PER_PROCESSOR = 32
_MAX_LAUNCH = 1 << 20
_SHARE_OF_RUN = 256
"""A launch does at most this part of a run, and at most `_MAX_LAUNCH` iterations.

Threads of one launch do not wait for each other's regrets, so a short run must not be one launch.
"""
_INT32_MARGIN = 1 << 27
"""Regrets stay this far from the bounds of int32, as threads may pass a bound together by some stacks."""

_MAX_VISITS = 2.0**22
"""Sums over visits are halved above this number, as in `traversal_kernels`, but only after a launch.

A launch visits a row at most 9 times in each of its iterations, so sums stay below 2^24, where float32 stops to count.
"""

_ARRAYS = ("regrets", "sums", "later_sums")
_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int"}


class CudaTrainer(Trainer):
    """Learns a blueprint on the first NVIDIA GPU.

    Parameters are those of `Trainer`. `threads` is the number of processor threads for the matches at marks.

    The iterations of one launch run side by side, with regrets that others change meanwhile. So a seed determines the
    deals but not the run.

    Attributes
    ----------
    device : str
        The name of the GPU.

    Raises
    ------
    ValueError
        If CuPy is not installed, there is no GPU, regrets are to be exact, or as for `Trainer`.
    """

    def __init__(
        self,
        rules: HoldemRules,
        menu: GameMenu,
        cards: CardBuckets,
        schedule: Schedule,
        *,
        exact: bool = False,
        **options,
    ):
        require_whole_chips(exact)
        self._cupy = import_cupy()
        super().__init__(rules, menu, cards, schedule, **options)
        runtime = self._cupy.cuda.runtime
        properties = runtime.getDeviceProperties(runtime.getDevice())
        self.device = properties["name"].decode()
        self._num_blocks = _BLOCKS_PER_PROCESSOR * int(properties["multiProcessorCount"])
        self._arrays: dict[str, Any] = {}  # those of `_ARRAYS` on the GPU; empty while the host's are the newest
        self._is_newer = False  # whether the GPU's have changed since the host's were read from them
        macros, self._block = _macros(self)
        module = self._cupy.RawModule(code=f"{macros}\n{_SOURCE.read_text(encoding='utf-8')}", options=("-std=c++17",))
        self._function = functools.cache(module.get_function)
        put = self._cupy.asarray
        tables, arrays = rank_tables(), cards.arrays
        game = [*self.traversal_tree, tables.words, tables.masks, tables.low, tables.high, tables.values]
        game += [tables.flushes, arrays.relabel, *arrays.entries, *arrays.rows]
        # Streets without buckets repeat the arrays of the last that has some.
        copies = {id(array): put(np.ascontiguousarray(array)) for array in game}
        self._game = [copies[id(array)] for array in game]
        self._streets = []
        for street in range(len(cards.num_buckets)):
            cells = street_cells(self.tree, self.game, street, cards.num_buckets[street])
            rows = [put(np.ascontiguousarray(values, np.int32)) for values in (cells.rows, cells.num_actions)]
            numbers = (len(cells.rows), cells.num_buckets, cells.base, cells.pairs)
            self._streets.append((*rows, *map(np.int64, numbers)))

    def start_from(self, blueprint: Blueprint, weight: float) -> None:
        """See `Trainer.start_from`."""
        super().start_from(blueprint, weight)
        self._arrays = {}

    def state(self) -> dict[str, np.ndarray]:
        """See `Trainer.state`."""
        self._fetch()
        return super().state()

    def resume(self, iteration: int, state: Mapping[str, np.ndarray]) -> None:
        """See `Trainer.resume`."""
        super().resume(iteration, state)
        self._arrays = {}

    def blueprint(self, config: BlueprintConfig | None = None, training: Mapping[str, Any] | None = None) -> Blueprint:
        """See `Trainer.blueprint`."""
        self._fetch()
        return super().blueprint(config, training)

    def regret_per_visit(self) -> tuple[float, list[int]]:
        """See `Trainer.regret_per_visit`."""
        self._fetch()
        return super().regret_per_visit()

    def _fetch(self) -> None:
        """Bring the arrays back to the host if they have changed."""
        if self._is_newer:
            for name in _ARRAYS:
                self._cupy.asnumpy(self._arrays[name], out=getattr(self, name))
        self._is_newer = False

    def _on_device(self) -> dict[str, Any]:
        """Return the arrays on the GPU, which are about to be changed."""
        if not self._arrays:
            self._arrays = {name: self._cupy.asarray(getattr(self, name)) for name in _ARRAYS}
        self._is_newer = True
        return self._arrays

    def _call(self, name: str, *arguments: Any) -> None:
        """Start a kernel of ``traversal.cu``. Numbers among the arguments are NumPy's, of the kernel's types."""
        self._function(name)((self._num_blocks,), (self._block,), arguments)

    def _iterate(self, last: int) -> None:
        visits = self.num_visits
        step = min(_MAX_LAUNCH, max(1, self.schedule.iterations // _SHARE_OF_RUN))
        for first in range(self.iteration, last, step):
            self._launch(first, min(first + step, last))
            if not self.schedule.num_snapshots:
                for street in self._later_streets:
                    self._call("halve_visits", *self._streets[street], self._on_device()["later_sums"])
        self.weighted_visits += self.num_visits - visits
        self.iteration = last

    def _launch(self, first: int, last: int) -> None:
        """Do the iterations from `first` to before `last`, and update the averages as often as these ask for."""
        arrays, settings = self._on_device(), self.settings
        span = self._span(first, last)
        lowest = float(_INT32_MARGIN - 2**31)
        key = self.streams[0, 0]
        counters = self._cupy.zeros(4, np.uint64)
        visits = self._cupy.zeros(0, np.float32) if self.schedule.num_snapshots else arrays["later_sums"]
        self._call(
            "traverse",
            *self._game,
            arrays["regrets"],
            visits,
            np.uint64(key),
            *map(np.int64, span),
            np.int32(max(settings.floor, lowest)),
            np.int32(2**31 - _INT32_MARGIN),
            np.int32(math.floor(max(settings.prune_below, lowest))),
            np.uint32(settings.prune_share * 2**32),
            counters,
        )
        begin = max(first, span.average_from)
        begin += -begin % settings.average_every
        if begin < last:
            updates = -(-(last - begin) // settings.average_every)
            numbers = map(np.int64, (begin, settings.average_every, updates))
            self._call("average", *self._game, arrays["regrets"], arrays["sums"], np.uint64(key), *numbers)
        self.counters[0, :3] += self._cupy.asnumpy(counters)[:3].astype(np.int64)  # waits for the end of the launch

    def _clear_averages(self) -> None:
        arrays = self._on_device()
        self._scale("discount_sums", arrays["sums"], np.float64(0.0))
        if self.schedule.num_snapshots:
            self._scale("clear_snapshots", arrays["later_sums"])
        else:
            self._scale("discount_visits", arrays["later_sums"], np.float32(0.0))

    def _discount(self, factor: float) -> None:
        arrays = self._on_device()
        self._scale("discount_regrets", arrays["regrets"], np.float64(factor))
        self._scale("discount_sums", arrays["sums"], np.float64(factor))
        if not self.schedule.num_snapshots:
            self._scale("discount_visits", arrays["later_sums"], np.float32(factor))

    def _scale(self, name: str, array: Any, *factor: np.floating) -> None:
        self._call(name, array, np.int64(len(array)), *factor)

    def _add_snapshot(self) -> None:
        arrays = self._on_device()
        for street in self._later_streets:
            self._call("add_snapshot", *self._streets[street], arrays["regrets"], arrays["later_sums"])


def require_whole_chips(exact: bool) -> None:
    """Raise ValueError if regrets are to be exact."""
    if exact:
        raise ValueError("device cuda has regrets in whole chips only; take exact = false, or device cpu")


def import_cupy() -> Any:
    """Return the package CuPy.

    Raises
    ------
    ValueError
        If it is not installed, or finds no GPU.
    """
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        raise ValueError("device cuda needs CuPy: pip install 'plurispiel[cuda]', or take device cpu") from None
    if not cupy.cuda.is_available():
        raise ValueError("CuPy finds no NVIDIA GPU here; take device cpu")
    return cupy


def _macros(trainer: Trainer) -> tuple[str, int]:
    """Return the macros that ``traversal.cu`` needs, as its text explains, and the threads of a block."""
    rules, game, tree, arrays = trainer.rules, trainer.game, trainer.tree, trainer.cards.arrays
    last_average = trainer.settings.last_average_street
    own, others = _depths(tree, rules.num_seats, last_average)
    most = int(tree.num_actions.max())
    width = max(rules.num_hole_cards, rules.num_board_cards) + 1
    cell_bytes = 4 if game.base[-1] < 2**32 else 8
    bucket_bytes = max(rows.dtype.itemsize for rows in arrays.rows)
    words = max(own * (4 + cell_bytes // 4 + most), 2 * others, 1)
    thread_bytes = 4 * words + rules.num_seats * (2 + MAX_STREETS * bucket_bytes)
    shared = thread_bytes * _BLOCKS[-1] <= _SHARED_BYTES
    block = next((size for size in _BLOCKS if thread_bytes * size <= _SHARED_BYTES), _BLOCKS[0])
    values: dict[str, Any] = {
        "NUM_SEATS": rules.num_seats,
        "NUM_STREETS": game.num_streets,
        "NUM_HOLE": rules.num_hole_cards,
        "NUM_BOARD": rules.num_board_cards,
        "NUM_SUITS": rules.num_suits,
        "NUM_CARDS": len(rules.cards),
        "NUM_COMBOS": rules.num_combos,
        "LAST_AVERAGE_STREET": last_average,
        "BASES": ", ".join(f"{base}LL" for base in game.base[: game.num_streets]),
        "PAIRS": ", ".join(f"{pairs}LL" for pairs in game.pairs),
        "BOARD_SIZES": ", ".join(map(str, game.board_sizes)),
        "CHOOSE": ", ".join(str(math.comb(n, k)) for n in range(len(rules.cards)) for k in range(width)),
        "CHOOSE_WIDTH": width,
        **{f"ROWS_{street}": _TYPES[rows.dtype.itemsize] for street, rows in enumerate(arrays.rows)},
        "BUCKET": _TYPES[bucket_bytes],
        "CELL": "unsigned int" if cell_bytes == 4 else "unsigned long long",
        "WORD_START": f"{rank_tables().starts[rules.num_hole_cards + rules.num_board_cards]}LL",
        "MAX_ACTIONS": most,
        "STACK_WORDS": words,
        "BLOCK": block,
        "SHARED": int(shared),
        "VISITS": int(not trainer.schedule.num_snapshots and bool(trainer.later_sums.size)),
        "MAX_VISITS": f"{_MAX_VISITS}f",
    }
    return "\n".join(f"#define {name} {value}" for name, value in values.items()), block


def _depths(tree: BettingTree, num_seats: int, last_average: int) -> tuple[int, int]:
    """Return the most decisions that one seat has on a path, and all seats have on a path of the averaged streets."""
    nodes, counts = np.zeros(1, np.int64), np.zeros((1, num_seats), np.int64)
    own = every = 0
    while len(nodes):
        open_ = tree.actor[nodes] >= 0
        nodes, counts = nodes[open_], counts[open_]
        counts[np.arange(len(nodes)), tree.actor[nodes]] += 1
        own = max(own, int(counts.max(initial=0)))
        every = max(every, int(counts[tree.street[nodes] <= last_average].sum(axis=1).max(initial=0)))
        children = tree.num_actions[nodes].astype(np.int64)
        firsts = np.repeat(tree.first_child[nodes] - (np.cumsum(children) - children), children)
        nodes, counts = firsts + np.arange(len(firsts)), np.repeat(counts, children, axis=0)
    return own, every
