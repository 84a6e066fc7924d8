"""Options and help of `plurispiel replay`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel replay`."""
    parser = add_command(
        commands,
        "replay",
        "replay",
        "Replay recorded hands in this package's engine and in universal_poker, and compare both with the files.",
        ["replay last", "replay match.log phh-dataset/data/pluribus --json"],
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="ACPC dealer logs, .phh and .phhs files, and folders of them; also runs, by name "
        "(plurispiel ls runs) or as 'last', the latest",
    )
    parser.add_argument(
        "--game",
        metavar="FILE.game",
        help="game file of the ACPC logs, or the file name of a built-in game (default: the file that each log names, "
        "in the log's folder or built in)",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON, with every mismatch and error")
