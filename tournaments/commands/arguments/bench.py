"""Options and help of `plurispiel bench`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel bench`."""
    parser = add_command(
        commands,
        "bench",
        "bench",
        "Measure speed on this machine, beside a peer in the same run.",
        ["bench engine", "bench small-games --seconds 3 --json"],
    )
    parser.add_argument(
        "name",
        choices=(
            "engine",
            "small-games",
            "abstraction",
            "spot",
            "blueprint",
            "blueprint-curves",
            "search",
            "search-exact",
            "search-spots",
            "rows",
        ),
        help="what to measure; search-exact and search-spots are no speed, but what search is worth: how exploitable "
        "it is in small games, and what it wins from the heads-up blueprint; rows is no speed either: a hash of the "
        "results of small fixed tournaments, equal before and after a change of the code that leaves play as it was",
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure, or a measure of it")
    parser.add_argument("--json", action="store_true", help="print as JSON")
