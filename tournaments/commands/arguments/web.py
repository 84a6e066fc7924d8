"""Options and help of `plurispiel web`."""

from plurispiel.tournaments.commands.arguments.outside import add_outside
from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel web`."""
    parser = add_command(
        commands,
        "web",
        "web",
        "Watch runs in the browser: progress, ranking with intervals and faults, as they come. Step through pasted "
        "hands (PHH, ACPC logs). Play against agents, with the luck removed from your result. The server can be "
        "reached from this machine alone, by the address that is printed, which works once. Needs the extra web: "
        'pip install "plurispiel[web]".',
        ["web", "web --folder runs --port 8123 --no-open", "web --agents my_bot.py:MyBot,search?time=5"],
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--no-open", action="store_true", help="print the address, and open no browser")
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help="show the runs in this folder and in its folders (default: the folder of runs without --out; plurispiel "
        "ls runs --json prints the runs' paths)",
    )
    parser.add_argument(
        "--agents",
        action="append",
        metavar="A,B,...",
        help="agents to play against, besides those that are always listed: the built-in ones, blueprint, "
        "search?time=1, continual and continual?time=1",
    )
    add_outside(parser.add_argument)
