"""Agent specs: the text that names an agent on the command line and in a tournament's file.

A spec is written ``NAME[:ARG][?key=value&key=value]``. NAME is one of the following:

- a built-in agent, without ARG: ``tag``;
- ``openspiel``, with the name of a bot, or with a function of a Python file that returns a policy or learner of
  OpenSpiel (`agents.learners`): ``openspiel:cfr?iterations=500``, ``openspiel:my_learner.py:learned``;
- ``tabular``, with the folder of a solved game: ``tabular:runs/leduc``;
- ``blueprint``, with the folder, file or name of a blueprint, by default the bundled blueprint that fits the table:
  ``blueprint``, ``blueprint:sixmax``, ``blueprint?defence=0`` (`DefendingAgent`);
- ``search``, with the same arguments as ``blueprint``: it plays the blueprint without defence, and searches:
  ``search?time=2``;
- ``continual``, without ARG: it re-solves at each decision of small games and of heads-up hold'em, where by default the
  bundled blueprint plays before the flop: ``continual?iterations=300``, ``continual?time=1``;
- an importable module or a Python file, with a class: ``my_module:MyBot``, ``my_bot.py:MyBot``;
- ``stdio``, with the command of a program in any language (`agents.programs`): ``stdio:./bot --depth 3?seconds=2``;
- ``acpc``, with the command of a program that speaks the protocol of the ACPC: ``acpc:./startme.sh``;
- ``pokerbots``, with the folder of a bot for MIT's Pokerbots (`agents.pokerbots`): ``pokerbots:bots/mine``.
"""

import importlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plurispiel.agents.base import Agent
from plurispiel.agents.programs import relocated_command, split_command, titled_command

_BASELINES = "plurispiel.agents.baselines"
BUILT_IN = {
    "random": f"{_BASELINES}.simple:RandomAgent",
    "call": f"{_BASELINES}.simple:CallAgent",
    "fold": f"{_BASELINES}.simple:FoldAgent",
    "raise": f"{_BASELINES}.simple:RaiseAgent",
    "tag": f"{_BASELINES}.tight_aggressive:TightAggressiveAgent",
    "equity": f"{_BASELINES}.equity:EquityAgent",
}
"""Modules and classes of the built-in agents by name. Some modules need numba, so they are imported when they are used:
the process of a simple agent from outside starts without numba."""

COMMANDS = ("stdio", "acpc")
"""Names of specs whose argument is the command of a program."""

PROGRAMS = (*COMMANDS, "pokerbots")
"""Names of the specs of programs; each is the name of a protocol. The argument of ``pokerbots`` is a folder."""

_PROGRAM_OPTIONS = re.compile(r"\w+=[^&]*(&\w+=[^&]*)*")


