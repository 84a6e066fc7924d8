"""A class is found by its name: no two modules of the package define classes of one name."""

import ast
from collections import Counter

from markdown_blocks import ROOT

PACKAGES = ("abstraction", "agents", "evaluation", "tournaments")


def class_names(text):
    """The names of the classes in a source, which is parsed only if it may have one."""
    nodes = ast.walk(ast.parse(text)) if "class " in text else ()
    return [node.name for node in nodes if isinstance(node, ast.ClassDef)]


def test_class_names_are_unique():
    names = Counter(
        name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in class_names(path.read_text(encoding="utf-8"))
    )
    assert {"HoldemRules", "Agent", "Referee", "TournamentConfig"} <= names.keys()  # one of each package
    assert not [name for name, count in names.items() if count > 1]
