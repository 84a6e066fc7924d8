"""Options and help of `plurispiel join`."""

from plurispiel.tournaments.commands.arguments.outside import add_outside
from plurispiel.tournaments.commands.arguments.parser import add_action, add_command


def add(commands) -> None:
    """Add `plurispiel join`."""
    parser = add_command(
        commands,
        "join",
        "join",
        "Take a seat at a table that another program runs, and play a match there.",
        [
            "join acpc 127.0.0.1:18374 --agent blueprint --game HUNL",
            "join slumbot --agent blueprint --hands 1000 --contact me@example.org",
        ],
    )
    actions = parser.add_subparsers(dest="action", metavar="TABLE", required=True)
    _add_acpc(actions)
    _add_service(
        actions,
        "slumbot",
        "Play heads-up no-limit hold'em with 200 big blinds against Slumbot, a bot of the literature, over its web "
        "interface. Slumbot shows its cards after every hand, so that results by AIVAT are printed, too.",
    )
    _add_service(
        actions,
        "gtowizard",
        "Play heads-up no-limit hold'em with 200 big blinds at the benchmark of GTO Wizard for researchers. The key of "
        "the benchmark is read from the environment variable GTOWIZARD_API_KEY and is never written or printed.",
    )


def _add_acpc(actions) -> None:
    add = add_action(
        actions,
        "acpc",
        "Play at the table of a dealer that speaks the protocol of the ACPC (the Annual Computer Poker Competition), "
        "until the dealer ends the match. The agent is loaded before the connection is made, because the connection "
        "starts the dealer's clock. A message of the dealer that contradicts the rules of the game ends the match.",
        [
            "join acpc 127.0.0.1:18374 --agent blueprint --game HUNL",
            "join acpc localhost:20000 --agent tag --game holdem.nolimit.3p.game --out match",
        ],
    ).add_argument
    add("address", metavar="HOST:PORT", help="the dealer's address; this command contacts no other address")
    add("--agent", metavar="SPEC", required=True, help="agent spec, as in plurispiel tournament --agents")
    add(
        "--game",
        metavar="G",
        required=True,
        help="the game that the dealer deals: path of a .game file, file name of a game of the ACPC, preset "
        "(plurispiel ls presets) or an OpenSpiel game string",
    )
    add(
        "--hands",
        type=int,
        metavar="N",
        help="leave the table after N hands, at least 1 (default: play to the end of the match)",
    )
    _add_agent(add)
    add(
        "--out",
        metavar="DIR",
        help="folder for join.log, to which each hand is appended when it has been played. The log has the form of the "
        "ACPC's, and plurispiel replay reads it (default: a folder of the day and time among the user's data)",
    )
    add("--json", action="store_true", help="print as JSON")


def _add_service(actions, name: str, text: str) -> None:
    parser = add_action(
        actions,
        name,
        f"{text} For research. Without --allow-network the command only lists its requests, with exit code 2.",
        [
            f"join {name} --agent blueprint --hands 1000 --contact me@example.org",
            f"join {name} --agent blueprint --hands 1000 --contact me@example.org --allow-network",
        ],
    )
    parser.set_defaults(module="join_service")
    add = parser.add_argument
    add("--agent", metavar="SPEC", required=True, help="agent spec, as in plurispiel tournament --agents")
    add(
        "--hands",
        type=int,
        metavar="N",
        required=True,
        help="hands in all, those in the folder from earlier calls included; this call plays the rest",
    )
    add(
        "--contact",
        metavar="ADDRESS",
        required=True,
        help="your e-mail or web address, which the service reads in the header User-Agent: at most 200 ASCII "
        "characters without parentheses",
    )
    add("--allow-network", action="store_true", help="send the requests and play; otherwise they are only listed")
    add(
        "--base-url",
        metavar="URL",
        help="address of a program on this machine that stands in for the service, such as http://127.0.0.1:8080",
    )
    add(
        "--request-timeout",
        type=float,
        metavar="S",
        default=30.0,
        help="seconds for each reply of the service, above 0 and at most 600",
    )
    _add_agent(add)
    add(
        "--out",
        metavar="DIR",
        help="folder for remote.sqlite, with one row a hand, and join.log, which plurispiel replay reads (default: a "
        "folder for this service and agent among the user's data)",
    )
    add("--json", action="store_true", help="print as JSON")


def _add_agent(add) -> None:
    add("--seed", type=int, metavar="N", default=1, help="seed of the agent's random choices, 0 or more")
    add_outside(add)
