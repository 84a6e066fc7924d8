"""`plurispiel replay`: replay recorded hands in this package's engine and in `universal_poker`."""

import argparse
import json
import sys
from typing import Any

from plurispiel.tournaments.api.replay import replay_hands
from plurispiel.tournaments.run.results import aligned, printable

_SHOWN = 20
_NAME_WIDTH = 32


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: 1 if a hand mismatches, or if no hand could be replayed."""
    result = replay_hands(options.paths, game=options.game, progress=True)
    record = result.to_dict()
    text = (
        json.dumps(record, indent=1, allow_nan=False) if options.json else "\n".join(_lines(record, len(result.files)))
    )
    print(text)
    sys.stdout.flush()
    return 1 if result.mismatches or not result.hands else 0


def _lines(record: dict[str, Any], num_files: int) -> list[str]:
    """Return the report as lines of text: mismatches, errors, the results of the players, and the totals."""
    lines = []
    for kind in ("mismatches", "errors"):
        found = record[kind]
        if found:
            lines += [f"{kind}:", *(_found_line(entry) for entry in found[:_SHOWN])]
            lines += [f"  ... and {len(found) - _SHOWN:,} more (--json lists all)"] * (len(found) > _SHOWN) + [""]
    players = record["players"]
    if players:
        lines += [*_player_lines(players), "", *_position_lines(players), ""]
        if len(players) > _SHOWN:
            lines += [f"the {_SHOWN} players with most hands, of {len(players):,} (--json lists all)", ""]
    lines.append(
        f"{record['hands']:,} hands of {num_files:,} file{'s' * (num_files != 1)} replayed: "
        f"{len(record['mismatches']):,} mismatches, {record['odd_chips']:,} with odd chips, "
        f"{len(record['errors']):,} errors"
    )
    return lines


def _found_line(entry: dict[str, str | None]) -> str:
    hand = "" if entry["hand"] is None else f", hand {entry['hand']}"
    return f"  {printable(entry['file'] or '')}{printable(hand)}: {printable(entry['what'] or '')}"


def _player_lines(players: dict[str, Any]) -> list[str]:
    rows: list[tuple[str, ...]] = [("player", "hands", "chips", "mbb/hand", "s.e.")]
    for name, player in list(players.items())[:_SHOWN]:
        error = "-" if player["se"] is None else f"{player['se']:,.1f}"
        figures = (f"{player['hands']:,}", f"{player['chips']:+,.2f}", f"{player['mbb_per_hand']:+,.1f}", error)
        rows.append((printable(name)[:_NAME_WIDTH], *figures))
    return aligned(rows)


def _position_lines(players: dict[str, Any]) -> list[str]:
    keys = ("vpip", "pfr", "first_in_raise", "first_in_limp", "three_bet", "donk_bet", "showdown")
    rows: list[tuple[str, ...]] = [
        ("player", "position", "hands", "VPIP", "PFR", "raise first in", "limp first in", "3-bet", "donk", "showdown")
    ]
    for name, player in list(players.items())[:_SHOWN]:
        stats = player["stats"]
        for position, row in [("all", {**stats, "hands": player["hands"]}), *stats["by_position"].items()]:
            shares = ("-" if row[key] is None else f"{row[key]:.0%}" for key in keys)
            rows.append((printable(name)[:_NAME_WIDTH], position, f"{row['hands']:,}", *shares))
    return aligned(rows, num_texts=2)
