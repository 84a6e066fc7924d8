"""River spots of three players: the solver of a spot, and the solved strategies by names of nodes.

CFR has no proof of convergence to a Nash equilibrium with three players. The reported exploitability is measured
exactly: it is the mean of the three players' gains by best responses, each while the two others keep their strategies.
"""

from collections.abc import Callable

import numpy as np

from plurispiel.abstraction.holdem import three_way
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.agents.resolve.three_way_cfr import ThreeWaySolver
from plurispiel.agents.spots.node_names import names_of
from plurispiel.agents.spots.node_strategy import NodeStrategy, at_node, column_of
from plurispiel.agents.spots.spot import Spot

__all__ = ["DEFAULT_ALGORITHM", "prepare", "three_way_solver", "three_way_strategy"]

DEFAULT_ALGORITHM = "lcfr"

prepare = three_way.warmup


def three_way_solver(
    spot: Spot, algorithm: str | None = None, *, on_memory: Callable[[int], None] | None = None
) -> ThreeWaySolver:
    """Return a solver of a spot of three players.

    Parameters
    ----------
    algorithm : str, optional
        See `discounting.parse_discounting`; by default `DEFAULT_ALGORITHM`.
    on_memory : callable, optional
        Called with the number of bytes of the solver's tables before these are allocated. If the call raises an
        exception, they are not allocated.

    Raises
    ------
    ValueError
        If the spot has two players, or if a range, the bets or the algorithm's name is malformed. Also if no three
        hands of the ranges are compatible, or the betting is too large.
    """
    return ThreeWaySolver(
        spot.start(),
        parse_cards(spot.board),
        spot.ranges(),
        algorithm or DEFAULT_ALGORITHM,
        menu=spot.raises(),
        on_memory=on_memory,
    )


def three_way_strategy(spot: Spot, solver: ThreeWaySolver, node: str) -> NodeStrategy:
    """Return the average strategy at a node; see `SpotSolution.strategy`."""
    rules = solver.root.state.rules
    before = solver.root.state.contributions[0]  # the same for all players
    weights = np.zeros((3, rules.num_combos))
    weights[:, solver.hands.combos] = solver.ranges
    path: list[int] = []
    taken: list[str] = []
    here = solver.root
    for word in [*node.split(), ""]:
        if not here.children:
            raise ValueError(f"{at_node(taken)} the hand is over")
        seat, actions = here.state.actor, list(here.children)
        names = names_of(here.state.array.tolist(), actions, sum(here.state.contributions), before)
        _, probabilities = solver.strategy(tuple(path))
        probabilities[weights[seat] <= 0.0] = np.nan
        if not word:
            own_names = tuple(name for name, _ in names)
            return NodeStrategy(
                " ".join(taken), spot.players[seat], parse_cards(spot.board), own_names, probabilities, weights[seat]
            )
        column = column_of(word, names, at_node(taken))
        reached = weights[seat] > 0.0
        weights[seat, reached] *= probabilities[reached, column]
        path.append(actions[column])
        taken.append(names[column][0])
        here = here.children[actions[column]]
    raise AssertionError("the last word is empty and ends the walk")
