"""Options and help of `plurispiel values`."""

from plurispiel.tournaments.commands.arguments.cluster import add_cluster
from plurispiel.tournaments.commands.arguments.parser import add_action, add_command


def add(commands) -> None:
    """Add `plurispiel values`."""
    parser = add_command(
        commands,
        "values",
        "values",
        "Value networks: solve situations, train networks with them, distil others, and measure all.",
        ["values sample leduc --situations 1000 --out leduc-data", "values train leduc-data --out leduc-net"],
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _add_sample(actions)
    _add_train(actions)
    _add_distil(actions)
    _add_train_all(actions)
    add = add_action(
        actions,
        "info",
        "Show the errors of a network on situations that it never saw.",
        ["values info leduc-net", "values info leduc-net --plot leduc-net.svg"],
    ).add_argument
    add("net", metavar="NET", help="folder of a network, or the name of a bundled one, such as 'turn'")
    add(
        "--data",
        metavar="DATA",
        help="measure errors anew, on the unseen situations of this folder (default: show the errors measured after "
        "training)",
    )
    add(
        "--plot",
        metavar="FILE",
        help="draw errors by stratum and by epoch to FILE, and values in three situations beside exact ones, which "
        "take an hour or more on the flop (needs matplotlib)",
    )
    add("--json", action="store_true", help="print as JSON")
    add = add_action(
        actions,
        "compare",
        "Show how far other values of the same unseen situations are from exact ones: the error of the networks with "
        "which they were solved.",
        ["values compare exact-turns turns-by-networks"],
    ).add_argument
    add("data", metavar="DATA", help="folder of situations with exact values")
    add("other", metavar="OTHER", help="folder of the same situations, with values by the option --teacher of sample")
    add("--json", action="store_true", help="print as JSON")
    add = add_action(
        actions,
        "floor",
        "Measure the error that bins of strength alone cause, whatever the network.",
        ["values floor leduc-data --bins 3,5", "values floor river-data --bins 128,256,512"],
    ).add_argument
    add("data", metavar="DATA", help="folder of solved situations")
    add("--bins", metavar="N,N,...", help="numbers of bins (default: the number that networks of the level have)")
    add("--situations", type=int, metavar="N", help="number of situations to measure, 1 or more (default: all)")
    add("--json", action="store_true", help="print as JSON")


def _add_sample(actions) -> None:
    add = add_action(
        actions,
        "sample",
        "Draw situations and solve them; the same command goes on where it was stopped.",
        ["values sample leduc --situations 1000 --out leduc-data", "values sample river --out river-data (hours)"],
    ).add_argument
    add(
        "level",
        metavar="LEVEL",
        help="leduc (its second street); in heads-up hold'em with 200 bb: river, end-of-turn, turn, end-of-flop, flop "
        "or end-of-preflop",
    )
    add("--out", metavar="DIR", required=True, help="folder of the situations")
    _add_preset(add, "small")
    add("--situations", type=int, metavar="N", help="number to train with, 0 or more (default: the preset's)")
    add("--unseen", type=int, metavar="N", default=2_000, help="number to measure with, 1 or more")
    add("--seed", type=int, metavar="N", default=1, help="seed of the situations, 0 or more")
    add(
        "--workers",
        type=int,
        metavar="N",
        default=0,
        help="processes that solve, 0 to 1,024; 0 starts one for each processor (default: 0)",
    )
    add_cluster(add)
    add(
        "--menu",
        metavar="MENU",
        help="raises in solved situations: fc, fcpa (pot, all-in), fchpa (half the pot, too); default: fcpa",
    )
    add(
        "--teacher",
        metavar="NET",
        help="folder or bundled name of the network that gives the values: for end-of-turn one of the river, for turn "
        "one of end-of-turn, and so on (default: exact solutions, for leduc, river and turn only)",
    )
    add("--json", action="store_true", help="print as JSON")


def _add_train(actions) -> None:
    add = add_action(
        actions,
        "train",
        "Train a network, and for comparison one with a tenth of the situations; the same command goes on where it was "
        "stopped.",
        ["values train leduc-data --out leduc-net", "values train river-data --out river-net --preset two-cores"],
    ).add_argument
    add("data", metavar="DATA", help="folder of solved situations")
    add("--out", metavar="DIR", required=True, help="folder of the network")
    add("--situations", type=int, metavar="N", help="number of situations to train with, 1 or more (default: all)")
    add("--bins", type=int, metavar="N", help="number of bins of strength (default: the level's)")
    _add_training(add, "small")


def _add_distil(actions) -> None:
    add = add_action(
        actions,
        "distil",
        "Train a network for the end of a street, without solving: a network for the start of the next street gives "
        "the values. The same command goes on where it was stopped.",
        ["values distil river-net --out end-of-turn-net", "values distil river-net --out quick-net --epochs 5"],
    ).add_argument
    add("net", metavar="NET", help="folder or bundled name of a network for the river, the turn or the flop")
    add("--out", metavar="DIR", required=True, help="folder of the new network")
    add("--situations", type=int, metavar="N", default=10_000, help="new situations for each epoch, 1 or more")
    add("--unseen", type=int, metavar="N", default=1_000, help="number to measure with, 1 or more")
    add(
        "--boards",
        type=int,
        metavar="N",
        default=8,
        help="random boards of the next street for each situation of the training, 1 or more",
    )
    _add_training(add, "two-cores", epochs=40)


def _add_train_all(actions) -> None:
    add = add_action(
        actions,
        "train-all",
        "Train the networks of heads-up hold'em, from the river back to the end of the first street; the same command "
        "goes on where it was stopped.",
        ["values train-all two-cores --out nets (hours)", "values train-all h200 --out nets --minutes 60"],
    ).add_argument
    add("preset", metavar="PRESET", help="two-cores (numpy) or h200 (PyTorch on a GPU)")
    add("--out", metavar="DIR", required=True, help="folder of the networks and of their situations")
    add("--situations", type=int, metavar="N", help="situations of each level (default: the preset's)")
    add("--unseen", type=int, metavar="N", default=1_000, help="number to measure with on each level, 1 or more")
    add(
        "--minutes",
        type=float,
        metavar="M",
        help="time for solving situations, of which each level has a share. Once a share is used up, the level's "
        "network is trained with the situations solved so far",
    )
    add("--width", type=int, metavar="N", help="units of a hidden layer, 1 to 4,096 (default: the preset's)")
    add("--epochs", type=int, metavar="N", help="passes over all situations (default: the preset's)")
    add("--device", metavar="DEVICE", help="numpy; or with PyTorch cpu, cuda, cuda:1, ... (default: the preset's)")
    add("--workers", type=int, metavar="N", default=0, help="processes, 0 to 1,024; 0 starts one for each processor")
    add("--seed", type=int, metavar="N", default=1, help="seed of situations and of first weights, 0 or more")
    add("--json", action="store_true", help="print as JSON")


def _add_training(add, preset: str, epochs: int | None = None) -> None:
    """Add the options of a training run, with a default preset; a number `epochs` replaces the preset's."""
    _add_preset(add, preset)
    of_preset = "(default: the preset's)"
    add("--layers", type=int, metavar="N", help=f"hidden layers, 1 to 16 {of_preset}")
    add("--width", type=int, metavar="N", help=f"units of a hidden layer, 1 to 4,096 {of_preset}")
    told = "" if epochs else f" {of_preset}"
    add("--epochs", type=int, metavar="N", default=epochs, help=f"passes over all situations, 1 to 10,000{told}")
    add("--batch", type=int, metavar="N", help=f"situations in each step of training, 1 or more {of_preset}")
    add("--rate", type=float, metavar="X", help=f"first learning rate, above 0 and at most 1 {of_preset}")
    add("--device", metavar="DEVICE", help=f"numpy; or with PyTorch cpu, cuda, cuda:1, ... {of_preset}")
    add(
        "--seed",
        type=int,
        metavar="N",
        default=1,
        help="seed of the first weights and of the training situations (train: their order; distil: their draw), 0 or "
        "more",
    )
    add("--json", action="store_true", help="print as JSON")


def _add_preset(add, default: str) -> None:
    """Add `--preset`."""
    add("--preset", metavar="NAME", default=default, help="sizes of data and network: small, two-cores or h200")
