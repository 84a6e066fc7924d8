"""Exploitability of Deep CFR, MCCFR and CFR+ after equal processor time, in small games.

Each figure is the exploitability of an average strategy. Its time covers the iterations and the computation of this
average. For Deep CFR, the average is a policy network that is trained from scratch for each figure. A run has several
figures. The time for the averages of its earlier figures does not count, because a run for the last figure alone would
not compute them. The time to make the tree and to measure exploitability does not count either.
"""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.trees.game_tree import GameTree, flatten, uniform_strategy
from plurispiel.agents.tabular.deep_cfr import require_networks
from plurispiel.agents.tabular.solver import Solver
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import exploitability
from plurispiel.tournaments.bench.measurement import Measurement, markdown_table

_GAMES = ("kuhn", "leduc", "leduc-9", "holdem-mini")
_BUDGETS = (10.0, 60.0, 300.0)
"""Processor time of the figures of a run, in seconds, for each second of the option ``seconds``."""

_SEEDS = (1, 2, 3)
_ALGORITHMS = {
    "Deep CFR": ("deep-cfr(1,375)", _SEEDS),  # settings of OpenSpiel's example; as many iterations as fit
    "MCCFR": ("mccfr", _SEEDS),
    "CFR+": ("cfr+", _SEEDS[:1]),  # it draws no random numbers
}
_CHUNK_S = 0.1
_UNIFORM = "uniform"
_BREAK = " | "


class Snapshot(NamedTuple):
    """The average strategy of a solver within a budget.

    Attributes
    ----------
    budget : float
        Processor time in seconds.
    spent : float
        Processor time of the iterations and of the average, in seconds.
    iteration : int
        Number of iterations done.
    strategy : float64[A]
        The average strategy, as in `GameTree`.
    """

    budget: float
    spent: float
    iteration: int
    strategy: np.ndarray


def bench_deep_cfr(seconds: float = 1.0) -> list[Measurement]:
    """Return the exploitability for each game, algorithm, seed and budget, and that of uniform play for each game.

    Parameters
    ----------
    seconds : float
        Factor of the budgets.

    Raises
    ------
    ValueError
        If PyTorch is not installed.
    """
    require_networks()
    rows = []
    runs = [(game, name, seed) for game in _GAMES for name, (_, seeds) in _ALGORITHMS.items() for seed in seeds]
    with progress_bar(total=len(runs), unit="run") as progress:
        for game, name, seed in runs:
            progress.set_description(f"{game}, {name}, seed {seed}", refresh=False)
            rows += measured_run(game, name, seed, seconds)
            progress.update()
    return rows


def measured_run(game: str, name: str, seed: int, seconds: float) -> list[Measurement]:
    """Return the figures of one run; the run of Deep CFR with the first seed also has the figure of uniform play."""
    tree = flatten(game)
    algorithm, seeds = _ALGORITHMS[name]
    rows = []
    if (name, seed) == (next(iter(_ALGORITHMS)), seeds[0]):
        rows.append(
            Measurement(_BREAK.join([game, _UNIFORM, "", ""]), _distance(tree, uniform_strategy(tree)), "chips")
        )
    for found in snapshots(make_solver(tree, algorithm, seed=seed), [seconds * budget for budget in _BUDGETS]):
        title = _BREAK.join([game, name, f"{found.budget:g} s", f"seed {seed}"])
        note = f"{found.iteration:,} iterations, {found.spent:.2f} core-s"
        rows.append(Measurement(title, _distance(tree, found.strategy), "chips", note))
    return rows


def snapshots(solver: Solver, budgets: Sequence[float]) -> Iterator[Snapshot]:
    """Yield the average strategy within each of the ascending budgets; one iteration is done in any case.

    The next batch of iterations begins if the time of the last batch and of an average would still fit in the budget.
    """
    spent = last = _seconds(solver, 1)
    average_s, measured, _ = _average(solver)
    count = 1
    for budget in budgets:
        while spent + last + average_s <= budget:
            count = max(1, int(count * min(_CHUNK_S / max(last, 1e-9), 10.0)))
            last = _seconds(solver, count)
            spent += last
        taken, iteration, strategy = _average(solver)
        if iteration != measured:  # otherwise the solver returns the average that it has kept, whose time is known
            average_s, measured = taken, iteration
        yield Snapshot(budget, spent + average_s, iteration, strategy)


def deep_cfr_text(rows: Sequence[Measurement]) -> str:
    """Return the figures as a table in Markdown, with the mean of the seeds, the lowest and the highest."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    uniform = {}
    for row in rows:
        game, name, budget, _ = row.name.split(_BREAK)
        if name == _UNIFORM:
            uniform[game] = row.value
        else:
            found.setdefault((game, name), {}).setdefault(budget, []).append(row.value)
    budgets = list(dict.fromkeys(budget for cells in found.values() for budget in cells))
    lines = [
        [game, f"{uniform[game]:.3g}", name, *(_cell(cells.get(budget, [])) for budget in budgets)]
        for (game, name), cells in found.items()
    ]
    return markdown_table([["game", "uniform play", "algorithm", *budgets], *lines])


def _seconds(solver: Solver, count: int) -> float:
    """Do iterations, and return their processor time in seconds."""
    begin = time.process_time()
    solver.run(count)
    return time.process_time() - begin


def _average(solver: Solver) -> tuple[float, int, np.ndarray]:
    """Return the processor time in seconds of computing the average strategy, the iteration, and the strategy."""
    begin = time.process_time()
    strategy = solver.average_strategy()
    return time.process_time() - begin, solver.iteration, strategy


def _distance(tree: GameTree, strategy: np.ndarray) -> float:
    found = exploitability(tree, strategy).exploitability
    assert found is not None
    return found


def _cell(values: list[float]) -> str:
    """Return the mean of values, with their range if there are several; a hyphen for none."""
    if not values:
        return "-"
    mean = f"{np.mean(values):.3g}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.2g} to {max(values):.2g})"
