"""`plurispiel report`: runs as one HTML page."""

import argparse
import json
import sys
from pathlib import Path

from plurispiel.tournaments.report.page import make_page
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.store import write_atomically

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    folders = [Path(run) for run in options.runs]
    if len(folders) > len(_LETTERS):
        raise ValueError(f"a report compares at most {len(_LETTERS)} runs, got {len(folders)}")
    out = Path(options.out) if options.out else folders[0] / "report.html"
    runs = [read_run(folder, letter) for folder, letter in zip(folders, _LETTERS, strict=False)]
    folder = out.parent / out.stem
    page = make_page(runs, folder.name)
    out.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    files = [write_atomically(folder / name, text) for name, text in page.files.items()]
    write_atomically(out, page.html)
    if options.json:
        print(json.dumps({"report": str(out), "csv": [str(path) for path in files], "bytes": len(page.html.encode())}))
    else:
        print(f"wrote {out} ({len(page.html.encode()) / 1e6:,.1f} MB) and {len(files)} CSV files in {folder}")
    for run in runs:
        if not run.is_finished:
            print(f"{run.folder} is unfinished: {run.num_groups:,} of {run.num_wanted:,} groups", file=sys.stderr)
    return 0