@dataclass(frozen=True)
class AgentSpec:
    """A parsed agent spec.

    Attributes
    ----------
    text : str
        The whole spec, without blanks around it.
    name, argument : str
        The parts before and after the colon; the argument may be empty. The last colon separates them if the spec
        begins with a file (``FILE.py:CLASS``), otherwise the first colon.
    options : tuple of (str, str)
        The keys and values after the question mark, in order.
    """

    text: str
    name: str
    argument: str
    options: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        """The Python file of ``FILE.py:CLASS`` and ``openspiel:FILE.py:NAME``; empty for other agents."""
        path = self.name
        if path == "openspiel":
            before, colon, _ = self.argument.rpartition(":")
            path = before if colon else self.argument
        return path if path.endswith(".py") else ""

    @property
    def is_stored(self) -> bool:
        """Whether the agent plays a stored strategy, with or without search, or is ``continual``, which re-solves."""
        return self.name in ("tabular", "blueprint", "search", "continual")

    @property
    def is_program(self) -> bool:
        """Whether the agent is a program in any language, started by a command."""
        return self.name in PROGRAMS

    @property
    def has_blueprint(self) -> bool:
        """Whether the agent is ``blueprint`` or ``search``, whose spec names or implies a blueprint."""
        return self.name in ("blueprint", "search")

    @property
    def title(self) -> str:
        """The agent's name in results.

        It is the spec without the folders above its file, program, stored strategy or networks. The options ``cwd`` and
        ``base`` of a ``stdio`` or ``acpc`` program (`agents.programs`) are left out, too.
        """
        if self.name in COMMANDS:
            return f"{self.name}:{titled_command(self.argument, self.options)}"
        if (self.is_stored and self.argument) or self.is_program:
            return f"{self.name}:{os.path.basename(os.path.abspath(self.argument))}" + "".join(
                self.text.partition("?")[1:]
            )
        if self.net_folders:
            return self.with_net_folders(lambda folder: os.path.basename(os.path.abspath(folder)))
        return self.text.replace(self.file, Path(self.file).name, 1) if self.file else self.text

    @property
    def net_folders(self) -> dict[str, str]:
        """The folders of networks that options of ``continual`` name, by option, without the package's own folder."""
        options = {key: value for key, value in self.options if key in ("nets", "values")}
        if self.name != "continual" or not options:
            return {}
        from plurispiel.agents.continual.config import net_folder
        from plurispiel.agents.values.bundled import BUNDLED

        nets = options.get("nets", "")
        folders = {"nets": "" if nets == BUNDLED else nets, "values": net_folder(options.get("values", ""))}
        return {key: folder for key, folder in folders.items() if folder}

    def with_net_folders(self, renamed: Callable[[str], str]) -> str:
        """Return the spec's text with another folder for each of `net_folders`; `renamed` maps the old to the new."""
        pairs = []
        for key, value in self.options:
            folder = self.net_folders.get(key, "")
            pairs.append(f"{key}={value.removesuffix(folder)}{renamed(folder)}" if folder else f"{key}={value}")
        return f"{self.text.partition('?')[0]}?{'&'.join(pairs)}"

    @property
    def is_foreign(self) -> bool:
        """Whether the agent is code from outside this package; OpenSpiel's bots count."""
        return self.name not in BUILT_IN and not self.is_stored


def built_in_class(name: str) -> type[Agent]:
    """Return the class of a built-in agent, a name in `BUILT_IN`."""
    module, _, found = BUILT_IN[name].partition(":")
    return getattr(importlib.import_module(module), found)


def parse_spec(text: str) -> AgentSpec:
    """Return the parts of an agent spec.

    Raises
    ------
    ValueError
        If the text is malformed. Whether the agent exists is checked by `factory.make_agent`.

    >>> parse_spec("openspiel:cfr?iterations=500")
    AgentSpec(text='openspiel:cfr?iterations=500', name='openspiel', argument='cfr', options=(('iterations', '500'),))
    """
    if not isinstance(text, str):
        raise ValueError(f"an agent spec is a text, got {text!r}")
    text = text.strip()
    is_program = text.startswith(tuple(f"{name}:" for name in COMMANDS))
    path, _, query = _program_parts(text) if is_program else text.partition("?")
    # The path of a file may hold colons, as after a Windows drive. A class's name holds none: the last colon separates.
    is_file = ".py:" in path and not is_program and not path.startswith("openspiel:")
    name, colon, argument = path.rpartition(":") if is_file else path.partition(":")
    options: list[tuple[str, str]] = []
    for pair in filter(None, query.split("&")):
        key, equals, value = pair.partition("=")
        if not key.isidentifier() or not equals:
            raise ValueError(f"agent options are written ?key=value&key=value, got {pair!r} in {text!r}")
        if key in dict(options):
            raise ValueError(f"option {key!r} appears twice in {text!r}")
        options.append((key, value))
    if not name or (colon and not argument):
        raise ValueError(f"an agent is written NAME[:ARG][?key=value&...], got {text!r}")
    if name in COMMANDS:
        split_command(argument)
    return AgentSpec(text, name, argument, tuple(options))


