"""The exact gain of searching one street over playing the heads-up blueprint, in spots from the blueprint's self-play.

The ranges and bet sizes of a spot are the blueprint's. One seat searches the street, and the other seat plays the
blueprint. On later streets both seats play the blueprint, so a gain comes from a single search. After a flop, a sample
of rivers is dealt for each turn, and the gain is exact in this game.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.blueprint.agent import BlueprintAgent, blueprint_agent
from plurispiel.agents.blueprint.library import pick_bundled
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.two_seats import solve_two_seats
from plurispiel.tournaments.bench.blueprint_spots import (
    BLUEPRINT_SIZES,
    BlueprintSpot,
    first_spots,
    spot_solver,
    write_blueprint,
)
from plurispiel.tournaments.bench.measurement import Measurement, half_width_text

_STREETS = {3: ("river", 20), 2: ("turn", 4), 1: ("flop", 1)}
"""By street: the name, and the number of spots to measure for each second of the option ``seconds``."""

_ITERATIONS = {3: (40,), 2: (40, 150), 1: (40, 150)}
"""By street: the values of the setting ``iterations`` that are measured.

A river search makes ten times as many.
"""

_FINAL: dict[str, Any] = {"play": "final", "purge": 0.0}

_VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    ", from uniform": {"warm_start": 0.0},
    ", no purge": {"purge": 0.0},
    ", the final iterate": _FINAL,
    ", safe": {"safe": True},
}
_VARIANTS_OF_RIVERS = {"": {}, ", the final iterate": _FINAL, ", safe": {"safe": True}}
"""Two of `_VARIANTS` are missing: river searches never purge, and always begin from uniform strategies."""


@dataclass
class _Found:
    """Results of searches with the same settings, one number for each spot, in chips.

    Attributes
    ----------
    gains : list of float
        The gain over the blueprint if one seat searches, summed over the two seats; empty for the blueprint itself.
    exploitability : list of float
        The exploitability of the searched strategy, or of the blueprint.
    """

    gains: list[float] = field(default_factory=list)
    exploitability: list[float] = field(default_factory=list)


def bench_search_spots(seconds: float = 1.0, agent: BlueprintAgent | None = None) -> list[Measurement]:
    """Return, for rivers, turns and flops, the exploitability of the blueprint and the gains of searches.

    Parameters
    ----------
    seconds : float
        Scale of the number of spots (`_STREETS`); at least one spot is measured on each street.
    agent : BlueprintAgent, optional
        A heads-up blueprint; by default a bundled one.
    """
    agent = agent or blueprint_agent(str(pick_bundled(HUNL).path))
    planned = PlannedRows(agent.blueprint, hand_in_tree(HUNL, agent.blueprint))
    rows = []
    for street, (name, per_second) in _STREETS.items():
        count = max(1, round(seconds * per_second))
        found: dict[str, _Found] = {}
        hands, pots = 0, []
        for number, spot in first_spots(agent, street, name, count):
            _measure(spot, planned, agent, found)
            hands = number
            pots.append(sum(spot.root.state.contributions))
        place = f"{count} spots found in {hands:,} hands, mean pot {np.mean(pots):,.0f}"
        rows += [_row(f"{name}: {label}", each, hands, place) for label, each in found.items()]
    return rows


def _row(name: str, found: _Found, hands: int, place: str) -> Measurement:
    mean = float(np.mean(found.exploitability))
    if not found.gains:
        return Measurement(name, mean, "chips", f"a best response wins, mean of both seats; {place}")
    gains = np.array(found.gains)
    # The mean gain of the two seats over all hands played. Hands without a spot gain nothing.
    per_hand = 1e3 * gains.sum() / 2 / hands / HUNL.big_blind
    below = (gains < 0.0).sum()
    half = half_width_text(gains, 1)
    note = f"{half}{per_hand:+.1f} mbb/hand, below 0 in {below} spots; a best response wins {mean:.1f}"
    return Measurement(name, float(gains.mean()), "chips", note)


def _measure(spot: BlueprintSpot, planned: PlannedRows, agent: BlueprintAgent, found: dict[str, _Found]) -> None:
    """Search a spot with every setting, and add the results to `found`, by iterations done and label."""
    root, history = spot
    street, offered = root.state.street, planned.betting(history, root.state)

    def bucket_rows(board: tuple[int, ...]) -> np.ndarray:
        return agent.blueprint.cards.row(board, HUNL.street_of_board(board))

    solver = spot_solver(spot, planned, None if street == 3 else bucket_rows)
    write_blueprint(solver, planned.rows_for(solver, history))
    first = solver.streets[0]
    planned_tables = [table.copy() for table in first.sums]
    base = solver.evaluate()
    found.setdefault("the blueprint", _Found()).exploitability.append(base.exploitability)
    for iterations in _ITERATIONS[street]:
        for label, change in (_VARIANTS_OF_RIVERS if street == 3 else _VARIANTS).items():
            config = dataclasses.replace(BLUEPRINT_SIZES, iterations=iterations, **change)
            for seat in range(2) if config.safe else (0,):
                solution = solve_two_seats(root, config, bucket_rows, planned, history, seat, added=offered)
                for decision in first.betting.decisions:
                    if decision.seat == seat or not config.safe:
                        rows = solution.nodes[tuple(action for _, action, _ in decision.actions)].played
                        first.write(first.sums, decision, np.nan_to_num(rows, nan=1.0))
            entry = found.setdefault(f"{solution.iterations} iterations{label}", _Found())
            entry.exploitability.append(solver.evaluate().exploitability)
            searched, gain = [table.copy() for table in first.sums], 0.0
            for seat in range(2):
                # One seat plays as searched, the other plays the blueprint.
                first.sums[seat][:], first.sums[1 - seat][:] = searched[seat], planned_tables[1 - seat]
                gain += float(solver.evaluate().values[seat] - base.values[seat])
            entry.gains.append(gain)
            first.sums[0][:], first.sums[1][:] = planned_tables
