"""A parser that says in one line what is wrong, and how commands and what they do are added to it."""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.tournaments.commands.exit_codes import USAGE


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults where the help does not name them, and keeps the lines of examples."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False or "(default" in (action.help or ""):
            return action.help
        return super()._get_help_string(action)


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def parse_args(self, args=None, namespace=None):  # type: ignore[override]
        """Return the options; ``--threads=--`` is refused here, as argparse would make a list of it."""
        for word in sys.argv[1:] if args is None else args:
            if re.fullmatch(r"--?[\w-]+=--", word):
                self.error(f"{word}: -- is no value")
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        self.exit(USAGE, f"{self.prog}: {printable(message)} ({self.prog} --help tells more)\n")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Return what was given; what is not known is an error of the command it was given to."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            meant = suggestion(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Say for everything that is chosen from a list what may have been meant."""
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            text = f"invalid choice: {value!r}{suggestion(str(value), names)} (choose from {', '.join(names)})"
            raise argparse.ArgumentError(action, text)


def add_command(commands, name: str, module: str, text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """Add a command, which the module of that name in `commands` does, and return its parser."""
    parser = add_action(commands, name, text, examples)
    parser.set_defaults(module=module)
    return parser


def add_action(actions, name: str, text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """Add one of the things that a command can do, and return its parser."""
    return actions.add_parser(
        name,
        help=text,
        description=text,
        epilog="\n".join(["examples:", *(f"  plurispiel {example}" for example in examples)]),
        formatter_class=HelpFormatter,
    )