def split_specs(text: str) -> list[str]:
    """Return the specs of a comma-separated list.

    Raises
    ------
    ValueError
        If a spec is empty, or the command of a program seems to hold a comma or a question mark.
    """
    specs = [spec.strip() for spec in text.split(",")]
    if not all(specs):
        raise ValueError(f"agents are separated by single commas, got {text!r}")
    commands = [spec for spec in specs if spec.partition(":")[0] in COMMANDS]
    if commands:
        known = (*BUILT_IN, "blueprint", "search", "continual")
        odd = [spec for spec in specs if not re.search(r"[:?]", spec) and spec not in known]
        quoted = [spec for spec in commands if _is_quoted_or_asks(spec)]
        if odd or quoted:
            raise ValueError(
                f"{(odd or quoted)[0]!r} is no agent; a command with a comma or a question mark belongs in a "
                'settings file, as in agents = ["stdio:./bot a,b", "tag"]'
            )
    return specs


def unique_names(specs: list[str]) -> list[str]:
    """Return a name for each spec: its title, followed by ``#2``, ``#3``, ... from the title's second occurrence on.

    Raises
    ------
    ValueError
        If a spec is malformed.

    >>> unique_names(["call", "bots/my_bot.py:MyBot", "call"])
    ['call', 'my_bot.py:MyBot', 'call#2']
    """
    seen: dict[str, int] = {}
    names = []
    for spec in specs:
        title = parse_spec(spec).title
        seen[title] = seen.get(title, 0) + 1
        names.append(title if seen[title] == 1 else f"{title}#{seen[title]}")
    return names


def relocate_spec(spec: str, folder: Path) -> str:
    """Return a spec with the path of its file, program, stored strategy or networks, if any, joined to `folder`.

    The arguments of a ``stdio`` or ``acpc`` program stay as they are; an option names the folder to which they are
    relative (`relocated_command`).

    A blueprint's argument is a path only if that path exists in `folder`; otherwise it is a name, and stays.

    Raises
    ------
    ValueError
        If the spec is malformed, or the path of `folder` is no UTF-8 text or holds a mark that separates options.
    """
    parsed = parse_spec(spec)
    if parsed.name in COMMANDS:
        return f"{parsed.name}:{relocated_command(parsed.argument, dict(parsed.options), folder)}"
    if parsed.has_blueprint and not (parsed.argument and (folder / parsed.argument).exists()):
        return spec  # a blueprint's name, or no argument
    if (parsed.is_stored or parsed.is_program) and parsed.argument:
        return f"{parsed.name}:{_joined(folder, parsed.argument, '?')}" + "".join(parsed.text.partition("?")[1:])
    if parsed.net_folders and folder != Path():  # joined to it, "./bundled" would become the package's own folder
        return parsed.with_net_folders(lambda given: _joined(folder, given, "&"))
    return parsed.text.replace(parsed.file, _joined(folder, parsed.file, "?"), 1) if parsed.file else spec


def _joined(folder: Path, path: str, mark: str) -> str:
    """Return the path joined to a folder for a spec; it must be UTF-8 text without a mark that separates options.

    An absolute path is without "..": the folders before it may be missing later, and are missing in a sandbox.
    """
    joined = folder / path
    if joined.is_absolute() and ".." in joined.parts:  # a file that is a link keeps its name
        joined = joined.resolve() if joined.name == ".." else joined.parent.resolve() / joined.name
    found = str(joined)
    if mark in found or found.encode(errors="replace").decode() != found:
        raise ValueError(
            f"an agent's path is UTF-8 text without {mark!r}, which separates options, got {found!r}: rename the folder"
        )
    return found


def _program_parts(text: str) -> tuple[str, str, str]:
    """Return the parts of a program's spec: the part before the options' question mark, this mark, and the options.

    Any other question mark belongs to the command, also one within quotation marks.
    """
    command, sign, options = text.rpartition("?")
    if sign and _PROGRAM_OPTIONS.fullmatch(options) and not _is_open(command):
        return command, sign, options
    return text, "", ""


def _is_open(command: str) -> bool:
    """Return whether a quotation mark in a command is not closed."""
    try:
        split_command(command)
    except ValueError:
        return True
    return False


def _is_quoted_or_asks(spec: str) -> bool:
    """Return whether a program's spec breaks off within a quotation, or its command holds a question mark."""
    return _is_open(spec) or "?" in _program_parts(spec)[0]
