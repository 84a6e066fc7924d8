"""The share of a range that goes on, and which hands it is."""

import numpy as np
import pytest

from plurispiel.agents.blueprint.defence import call_chances, defend_by_order, strongest


def random_range(rng, n=300, levels=9):
    """Return raises, chances, equity and reach; with few levels, many hands are equal."""
    raises = rng.integers(0, 3, n) * 0.2
    return raises, rng.integers(0, levels, n) / levels, rng.integers(0, levels, n) / levels, rng.random(n)


@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_met(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        raises, chances, equity, reach = random_range(rng)
        reach[rng.random(len(reach)) < 0.3] = 0.0
        share = float(rng.random())
        factor, calls = defend_by_order(raises, chances, equity, reach, share)
        goes_on = factor * raises + calls
        assert 0.0 <= factor <= 1.0 and calls.min() >= 0.0 and goes_on.max() <= 1.0 + 1e-12
        assert reach @ goes_on == pytest.approx(share * reach.sum(), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_stronger_hands_call_first_and_one_class_mixes(seed):
    rng = np.random.default_rng(seed)
    raises, chances, equity, reach = random_range(rng)
    factor, calls = defend_by_order(raises, chances, equity, reach, 0.6)
    assert factor == 1.0
    part = calls / (1.0 - raises)
    order = np.lexsort((equity, chances))
    assert (np.diff(part[order]) >= -1e-12).all()
    mixed = (part > 1e-12) & (part < 1.0 - 1e-12)
    assert len(set(zip(chances[mixed], equity[mixed], strict=True))) == 1


def test_by_hand():
    # Four hands of equal weight: one raises half of the time, the best call first.
    raises, chances = np.array([0.5, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.3, 0.3])
    factor, calls = defend_by_order(raises, chances, np.array([0.1, 0.5, 0.2, 0.4]), np.ones(4), 0.5)
    assert factor == 1.0 and calls.tolist() == [0.0, 1.0, 0.0, 0.5]
    # Raises alone exceed a share of a tenth.
    factor, calls = defend_by_order(raises, chances, np.zeros(4), np.ones(4), 0.1)
    assert factor == pytest.approx(0.8) and not calls.any()
    # Nothing and everything.
    assert not defend_by_order(np.zeros(4), chances, np.zeros(4), np.ones(4), 0.0)[1].any()
    assert defend_by_order(np.zeros(4), chances, np.zeros(4), np.ones(4), 1.0)[1].tolist() == [1.0] * 4
    # Hands that are never held play as the hands around them.
    taken = strongest(np.array([3.0, 2.0, 1.0, 0.0]), np.zeros(4), np.array([0.0, 1.0, 0.0, 1.0]), 1.0)
    assert taken.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_no_hand_calls_with_a_probability_below_0():
    above = 0.14285714498588012 + 0.85714285501412  # a row of two raises
    assert above > 1.0
    raises, chances = np.array([above, 0.5, 0.0]), np.array([1.0, 0.5, 0.0])
    factor, calls = defend_by_order(raises, chances, np.zeros(3), np.ones(3), 0.6)
    assert factor == 1.0 and calls.tolist() == pytest.approx([0.0, 0.3, 0.0]) and calls.min() >= 0.0


def test_chances_of_a_call():
    rows = np.array([[0.2, 0.6, 0.2], [0.0, 0.0, 1.0], [0.9, 0.0, 0.1]])
    assert call_chances(rows, 1).tolist() == pytest.approx([0.75, 1.0, 0.0])
