"""`plurispiel warmup`: compile every kernel."""

import argparse
import json

from plurispiel.abstraction.machine import jit
from plurispiel.tournaments.run.kernels import warmup


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    seconds = warmup()
    record = {"seconds": seconds, "kernels": len(jit.KERNELS), "cache": str(jit.CACHE_FOLDER)}
    if options.json:
        print(json.dumps(record))
    else:
        print(f"{record['kernels']} kernels ready after {seconds:.1f} s, kept in {record['cache']}")
    return 0
