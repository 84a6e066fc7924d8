"""Options and help of `plurispiel compliance`."""

from plurispiel.tournaments.commands.arguments.parser import add_command
from plurispiel.tournaments.commands.arguments.sandbox import add_sandbox


def add(commands) -> None:
    """Add `plurispiel compliance`."""
    parser = add_command(
        commands,
        "compliance",
        "compliance",
        "Test an agent before a tournament: which faults it would commit, whether it breaks the contract, and whether "
        "it remembers decks.",
        [
            "compliance my_bot.py:MyBot",
            "compliance openspiel:uniform_random --game LEDUC --json",
            "compliance pokerbots:bots/mine --build --game HUNL",
        ],
    )
    add = parser.add_argument
    add(
        "spec",
        metavar="SPEC",
        help="agent spec, as in plurispiel tournament --agents; the exit code is 1 if the agent commits faults or "
        "breaks the contract",
    )
    add("--game", metavar="G", default="SIXMAX", help="a preset (plurispiel ls presets) or an OpenSpiel game string")
    add(
        "--hands",
        type=int,
        metavar="N",
        default=1000,
        help="largest number of hands in the test for faults, at least 1, in all seats in turn",
    )
    add(
        "--seconds",
        type=float,
        metavar="S",
        default=36.0,
        help="time for the whole test, above 0, a third each for faults, contract and memory; slow agents play fewer "
        "hands",
    )
    add(
        "--seed",
        type=int,
        metavar="N",
        default=1,
        help="seed of all cards and random choices in the tests for faults and memory, 0 or more; the test of the "
        "contract always uses seed 1",
    )
    add(
        "--time-limit",
        type=float,
        metavar="S",
        default=30.0,
        help="seconds for each answer, above 0 and at most 86,400",
    )
    add(
        "--memory-limit",
        type=int,
        metavar="MIB",
        default=2048,
        help="memory that the agent's process may allocate after its start, in MiB, at least 1; Linux only",
    )
    add_sandbox(add)
    add(
        "--build",
        action="store_true",
        help="first run the build command of a pokerbots:FOLDER: code from outside, run without limits and sandbox",
    )
    add("--json", action="store_true", help="print the report as JSON")
