"""Options and help of `plurispiel abstraction`."""

from plurispiel.tournaments.commands.arguments.parser import add_action, add_command


def add(commands) -> None:
    """Add `plurispiel abstraction`."""
    parser = add_command(
        commands,
        "abstraction",
        "abstraction",
        "Build and inspect card abstractions: bucket tables for every hold'em hand on every board.",
        ["abstraction build pluribus", "abstraction info pluribus --plot pictures"],
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add = add_action(
        actions,
        "build",
        "Build a bucket table; the same command resumes a build that was stopped.",
        ["abstraction build pluribus", "abstraction build flop-500 --flop QsJh2h"],
    ).add_argument
    add(
        "config",
        metavar="PRESET|CONFIG.toml",
        help="pluribus (169/200/200/200), fine (169/500/400/300), medium (169/300/200/150), compact (169/150/100/75), "
        "small (169/50/50/50), ehs (percentiles of mean equity), flop-500 (one flop, for search), or a settings file: "
        "sections flop, turn and river with buckets, features and distance",
    )
    add("--flop", metavar="CARDS", help="flop-500 only: the flop")
    add("--all", action="store_true", help="flop-500 only: all 1,755 flops, which take half an hour and 6 GB")
    add("--seed", type=int, metavar="N", help="seed, 0 or more, not for flop-500 (default: that of the config, or 1)")
    add(
        "--threads",
        type=int,
        metavar="N",
        help="threads, 1 to 1,024; the table does not depend on their number (default: one for each processor)",
    )
    add("--out", metavar="DIR", help="folder of the table (default: a folder with its name in the user's data)")
    add("--json", action="store_true", help="print as JSON")
    add = add_action(
        actions,
        "info",
        "Show sizes and quality of a table's buckets, and example hands.",
        ["abstraction info pluribus", "abstraction info pluribus --plot pictures --flop AsKd7c"],
    ).add_argument
    add("table", metavar="TABLE", help="a folder, or the name of a table in the user's data")
    add(
        "--plot", metavar="DIR", help="folder for pictures of sizes, equities and one flop's buckets (needs matplotlib)"
    )
    add("--flop", metavar="CARDS", default="QsJh2h", help="with --plot: the flop to draw")
    add("--examples", type=int, metavar="N", default=10, help="buckets to show for each street, 0 or more")
    add("--json", action="store_true", help="print sizes, equities and examples of all buckets as JSON")
