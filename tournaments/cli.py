"""The command line: one program with a subcommand for each job.

No module that needs numpy or OpenSpiel is imported here, so that ``--help`` answers quickly. The options of a command
are in a module of `tournaments.commands.arguments`, which is imported when a parser needs it. The module of the command
in `tournaments.commands` is imported when the command runs.
"""

import errno
import importlib
import sys
from collections.abc import Sequence

from plurispiel import __version__
from plurispiel.abstraction.machine.interrupts import interruptible, interrupts_held, leave
from plurispiel.abstraction.machine.standard_streams import OutputLost, printable, standard_streams
from plurispiel.tournaments.commands.arguments.parser import HelpFormatter, Parser
from plurispiel.tournaments.commands.exit_codes import FAILED, INTERRUPTED, REFUSED, USAGE

_EPILOG = """\
examples:
  plurispiel tournament
  plurispiel tournament --agents tag,equity --decks 2000 --json

exit codes: 0 ok, 1 failed, 2 usage or settings, 3 an agent had too many faults, 4 artefact refused, 130 interrupted
(by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP: a command that can resume keeps its progress and prints how to go on)
"""

_SIGNALLED = 128
"""A command ended by signal N exits with this number plus N, as in shells."""

_LONGEST_NAME = 200
"""Letters of a file's name that an error shows."""

_COMMANDS = (
    "tournament",
    "league",
    "play",
    "solve",
    "exploitability",
    "spot",
    "replay",
    "export",
    "report",
    "web",
    "lbr",
    "compliance",
    "deal",
    "join",
    "abstraction",
    "blueprint",
    "values",
    "cluster",
    "ls",
    "bench",
    "warmup",
)
"""All commands, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Raises
    ------
    SystemExit
        By argparse: with code 0 after ``--help`` or ``--version``, with code 2 if the options are wrong.
    """
    with standard_streams(), interruptible() as obeyed:
        try:
            try:
                code = _run(arguments)
            finally:  # also when argparse exits
                sys.stdout.flush()
        except OutputLost as error:
            if error.errno != errno.EPIPE:  # EPIPE: the reader closed the pipe and expects no message
                print(f"plurispiel: cannot write to standard output: {error.strerror}", file=sys.stderr)
            code = FAILED
    return leave(_SIGNALLED + obeyed[0] if obeyed and code == INTERRUPTED else code)


def make_parser(words: Sequence[str] = ()) -> Parser:
    """Return the parser of all commands, or the parser of one: the command with which `words` begin.

    The options of all commands would take a third of the time in which a short command answers.
    """
    parser = Parser(
        prog="plurispiel",
        description="Poker agents built on OpenSpiel, and tools that measure them.",
        epilog=_EPILOG,
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"plurispiel {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in words[:1] if words and words[0] in _COMMANDS else _COMMANDS:
        importlib.import_module(f"plurispiel.tournaments.commands.arguments.{command}").add(commands)
    return parser


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit code; errors become one line on standard error."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = make_parser(words)
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        with interrupts_held():  # an interrupt during the import of a compiled module would become an ImportError
            module = importlib.import_module(f"plurispiel.tournaments.commands.{options.module}")
        return module.main(options)
    except ValueError as error:
        # Imported here, as the module needs numpy, which would make --help slow.
        from plurispiel.abstraction.machine.artefact import ArtefactRefused

        return _fail(options.command, error, REFUSED if isinstance(error, ArtefactRefused) else USAGE)
    except KeyboardInterrupt:
        return _fail(options.command, "interrupted; run the same command again", INTERRUPTED)
    except OutputLost:
        raise
    except OSError as error:
        return _fail(options.command, _os_text(error), FAILED)
    except MemoryError as error:
        return _fail(options.command, f"not enough memory: {error}".removesuffix(": "), FAILED)


def _os_text(error: OSError) -> str:
    """Return what the system says of files, without the number of the error; very long names are shortened."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    if error.strerror is None or not names:
        return str(error)
    shown = [name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..." for name in names]
    return f"{error.strerror}: {' -> '.join(shown)}"


def _fail(command: str, message: object, code: int) -> int:
    """Print an error in one line and return the exit code."""
    print(f"plurispiel {command}: {printable(' '.join(str(message).splitlines()))}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
