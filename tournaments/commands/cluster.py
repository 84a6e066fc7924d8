"""`plurispiel cluster`: run the scheduler of a cluster."""

import argparse
from pathlib import Path

from plurispiel.tournaments.api.cluster import missing_extra
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.run.arithmetic import arithmetic_digest, package_facts

_MIN_PATIENCE_S = 5.0


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    try:
        from plurispiel.tournaments.labour.registry import serve_cluster
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
    if not 0 <= options.port < 1 << 16:
        raise ValueError(f"a port is 0 to 65535, got {options.port}")
    if not options.patience >= _MIN_PATIENCE_S:
        raise ValueError(f"patience must be at least {_MIN_PATIENCE_S:g} s, got {options.patience:g}")
    say("computing what workers must have in common with this machine (the first run on it compiles kernels) ...")
    facts = package_facts() if options.mixed else {**package_facts(), "arithmetic": arithmetic_digest()}
    if options.insecure:
        say(
            "WARNING: without keys, every process that reaches the scheduler's address, also of other users, can run "
            "programs as you on all machines of the cluster"
        )
    serve_cluster(
        Path(options.file),
        facts,
        say,
        host=options.host,
        port=options.port,
        secure=not options.insecure,
        patience=options.patience,
        mixed=options.mixed,
    )
    return 0
