"""Options and help of `plurispiel blueprint`."""

from plurispiel.tournaments.commands.arguments.parser import add_action, add_command


def add(commands) -> None:
    """Add `plurispiel blueprint`."""
    parser = add_command(
        commands,
        "blueprint",
        "blueprint",
        "Train, inspect and pack blueprints: strategies for a whole game with few bet sizes and card buckets.",
        [
            "blueprint train headsup --minutes 30",
            "blueprint resume headsup",
            "blueprint info sixmax-wide --plot grids.png",
        ],
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _add_train(actions)
    _add_resume(actions)
    _add_info(actions)
    _add_match(actions)
    _add_pack(actions)


def _add_train(actions) -> None:
    add = add_action(
        actions,
        "train",
        "Train a blueprint by Monte Carlo CFR; Ctrl-C keeps the progress for resume.",
        [
            "blueprint train leduc",
            "blueprint train headsup --minutes 30",
            "blueprint train my.toml --iterations 1000000",
        ],
    ).add_argument
    add(
        "config",
        metavar="PRESET|CONFIG.toml",
        help="leduc, kuhn3, holdem-mini, holdem-flop (games for tests), headsup (200 bb), headsup-pushfold, "
        "threemax, sixmax (100 bb, takes 16 GB of memory), sixmax-wide (as bundled) and headsup-wide (both for a "
        "GPU), headsup-refined (as bundled; train it --from headsup-wide), headsup-compact, sixmax-compact, "
        "headsup-fine (train it --from headsup-compact), pluribus (as large as the blueprint of Pluribus); or a "
        "settings file with: game (or seats and stack_bb), [menu] (bet sizes by street), cards, iterations, algorithm "
        "(external; or public: public chance sampling for two seats)",
    )
    add(
        "--iterations",
        type=int,
        metavar="N",
        help="deals, at least 1, each traversed for every seat; with algorithm public, boards (default: that of the "
        "preset or file)",
    )
    add(
        "--minutes",
        type=float,
        metavar="M",
        help="instead of --iterations: as many iterations as a short trial predicts for M minutes; training ends after "
        "at most 1.1 times M minutes",
    )
    add(
        "--cards",
        metavar="TABLE",
        help="bucket table, by its name or folder, or lossless; a preset's table is built if missing (default: that of "
        "the preset or file)",
    )
    add(
        "--seed",
        type=int,
        metavar="N",
        help="seed, 0 or more; with one thread, or any number with algorithm public, equal seeds and iterations give "
        "the same blueprint (default: that of the preset or file, or 1)",
    )
    add(
        "--from",
        dest="start",
        metavar="BLUEPRINT",
        help="start from a blueprint with the same game: a folder or a name; its bet sizes and buckets may differ and "
        "are then translated",
    )
    add(
        "--weight",
        type=float,
        metavar="N",
        help="with --from: regret shared out among the actions of each infoset at the start, in big blinds, 0 or more "
        "(default: 1000). With algorithm public: the start has the weight of the run's first N boards (default: 3000)",
    )
    add(
        "--marks",
        type=int,
        default=10,
        metavar="N",
        help="number of points of the run at which it is measured and its blueprint saved, 1 to 1,000 (default: 10)",
    )
    add(
        "--out",
        metavar="DIR",
        help="folder of the run (default: a folder in the user's data with the name of the preset or file)",
    )
    add("--force", action="store_true", help="train even if memory may not suffice")
    _add_training(add)


def _add_resume(actions) -> None:
    add = add_action(
        actions,
        "resume",
        "Resume training from the newest intact checkpoint, or extend a finished run.",
        ["blueprint resume headsup", "blueprint resume headsup --iterations 400000000"],
    ).add_argument
    add("run", metavar="RUN", help="folder of the run, or its name in the user's data")
    add("--iterations", type=int, metavar="N", help="total iterations, at least the total set before")
    add("--minutes", type=float, metavar="M", help="stop after M more minutes; 0 only writes the current blueprint")
    _add_training(add)


def _add_info(actions) -> None:
    add = add_action(
        actions,
        "info",
        "Show a blueprint's training, cost, raise sizes, and each seat's strategy after folds of all seats before it.",
        ["blueprint info headsup-refined", "blueprint info sixmax-wide --plot grids.png"],
    ).add_argument
    add("blueprint", metavar="BLUEPRINT", help="a folder, a packed file, or the name of a trained or bundled blueprint")
    add(
        "--plot",
        metavar="FILE",
        help="draw the grids of all seats but the big blind to FILE, and the progress of training to a second file, "
        "such as grids-training.png beside grids.png (needs matplotlib)",
    )
    add("--json", action="store_true", help="print as JSON")


def _add_match(actions) -> None:
    add = add_action(
        actions,
        "match",
        "Play two blueprints of the same bet sizes against each other, some million hands a second.",
        ["blueprint match mine headsup-refined", "blueprint match headsup-refined mine --decks 10000000 --json"],
    ).add_argument
    add("first", metavar="BLUEPRINT", help="a folder, or the name of a trained or bundled blueprint")
    add(
        "second",
        metavar="OTHER",
        help="the blueprint of all other seats; each deck is played once for each seat of BLUEPRINT. The two may have "
        "different buckets; their tables must have been built (plurispiel abstraction build)",
    )
    add("--decks", type=int, default=1_000_000, metavar="N", help="decks, 2 to 10,000,000,000")
    add("--seed", type=int, default=1, metavar="N", help="seed, 0 or more")
    add("--threads", type=int, metavar="N", help="threads, 1 to 1,024 (default: one for each processor)")
    add("--json", action="store_true", help="print as JSON")


def _add_pack(actions) -> None:
    add = add_action(
        actions,
        "pack",
        "Pack a blueprint into one small file. Rows that self-play hardly visits are dropped, or rounded coarsely.",
        ["blueprint pack headsup --out headsup.blueprint"],
    ).add_argument
    add("blueprint", metavar="BLUEPRINT", help="a folder, or the name of a trained or bundled blueprint")
    add("--out", metavar="FILE.blueprint", required=True, help="the packed file")
    add(
        "--decks",
        type=int,
        default=2_000_000,
        metavar="N",
        help="decks of self-play to count visits in, 0 to 10,000,000,000: the more, the more rows stay precise; 0 "
        "keeps all rows, unrounded",
    )
    add(
        "--least",
        type=int,
        default=1,
        metavar="N",
        help="leave out rows with fewer than N visits, N from 0 to 255; 0 keeps rows without a visit, too, rounded to "
        "thirds",
    )
    add("--threads", type=int, metavar="N", help="threads that count, 1 to 1,024 (default: one for each processor)")
    add("--json", action="store_true", help="print as JSON")


def _add_training(add) -> None:
    """Add the options that train and resume share."""
    add("--threads", type=int, metavar="N", help="threads, 1 to 1,024 (default: one for each processor)")
    add(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where to train: cpu, on --threads threads; or cuda, on an NVIDIA GPU, where threads only play the "
        "matches at marks. cuda needs pip install 'plurispiel[cuda]', and refuses exact = true; with algorithm public "
        "it needs 'plurispiel[train]'. A run can resume on the other device",
    )
    add(
        "--checkpoint-minutes",
        type=float,
        default=5.0,
        metavar="M",
        help="shortest time between checkpoints in minutes, above 0",
    )
    add("--json", action="store_true", help="print the blueprint's record as JSON")
