"""The choice of pairings: hands go to neighbours that are close, until they are separated."""

import numpy as np
import pytest

from plurispiel.tournaments.league.allocation import batch_decks, choose_pairing
from plurispiel.tournaments.league.crosstable import Crosstable
from plurispiel.tournaments.league.pairings import Pairing


def table_of(means, groups, sd=1000.0):
    """Return the crosstable of agents whose rates are differences of strengths; `groups` by pair, symmetric."""
    rng = np.random.default_rng(0)
    pairings = {}
    for other in range(len(means)):
        for one in range(other):
            rates = rng.normal(size=int(groups[one, other]))
            rates = means[one] - means[other] + sd * (rates - rates.mean()) / rates.std(ddof=1)
            pairings[one, other] = Pairing(rates, len(rates), True, 1.0, (0, 0), (False, False), "")
    return Crosstable(range(len(means)), pairings)


def spend(strengths, batches, groups=104):
    """Return the groups of each pair after some batches."""
    counts = np.full((len(strengths), len(strengths)), groups)
    for _ in range(batches):
        pair = choose_pairing(table_of(strengths, counts))
        counts[pair] += batch_decks(int(counts[pair]))
        counts[pair[::-1]] = counts[pair]
    np.fill_diagonal(counts, 0)
    return counts


def test_close_neighbours_get_the_hands():
    counts = spend([3000.0, 0.0, -50.0, -3000.0], 12)
    assert counts[1, 2] == counts.max()
    assert counts[1, 2] > 1.5 * counts[0, 1]
    assert counts[0, 3] == 104  # neither is part of the open gap


def test_the_pair_itself_counts_twice():
    """A hand between the two moves both means, one with a third agent moves only one of them."""
    assert choose_pairing(table_of([3000.0, 0.0, -10.0], np.full((3, 3), 104))) == (1, 2)


def test_separated_neighbours_leave_the_hands_to_others():
    strengths = [3000.0, 2900.0, 0.0, -3000.0, -3100.0]
    counts = np.full((5, 5), 104)
    assert set(choose_pairing(table_of(strengths, counts))) in ({0, 1}, {3, 4})
    counts[3, 4] = counts[4, 3] = 200_000
    counts[3:, :3] = counts[:3, 3:] = 200_000
    assert 0 in choose_pairing(table_of(strengths, counts)) or 1 in choose_pairing(table_of(strengths, counts))


def test_more_hands_are_played_even_if_all_are_separated():
    strengths = [30_000.0, 0.0, -30_000.0]
    table = table_of(strengths, np.full((3, 3), 1000))
    assert table.is_separated(0, 1) and table.is_separated(1, 2)
    assert choose_pairing(table) in {(0, 1), (0, 2), (1, 2)}


def test_equal_rates_leave_the_pair_with_fewest_groups():
    groups = np.full((3, 3), 20)
    groups[0, 2] = groups[2, 0] = 12
    assert choose_pairing(table_of([1.0, 1.0, 1.0], groups, sd=0.0)) == (0, 2)


@pytest.mark.parametrize(("groups", "decks"), [(0, 8), (8, 8), (104, 32), (1000, 256)])
def test_batches_grow(groups, decks):
    assert batch_decks(groups) == decks
