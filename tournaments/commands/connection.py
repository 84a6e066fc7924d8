"""The connection of a command to the cluster that its options name."""

import argparse
import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

from plurispiel.tournaments.api.cluster import connect_cluster
from plurispiel.tournaments.labour.work import Labour

__all__ = ["cluster_words", "labour_of"]


@contextlib.contextmanager
def labour_of(options: argparse.Namespace) -> Iterator[Labour | None]:
    """Yield the cluster that the options of `add_cluster` name; None without ``--cluster``.

    Raises
    ------
    ValueError
        If options contradict each other, or `connect_cluster` refuses an argument or the cluster.
    OSError
        If the scheduler does not answer.
    """
    if options.cluster is None:
        if options.check_share or options.ship or options.unsandboxed:
            raise ValueError("--check-share, --ship and --unsandboxed are for a cluster; give its file: --cluster FILE")
        yield None
        return
    slots = getattr(options, "workers", None) or 0
    with connect_cluster(
        options.cluster,
        slots=slots,
        check_share=options.check_share,
        ship=options.ship,
        unsandboxed=options.unsandboxed,
        progress=True,
    ) as cluster:
        yield cluster


def cluster_words(options: argparse.Namespace) -> str:
    """Return the options of a cluster as on a command line, each after a blank; the paths are absolute."""
    if options.cluster is None:
        return ""
    words = f" --cluster {shlex.quote(str(Path(options.cluster).absolute()))}"
    words += f" --check-share {options.check_share:g}" * bool(options.check_share)
    words += " --unsandboxed" * options.unsandboxed
    return words + "".join(f" --ship {shlex.quote(str(Path(folder).absolute()))}" for folder in options.ship)
