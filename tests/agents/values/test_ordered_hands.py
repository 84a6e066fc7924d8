from itertools import combinations

import numpy as np
import pytest

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.hand_ranks import hand_rank
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.abstraction.holdem.showdown import showdown_margin
from plurispiel.agents.values.ordered_hands import ordered_hands

TURN = tuple(sorted(parse_cards("QsJh2h7c")))


def test_a_complete_board():
    found = ordered_hands(LEDUC, (4,))
    assert len(found.run_outs) == 1 and found.chance == 1.0
    assert found.hands.groups.tolist() == [0, 2, 4, 5]
    assert LEDUC.combos[found.hands.combos[-1]][0] == 5  # the pair is the strongest


def test_leduc_before_the_board():
    """Jacks, queens and kings; a hand's equity against another is over the four boards that are left."""
    found = ordered_hands(LEDUC, ())
    assert (LEDUC.combos[found.hands.combos][:, 0] // 4).tolist() == [0, 0, 1, 1, 2, 2]
    assert found.hands.groups.tolist() == [0, 2, 4, 6]
    assert len(found.run_outs) == 6 and found.chance == 0.25
    ranges = np.zeros((2, 6))
    ranges[0, 0], ranges[1, 4] = 1.0, 1.0  # a jack against a king
    masses, evs = found.checkdown(ranges)
    np.testing.assert_array_equal(masses[0], [1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    # A jack wins if the other jack comes; a queen too if a queen comes; the other king ties.
    np.testing.assert_allclose(evs[0], [-0.25, -0.25, -0.25, -0.25, 0.0, 0.0])


@pytest.mark.parametrize("seed", range(3))
def test_a_turn_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    found = ordered_hands(HUNL, TURN)
    places = np.empty(1326, np.int64)
    places[found.hands.combos] = np.arange(1128)
    ranges = rng.random((2, 1128))
    masses, evs = found.checkdown(ranges)
    combo = int(rng.choice(found.hands.combos))
    own = HUNL.combos[combo].tolist()
    left = np.setdiff1d(HUNL.cards, [*TURN, *own])
    others = np.array(list(combinations(left.tolist(), 2)))
    weights = ranges[1, places[[HUNL.combo_id(tuple(cards)) for cards in others.tolist()]]]
    won, uniform = 0.0, 0
    for river in left.tolist():
        free = (others != river).all(axis=1)
        ranks = hand_rank(np.column_stack([others[free], np.tile([*TURN, river], (free.sum(), 1))]).astype(np.uint8))
        mine = hand_rank(np.array([[*own, *TURN, river]], np.uint8))[0]
        wins = np.sign(mine.astype(np.int64) - ranks.astype(np.int64))
        won, uniform = won + (wins * weights[free]).sum(), uniform + wins.sum()
    np.testing.assert_allclose(masses[0, places[combo]], weights.sum())
    np.testing.assert_allclose(evs[0, places[combo]], won / 44.0 / 2.0 / weights.sum())
    # Its group has this equity against all hands alike, and hands below it have less.
    margins = 2.0 * found.checkdown(np.ones((2, 1128))).evs[0] * 1035.0 * 44.0
    group = np.searchsorted(found.hands.groups, places[combo], side="right") - 1
    here = slice(found.hands.groups[group], found.hands.groups[group + 1])
    np.testing.assert_allclose(margins[here], uniform)
    assert (margins[: here.start] < uniform - 0.5).all() and (margins[here.stop :] > uniform + 0.5).all()


def test_a_flop_checked_down_is_the_mean_of_its_turns():
    """A matrix of all pairs of hands, against the complete boards one by one."""
    found = ordered_hands(HUNL, parse_cards("QsJh2h"))
    ranges = np.random.default_rng(1).random((2, 3, 1176))
    masses, evs = found.checkdown(ranges)
    margins = np.zeros(ranges.shape)
    for run_out in found.run_outs:
        margins[..., run_out.places] += showdown_margin(run_out.hands, ranges[::-1][..., run_out.places])
    np.testing.assert_allclose(evs, margins * found.chance / 2.0 / masses, atol=1e-6)
