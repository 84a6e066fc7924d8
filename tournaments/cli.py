"""The command line: one program, a subcommand for each job.

Only the standard library is imported here, so that ``--help`` answers at once; each command's own
module does the rest.
"""

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from plurispiel import __version__
from plurispiel.tournaments.interrupts import interrupts_held

FAILED, USAGE, REFUSED, INTERRUPTED = 1, 2, 4, 130

_EPILOG = """\
examples:
  plurispiel tournament
  plurispiel tournament --agents tag,equity --decks 2000 --json

exit codes: 0 ok, 1 failed, 2 usage or settings, 3 an agent had too many faults, 4 artefact refused, 130 interrupted
"""


class _HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults where the help does not name them, and keeps the lines of examples."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False or "(default" in (action.help or ""):
            return action.help
        return super()._get_help_string(action)


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message} ({self.prog} --help tells more)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = _Parser(
        prog="plurispiel",
        description="Poker agents around OpenSpiel, and the instruments that measure them.",
        epilog=_EPILOG,
        formatter_class=_HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"plurispiel {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_tournament(commands)
    _add_solve(commands)
    _add_exploitability(commands)
    _add_spot(commands)
    _add_replay(commands)
    _add_export(commands)
    _add_report(commands)
    _add_lbr(commands)
    _add_compliance(commands)
    _add_abstraction(commands)
    _add_blueprint(commands)
    _add_ls(commands)
    _add_bench(commands)
    _add_warmup(commands)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "±" is no reason to lose the table
    try:
        with interrupts_held():  # compiled modules turn an interrupt into an ImportError
            module = importlib.import_module(f"plurispiel.tournaments.commands.{options.module}")
        code = module.main(options)
        sys.stdout.flush()
        return code
    except ValueError as error:
        from plurispiel.abstraction.artefact import ArtefactRefused  # not above: it imports numpy

        return _fail(options.command, error, REFUSED if isinstance(error, ArtefactRefused) else USAGE)
    except KeyboardInterrupt:
        return _fail(options.command, "interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output left; nor could Python flush the rest at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _fail(options.command, error, FAILED)


def _fail(command: str, message: object, code: int) -> int:
    """Say in one line what went wrong."""
    print(f"plurispiel {command}: {' '.join(str(message).splitlines())}", file=sys.stderr)
    return code


def _command(commands, name: str, module: str, text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=text,
        description=text,
        epilog="\n".join(["examples:", *(f"  plurispiel {example}" for example in examples)]),
        formatter_class=_HelpFormatter,
    )
    parser.set_defaults(module=module)
    return parser


def _action(actions, name: str, text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """Add one of the things that a command can do."""
    return actions.add_parser(
        name,
        help=text,
        description=text,
        epilog="\n".join(["examples:", *(f"  plurispiel {example}" for example in examples)]),
        formatter_class=_HelpFormatter,
    )


def _add_tournament(commands) -> None:
    parser = _command(
        commands,
        "tournament",
        "tournament",
        "Play a duplicate tournament: every deck in all seat rotations, refereed by OpenSpiel's universal_poker.",
        [
            "tournament --agents tag,equity,call,raise,random,fold --decks 200",
            "tournament --agents my_bot.py:MyBot,tag --decks 1000 --out runs/mine",
        ],
    )
    add = parser.add_argument
    add("config", nargs="?", metavar="CONFIG.toml", help="settings from a file; options given beside it win")
    add(
        "--agents",
        action="append",
        metavar="A,B,...",
        default=argparse.SUPPRESS,
        help="agent specs NAME[:ARG][?key=value&...], may be repeated: built-in names (plurispiel ls agents), "
        "FILE.py:CLASS, MODULE:CLASS, openspiel:BOT (default: the six baselines)",
    )
    add(
        "--game",
        metavar="G",
        default=argparse.SUPPRESS,
        help="a preset (plurispiel ls presets) or an OpenSpiel game string "
        "(default: no-limit hold'em, 200 bb heads-up and 100 bb otherwise)",
    )
    add(
        "--seats",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="seats at a table (default: one per agent, six if more than ten)",
    )
    add(
        "--format",
        choices=("round-robin", "gauntlet", "lineup", "lineup-1v5", "lineup-5v1"),
        default=argparse.SUPPRESS,
        help="all line-ups; the first agent against the rest; one fixed table; the first of two agents among copies of "
        "the second; the second among copies of the first, less what one more copy makes of its hands "
        "(default: lineup if agents and seats are equally many, else round-robin)",
    )
    add(
        "--score",
        choices=("raw", "duplicate", "aivat", "aivat_duplicate"),
        default=argparse.SUPPRESS,
        help="what ranks the agents: by hands or by decks in all rotations, with luck taken out or not; the first two "
        "compute no AIVAT and play faster (default: aivat_duplicate)",
    )
    add(
        "--values",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="what AIVAT expects of hands: checkdown (nobody bets on), blueprint (all play on by the bundled one of "
        "this game) or blueprint:NAME (default: blueprint where there is one whose bucket table has been built, else "
        "checkdown)",
    )
    add(
        "--stop-when",
        metavar="RULE",
        default=argparse.SUPPRESS,
        help="stop before the last deck: 'ci<=20' as soon as all agents' intervals are that narrow in mbb/hand, "
        "'significant' as soon as they leave out 0; asked are intervals that one may look at any time (default: never)",
    )
    add(
        "--dry-run",
        action="store_true",
        help="play a few other decks, and tell what to expect: intervals, hands needed, seconds",
    )
    add(
        "--copies",
        action="store_true",
        default=argparse.SUPPRESS,
        help="gauntlet: against copies of each other agent in turn",
    )
    add(
        "--lineups",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="draw so many line-ups evenly (default: all, at most 100)",
    )
    add(
        "--decks",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="decks per line-up, each played in every rotation (default: 500)",
    )
    add(
        "--seed",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="seed of all cards and random choices (default: 1)",
    )
    add(
        "--referee",
        choices=("universal_poker", "none"),
        default=argparse.SUPPRESS,
        help="who replays every hand before it counts (default: universal_poker)",
    )
    add(
        "--on-fault",
        choices=("forfeit", "repair", "abort"),
        default=argparse.SUPPRESS,
        help="what it costs an agent to raise, answer with an illegal action, hang or die: its hand, that one answer, "
        "or everybody the run (default: forfeit)",
    )
    add(
        "--max-faults",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="faults after which an agent's seat only folds, and the exit code is 3 (default: 20)",
    )
    add(
        "--time-limit",
        type=float,
        metavar="S",
        default=argparse.SUPPRESS,
        help="seconds for an answer of an agent in a process of its own (default: 30)",
    )
    add(
        "--memory-limit",
        type=int,
        metavar="MIB",
        default=argparse.SUPPRESS,
        help="memory that such an agent may take, where the system can tell (default: 2048)",
    )
    add(
        "--isolate",
        choices=("foreign", "all"),
        default="foreign",
        help="agents that get a process of their own: those from outside the package, or all",
    )
    add(
        "--hands",
        choices=("sample", "all", "none"),
        default="sample",
        help="hands to write to hands.phhs: the first decks of every line-up and those with faults, all, or none",
    )
    add("--workers", type=int, metavar="N", default=0, help="processes; 0 takes one for each processor")
    add(
        "--out",
        metavar="DIR",
        help="run folder; running the same command again resumes it (default: one named by the settings)",
    )
    add("--fresh", action="store_true", help="forget what the run folder holds and play it all again")
    add("--json", action="store_true", help="print the results as JSON instead of the table")


def _add_solve(commands) -> None:
    parser = _command(
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


def _add_exploitability(commands) -> None:
    parser = _command(
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


def _add_lbr(commands) -> None:
    parser = _command(
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
    add("--workers", type=int, metavar="N", default=0, help="processes (default: one for each processor)")
    add("--out", metavar="DIR", help="run folder; the same command goes on with it (default: one among the user's)")
    add("--fresh", action="store_true", help="play again what the run folder holds")
    add("--json", action="store_true", help="print as JSON")


def _add_max_histories(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-histories",
        type=int,
        metavar="N",
        default=20_000_000,
        help="refuse larger games (37 bytes a history, three times that while it is made)",
    )


def _add_spot(commands) -> None:
    parser = _command(
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
        help='whose strategy to show, by what leads to it: "c b52%%" (default: the first)',
    )
    add("--threads", type=int, metavar="N", default=2, help="boards worked on at once")
    add("--out", metavar="DIR", help="folder for the whole strategy, which plurispiel spot DIR shows again")
    add("--plot", action="store_true", help="draw the strategy in a PNG named by the spot and the node")
    add("--json", action="store_true", help="print as JSON")


def _add_replay(commands) -> None:
    parser = _command(
        commands,
        "replay",
        "replay",
        "Replay recorded hands through our engine and universal_poker, and compare what the files state.",
        ["replay match.log other.log", "replay phh-dataset/data/pluribus --json"],
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="logs of the ACPC's dealer, .phh and .phhs files, folders of them",
    )
    parser.add_argument(
        "--game",
        metavar="FILE.game",
        help="the game of the ACPC logs (default: the one that each log names, beside it or built in)",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON, with every mismatch and error")


def _add_export(commands) -> None:
    parser = _command(
        commands,
        "export",
        "export",
        "Write the hands stored in a run folder as a hand-history file.",
        ["export runs/mine --format phh --out mine.phhs", "export runs/mine --format acpc --out mine.log"],
    )
    parser.add_argument("run", metavar="RUN", help="a tournament's run folder")
    parser.add_argument("--format", choices=("acpc", "phh"), default="phh", help="the format of the file")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file, which an ACPC log's .game file is put beside (default: standard output)",
    )


def _add_report(commands) -> None:
    parser = _command(
        commands,
        "report",
        "report",
        "Show runs as one self-contained HTML page, tables, pictures and a hand viewer, and its numbers as CSV.",
        ["report runs/mine", "report runs/before runs/after --out comparison.html"],
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folders of tournaments, finished or not")
    parser.add_argument(
        "--out",
        metavar="FILE.html",
        help="the page, with a folder of the same name for the CSV files "
        "(default: report.html in the first run's folder)",
    )
    parser.add_argument(
        "--hands",
        type=int,
        metavar="N",
        default=12,
        help="hands of each run in the viewer, those with most action; at most 100",
    )
    parser.add_argument(
        "--hand",
        action="append",
        metavar="LINEUP.DECK.ROTATION",
        help="one more hand to show, by numbers from 0; of several runs A.LINEUP.DECK.ROTATION (may be repeated)",
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def _add_compliance(commands) -> None:
    parser = _command(
        commands,
        "compliance",
        "compliance",
        "Play an agent through the conformance test and 1,000 hands, and print what it would be faulted for.",
        ["compliance my_bot.py:MyBot", "compliance openspiel:uniform_random --game LEDUC --json"],
    )
    add = parser.add_argument
    add("spec", metavar="SPEC", help="the agent, as in plurispiel tournament --agents")
    add("--game", metavar="G", default="SIXMAX", help="a preset (plurispiel ls presets) or an OpenSpiel game string")
    add("--hands", type=int, metavar="N", default=1000, help="hands to play, seat after seat")
    add("--seed", type=int, metavar="N", default=1, help="seed of all cards and random choices")
    add("--time-limit", type=float, metavar="S", default=30.0, help="seconds for an answer")
    add("--memory-limit", type=int, metavar="MIB", default=2048, help="memory that the agent may take")
    add("--json", action="store_true", help="print the report as JSON")


def _add_abstraction(commands) -> None:
    parser = _command(
        commands,
        "abstraction",
        "abstraction",
        "Build card abstractions, the bucket of every hold'em hand on every board, and look at them.",
        ["abstraction build pluribus", "abstraction info pluribus --plot pictures"],
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add = _action(
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
    add = _action(
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


def _add_blueprint(commands) -> None:
    parser = _command(
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
    add = _action(
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
        help="start from a finished blueprint of the same betting and cards",
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
    add("--force", action="store_true", help="also where memory may not suffice")
    _add_training(add)
    add = _action(
        actions,
        "resume",
        "Go on with training from the last sound checkpoint, or beyond a run's end.",
        ["blueprint resume headsup", "blueprint resume headsup --iterations 400000000"],
    ).add_argument
    add("run", metavar="RUN", help="a run's folder, or its name among the user's")
    add("--iterations", type=int, metavar="N", help="more of them than the run was begun with")
    add(
        "--minutes", type=float, metavar="M", help="stop after so many more minutes; 0 only writes the blueprint so far"
    )
    _add_training(add)
    add = _action(
        actions,
        "info",
        "Show how a blueprint was trained, what it costs, its raise sizes, and what each seat does first in.",
        ["blueprint info headsup", "blueprint info headsup --plot grids.png"],
    ).add_argument
    add("blueprint", metavar="BLUEPRINT", help="a folder, a packed file, or a name among the user's or the package's")
    add(
        "--plot",
        metavar="FILE",
        help="draw the grids of all seats there, and how the training went in FILE-training (needs matplotlib)",
    )
    add("--json", action="store_true", help="print as JSON")
    add = _action(
        actions,
        "pack",
        "Write a blueprint into one small file, without what play hardly reaches.",
        ["blueprint pack sixmax-compact --out sixmax.blueprint"],
    ).add_argument
    add("blueprint", metavar="BLUEPRINT", help="a folder, or a name among the user's")
    add("--out", metavar="FILE.blueprint", required=True, help="the file")
    add("--decks", type=int, default=2_000_000, metavar="N", help="decks of self-play that show which rows matter")
    add("--least", type=int, default=1, metavar="N", help="leave out rows that are reached less often; 0 keeps all")
    add("--json", action="store_true", help="print as JSON")


def _add_training(add) -> None:
    """Add what train and resume share."""
    add("--threads", type=int, metavar="N", help="threads (default: all processors)")
    add("--checkpoint-minutes", type=float, default=5.0, metavar="M", help="time between two checkpoints")
    add("--json", action="store_true", help="print the finished blueprint's record as JSON")


def _add_ls(commands) -> None:
    parser = _command(
        commands, "ls", "ls", "List what there is to name on the command line.", ["ls agents", "ls presets --json"]
    )
    parser.add_argument("what", choices=("agents", "games", "presets"), help="what to list")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _add_bench(commands) -> None:
    parser = _command(
        commands,
        "bench",
        "bench",
        "Measure speed on this machine, beside a peer in the same run.",
        ["bench engine", "bench small-games --seconds 3 --json"],
    )
    parser.add_argument(
        "name",
        choices=("engine", "small-games", "abstraction", "spot", "blueprint", "blueprint-curves", "search-exact"),
        help="what to measure; search-exact is no speed, but how exploitable search is",
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure, or a measure of it")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _add_warmup(commands) -> None:
    parser = _command(
        commands,
        "warmup",
        "warmup",
        "Compile every kernel into the cache, so that later commands start at once.",
        ["warmup", "warmup --json"],
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


if __name__ == "__main__":
    sys.exit(main())
