"""Options and help of `plurispiel tournament`."""

import argparse

from plurispiel.tournaments.commands.arguments.parser import add_command
from plurispiel.tournaments.commands.arguments.sandbox import add_sandbox


def add(commands) -> None:
    """Add `plurispiel tournament`."""
    parser = add_command(
        commands,
        "tournament",
        "tournament",
        "Play a duplicate tournament: every deck in all seat rotations, refereed by OpenSpiel's universal_poker.",
        [
            "tournament",
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
        "FILE.py:CLASS, MODULE:CLASS, openspiel:BOT (default: blueprint heads-up against each of "
        "the five baselines; at another table, all six)",
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
        action=_Decks,
        metavar="N|once|shared",
        default=argparse.SUPPRESS,
        help="decks per line-up, each played in every rotation (default: 500; without agents and table, 1500); 'once' "
        "deals each rotation a deck of its own, so that there is nothing to remember or to pass on, 'shared' one deck "
        "for all (default: shared; once where agents from outside play without a sandbox, or with a network); both: "
        "--decks 1000,once",
    )
    add(
        "--seed",
        type=seed,
        metavar="N",
        default=argparse.SUPPRESS,
        help="seed of all cards and random choices; an agent from outside that knows or guesses it knows all cards "
        "(default: 1; with an agent from outside, a key that is drawn and told when the run has ended)",
    )
    add(
        "--believe",
        action="append",
        metavar="A,B,...",
        default=argparse.SUPPRESS,
        help="agents from outside whose own word about their strategy corrects their scores, which may be a lie; it is "
        "asked of processes that are never told hole cards (default: nobody)",
    )
    add(
        "--processes",
        choices=("rotation", "one"),
        default=None,
        help="an agent from outside has a process for each rotation, and none sees a deck twice; or one for all, for "
        "heavy agents that are trusted to forget (default: rotation; one with --decks once)",
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
    add_sandbox(add)
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


class _Decks(argparse.Action):
    """Takes a number of decks, how they are dealt, or both."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Keep what was given."""
        for part in values.split(","):
            if part in ("once", "shared"):
                namespace.deals = part
            else:
                try:
                    namespace.decks = int(part)
                except ValueError:
                    what = f"invalid int value: {part!r} (or 'once' or 'shared')"
                    raise argparse.ArgumentError(self, what) from None


def seed(text: str) -> int:
    """Return the number of a text: decimal, or hexadecimal as keys are written."""
    return int(text, 16) if text.lower().startswith("0x") else int(text)
