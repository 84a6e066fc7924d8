"""The files, programs and stored strategies that define the agents of specs, and their digests."""

import hashlib
import importlib.machinery
import sys
from pathlib import Path

from plurispiel.agents.pokerbots import find_pokerbot
from plurispiel.agents.programs import Program, find_program
from plurispiel.agents.specs import COMMANDS, AgentSpec, parse_spec

__all__ = ["agent_digest", "agent_file", "agent_files", "program_of"]


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
    find = find_program if parsed.name in COMMANDS else find_pokerbot
    try:
        return find(parsed.argument, dict(parsed.options))
    except ValueError as error:
        raise ValueError(f"{error} (agent {parsed.text!r})") from None


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
