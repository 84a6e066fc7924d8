"""How often intervals of scores with the zero-sum correction cover the truth, over simulated runs.

For each line-up, and for each number of agents that report no strategy (*silent* agents, at most three), a pool of
duplicate groups is played. A simulated run draws groups from the pool with replacement. Each agent's scores are centred
over the pool, so that the true means of all scores and of the table sum are 0. The runs then have the heavy tails and
dependences of real groups, and a known truth.
"""

from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.statistics import always_valid_half_width, expected_half_width, sequential_half_width
from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.evaluation.zero_sum import prior_coefficients, zero_sum_scores
from plurispiel.tournaments.bench.measurement import Measurement, markdown_table
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, look_decks

NUM_GROUPS = (10, 30, 100, 400)
"""The numbers of groups after which intervals are checked; each simulated run has the last of these numbers."""

_NUM_RUNS = 10_000
_MAX_SILENT = 3
_SEED = 1


@dataclass(frozen=True)
class _CoverageTable:
    """A game, its agents in the order in which they become silent, and the number of groups in the pool."""

    game: str
    agents: tuple[str, ...]
    pool: int


_TABLES = {
    "Leduc": _CoverageTable("leduc_poker", ("random", "equity"), 5_000),
    "Leduc, 3 seats": _CoverageTable("leduc_poker(players=3)", ("random", "equity", "random"), 5_000),
    "`tag`, `blueprint`": _CoverageTable("HUNL", ("tag", "blueprint"), 10_000),
    "`tag`, `equity`, `random`, 3 `blueprint`": _CoverageTable(
        "SIXMAX", ("tag", "equity", "random", "blueprint", "blueprint", "blueprint"), 800
    ),
    "`tag`, 5 `blueprint`": _CoverageTable("SIXMAX", ("tag", *["blueprint"] * 5), 800),
}
_BREAK = " | "


def bench_coverage(seconds: float = 1.0) -> list[Measurement]:
    """Return the first agent's figures, with and without correction, for each line-up and number of silent agents.

    Parameters
    ----------
    seconds : float
        A factor for the numbers of runs (10,000 with 1.0) and of groups played.
    """
    rows = []
    num_runs = max(2, round(_NUM_RUNS * seconds))
    for title, table in _TABLES.items():
        num_agents = len(table.agents)
        for num_silent in range(min(_MAX_SILENT, num_agents) + 1):
            scores = play_pool(table.game, table.agents, num_silent, max(8, round(table.pool * seconds)))
            scores -= scores.mean(axis=0)
            is_silent = np.arange(num_agents) < num_silent
            prior = prior_coefficients(np.ones(num_agents), is_silent)
            plain, corrected = simulate(scores, prior, num_runs)
            name = _BREAK.join((title, str(num_silent), ""))
            rows += _coverage_figures(name, plain, corrected)
            whole = is_silent / num_silent if num_silent else prior
            other = None if np.array_equal(prior, whole) else simulate(scores, whole, num_runs)[1]
            rows += _width_figures(name, plain, corrected, other)
    return rows


def play_pool(game: str, agents: tuple[str, ...], num_silent: int, num_groups: int) -> np.ndarray:
    """Return the scores of duplicate groups with AIVAT and checkdown values: float64[num_groups, num_agents], in chips.

    The first `num_silent` agents play as usual, but report no strategy. They are scored by AIVAT's reduced form.
    """
    rules = parse_game(game)
    players = [make_agent(name) for name in agents]
    numbers = range(len(players))
    aivat, streams = Aivat(rules), Streams(rules.num_seats, Seeded(_SEED))
    found = np.empty((num_groups, len(players)))
    for deck in range(num_groups):
        group = play_group(
            rules,
            lambda rotation: players,
            numbers,
            streams,
            (0, deck),
            lambda hand, seats, telling: None,
            aivat=aivat,
            trusted=numbers[num_silent:],
            speakers=[Agent() if number < num_silent else None for number in numbers],
        )
        found[deck] = [group[number].estimate for number in numbers]
    return found


