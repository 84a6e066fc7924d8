"""The error of sparse lookaheads on random rivers: values with few bet sizes, compared with values with nine sizes.

This is table S4 of DeepStack's supplement, by the solver with which `continual` plays rivers. Every lookahead has the
ranges of the situation at its root and at most three raises. Without this limit, nine sizes make trees of half a
million nodes.

The values of nine sizes are exact up to a tolerance: iterations go on until the mean gain of both seats' best responses
is small enough, but not beyond 16,000. The paper stops after 4,000 iterations of its own algorithm
(`agents.continual.lookahead`), which takes ten times as long.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.resolve.node_values import BEST
from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.values.levels import pot_of
from plurispiel.agents.values.range_generator import draw_ranges
from plurispiel.tournaments.bench.kept_figures import are_numbers, read_kept, write_kept
from plurispiel.tournaments.bench.measurement import Measurement, half_width_text

_SEED = 281
_RIVERS = 100
_MOST_RAISES = 3
_SPR = (1.0, 10.0)
_ITERATIONS = 1_000
_TOLERANCE, _MOST_ITERATIONS = 1e-4, 16_000
"""The exploitability, as a share of the pot, at which the values of nine sizes count as exact; the most iterations."""

_NINE = "0.01p 25% 50% 75% 1p 2p 3p 10p allin"
"""The first size is below the smallest legal raise, and becomes that raise."""

MENUS = {
    "F C Min 1/4P 1/2P 3/4P P 2P 3P 10P A": _NINE,
    "F C 2P A": "2p allin",
    "F C 1/2P A": "50% allin",
    "F C P A": "1p allin",
    "F C 1/2P P A": "50% 1p allin",
    "F C P 2P A": "1p 2p allin",
    "F C 1/2P P 2P A": "50% 1p 2p allin",
}


class _Case(NamedTuple):
    """A random river: ranges are float64[2, num_combos], and the range of each seat sums to 1."""

    state: BettingState
    board: tuple[int, ...]
    ranges: np.ndarray


class _Errors(NamedTuple):
    """The figures of a river.

    Attributes
    ----------
    menus : list of list of float
        For each menu, the mean error in % of the pot and in mbb, the largest error in % of the pot, and the number of
        decisions.
    exploitability : float
        That of nine sizes, in % of the pot, after the last iteration.
    iterations : int
        Iterations of nine sizes.
    """

    menus: list[list[float]]
    exploitability: float
    iterations: int


def bench_sparse_lookaheads(seconds: float = 1.0, kept: Path | None = None) -> list[Measurement]:
    """Return the mean errors of lookaheads with few bet sizes, and how exact the values of nine sizes are.

    Parameters
    ----------
    seconds : float
        A factor for the number of rivers, which is 100 with 1.0. With ten rivers or more, the measured lookaheads have
        1,000 iterations. With fewer rivers the iterations are fewer, too.
    kept : Path, optional
        A file that keeps the figures of each river, so that a stopped measurement can go on.

    Raises
    ------
    ValueError
        If `kept` has figures of other settings.
    ArtefactRefused
        If `kept` is damaged.
    """
    count = max(1, round(_RIVERS * seconds))
    iterations = max(4, round(min(1.0, seconds * _RIVERS / 10.0) * _ITERATIONS))
    settings = {"seed": _SEED, "iterations": iterations, "tolerance": _TOLERANCE}
    known = read_kept(kept, settings, "rivers", _are_rivers)
    with progress_bar(total=count, desc="rivers", unit="river") as progress:
        for number in range(count):
            if str(number) not in known:
                known[str(number)] = _errors(_draw(HUNL, number), iterations)
                write_kept(kept, settings, "rivers", known)
            progress.update()
    rivers = [_Errors(*known[str(number)]) for number in range(count)]
    found = np.array([river.menus for river in rivers])
    rows = []
    for place, name in enumerate(MENUS):
        error, chips, worst, decisions = found[:, place].mean(axis=0)
        half = half_width_text(found[:, place, 0], 2)
        note = f"{half}{chips:.1f} mbb; worst hand {worst:.1f} %, {decisions:,.0f} decisions, {count} rivers"
        rows.append(Measurement(f"error of {name}", float(error), "% pot", note))
    gains, done = (np.array([getattr(river, name) for river in rivers]) for name in ("exploitability", "iterations"))
    note = f"at most {gains.max():.4f} %; {done.mean():,.0f} iterations in the mean"
    return [*rows, Measurement("exploitability of nine sizes", float(gains.mean()), "% pot", note)]


def _are_rivers(known: dict[str, Any]) -> bool:
    """Return whether a record from a file has the form of `_Errors` by the number of the river."""
    return all(
        isinstance(river, list)
        and len(river) == len(_Errors._fields)
        and are_numbers(river[1:], 2)
        and isinstance(river[0], list)
        and len(river[0]) == len(MENUS)
        and all(are_numbers(menu, 4) for menu in river[0])
        for river in known.values()
    )


def _draw(rules: HoldemRules, number: int) -> _Case:
    """Return a random river: stacks of 1 to 10 pots, log-uniform, and ranges of the paper's generator."""
    rng = np.random.default_rng((_SEED, number))
    board = tuple(sorted(rng.choice(rules.cards, rules.num_board_cards, replace=False).tolist()))
    assert rules.stacks is not None
    low, high = np.log(_SPR)
    part = int(rules.stacks[0] / (2.0 * np.exp(rng.uniform(low, high)) + 1.0))
    state = BettingState(rules)
    state.apply(part)
    while state.street < rules.num_streets - 1:
        state.apply(CALL)
    hands = rank_hands(rules, board)
    ranges = np.zeros((2, rules.num_combos))
    ranges[:, hands.combos] = draw_ranges(hands.groups, 2, rng)
    return _Case(state, board, ranges)


