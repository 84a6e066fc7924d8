import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.agents.continual.leaf_values import Boundary, CheckdownLeaves, Noise, NoisyLeaves

CARDS = LEDUC.cards.tolist()


@pytest.fixture(scope="module")
def boundary():
    return Boundary(LEDUC, 0, (), street_betting(BettingState(LEDUC))[1], rank_hands(LEDUC, ()))


@pytest.fixture
def reach():
    return np.random.default_rng(1).random((2, 5, 6))


def strength(card, board):
    return 100 * (card // 4 == board // 4) + card // 4


def matching(boundary, reach):
    """The mass that each hand faces, by plain loops: float64[2, E, B, H]."""
    combos = boundary.hands.combos
    found = np.zeros((2, 5, 6, 6))
    for seat in range(2):
        for b in range(6):
            for h, g in np.ndindex(6, 6):
                if len({b, combos[h], combos[g]}) == 3:
                    found[seat, :, b, h] += reach[1 - seat, :, g] / 4.0
    return found


def test_checkdown(boundary, reach):
    leaves = CheckdownLeaves(boundary)
    combos, pots = boundary.hands.combos, boundary.pots()
    assert pots.tolist() == [2, 6, 10, 6, 10] and leaves.boards == [(card,) for card in CARDS]
    expected = np.zeros((2, 5, 6, 6))
    for seat in range(2):
        for b, h, g in np.ndindex(6, 6, 6):
            if len({b, combos[h], combos[g]}) == 3:
                own, other = (strength(CARDS[combos[each]], CARDS[b]) for each in (h, g))
                expected[seat, :, b, h] += np.sign(own - other) * pots / 2.0 * reach[1 - seat, :, g] / 4.0
    np.testing.assert_allclose(leaves.values(reach), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["fixed", "fresh", "ranges"])
def test_noise(boundary, reach, kind):
    """The errors have the size that was asked for, and sum to nothing over both seats."""
    plain = CheckdownLeaves(boundary).values(reach)
    masses = matching(boundary, reach)
    errors, first = [], None
    for seed in range(30):
        noisy = NoisyLeaves(CheckdownLeaves(boundary), boundary, Noise(0.1, kind, seed))
        found = noisy.values(reach)
        np.testing.assert_allclose((reach[:, :, None] * found).sum(axis=(0, 3)), 0.0, atol=1e-12)
        errors.append(((found - plain) / boundary.pots()[:, None, None])[masses > 0.0] / masses[masses > 0.0])
        again = noisy.values(reach)
        assert np.array_equal(found, again) == (kind != "fresh")
        first = found if first is None else first
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(0.1, rel=0.15)  # the zero sum takes a twelfth
    same = NoisyLeaves(CheckdownLeaves(boundary), boundary, Noise(0.1, kind, 0))
    np.testing.assert_array_equal(same.values(reach), first)


def test_fixed_noise_belongs_to_a_public_state(boundary, reach):
    """The same end has the same error in a lookahead that begins later."""
    later = BettingState(LEDUC)
    line = ((0, 1, 0), (1, 3, 0))
    for _, action, _ in line:
        later.apply(action)
    after = Boundary(LEDUC, 0, (), street_betting(later, line)[1], boundary.hands)
    places = [boundary.lines().index(each) for each in after.lines()]
    assert len(places) == 2
    noise = Noise(0.1, "fixed", 3)
    whole = NoisyLeaves(CheckdownLeaves(boundary), boundary, noise).values(reach)
    part = NoisyLeaves(CheckdownLeaves(after), after, noise).values(reach[:, places])
    np.testing.assert_allclose(part, whole[:, places], atol=1e-12)
