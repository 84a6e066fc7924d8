"""The loss of single solves of continual re-solving, by exact spots: with fewer iterations, less time, other leaves.

A spot is the start of a street that the heads-up blueprint reaches in self-play, or a random river (`draw_situation`).
The seat that acts first solves the spot in several variants, each with the same ranges. The *loss* of a variant is the
gain of the opponent's best response, over its value in a long solve of the whole spot, in % of the pot. For this
measurement the variant's strategy on the street is locked, and the seat's later streets are solved anew. So the loss is
that of the street alone if the seat then plays well.

Bounds are the values of the opponent's best response in the long solve. *Kept* is the share of the opponent's range
whose value against the variant is at most half a percent of the pot above the bound.
"""

import functools
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.blueprint.agent import BlueprintAgent, blueprint_agent
from plurispiel.agents.blueprint.library import pick_bundled
from plurispiel.agents.continual.carried import expected_values
from plurispiel.agents.continual.table import TableConfig
from plurispiel.agents.continual.table.street import Solved, StreetNets, load_street_nets, solve_street
from plurispiel.agents.continual.table.subgame import TOLERANCE, solve_subgame
from plurispiel.agents.resolve.node_values import BEST
from plurispiel.agents.resolve.subgame import BucketRows
from plurispiel.agents.search.later_buckets import later_buckets
from plurispiel.agents.search.planned import PlannedRows, planned_rows
from plurispiel.agents.search.root import Root
from plurispiel.agents.search.street_tree import Path as ActionPath
from plurispiel.agents.search.two_seats import begin_two_seats, run_two_seats, two_seats_solver
from plurispiel.agents.values.bundled import BUNDLED, find_nets
from plurispiel.agents.values.drawn_situation import draw_situation
from plurispiel.agents.values.levels import find_level
from plurispiel.tournaments.bench.blueprint_spots import BlueprintSpot, blueprint_spots
from plurispiel.tournaments.bench.kept_figures import are_numbers, read_kept, write_kept
from plurispiel.tournaments.bench.measurement import Measurement, half_width_text

_SEED = 285
_SPOTS = {"random river": (3, 6), "river": (3, 6), "turn": (2, 3), "flop": (1, 2)}
"""By kind of spots: the street, and the number of spots for each second of the option ``seconds``."""

_LONG = {3: 600, 2: 600, 1: 300}
"""By street: the setting `iterations` of the long solve. On the river it makes ten times as many."""

_MEASURED = {3: 10, 2: _LONG[2], 1: _LONG[1]}
"""By street: the setting `iterations` of the solve behind a locked strategy. Later streets have to be as exact as in
the long solve: with 150 iterations on a flop, best responses on the turn and the river added a tenth of the pot
to each loss. On the river nothing is left to solve, unless a time limit has left out bet sizes."""

_EVERY_HAND = 1e-3
"""The weight that is added to the opponent's range, spread evenly: each hand needs a bound."""

_FACTORS = {3: (0.125, 0.25, 0.5, 1.0, 2.0), 2: (0.5, 1.0, 2.0), 1: (0.5, 1.0, 2.0)}
"""By street: the factors of the number of iterations that are measured."""

_SECONDS = (0.3, 1.0, 3.0)


class _Variant(NamedTuple):
    """A way to solve a spot."""

    config: TableConfig
    has_bounds: bool


class _Spot(NamedTuple):
    """A spot with its long solve.

    Attributes
    ----------
    root, history
        As in `BlueprintSpot`.
    planned : PlannedRows or None
        The blueprint, as a warm start; None for random spots.
    buckets : callable
        The buckets of later streets.
    value : float
        The value of the opponent's best response in the long solve, in chips.
    bounds : float64[num_combos]
    """

    root: Root
    history: ActionPath
    planned: PlannedRows | None
    buckets: BucketRows
    value: float
    bounds: np.ndarray


class _Response(NamedTuple):
    """A best response of the opponent.

    Attributes
    ----------
    values : float64[num_combos]
        In chips of the whole hand.
    weights : float64[num_combos]
        The opponent's range, each hand with the weight of the seat's matching hands; the sum is 1.
    """

    values: np.ndarray
    weights: np.ndarray

    @property
    def mean(self) -> float:
        """The mean value over the opponent's range."""
        return dot(self.values, self.weights)


class _VariantFigures(NamedTuple):
    """The figures of a variant in a spot: loss in % of the pot, kept share in %, processor seconds and iterations."""

    loss: float
    kept: float
    seconds: float
    iterations: float


