"""`plurispiel abstraction`: build and inspect bucket tables."""

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.cards.buckets import BucketTable, StreetReport, load_table
from plurispiel.abstraction.cards.build import build_table, peak_bytes, table_bytes
from plurispiel.abstraction.cards.classifier import BOARD_CARDS
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, PRESETS, AbstractionConfig, read_config
from plurispiel.abstraction.cards.flops import FLOP_500, NUM_FLOPS, all_flops, flop_buckets, is_kept
from plurispiel.abstraction.cards.stages import stage_folder
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.cards import cards_text, combo_cards, parse_cards
from plurispiel.abstraction.machine.artefact import holds_artefact
from plurispiel.abstraction.machine.folders import tables_folder
from plurispiel.abstraction.machine.interrupts import interrupts_held
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.figures.bucket_pictures import draw_table
from plurispiel.tournaments.figures.picture import MatplotlibMissing
from plurispiel.tournaments.run.kernels import CARDS, warmup

_MIB = 1 << 20
_FLOP_PEAK_MIB, _FLOP_MIB = 450, 3.2


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if options.action is None:
        raise ValueError("give an action: build or info (plurispiel abstraction --help tells more)")
    return {"build": _build, "info": _info}[options.action](options)


def _build(options: argparse.Namespace) -> int:
    threads = options.threads or num_processors()
    if options.threads is not None and not 1 <= options.threads <= 1024:
        raise ValueError(f"threads are 1 to 1,024, got {options.threads}")
    if options.config == FLOP_500.name:
        return _build_flops(options, threads)
    if options.flop is not None or options.all:
        raise ValueError(f"--flop and --all are for {FLOP_500.name}, whose buckets are those of one flop")
    config = _config(options)
    folder = Path(options.out) if options.out else tables_folder() / config.name
    known = holds_artefact(folder)
    if not known:
        streets = ", ".join(_street_text(config, street) for street in BUCKETED_STREETS)
        say(f"{config.name}: {streets}; seed {config.seed}, {threads} threads")
        say(
            f"at most about {peak_bytes(config) / _MIB:,.0f} MiB of memory, {table_bytes(config) / _MIB:,.0f} MiB on "
            f"disk: {folder}"
        )
        if stage_folder(folder).exists():
            say("resuming an earlier build that was stopped")
    begin = time.perf_counter()
    try:
        warmup(CARDS)
        table = build_table(config, folder, threads=threads, show_progress=not known)
    except KeyboardInterrupt:
        say("interrupted; the same command resumes with the first unfinished street")
        return INTERRUPTED
    seconds = time.perf_counter() - begin
    if options.json:
        print(json.dumps({"folder": str(folder), "seconds": seconds} | _record(table)))
        return 0
    say(f"{folder} already exists" if known else f"built in {seconds:.0f} s")
    print(_table_text(table, folder))
    return 0


def _build_flops(options: argparse.Namespace, threads: int) -> int:
    """Build the buckets of one flop, or of all flops, in the cache; return the exit code."""
    if options.out:
        raise ValueError(f"{FLOP_500.name} is kept in the cache (PLURISPIEL_CACHE), not in a folder: leave out --out")
    if options.seed is not None:
        raise ValueError(f"{FLOP_500.name} has the seed {FLOP_500.seed}, as search expects: leave out --seed")
    if (options.flop is not None) == options.all:
        raise ValueError(f"{FLOP_500.name} is built for one flop, --flop QsJh2h, or for every flop, --all")
    flops = all_flops() if options.all else [parse_cards(options.flop)]
    if len(flops[0]) != 3:
        raise ValueError(f"a flop has three cards, as in --flop QsJh2h, got {options.flop!r}")
    say(f"{FLOP_500.name}: about {_FLOP_PEAK_MIB} MiB of memory, {_FLOP_MIB * len(flops):,.0f} MiB in the cache")
    warmup(CARDS)
    begin = time.perf_counter()
    missing = [flop for flop in flops if not is_kept(flop)]
    try:
        for flop in progress_bar(missing, unit="flop", disable=not options.all):
            with interrupts_held():
                buckets = flop_buckets(flop, threads=threads)
    except KeyboardInterrupt:
        say("interrupted; the same command resumes with the next flop")
        return INTERRUPTED
    buckets = flop_buckets(flops[0])
    seconds = time.perf_counter() - begin
    record = {"name": FLOP_500.name, "flops": len(flops), "built": len(missing), "seconds": seconds}
    record |= {"buckets": buckets.num_buckets} if options.flop else {"of": NUM_FLOPS}
    if options.json:
        print(json.dumps(record))
    elif options.flop:
        turn, river = buckets.num_buckets.values()
        state = f"built in {seconds:.1f} s" if missing else "in the cache already"
        print(f"{cards_text(flops[0])}: {turn} buckets on the turn, {river} on the river, {state}")
    else:
        print(f"{len(flops):,} flops in the cache, {len(missing):,} of them built in {seconds:,.0f} s")
    return 0


def _info(options: argparse.Namespace) -> int:
    if options.examples < 0:
        raise ValueError(f"examples must not be negative, got {options.examples}")
    folder = find_table(options.table)
    table = load_table(folder)
    flop = parse_cards(options.flop)
    if len(flop) != 3:
        raise ValueError(f"a flop has three cards, as in --flop QsJh2h, got {options.flop!r}")
    if options.json:
        print(json.dumps({"folder": str(folder)} | _record(table, detailed=True)))
    else:
        print(_table_text(table, folder))
        for street in BUCKETED_STREETS:
            print(_examples_text(table, street, options.examples))
    if options.plot:
        sys.stdout.flush()
        try:
            for picture in draw_table(table, Path(options.plot), flop):
                say(f"drawn in {picture}")
        except MatplotlibMissing as error:
            say(f"no picture: {error}")
    return 0


