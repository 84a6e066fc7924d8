"""Options and help of `plurispiel tournament`."""

import argparse
from collections.abc import Callable
from typing import Any

from plurispiel.tournaments.commands.arguments.cluster import add_cluster
from plurispiel.tournaments.commands.arguments.parser import add_command, add_group
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
    parser.add_argument(
        "config", nargs="?", metavar="CONFIG.toml", help="settings from a file; command-line options override them"
    )
    _add_table(add_group(parser, "agents and table"))
    _add_cards(add_group(parser, "cards"))
    _add_score(add_group(parser, "score and length"))
    _add_faults(add_group(parser, "faults"))
    _add_processes(add_group(parser, "processes"))
    _add_run(add_group(parser, "run"))


# Options that are settings of the tournament have no default here. An option that is given overrides the settings file.
# For an option that is not given, the file decides, or else `with_default_tournament` and `TournamentConfig`.


def _add_table(add: Callable[..., Any]) -> None:
    add(
        "--agents",
        action="append",
        metavar="A,B,...",
        default=argparse.SUPPRESS,
        help="agent specs NAME[:ARG][?key=value&...], repeatable: built-in names (plurispiel ls agents), "
        "FILE.py:CLASS, MODULE:CLASS, openspiel:BOT, openspiel:FILE.py:NAME, stdio:PROGRAM, acpc:PROGRAM, "
        "pokerbots:FOLDER (default: blueprint "
        "heads-up against each of tag, equity, call, raise and random; if --game, --seats, --format, --copies or "
        "--lineups is given, these six agents in that setting)",
    )
    add(
        "--game",
        metavar="G",
        default=argparse.SUPPRESS,
        help="a preset (plurispiel ls presets) or an OpenSpiel game string "
        "(default: no-limit hold'em with stacks of 200 bb heads-up, 100 bb otherwise)",
    )
    add(
        "--seats",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="seats at a table, 2 to 10 (default: those of --game; without a game one for each agent, or six for more "
        "than ten agents and for lineup-1v5 and lineup-5v1)",
    )
    add(
        "--format",
        choices=("round-robin", "gauntlet", "lineup", "lineup-1v5", "lineup-5v1"),
        default=argparse.SUPPRESS,
        help="round-robin: all line-ups; gauntlet: the first agent against the rest; lineup: one fixed table; "
        "lineup-1v5: the first of two agents among copies of the second; lineup-5v1: the second agent among copies "
        "of the first. There the second agent's score is the difference to a further copy of the first, which plays "
        "the same hands in the same seat (default: lineup if there are as many agents as seats, else round-robin; "
        "gauntlet in the default tournament)",
    )
    add(
        "--copies",
        action="store_true",
        default=argparse.SUPPRESS,
        help="gauntlet only: the first agent against copies of one other agent at a time. If the other agents are too "
        "few for the table, a gauntlet is played in this way without the option",
    )
    add(
        "--lineups",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="largest number of line-ups. If there are more, N are drawn, in which all agents (in a gauntlet, all but "
        "the first), and all pairs of them, play about equally often (default: 100)",
    )


def _add_cards(add: Callable[..., Any]) -> None:
    add(
        "--decks",
        action=_Decks,
        metavar="N|once|shared",
        default=argparse.SUPPRESS,
        help="decks for each line-up, at least 1 (default: 500; 1500 in the default tournament). 'shared' plays each "
        "deck in every rotation. With 'once' every rotation has N decks of its own, so that no agent can remember or "
        "pass on cards (default: shared; once if outside agents play without a sandbox or have network access). Both: "
        "--decks 1000,once",
    )
    add(
        "--seed",
        type=seed,
        metavar="N",
        default=argparse.SUPPRESS,
        help="seed of all cards and random choices, 0 or more; an outside agent that knows or guesses the seed knows "
        "all cards (default: 1; with outside agents, a secret key drawn for the run and published when it ends)",
    )
    add(
        "--referee",
        choices=("universal_poker", "none"),
        default=argparse.SUPPRESS,
        help="program that replays every hand before it counts; none for no check (default: universal_poker)",
    )


