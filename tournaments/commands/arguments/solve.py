"""Options and help of `plurispiel solve`."""

from plurispiel.tournaments.commands.arguments.max_histories import add_max_histories
from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel solve`."""
    parser = add_command(
        commands,
        "solve",
        "solve",
        "Solve a small game, any sequential one of OpenSpiel's, and tell how far the solution is from equilibrium.",
        ["solve leduc --until 1e-3", 'solve kuhn3 --algorithm "dcfr(1.5,0,2)" --iterations 5000 --out runs/kuhn3'],
    )
    add = parser.add_argument
    add("game", metavar="GAME", nargs="?", help="a name (plurispiel ls games) or any sequential OpenSpiel game string")
    add(
        "--algorithm",
        metavar="A",
        help="cfr, cfr+, lcfr, dcfr or dcfr(ALPHA,BETA,GAMMA), pcfr+, hybrid or hybrid(OMITTED), each also with "
        ":simultaneous or :alternating; mccfr, linear-mccfr (default: cfr+)",
    )
    add(
        "--iterations",
        type=int,
        metavar="N",
        help="iterations in all (default: 1,000, of mccfr 100,000; with --until at most 1,000,000, of mccfr 10^9)",
    )
    add(
        "--until",
        type=float,
        metavar="EPS",
        help="end at this exploitability (NashConv, if it is undefined), in the game's unit",
    )
    add("--seed", type=int, metavar="N", help="seed of mccfr (default: 1)")
    add("--out", metavar="DIR", help="folder for policy, curve and results; running the same command again resumes it")
    add("--resume", action="store_true", help="go on with what --out holds; GAME and the like need not be given")
    add_max_histories(parser)
    add("--json", action="store_true", help="print as JSON")
