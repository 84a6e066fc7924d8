"""Options and help of `plurispiel cluster` and `plurispiel worker`, and the options of commands that use a cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel cluster` and `plurispiel worker`."""
    add = add_command(
        commands,
        "cluster",
        "cluster",
        "Begin a cluster: a scheduler that gives the jobs of commands with --cluster FILE to workers (plurispiel "
        "worker FILE) on any machines. It lasts until Ctrl-C. Scheduler, workers and commands speak by TLS with the "
        "key in FILE, which only you can read: whoever has the key can run programs as you on all these machines. "
        "Needs the extra cluster: "
        'pip install "plurispiel[cluster]".',
        ["cluster cluster.json", "cluster ~/cluster.json --host 0.0.0.0 (workers on other machines)"],
    ).add_argument
    add(
        "file",
        metavar="FILE",
        help="file that this command writes for workers and other commands; on a shared disk for several machines",
    )
    add(
        "--host",
        metavar="H",
        default="127.0.0.1",
        help="address to listen at: 127.0.0.1 for workers on this machine, this machine's own address or 0.0.0.0 for "
        "workers on other machines",
    )
    add("--port", type=int, metavar="N", default=0, help="port, 0 to 65535; 0 takes a free one")
    add(
        "--patience",
        type=float,
        metavar="S",
        default=60.0,
        help="seconds without a sign of life, at least 5, after which a worker's jobs are done by others",
    )
    add(
        "--insecure",
        action="store_true",
        help="no key and no encryption: every process that reaches the address, also of other users, can run programs "
        "as you",
    )
    add(
        "--mixed",
        action="store_true",
        help="admit machines whose arithmetic differs: chips and play stay equal on all processors tried, AIVAT's "
        "corrections to about 12 digits; runs record and report this",
    )
    add = add_command(
        commands,
        "worker",
        "worker",
        "Work for a cluster on this machine, until the cluster ends or Ctrl-C. A machine with another version of "
        "plurispiel is refused. So is a machine whose arithmetic differs, unless the cluster has --mixed.",
        ["worker cluster.json", "worker cluster.json --slots 4", "worker cluster.json --artefacts /shared/plurispiel"],
    ).add_argument
    add("file", metavar="FILE", help="the file that plurispiel cluster wrote")
    add(
        "--slots",
        type=int,
        metavar="N",
        default=0,
        help="jobs at once, 0 to 1,024, each in a process of its own; 0 takes one for each processor (default: 0)",
    )
    add(
        "--wait",
        type=float,
        metavar="S",
        default=300.0,
        help="seconds to wait for FILE and its scheduler, also after a crash of the scheduler",
    )
    add(
        "--artefacts",
        type=Path,
        metavar="DIR",
        help="folder of bucket tables, blueprints and solved games, for instance on a shared disk. What a run "
        "needs is taken from there if its content is right, and is built or fetched if not",
    )


def add_cluster(add: Callable[..., Any]) -> None:
    """Add the options of a command whose jobs a cluster can do."""
    add(
        "--cluster",
        metavar="FILE",
        help="let the workers of plurispiel cluster FILE do the jobs, with the same results; if the command has "
        "--workers, this option is then the largest number of slots to use (0: all)",
    )
    add(
        "--check-share",
        type=float,
        metavar="X",
        default=0.0,
        help="with --cluster: share of the jobs, 0 to 1, that a second worker does again, on another machine if "
        "possible; a difference ends the command with an error that names both workers (default: 0; 0.02 costs 2 %%)",
    )
    add(
        "--ship",
        metavar="DIR",
        action="append",
        default=[],
        help="with --cluster, repeatable: folder to send whole, because an agent's file imports from it",
    )
    add(
        "--unsandboxed",
        action="store_true",
        help="with --cluster: let agents from outside play without a sandbox, though they can then read the cluster's "
        "key, with which they can run programs as you on all its machines",
    )