def _errors(case: _Case, iterations: int) -> _Errors:
    """Return the figures of a river.

    The error of a hand is the absolute difference of its two values. Mean errors are over the hands of both seats. In
    the mean a hand counts by its weight in the range, times the weight of the other seat's compatible hands.
    """
    nine = _solver(case, _NINE)
    nine.run(iterations)
    found = {_NINE: (_values(nine), len(nine.streets[0].betting.decisions))}
    pot = pot_of(case.state)
    while (gain := nine.evaluate().exploitability) > _TOLERANCE * pot and nine.iteration < _MOST_ITERATIONS:
        nine.run(min(nine.iteration, _MOST_ITERATIONS - nine.iteration))
    exact, weights = _values(nine), nine.ranges * nine.facing
    menus = []
    for sizes in MENUS.values():
        if sizes not in found:
            solver = _solver(case, sizes)
            solver.run(iterations)
            found[sizes] = _values(solver), len(solver.streets[0].betting.decisions)
        values, decisions = found[sizes]
        missed = abs(values - exact) / pot
        error = float((weights * missed).sum() / weights.sum())
        chips = 1e3 * error * pot / case.state.rules.big_blind
        menus.append([100.0 * error, chips, 100.0 * float(missed.max()), float(decisions)])
    return _Errors(menus, 100.0 * gain / pot, nine.iteration)


def _solver(case: _Case, sizes: str) -> VectorSolver:
    """Return the solver of a river with given bet sizes."""
    menu = BetMenu((((*(_MOST_RAISES * (parse_sizes(sizes),)), ()),),))
    return VectorSolver(Subgame(case.state, case.board, case.ranges, menu.raises), threads=1)


def _values(solver: VectorSolver) -> np.ndarray:
    """Return the values of both seats' best responses: float64[2, num_combos], in chips of the whole hand."""
    values = np.stack([solver.combo_values(seat)[BEST] for seat in range(2)])
    return np.divide(values, solver.facing, out=np.zeros_like(values), where=solver.facing > 0.0)