def _add_score(add: Callable[..., Any]) -> None:
    add(
        "--score",
        choices=("raw", "duplicate", "aivat", "aivat_duplicate", "aivat_zero_sum"),
        default=argparse.SUPPRESS,
        help="score that ranks the agents. The samples of raw and aivat are hands; those of the other scores are "
        "duplicate groups (one hand in each rotation). aivat and aivat_duplicate are raw and duplicate with luck "
        "removed. aivat_zero_sum also removes the luck that shows in the sum of a table's scores. raw and duplicate "
        "compute no AIVAT and play faster (default: aivat_zero_sum, or duplicate if AIVAT can score no agent)",
    )
    add(
        "--values",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="value estimates of AIVAT: checkdown (no further betting), blueprint (all seats continue with this game's "
        "bundled blueprint) or blueprint:NAME, a trained one by its name or folder (default: blueprint if the game has "
        "a bundled one and any bucket table that it needs has been built, else checkdown; the default tournament: "
        "checkdown)",
    )
    add(
        "--believe",
        action="append",
        metavar="A,B,...",
        default=argparse.SUPPRESS,
        help="outside agents to believe: the scores aivat and aivat_duplicate use the strategies that they report, "
        "although an agent could report false ones; aivat_zero_sum does not. Reports come from processes that never "
        "see hole cards (default: none)",
    )
    add(
        "--stop-when",
        metavar="RULE",
        default=argparse.SUPPRESS,
        help="stop before the last deck: 'ci<=20' when the half-widths of all agents' anytime-valid intervals are at "
        "most 20 mbb/hand, 'significant' when none of these intervals contains 0; in a gauntlet, lineup-1v5 and "
        "lineup-5v1 only the one measured agent counts (default: never)",
    )
    add(
        "--dry-run",
        action="store_true",
        help="play only a pilot on other decks, and report the expected intervals, hands needed and time. The pilot "
        "has 192 groups or more and at least eight decks for each line-up, unless the tournament has fewer",
    )


def _add_faults(add: Callable[..., Any]) -> None:
    add(
        "--on-fault",
        choices=("forfeit", "repair", "abort"),
        default=argparse.SUPPRESS,
        help="penalty for an exception, an illegal action, a timeout or a crash: forfeit checks or folds the rest of "
        "the hand; repair does so after a timeout or crash, takes the nearest legal action for an illegal one, and "
        "checks or folds once for an exception; abort ends the run (default: forfeit)",
    )
    add(
        "--max-faults",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help="number of faults, at least 1, after which an agent's seat only folds, and the exit code is 3 (default: "
        "20)",
    )
    add(
        "--time-limit",
        type=float,
        metavar="S",
        default=argparse.SUPPRESS,
        help="seconds for each answer of an agent in its own process, above 0 and at most 86,400 (default: 30)",
    )
    add(
        "--memory-limit",
        type=int,
        metavar="MIB",
        default=argparse.SUPPRESS,
        help="memory that an agent's own process may allocate after its start, in MiB, at least 1; Linux only "
        "(default: 2048)",
    )


def _add_processes(add: Callable[..., Any]) -> None:
    add(
        "--isolate",
        choices=("foreign", "all"),
        default="foreign",
        help="agents that run in their own processes: those from outside the package, or all",
    )
    add(
        "--processes",
        choices=("rotation", "one"),
        default=None,
        help="processes of an outside agent: one for each rotation, so that none sees a deck twice, or one for all, "
        "for large agents trusted to forget (default: rotation; one with --decks once)",
    )
    add_sandbox(add)
    add(
        "--workers",
        type=int,
        metavar="N",
        default=0,
        help="worker processes, 0 to 1,024; 0 starts one for each processor",
    )
    add_cluster(add)


def _add_run(add: Callable[..., Any]) -> None:
    add(
        "--out",
        metavar="DIR",
        help="run folder; the same command resumes the run in it (default: a folder in the user's "
        "data, named by a hash of the settings)",
    )
    add("--fresh", action="store_true", help="discard the run that the folder holds and start over")
    add(
        "--hands",
        choices=("sample", "all", "none"),
        default="sample",
        help="hands written to hands.phhs: sample takes the first 20 decks of every line-up and all groups with faults",
    )
    add("--json", action="store_true", help="print the results as JSON instead of a table")


class _Decks(argparse.Action):
    """Accepts a number of decks, a way to deal (``once`` or ``shared``), or both with a comma between them."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Store the number as `decks` and the word as `deals`."""
        parts = values.split(",")
        num_words = sum(part in ("once", "shared") for part in parts)
        if len(parts) > 2 or (len(parts) == 2 and num_words != 1):
            what = f"invalid value: {values!r} (a number without commas, 'once' or 'shared', or both as in 1000,once)"
            raise argparse.ArgumentError(self, what)
        for part in parts:
            if part in ("once", "shared"):
                namespace.deals = part
            else:
                try:
                    namespace.decks = int(part)
                except ValueError:
                    what = f"invalid int value: {part!r} (or 'once' or 'shared')"
                    raise argparse.ArgumentError(self, what) from None


def seed(text: str) -> int:
    """Return the seed written in a text: a decimal number, or ``0x`` and hexadecimal digits as in published keys.

    Raises
    ------
    ValueError
        If the text is no such number.
    """
    return int(text, 16) if text.lower().startswith("0x") else int(text)
