"""The connection to a cluster, from Python: `connect_cluster`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plurispiel.tournaments.api.notes import Notes
from plurispiel.tournaments.run.arithmetic import package_facts

if TYPE_CHECKING:
    from plurispiel.tournaments.labour.cluster import Cluster

__all__ = ["connect_cluster"]


def connect_cluster(
    file: str | Path,
    *,
    slots: int = 0,
    check_share: float = 0.0,
    ship: Sequence[str | Path] = (),
    unsandboxed: bool = False,
    progress: bool = False,
) -> "Cluster":
    """Return a connection to the cluster of ``plurispiel cluster FILE``.

    Give the connection to `run_tournament` and other functions as their argument `labour`.

    Parameters
    ----------
    file : path
        The cluster's file; if it is missing, the scheduler has five minutes to write it.
    slots : int
        The largest number of slots to use; 0 for all.
    check_share : float
        The share of tasks, 0 to 1, that a second worker does again, on another machine where there is one. If the two
        results of a task differ, the run raises `MachinesDisagree`, a subclass of `WorkerFailed`.
    ship : sequence of path
        Folders from which agents' files import modules. The whole folders are sent to the workers.
    unsandboxed : bool
        Let agents from outside play without a sandbox. They can then read the cluster's key.
    progress : bool
        Print notes on standard error, such as the number of workers.

    Returns
    -------
    Cluster
        End the connection by its method ``shutdown`` or by a ``with`` statement. The cluster itself stays.

    Raises
    ------
    ValueError
        If the extra ``cluster`` is not installed, the file cannot be used, `slots` or `check_share` is out of range, a
        folder of `ship` is missing, or the cluster runs other code or other versions of libraries. Also if
        `check_share` is above 0 and the machines of the cluster may differ in the last digits.
    OSError
        If the scheduler does not answer.
    """
    try:
        from plurispiel.tournaments.labour.cluster import Cluster
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    return Cluster(
        Path(file),
        package_facts(),
        slots=slots,
        check_share=check_share,
        ship=list(map(Path, ship)),
        unsandboxed=unsandboxed,
        say=Notes(progress).say,
    )


def missing_extra(error: ModuleNotFoundError) -> Exception:
    """Return the exception to raise for a missing library.

    It is a ValueError that names the extra ``cluster`` if this extra installs the library, otherwise `error` itself.
    """
    if (error.name or "").partition(".")[0] not in ("dask", "distributed", "cryptography"):
        return error
    return ValueError(f'{error.name} is not installed; pip install "plurispiel[cluster]" brings it')
