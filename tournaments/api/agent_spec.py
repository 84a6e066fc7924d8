"""The specs of agents that are given to the Python functions as texts or as classes."""

import inspect
from collections.abc import Iterable

from plurispiel.agents.specs import BUILT_IN, split_specs

__all__ = ["agent_spec", "agent_specs"]


def agent_spec(agent: object) -> str:
    """Return the spec of an agent.

    A text is returned unchanged. The spec of a built-in class is its short name, such as ``call``. A class in a module
    of a package has the spec ``PACKAGE.MODULE:CLASS``, and any other class ``FILE.py:CLASS``.

    Raises
    ------
    ValueError
        If the agent is neither a text nor a class, or is a class that other processes cannot import.

    >>> from plurispiel.agents.baselines.simple import CallAgent
    >>> agent_spec(CallAgent), agent_spec("my_bot.py:MyBot")
    ('call', 'my_bot.py:MyBot')
    """
    if isinstance(agent, str):
        return agent
    if not isinstance(agent, type):
        raise ValueError(
            f"an agent is a spec or a class, got an object of the type {type(agent).__name__}; each seat and process "
            "builds its own agent: give FILE.py:CLASS"
        )
    name, module = agent.__qualname__, agent.__module__
    for known, place in BUILT_IN.items():
        if place == f"{module}:{name}":
            return known
    if module == "__main__" or not name.isidentifier():
        # Importing the file of a running script would run the script, and its tournament, again.
        raise ValueError(
            f"{name} cannot be imported by other processes; write it to a file (in a notebook with %%writefile) and "
            f"give FILE.py:{name}"
        )
    if "." in module:
        return f"{module}:{name}"
    try:
        return f"{inspect.getfile(agent)}:{name}"
    except TypeError:  # a class of the interpreter, such as `int`
        raise ValueError(f"{name} is no agent: its module has no Python file; give FILE.py:CLASS") from None


def agent_specs(agents: object, name: str) -> list[str]:
    """Return the specs of agents: a text (`split_specs`), a class, or an iterable of texts and classes.

    Raises
    ------
    ValueError
        If `agents`, which the message calls `name`, are of another type, or as in `split_specs` and `agent_spec`.
    """
    if isinstance(agents, str):
        return split_specs(agents)
    if isinstance(agents, type):
        return [agent_spec(agents)]
    if not isinstance(agents, Iterable):
        raise ValueError(f"{name} must be a text or a list of specs and classes, got {agents!r}")
    return list(map(agent_spec, agents))
