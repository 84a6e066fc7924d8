"""The agents that specs name: how they are made, and whether they play a game."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.base import Agent, RangeAgent
from plurispiel.agents.pokerbots import check_pokerbots_game
from plurispiel.agents.specs import BUILT_IN, COMMANDS, PROGRAMS, AgentSpec, built_in_class, parse_spec
from plurispiel.agents.user_code import call_factory, check_options, factory_in_file, factory_in_module

__all__ = ["game_note", "make_agent", "prepare_stored", "try_stored"]

_METHODS = {"restart": None, "act": Agent.act, "strategy": RangeAgent.strategy}
"""Methods that an agent must define, with the placeholder of each in its base class; only a `RangeAgent` needs
`strategy`."""


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
            argument = "PROGRAM [ARGUMENTS]" if parsed.name in COMMANDS else "FOLDER"
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


def _suggestion(spec: AgentSpec) -> str:
    """Return a hint for the message about a name that neither an agent nor a module has."""
    module, _, name = spec.name.rpartition(".")
    for path, argument in ((spec.name, spec.argument), (module, name)):
        if argument and Path(f"{path}.py").is_file():
            return f", did you mean {f'{path}.py:{argument}'!r}?"
    return suggestion(spec.name, [*BUILT_IN, "openspiel", "tabular", "blueprint", "search", "continual", *PROGRAMS])
