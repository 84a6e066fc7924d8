"""Options and help of `plurispiel export`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel export`."""
    parser = add_command(
        commands,
        "export",
        "export",
        "Write the hands kept in a run folder as a hand-history file.",
        ["export last --format phh --out mine.phhs", "export runs/mine --format acpc --out mine.log"],
    )
    parser.add_argument(
        "run", metavar="RUN", help="run folder of a tournament: a path, a name (plurispiel ls runs) or last"
    )
    parser.add_argument("--format", choices=("acpc", "phh"), default="phh", help="format of the file")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file, which must be new or an export; an ACPC log of a game that the ACPC does not know gets a "
        ".game file next to it (default: standard output)",
    )
