"""Options and help of `plurispiel lbr`."""

from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel lbr`."""
    parser = add_command(
        commands,
        "lbr",
        "lbr",
        "Measure what local best response wins from an agent heads-up: a lower bound of what it can lose.",
        ["lbr --agent blueprint", "lbr --agent tag --menu all --hands 20000", "lbr --agent my_bot.py:MyBot --menu fc"],
    )
    add = parser.add_argument
    add(
        "--agent",
        metavar="SPEC",
        required=True,
        help="who is measured, as in plurispiel tournament; it has to tell what it does with every hand",
    )
    add(
        "--menu",
        choices=("fc", "fcpa", "56bets", "flop56", "all"),
        default="fcpa",
        help="what local best response may do: fold and call; call, and from the turn on bet the pot or all-in; the "
        "same with 56 sizes; 56 sizes on the flop, then fold and call; all four (default: fcpa)",
    )
    add("--hands", type=int, metavar="N", default=4000, help="hands, four of each deck (default: 4000)")
    add("--game", metavar="G", default="HUNL", help="a game of two seats (default: HUNL, 200 bb)")
    add("--seed", type=int, metavar="N", default=1, help="seed of all cards and random choices (default: 1)")
    add("--aivat", action="store_true", help="take luck out by AIVAT, too: fewer hands do, which take longer")
    add("--workers", type=int, metavar="N", default=0, help="processes (default: one for each processor)")
    add("--out", metavar="DIR", help="run folder; the same command goes on with it (default: one among the user's)")
    add("--fresh", action="store_true", help="play again what the run folder holds")
    add("--json", action="store_true", help="print as JSON")
