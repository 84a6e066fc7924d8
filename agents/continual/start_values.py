"""Values of a network for the start of a street, for one board and many pairs of ranges."""

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.continual.end_net_leaves import deepest_spr
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, gate, inputs
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.zero_sum import without_gain

__all__ = ["start_values"]


def start_values(
    stored: StoredNet, rules: HoldemRules, board: tuple[int, ...], reach: np.ndarray, state: BettingState
) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of float64[2, n, num_combos], for each seat, pair of ranges and combo.

    The first has counterfactual values in chips of the whole hand. The second has the weight of the other seat's
    compatible hands. If more chips are behind, in pots, than in any situation of the training, the network sees the
    training's maximum.

    Parameters
    ----------
    stored : StoredNet
        A network for the start of the board's street.
    rules : HoldemRules
    board : tuple of int
    reach : float[n, 2, num_combos]
        Pairs of both seats' weights, in any scale. Hands that share a card with the board do not count.
    state : BettingState
        The state before the street's first bet.
    """
    known = canonical_hands(rules, board)
    ordered = ordered_hands(rules, known.board)
    here = np.ascontiguousarray(reach[:, :, known.combos].transpose(1, 0, 2), np.float64)
    totals = here.sum(axis=2, keepdims=True)
    ranges = np.divide(here, totals, out=np.full_like(here, 1.0 / here.shape[2]), where=totals > 0.0)
    masses, down = ordered.checkdown(ranges)
    pot = float(pot_of(state))
    spr = np.full(len(reach), min(chips_behind(state) / pot, deepest_spr(stored.level)))
    bins = bins_of(known.hands, stored.net.num_bins)
    outputs = stored.net.outputs(inputs(bins, ranges, spr, board_features(rules, known.board)))
    added = gate(spr)[:, None] * bins.spread(outputs.astype(np.float64).transpose(1, 0, 2))
    values = without_gain((down + added) * masses, ranges, masses)
    found, matched = (np.zeros((2, len(reach), rules.num_combos)) for _ in range(2))
    found[:, :, known.combos] = pot * values * totals[::-1]
    matched[:, :, known.combos] = masses * totals[::-1]
    return found, matched