def bench_continual_spots(
    seconds: float = 1.0, nets: str = BUNDLED, kept: Path | None = None, agent: BlueprintAgent | None = None
) -> list[Measurement]:
    """Return the losses of all variants on each street.

    Parameters
    ----------
    seconds : float
        A factor for the numbers of spots (`_SPOTS`).
    nets : str
        The networks for the end of the flop and the start of the turn, as in `TableConfig`.
    kept : Path, optional
        A file that keeps the figures of each spot, so that a measurement that was stopped goes on.
    agent : BlueprintAgent, optional
        A heads-up blueprint; by default a bundled one.

    Raises
    ------
    ValueError
        If `kept` has figures of other settings.
    ArtefactRefused
        If a network is missing or damaged, or `kept` is damaged.
    """
    agent = agent or blueprint_agent(str(pick_bundled(HUNL).path))
    street_nets = load_street_nets(find_nets(nets))
    settings = {
        "seed": _SEED,
        "blueprint": agent.blueprint.digest,
        "nets": [street_nets.end.digest, street_nets.start.digest],
        "iterations": [*_LONG.values(), *_MEASURED.values()],
    }
    ways = {name: _variants(street, nets) for name, (street, _) in _SPOTS.items()}
    known = read_kept(kept, {"settings": settings}, "spots", functools.partial(_are_spots, ways))
    rows = []
    for name, (street, per_second) in _SPOTS.items():
        count, variants = max(1, round(seconds * per_second)), ways[name]
        of_street = known.setdefault(name, {})
        with progress_bar(total=count, desc=name, unit="spot") as progress:
            for number, found in enumerate(_roots(agent, name, street)):
                if number == count:
                    break
                if str(number) not in of_street:
                    of_street[str(number)] = _measure(found, variants, agent, street_nets)
                    write_kept(kept, {"settings": settings}, "spots", known)
                progress.update()
        spots = [of_street[str(number)] for number in range(count)]
        rows += [_row(f"{name}: {label}", [_VariantFigures(*spot[label]) for spot in spots]) for label in variants]
    return rows


def _are_spots(ways: dict[str, dict[str, _Variant]], known: dict[str, Any]) -> bool:
    """Return whether a record from a file has the form of figures by kind of spot, number and variant."""
    return all(
        name in ways
        and isinstance(spots, dict)
        and all(isinstance(spot, dict) and spot.keys() == ways[name].keys() for spot in spots.values())
        and all(are_numbers(found, len(_VariantFigures._fields)) for spot in spots.values() for found in spot.values())
        for name, spots in known.items()
    )


def _row(name: str, found: list[_VariantFigures]) -> Measurement:
    loss = np.array([each.loss for each in found])
    _, kept, seconds, iterations = np.mean(found, axis=0)
    note = f"{half_width_text(loss, 2)}at most {loss.max():.2f}; range kept {kept:.1f} %; {seconds:.2f} CPU-s, "
    return Measurement(name, float(loss.mean()), "% pot", f"{note}{iterations:,.0f} iterations, {len(loss)} spots")


def _variants(street: int, nets: str) -> dict[str, _Variant]:
    """Return the variants of a street by name. On the flop the first decision of C1 and C2 has no bounds."""

    def some(name: str, nets: str, has_bounds: bool) -> dict[str, _Variant]:
        base, found = TableConfig(threads=1, nets=nets), {}
        for factor in _FACTORS[street]:
            count = max(2, round(factor * base.num_iterations))
            found[f"{name}, iterations={count}"] = replace(base, iterations=count)
        for limit in _SECONDS:
            if nets or limit >= 1.0:
                found[f"{name}, time={limit:g}"] = replace(base, time=limit)
        variants = {label: _Variant(config, has_bounds) for label, config in found.items()}
        return variants | {f"{name}, with{'out' * has_bounds} bounds": _Variant(base, not has_bounds)}

    return some("to the end", nets, True) if street > 1 else some("to the end", "", False) | some("nets", nets, False)


def _roots(agent: BlueprintAgent, name: str, street: int) -> Iterator[tuple[BlueprintSpot, bool]]:
    """Yield the spots of a kind, and whether the blueprint has played to them."""
    if name in ("river", "turn", "flop"):
        yield from ((spot, True) for _, spot in blueprint_spots(agent, street))
    number = 0
    while True:
        drawn = draw_situation(find_level("river"), _SEED, "unseen", number)
        beliefs = drawn.ranges / drawn.ranges.sum(axis=1, keepdims=True)
        yield BlueprintSpot(Root(drawn.state, drawn.board, beliefs), ()), False
        number += 1


