"""The command `ls`."""

import json

import pytest

from plurispiel.abstraction.cards.config import PRESETS as CARD_PRESETS
from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import PRESETS
from plurispiel.abstraction.trees.ladder import LADDER
from plurispiel.agents.blueprint.config import preset_names
from plurispiel.agents.blueprint.library import bundled_blueprints
from plurispiel.agents.openspiel import OPENSPIEL_BOTS
from plurispiel.agents.specs import BUILT_IN
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.usefixtures("home")


def test_lists(capsys):
    def listed(what):
        assert main(["ls", what, "--json"]) == 0
        as_json = json.loads(capsys.readouterr().out)
        assert main(["ls", what]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == len(as_json)
        for line, (name, entry) in zip(lines, as_json.items(), strict=True):
            text = entry if isinstance(entry, str) else entry["text"]
            assert line.startswith(name) and text and text in line
        return as_json

    agents = listed("agents")
    assert {"blueprint", *BUILT_IN} < set(agents)
    assert {f"blueprint:{found.name}" for found in bundled_blueprints()} < set(agents)
    assert {"stdio:PROGRAM", "acpc:PROGRAM", "pokerbots:FOLDER"} < set(agents)
    assert {"FILE.py:CLASS", "MODULE:CLASS", *(f"openspiel:{bot}" for bot in OPENSPIEL_BOTS)} < set(agents)
    games = listed("games")
    assert set(games) == {*LADDER, "leduc-N", "universal_poker", "leduc_poker", "kuhn_poker", "river-spot"}
    sizes = {name: (game["histories"], game["infosets"], game["value"]) for name, game in games.items()}
    assert sizes["kuhn"] == (58, 12, -1 / 18) and sizes["kuhn3"] == (617, 48, None)
    assert sizes["leduc"] == (9_457, 936, -0.085606424078) and sizes["leduc3"] == (1_831_601, 25_800, None)
    assert sizes["holdem-mini"] == (4_349_545, 11_088, None)
    assert sizes["leduc-N"] == sizes["universal_poker"] == (None, None, None)
    presets = listed("presets")
    assert {name: parse_game(presets[name].partition(": ")[2]) for name in PRESETS} == PRESETS
    trained = {f"blueprint train {name}" for name in preset_names()}
    built = {f"abstraction build {name}" for name in CARD_PRESETS}
    assert set(presets) == {*PRESETS, *trained, *built}
    assert presets["abstraction build pluribus"].startswith("169/200/200/200 buckets")
    with pytest.raises(SystemExit) as end:
        main(["ls", "everything"])
    assert end.value.code == 2
