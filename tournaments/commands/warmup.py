"""`plurispiel warmup`: compile every kernel."""

import argparse
import json

from plurispiel.abstraction.machine import jit
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.run.compilation import warmup_in_processes
from plurispiel.tournaments.run.kernels import warmup


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    if not 0 <= options.processes <= MAX_WORKERS:
        raise ValueError(f"processes must be 0..{MAX_WORKERS:,} (0: one for each processor), got {options.processes}")
    number = options.processes or num_processors()
    seconds = warmup_in_processes(number, say) if number > 1 else warmup()
    record = {"seconds": seconds, "kernels": len(jit.KERNELS), "cache": str(jit.CACHE_FOLDER)}
    if options.json:
        print(json.dumps(record))
    else:
        print(f"{record['kernels']} kernels ready after {seconds:.1f} s, kept in {record['cache']}")
    return 0
