"""A digest of the code that an agent plays by.

If an upgrade of this package changes the digest, the agent counts as another agent. The code is that of the agent's
module and of all modules of this package that it imports, directly or not, with the ``.npy`` files in their folders.
Comments count, docstrings do not. A package's ``__init__`` file counts where a module imports from it. Other packages,
such as numpy, do not count.
"""

import ast
import functools
import hashlib
from pathlib import Path

from plurispiel.agents.specs import BUILT_IN, parse_spec

_STORED = {
    "tabular": "plurispiel.agents.tabular.solution",
    "blueprint": "plurispiel.agents.blueprint.agent",
    "search": "plurispiel.agents.search.agent",
    "continual": "plurispiel.agents.continual.agent",
}
"""The modules of the agents for which `AgentSpec.is_stored` is true."""

_ROOT = Path(__file__).absolute().parents[1]
_TABLES = "*.npy"
_PACKAGE = __name__.split(".")[0]
"""The name of the package. Its topmost ``__init__`` file does not count: it holds only the version."""


def own_code_digest(spec: str) -> str:
    """Return a hash of the code that an agent plays by, of 12 hexadecimal digits; empty for agents from outside.

    Raises
    ------
    ValueError
        If the spec is malformed.

    >>> own_code_digest("call") != own_code_digest("tag"), own_code_digest("my_bot.py:MyBot")
    (True, '')
    """
    name = parse_spec(spec).name
    module = BUILT_IN[name].partition(":")[0] if name in BUILT_IN else _STORED.get(name)
    return "" if module is None else _module_digest(module)


def imported_modules(module: str) -> dict[str, Path]:
    """Return the files of a module and of all modules of this package that it imports, directly or not, by name."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = None if name in found or name == _PACKAGE else _file(name)
        if path is not None:
            found[name] = path
            waiting += _source(path)[1]
    return dict(sorted(found.items()))


@functools.cache
def _module_digest(module: str) -> str:
    modules = imported_modules(module)
    digest = hashlib.sha256()
    for name, path in modules.items():
        digest.update(f"{name}\0".encode() + _source(path)[0] + b"\0")
    for folder in sorted({path.parent for path in modules.values()}):
        for table in sorted(folder.glob(_TABLES)):
            digest.update(f"{table.name}\0".encode() + table.read_bytes())
    return digest.hexdigest()[:12]


@functools.cache
def _source(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return a file without its docstrings, and the names that it imports from this package."""
    content = path.read_bytes()
    lines = content.splitlines()
    imported = []
    for node in ast.walk(ast.parse(content)):
        match node:
            case ast.ImportFrom(module=str(module)) if _is_ours(module):
                imported += [module, *(f"{module}.{alias.name}" for alias in node.names)]
            case ast.Import():
                imported += [alias.name for alias in node.names if _is_ours(alias.name)]
            case ast.Module() | ast.ClassDef() | ast.FunctionDef():
                if ast.get_docstring(node, clean=False) is not None:
                    first = node.body[0]
                    for number in range(first.lineno, (first.end_lineno or first.lineno) + 1):
                        lines[number - 1] = b""
    return b"\n".join(filter(None, lines)), tuple(imported)


def _file(module: str) -> Path | None:
    """Return the file of a module of this package; None if there is no such module, as for the name of a class."""
    path = _ROOT.joinpath(*module.split(".")[1:])
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == _PACKAGE
