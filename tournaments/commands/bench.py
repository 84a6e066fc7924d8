"""`plurispiel bench`: measure the speed of kernels and solvers, the strength of search, and how agents play."""

import argparse
import dataclasses
import json
import math
import sys

from plurispiel.abstraction.machine.files import require_writable
from plurispiel.abstraction.machine.versions import machine_name, machine_text, package_versions
from plurispiel.agents.values.bundled import BUNDLED
from plurispiel.tournaments.bench.blueprint import bench_blueprint
from plurispiel.tournaments.bench.blueprint_curves import bench_blueprint_curves
from plurispiel.tournaments.bench.bot_profile import bench_bot_profile, bot_profile_text, profile_settings
from plurispiel.tournaments.bench.card_abstraction import bench_card_abstraction
from plurispiel.tournaments.bench.cluster import bench_cluster
from plurispiel.tournaments.bench.continual import bench_continual
from plurispiel.tournaments.bench.continual_exact import (
    bench_continual_exact,
    continual_exact_text,
    draw_continual_exact,
)
from plurispiel.tournaments.bench.continual_spots import bench_continual_spots
from plurispiel.tournaments.bench.coverage import bench_coverage, coverage_text
from plurispiel.tournaments.bench.deep_cfr import bench_deep_cfr, deep_cfr_text
from plurispiel.tournaments.bench.engine import bench_engine
from plurispiel.tournaments.bench.environment import bench_environment
from plurispiel.tournaments.bench.leak_values import bench_leak_values
from plurispiel.tournaments.bench.measurement import Measurement, peak_memory
from plurispiel.tournaments.bench.mixing import bench_mixing
from plurispiel.tournaments.bench.peer_programs import parse_programs
from plurispiel.tournaments.bench.peers import bench_peers
from plurispiel.tournaments.bench.rows import bench_rows
from plurispiel.tournaments.bench.search import bench_search
from plurispiel.tournaments.bench.search_exact import (
    bench_search_exact,
    draw_search_exact,
    parse_games,
    search_exact_text,
)
from plurispiel.tournaments.bench.search_spots import bench_search_spots
from plurispiel.tournaments.bench.small_games import bench_small_games
from plurispiel.tournaments.bench.sparse_lookaheads import bench_sparse_lookaheads
from plurispiel.tournaments.bench.spot import bench_spot
from plurispiel.tournaments.bench.summed_regrets import bench_summed_regrets
from plurispiel.tournaments.bench.tournament_memory import bench_tournament_memory
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.contestants.outside_options import OutsideOptions
from plurispiel.tournaments.figures.picture import require_drawable
from plurispiel.tournaments.run.kernels import warmup

_BENCHES = {
    "engine": bench_engine,
    "small-games": bench_small_games,
    "spot": bench_spot,
    "abstraction": bench_card_abstraction,
    "blueprint": bench_blueprint,
    "blueprint-curves": bench_blueprint_curves,
    "search": bench_search,
    "search-spots": bench_search_spots,
    "deep-cfr": bench_deep_cfr,
    "leak-values": bench_leak_values,
    "coverage": bench_coverage,
    "memory": bench_tournament_memory,
    "environment": bench_environment,
    "cluster": bench_cluster,
    "summed-regrets": bench_summed_regrets,
    "rows": bench_rows,
}


_TEXTS = {
    "bot-profile": bot_profile_text,
    "search-exact": search_exact_text,
    "continual-exact": continual_exact_text,
    "deep-cfr": deep_cfr_text,
    "coverage": coverage_text,
}
"""Benchmarks with tables of their own."""

_PICTURES = {"continual-exact": draw_continual_exact, "search-exact": draw_search_exact}

_KEPT = ("continual-spots", "mixing", "sparse-lookaheads")
"""Benchmarks whose figures `--keep` keeps."""

_PROFILE_OPTIONS = ("agents", "game", "hands", "seed", "opponents", "own_sizes")
"""Options of `bot-profile` alone, besides those of `OutsideOptions`."""

_WITH_PEAK = ("engine", "spot", "abstraction", "blueprint", "blueprint-curves", "search")
"""Benchmarks whose last figures are the peaks of memory."""

