"""Options and help of `plurispiel deal`."""

from collections.abc import Callable
from typing import Any

from plurispiel.tournaments.commands.arguments.outside import add_memory_limit
from plurispiel.tournaments.commands.arguments.parser import add_command, add_group
from plurispiel.tournaments.commands.arguments.sandbox import add_sandbox
from plurispiel.tournaments.commands.arguments.tournament import seed


def add(commands) -> None:
    """Add `plurispiel deal`."""
    parser = add_command(
        commands,
        "deal",
        "deal",
        "Deal a match to programs that connect by the protocol of the ACPC (the Annual Computer Poker Competition), "
        "and to agents. If there are tcp seats, the first line on standard output has their ports. With --example: "
        "write a bot of the line protocol into a folder, to start from.",
        ['deal --game HUNL --agents "tcp,blueprint" --hands 1000 --ports 18374', "deal --example python mybot"],
    )
    _add_example(add_group(parser, "example bot"))
    _add_match(add_group(parser, "match"))
    _add_programs(add_group(parser, "programs that connect"))
    _add_processes(add_group(parser, "agents in their own processes"))
    _add_results(add_group(parser, "results"))


def _add_example(add: Callable[..., Any]) -> None:
    add(
        "--example",
        choices=("python", "c", "sh", "llm"),
        help="deal nothing; write an example bot in this language into FOLDER. llm asks a language model over HTTP, at "
        "the address in its llm.toml",
    )
    add("folder", metavar="FOLDER", nargs="?", help="folder for --example; created if it does not exist")


def _add_match(add: Callable[..., Any]) -> None:
    add(
        "--agents",
        metavar="A,B,...",
        help="the players, one for each seat, required unless --example is given; tcp is a program that connects, all "
        "others are agent specs as in plurispiel tournament",
    )
    add(
        "--game",
        metavar="G",
        default="HUNL",
        help="path of a .game file, file name of a game of the ACPC (built in), preset (plurispiel ls presets) or "
        "OpenSpiel game string",
    )
    add(
        "--hands",
        type=int,
        metavar="N",
        default=1000,
        help="hands, at least 1, without those that --duplicate adds; after each hand all players move one seat on",
    )
    add(
        "--duplicate",
        action="store_true",
        help="deal the same hands again, once for each further player, with all players moved one seat on. Programs "
        "connect again; restart them before, so that they do not remember the cards",
    )
    add(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of all cards and random choices, 0 or more; a program that guesses the seed can compute them "
        "(default: a secret key, published at the end of the last log)",
    )
    add(
        "--on-fault",
        choices=("repair", "forfeit"),
        default="repair",
        help="forfeit: after a fault the player checks or folds the rest of the hand. repair: an illegal action "
        "becomes the nearest legal one, and an agent's exception a check or fold; any other fault forfeits the hand. "
        "After any fault but an illegal action a program's connection is closed, and the program can connect again",
    )
    add(
        "--values",
        metavar="NAME",
        default="",
        help="AIVAT's value estimates for results with less luck, as in plurispiel tournament (default: as there); "
        "none for raw results alone",
    )


def _add_programs(add: Callable[..., Any]) -> None:
    add(
        "--ports",
        metavar="P,Q,...",
        help="ports of the tcp seats in their order, 0 for a free one (default: free ports)",
    )
    add("--listen", metavar="ADDRESS", default="127.0.0.1", help="address to listen on")
    add("--allow-remote", action="store_true", help="allow an address that other machines can reach")
    add(
        "--t-response",
        type=float,
        metavar="S",
        default=60.0,
        help="seconds for each answer of a program that connects or an agent from outside, above 0 and below 10^6",
    )
    add(
        "--t-hand",
        type=float,
        metavar="S",
        default=600.0,
        help="seconds per hand for all answers of a program that connects, above 0 and below 10^6",
    )
    add(
        "--start-timeout",
        type=float,
        metavar="S",
        default=600.0,
        help="seconds to wait for a program to connect, above 0 and below 10^6",
    )


def _add_processes(add: Callable[..., Any]) -> None:
    add_memory_limit(add)
    add_sandbox(add)


def _add_results(add: Callable[..., Any]) -> None:
    add(
        "--out",
        metavar="DIR",
        help="folder for the log deal.log (with --duplicate deal.0.log, deal.1.log, ...), in the form of the ACPC's "
        "dealer (default: a folder of the day and time among the user's data)",
    )
    add("--json", action="store_true", help="print the results as JSON, after the line with the ports, if any")
