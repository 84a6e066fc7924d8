"""A scheduler and a worker of dask.distributed that have no web server and write no log."""

import logging
import os
from typing import Any

import dask
import distributed
from distributed.security import Security

from plurispiel.tournaments.labour.cluster_file import ClusterFile

__all__ = ["QuietScheduler", "QuietWorker", "security_of", "settle"]

CONNECT_S = 30.0
"""Seconds until an address that does not answer counts as gone."""


class _NoServer:
    """Takes the place of the web server that dask would otherwise start, unencrypted and on all addresses."""

    def stop(self) -> None:
        """Do nothing."""


class QuietScheduler(distributed.Scheduler):
    """A scheduler without a web server."""

    def start_http_server(self, *arguments: Any, **options: Any) -> None:
        """Start no web server."""
        self.http_server = _NoServer()  # type: ignore[assignment]


class QuietWorker(distributed.Worker):
    """A worker without a web server."""

    def start_http_server(self, *arguments: Any, **options: Any) -> None:
        """Start no web server."""
        self.http_server = _NoServer()  # type: ignore[assignment]


def security_of(file: ClusterFile) -> Security:
    """Return a cluster's settings of encryption, for its scheduler, a worker or a client."""
    return Security(**file.security())


def settle() -> None:
    """Set dask's options for this process: no log, no profiling, and a time limit for connections.

    Graphics cards and Python's global lock are not monitored.
    """
    for name in ("distributed", "distributed.client", "distributed.worker", "distributed.scheduler", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set(
        {
            "distributed.comm.timeouts.connect": f"{CONNECT_S:g}s",
            "distributed.admin.system-monitor.gil.enabled": False,
            "distributed.worker.profile.enabled": False,
            "distributed.diagnostics.nvml": False,
            "distributed.scheduler.active-memory-manager.start": False,
            "distributed.scheduler.work-stealing": True,
        }
    )
    os.environ.setdefault("DASK_DISTRIBUTED__DIAGNOSTICS__NVML", "False")
