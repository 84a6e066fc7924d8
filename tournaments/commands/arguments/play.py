"""Options and help of `plurispiel play`."""

from plurispiel.tournaments.commands.arguments.outside import add_outside
from plurispiel.tournaments.commands.arguments.parser import add_command
from plurispiel.tournaments.commands.arguments.tournament import seed


def add(commands) -> None:
    """Add `plurispiel play`."""
    parser = add_command(
        commands,
        "play",
        "play",
        "Sit down yourself: play against agents in the terminal. Keys: f fold, c check or call, r300 bet or raise to "
        "300 on this street, h half pot, p pot, a all-in, q leave, ? help.",
        [
            "play",
            "play --seats 6 --agents blueprint,tag",
            "play --game leduc_poker --agents tag --hint equity",
        ],
    )
    add = parser.add_argument
    add(
        "--agents",
        action="append",
        metavar="A,B,...",
        help="your opponents, clockwise, as in plurispiel tournament; if they leave seats free, they are repeated in "
        "the same order (default: blueprint; tag in games without a bundled blueprint)",
    )
    add(
        "--game",
        metavar="G",
        help="a preset (plurispiel ls presets) or an OpenSpiel game string (default: no-limit hold'em with stacks of "
        "200 bb heads-up, 100 bb otherwise)",
    )
    add(
        "--seats",
        type=int,
        metavar="N",
        help="seats at the table, 2 to 10, yours included (default: those of --game, else one for you and one for each "
        "agent)",
    )
    add("--hands", type=int, metavar="N", help="leave after N hands, at least 1 (default: play until you leave)")
    add(
        "--seed",
        type=seed,
        metavar="N",
        help="seed of all cards, 0 or more; whoever knows the seed knows the cards (default: a new secret key each "
        "time that the command is started)",
    )
    add("--hint", metavar="AGENT", help="show at your decisions what this agent would do with your cards")
    add(
        "--out",
        metavar="DIR",
        help="folder of the table, with your hands and results: PHH, or an ACPC log for games that PHH lacks. The same "
        "command adds hands (default: a folder in the user's data for each game, line-up, version of the agents' files "
        "and hint)",
    )
    add("--json", action="store_true", help="print the result as JSON at the end; the table goes to standard error")
    add_outside(add)
