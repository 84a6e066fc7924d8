"""The cache of histories: found again, and never believed without looking."""

import json

import numpy as np
import pyspiel
import pytest

from plurispiel.abstraction.machine.artefact import load_artefact, write_artefact
from plurispiel.abstraction.trees import history_cache
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.histories import walk

GAME = "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))
    monkeypatch.setattr(history_cache, "WORTH_KEEPING_S", 0.0)
    walks = []

    def counting_walk(*arguments):
        walks.append(arguments)
        return walk(*arguments)

    monkeypatch.setattr(history_cache, "walk", counting_walk)
    return tmp_path / "trees", walks


def kept_folder(folder):
    (found,) = folder.iterdir()
    return found


def test_found_again(cache):
    folder, walks = cache
    first, again = flatten(GAME), flatten(GAME)
    assert len(walks) == 1
    for field in first.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    manifest = json.loads((kept_folder(folder) / "manifest.json").read_text())
    assert manifest["config"]["game"] == first.game
    with pytest.raises(ValueError, match="too large for a tree: .* the limit is 300"):
        flatten(GAME, max_histories=300)
    assert len(walks) == 1


def test_what_was_quick_is_not_kept(cache, monkeypatch):
    folder, walks = cache
    monkeypatch.setattr(history_cache, "WORTH_KEEPING_S", 3600.0)
    flatten(GAME)
    flatten(GAME)
    assert len(walks) == 2 and not folder.exists()


def test_damage_is_noticed(cache):
    folder, walks = cache
    flatten(GAME)
    path = kept_folder(folder) / "player.npy"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    flatten(GAME)
    assert len(walks) == 2  # and written anew
    flatten(GAME)
    assert len(walks) == 2


@pytest.mark.parametrize("field", ["payoffs", "action", "player"])
def test_another_game_of_the_same_name_is_noticed(cache, field):
    folder, walks = cache
    flatten(GAME)
    kept = load_artefact(kept_folder(folder), "game tree", history_cache.FORMAT_VERSION)
    arrays = {name: np.array(values) for name, values in kept.arrays.items()}
    arrays[field] = arrays[field] + 1
    write_artefact(kept_folder(folder), "game tree", history_cache.FORMAT_VERSION, arrays, kept.config)
    tree = flatten(GAME)
    assert len(walks) == 2
    assert abs(tree.payoffs).max() == 1.0


def test_a_cache_that_cannot_be_written(cache, monkeypatch, tmp_path):
    _, walks = cache
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "file"))
    flatten(GAME)
    flatten(GAME)
    assert len(walks) == 2


def test_games_without_a_string_of_their_own(cache):
    """Games made from data share one string."""
    _, walks = cache
    text = (
        'EFG 2 R "{name}" {{ "A" "B" }}\np "" 1 1 "A" {{ "u" "d" }} 0\nt "" 1 "" {{ {a} {b} }}\nt "" 2 "" {{ 0 0 }}\n'
    )
    trees = [flatten(pyspiel.load_efg_game(text.format(name="g", a=a, b=-a))) for a in (1, 2)]
    assert [tree.payoffs.max() for tree in trees] == [1.0, 2.0] and len(walks) == 2


def test_games_that_differ_in_chance_or_knowledge_only(cache):
    _, walks = cache
    text = (
        'EFG 2 R "g" {{ "A" "B" }}\nc "" 1 "" {{ "h" {p} "t" {q} }} 0\n'
        'p "" 1 1 "" {{ "u" "d" }} 0\nt "" 1 "" {{ 1 -1 }}\nt "" 2 "" {{ 0 0 }}\n'
        'p "" 1 {known} "" {{ "u" "d" }} 0\nt "" 1 "" {{ 1 -1 }}\nt "" 2 "" {{ 0 0 }}\n'
    )
    games = ((0.5, 0.5, 1), (0.25, 0.75, 1), (0.25, 0.75, 2))
    trees = [flatten(pyspiel.load_efg_game(text.format(p=p, q=q, known=known))) for p, q, known in games]
    assert len(walks) == 3
    assert [sorted(set(tree.chance.tolist())) for tree in trees] == [[0.5, 1.0], [0.25, 0.75, 1.0], [0.25, 0.75, 1.0]]
    assert [tree.num_infosets for tree in trees] == [1, 1, 2]
    flatten(pyspiel.load_efg_game(text.format(p=0.25, q=0.75, known=2)))
    assert len(walks) == 3
