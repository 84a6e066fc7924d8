"""`plurispiel spot sweep`: solve one spot on many flops, with a row for each flop."""

import argparse
import json
import shlex
from pathlib import Path

from plurispiel.tournaments.api.spot_sweep import SpotSweep, forecast_sweep, make_conduct, measure_sweep, read_sweep
from plurispiel.tournaments.commands.connection import cluster_words, labour_of
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.commands.spot import find_spot
from plurispiel.tournaments.run.results import aligned, number_text
from plurispiel.tournaments.sweep.folder import CSV_FILE, PAGE_FILE


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    path = find_spot(options.file)
    if path.is_dir():
        raise ValueError(f"{path} is a solved spot; a sweep needs a spot's TOML file")
    settings = read_sweep(path, options.target)
    with labour_of(options) as labour:
        workers = 1 if options.workers is None else options.workers
        conduct = make_conduct(workers, options.threads, True, say, labour)
        out = Path(options.out)
        if options.dry_run:
            plan = forecast_sweep(settings, options.flops, out, conduct)
            if options.json:
                print(json.dumps(plan))
            return 0
        try:
            found = measure_sweep(settings, options.flops, out, conduct)
        except KeyboardInterrupt:
            say(f"interrupted; solved flops are kept. To continue:\n  {_resume_command(options)}")
            return INTERRUPTED
    print(json.dumps(found.to_dict(), allow_nan=False) if options.json else _text(found))
    return 0


def _resume_command(options: argparse.Namespace) -> str:
    return (
        f"plurispiel spot sweep {shlex.quote(options.file)} --flops {shlex.quote(options.flops)} "
        f"--out {shlex.quote(options.out)}"
        + (f" --target {options.target:g}" if options.target is not None else "")
        + (f" --workers {options.workers}" if options.workers is not None else "")
        + cluster_words(options)
        + (f" --threads {options.threads}" if options.threads is not None else "")
        + (" --json" if options.json else "")
    )


def _text(found: SpotSweep) -> str:
    pot, mean = found.settings["spot"]["pot"], found.mean
    rows: list[tuple[str, ...]] = [("player", "EV (chips)", "of the pot", "equity")]
    for player, ev, share in zip(("oop", "ip"), mean["ev"], mean["equity"], strict=True):
        rows.append((player, f"{ev:,.3f}", f"{100 * ev / pot:.2f} %", f"{100 * share:.2f} %"))
    lines: list[tuple[str, ...]] = [("action", "frequency")]
    lines += [(name, number_text(share, ".1%")) for name, share in mean["frequencies"].items()]
    return "\n".join(
        [
            f"means over {len(found.rows):,} flops:",
            *aligned(rows),
            "",
            *aligned(lines),
            "",
            f"{found.folder / CSV_FILE} has a row for each flop, {found.folder / PAGE_FILE} shows them",
        ]
    )
