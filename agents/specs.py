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

import dataclasses
import hashlib
import importlib
import importlib.machinery
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.base import Agent, RangeAgent
from plurispiel.agents.pokerbots import check_pokerbots_game, find_pokerbot
from plurispiel.agents.programs import Program, find_program, relocated_command, split_command, titled_command
from plurispiel.agents.user_code import call_factory, check_options, factory_in_file, factory_in_module

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

_COMMANDS = ("stdio", "acpc")
"""Names of specs whose argument is the command of a program."""

PROGRAMS = (*_COMMANDS, "pokerbots")
"""Names of the specs of programs; each is the name of a protocol. The argument of ``pokerbots`` is a folder."""

_PROGRAM_OPTIONS = re.compile(r"\w+=[^&]*(&\w+=[^&]*)*")

_METHODS = {"restart": None, "act": Agent.act, "strategy": RangeAgent.strategy}
"""Methods that an agent must define, with the placeholder of each in its base class; only a `RangeAgent` needs
`strategy`."""


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
        if self.name in _COMMANDS:
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
        If the text is malformed. Whether the agent exists is checked by `make_agent`.

    >>> parse_spec("openspiel:cfr?iterations=500")
    AgentSpec(text='openspiel:cfr?iterations=500', name='openspiel', argument='cfr', options=(('iterations', '500'),))
    """
    text = text.strip()
    is_program = text.startswith(tuple(f"{name}:" for name in _COMMANDS))
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
    if name in _COMMANDS:
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
    commands = [spec for spec in specs if spec.partition(":")[0] in _COMMANDS]
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
    if parsed.name in _COMMANDS:
        return f"{parsed.name}:{relocated_command(parsed.argument, dict(parsed.options), folder)}"
    if parsed.has_blueprint and not (parsed.argument and (folder / parsed.argument).exists()):
        return spec  # a blueprint's name, or no argument
    if (parsed.is_stored or parsed.is_program) and parsed.argument:
        return f"{parsed.name}:{_joined(folder, parsed.argument, '?')}" + "".join(parsed.text.partition("?")[1:])
    if parsed.net_folders and folder != Path():  # joined to it, "./bundled" would become the package's own folder
        return parsed.with_net_folders(lambda given: _joined(folder, given, "&"))
    return parsed.text.replace(parsed.file, _joined(folder, parsed.file, "?"), 1) if parsed.file else spec


def make_agent(spec: str) -> Agent:
    """Build the agent that a spec names.

    Raises
    ------
    ValueError
        If the spec is malformed, the agent does not exist, is a program, cannot be loaded, or refuses the options.
    ArtefactRefused
        If the stored strategy is damaged, or there is no such solved game.
    """
    parsed = parse_spec(spec)
    options = dict(parsed.options)
    if parsed.name == "openspiel":
        if parsed.file:
            from plurispiel.agents.learners import learner_agent

            name = parsed.argument.removeprefix(parsed.file).removeprefix(":")
            return learner_agent(parsed.file, name, options, spec)
        from plurispiel.agents.guests import openspiel_agent

        return openspiel_agent(parsed.argument, options)
    if parsed.is_stored:
        return _stored_agent(parsed)
    if parsed.name in PROGRAMS:
        if not parsed.argument:
            argument = "PROGRAM [ARGUMENTS]" if parsed.name in _COMMANDS else "FOLDER"
            raise ValueError(f"a program is written {parsed.name}:{argument}, got {spec!r}")
        raise ValueError(
            f"{spec!r} is a program: programs play in tournaments and in commands such as compliance and lbr, not here"
        )
    if parsed.name in BUILT_IN:
        if parsed.argument:
            raise ValueError(f"the agent {parsed.name!r} takes no argument, got {spec!r}")
        return _construct(built_in_class(parsed.name), options, spec)
    if parsed.file and not parsed.argument:
        raise ValueError(f"the agent's class is missing, write {spec}:CLASS")
    if not parsed.argument:
        known = ", ".join(sorted([*BUILT_IN, "blueprint", "search", "continual"]))
        raise ValueError(
            f"unknown agent {spec!r}{_suggestion(parsed)} (built in are {known}; "
            "your own is FILE.py:CLASS, MODULE:CLASS or stdio:PROGRAM, OpenSpiel's are openspiel:BOT)"
        )
    if parsed.file:
        factory = factory_in_file(parsed.file, parsed.argument, spec)
    else:
        factory = factory_in_module(parsed.name, parsed.argument, spec, _suggestion(parsed))
    return _construct(factory, options, spec)


def game_note(spec: str, rules: HoldemRules) -> str:
    """Return notes, in words, on how an agent plays a game.

    The notes tell which bundled blueprint plays, how its game differs from `rules`, and which bucket table ``search``
    lacks. The text is empty for all agents but ``blueprint`` and ``search``, and where there is nothing to note.

    Raises
    ------
    ValueError
        If there is no such blueprint, or the agent is known not to play the game. Most agents refuse a game only when a
        hand begins.
    ArtefactRefused
        If the blueprint is damaged.
    """
    parsed = parse_spec(spec)
    if parsed.name == "pokerbots":
        check_pokerbots_game(rules)
    if not parsed.has_blueprint:
        return ""
    from plurispiel.abstraction.actions.game_difference import game_difference
    from plurispiel.agents.blueprint.blueprint import blueprint_rules, missing_table
    from plurispiel.agents.blueprint.library import find_blueprint, pick_bundled

    if parsed.argument:
        name = parsed.argument
        notes = [game_difference(rules, blueprint_rules(find_blueprint(name)))]
    else:
        picked = pick_bundled(rules)
        name = str(picked.path)
        notes = [f"plays {picked.name}", game_difference(rules, picked.rules)]
    if parsed.name == "search" and (table := missing_table(find_blueprint(name))):
        notes.append(
            f"searches only where two players see a board; with more players, search needs the bucket table {table} "
            f"(plurispiel abstraction build {table})"
        )
    return "; ".join(filter(None, notes))


def try_stored(spec: str, rules: HoldemRules) -> None:
    """Load the stored strategy of an agent, and check that the agent plays a game.

    Agents for which `AgentSpec.is_stored` is false are not checked.

    Raises
    ------
    ValueError
        If the spec is malformed, or the agent does not exist or does not play the game.
    ArtefactRefused
        If the stored strategy is damaged, or there is no such solved game or network.
    """
    parsed = parse_spec(spec)
    if parsed.is_stored:
        agent = make_agent(spec)
        if parsed.has_blueprint:  # a hand of the blueprint agent begins without compiling search's kernels
            agent = _stored_agent(dataclasses.replace(parsed, name="blueprint", options=()))
        agent.restart(rules, 0, np.random.default_rng(0))


def prepare_stored(spec: str, rules: HoldemRules) -> None:
    """Begin a hand with an agent for which `AgentSpec.is_stored` is true; other agents are left alone.

    This loads a stored strategy and compiles the agent's kernels. The errors are those of `try_stored`.
    """
    if parse_spec(spec).is_stored:
        make_agent(spec).restart(rules, 0, np.random.default_rng(0))


def agent_digest(spec: str) -> str:
    """Return a hash of the file, program or stored strategy that defines an agent; empty for all other agents.

    So an edited file counts as another agent. Modules that the file imports are not part of the hash. Without an
    argument, ``blueprint``, ``search`` and ``continual`` have the digests of all bundled blueprints, as any of them may
    play. ``continual`` also has the digests of the networks with which it plays, and ``blueprint`` its default defence.

    Raises
    ------
    ValueError
        If a file cannot be read, or there is no such program or blueprint.
    ArtefactRefused
        If the stored strategy is damaged, or there is no such solved game or network.
    """
    parsed = parse_spec(spec)
    if parsed.name == "tabular":
        from plurispiel.agents.tabular.solution import solution_digest

        return solution_digest(Path(parsed.argument))
    if parsed.has_blueprint or parsed.name == "continual":
        from plurispiel.agents.blueprint.agent import DEFAULT_DEFENCE
        from plurispiel.agents.blueprint.blueprint import blueprint_digest
        from plurispiel.agents.blueprint.library import bundled_blueprints, find_blueprint

        has_default = parsed.name == "blueprint" and "defence" not in dict(parsed.options)
        defence = [f"defence {DEFAULT_DEFENCE:g}"] * has_default
        if not parsed.argument:
            digests = [each.digest for each in bundled_blueprints()]
            return " ".join([*digests, *_net_digests(parsed), *(defence if digests else [])])
        return " ".join([blueprint_digest(find_blueprint(parsed.argument)), *defence])
    if parsed.is_program:
        return program_of(spec).digest
    path = agent_file(spec)
    if path is None:
        return ""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(f"cannot read the agent's file {str(path)!r}: {error.strerror}") from None


def _net_digests(spec: AgentSpec) -> list[str]:
    """Return the digests of the networks with which ``continual`` plays; an empty list if it plays without networks."""
    if spec.name != "continual":
        return []
    from plurispiel.agents.continual.config import net_folder
    from plurispiel.agents.continual.table.config import FLOP_NETS, PREFLOP_NETS
    from plurispiel.agents.values.bundled import find_nets
    from plurispiel.agents.values.net_file import net_digest

    options = dict(spec.options)
    folders = [Path(folder)] if (folder := net_folder(options.get("values", ""))) else []
    if options.get("nets"):
        names = FLOP_NETS + PREFLOP_NETS if options.get("preflop") == "nets" else FLOP_NETS
        folders += [find_nets(options["nets"]) / name for name in names]
    return [net_digest(folder) for folder in folders]


def agent_file(spec: str) -> Path | None:
    """Return the Python file of an agent from a file or module.

    None for other agents, and for a module that is not found or could be found only by running code.

    Raises
    ------
    ValueError
        If the spec is malformed.
    """
    parsed = parse_spec(spec)
    if parsed.is_program:
        return None
    return Path(parsed.file) if parsed.file else _module_file(parsed)


def agent_files(spec: str) -> list[Path]:
    """Return the files of an agent from outside this package: the agent's file, or the files of its program.

    Raises
    ------
    ValueError
        If the spec is malformed, or there is no such program.
    """
    if parse_spec(spec).is_program:
        return program_of(spec).files
    path = agent_file(spec)
    return [] if path is None else [path]


def program_of(spec: str) -> Program:
    """Return the program that a spec names.

    Raises
    ------
    ValueError
        If there is no such program, it is not executable, or it refuses an option.
    """
    parsed = parse_spec(spec)
    find = find_program if parsed.name in _COMMANDS else find_pokerbot
    try:
        return find(parsed.argument, dict(parsed.options))
    except ValueError as error:
        raise ValueError(f"{error} (agent {parsed.text!r})") from None


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


def _stored_agent(spec: AgentSpec) -> Agent:
    if spec.name == "tabular":
        from plurispiel.agents.tabular.solution import TabularAgent

        if not spec.argument or spec.options:
            raise ValueError(f"a solved game's agent is written tabular:FOLDER, got {spec.text!r}")
        return TabularAgent(spec.argument)
    if spec.name == "continual":
        from plurispiel.agents.continual.agent import continual_agent

        if spec.argument:
            raise ValueError(f"the agent 'continual' takes no argument, got {spec.text!r}")
        return continual_agent(dict(spec.options))
    if spec.name == "search":
        from plurispiel.agents.search.agent import search_agent

        return search_agent(spec.argument, dict(spec.options))
    from plurispiel.agents.blueprint.agent import BundledAgent, blueprint_agent

    options = dict(spec.options)
    text = options.pop("defence", None)
    try:
        defence = None if text is None else float(text)
    except ValueError:
        defence = -1.0
    if options or not (defence is None or 0.0 <= defence <= 1.0):
        raise ValueError(
            "a blueprint's agent is written blueprint, blueprint:FOLDER or blueprint:NAME, and takes the option "
            f"defence, from 0 to 1, got {spec.text!r}"
        )
    return blueprint_agent(spec.argument, defence) if spec.argument else BundledAgent(defence)


def _construct(factory: Callable[..., Any], options: dict[str, str], spec: str) -> Agent:
    check_options(factory, options, spec)
    agent = call_factory(factory, options, spec)
    if missing := [name for name, placeholder in _METHODS.items() if not _defines(agent, name, placeholder)]:
        raise ValueError(f"agent {spec!r} lacks {' and '.join(missing)}; {_remedy(agent, missing[-1])}")
    return agent


def _defines(agent: object, name: str, placeholder: object) -> bool:
    """Return whether an agent defines a method, or does not need it."""
    method = getattr(agent, name, None)
    if name == "act" and isinstance(agent, Agent) and type(agent).range_strategy is not Agent.range_strategy:
        return True  # `Agent.act` draws from `range_strategy`
    if name == "strategy" and not isinstance(agent, RangeAgent):
        return True
    return callable(method) and getattr(method, "__func__", method) is not placeholder


def _remedy(agent: object, missing: str) -> str:
    """Return the remedy for a missing method, in words."""
    if not isinstance(agent, Agent):
        return "derive its class from plurispiel.agents.Agent" + ", and define act(self, view)" * (missing == "act")
    methods = [name for name in vars(type(agent)) if callable(getattr(agent, name)) and not name.startswith("__")]
    arguments = "view" if missing == "act" else "public, combo_ids"
    return f"its class has to define {missing}(self, {arguments}){suggestion(missing, methods)}"


def _module_file(spec: AgentSpec) -> Path | None:
    """Return the file of the module that a spec names; None for other specs, or if the module is not found."""
    if not spec.is_foreign or spec.name == "openspiel" or not spec.argument:
        return None
    module_spec = None
    folders: list[str] | None = [*sys.path, str(Path.cwd())]  # a copy: `sys.path` stays unchanged
    for end in [*(k for k, letter in enumerate(spec.name) if letter == "."), len(spec.name)]:
        # `importlib.util.find_spec` would run the packages around the module.
        module_spec = importlib.machinery.PathFinder.find_spec(spec.name[:end], folders)
        if module_spec is None:
            return None  # `make_agent` reports the error
        folders = module_spec.submodule_search_locations
    if module_spec is None or not module_spec.has_location or not module_spec.origin:
        return None
    return Path(module_spec.origin)


def _suggestion(spec: AgentSpec) -> str:
    """Return a hint for the message about a name that neither an agent nor a module has."""
    module, _, name = spec.name.rpartition(".")
    for path, argument in ((spec.name, spec.argument), (module, name)):
        if argument and Path(f"{path}.py").is_file():
            return f", did you mean {f'{path}.py:{argument}'!r}?"
    return suggestion(spec.name, [*BUILT_IN, "openspiel", "tabular", "blueprint", "search", "continual", *PROGRAMS])
