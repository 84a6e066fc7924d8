"""Work on its way to another machine: the files it names travel as parcels, and their paths change."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from plurispiel.agents.specs import parse_spec, relocate_spec
from plurispiel.tournaments.labour.parcels import Parcel
from plurispiel.tournaments.labour.work import Work

__all__ = [
    "Homecoming",
    "Outsiders",
    "PostedWork",
    "SettledWork",
    "Site",
    "TravellingWork",
    "absolute_spec",
    "moved_spec",
    "paths_of",
]

_MAX_LOG = 64 << 10
"""Largest number of bytes of each agent's log that come back with a job."""


class Site(NamedTuple):
    """The paths on another machine for a work that has arrived there.

    Attributes
    ----------
    paths : mapping of str to str
        The path of each file and folder on that machine, by its path on the run's machine.
    hidden : tuple of Path
        Files and folders of that machine that agents must not see.
    logs : Path
        A folder for the output of agents.
    artefacts : Path or None
        A folder with bucket tables, each in a subfolder of its name; None without such a folder.
    """

    paths: Mapping[str, str]
    hidden: tuple[Path, ...]
    logs: Path
    artefacts: Path | None = None


class Outsiders(NamedTuple):
    """How agents in processes of their own play; agents from outside have such processes.

    Attributes
    ----------
    sandbox, network : bool
        Whether the agents are in a sandbox, and whether they can use the network.
    seconds : float
        The most time that late answers can take in a job: the time limit of an answer times the number of late answers
        that end the job.
    """

    sandbox: bool
    network: bool
    seconds: float


class TravellingWork(Work, Protocol):
    """Work that other machines can do."""

    @property
    def paths(self) -> Sequence[Path]:
        """The files and folders that have to travel."""

    @property
    def logs(self) -> Path | None:
        """The folder for the output of agents on the run's own machine; None if the work has no such folder."""

    @property
    def outsiders(self) -> Outsiders | None:
        """How agents in processes of their own play; None without such agents."""

    def departing(self) -> Self:
        """Return the work with absolute paths, and with the facts that must be equal on the other machine."""

    def moved(self, site: Site) -> Self:
        """Return a work made by `departing`, with the paths of the machine on which it has arrived.

        Raises
        ------
        ValueError
            If something that the work needs is missing, or differs.
        """

    def essence(self, result: Any) -> bytes | None:
        """Return the part of a result that must be equal on every machine; None for a work whose results may differ."""


@dataclass(frozen=True)
class PostedWork:
    """A work as it leaves the run's machine; `parcels` are its files and folders, by their paths on that machine."""

    work: TravellingWork
    parcels: Mapping[str, Parcel]


class Homecoming(NamedTuple):
    """The result of a job, and the output of agents during the job, by the name of each log."""

    result: Any
    logs: Mapping[str, bytes]


@dataclass(frozen=True)
class SettledWork:
    """A work that has arrived at a machine: its results come back as `Homecoming`."""

    work: TravellingWork
    site: Site

    @contextmanager
    def begin(self) -> Iterator[Callable[[Any], Homecoming]]:
        """Begin the work with the paths of this machine, and with a folder of its own for logs."""
        read: dict[Path, int] = {}
        logs = Path(tempfile.mkdtemp(dir=self.site.logs))

        def do(job: Any) -> Homecoming:
            result = do_it(job)
            return Homecoming(result, dict(_grown(logs, read)))

        with self.work.moved(self.site._replace(logs=logs)).begin() as do_it:
            yield do


def paths_of(specs: Sequence[str]) -> list[Path]:
    """Return the files and folders that agents need on another machine.

    These are Python files, and the folders or packed files of stored strategies. A program (``stdio``, ``acpc``,
    ``pokerbots``), a module and the networks of ``continual`` have to be on the machine already, under the same name.

    Raises
    ------
    ValueError
        If networks are named by a relative path, which other machines cannot find.
    """
    for spec in specs:
        for folder in parse_spec(spec).net_folders.values():
            if not Path(folder).is_absolute():
                raise ValueError(
                    f"the networks in {folder} are not sent to a cluster; put them at the same path on all machines, "
                    f"and give the absolute path in {spec!r}; on this machine it is {str(Path(folder).resolve())!r}"
                )
    return list(dict.fromkeys(Path(given).resolve() for given in map(_path_in, specs) if given))


def moved_spec(spec: str, site: Site) -> str:
    """Return a spec that `absolute_spec` has made, with the path of its file or stored strategy on another machine."""
    for folder, place in site.paths.items():
        given = _path_in(spec, folder)
        if given:
            return spec.replace(given, str(Path(place) / Path(given).relative_to(folder)), 1)
    return spec


def absolute_spec(spec: str) -> str:
    """Return a spec with resolved, absolute paths, as it travels."""
    given = _path_in(spec)
    if not given:
        return relocate_spec(spec, Path.cwd())
    parsed, path = parse_spec(spec), str(Path(given).resolve())
    if parsed.is_stored:  # the agent's name can contain the text of the path
        return f"{parsed.name}:{path}" + "".join(parsed.text.partition("?")[1:])
    return parsed.text.replace(given, path, 1)


def _path_in(spec: str, folder: str = "") -> str:
    """Return the path of the file or stored strategy that a spec names; empty for other specs.

    Parameters
    ----------
    folder : str
        A folder or file of another machine, at or below which the path has to be. By default the path has to exist
        on this machine.
    """
    parsed = parse_spec(spec)
    given = parsed.file or (parsed.argument if parsed.is_stored else "")
    is_it = Path(given).is_relative_to(folder) if folder else Path(given).exists()
    return given if given and is_it else ""


def _grown(folder: Path, read: dict[Path, int]) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each log that grew since the last call, and at most the first `_MAX_LOG` bytes of the growth.

    `read` has the size of each log at the last call, and is modified in place.
    """
    for path in sorted(folder.glob("*.log")):
        with contextlib.suppress(OSError), open(path, "rb") as stream:
            stream.seek(read.get(path, 0))
            new = stream.read(_MAX_LOG)
            read[path] = path.stat().st_size
            if new:
                yield path.name, new
