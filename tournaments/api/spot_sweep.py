"""One spot solved on many flops, from Python: `run_spot_sweep`."""

import dataclasses
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.agents.spots.flop_row import FlopRow
from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_file import SolveSettings, read_spot
from plurispiel.tournaments.api.notes import Notes
from plurispiel.tournaments.labour.work import Labour, refuse_mixed
from plurispiel.tournaments.sweep.folder import CSV_FILE, PAGE_FILE, SweepFolder
from plurispiel.tournaments.sweep.run import Say, SweepConduct, plan_sweep, plan_text, run_sweep, time_one_flop
from plurispiel.tournaments.sweep.settings import SweepSettings, read_flops

__all__ = ["SpotSweep", "forecast_sweep", "make_conduct", "measure_sweep", "read_sweep", "run_spot_sweep"]


@dataclass(frozen=True)
class SpotSweep:
    """A spot solved on many flops.

    Attributes
    ----------
    settings : dict
        The spot without a board, and how it was solved.
    rows : list of FlopRow
        A row for each flop, in the order of the flops.
    mean : dict
        Means over all deals that reach the flops: ``ev`` and ``equity`` of both players, ``exploitability_pct`` and
        ``frequencies``. A flop counts by its weight times its number of pairs of hands. The frequency of an answer to
        an action is also weighted by the frequency of that action on the flop.
    seconds : float
        Time of this call.
    folder : Path
        The folder, with the table ``flops.csv`` and the page ``flops.html``.
    """

    settings: dict[str, Any]
    rows: list[FlopRow]
    mean: dict[str, Any]
    seconds: float
    folder: Path

    def to_dict(self) -> dict[str, Any]:
        """Return the record that ``plurispiel spot sweep --json`` prints."""
        record = dataclasses.asdict(self)
        record["folder"] = str(self.folder)
        return record


def run_spot_sweep(
    spot: str | Path | Spot,
    out: str | Path,
    *,
    flops: str = "184",
    target_pct: float | None = None,
    workers: int = 1,
    threads: int | None = None,
    progress: bool = False,
    labour: Labour | None = None,
) -> SpotSweep:
    """Solve a spot on many flops, and write a table and a page; solves the flops that the folder does not have yet.

    Parameters
    ----------
    spot : path or Spot
        A spot's TOML file, or a spot. Its board is ignored.
    out : path
        The folder of the sweep, new or from an earlier call with the same spot. The same call resumes the sweep.
    flops : str
        ``all`` for the 1,755 classes of flops, ``184`` for 184 flops that stand for all, or a file with a flop on each
        line.
    target_pct : float, optional
        Exploitability to reach, in % of the pot; by default that of the file, or 0.5.
    workers : int
        Processes that solve a flop each; 1 solves in this process, 0 takes one for each processor.
    threads : int, optional
        Threads for each flop. By default all processors are shared among the workers; with `labour` the default is 1.
        The number of threads does not change any result.
    progress : bool
        Print notes and a progress bar on standard error.
    labour : Labour, optional
        Solves the flops, as for `run_tournament`.

    Raises
    ------
    ValueError
        For a spot, flops or a folder that ``plurispiel spot sweep`` would refuse, with the same message.
    OSError
        If another process works in the folder, or a worker process dies; solved flops are kept.
    KeyboardInterrupt
        Solved flops are kept: the same call resumes the sweep.
    """
    conduct = make_conduct(workers, threads, progress, Notes(progress).say, labour)
    return measure_sweep(read_sweep(spot, target_pct), flops, Path(out), conduct)


def read_sweep(spot: str | Path | Spot, target_pct: float | None = None) -> SweepSettings:
    """Return the settings of a sweep; the parameters are those of `run_spot_sweep`."""
    solve = SolveSettings()
    if not isinstance(spot, Spot):
        spot, solve = read_spot(Path(spot))
    if target_pct is not None:
        solve = dataclasses.replace(solve, target_pct=target_pct)
    return SweepSettings(spot, solve)


def make_conduct(
    workers: int, threads: int | None, progress: bool, say: Say, labour: Labour | None = None
) -> SweepConduct:
    """Return how a sweep is computed; with a labour, `workers` is ignored, and each flop has one thread by default.

    Raises
    ------
    ValueError
        If a number of workers or threads is out of range. Also if the machines of the labour may compute results that
        differ in the last digits.
    """
    refuse_mixed(labour, "the tables of a sweep")
    if not 0 <= workers <= MAX_WORKERS or (threads is not None and threads < 1):
        raise ValueError(f"workers must be 0..{MAX_WORKERS:,} and threads at least 1, got {workers} and {threads}")
    if labour is not None:
        return SweepConduct(labour.slots, threads or 1, progress, say, labour)
    workers = workers or num_processors()
    return SweepConduct(workers, threads or max(1, num_processors() // workers), progress, say)


def measure_sweep(settings: SweepSettings, flops: str, out: Path, conduct: SweepConduct) -> SpotSweep:
    """Return a sweep after solving the flops that its folder does not have yet; see `run_spot_sweep`."""
    begin = time.perf_counter()
    table = run_sweep(settings, read_flops(flops), out, conduct)
    seconds = time.perf_counter() - begin
    conduct.say(f"{len(table.rows):,} flops: {out / CSV_FILE}, {out / PAGE_FILE}")
    return SpotSweep(settings.record(), list(table.rows), table.mean(), seconds, out)


def forecast_sweep(settings: SweepSettings, flops: str, out: Path, conduct: SweepConduct) -> dict[str, Any]:
    """Return the plan of a sweep as a record for JSON.

    If no flop is solved yet, one is solved to measure the time; its row is not kept.
    """
    wanted = read_flops(flops)
    rows = SweepFolder.rows_in(out, settings, wanted)
    plan = plan_sweep(settings, wanted, rows, conduct)
    if plan.seconds is None:
        conduct.say(plan_text(plan, settings, conduct))
        plan = dataclasses.replace(plan, seconds=time_one_flop(settings, wanted, conduct))
    conduct.say(plan_text(plan, settings, conduct))
    return dataclasses.asdict(plan)
