"""Options and help of `plurispiel report`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel report`."""
    parser = add_command(
        commands,
        "report",
        "report",
        "Write runs as one self-contained HTML page with tables, charts and a hand viewer, and the numbers as CSV.",
        ["report last", "report runs/before runs/after --out comparison.html"],
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="run folder of a tournament, finished or not: a path, a name (plurispiel ls runs) or 'last', the latest; "
        "or folders of plurispiel join slumbot and join gtowizard",
    )
    parser.add_argument(
        "--out",
        metavar="FILE.html",
        help="the page, which must be new or a report; the CSV files go into a folder of the same name "
        "(default: report.html in the first run's folder)",
    )
    parser.add_argument(
        "--hands",
        type=int,
        metavar="N",
        default=12,
        help="hands of each run in the viewer, 0 to 100: those of --hand, then hands whose strategies were recorded "
        "during play, then others. Of each of the last two kinds, hands with more decisions are taken first, and of "
        "these hands the ones in which more chips were won",
    )
    parser.add_argument(
        "--hand",
        action="append",
        metavar="LINEUP.DECK.ROTATION",
        help="a hand to show in any case, also beyond --hands; the numbers count from 0. If several runs are given, "
        "the letter of the run comes first: B.0.17.3 is a hand of the second run (repeatable, at most 100). Not for "
        "folders of plurispiel join",
    )
    parser.add_argument("--json", action="store_true", help="print the paths of the written files as JSON")
