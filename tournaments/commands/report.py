"""`plurispiel report`: write one or more runs as one HTML page."""

import argparse
import json
import sys
from pathlib import Path

from plurispiel.abstraction.machine.files import require_writable, write_atomically
from plurispiel.tournaments.remote.page import make_remote_page, read_sitting
from plurispiel.tournaments.remote.store import holds_hands
from plurispiel.tournaments.report.document import PAGE_BEGIN
from plurispiel.tournaments.report.hand_choice import MAX_HANDS, parse_hand
from plurispiel.tournaments.report.hand_viewer import make_hand_viewer
from plurispiel.tournaments.report.page import Page, make_page
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.known_runs import find_run

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    folders = [find_run(run) for run in options.runs]
    if len(folders) > len(_LETTERS):
        raise ValueError(f"a report compares at most {len(_LETTERS)} runs, got {len(folders)}")
    out = Path(options.out) if options.out else folders[0] / "report.html"
    if not out.suffix:
        raise ValueError(f"a report is a file with a suffix, beside a folder of the same name without it, got {out}")
    if any(map(holds_hands, folders)):
        return _remote(options, folders, out)
    wanted = [parse_hand(text) for text in options.hand or ()]
    for number in (options.hands, len(wanted)):
        if not 0 <= number <= MAX_HANDS:
            raise ValueError(f"a report shows 0..{MAX_HANDS} hands of a run, got {number}")
    for letter, hand in wanted:
        if letter not in _LETTERS[: len(folders)]:
            raise ValueError(
                f"no run {letter} for the hand {hand.text(letter)}: the runs are {', '.join(_LETTERS[: len(folders)])}"
            )
    runs = [read_run(folder, letter) for folder, letter in zip(folders, _LETTERS, strict=False)]
    folder = out.parent / out.stem
    viewer = make_hand_viewer(runs, options.hands, wanted) if options.hands or wanted else None
    page = make_page(runs, folder.name, viewer)
    _write(options, page, out)
    for run in runs:
        if not run.is_finished:
            print(f"{run.folder} is unfinished: {run.num_groups:,} of {run.num_wanted:,} groups", file=sys.stderr)
    return 0


def _remote(options: argparse.Namespace, folders: list[Path], out: Path) -> int:
    """Write the report on hands at services."""
    if others := [folder for folder in folders if not holds_hands(folder)]:
        raise ValueError(f"{others[0]} holds no hands at a service; a report shows either runs or such hands, not both")
    if options.hand:
        raise ValueError(f"hands at a service are not replayed in a report, got --hand {options.hand[0]}")
    _write(options, make_remote_page([read_sitting(folder) for folder in folders], out.stem), out)
    return 0


def _write(options: argparse.Namespace, page: Page, out: Path) -> None:
    """Write a page and its CSV files, and print where the files are."""
    folder = out.parent / out.stem
    out.parent.mkdir(parents=True, exist_ok=True)
    require_writable(out, "give another file (--out)", (PAGE_BEGIN,))
    if not out.exists() and (taken := [name for name in page.files if (folder / name).exists()]):
        raise ValueError(f"{folder / taken[0]} is not of a report {out}, and would be lost; give another file (--out)")
    folder.mkdir(exist_ok=True)
    files = [write_atomically(folder / name, text) for name, text in page.files.items()]
    write_atomically(out, page.html)
    if options.json:
        print(json.dumps({"report": str(out), "csv": [str(path) for path in files], "bytes": len(page.html.encode())}))
    else:
        print(f"wrote {out} ({len(page.html.encode()) / 1e6:,.1f} MB) and {len(files)} CSV files in {folder}")
