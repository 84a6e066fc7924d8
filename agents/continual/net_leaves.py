"""Values of a network at the ends of a street, in place of a solver of the next street."""

from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.continual.leaf_values import Boundary, CheckdownLeaves, Leaves, ValueFunction, board_chance
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, gate, inputs
from plurispiel.agents.values.levels import chips_behind
from plurispiel.agents.values.net_file import StoredNet, load_net
from plurispiel.agents.values.zero_sum import without_gain

__all__ = ["NetLeaves", "net_leaves"]


class NetLeaves:
    """The values that a network gives for every board of the next street.

    Parameters
    ----------
    stored : StoredNet
        A network for the start of the next street.
    boundary : Boundary

    Raises
    ------
    ArtefactRefused
        If the network is not for the start of the next street of this game.
    """

    num_solves = 0
    num_iterations = 0

    def __init__(self, stored: StoredNet, boundary: Boundary):
        rules = boundary.rules
        _require(stored, rules, boundary.street + 1)
        self._net = stored.net
        self._checkdown = CheckdownLeaves(boundary)
        self.boards = self._checkdown.boards
        self._pots = boundary.pots()
        behind = np.zeros(len(self._pots))
        for decision in boundary.betting.decisions:
            behind[decision.root] = chips_behind(BettingState(rules, np.array(decision.state, np.int64)))
        self._spr = np.divide(behind, self._pots, out=np.zeros_like(behind), where=self._pots > 0.0)
        self._chance = board_chance(rules, len(boundary.board), len(self.boards[0]))
        numbers = np.empty(rules.num_combos, np.int64)
        numbers[boundary.hands.combos] = np.arange(len(boundary.hands.combos))
        self._hands = [canonical_hands(rules, board) for board in self.boards]
        self._places = [numbers[each.combos] for each in self._hands]
        self._bins = [bins_of(each.hands, self._net.num_bins) for each in self._hands]
        self._features = [board_features(rules, each.board) for each in self._hands]

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values of all hands; see `Leaves`."""
        num_ends, spr = reach.shape[1], self._spr
        found = self._checkdown.values(reach)
        seen, rows = [], []
        for each, places, bins, features in zip(self._hands, self._places, self._bins, self._features, strict=True):
            here = reach[:, :, places]
            totals = here.sum(axis=2, keepdims=True)
            # The network needs a range of each seat, so a seat without reach gets equal weights. The seat's values have
            # the other seat's reach as their weight, so they still enter the seat's regrets.
            ranges = np.divide(here, totals, out=np.full_like(here, 1.0 / here.shape[2]), where=totals > 0.0)
            seen.append((ranges, fold_mass(each.hands, ranges[::-1]), totals))
            rows.append(inputs(bins, ranges, spr, features))
        outputs = self._net.outputs(np.concatenate(rows)).astype(np.float64)
        for number, (ranges, masses, totals) in enumerate(seen):
            some = outputs[number * num_ends : (number + 1) * num_ends].transpose(1, 0, 2)
            residuals = gate(spr)[:, None] * self._bins[number].spread(some) * masses
            scale = self._chance * self._pots[:, None] * totals[::-1]
            found[:, :, number, self._places[number]] += scale * without_gain(residuals, ranges, masses)
        return found


def net_leaves(folder: Path, rules: HoldemRules) -> ValueFunction:
    """Return the value function of a stored network for the second street of a game.

    Raises
    ------
    ArtefactRefused
        If the folder holds no sound network for it.
    """
    stored = load_net(folder)
    _require(stored, rules, 1)

    def leaves(boundary: Boundary) -> Leaves:
        return NetLeaves(stored, boundary)

    return leaves


def _require(stored: StoredNet, rules: HoldemRules, street: int) -> None:
    level = stored.level
    if level.rules != rules or level.street != street or level.teacher is not None:
        raise ArtefactRefused(
            f"the network is for the level {level.name}, not for street {street} of this game (counted from 0); give a"
            " network that was trained for it"
        )