def find_table(text: str) -> Path:
    """Return the folder of a bucket table, given the path of the folder or the table's name in the user's data.

    Raises
    ------
    ValueError
        If there is no such table.
    """
    if holds_artefact(Path(text)):
        return Path(text)
    named = tables_folder() / text
    if Path(text).name == text and holds_artefact(named):
        return named
    folder = tables_folder()
    there = sorted(path.name for path in folder.iterdir() if holds_artefact(path)) if folder.is_dir() else []
    known = f"there are {', '.join(there)}" if there else f"there is none yet in {folder}"
    advice = f"; plurispiel abstraction build {text} makes it" if text in PRESETS else ""
    raise ValueError(
        f"{text!r} is neither the folder nor the name of a bucket table{suggestion(text, there)}: {known}{advice}"
    )


def _config(options: argparse.Namespace) -> AbstractionConfig:
    if options.config in PRESETS:
        config = PRESETS[options.config]
    elif options.config.endswith(".toml"):
        config = read_config(Path(options.config))
    else:
        names = ", ".join([*PRESETS, FLOP_500.name])
        meant = suggestion(options.config, [*PRESETS, FLOP_500.name])
        raise ValueError(f"an abstraction is a preset ({names}) or a .toml file, got {options.config!r}{meant}")
    return config if options.seed is None else dataclasses.replace(config, seed=options.seed)


def _street_text(config: AbstractionConfig, street: str) -> str:
    settings = config.street(street)
    return f"{street} {settings.buckets} ({settings.features}, {settings.distance})"


def _record(table: BucketTable, detailed: bool = False) -> dict[str, Any]:
    """Return the record of a table for ``--json``; `detailed` adds each bucket's size, equity and example hands."""
    config = table.model.config
    streets: dict[str, Any] = {}
    for street in BUCKETED_STREETS:
        report = table.reports[street]
        streets[street] = {"buckets": table.num_buckets[street], "used": int((report.sizes > 0).sum())}
        streets[street] |= dataclasses.asdict(config.street(street)) | {"asked": config.street(street).buckets}
        streets[street]["buckets"] = table.num_buckets[street]
        streets[street] |= report.quality
        if detailed:
            streets[street] |= {
                "sizes": report.sizes.tolist(),
                "equity": report.equity.tolist(),
                "equity_sd": report.equity_sd.tolist(),
                "examples": [_examples(table, street, bucket) for bucket in range(len(report.sizes))],
            }
    return {"name": config.name, "seed": config.seed, "digest": table.digest, "streets": streets}


def _table_text(table: BucketTable, folder: Path) -> str:
    """Return a text with one line for each street: its settings, the sizes of its buckets and their quality."""
    config = table.model.config
    lines = [
        f"{config.name}, seed {config.seed}, {table.digest[:16]}: {folder}",
        "",
        "street  buckets  features   distance   smallest   median  largest   within  explained"
        "   ehs within  ehs explained",
        "preflop     169  the starting hands themselves",
    ]
    for street in BUCKETED_STREETS:
        settings, report = config.street(street), table.reports[street]
        quality, used = report.quality, report.sizes[report.sizes > 0]
        shares = [f"{100 * size / report.sizes.sum():7.3f}%" for size in (used.min(), np.median(used), used.max())]
        lines.append(
            f"{street:7} {len(used):7}  {settings.features:9}  {settings.distance:10}{' '.join(shares)}  "
            f"{quality['mean_distance']:7.4f}  {quality['explained']:9.4f}  {quality['ehs_mean_distance']:11.4f}  "
            f"{quality['ehs_explained']:13.4f}"
        )
    lines += [
        "",
        "within: mean distance of a hand from the mean of its bucket, in equity (flop, turn: earth mover's distance of",
        "histograms; river: root mean square over eight clusters of hands); explained: share of the variance that lies",
        "between buckets; ehs: the same two figures for equally many buckets, made of percentiles of mean equity",
    ]
    return "\n".join(lines)


def _examples_text(table: BucketTable, street: str, number: int) -> str:
    """Return a text with `number` buckets of a street, evenly spread from weak to strong, and their example hands."""
    report = table.reports[street]
    shown = np.unique(np.linspace(0, len(report.sizes) - 1, min(number, len(report.sizes))).astype(int))
    lines = [f"\n{street}: bucket, equity +- deviation, share, typical hands"]
    for bucket in shown.tolist():
        share = 100 * report.sizes[bucket] / report.sizes.sum()
        hands = "  ".join(_examples(table, street, bucket))
        lines.append(
            f"{bucket:5}  {report.equity[bucket]:.3f} +- {report.equity_sd[bucket]:.3f}  {share:6.3f}%  {hands}"
        )
    return "\n".join(lines)


def _examples(table: BucketTable, street: str, bucket: int) -> list[str]:
    report: StreetReport = table.reports[street]
    boards = board_classes(BOARD_CARDS[street]).boards
    pairs = [pair for pair in report.examples[bucket].tolist() if pair[0] >= 0]
    return [f"{cards_text(combo_cards()[combo][::-1])} on {cards_text(boards[board][::-1])}" for board, combo in pairs]
