"""A class is found by its name: no two modules of the package define classes of one name."""

import re
from collections import Counter

from markdown_blocks import ROOT

PACKAGES = ("abstraction", "agents", "evaluation", "tournaments")


def test_class_names_are_unique():
    names = Counter(
        name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r"^ *class (\w+)[:(\[]", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {"HoldemRules", "Agent", "Referee", "TournamentConfig"} <= names.keys()  # one of each package
    assert not [name for name, count in names.items() if count > 1]
