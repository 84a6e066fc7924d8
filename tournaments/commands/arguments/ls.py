"""Options and help of `plurispiel ls`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel ls`."""
    parser = add_command(
        commands,
        "ls",
        "ls",
        "List the agents, games, presets and runs that commands accept by name.",
        ["ls agents", "ls runs --json"],
    )
    parser.add_argument(
        "what",
        choices=("agents", "games", "presets", "runs"),
        metavar="{agents,games,presets,runs}",
        help="what to list; presets are those of games, blueprints and bucket tables, runs are tournaments",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
