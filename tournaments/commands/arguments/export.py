"""Options and help of `plurispiel export`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
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
