"""Options and help of `plurispiel spot`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel spot`."""
    parser = add_command(
        commands,
        "spot",
        "spot",
        "Solve one post-flop situation of two players: ranges, board, pot, stacks and bet sizes from a file.",
        ["spot river-spot", 'spot turn --node "c b100% c 7d" --json'],
    )
    add = parser.add_argument
    add("file", metavar="FILE.toml", help="the spot: a file, an example's name, or a folder that --out kept")
    add(
        "--node",
        metavar="NODE",
        default="",
        help='whose strategy to show, by what leads to it, as in "c b75%%": a check and a bet of 75 %% of the pot '
        "(default: the first)",
    )
    add("--threads", type=int, metavar="N", default=2, help="boards worked on at once")
    add("--out", metavar="DIR", help="folder for the whole strategy, which plurispiel spot DIR shows again")
    add("--plot", action="store_true", help="draw the strategy in a PNG named by the spot and the node")
    add("--json", action="store_true", help="print as JSON")
