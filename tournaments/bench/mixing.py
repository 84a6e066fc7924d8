"""How often the heads-up blueprint mixes and calls, and how often a solution of the same spots does.

The spots are from the blueprint's self-play (`blueprint_spots`). A spot's game has the blueprint's ranges and bet
sizes. The solution distinguishes all hands, the blueprint only its buckets. Best responses to either of them
distinguish all hands. After a flop, a sample of rivers is dealt for each turn. Only decisions on the first street of a
spot are counted, hand by hand. The weight of a hand's decision is the hand's reach, times the total reach of the other
seat's compatible hands. A decision is *mixed* if no action has a probability above 0.99. The solution is not exact, so
its share of mixed decisions is an estimate.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.blueprint.agent import BlueprintAgent, blueprint_agent
from plurispiel.agents.blueprint.library import pick_bundled
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.resolve import VectorSolver
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.tournaments.bench.blueprint_spots import first_spots, spot_solver, write_blueprint
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


def bench_mixing(seconds: float = 1.0, agent: BlueprintAgent | None = None) -> list[Measurement]:
    """Return the shares of mixed decisions for rivers, turns and flops; the notes have the chips a best response wins.

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

    def by_bucket(board: tuple[int, ...]) -> np.ndarray:
        return agent.blueprint.cards.row(board, HUNL.street_of_board(board))

    for street, (name, per_second, iterations) in _STREETS.items():
        count = max(1, round(seconds * per_second))
        found: dict[str, list[tuple[Counted, float]]] = {"the blueprint": [], "the solution": []}
        pots = []
        for _, spot in first_spots(agent, street, name, count):
            solver = spot_solver(spot, planned, None if street == 3 else by_bucket)
            write_blueprint(solver, planned.rows_for(solver, spot.history))
            found["the blueprint"].append((count_mixed(solver), solver.evaluate().exploitability))
            solver = spot_solver(spot, planned, None)
            solver.run(iterations)
            found["the solution"].append((count_mixed(solver), solver.evaluate().exploitability))
            pots.append(sum(spot.root.state.contributions))
        for label, each in found.items():
            total = Counted(*np.sum([counted for counted, _ in each], axis=0).tolist())
            wins = float(np.mean([exploitability for _, exploitability in each]))
            note = f"raises mixed {_share(total.mixed_raises, total.raises)}; a best response wins "
            note += f"{wins:.1f} chips, mean of both seats; against one bet folds {_share(total.folds, total.asked)}, "
            note += f"calls {_share(total.calls, total.asked)}; {count} spots, mean pot {np.mean(pots):,.0f}"
            rows.append(Measurement(f"{name}: {label} mixes", 100 * total.mixed / total.all, "%", note))
    return rows


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
