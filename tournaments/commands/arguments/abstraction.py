"""Options and help of `plurispiel abstraction`."""

from plurispiel.tournaments.commands.arguments.parser import add_action, add_command


def add(commands) -> None:
    """Add `plurispiel abstraction`."""
    parser = add_command(
        commands,
        "abstraction",
        "abstraction",
        "Build card abstractions, the bucket of every hold'em hand on every board, and look at them.",
        ["abstraction build pluribus", "abstraction info pluribus --plot pictures"],
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add = add_action(
        actions,
        "build",
        "Build a bucket table; the same command goes on with a build that was stopped.",
        ["abstraction build pluribus", "abstraction build flop-500 --flop QsJh2h"],
    ).add_argument
    add(
        "config",
        metavar="PRESET|CONFIG.toml",
        help="pluribus (169/200/200/200), compact (169/150/100/75), small (169/50/50/50), ehs (percentiles of mean "
        "equity), flop-500 (one flop, "
        "for search), or settings from a file: sections flop, turn and river with buckets, features and distance",
    )
    add("--flop", metavar="CARDS", help="flop-500 only: the flop")
    add("--all", action="store_true", help="flop-500 only: each of the 1,755 flops, some half an hour and 6 GB")
    add("--seed", type=int, metavar="N", help="seed of k-means (default: the preset's, 1)")
    add(
        "--threads",
        type=int,
        metavar="N",
        help="threads; any number makes the same table (default: all processors)",
    )
    add("--out", metavar="DIR", help="folder of the table (default: one of its name among the user's)")
    add("--json", action="store_true", help="print as JSON")
    add = add_action(
        actions,
        "info",
        "Show how large and how good a table's buckets are, and hands in them.",
        ["abstraction info pluribus", "abstraction info pluribus --plot pictures --flop AsKd7c"],
    ).add_argument
    add("table", metavar="TABLE", help="a folder, or the name of one of the user's tables")
    add("--plot", metavar="DIR", help="draw sizes, equities and a flop's buckets there (needs matplotlib)")
    add("--flop", metavar="CARDS", default="QsJh2h", help="the flop to draw")
    add("--examples", type=int, metavar="N", default=10, help="buckets of each street to show")
    add("--json", action="store_true", help="print as JSON, all buckets with sizes, equities and examples")
