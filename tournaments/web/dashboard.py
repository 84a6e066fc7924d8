"""The runs of a folder and the figures of a run, as plain values that JSON can hold."""

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.tournaments.report.run_record import RunRecord, read_run
from plurispiel.tournaments.report.win_rate import win_rate_curve
from plurispiel.tournaments.run.folder_lock import is_locked
from plurispiel.tournaments.run.known_runs import KnownRun, look_at_run

_STORE = "run.sqlite"
_MAX_RUNS = 200
_MAX_CURVES = 6
_LOG_BYTES = 8192
_LOG_LINES = 30


class Runs:
    """The runs whose folders lie in a folder or one level deeper. Runs elsewhere cannot be named.

    Parameters
    ----------
    folder : Path
        The folder; it need not exist.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._looks: dict[Path, tuple[Any, KnownRun]] = {}

    def listed(self) -> list[dict[str, Any]]:
        """Return the summaries of at most 200 runs, the most recently written first."""
        found = self._found()
        dated = sorted(((max(time for time, _ in stamp(path)), name) for name, path in found.items()), reverse=True)
        rows = []
        for date, name in dated[:_MAX_RUNS]:
            run = self._look(found[name], date * 1e-9)
            rows.append(
                {
                    "name": name,
                    "state": printable(run.state),
                    "date": run.date_text,
                    "game": printable(run.game),
                    "format": run.format,
                    "agents": [printable(agent) for agent in run.agents],
                    "hands": run.hands,
                    "hands_wanted": run.hands_wanted,
                }
            )
        return rows

    def find(self, name: str) -> Path:
        """Return the folder of a run by its name in the list.

        Raises
        ------
        ValueError
            If there is no such run.
        """
        folder = self._found().get(name)
        if folder is None:
            raise ValueError(f"there is no run {name[:80]!r} in the folder of this server")
        return folder

    def _found(self) -> dict[str, Path]:
        """Return the folders of runs by name; a link that leads out of the folder is no run."""
        root = self._folder.resolve()
        found = {}
        for path in [*root.glob(f"*/{_STORE}"), *root.glob(f"*/*/{_STORE}")]:
            folder = path.parent
            with contextlib.suppress(OSError):
                if path.resolve().is_relative_to(root) and path.is_file():
                    found[printable(folder.relative_to(root).as_posix())] = folder
        return found

    def _look(self, folder: Path, date: float) -> KnownRun:
        state = stamp(folder), is_locked(folder)
        known = self._looks.get(folder)
        if known is None or known[0] != state:
            self._looks[folder] = known = (state, look_at_run(folder, date))
        return known[1]


def stamp(folder: Path) -> tuple[tuple[int, int], ...]:
    """Return a pair for each file of a run's store: the time of the last write in ns, and the size in bytes."""
    found = []
    for name in (_STORE, f"{_STORE}-wal"):
        with contextlib.suppress(OSError):
            status = (folder / name).stat()
            found.append((status.st_mtime_ns, status.st_size))
    return tuple(found) or ((0, 0),)


def run_figures(folder: Path, name: str) -> dict[str, Any]:
    """Return the figures of a run as it stands.

    Returns
    -------
    dict
        ``name, state, game, format, seats, score, hands, groups, groups_wanted, hands_per_second``, ``seconds_left``
        (None unless the run is being played at a known speed), ``agents`` (best first; rates and half-widths of 95 %
        intervals in mbb/hand) and ``curves`` (the win rates of the six best agents over their hands).

    Raises
    ------
    ValueError
        If the folder holds no run, or if the run is damaged.
    """
    run = read_run(folder, "A")
    results = run.results
    rate = results["hands_per_second"]
    left = (run.num_wanted - run.num_groups) * results["hands"] / run.num_groups if run.num_groups else None
    is_played = is_locked(folder)
    return {
        "name": name,
        "state": "finished" if run.is_finished else "being played" if is_played else "unfinished",
        "game": printable(results["game"]),
        "format": results["format"],
        "seats": results["seats"],
        "score": results["score"],
        "hands": results["hands"],
        "groups": run.num_groups,
        "groups_wanted": run.num_groups if run.is_finished else run.num_wanted,
        "hands_per_second": rate,
        "seconds_left": left / rate if rate and left is not None and is_played and not run.is_finished else None,
        "agents": [_agent(run, number) for number in run.ranking],
        "curves": [_curve(run, number) for number in run.ranking[:_MAX_CURVES]],
    }


def last_lines(folder: Path) -> list[str]:
    """Return the last lines of the most recently written log in a folder: at most 30 lines of 200 characters."""
    with contextlib.suppress(OSError, ValueError):
        path = max((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime)
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - _LOG_BYTES))
            lines = stream.read(_LOG_BYTES).decode("utf-8", errors="replace").splitlines()
        return [printable(line)[:200] for line in lines[-_LOG_LINES:]]
    return []


def _agent(run: RunRecord, number: int) -> dict[str, Any]:
    agent = run.results["agents"][number]
    raw = agent["scores"]["raw"]
    return {
        "name": run.names[number],
        "mbb_per_hand": agent["mbb_per_hand"],
        "ci95": agent["ci95"],
        "sequential_ci95": agent["sequential_ci95"],
        "raw": raw["mbb_per_hand"],
        "raw_ci95": raw["ci95"],
        "hands": agent["hands"],
        "faults": agent["faults"],
        "faults_by_kind": agent["faults_by_kind"],
        "retired": agent["retired"],
        "first_fault": printable(run.first_faults.get(number, ""))[:400],
    }


def _curve(run: RunRecord, number: int) -> dict[str, Any]:
    """Return the curves of an agent's raw win rate and of the score that ranks the agents, over the agent's hands."""
    return {"name": run.names[number], "points": [asdict(point) for point in win_rate_curve(run, number)]}
