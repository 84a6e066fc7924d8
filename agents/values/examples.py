"""A few unseen situations with three values for each hand: the network's, the exact one, and that of checking down."""

from typing import NamedTuple

import numpy as np

from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.drawn_situation import DrawnSituation, draw_situation
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.agents.values.ordered_hands import OrderedHands, ordered_hands
from plurispiel.agents.values.solved_situation import solve_exactly
from plurispiel.agents.values.validation import STACKS, net_evs

__all__ = ["Example", "examples"]

_SEED, _FIRST = 1, 1_000_000
"""The seed and the first number of the situations. Data sets have fewer situations than this number, as a rule. So an
example is not among the situations that measured a network."""

_MOST_DRAWN = 60


class Example(NamedTuple):
    """A situation and the values of its hands, in pots.

    Attributes
    ----------
    ordered : OrderedHands
        The hands, in the order of all arrays.
    spr : float
        Chips behind, in pots.
    counted : bool[2, num_hands]
        Whether a hand is compatible with any hand of the other seat's range. The values of other hands are 0.
    net, exact, checked_down : float64[2, num_hands]
    """

    ordered: OrderedHands
    spr: float
    counted: np.ndarray
    net: np.ndarray
    exact: np.ndarray
    checked_down: np.ndarray


def examples(stored: StoredNet, count: int = 3) -> list[Example]:
    """Return unseen situations of different depth, solved exactly, the fewest chips behind first.

    All networks of a level get the same situations: the first of each stratum by chips behind (`STACKS`), without the
    shallowest strata if there are more than `count`. The list is empty for a level at the end of a street, whose values
    come from another network.
    """
    level = stored.level
    if level.teacher is not None:
        return []
    found: dict[int, DrawnSituation] = {}
    for number in range(_FIRST, _FIRST + _MOST_DRAWN):
        drawn = draw_situation(level, _SEED, "unseen", number)
        stratum = int(np.searchsorted(STACKS, chips_behind(drawn.state) / pot_of(drawn.state), "right"))
        found.setdefault(stratum, drawn)
        if len(found) == len(STACKS) - 1:
            break
    chosen = [found[stratum] for stratum in sorted(found)[-count:]]
    shown = []
    for drawn in chosen:
        ordered = ordered_hands(level.rules, drawn.board)
        order, solved = ordered.hands.combos, solve_exactly(level, drawn)
        one = Situations(
            np.array([drawn.board], np.uint8),
            np.array([pot_of(drawn.state)], np.float64),
            np.array([chips_behind(drawn.state)], np.float64),
            np.sqrt(drawn.ranges[None, :, order]).astype(np.float16),
            solved.evs[None, :, order],
            np.array([solved.slack], np.float32),
            np.array([solved.iterations], np.int32),
        )
        net, checked_down, masses = net_evs(stored.net, level, one)
        shown.append(Example(ordered, float(one.spr[0]), masses[0] > 0.0, net[0], one.evs[0], checked_down[0]))
    return shown
