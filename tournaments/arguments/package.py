"""Options of the commands about the package itself: ls, bench, warmup."""

from plurispiel.tournaments.arguments.parser import add_command


def add_ls(commands) -> None:
    """Add `plurispiel ls`."""
    parser = add_command(
        commands,
        "ls",
        "ls",
        "List agents, games, presets and runs: what there is to name on the command line.",
        ["ls agents", "ls runs --json"],
    )
    parser.add_argument(
        "what",
        choices=("agents", "games", "presets", "runs"),
        help="what to list; presets are those of games, blueprints and bucket tables, runs those of tournaments",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def add_bench(commands) -> None:
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
        ),
        help="what to measure; search-exact and search-spots are no speed, but what search is worth: how exploitable "
        "it is in small games, and what it wins from the heads-up blueprint",
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure, or a measure of it")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def add_warmup(commands) -> None:
    """Add `plurispiel warmup`."""
    parser = add_command(
        commands,
        "warmup",
        "warmup",
        "Compile every kernel into the cache, so that later commands start at once.",
        ["warmup", "warmup --json"],
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
