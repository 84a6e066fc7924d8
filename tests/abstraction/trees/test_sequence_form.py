"""The sequence form holds the payoffs of the tree, whatever the plans."""

import numpy as np
import pytest

from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.sequence_form import sequence_form
from plurispiel.evaluation.best_response import expected_values

GAMES = [
    "kuhn",
    "kuhn3",
    "leduc",
    "liars_dice(dice_sides=3)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))",
    "first_sealed_auction(max_value=4)",
    "universal_poker(numRounds=3,blind=1 1,stack=4 4,firstPlayer=1 1 1,numSuits=1,numRanks=5,numBoardCards=0 1 1)",
]


def random_strategy(tree, rng):
    strategy = rng.random(tree.num_actions) * (rng.random(tree.num_actions) < 0.7) + 1e-9
    return strategy / np.repeat(np.add.reduceat(strategy, tree.infoset_first[:-1]), np.diff(tree.infoset_first))


def reaches(form, strategy, num_players):
    """Return the plan of a strategy."""
    reach = np.append(strategy, np.ones(num_players))
    for infoset, parent in enumerate(form.infoset_parent):
        reach[form.infoset_first[infoset] : form.infoset_first[infoset + 1]] *= reach[parent]
    return reach


@pytest.mark.parametrize("game", GAMES)
def test_values_are_those_of_the_tree(game):
    tree = flatten(game)
    form = sequence_form(tree)
    row_of_entry = np.repeat(np.arange(len(form.row_sequence)), np.diff(form.entry_first))
    rng = np.random.default_rng(1)
    for _ in range(3):
        strategy = random_strategy(tree, rng)
        reach = reaches(form, strategy, tree.num_players)
        worth = form.entry_payoff * reach[form.row_sequence[row_of_entry]] * reach[form.entry_others].prod(axis=1)
        player = np.searchsorted(form.row_first, row_of_entry, side="right") - 1
        values = np.bincount(player, worth, minlength=tree.num_players)
        np.testing.assert_allclose(values, expected_values(tree, strategy), atol=1e-12)


@pytest.mark.parametrize("game", ["kuhn3", "leduc", "liars_dice(dice_sides=3)"])
def test_rows_and_entries(game):
    tree = flatten(game)
    form = sequence_form(tree)
    num_sequences = tree.num_actions + tree.num_players
    assert form.row_first.tolist() == sorted(form.row_first.tolist())
    owners = np.append(np.repeat(tree.infoset_player, np.diff(tree.infoset_first)), np.arange(tree.num_players))
    for player in range(tree.num_players):
        rows = slice(form.row_first[player], form.row_first[player + 1])
        own = form.row_sequence[rows]
        assert (owners[own] == player).all()
        assert len(set(own.tolist())) == len(own)
        lengths = np.diff(form.entry_first.astype(int))[rows]
        assert (lengths > 0).all() and (np.diff(lengths) >= 0).all()
    assert (form.entry_payoff != 0.0).all()
    assert form.entry_others.max() < num_sequences
    row_of_entry = np.repeat(form.row_sequence, np.diff(form.entry_first))
    cells = np.column_stack([row_of_entry, form.entry_others])
    assert len(np.unique(cells, axis=0)) == len(cells)
    depth = np.zeros(num_sequences, dtype=int)
    for infoset, parent in enumerate(form.infoset_parent):
        assert parent >= tree.num_actions or parent < form.infoset_first[infoset]
        depth[form.infoset_first[infoset] : form.infoset_first[infoset + 1]] = depth[parent] + 1


def test_leduc_is_smaller_than_its_tree():
    """2 x 5,520 ends, less the 1,200 whose showdown is a tie."""
    tree = flatten("leduc")
    assert len(sequence_form(tree).entry_payoff) == 2 * np.count_nonzero(
        tree.payoffs[tree.payoff_id[tree.player == -2], 0]
    )
