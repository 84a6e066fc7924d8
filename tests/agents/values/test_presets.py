import re
from pathlib import Path

import pytest

from plurispiel.agents.values.presets import PRESETS, find_preset


def test_the_document_shows_the_presets():
    text = (Path(__file__).parents[3] / "agents/values/README.md").read_text(encoding="utf-8")
    for name, preset in PRESETS.items():
        row = re.search(rf"^\| `{name}` \| (.*) \|$", text, re.MULTILINE)
        assert row and row[1].replace(",", "").split(" | ") == [str(each) for each in preset]


def test_an_unknown_preset():
    with pytest.raises(ValueError, match="a preset is one of small, two-cores, h200, got 'h20'"):
        find_preset("h20")
