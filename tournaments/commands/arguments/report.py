"""Options and help of `plurispiel report`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
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
        help="a tournament's run folder: its path, its name (plurispiel ls runs) or last; finished or not",
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
