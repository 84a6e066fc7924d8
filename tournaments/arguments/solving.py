"""Options of the commands that solve games and spots, and measure what is solved: solve, exploitability, spot."""

import argparse

from plurispiel.tournaments.arguments.parser import add_command


def add_solve(commands) -> None:
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
    _add_max_histories(parser)
    add("--json", action="store_true", help="print as JSON")


def add_exploitability(commands) -> None:
    """Add `plurispiel exploitability`."""
    parser = add_command(
        commands,
        "exploitability",
        "exploitability",
        "Measure a strategy in a small game exactly: values, best responses, NashConv, exploitability.",
        ["exploitability leduc --agent tag", "exploitability leduc --agent openspiel:cfr?iterations=100 --search"],
    )
    add = parser.add_argument
    add("game", metavar="GAME", help="a name (plurispiel ls games) or any sequential OpenSpiel game string")
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--agent", metavar="SPEC", help="whose strategy, as in plurispiel tournament")
    whose.add_argument("--policy", metavar="DIR", help="or a solved game's folder (plurispiel solve --out DIR)")
    add(
        "--search",
        nargs="?",
        const="",
        metavar="OPTIONS",
        help="measure depth-limited nested search with that strategy as its blueprint, in a poker game; OPTIONS, "
        "key=value&key=value: from_street (default 1), k continuations at the end of a street (4), play=average or "
        "final, safe=true (two players), iterations (3000) of algorithm (lcfr), doubt (0), the share of a uniform "
        "belief",
    )
    _add_max_histories(parser)
    add("--json", action="store_true", help="print as JSON")


def _add_max_histories(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-histories",
        type=int,
        metavar="N",
        default=20_000_000,
        help="refuse larger games (37 bytes a history, three times that while it is made)",
    )


def add_spot(commands) -> None:
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
