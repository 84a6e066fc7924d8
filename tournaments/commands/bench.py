"""`plurispiel bench`: measured speed."""

import argparse
import dataclasses
import importlib.metadata
import json
import math
import platform
import sys

from plurispiel.tournaments.bench.blueprint import bench_blueprint
from plurispiel.tournaments.bench.blueprint_curves import bench_blueprint_curves
from plurispiel.tournaments.bench.card_abstraction import bench_card_abstraction
from plurispiel.tournaments.bench.engine import bench_engine
from plurispiel.tournaments.bench.small_games import bench_small_games
from plurispiel.tournaments.bench.spot import bench_spot
from plurispiel.tournaments.runner import default_workers
from plurispiel.tournaments.warmup import warmup

_BENCHES = {
    "engine": bench_engine,
    "small-games": bench_small_games,
    "spot": bench_spot,
    "abstraction": bench_card_abstraction,
    "blueprint": bench_blueprint,
    "blueprint-curves": bench_blueprint_curves,
}


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    if not 0 < options.seconds < math.inf:
        raise ValueError(f"seconds must be a positive number, got {options.seconds}")
    print("loading kernels ...", file=sys.stderr, flush=True)
    warmup()
    rows = _BENCHES[options.name](options.seconds)
    versions = {name: importlib.metadata.version(name) for name in ("plurispiel", "numpy", "numba", "open_spiel")}
    python = platform.python_version()
    machine = f"{platform.machine()} {platform.system()}, {default_workers()} processors, Python {python}"
    if options.json:
        figures = [dataclasses.asdict(row) | {"value": None if math.isnan(row.value) else row.value} for row in rows]
        print(json.dumps({"machine": machine, "versions": versions, "figures": figures}, indent=1))
        return 0
    print(machine + "".join(f", {name} {version}" for name, version in versions.items()))
    width = max(len(row.name) for row in rows)
    for row in rows:
        value = "-" if math.isnan(row.value) else f"{row.value:,.4g}"
        print(f"{row.name.ljust(width)}  {value:>8} {row.unit:8} {row.note}".rstrip())
    return 0
