"""`plurispiel lbr`: what local best response wins from an agent."""

import argparse
import contextlib
import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.local_best_response import MENUS, Prober
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.contestants.supervisor import Contestant, Limits
from plurispiel.tournaments.contestants.trial import try_to_tell
from plurispiel.tournaments.run.kernels import LOADING, warmup_play
from plurispiel.tournaments.run.lbr_run import LbrConfig, LbrRun
from plurispiel.tournaments.run.results import aligned, number_text, printable

_SHOWN_EVERY = 2.0
"""Seconds: of many hands the result so far takes a while."""


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.hands < 1 or not 0 <= options.workers <= MAX_WORKERS:
        raise ValueError(
            f"hands are 1 or more and workers 0 to {MAX_WORKERS:,}, got {options.hands} and {options.workers}"
        )
    if options.out and options.menu == "all":
        raise ValueError("--out is for one menu; with --menu all each has a folder of its own")
    menus = list(MENUS) if options.menu == "all" else [options.menu]
    configs = [LbrConfig(options.agent, menu, options.game, options.seed, options.aivat) for menu in menus]
    found = []
    with contextlib.redirect_stdout(sys.stderr):  # an agent that prints must not write into the results
        _try(configs[0])
        if note := configs[0].note:
            say(f"{options.agent}: {note}")
        for config in configs:
            record = _measure(config, options)
            if record is None:
                return INTERRUPTED
            found.append(record)
    if options.json:
        print(json.dumps(found if options.menu == "all" else found[0], allow_nan=False))
    else:
        print(_table(found))
    return 0


def _try(config: LbrConfig) -> None:
    """See, before anything is compiled, whether an agent from outside loads, and tells what it does with every hand."""
    if parse_spec(config.agent).is_foreign:
        with contextlib.closing(Contestant(config.agent, Limits())) as contestant:
            try_to_tell(contestant, config.rules)


def _measure(config: LbrConfig, options: argparse.Namespace) -> dict[str, Any] | None:
    """Play what is missing and return the result; None if it was interrupted."""
    folder = Path(options.out) if options.out else user_data_folder() / "lbr" / config.digest
    run = LbrRun(folder, config, fresh=options.fresh)
    num_groups = -(-options.hands // Prober.hands_per_group)
    played = run.num_played(num_groups)
    say(f"{config.agent} against local best response ({config.menu}: {MENUS[config.menu].text}), seed {config.seed}")
    say(f"run folder {folder}" + (f", {played * Prober.hands_per_group:,} hands already there" if played else ""))
    begin = time.perf_counter()
    if played < num_groups:
        say(LOADING)
        total = num_groups * Prober.hands_per_group
        try:
            warmup_play([config.agent], config.rules)
            with progress_bar(
                total=total, initial=played * Prober.hands_per_group, unit="hand", unit_scale=True
            ) as progress:
                shown = begin

                def show(count: int) -> None:
                    nonlocal shown
                    if time.perf_counter() - shown > _SHOWN_EVERY:
                        now = run.results(num_groups)
                        by = "aivat_" * config.aivat
                        text = f"{now[f'{by}mbb_per_hand']:+,.0f} ± {number_text(now[f'{by}ci95'], ',.0f')} mbb/hand"
                        progress.set_postfix_str(text, refresh=False)
                        shown = time.perf_counter()
                    progress.update(count * Prober.hands_per_group)

                begin = time.perf_counter()
                run.play(num_groups, options.workers or num_processors(), show)
        except KeyboardInterrupt:
            say(
                "interrupted; what was played is stored. To go on:\n  plurispiel lbr --agent "
                f"{shlex.quote(options.agent)} --menu {options.menu} --hands {options.hands} --game "
                f"{shlex.quote(options.game)} --seed {options.seed}"
                + (" --aivat" if options.aivat else "")
                + (f" --workers {options.workers}" if options.workers else "")
                + (f" --out {shlex.quote(options.out)}" if options.out else "")
                + (" --json" if options.json else "")
            )
            return None
    record = run.results(num_groups)
    seconds = time.perf_counter() - begin
    new = (num_groups - played) * Prober.hands_per_group
    return record | {"seconds": seconds, "hands_per_second": new / seconds if new else None}


def _table(found: list[dict[str, Any]]) -> str:
    by_aivat = found[0]["aivat_mbb_per_hand"] is not None
    rates = [("", "mbb/hand"), ("paid_", "as paid"), *[("aivat_", "by AIVAT")] * by_aivat]
    rows: list[tuple[str, ...]] = [
        ("menu", *(text for _, title in rates for text in (title, "± 95 %")), "hands", "sd bb a deck", "hands/s"),
    ]
    for record in found:
        rows.append(
            (
                record["menu"],
                *(
                    number_text(record[f"{rate}{name}"], form)
                    for rate, _ in rates
                    for name, form in (("mbb_per_hand", "+,.1f"), ("ci95", ",.1f"))
                ),
                f"{record['hands']:,}",
                number_text(None if record["sd"] is None else record["sd"] / 1000.0, ",.2f"),
                number_text(record["hands_per_second"], ",.0f"),
            )
        )
    head = f"what local best response wins from {printable(found[0]['agent'])} in {found[0]['game']}, at least:"
    return "\n".join([head, "", *aligned(rows)])
