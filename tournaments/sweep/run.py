"""Solving a spot on many flops, with or without worker processes."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.spots.flop_row import FlopRow, on_flop
from plurispiel.agents.spots.flops import WeightedFlop, class_size
from plurispiel.agents.spots.spot_size import spot_size
from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import as_done
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.sweep.folder import CSV_FILE, PAGE_FILE, SweepFolder
from plurispiel.tournaments.sweep.page import make_sweep_page
from plurispiel.tournaments.sweep.settings import SweepSettings
from plurispiel.tournaments.sweep.table import SweepTable
from plurispiel.tournaments.sweep.work import SweepWork

__all__ = ["SweepPlan", "SweepConduct", "plan_sweep", "run_sweep", "time_one_flop", "time_text"]

Say = Callable[[str], object]


@dataclass(frozen=True)
class SweepConduct:
    """How a sweep is computed. No result depends on these attributes, unless `SolveSettings.max_seconds` is set.

    Attributes
    ----------
    workers : int
        Processes that solve a flop each; 1 for this process.
    threads : int
        Threads of each process.
    progress : bool
        Whether a progress bar is shown.
    say : callable
        Called with each note for the user.
    labour : Labour or None
        The executor that solves the flops; None for processes of this machine.
    """

    workers: int
    threads: int
    progress: bool
    say: Say
    labour: Labour | None = None


@dataclass(frozen=True)
class SweepPlan:
    """A sweep before it begins.

    Attributes
    ----------
    flops, solved : int
        The number of flops, and the number of flops that are solved already.
    memory_bytes : int
        Memory of each worker, on the flop that needs most.
    nodes : dict of str to int
        Betting nodes by street.
    seconds : float or None
        The time that the remaining flops will take, estimated from the solved flops; None if no flop is solved.
    """

    flops: int
    solved: int
    memory_bytes: int
    nodes: dict[str, int]
    seconds: float | None


def run_sweep(settings: SweepSettings, flops: Sequence[WeightedFlop], path: Path, conduct: SweepConduct) -> SweepTable:
    """Solve the flops that have no row in a folder, and write the table and its page.

    Each row is kept once its flop is solved. The table has the flops in the order given.

    Raises
    ------
    ValueError
        If the folder holds anything but this sweep, the workers need more memory than is free, or the betting is too
        large.
    OSError
        If another process works in the folder, or a worker process died.
    KeyboardInterrupt
        The rows so far are kept: the same call resumes the sweep.
    """
    with contextlib.closing(SweepFolder(path, settings)) as folder:
        rows = folder.rows_in(path, settings, flops)
        plan = plan_sweep(settings, flops, rows, conduct)
        conduct.say(plan_text(plan, settings, conduct))
        left = [flop for flop in _mixed(flops) if flop.text not in rows]
        has_estimate = plan.seconds is not None
        with progress_bar(total=len(flops), initial=len(rows), unit=" flops", disable=not conduct.progress) as bar:
            for row in _solved(settings, left, conduct):
                folder.write(row)
                rows[row.flop] = row
                bar.update()
                if not has_estimate and len(rows) < len(flops):
                    has_estimate = True
                    seconds = _seconds_left(flops, rows, conduct.workers)
                    conduct.say(f"the first flop took {time_text(row.seconds)}: about {time_text(seconds or 0.0)} more")
        table = SweepTable([rows[flop.text] for flop in flops])
        write_atomically(path / CSV_FILE, table.csv)
        write_atomically(path / PAGE_FILE, make_sweep_page(settings, table))
    return table


def plan_sweep(
    settings: SweepSettings, flops: Sequence[WeightedFlop], rows: dict[str, FlopRow], conduct: SweepConduct
) -> SweepPlan:
    """Return the plan of a sweep.

    Parameters
    ----------
    rows : dict of str to FlopRow
        The rows of solved flops, by flop.

    Raises
    ------
    ValueError
        If the workers need more memory than is free, or the betting is too large.
    """
    largest = max(flops, key=lambda flop: class_size(flop.cards))
    size = spot_size(on_flop(settings.spot, largest), threads=conduct.threads)
    if (reason := size.refusal()) is not None:
        raise ValueError(reason)
    if conduct.labour is None and size.memory_bytes * conduct.workers > available_bytes():
        raise ValueError(
            f"{conduct.workers} workers need {size.memory_bytes / 2**30:.1f} GiB of memory each, and "
            f"{available_bytes() / 2**30:.1f} GiB are free: take fewer workers"
        )
    seconds = _seconds_left(flops, rows, conduct.workers)
    return SweepPlan(len(flops), len(rows), size.memory_bytes, size.nodes, seconds)


def time_one_flop(settings: SweepSettings, flops: Sequence[WeightedFlop], conduct: SweepConduct) -> float:
    """Solve one flop without keeping its row, and return the seconds that all flops will take, estimated from it."""
    flop = _mixed(flops)[0]
    with SweepWork(settings, conduct.threads).begin() as solve:
        row = solve(flop)
    return _seconds_left(flops, {flop.text: row}, conduct.workers, with_solved=True) or 0.0


def plan_text(plan: SweepPlan, settings: SweepSettings, conduct: SweepConduct) -> str:
    """Return a plan as a line for the user."""
    solved = f", {plan.solved:,} of them solved before" if plan.solved else ""
    workers = f"{conduct.workers} worker{'s' * (conduct.workers > 1)}"
    nodes = ", ".join(f"{count:,} {street}" for street, count in plan.nodes.items())
    line = (
        f"{plan.flops:,} flops{solved}; {nodes} nodes; until {settings.solve.target_pct:g} % of the pot; {workers}, "
        f"{plan.memory_bytes / 1e6:,.0f} MB each"
    )
    if plan.solved == plan.flops:
        return f"{line}; nothing is left to solve"
    time = "the time is estimated after the first flop" if plan.seconds is None else f"about {time_text(plan.seconds)}"
    return f"{line}; {time}"


def time_text(seconds: float) -> str:
    """Return a length of time in words, such as ``2 h 5 min``."""
    minutes = round(seconds / 60.0)
    if seconds < 90.0:
        return f"{seconds:.2g} s" if seconds < 9.5 else f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _solved(settings: SweepSettings, left: list[WeightedFlop], conduct: SweepConduct) -> Iterator[FlopRow]:
    """Yield the rows of flops once they are solved."""
    if not left:
        return
    with (
        contextlib.nullcontext(conduct.labour) if conduct.labour else local_labour(conduct.workers) as labour,
        contextlib.closing(as_done(labour, SweepWork(settings, conduct.threads), left)) as results,
    ):
        for _, row in results:
            yield row


def _mixed(flops: Sequence[WeightedFlop]) -> list[WeightedFlop]:
    """Return flops in a mixed order: those solved so far are then a fair sample, for estimates of the time left."""
    return sorted(flops, key=lambda flop: hashlib.sha256(flop.text.encode()).digest())


def _seconds_left(
    flops: Sequence[WeightedFlop], rows: dict[str, FlopRow], workers: int, *, with_solved: bool = False
) -> float | None:
    if not rows:
        return None
    # The number of boards after a flop, and so the time, is about in proportion to the size of the flop's class.
    sizes = {flop.text: class_size(flop.cards) for flop in flops}
    solved, seconds = sum(sizes[name] for name in rows), sum(row.seconds for row in rows.values())
    left = sum(size for name, size in sizes.items() if with_solved or name not in rows)
    return seconds / solved * left / workers
