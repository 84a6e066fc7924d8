"""Loads classes and functions from a user's Python files and modules.

Such code is from outside this package: it may raise anything, also while it is imported.
"""

import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from plurispiel.abstraction.machine.suggestion import suggestion

__all__ = ["call_factory", "check_options", "factory_in_file", "factory_in_module", "search_in"]

Factory = Callable[..., Any]


def search_in(folder: Path | str) -> None:
    """Let Python search a folder for modules, after all other folders."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def factory_in_file(file: str, name: str, spec: str) -> Factory:
    """Run a Python file, and return one of its classes or functions.

    `spec` is the agent's spec, for messages.

    Raises
    ------
    ValueError
        If there is no such file, class or function, or the file raises.
    """
    path = Path(file)
    if not path.is_file():
        neighbours = [str(other) for other in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise ValueError(f"no file {file!r}{suggestion(str(path), neighbours)} (agent {spec!r})")
    module_spec = importlib.util.spec_from_file_location(f"plurispiel_agent_{path.stem}", path)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(f"{file!r} is not a Python file (agent {spec!r})")
    if isinstance(module_spec.loader, importlib.machinery.SourceFileLoader):
        module_spec.loader = _SourceLoader(module_spec.name, str(path))
    search_in(path.resolve().parent)
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a contestant's file may raise anything
        raise ValueError(f"{file} cannot be loaded: {_trouble(error)}") from error
    return _factory(module, file, name, spec)


def factory_in_module(module: str, name: str, spec: str, hint: str) -> Factory:
    """Import a module, also from the current folder, and return one of its classes or functions.

    `spec` is the agent's spec and `hint` the end of the message if there is no such module.

    Raises
    ------
    ValueError
        If there is no such module, class or function, or the module raises.
    """
    search_in(Path.cwd())
    if not all(map(str.isidentifier, module.split("."))):
        raise ValueError(f"no agent or module {module!r}{hint}")
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise ValueError(f"no agent or module {module!r}: {error}{hint}") from None
        raise ValueError(f"{module} cannot be imported: {_trouble(error)}") from error
    return _factory(found, module, name, spec)


def check_options(factory: Factory, options: Mapping[str, str], spec: str, *given: str) -> None:
    """Check that a class or function takes the arguments named by `given`, and after them the options of a spec.

    Raises
    ------
    ValueError
        If the class or function does not take them, or its signature is unknown.
    """
    try:
        signature = inspect.signature(factory)
    except ValueError:
        raise ValueError(f"agent {spec!r} is a class or function whose arguments Python cannot tell") from None
    try:
        signature.bind(*given, **options)
    except TypeError:
        names = list(signature.parameters)
        if len(names) < len(given):
            raise ValueError(f"agent {spec!r} has to take the argument {given[0]}") from None
        names = names[len(given) :]
        takes = f"takes the options {', '.join(names)}" if names else "takes no options"
        meant = suggestion(next((name for name in options if name not in names), ""), names)
        raise ValueError(f"agent {spec!r} {takes}, got {', '.join(options) or 'none'}{meant}") from None


def call_factory(factory: Factory, options: Mapping[str, str], spec: str, *given: object) -> Any:
    """Return the result of a class or function for the arguments `given` and the options of a spec.

    Options that are numbers become int or float.

    Raises
    ------
    ValueError
        If the class or function raises.
    """
    try:
        return factory(*given, **{key: _value(text) for key, text in options.items()})
    except (Exception, SystemExit) as error:  # a contestant's constructor may raise anything
        raise ValueError(f"agent {spec!r} cannot be built: {_trouble(error)}") from error


def _factory(module: ModuleType, place: str, name: str, spec: str) -> Factory:
    factory = getattr(module, name, None)
    if factory is None:
        own = [each for each, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
        there = suggestion(name, own) or f"; it has {', '.join(own)}" * bool(own)
        raise ValueError(f"{place} has no class {name!r}{there} (agent {spec!r})")
    if not callable(factory):
        raise ValueError(f"{name!r} in {place} is not a class (agent {spec!r})")
    return factory


def _trouble(error: BaseException) -> str:
    """Return the message of an exception in an agent's code, with file and line."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:  # even the text of a contestant's exception may raise
        text = ""
    line = _source_line(error)
    return type(error).__name__ + f": {text}" * bool(text) + f" ({line})" * bool(line)


def _source_line(error: BaseException) -> str:
    """Return the file and line of an error; if a library raised the error, those of the call of the library."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{os.path.basename(error.filename)}, line {error.lineno}"
    _, *frames = traceback.extract_tb(error.__traceback__)  # the first frame is the call in this module
    frames = [frame for frame in frames if not frame.filename.startswith("<")]
    libraries = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib"))
    frames = [frame for frame in frames if not frame.filename.startswith(libraries)] or frames
    return f"{os.path.basename(frames[-1].filename)}, line {frames[-1].lineno}" if frames else ""


def _value(text: str) -> int | float | str:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Loads an agent's file, never its bytecode.

    If an edited file has the same size and was saved in the same second, Python would run its old bytecode.
    """

    def path_stats(self, path: str) -> Mapping[str, Any]:
        """Raise OSError: without a time of change, bytecode is neither read nor written."""
        raise OSError(f"no bytecode of {path} is used")
