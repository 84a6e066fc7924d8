"""`plurispiel lbr`: measure the win rate of local best response against an agent."""

import argparse
import contextlib
import dataclasses
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from plurispiel.evaluation.local_best_response import MENUS
from plurispiel.tournaments.api.lbr import LbrOutsideOptions, admit_agent, check_amounts, measure_lbr
from plurispiel.tournaments.commands.connection import cluster_words, labour_of
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say, say_all
from plurispiel.tournaments.run.lbr_config import LbrConfig
from plurispiel.tournaments.run.results import aligned, number_text, printable


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    check_amounts(options.hands, options.workers)
    if options.out and options.menu == "all":
        raise ValueError("--out is for one menu; with --menu all each menu has its own folder: leave out --out")
    menus = list(MENUS) if options.menu == "all" else [options.menu]
    configs = [LbrConfig(options.agent, menu, options.game, options.seed, options.aivat) for menu in menus]
    out = Path(options.out) if options.out else None
    outside = LbrOutsideOptions.chosen(options)
    records = []
    # an agent that prints must not write into the results
    with contextlib.redirect_stdout(sys.stderr), labour_of(options) as labour:
        first, conduct = admit_agent(configs[0], outside, options.workers, out, lambda note: say_all([note]), say)
        for config in configs:
            config = dataclasses.replace(config, deals=first.deals)
            try:
                result = measure_lbr(
                    config, options.hands, conduct, out=out, fresh=options.fresh, progress=True, labour=labour
                )
            except KeyboardInterrupt:
                say(f"interrupted; what was played is stored. To continue:\n  {_resume_command(options, outside)}")
                return INTERRUPTED
            records.append(result.to_dict())
    if options.json:
        print(json.dumps(records if options.menu == "all" else records[0], allow_nan=False))
    else:
        print(_table(records))
    return 0


def _resume_command(options: argparse.Namespace, outside: LbrOutsideOptions) -> str:
    return (
        f"plurispiel lbr --agent {shlex.quote(options.agent)} --menu {options.menu} --hands {options.hands} --game "
        f"{shlex.quote(options.game)}"
        + (f" --seed {options.seed}" if options.seed is not None else "")
        + outside.words()
        + (" --aivat" if options.aivat else "")
        + (f" --workers {options.workers}" if options.workers else "")
        + cluster_words(options)
        + (f" --out {shlex.quote(options.out)}" if options.out else "")
        + (" --json" if options.json else "")
    )


def _table(records: list[dict[str, Any]]) -> str:
    by_aivat = records[0]["aivat_mbb_per_hand"] is not None
    rates = [("", "mbb/hand"), ("paid_", "as paid")]
    if by_aivat:
        rates += [("aivat_", "by AIVAT"), ("aivat_zero_sum_", "+ zero-sum")]
    rows: list[tuple[str, ...]] = [
        ("menu", *(text for _, title in rates for text in (title, "± 95 %")), "hands", "sd bb/group", "hands/s"),
    ]
    for record in records:
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
    agent, game = printable(records[0]["agent"]), records[0]["game"]
    head = f"win rate of local best response against {agent} in {game}; a best response wins at least as much:"
    lines = [head, "", *aligned(rows)]
    if records[0]["from_outside"]:
        believing, others = ("mbb/hand and by AIVAT", "as paid and + zero-sum") if by_aivat else ("mbb/hand", "as paid")
        lines += ["", f"columns that believe the agent's reported strategy: {believing}; columns that do not: {others}"]
    for record in records:
        if record["keys"]:
            keys = ", ".join(f"{entry['key']} (groups from {entry['first_deck']} on)" for entry in record["keys"])
            lines.append(f"the cards of {record['menu']} came from the key {keys}")
    return "\n".join(lines)
