"""Options and help of `plurispiel lbr`."""

from plurispiel.tournaments.commands.arguments.cluster import add_cluster
from plurispiel.tournaments.commands.arguments.outside import add_outside
from plurispiel.tournaments.commands.arguments.parser import add_command
from plurispiel.tournaments.commands.arguments.tournament import seed


def add(commands) -> None:
    """Add `plurispiel lbr`."""
    parser = add_command(
        commands,
        "lbr",
        "lbr",
        "Measure the win rate of local best response against an agent, heads-up: a lower bound on exploitability.",
        ["lbr --agent blueprint", "lbr --agent tag --menu all --hands 20000", "lbr --agent my_bot.py:MyBot --menu fc"],
    )
    add = parser.add_argument
    add(
        "--agent",
        metavar="SPEC",
        required=True,
        help="agent spec, as in plurispiel tournament; the agent must report its strategy (range_strategy). Without a "
        "sandbox, files and modules run with your rights",
    )
    add(
        "--menu",
        choices=("fc", "fcpa", "56bets", "flop56", "all"),
        default="fcpa",
        help="actions of local best response. fc: fold and call; fcpa: only call before the turn, then fold, call, bet "
        "the pot or all-in; 56bets: as fcpa with 56 bet sizes; flop56: only call before the flop, fold, call or one of "
        "56 bet sizes on the flop, then fold and call; all: these four menus in turn (default: fcpa)",
    )
    add(
        "--hands",
        type=int,
        metavar="N",
        default=4000,
        help="hands, at least 1, rounded up to a multiple of four, the hands of a group (default: 4000)",
    )
    add("--game", metavar="G", default="HUNL", help="a game with two seats (default: HUNL, 200 bb)")
    add(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of all cards and random choices, 0 or more; an outside agent that knows or guesses the seed knows "
        "all cards (default: 1; with an outside agent, a secret key drawn for the run and published when it ends)",
    )
    add(
        "--aivat",
        action="store_true",
        help="also correct for luck by AIVAT with checkdown values, which needs fewer hands but takes longer for each "
        "hand",
    )
    add(
        "--workers",
        type=int,
        metavar="N",
        default=0,
        help="worker processes, 0 to 1,024; 0 starts one for each processor (default: 0)",
    )
    add_cluster(add)
    add(
        "--out",
        metavar="DIR",
        help="run folder, for one menu; the same command resumes the run in it (default: a folder in the user's data "
        "for each menu)",
    )
    add("--fresh", action="store_true", help="discard what the run folder holds and start over")
    add(
        "--deals",
        choices=("shared", "once"),
        help="with 'once' each hand has its own deck, so that an outside agent can neither remember nor pass on cards; "
        "with 'shared' a deck is played four times (default: shared; once if an outside agent plays without a sandbox "
        "or has network access)",
    )
    add(
        "--processes",
        choices=("rotation", "one"),
        help="processes of an outside agent: one for each of the four hands of a deck, so that none sees a deck twice, "
        "or one for all, for large agents trusted to forget (default: rotation; one with --deals once)",
    )
    add_outside(add)
    add("--json", action="store_true", help="print as JSON")
