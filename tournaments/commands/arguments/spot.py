"""Options and help of `plurispiel spot`."""

from plurispiel.tournaments.commands.arguments.cluster import add_cluster
from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel spot` and `plurispiel spot sweep`."""
    _add_spot(commands)
    _add_sweep(commands)


def _add_spot(commands) -> None:
    parser = add_command(
        commands,
        "spot",
        "spot",
        "Solve one post-flop situation of two players, or a river of three, from a file with ranges, board, pot, "
        "stacks and bet sizes. With three players, CFR has no proof of convergence to an equilibrium.",
        [
            "spot river-spot",
            'spot turn --node "c b100% c 7d" --json',
            "spot sweep flop --flops 184 --out flops (see plurispiel spot sweep --help)",
        ],
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
        help="folder for the whole strategy, which plurispiel spot DIR shows later; it must be new or hold a solution "
        "of this spot; ignored if FILE.toml is a folder",
    )
    add(
        "--plot",
        action="store_true",
        help="draw the strategy to a PNG in the current folder, named after the spot and the decision (needs "
        "matplotlib)",
    )
    add("--json", action="store_true", help="print as JSON")


def _add_sweep(commands) -> None:
    parser = add_command(
        commands,
        "spot sweep",
        "spot_sweep",
        "Solve one spot of two players on many flops, and write a row for each flop: EV, equity, exploitability and "
        "the frequencies of the first actions. Writes flops.csv, and flops.html, whose table a click sorts. The same "
        "command goes on where it stopped.",
        [
            "spot sweep flop --flops 184 --out flops --dry-run",
            "spot sweep mine.toml --flops all --out flops --workers 2",
        ],
    )
    add = parser.add_argument
    add("file", metavar="FILE.toml", help="the spot: a file, or the name of an example. Its board is ignored")
    add(
        "--flops",
        metavar="all|184|FILE",
        default="184",
        help="all: the 1,755 flops that differ in more than suits. 184: flops that stand for all, with weights. FILE: "
        "a flop on each line, such as Qs Jh 2h, optionally with its weight after a colon",
    )
    add(
        "--out",
        metavar="DIR",
        required=True,
        help="folder for the rows, the table and the page; flops whose rows it has are not solved again",
    )
    add(
        "--target",
        type=float,
        metavar="PCT",
        help="exploitability to reach, in %% of the pot (default: that of the file, or 0.5)",
    )
    add(
        "--workers",
        type=int,
        metavar="N",
        help="processes that solve a flop each; 0: one for each processor (default: 1; with --cluster: all slots)",
    )
    add_cluster(add)
    add(
        "--threads",
        type=int,
        metavar="N",
        help="threads for each flop; no result depends on them (default: the processors, shared among the workers; "
        "with --cluster 1)",
    )
    add("--dry-run", action="store_true", help="print memory and time only; solves one flop to measure the time")
    add("--json", action="store_true", help="print as JSON")
