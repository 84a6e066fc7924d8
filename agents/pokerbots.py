"""Bots of MIT's Pokerbots: folders with ``commands.json``, as in ``pokerbots:bots/mine?seconds=2&hands=500&clock=60``.

``commands.json`` is an object with two lists of words. ``build`` is the command that compiles the bot. ``run`` is the
command that starts the bot, and gets the port as its last argument. Both commands are run in the folder.
"""

import json
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel.abstraction.holdem.rules import HoldemRules, no_limit_holdem
from plurispiel.agents.programs import Program, positive_number, program_file

__all__ = ["Pokerbot", "build_pokerbot", "check_pokerbots_game", "find_pokerbot"]

_FILE = "commands.json"
_OPTIONS = ("seconds", "hands", "clock")
_MAX_SIZE = 1 << 16  # bytes of commands.json
_MAX_HANDS = 10**9
_ANSWERS = 3  # the default clock allows the time of this many answers for each hand


@dataclass(frozen=True)
class Pokerbot(Program):
    """The program of a Pokerbots folder.

    Attributes
    ----------
    hands : int
        Number of hands in a match, after which the bot is restarted.
    clock : float
        Seconds that the bot has for all answers of a match; infinite if the spec sets none.
    hint : str
        The end of an error message, with the command that builds the bot; empty if ``build`` is empty.
    """

    hands: int
    clock: float
    hint: str

    @property
    def files(self) -> list[Path]:
        """The files as for any `Program`, and ``commands.json``."""
        return [*super().files, self.folder / _FILE]

    def match_clock(self, seconds: float) -> float:
        """Return the seconds for all answers of a match: `clock` if the spec sets it, else ``3 * hands * seconds``."""
        return self.clock if self.clock < math.inf else _ANSWERS * self.hands * seconds


def find_pokerbot(folder: str, options: Mapping[str, str]) -> Pokerbot:
    """Return the bot in a folder.

    Raises
    ------
    ValueError
        If ``commands.json`` cannot be read, the program of ``run`` does not exist or is not executable, or an option is
        unknown or out of range.
    """
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise ValueError(f"a Pokerbots folder takes the options {', '.join(_OPTIONS)}, got {unknown[0]}")
    where = Path(os.path.abspath(folder))
    commands = _commands(where)
    hint = _build_hint(folder, commands)
    word, *arguments = commands["run"]
    try:
        file = program_file(word, where)
    except ValueError as error:
        raise ValueError(f"{error}{hint}") from None
    hands = options.get("hands", "1000")
    if not (hands.isascii() and hands.isdigit() and len(hands) <= 20 and 0 < int(hands) <= _MAX_HANDS):
        raise ValueError(f"hands must be a whole number from 1 to {_MAX_HANDS:,}, got {hands[:20]!r}")
    is_installed = os.sep not in word
    seconds, clock = (positive_number(name, options.get(name)) for name in ("seconds", "clock"))
    return Pokerbot(file, tuple(arguments), where, seconds, is_installed, True, int(hands), clock, hint)


def build_pokerbot(folder: str) -> None:
    """Run the ``build`` command of a folder, with its output on standard error.

    The command is code from outside, and runs without limits and without a sandbox.

    Raises
    ------
    ValueError
        If ``commands.json`` cannot be read, ``build`` is empty, or the command cannot be started or fails.
    """
    where = Path(os.path.abspath(folder))
    words = _commands(where)["build"]
    if not words:
        raise ValueError(f"the {_FILE} in {folder!r} has no build command: there is nothing to build")
    program = program_file(words[0], where)
    sys.stderr.flush()
    try:
        done = subprocess.run(
            [str(program), *words[1:]], cwd=where, stdin=subprocess.DEVNULL, stdout=sys.__stderr__, check=False
        )
    except OSError as error:
        raise ValueError(f"cannot start the build command {shlex.join(words)!r}: {error.strerror}") from None
    if done.returncode:
        raise ValueError(f"the build command {shlex.join(words)!r} failed in {folder!r} (exit code {done.returncode})")


def check_pokerbots_game(rules: HoldemRules) -> None:
    """Check that the protocol of Pokerbots can express a game.

    Raises
    ------
    ValueError
        If the game is not heads-up no-limit hold'em with equal stacks and raises of any size.
    """
    text = "Pokerbots play heads-up no-limit hold'em with equal stacks and raises of any size; this game"
    if rules.num_seats != 2:
        raise ValueError(f"{text} has {rules.num_seats} seats (--game HUNL has 2)")
    stacks = rules.stacks or (0,)
    big, small = rules.blinds
    if small >= big or rules != no_limit_holdem(2, stacks[0], (small, big)):
        raise ValueError(f"{text} is another one (programs of the kind stdio: play any game)")


def _commands(folder: Path) -> dict[str, list[str]]:
    """Return the commands ``build`` and ``run`` of a folder."""
    path = folder / _FILE
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MAX_SIZE + 1)
    except OSError as error:
        text = f"a Pokerbots folder has a file {_FILE}; cannot read {str(path)!r}: {error.strerror}"
        raise ValueError(text) from None
    try:
        if len(data) > _MAX_SIZE:
            raise ValueError(f"more than {_MAX_SIZE} bytes")
        commands = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"cannot read {str(path)!r} as JSON: {error}") from None
    wanted: dict[str, Any] = {
        name: commands.get(name, []) if isinstance(commands, dict) else None for name in ("build", "run")
    }
    for words in wanted.values():
        if not isinstance(words, list) or not all(isinstance(word, str) and "\0" not in word for word in words):
            raise ValueError(f"{str(path)!r} must be an object with two lists of words, build and run")
    if not wanted["run"] or not wanted["run"][0]:
        raise ValueError(f"{str(path)!r} has no run command")
    return wanted


def _build_hint(folder: str, commands: dict[str, list[str]]) -> str:
    if not commands["build"]:
        return ""
    return f"; plurispiel compliance {shlex.quote(f'pokerbots:{folder}')} --build --game HUNL builds the bot"
