"""Options and help of `plurispiel compliance`."""

from plurispiel.tournaments.commands.arguments.parser import add_command
from plurispiel.tournaments.commands.arguments.sandbox import add_sandbox


def add(commands) -> None:
    """Add `plurispiel compliance`."""
    parser = add_command(
        commands,
        "compliance",
        "compliance",
        "Try an agent before it plays for anything: what it would be faulted for, and whether it remembers decks.",
        ["compliance my_bot.py:MyBot", "compliance openspiel:uniform_random --game LEDUC --json"],
    )
    add = parser.add_argument
    add(
        "spec",
        metavar="SPEC",
        help="the agent, as in plurispiel tournament --agents; exit code 1 if it would be faulted",
    )
    add("--game", metavar="G", default="SIXMAX", help="a preset (plurispiel ls presets) or an OpenSpiel game string")
    add("--hands", type=int, metavar="N", default=1000, help="hands as in a tournament, seat after seat, at most")
    add(
        "--seconds",
        type=float,
        metavar="S",
        default=36.0,
        help="time for everything, a third for each part; what takes longer is tried with fewer hands",
    )
    add("--seed", type=int, metavar="N", default=1, help="seed of all cards and random choices")
    add("--time-limit", type=float, metavar="S", default=30.0, help="seconds for an answer")
    add("--memory-limit", type=int, metavar="MIB", default=2048, help="MiB of memory that the agent may take")
    add_sandbox(add)
    add("--json", action="store_true", help="print the report as JSON")
