"""Options and help of `plurispiel blueprint`."""

from plurispiel.tournaments.commands.arguments.parser import add_action, add_command


def add(commands) -> None:
    """Add `plurispiel blueprint`."""
    parser = add_command(
        commands,
        "blueprint",
        "blueprint",
        "Train blueprints, strategies of whole games with fewer bets and hands, and look at them.",
        [
            "blueprint train headsup --minutes 30",
            "blueprint resume headsup",
            "blueprint info sixmax-compact --plot grids.png",
        ],
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add = add_action(
        actions,
        "train",
        "Train a blueprint by Monte Carlo CFR; Ctrl-C keeps what was learnt, and resume goes on.",
        [
            "blueprint train leduc",
            "blueprint train headsup --minutes 30",
            "blueprint train my.toml --iterations 1000000",
        ],
    ).add_argument
    add(
        "config",
        metavar="PRESET|CONFIG.toml",
        help="leduc, kuhn3, holdem-mini, holdem-flop (for proofs), headsup (200 bb), headsup-pushfold, threemax, "
        "sixmax (100 bb, 16 GB), sixmax-compact and headsup-compact (the bundled), "
        "pluribus (as large as the paper's), or settings from a file: "
        "game or seats and stack_bb, [menu] with bet sizes by street, cards, iterations",
    )
    add("--iterations", type=int, metavar="N", help="deals, each traversed for every seat (default: the preset's)")
    add("--minutes", type=float, metavar="M", help="as many iterations as a trial says fit into that time")
    add("--cards", metavar="TABLE", help="bucket table, or lossless (default: the preset's); a preset's is built")
    add("--seed", type=int, metavar="N", help="seed (default: the preset's, 1); one thread repeats a run bit by bit")
    add(
        "--from",
        dest="start",
        metavar="BLUEPRINT",
        help="start from a finished blueprint of the same betting and cards, a folder or a name",
    )
    add(
        "--weight",
        type=float,
        default=1000.0,
        metavar="BB",
        help="with --from: regret, in big blinds, that each infoset starts with",
    )
    add("--marks", type=int, default=10, metavar="N", help="how often the run is measured and its blueprint kept")
    add("--out", metavar="DIR", help="folder of the run (default: one of its name among the user's)")
    add("--force", action="store_true", help="train even if memory may not suffice")
    _add_training(add)
    add = add_action(
        actions,
        "resume",
        "Go on with training from the last sound checkpoint, or beyond a run's end.",
        ["blueprint resume headsup", "blueprint resume headsup --iterations 400000000"],
    ).add_argument
    add("run", metavar="RUN", help="a run's folder, or its name among the user's")
    add("--iterations", type=int, metavar="N", help="train up to so many in all, more than the run was begun with")
    add(
        "--minutes", type=float, metavar="M", help="stop after so many more minutes; 0 only writes the blueprint so far"
    )
    _add_training(add)
    add = add_action(
        actions,
        "info",
        "Show how a blueprint was trained, what it costs, its raise sizes, and what each seat does first in.",
        ["blueprint info headsup-compact", "blueprint info sixmax-compact --plot grids.png"],
    ).add_argument
    add("blueprint", metavar="BLUEPRINT", help="a folder, a packed file, or a name among the user's or the package's")
    add(
        "--plot",
        metavar="FILE",
        help="draw the grids of all seats there, and how the training went in FILE-training (needs matplotlib)",
    )
    add("--json", action="store_true", help="print as JSON")
    add = add_action(
        actions,
        "pack",
        "Write a blueprint into one small file, without what play hardly reaches.",
        ["blueprint pack sixmax-compact --out sixmax.blueprint"],
    ).add_argument
    add("blueprint", metavar="BLUEPRINT", help="a folder, or a name among the user's or the package's")
    add("--out", metavar="FILE.blueprint", required=True, help="the file")
    add("--decks", type=int, default=2_000_000, metavar="N", help="decks of self-play that show which rows matter")
    add("--least", type=int, default=1, metavar="N", help="leave out rows that are reached less often; 0 keeps all")
    add("--json", action="store_true", help="print as JSON")


def _add_training(add) -> None:
    """Add what train and resume share."""
    add("--threads", type=int, metavar="N", help="threads (default: all processors)")
    add("--checkpoint-minutes", type=float, default=5.0, metavar="M", help="time between two checkpoints")
    add("--json", action="store_true", help="print the finished blueprint's record as JSON")