_MIN_S, _MAX_S = 0.001, 86_400.0
"""Bounds of --seconds: a shorter measurement would show nothing, and a longer one is a mistake."""


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    if not _MIN_S <= options.seconds <= _MAX_S:
        raise ValueError(f"--seconds must be {_MIN_S:g} to {_MAX_S:,.0f}, got {options.seconds:g}")
    given = {name: getattr(options, name) for name in _PROFILE_OPTIONS if getattr(options, name) is not None}
    is_profile = options.name == "bot-profile"
    outside = OutsideOptions.chosen(options)
    if (given or outside != OutsideOptions()) and not is_profile:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given) or outside.words().strip()
        raise ValueError(f"{names}: only for bench bot-profile, got bench {options.name}")
    settings = profile_settings(**given)
    if options.program and options.name != "peers":
        raise ValueError(f"--program: only for bench peers, got bench {options.name}")
    programs = parse_programs(options.program or ())
    if options.picture is not None:
        if options.name not in _PICTURES:
            raise ValueError(f"--picture: only for bench {' and '.join(_PICTURES)}, got bench {options.name}")
        require_drawable(options.picture)
    if options.games is not None and options.name != "search-exact":
        raise ValueError(f"--games: only for bench search-exact, got bench {options.name}")
    games = parse_games(options.games, is_drawn=options.picture is not None) if options.name == "search-exact" else ()
    nets = [str(each) for each in options.nets or ()]
    if nets and options.name not in ("continual", "continual-exact", "continual-spots"):
        raise ValueError(
            f"--nets: only for bench continual, continual-exact and continual-spots, got bench {options.name}"
        )
    if len(nets) > 1 and options.name != "continual-exact":
        raise ValueError(f"--nets: bench {options.name} takes one folder, got {len(nets)}")
    if options.keep is not None:
        if options.name not in _KEPT:
            names = f"{', '.join(_KEPT[:-1])} and {_KEPT[-1]}"
            raise ValueError(f"--keep: only for bench {names}, got bench {options.name}")
        require_writable(options.keep, "give another file (--keep)")
    if options.name not in ("rows", "cluster"):  # these two time no kernels, so kernels may compile on first use
        print("loading kernels ...", file=sys.stderr, flush=True)
        warmup()
    if is_profile:
        specs = [*settings.agents, *settings.opponents]
        rows = bench_bot_profile(settings, outside.isolation(specs, say))
    elif options.name == "peers":
        rows = bench_peers(options.seconds, programs)
    elif options.name == "continual-exact":
        rows = bench_continual_exact(options.seconds, options.nets or ())
    elif options.name == "continual":
        rows = bench_continual(options.seconds, nets=nets[0] if nets else BUNDLED)
    elif options.name == "continual-spots":
        rows = bench_continual_spots(options.seconds, nets[0] if nets else BUNDLED, options.keep)
    elif options.name == "mixing":
        rows = bench_mixing(options.seconds, options.keep)
    elif options.name == "sparse-lookaheads":
        rows = bench_sparse_lookaheads(options.seconds, options.keep)
    elif options.name == "search-exact":
        rows = bench_search_exact(options.seconds, games)
    else:
        rows = _BENCHES[options.name](options.seconds)
    if options.name in _WITH_PEAK:
        rows += peak_memory()
    _show(options, rows)
    if options.picture is not None:
        sys.stdout.flush()  # the figures stay, whatever becomes of the picture
        _PICTURES[options.name](options.picture, rows)
        say(f"drawn in {options.picture}")
    return 0


def _show(options: argparse.Namespace, rows: list[Measurement]) -> None:
    """Print the figures as JSON or text."""
    if options.json:
        figures = [dataclasses.asdict(row) | {"value": None if math.isnan(row.value) else row.value} for row in rows]
        print(json.dumps({"machine": machine_name(), "versions": package_versions(), "figures": figures}, indent=1))
        return
    print(machine_text())
    if options.name in _TEXTS:
        print(_TEXTS[options.name](rows))
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        value = "-" if math.isnan(row.value) else f"{row.value:,.4g}"
        print(f"{row.name.ljust(width)}  {value:>8} {row.unit:8} {row.note}".rstrip())
