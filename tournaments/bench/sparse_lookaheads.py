"""The error of sparse lookaheads on random rivers: values with few bet sizes, compared with values with nine sizes.

This is table S4 of DeepStack's supplement, by our solver. Every lookahead has the ranges of the situation at its root
and at most three raises. Without this limit, nine sizes make trees of half a million nodes.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.continual.lookahead import Lookahead
from plurispiel.agents.values.levels import pot_of
from plurispiel.agents.values.range_generator import draw_ranges
from plurispiel.tournaments.bench.measurement import Measurement

_SEED = 281
_RIVERS = 100
_MOST_RAISES = 3
_SPR = (1.0, 10.0)
_ITERATIONS, _MOST_ITERATIONS = 1_000, 4_000
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


def bench_sparse_lookaheads(seconds: float = 1.0, kept: Path | None = None) -> list[Measurement]:
    """Return the mean errors of lookaheads with few bet sizes.

    Parameters
    ----------
    seconds : float
        A factor for the number of rivers, which is 100 with 1.0. With ten rivers or more, lookaheads with nine sizes
        have 4,000 iterations, and the measured lookaheads 1,000. With fewer rivers the iterations are fewer, too.
    kept : Path, optional
        A file that keeps the figures of each river, so that a stopped measurement can go on.

    Raises
    ------
    ValueError
        If `kept` has figures of other settings.
    """
    count = max(1, round(_RIVERS * seconds))
    share = min(1.0, seconds * _RIVERS / 10.0)  # from ten rivers on, all iterations
    few, many = (max(4, round(share * number)) for number in (_ITERATIONS, _MOST_ITERATIONS))
    settings = {"seed": _SEED, "iterations": [few, many]}
    known = _known(kept, settings)
    with progress_bar(total=count, desc="rivers", unit="river") as progress:
        for number in range(count):
            if str(number) not in known:
                known[str(number)] = _errors(_draw(HUNL, number), few, many)
                if kept is not None:
                    write_atomically(kept, json.dumps(settings | {"rivers": known}))
            progress.update()
    found = np.array([known[str(number)] for number in range(count)])
    rows = []
    for place, name in enumerate(MENUS):
        error, worst, decisions = found[:, place].mean(axis=0)
        half = 1.96 * found[:, place, 0].std(ddof=1) / count**0.5 if count > 1 else float("nan")
        note = f"± {half:.2f}; worst hand {worst:.1f} %, {decisions:,.0f} decisions"
        rows.append(Measurement(f"error of {name}", float(error), "% pot", f"{note}, {count} rivers"))
    return rows


def _known(kept: Path | None, settings: dict) -> dict[str, list[list[float]]]:
    """Return the figures that a file keeps, by the number of the river; refuse a file of other settings."""
    if kept is None or not kept.is_file():
        return {}
    record = json.loads(kept.read_text(encoding="utf-8"))
    if {key: record.get(key) for key in settings} != settings:
        raise ValueError(f"{kept} has figures of other settings; give another file")
    return record["rivers"]


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


def _errors(case: _Case, few: int, many: int) -> list[list[float]]:
    """Return, for each menu, the mean and the largest error in % of the pot, and the number of decisions.

    The mean is over the hands of both seats. A hand counts by its weight in the range, times the weight of the other
    seat's compatible hands.
    """
    expected, _ = _values(case, _NINE, many)
    hands = rank_hands(case.state.rules, case.board)
    live = case.ranges[:, hands.combos]
    weights = live * fold_mass(hands, live[::-1])
    found = []
    for sizes in MENUS.values():
        values, decisions = _values(case, sizes, few)
        missed = 100.0 * abs(values - expected) / pot_of(case.state)
        found.append([float((weights * missed).sum() / weights.sum()), float(missed.max()), float(decisions)])
    return found


def _values(case: _Case, sizes: str, iterations: int) -> tuple[np.ndarray, int]:
    """Return the values of both seats' hands, and the number of decisions.

    Values are expected values in chips: float64[2, num_hands], in the order of `rank_hands`. They are means over the
    second half of the iterations.
    """
    menu = BetMenu((((*(_MOST_RAISES * (parse_sizes(sizes),)), ()),),))
    lookahead = Lookahead(case.state, case.board, (), _no_leaves, menu.raises)
    solved = lookahead.solve(case.ranges, iterations, iterations // 2)
    hands = rank_hands(case.state.rules, case.board)
    masses = fold_mass(hands, case.ranges[::-1, hands.combos])
    values = solved.means.values[:, 0, hands.combos]
    return np.divide(values, masses, out=np.zeros_like(values), where=masses > 0.0), len(lookahead.betting.decisions)


def _no_leaves(boundary):
    raise AssertionError("the last street has no boundary")
