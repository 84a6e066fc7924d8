"""Options and help of `plurispiel league`."""

import argparse
from collections.abc import Callable
from typing import Any

from plurispiel.tournaments.commands.arguments.cluster import add_cluster
from plurispiel.tournaments.commands.arguments.parser import add_action, add_command, add_group
from plurispiel.tournaments.commands.arguments.sandbox import add_sandbox
from plurispiel.tournaments.commands.arguments.tournament import seed


def add(commands) -> None:
    """Add `plurispiel league`."""
    parser = add_command(
        commands,
        "league",
        "league",
        "Keep a lasting population of agents that all play each other heads-up, and rank them.",
        [
            "league runs/mine add tag equity call",
            "league runs/mine play --hands 5000",
            "league runs/mine standings --html standings.html",
        ],
    )
    parser.add_argument("folder", metavar="FOLDER", help="folder of the league")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _add_create(actions)
    _add_add(actions)
    _add_remove(actions)
    _add_list(actions)
    _add_play(actions)
    _add_standings(actions)


def _add_create(actions) -> None:
    parser = add_action(
        actions,
        "create",
        "Begin a league with settings of your own; they are fixed from then on (add begins one with the defaults).",
        ["league runs/mine create", "league runs/limit create --game HULH --seed 7"],
    )
    _add_pairings(add_group(parser, "pairings"))
    _add_score(add_group(parser, "score"))
    _add_faults(add_group(parser, "faults"))
    _add_processes(add_group(parser, "processes"))


# Options that are not given are left to `LeagueConfig`, except those of the sandbox, which have the same defaults here.


def _add_pairings(add: Callable[..., Any]) -> None:
    add(
        "--game",
        metavar="G",
        help="a preset or an OpenSpiel game string with two seats (default: HUNL)",
        default=argparse.SUPPRESS,
    )
    add(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of all cards, 0 or more; an outside agent that knows or guesses the seed knows all cards (default: "
        "1, and a secret key for each pairing with an outside agent)",
        default=argparse.SUPPRESS,
    )
    add(
        "--placement",
        type=int,
        metavar="N",
        help="number of decks, at least 2, that a new agent first plays against every other agent; anytime-valid "
        "intervals need 100 (default: 104)",
        default=argparse.SUPPRESS,
    )
    add(
        "--deals",
        choices=("shared", "once"),
        help="shared: both rotations of a deck are dealt the same cards; once: each rotation has its own deck "
        "(default: shared; once if outside agents play without a sandbox or have network access)",
        default=argparse.SUPPRESS,
    )
    add(
        "--referee",
        choices=("universal_poker", "none"),
        help="program that replays every hand before it counts; none for no check (default: universal_poker)",
        default=argparse.SUPPRESS,
    )


def _add_score(add: Callable[..., Any]) -> None:
    add(
        "--score",
        choices=("raw", "duplicate", "aivat", "aivat_duplicate", "aivat_zero_sum"),
        help="score of a pairing, as in tournaments (default: aivat_zero_sum)",
        default=argparse.SUPPRESS,
    )
    add(
        "--values",
        metavar="NAME",
        help="AIVAT's value estimates, as in tournaments (default: as there)",
        default=argparse.SUPPRESS,
    )


def _add_faults(add: Callable[..., Any]) -> None:
    add(
        "--on-fault",
        choices=("forfeit", "repair", "abort"),
        help="penalty for a fault, as in tournaments (default: forfeit)",
        default=argparse.SUPPRESS,
    )
    add(
        "--max-faults",
        type=int,
        metavar="N",
        help="number of faults in a pairing, at least 1, after which an agent's seat only folds (default: 20)",
        default=argparse.SUPPRESS,
    )
    add(
        "--time-limit",
        type=float,
        metavar="S",
        help="seconds for each answer of an agent in its own process, above 0 and at most 86,400 (default: 30)",
        default=argparse.SUPPRESS,
    )
    add(
        "--memory-limit",
        type=int,
        metavar="MIB",
        help="memory that an agent's own process may allocate after its start, in MiB, at least 1; Linux only "
        "(default: 2048)",
        default=argparse.SUPPRESS,
    )


def _add_processes(add: Callable[..., Any]) -> None:
    add(
        "--isolate",
        choices=("foreign", "all"),
        help="agents that run in their own processes: those from outside the package, or all (default: foreign)",
        default=argparse.SUPPRESS,
    )
    add(
        "--processes",
        choices=("rotation", "one"),
        help="processes of an outside agent: one for each rotation, or one for all (default: rotation; one with "
        "--deals once)",
        default=argparse.SUPPRESS,
    )
    add_sandbox(add)


def _add_add(actions) -> None:
    parser = add_action(
        actions,
        "add",
        "Add agents. After a change of an agent's file or stored strategy, or of this package's code that it uses, the "
        "agent is a new entry, and the old one is removed.",
        ["league runs/mine add tag equity", "league runs/mine add my_bot.py:MyBot", "league runs/mine add"],
    )
    parser.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help="agent spec NAME[:ARG][?key=value&...] (default: every agent of the league that has changed)",
    )
    parser.add_argument(
        "--believe",
        action="store_true",
        help="let the strategies that these agents from outside report correct their scores aivat and aivat_duplicate; "
        "ignored without AGENT",
    )


def _add_remove(actions) -> None:
    parser = add_action(
        actions,
        "remove",
        "Remove an agent from play and standings; its results are kept and count again if it is added again.",
        ["league runs/mine remove call"],
    )
    parser.add_argument("agent", metavar="AGENT", help="name or number of an agent in the league")


def _add_list(actions) -> None:
    parser = add_action(
        actions, "list", "List the agents, and how many hands each has played.", ["league runs/mine list"]
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _add_play(actions) -> None:
    parser = add_action(
        actions,
        "play",
        "Play. New agents first meet all others. Then the pairings play whose hands best separate neighbours in the "
        "ranking; without --hands and --hours this part is left out. The same command continues after an interruption.",
        ["league runs/mine play", "league runs/mine play --hands 20000", "league runs/mine play --hours 8 --workers 2"],
    )
    add = parser.add_argument
    add(
        "--hands",
        type=int,
        metavar="N",
        help="hands of all pairings together, at least 1, those played before included",
    )
    add("--hours", type=float, metavar="H", help="approximate longest time of this call, above 0")
    add(
        "--workers",
        type=int,
        metavar="N",
        default=0,
        help="worker processes, 0 to 1,024; 0 starts one for each processor",
    )
    add_cluster(add)
    add("--fresh", action="store_true", help="delete the hands of all pairings and play them again")
    add("--json", action="store_true", help="print the standings as JSON instead of tables")


def _add_standings(actions) -> None:
    parser = add_action(
        actions,
        "standings",
        "Show the ranking: mean against the field, Nash average, alpha-rank, and the win rate of every pair.",
        ["league runs/mine standings", "league runs/mine standings --html standings.html"],
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.add_argument("--html", metavar="FILE.html", help="also write one self-contained page")
