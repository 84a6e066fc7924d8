"""The argument parser, with errors of one line, and helpers that add commands and actions to it."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.tournaments.commands.exit_codes import USAGE


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and appends each default to the help of its option.

    A default of None or False is left out, and so is a default that the text of the help states.
    """

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False or "(default" in (action.help or ""):
            return action.help
        return super()._get_help_string(action)


class Parser(argparse.ArgumentParser):
    """Reports errors in one line, with a suggestion where a word is misspelt."""

    def arguments(self) -> list[argparse.Action]:
        """Return the options and positional arguments, without ``--help`` and the choice of a command."""
        return [a for a in self._actions if not isinstance(a, argparse._SubParsersAction | argparse._HelpAction)]

    def commands(self) -> dict[str, "Parser"]:
        """Return the parsers of the commands below this one, by name; empty for a command that has none."""
        choices = [action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return dict(choices[0]) if choices else {}

    def parse_args(self, args=None, namespace=None):  # type: ignore[override]
        """Return the options; refuse ``--threads=--``, whose value argparse would read as an empty list.

        A command's name may have two words, as in ``spot sweep``.
        """
        words = list(sys.argv[1:] if args is None else args)
        for word in words:
            if re.fullmatch(r"--?[\w-]+=--", word):
                self.error(f"{word}: -- is no value")
        if (name := " ".join(words[:2])) in self.commands():
            words[:2] = [name]
        return super().parse_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        self.exit(USAGE, f"{self.prog}: {printable(message)} ({self.prog} --help tells more)\n")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Return the options, and an empty list.

        Each subcommand refuses unknown arguments itself, so that the suggestion comes from the subcommand's options.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            meant = suggestion(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value outside the choices, with a suggestion."""
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            text = f"invalid choice: {value!r}{suggestion(str(value), names)} (choose from {', '.join(names)})"
            raise argparse.ArgumentError(action, text)


def add_command(commands, name: str, module: str, text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a new command; `module` is the module in `tournaments.commands` that runs the command."""
    parser = add_action(commands, name, text, examples)
    parser.set_defaults(module=module)
    return parser


def add_action(actions, name: str, text: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a new action of a command, with its examples."""
    return actions.add_parser(
        name,
        help=text,
        description=text,
        epilog="\n".join(["examples:", *(f"  plurispiel {example}" for example in examples)]),
        formatter_class=HelpFormatter,
    )


def add_group(parser: argparse.ArgumentParser, title: str) -> Callable[..., Any]:
    """Return the method `add_argument` of a new group of options, which has a title in the help."""
    return parser.add_argument_group(title).add_argument
