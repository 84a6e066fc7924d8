"""`plurispiel worker`: run a worker, which does the jobs of a cluster."""

import argparse
import contextlib
import sys
from pathlib import Path

from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.tournaments.api.cluster import missing_extra
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.run.arithmetic import ArithmeticWork, package_facts


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if not 0 <= options.slots <= MAX_WORKERS:
        raise ValueError(f"slots must be 0 to {MAX_WORKERS:,} (0: one for each processor), got {options.slots}")
    if options.artefacts is not None and not options.artefacts.is_dir():
        raise ValueError(f"{options.artefacts} is no folder; --artefacts names one with tables and blueprints")
    if not options.wait >= 0.0:
        raise ValueError(f"seconds to wait must be 0 or more, got {options.wait:g}")
    try:
        from plurispiel.tournaments.labour.workshop import run_worker
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    say("waiting for the scheduler, then loading kernels (the first run on a machine compiles them) ...")
    trial = ("arithmetic", ArithmeticWork())
    with contextlib.redirect_stdout(sys.stderr):
        run_worker(
            Path(options.file),
            options.slots or num_processors(),
            options.wait,
            package_facts(),
            trial,
            say,
            artefacts=options.artefacts and options.artefacts.resolve(),
        )
    return 0