def _measure(
    found: tuple[BlueprintSpot, bool], variants: dict[str, _Variant], agent: BlueprintAgent, nets: StreetNets
) -> dict[str, _VariantFigures]:
    spot = _long_solve(*found, agent)
    return {label: _figures(spot, variant, nets) for label, variant in variants.items()}


def _long_solve(spot: BlueprintSpot, is_played: bool, agent: BlueprintAgent) -> _Spot:
    root, history = spot
    iterations = _LONG[root.state.street]
    config = TableConfig(iterations, threads=1).search
    buckets = later_buckets(config, HUNL, agent.blueprint.cards, root.board)
    planned = planned_rows(agent.blueprint, HUNL) if is_played else None
    whole = _Spot(root, history, planned, buckets, 0.0, np.empty(0))
    response = _respond(whole, iterations, {})
    return whole._replace(value=response.mean, bounds=response.values)


def _respond(spot: _Spot, iterations: int, locked: dict[ActionPath, np.ndarray]) -> _Response:
    """Solve a spot with locked strategies, and return the opponent's best response to the seat's average strategy."""
    root, other = spot.root, 1 - spot.root.state.actor
    config = TableConfig(iterations, threads=1).search
    ranges, free = root.beliefs.copy(), HUNL.free_combos(root.board)
    ranges[other] += _EVERY_HAND * free / free.sum()
    solver = two_seats_solver(root, config, ranges, spot.buckets, added={}, frozen=locked)
    if spot.planned is not None:
        begin_two_seats(solver, config, spot.planned.rows_for(solver, spot.history))
        solver.restore_locks()
    run_two_seats(solver, config, math.inf)
    values, facing = solver.combo_values(other)[BEST], solver.facing[other]
    weights = root.beliefs[other] * facing
    return _Response(expected_values(values, facing), weights / weights.sum())


def _figures(spot: _Spot, variant: _Variant, nets: StreetNets) -> _VariantFigures:
    began = time.process_time()
    solved = _solve(spot, variant, nets)
    spent = time.process_time() - began
    response = _respond(spot, _MEASURED[spot.root.state.street], dict(_locks(spot.root, solved, variant.config.purge)))
    pot = sum(spot.root.state.contributions)
    is_kept = response.values - spot.bounds <= TOLERANCE * pot
    loss, kept = (response.mean - spot.value) / pot, float(response.weights[is_kept].sum())
    return _VariantFigures(100.0 * loss, 100.0 * kept, spent, float(solved.iterations))


def _solve(spot: _Spot, variant: _Variant, nets: StreetNets) -> Solved:
    """Solve a spot as `continual` does for the seat to act, with the bounds of the long solve or without any."""
    root, config = spot.root, variant.config
    bounds, seat = spot.bounds if variant.has_bounds else None, root.state.actor
    deadline = time.perf_counter() + config.time
    if config.nets and root.state.street == 1:
        menu = root.game.menu(config.search, {})
        return solve_street(root, seat, bounds, config, config.estimate, menu, nets, spot.history, deadline=deadline)
    return solve_subgame(
        root,
        seat,
        bounds,
        config.search,
        config.estimate,
        spot.buckets,
        spot.planned,
        spot.history,
        added={},
        deadline=deadline,
    )


def _locks(root: Root, solved: Solved, purge: float) -> Iterator[tuple[ActionPath, np.ndarray]]:
    """Yield the strategy of each decision of the seat on the street that the solve has, by the decision's actions.

    The columns are the actions that the long solve offers. Under a time limit, a solve may offer fewer.
    """
    config = TableConfig(threads=1).search
    menu = root.game.menu(config, {})
    for decision in street_betting(root.game.state, menu=menu, num_streets=1)[0].decisions:
        path = tuple(action for _, action, _ in decision.actions)
        played = solved.played(path, purge) if decision.seat == root.state.actor else None
        if played is None:
            continue
        rows = np.zeros((HUNL.num_combos, len(decision.children)))
        for column, action in enumerate(decision.children):
            if action in played.actions:
                rows[:, column] = played.probabilities[:, played.actions.tolist().index(action)]
        rows[np.isnan(played.probabilities).any(axis=1)] = np.nan  # hands outside the seat's range: not locked
        yield path, rows
