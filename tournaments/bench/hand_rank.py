"""Speed of the hand evaluator, compared with the same loops in C."""

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.hand_ranks import board_ranks, hand_rank, rank_tables
from plurispiel.abstraction.holdem.single_hand import single_hand_rank
from plurispiel.tournaments.bench.measurement import Measurement

_SOURCE = Path(__file__).with_suffix(".c")
_NUM_HANDS = 1 << 17
_NUM_BOARDS = 256
_NUM_LIVE_COMBOS = 47 * 46 // 2


def bench_hand_rank(seconds: float = 1.0) -> list[Measurement]:
    """Return the rates of the evaluator and of the C loops on one core, in millions of hands a second.

    Each rate is a median over the runs that fit into about `seconds`. Runs of the evaluator and of the C loops take
    turns, so that other load of the machine slows both equally. Their ratio is therefore steadier than the rates.

    Raises
    ------
    subprocess.CalledProcessError
        If the C compiler that was found cannot compile the loops.
    """
    rng = np.random.default_rng(0)
    hands = rng.random((_NUM_HANDS, 52)).argsort(axis=1)[:, :7].astype(np.uint8)
    boards = np.ascontiguousarray(hands[:_NUM_BOARDS, :5])
    hand_out = np.empty(_NUM_HANDS, np.uint16)
    board_out = np.empty((_NUM_BOARDS, 1326), np.uint16)

    hands_name, boards_name = "random 7-card hands", "combos on river boards"
    num_combos = _NUM_BOARDS * _NUM_LIVE_COMBOS
    runs: list[tuple[str, int, Callable[[], object]]] = [
        (hands_name, _NUM_HANDS, lambda: hand_rank(hands, out=hand_out)),
        (boards_name, num_combos, lambda: board_ranks(boards, out=board_out)),
    ]
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler:
        library = _c_library(compiler)
        tables = (ctypes.c_void_p * 7)(*(table.ctypes.data for table in rank_tables()))
        hand_arguments = tables, _pointer(hands), ctypes.c_int64(_NUM_HANDS), _pointer(hand_out)
        board_arguments = tables, _pointer(boards), ctypes.c_int64(_NUM_BOARDS), 5, _pointer(board_out)
        runs += [
            (f"{hands_name}, C", _NUM_HANDS, lambda: library.fill_hand_ranks(*hand_arguments)),
            (f"{boards_name}, C", num_combos, lambda: library.fill_boards_ranks(*board_arguments)),
        ]

    rates = _rates([(count, run) for _, count, run in runs], seconds)
    rows = []
    for i, (name, _, _) in enumerate(runs):
        note = f"{rates[i] / rates[i + 2]:.2f} x C" if compiler and i < 2 else ""
        rows.append(Measurement(name, rates[i] / 1e6, "M/s", note))
    if not compiler:
        rows.append(Measurement("C", float("nan"), "M/s", "no C compiler found"))
    return [*rows, _single_hand_row(hands[:1000], seconds)]


def _rates(runs: list[tuple[int, Callable[[], object]]], seconds: float) -> list[float]:
    """Return the median rate of each call in hands a second; `runs` pairs the number of hands with the call."""
    for _, run in runs:
        run()
    elapsed_s: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end:
        for times, (_, run) in zip(elapsed_s, runs, strict=True):
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
    return [count / float(np.median(times)) for times, (count, _) in zip(elapsed_s, runs, strict=True)]


def _c_library(compiler: str) -> ctypes.CDLL:
    """Compile the C loops and return the loaded library, whose file is then deleted."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "hand_rank.so"
        subprocess.run(
            [compiler, "-O3", "-march=native", "-shared", "-fPIC", str(_SOURCE), "-o", str(path)], check=True
        )
        return ctypes.CDLL(str(path))


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _single_hand_row(hands: np.ndarray, seconds: float) -> Measurement:
    rows = hands.tolist()
    (rate,) = _rates([(len(rows), lambda: [single_hand_rank(row) for row in rows])], seconds)
    return Measurement("7-card hands, one a call from Python", rate / 1e6, "M/s")
