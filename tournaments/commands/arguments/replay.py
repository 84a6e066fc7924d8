"""Options and help of `plurispiel replay`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
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
