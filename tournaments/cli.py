"""The command line: one program, a subcommand for each job.

Only the standard library is imported here, so that ``--help`` answers at once; each command's own
module does the rest.
"""

import importlib
import io
import os
import sys
from collections.abc import Sequence

from plurispiel import __version__
from plurispiel.tournaments.arguments import hands, package, play, solving, training
from plurispiel.tournaments.arguments.parser import HelpFormatter, Parser
from plurispiel.tournaments.exit_codes import FAILED, INTERRUPTED, REFUSED, USAGE
from plurispiel.tournaments.interrupts import interrupts_held

_EPILOG = """\
examples:
  plurispiel tournament
  plurispiel tournament --agents tag,equity --decks 2000 --json

exit codes: 0 ok, 1 failed, 2 usage or settings, 3 an agent had too many faults, 4 artefact refused, 130 interrupted
"""

_COMMANDS = (
    play.add_tournament,
    solving.add_solve,
    solving.add_exploitability,
    solving.add_spot,
    hands.add_replay,
    hands.add_export,
    hands.add_report,
    play.add_lbr,
    play.add_compliance,
    training.add_abstraction,
    training.add_blueprint,
    package.add_ls,
    package.add_bench,
    package.add_warmup,
)
"""In the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = Parser(
        prog="plurispiel",
        description="Poker agents around OpenSpiel, and the instruments that measure them.",
        epilog=_EPILOG,
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"plurispiel {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for add in _COMMANDS:
        add(commands)
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


if __name__ == "__main__":
    sys.exit(main())
