"""Options and help of `plurispiel web`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel web`."""
    parser = add_command(
        commands,
        "web",
        "web",
        "Watch runs in the browser: progress, ranking with intervals and faults, as they come. Step through pasted "
        "hands (PHH, ACPC logs). The server can be reached from this machine alone, by the address that is printed, "
        "which works once. Needs the extra web: "
        'pip install "plurispiel[web]".',
        ["web", "web --folder runs --port 8123 --no-open"],
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--no-open", action="store_true", help="print the address, and open no browser")
    parser.add_argument(
        "--folder",
        metavar="DIR",
        help="show the runs in this folder and in its folders (default: the folder of runs without --out, which "
        "plurispiel ls runs names)",
    )