def simulate(scores: np.ndarray, prior: np.ndarray, num_runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first agent's scores in simulated runs, without and with the zero-sum correction.

    Parameters
    ----------
    scores : float64[num_groups, num_agents]
        The pool.
    prior : float64[num_agents]
        The prior coefficients.

    Returns
    -------
    plain, corrected : float64[num_runs, NUM_GROUPS[-1]]
        Scores without and with the correction.
    """
    rng = np.random.default_rng(_SEED)
    length = NUM_GROUPS[-1]
    num_earlier = np.arange(length) // BLOCK_DECKS * BLOCK_DECKS
    plain, corrected = np.empty((2, num_runs, length))
    for run in range(num_runs):
        drawn = scores[rng.integers(len(scores), size=length)]
        plain[run] = drawn[:, 0]
        corrected[run] = zero_sum_scores(drawn, num_earlier, prior)[:, 0]
    return plain, corrected


def _coverage_figures(name: str, plain: np.ndarray, corrected: np.ndarray) -> list[Measurement]:
    """Return how often t intervals cover the truth, and how often anytime-valid intervals ever leave out the truth.

    `name` begins the name of each figure.
    """
    pairs = {str(count): [covered(runs, count) for runs in (corrected, plain)] for count in NUM_GROUPS}
    pairs["left out"] = [ever_left_out(runs) for runs in (corrected, plain)]
    shares = {what: [100.0 * each.mean() for each in pair] for what, pair in pairs.items()}
    return [
        Measurement(f"{name}{what}", ours, "%", f"{other:.1f} % without correction")
        for what, (ours, other) in shares.items()
    ]


def _width_figures(name: str, plain: np.ndarray, corrected: np.ndarray, other: np.ndarray | None) -> list[Measurement]:
    """Return the mean half-widths, in per cent of those without correction.

    `other` holds scores that are corrected with prior coefficients that sum to 1 over the silent agents; None if these
    are the coefficients of `corrected`.
    """
    rows = []
    for count in NUM_GROUPS:
        ours, without, prior_1 = (
            nan if runs is None else float(runs[:, :count].std(axis=1, ddof=1).mean())
            for runs in (corrected, plain, other)
        )
        share, share_1 = (100.0 * width / without if without else nan for width in (ours, prior_1))
        note = "" if other is None else f"{share_1:.0f} % with prior coefficients of sum 1; "
        rows.append(
            Measurement(f"{name}width {count}", share, "%", f"{note}relative to the mean half-width without correction")
        )
    return rows


def covered(runs: np.ndarray, count: int) -> np.ndarray:
    """Return whether the t interval of each run's first `count` groups contains 0: bool[num_runs]."""
    first = runs[:, :count]
    return abs(first.mean(axis=1)) <= expected_half_width(1.0, count) * first.std(axis=1, ddof=1)


def ever_left_out(runs: np.ndarray) -> np.ndarray:
    """Return whether each run's anytime-valid interval leaves out 0 at a check or at the end: bool[num_runs].

    The checks are after the numbers of groups that `look_decks` yields.
    """
    length = runs.shape[1]
    missed = np.zeros(len(runs), dtype=bool)
    for count in (*look_decks(length), length):
        width = sequential_half_width(1.0, count)
        if isfinite(width):
            first = runs[:, :count]
            # The interval for normal samples is computed faster, and is never wider: all runs that miss are suspects.
            suspects = np.flatnonzero(abs(first.mean(axis=1)) > width * first.std(axis=1, ddof=1))
            missed[suspects] |= abs(first[suspects].mean(axis=1)) > always_valid_half_width(first[suspects])
    return missed


def coverage_text(rows: list[Measurement]) -> str:
    """Return the figures as a table in Markdown, a line for each line-up and number of silent agents.

    Beside a share, the share without the correction is in parentheses. Beside a width, the parentheses have the width
    with prior coefficients that sum to 1 over the silent agents.
    """
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        title, num_silent, column = row.name.split(_BREAK)
        digits = 0 if column.startswith("width") else 1
        other = f" ({row.note.split()[0]})" if row.note[:1].isdigit() else ""
        text = f"{row.value:.{digits}f}{other}"
        lines.setdefault((title, num_silent), {})[column] = text
    columns = list(next(iter(lines.values())))
    heads = [f"{name} groups" if name.isdigit() else name for name in columns]
    return markdown_table([["game", "silent", *heads], *([*name, *cells.values()] for name, cells in lines.items())])
