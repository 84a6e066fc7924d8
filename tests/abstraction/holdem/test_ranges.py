"""Ranges as text."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import (
    CLASS_NAMES,
    class_grid,
    combo_text,
    hand_class,
    parse_range,
    write_range,
)
from plurispiel.abstraction.holdem.rules import HUNL


def classes(text):
    """Return the names of the classes in a range."""
    names = {CLASS_NAMES[row][column] for row, column in map(hand_class, np.flatnonzero(parse_range(text)).tolist())}
    return sorted(names)


@pytest.mark.parametrize(
    "text, combos",
    [
        ("AA", 6),
        ("AKs", 4),
        ("AKo", 12),
        ("AK", 16),
        ("KA", 16),
        ("AhKd", 1),
        ("TT+", 30),
        ("ATs+", 16),
        ("QTo+", 24),
        ("77-44", 24),
        ("44-77", 24),
        ("A5s-A2s", 16),
        ("T9s-54s", 24),
        ("86s-64s", 12),
        ("random", 1326),
        ("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32", 1326),
        ("AA KK\nQQ,", 18),
    ],
)
def test_counts(text, combos):
    assert np.count_nonzero(parse_range(text)) == combos


def test_classes_and_weights():
    assert classes("77-55") == ["55", "66", "77"]
    assert classes("A3s-AQs") == sorted(f"A{kicker}s" for kicker in "3456789TJQ")
    assert classes("87o-65o") == ["65o", "76o", "87o"]
    weights = parse_range("AA:0.25,AsKs:0,KhAh:1e-3")
    assert weights[HUNL.combo_id(parse_cards("AsAd"))] == 0.25
    assert weights[HUNL.combo_id(parse_cards("AhKh"))] == 1e-3
    assert weights.sum() == pytest.approx(1.501)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "at least one combo"),
        ("AA:0", "at least one combo"),
        ("AA,AhAd:0.5", "AhAd appears twice"),
        ("AKs,ATs+", "appears twice"),
        ("AA:1.5", "weight in a range"),
        ("AA:x", "weight in a range"),
        ("AA:nan", "weight in a range"),
        ("AAs", "neither suited"),
        ("A1", "written like"),
        ("AhAh", "card appears twice"),
        ("AKs-QJo", "no classes between"),
        ("AKs-T8s", "no classes between"),
        ("AA-AT", "no classes between"),
        ("Random+", "written like"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(ValueError, match=message):
        parse_range(text)


def test_grid():
    assert (CLASS_NAMES[0][0], CLASS_NAMES[0][1], CLASS_NAMES[1][0], CLASS_NAMES[12][12]) == ("AA", "AKs", "AKo", "22")
    values = np.arange(1326.0)
    weights = parse_range("AA,KQs:0.5")
    grid = class_grid(values, weights)
    assert grid[0, 0] == pytest.approx(values[np.flatnonzero(parse_range("AA"))].mean())
    assert grid[1, 2] == pytest.approx(values[np.flatnonzero(parse_range("KQs"))].mean())
    assert np.isnan(grid).sum() == 167
    assert class_grid(np.ones((1326, 2)), weights).shape == (13, 13, 2)


def test_every_combo_has_one_class_and_one_name():
    names = [combo_text(combo) for combo in range(1326)]
    assert len(set(names)) == 1326
    for combo in range(1326):
        row, column = hand_class(combo)
        assert names[combo][0::2] == CLASS_NAMES[row][column][:2]
        assert (CLASS_NAMES[row][column][2:] == "s") == (names[combo][1] == names[combo][3])


@pytest.mark.parametrize(
    "text, written",
    [
        ("random", "random"),
        ("AA,KK,QQ", "QQ+"),
        ("22,33,55", "55,33-22"),
        ("AKs,AQs,A5s,A4s,A3s:0.5", "AQs+,A5s-A4s,A3s:0.5"),
        ("AK", "AKs,AKo"),
        ("AhKd,32o", "AhKd,32o"),
        ("AhKd:0.25,AsKs", "AsKs,AhKd:0.25"),
        ("QQ:0.0000004,JJ", "JJ"),
    ],
)
def test_ranges_are_written_in_the_usual_way(text, written):
    assert write_range(parse_range(text)) == written


def test_a_written_range_is_read_as_the_same_weights():
    rng = np.random.default_rng(5)
    for density in (0.02, 0.3, 0.9, 1.0):
        weights = np.round(rng.random(1326), 6) * (rng.random(1326) < density)
        whole = np.repeat(np.round(rng.random(1326 // 6 + 1), 1), 6)[:1326]
        for each in (weights, whole):
            assert (parse_range(write_range(each)) == each).all()
    assert write_range(np.zeros(1326)) == ""
