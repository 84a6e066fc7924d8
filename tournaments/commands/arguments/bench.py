"""Options and help of `plurispiel bench`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from plurispiel.tournaments.commands.arguments.outside import add_outside
from plurispiel.tournaments.commands.arguments.parser import add_command, add_group


def add(commands) -> None:
    """Add `plurispiel bench`."""
    parser = add_command(
        commands,
        "bench",
        "bench",
        "Measure speed, memory, strength or an agent's play; some benchmarks time other libraries in the same run.",
        [
            "bench engine",
            "bench peers --seconds 3 --json",
            "bench bot-profile --agents blueprint --hands 1000",
            "bench search-exact --games leduc --picture search.png",
        ],
    )
    parser.add_argument(
        "name",
        choices=(
            "engine",
            "small-games",
            "abstraction",
            "spot",
            "blueprint",
            "blueprint-curves",
            "search",
            "search-exact",
            "search-spots",
            "continual",
            "continual-exact",
            "continual-spots",
            "sparse-lookaheads",
            "deep-cfr",
            "mixing",
            "leak-values",
            "coverage",
            "memory",
            "peers",
            "environment",
            "cluster",
            "summed-regrets",
            "rows",
            "bot-profile",
        ),
        help="benchmark. engine, small-games, abstraction, spot, blueprint and search measure speed. blueprint-curves "
        "measures exploitability over minutes of training. search-exact and search-spots measure strength: "
        "exploitability of search in small games, and its gain against the heads-up blueprint. continual measures "
        "the time of heads-up continual re-solving, and the share of the opponent's hands that stay within their "
        "bounds; continual-exact measures the exploitability of continual re-solving "
        "in small games by iterations, by errors of its values and by options. continual-spots measures the loss of "
        "single solves of rivers, turns and flops by iterations, time, bounds and networks. sparse-lookaheads measures "
        "the error of solves of random rivers with few bet sizes (twenty minutes of a core). deep-cfr measures the "
        "exploitability of Deep CFR, MCCFR and CFR+ after 10, 60 and 300 core-seconds in small games (hours; "
        "pip install 'plurispiel[deep]'). mixing compares how often the blueprint "
        "and solutions without buckets mix actions in the same spots. leak-values measures what the hands that fold, "
        "call or raise at suspected leaks of the six-seat blueprint would win in self-play by another action. coverage "
        "counts how often confidence intervals cover the truth. "
        "memory compares the peak memory of a run after a third of its hands with that at its end. "
        "peers compares our speed with that of other libraries (pip install 'plurispiel[peers]') and of programs of "
        "yours. environment measures the hands a second that a learner plays in our environment and in OpenSpiel's "
        "rl_environment. "
        "cluster measures the cost of a task on a cluster, and simulates up to 4,096 slots "
        "(pip install 'plurispiel[cluster]'). summed-regrets measures the exploitability after training on "
        "several machines whose changes of regrets are added after each round. "
        "rows prints a hash of the results of small fixed tournaments, equal before and after a change of the code "
        "that does not change play. bot-profile counts how agents play: known leaks, and folds, calls and raises by "
        "situation",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        metavar="S",
        help="length of measurements, 0.001 to 86,400: approximate seconds for most figures of speed; elsewhere a "
        "factor for the numbers of hands, iterations, runs or spots. Not used by rows and bot-profile",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="continual-exact and search-exact only: draw the main figures (needs matplotlib); the suffix of FILE "
        "names the format, such as .png or .svg",
    )
    parser.add_argument(
        "--games",
        metavar="G,G,...",
        help="search-exact only: games to measure (default: leduc,leduc-9,holdem-mini,kuhn3,leduc3)",
    )
    parser.add_argument(
        "--nets",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="continual-exact: value networks of Leduc poker, measured and drawn, too. continual and continual-spots: "
        "the folder of the networks of hold'em, as in the option nets of the agent continual (default: bundled)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="continual-spots, mixing and sparse-lookaheads only: a file that keeps the figures of each spot or "
        "river, so that the same command resumes a stopped measurement",
    )
    _add_peers(add_group(parser, "peers only"))
    _add_profile(add_group(parser, "bot-profile only"))


def _add_peers(add: Callable[..., Any]) -> None:
    add(
        "--program",
        action="append",
        metavar="JOB=PATH",
        help="a program to time, for one of the jobs hands, spot and training; it runs with your rights; may be given "
        "once for each job. tournaments/bench/PROTOCOL.md has its arguments and output",
    )


def _add_profile(add: Callable[..., Any]) -> None:
    add(
        "--agents",
        metavar="SPECS",
        help="agents to compare, with commas (default: blueprint)",
    )
    add("--game", metavar="G", help="hold'em with four streets (default: SIXMAX)")
    add("--hands", type=int, metavar="N", help="hands against each kind of opponents, at least 1 (default: 1000)")
    add("--seed", type=int, metavar="N", help="seed of all cards and random choices, 0 or more (default: 1)")
    add(
        "--opponents",
        metavar="LIST",
        help="with commas: self (the agent in every seat), log-uniform (itself, but bets have log-uniform sizes from "
        "the smallest to all-in) or agent specs (default: self,log-uniform)",
    )
    add(
        "--own-sizes",
        type=float,
        metavar="SHARE",
        help="share of the agent's own bets whose size is drawn log-uniformly, too, 0 to 1 (default: 0)",
    )
    add_outside(add)
