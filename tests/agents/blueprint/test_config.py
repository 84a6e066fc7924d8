"""Configurations of blueprints: what they mean, and what is refused."""

import math

import pytest

from plurispiel.abstraction.actions.tree import tree_size
from plurispiel.agents.blueprint.config import (
    MenuConfig,
    config_from_dict,
    preset_names,
    read_blueprint_config,
    read_preset,
)


def test_presets_are_what_they_say():
    assert preset_names() == [
        "headsup",
        "headsup-compact",
        "headsup-fine",
        "headsup-pushfold",
        "headsup-refined",
        "headsup-wide",
        "holdem-flop",
        "holdem-mini",
        "kuhn3",
        "leduc",
        "pluribus",
        "sixmax",
        "sixmax-compact",
        "sixmax-wide",
        "threemax",
    ]
    for name in preset_names():
        config = read_preset(name)
        assert config.name == name and config.text
        assert config_from_dict(config.as_dict()) == config
    assert read_preset("headsup").rules.stacks == (20_000, 20_000)
    assert read_preset("sixmax").rules.num_seats == 6
    cells = tree_size(read_preset("sixmax").rules, read_preset("sixmax").game_menu).cells((169, 200, 200, 200))
    assert 1e9 < cells < 16 * 2**30 / 7


def test_streets_without_sizes_have_those_before():
    menu = MenuConfig(("1p", "allin"), turn=("2p",), multiway={"flop": ("0.5p",)})
    preflop, flop, turn, river = menu.game_menu.streets
    assert preflop.raises == flop.raises == ("1p", "allin") and turn.raises == river.raises == ("2p",)
    assert preflop.multiway is None and flop.multiway == ("0.5p",) and turn.multiway is None


def test_bad_settings_are_refused_in_one_line(tmp_path):
    path = tmp_path / "mine.toml"
    good = {"name": "mine", "seats": 2, "iterations": 10, "menu": {"preflop": ["allin"]}}
    assert config_from_dict(good).menu == MenuConfig(("allin",))
    for change, message in (
        ({"seats": 11}, "a table has 2..10 seats, got 11"),
        ({"seats": 0}, "either a game"),
        ({"game": "leduc"}, "either a game"),
        ({"iterations": 0}, "iterations are 1 to"),
        ({"iterations": "many"}, "iterations is of type int, got 'many'"),
        ({"exact": 1}, "exact is of type bool, got 1"),
        ({"algorithm": "vanilla"}, "algorithm is external or public, got 'vanilla'"),
        ({"algorithm": ["public"]}, "algorithm is of type str"),
        ({"algorithm": "public", "seats": 3}, "algorithm = 'public' is for two seats, got 3; take 'external'"),
        ({"prune_from": 1.5}, "prune_from is a share of the run"),
        ({"prune_below_bb": 5}, "prune_below_bb is a negative regret"),
        ({"prune_below_bb": math.nan}, "prune_below_bb is a negative regret, or 0, got nan"),
        ({"stack_bb": 0.5}, "stack_bb is 1 to 10,000"),
        ({"menu": None}, "the bet sizes are missing"),
        ({"menu": {}}, r"\[menu\] needs the setting preflop"),
        ({"menu": {"preflop": ["0.5x"]}}, "bet sizes are written like"),
        ({"menu": {"preflop": 3}}, "is a list of sizes"),
        ({"menu": {"preflop": None}}, "preflop is a list of sizes"),
        ({"menu": {"preflop": ["allin"], "all_in_share": 2.0}}, "all_in_share is a share"),
        ({"menu": {"preflop": ["allin"], "multiway": {"fifth": ["1p"]}}}, "multiway and callers are given for preflop"),
        ({"speed": 3}, "a blueprint has the settings"),
        ({"seed": -1}, "seed is a whole number from 0"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            config_from_dict(good | change)
        assert "\n" not in str(caught.value)
    path.write_text("iterations = 3\ngame = 'nogame'\n")
    with pytest.raises(ValueError, match=r"mine.toml: unknown game 'nogame'"):
        read_blueprint_config(path)
