"""Options of the commands that read hands and runs: replay, export, report."""

from plurispiel.tournaments.arguments.parser import add_command

_RUN = "a tournament's run folder: its path, its name (plurispiel ls runs) or last"


def add_replay(commands) -> None:
    """Add `plurispiel replay`."""
    parser = add_command(
        commands,
        "replay",
        "replay",
        "Replay recorded hands through our engine and universal_poker, and compare what the files state.",
        ["replay last", "replay match.log phh-dataset/data/pluribus --json"],
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="logs of the ACPC's dealer, .phh and .phhs files, folders of them; of runs also names, "
        "as in plurispiel ls runs, or last",
    )
    parser.add_argument(
        "--game",
        metavar="FILE.game",
        help="the game of the ACPC logs (default: the one that each log names, beside it or built in)",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON, with every mismatch and error")


def add_export(commands) -> None:
    """Add `plurispiel export`."""
    parser = add_command(
        commands,
        "export",
        "export",
        "Write the hands stored in a run folder as a hand-history file.",
        ["export last --format phh --out mine.phhs", "export runs/mine --format acpc --out mine.log"],
    )
    parser.add_argument(
        "run", metavar="RUN", help="a tournament's run folder: its path, its name (plurispiel ls runs) or last"
    )
    parser.add_argument("--format", choices=("acpc", "phh"), default="phh", help="the format of the file")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file, which an ACPC log's .game file is put beside (default: standard output)",
    )


def add_report(commands) -> None:
    """Add `plurispiel report`."""
    parser = add_command(
        commands,
        "report",
        "report",
        "Show runs as one self-contained HTML page, tables, pictures and a hand viewer, and its numbers as CSV.",
        ["report last", "report runs/before runs/after --out comparison.html"],
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help=f"{_RUN}; finished or not",
    )
    parser.add_argument(
        "--out",
        metavar="FILE.html",
        help="the page, with a folder of the same name for the CSV files "
        "(default: report.html in the first run's folder)",
    )
    parser.add_argument(
        "--hands",
        type=int,
        metavar="N",
        default=12,
        help="hands of each run in the viewer, those with most action; at most 100",
    )
    parser.add_argument(
        "--hand",
        action="append",
        metavar="LINEUP.DECK.ROTATION",
        help="one more hand to show, by numbers from 0; of several runs A.LINEUP.DECK.ROTATION (may be repeated)",
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
