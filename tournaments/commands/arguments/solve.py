"""Options and help of `plurispiel solve`."""

from plurispiel.tournaments.commands.arguments.max_histories import add_max_histories
from plurispiel.tournaments.commands.arguments.parser import add_command


def add(commands) -> None:
    """Add `plurispiel solve`."""
    parser = add_command(
        commands,
        "solve",
        "solve",
        "Solve a small sequential OpenSpiel game and report the exploitability of the solution.",
        [
            "solve leduc --until 1e-3",
            "solve kuhn --show",
            'solve leduc --compare "cfr,cfr+,dcfr(1.5,0,2),pcfr+,mccfr" --seconds 10',
            'solve leduc --show --node "c r3 c 4d" --csv strategy.csv',
            'solve kuhn3 --algorithm "dcfr(1.5,0,2)" --iterations 5000 --out runs/kuhn3',
        ],
    )
    add = parser.add_argument
    add(
        "game",
        metavar="GAME",
        nargs="?",
        help="a name (plurispiel ls games) or any sequential OpenSpiel game string; required without --resume",
    )
    add(
        "--algorithm",
        metavar="A",
        help="cfr, cfr+, lcfr, dcfr or dcfr(ALPHA,BETA,GAMMA), pcfr+, hybrid or hybrid(N) (its average omits the first "
        "N iterations), all with or without :simultaneous or :alternating at the end; also mccfr and linear-mccfr, "
        "and deep-cfr(ITERATIONS,TRAVERSALS), with more settings after commas, such as layers=64x64 (Deep CFR by "
        "OpenSpiel; needs pip install 'plurispiel[deep]') (default: cfr+)",
    )
    add(
        "--iterations",
        type=int,
        metavar="N",
        help="total iterations, at least 1, those of a resumed run included (default: 1,000, or 100,000 for mccfr and "
        "linear-mccfr; if --until is given, 1,000,000, or 10^9 for these two). Not for deep-cfr, whose name has the "
        "number",
    )
    add(
        "--until",
        type=float,
        metavar="EPS",
        help="stop at the first measurement of exploitability that is at most EPS; EPS is above 0 and in the game's "
        "unit. NashConv is measured instead, unless the game has two players and is zero-sum. There are eight "
        "measurements for each factor of ten in iterations. If EPS is not reached, the exit code is 1, unless "
        "--iterations is given",
    )
    add("--seed", type=int, metavar="N", help="seed of mccfr, linear-mccfr and deep-cfr, 0 or more (default: 1)")
    add(
        "--out",
        metavar="DIR",
        help="folder for the strategy, its curve of exploitability and results; the same command resumes the run in "
        "it, unless the algorithm is deep-cfr (default: nothing is kept, unless the run is interrupted)",
    )
    add(
        "--show",
        action="store_true",
        help="print the strategy: for each public state and hand the probability of reaching it (reach), the expected "
        "payoff (value), the probability and value of each action, and the part of a best response's gain that arises "
        "there (gain). Games of up to 2,000 decisions are shown whole",
    )
    add(
        "--node",
        metavar="NODE",
        help="with --show, only the decisions at one public state, named by actions and board cards: f fold, c check "
        "or call, r3 raise to 3 chips, such as 'c r3 c 4d'; the first decision is 'start'. Outside poker, a node is an "
        "information state of OpenSpiel",
    )
    add(
        "--compare",
        metavar="LIST",
        help="run several algorithms for equal time instead, and draw their exploitability over iterations and over "
        "seconds: names as in --algorithm, separated by commas. Writes a CSV file and, with matplotlib, a picture "
        "into --out (default: the folder compare-GAME)",
    )
    add("--seconds", type=float, metavar="S", help="with --compare, the time of each run, above 0 (default: 10)")
    add(
        "--seeds",
        type=int,
        metavar="N",
        help="with --compare, runs of each sampled algorithm, 1 to 100, with the seeds 1 to N (default: 3)",
    )
    add("--csv", metavar="FILE", help="with --show, also write the table to a CSV file")
    add("--resume", action="store_true", help="resume the run in --out; its game, algorithm and seed are the defaults")
    add_max_histories(parser)
    add("--json", action="store_true", help="print as JSON")
