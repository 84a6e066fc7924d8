"""Options and help of `plurispiel warmup`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel warmup`."""
    parser = add_command(
        commands,
        "warmup",
        "warmup",
        "Compile every kernel into the cache, so that later commands start without delay.",
        ["warmup", "warmup --processes 1 --json"],
    )
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        default=0,
        help="processes that compile, 0 to 1,024; 0 starts one for each processor",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
