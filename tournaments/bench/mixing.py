"""How often the heads-up blueprint mixes and calls, and how often a solution of the same spots does.

The spots are from the blueprint's self-play (`blueprint_spots`). A spot's game has the blueprint's ranges and bet
sizes. The solution distinguishes all hands, the blueprint only its buckets. Best responses to either of them
distinguish all hands. After a flop, a sample of rivers is dealt for each turn. Only decisions on the first street of a
spot are counted, hand by hand. The weight of a hand's decision is the hand's reach, times the total reach of the other
seat's compatible hands. A decision is *mixed* if no action has a probability above 0.99. The solution is not exact, so
its share of mixed decisions is an estimate.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.blueprint.agent import BlueprintAgent, blueprint_agent
from plurispiel.agents.blueprint.library import pick_bundled
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.resolve import VectorSolver
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.tournaments.bench.blueprint_spots import BlueprintSpot, first_spots, spot_solver, write_blueprint
from plurispiel.tournaments.bench.kept_figures import are_numbers, read_kept, write_kept
from plurispiel.tournaments.bench.measurement import Measurement

_STREETS = {3: ("river", 10, 1_000), 2: ("turn", 7, 300), 1: ("flop", 3, 100)}
"""By street: the name, the number of spots with ``seconds`` 1, and the iterations of the solver."""

_PURE = 0.99


class Counted(NamedTuple):
    """Sums of weights over the decisions on the first street of a spot's game.

    Attributes
    ----------
    all, mixed : float
        The weight of all decisions, and the weight of mixed decisions.
    raises : float
        The sum over all decisions of the decision's weight, multiplied by the probability that it raises.
    mixed_raises : float
        The part of `raises` at mixed decisions whose raises have a probability of at most 0.99 together.
    asked : float
        The weight of the decisions after one bet, which no raise has followed.
    folds, calls : float
        The sums over these decisions of the decision's weight, multiplied by the probability of a fold or a call.
    """

    all: float
    mixed: float
    raises: float
    mixed_raises: float
    asked: float
    folds: float
    calls: float


class _SpotFigures(NamedTuple):
    """The figures of a spot.

    Attributes
    ----------
    blueprint, solution : list of float
        The fields of `Counted`, then the chips that a best response wins, the mean of both seats.
    pot : float
    """

    blueprint: list[float]
    solution: list[float]
    pot: float


def bench_mixing(
    seconds: float = 1.0, kept: Path | None = None, agent: BlueprintAgent | None = None
) -> list[Measurement]:
    """Return the shares of mixed decisions for rivers, turns and flops; the notes have the chips a best response wins.

    Parameters
    ----------
    seconds : float
        Scale of the number of spots (`_STREETS`); at least one spot is measured on each street.
    kept : Path, optional
        A file that keeps the figures of each spot, so that a measurement that was stopped goes on.
    agent : BlueprintAgent, optional
        A heads-up blueprint; by default a bundled one.

    Raises
    ------
    ValueError
        If `kept` has figures of other settings.
    ArtefactRefused
        If `kept` is damaged.
    """
    agent = agent or blueprint_agent(str(pick_bundled(HUNL).path))
    iterations_of = {name: iterations for name, _, iterations in _STREETS.values()}
    settings = {"settings": {"blueprint": agent.blueprint.digest, "iterations": iterations_of}}
    known = read_kept(kept, settings, "spots", _are_spots)
    planned = PlannedRows(agent.blueprint, hand_in_tree(HUNL, agent.blueprint))
    rows = []
    for street, (name, per_second, iterations) in _STREETS.items():
        count = max(1, round(seconds * per_second))
        of_street = known.setdefault(name, {})
        for number, (_, spot) in enumerate(first_spots(agent, street, name, count)):
            if str(number) not in of_street:
                of_street[str(number)] = _measure(agent, planned, spot, iterations)
                write_kept(kept, settings, "spots", known)
        spots = [_SpotFigures(*of_street[str(number)]) for number in range(count)]
        pot = float(np.mean([spot.pot for spot in spots]))
        for label, each in (("blueprint", [s.blueprint for s in spots]), ("solution", [s.solution for s in spots])):
            total, wins = Counted(*np.sum(each, axis=0)[:-1].tolist()), np.mean(each, axis=0)[-1]
            note = f"raises mixed {_share(total.mixed_raises, total.raises)}; a best response wins "
            note += f"{wins:.1f} chips, mean of both seats; against one bet folds {_share(total.folds, total.asked)}, "
            note += f"calls {_share(total.calls, total.asked)}; {count} spots, mean pot {pot:,.0f}"
            rows.append(Measurement(f"{name}: the {label} mixes", 100 * total.mixed / total.all, "%", note))
    return rows


def _are_spots(known: dict[str, Any]) -> bool:
    """Return whether a record from a file has the form of `_SpotFigures` by street and number."""
    streets = [name for name, _, _ in _STREETS.values()]
    return all(
        name in streets
        and isinstance(spots, dict)
        and all(
            isinstance(spot, list)
            and len(spot) == len(_SpotFigures._fields)
            and all(are_numbers(each, len(Counted._fields) + 1) for each in spot[:2])
            and are_numbers(spot[2:], 1)
            for spot in spots.values()
        )
        for name, spots in known.items()
    )


def _measure(agent: BlueprintAgent, planned: PlannedRows, spot: BlueprintSpot, iterations: int) -> _SpotFigures:
    cards = agent.blueprint.cards

    def by_bucket(board: tuple[int, ...]) -> np.ndarray:
        return cards.row(board, HUNL.street_of_board(board))

    played = spot_solver(spot, planned, None if spot.root.state.street == 3 else by_bucket)
    write_blueprint(played, planned.rows_for(played, spot.history))
    solved = spot_solver(spot, planned, None)
    solved.run(iterations)
    blueprint, solution = ([*count_mixed(each), each.evaluate().exploitability] for each in (played, solved))
    return _SpotFigures(blueprint, solution, float(sum(spot.root.state.contributions)))


def count_mixed(solver: VectorSolver) -> Counted:
    """Return the sums over the decisions on the first street of a game, for the solver's average strategies."""
    hands = rank_hands(HUNL, solver.subgame.board)
    reaches: dict[tuple[int, ...], np.ndarray] = {(): solver.ranges}
    counted = np.zeros(len(Counted._fields))
    for decision in solver.streets[0].betting.decisions:  # every decision is listed after the decisions that lead to it
        path = tuple(action for _, action, _ in decision.actions)
        reach = reaches[path]
        rows = np.nan_to_num(solver.strategy(0, decision))
        weights = np.zeros(HUNL.num_combos)
        weights[hands.combos] = fold_mass(hands, reach[1 - decision.seat, hands.combos])
        weights *= reach[decision.seat]
        is_mixed = rows.max(axis=1) <= _PURE
        raises = rows[:, [action > CALL for action in decision.children]].sum(axis=1)
        is_mixed_raise = is_mixed & (raises <= _PURE)
        asked = np.zeros(3)
        if sum(action > CALL for action in path) == 1:
            folds, calls = (rows[:, list(decision.children).index(action)] for action in (FOLD, CALL))
            asked[:] = weights.sum(), weights @ folds, weights @ calls
        counted += [weights.sum(), weights @ is_mixed, weights @ raises, weights @ (raises * is_mixed_raise), *asked]
        for action, chances in zip(decision.children, rows.T, strict=True):
            after = reach.copy()
            after[decision.seat] *= chances
            reaches[*path, action] = after
    return Counted(*counted.tolist())


def _share(part: float, whole: float) -> str:
    return f"{100 * part / max(whole, 1e-300):.1f} %"
