"""Options and help of `plurispiel spot`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel spot`."""
    parser = add_command(
        commands,
        "spot",
        "spot",
        "Solve one post-flop situation of two players, or a river of three, from a file with ranges, board, pot, "
        "stacks and bet sizes. With three players, CFR has no proof of convergence to an equilibrium.",
        ["spot river-spot", 'spot turn --node "c b100% c 7d" --json'],
    )
    add = parser.add_argument
    add("file", metavar="FILE.toml", help="the spot: a file, the name of an example, or a folder written by --out")
    add(
        "--node",
        metavar="NODE",
        default="",
        help='decision to show, given by the actions and cards before it, as in "c b75%% c 7d": a check, a bet of 75 '
        "%% of the pot, a call and the card 7d (default: the first decision)",
    )
    add(
        "--threads",
        type=int,
        metavar="N",
        default=2,
        help="threads, at least 1; each works on one board at a time. Three players take one thread",
    )
    add(
        "--out",
        metavar="DIR",
        help="folder for the whole strategy, which plurispiel spot DIR shows later; ignored if FILE.toml is a folder",
    )
    add(
        "--plot",
        action="store_true",
        help="draw the strategy to a PNG in the current folder, named after the spot and the decision (needs "
        "matplotlib)",
    )
    add("--json", action="store_true", help="print as JSON")
