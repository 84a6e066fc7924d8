"""Options and help of `plurispiel bench`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel bench`."""
    parser = add_command(
        commands,
        "bench",
        "bench",
        "Measure speed on this machine, next to a comparable library in the same run.",
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
        help="benchmark. search-exact and search-spots measure strength instead of speed: exploitability of search in "
        "small games, and its gain against the heads-up blueprint. rows prints a hash of the results of small fixed "
        "tournaments, equal before and after a change of the code that does not change play",
    )
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="seconds for each figure; larger for more precise results"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
