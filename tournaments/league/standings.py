"""The standings of a league: every opponent counts equally, whatever the number of hands against it.

Three ratings stand side by side: the mean against the field, the Nash average and alpha-rank. The mean has an
anytime-valid interval, which allows for the choice of pairings by results (`Crosstable`). Every rating, the mean
included, has a bootstrap interval: percentiles over resamples, for which the groups of each pairing are drawn with
replacement. Bootstrap intervals do not allow for the choice of pairings by results.
"""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.alpha_rank import alpha_rank
from plurispiel.evaluation.nash_averaging import nash_average
from plurispiel.evaluation.statistics import bootstrap_means
from plurispiel.tournaments.league.crosstable import Crosstable, field_means
from plurispiel.tournaments.league.entries import CHANGES, Entry, change_of
from plurispiel.tournaments.league.folder import League, pairs_of
from plurispiel.tournaments.league.pairings import Pair, Pairing
from plurispiel.tournaments.run.results import BELIEVED, aligned, number_text

MIN_GROUPS = 2
"""The groups that two entries must have played before both can be ranked."""
NUM_RESAMPLES = 500
"""The number of resamples for the intervals of the ratings."""

INTERVALS = (
    "± always: half-width of an anytime-valid 95 % interval, which holds however often one looks, although results "
    "decide which pairing plays; a dash: too few groups. [...]: 95 % bootstrap intervals, which neglect this choice."
)
"""The kinds of intervals in the tables."""


def make_standings(league: League, *, num_resamples: int | None = None) -> dict[str, Any]:
    """Return the standings of a league as plain values, the best agent first.

    Entries that have not met every other ranked entry are not ranked.

    Returns
    -------
    dict
        ``game, seed, score, hands, groups``, ``older_groups`` (groups played by other code of this package), ``digest``
        (of all groups), ``unranked`` (names), ``agents`` and ``matrix``. Rows and columns of the matrix are in the
        order of the agents. Each cell has ``mbb_per_hand, ci95, sequential_ci95, groups, older_groups``; cells of the
        diagonal are None.

        Each agent has ``name, number, digest, hands, faults, retired, from_outside, believed``. Its ratings are
        ``mbb_per_hand`` (the mean against the field), ``nash_share``, ``nash_rating`` and ``alpha_rank``. The ends of
        their bootstrap intervals are ``mbb_per_hand_ci95`` and so on. ``sequential_ci95`` is the half-width of the
        anytime-valid interval of ``mbb_per_hand``, None with few groups. ``separated`` tells whether the agent is
        separated from the next one, None for the last. ``change`` is the key of `CHANGES` if the agent has changed
        since it was added, otherwise None.

    Raises
    ------
    ValueError
        If the folder of the league is damaged, or no Nash average is found.
    """
    entries = league.active
    pairings = {
        (first.number, second.number): pairing
        for first, second in pairs_of(entries)
        if (pairing := league.pairing(first, second)) and pairing.groups
    }
    ranked = _met_by_all(entries, pairings)
    groups = sum(pairing.groups for pairing in pairings.values())
    record: dict[str, Any] = {
        "game": game_name(league.config.rules),
        "seed": league.config.seed,
        "score": league.config.score or "aivat_zero_sum",
        "hands": 2 * groups,
        "groups": groups,
        "older_groups": sum(pairing.older_groups for pairing in pairings.values()),
        "digest": _digest(entries, pairings),
        "agents": [],
        "matrix": [],
        "unranked": [entry.name for entry in entries if entry not in ranked],
    }
    if not ranked:
        return record
    table = Crosstable([entry.number for entry in ranked], pairings)
    ratings = _ratings(table.rates)
    intervals = _intervals(table, pairings, league.config.public_seed, num_resamples or NUM_RESAMPLES)
    order = table.ranking
    for place, index in enumerate(order):
        entry = ranked[index]
        met = {pair: pairing for pair, pairing in pairings.items() if entry.number in pair}
        sides = [(pairing, pair.index(entry.number)) for pair, pairing in met.items()]
        record["agents"].append(
            {
                "name": entry.name,
                "number": entry.number,
                "digest": entry.digest,
                "change": change_of(entry) or None,
                **{name: float(values[index]) for name, values in ratings.items()},
                **{f"{name}_ci95": ends[:, index].tolist() for name, ends in intervals.items()},
                "sequential_ci95": _finite(table.field_half_width(index)),
                "separated": table.is_separated(index, order[place + 1]) if place + 1 < len(order) else None,
                "hands": 2 * sum(pairing.groups for pairing in met.values()),
                "faults": sum(pairing.faults[side] for pairing, side in sides),
                "retired": any(pairing.retired[side] for pairing, side in sides),
                "from_outside": parse_spec(entry.spec).is_foreign,
                "believed": entry.believe,
            }
        )
    record["matrix"] = [[_cell(table, pairings, row, column) for column in order] for row in order]
    return record


def standings_text(record: Mapping[str, Any]) -> str:
    """Return the standings as tables, best agent first, with notes on intervals, versions and missing agents."""
    agents = record["agents"]
    lines = []
    if agents:
        names = [_name(agent) for agent in agents]
        cells: list[tuple[str, ...]] = [("", *names)]
        cells += [(name, *map(cell_text, row)) for name, row in zip(names, record["matrix"], strict=True)]
        lines += [*aligned(rating_rows(agents)), "", "mbb/hand of the row against the column, ± always:"]
        lines += [*aligned(cells), "", INTERVALS, *separation_lines(agents), *version_lines(record)]
    else:
        lines.append("nobody is ranked yet; plurispiel league FOLDER play plays the first hands")
    if agents and record["unranked"]:
        lines.append(f"not ranked, as they have not met all others: {', '.join(map(printable, record['unranked']))}")
    if any(agent["believed"] for agent in agents):
        scores = "aivat and aivat_duplicate" + f"; the score here is {record['score']}" * (
            record["score"] not in ("aivat", "aivat_duplicate")
        )
        lines.append(f"{BELIEVED}: believed, its own reported strategy corrects the scores {scores}")
    lines.append(f"{record['hands']:,} hands of {record['game']}, digest {record['digest']}")
    return "\n".join(lines)


def rating_rows(agents: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the table of ratings as texts, its head first."""
    forms = {"mbb_per_hand": "+,.0f", "nash_share": ".2f", "nash_rating": "+,.0f", "alpha_rank": ".2f"}
    head = ("agent", "mbb/hand", "± always", "95 %", "Nash share", "95 %", "Nash rating", "95 %", "alpha-rank", "95 %")
    rows: list[tuple[str, ...]] = [(*head, "hands", "faults")]
    for agent in agents:
        cells = [_name(agent)]
        for name, form in forms.items():
            low, high = agent[f"{name}_ci95"]
            cells += [f"{agent[name]:{form}}", f"[{low:{form}}, {high:{form}}]"]
        cells.insert(2, number_text(agent["sequential_ci95"], ",.0f"))
        rows.append((*cells, f"{agent['hands']:,}", f"{agent['faults']:,}"))
    return rows


def separation_lines(agents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line on the neighbours in the ranking whose order is not certain yet."""
    pairs = zip(agents, agents[1:], strict=False)
    open_pairs = [f"{one['name']} and {other['name']}" for one, other in pairs if not one["separated"]]
    if not open_pairs:
        return [
            "every agent is separated from its neighbours by anytime-valid intervals; "
            "with 95 % confidence all of them hold"
        ]
    return [printable(f"neighbours that anytime-valid intervals do not separate yet: {', '.join(open_pairs)}")]


def version_lines(record: Mapping[str, Any]) -> list[str]:
    """Return lines on agents that have changed since they were added, and on groups of other code."""
    lines = []
    for change, words in CHANGES.items():
        if names := [agent["name"] for agent in record["agents"] if agent["change"] == change]:
            lines.append(
                printable(f"results of an agent's earlier version, as {words} since it was added: {', '.join(names)}")
                + " (league FOLDER add without an agent adds it as it is now)"
            )
    if older := record["older_groups"]:
        lines.append(f"{older:,} of {record['groups']:,} groups were played by other code of this package")
    return lines


def _name(agent: Mapping[str, Any]) -> str:
    return printable(agent["name"]) + BELIEVED * agent["believed"]


def cell_text(cell: Mapping[str, Any] | None) -> str:
    """Return a cell of the matrix as text: the rate, and the anytime-valid half-width or a dash if it is infinite."""
    if cell is None:
        return ""
    return f"{cell['mbb_per_hand']:+,.0f} ± {number_text(cell['sequential_ci95'], ',.0f')}"


def _met_by_all(entries: Sequence[Entry], pairings: Mapping[Pair, Pairing]) -> list[Entry]:
    """Return entries that have all met each other.

    Until all have met, the entry that lacks the most pairings is left out; among equals, the latest entry. A single
    entry has met nobody, so at least two are returned or none.
    """
    ranked = list(entries)
    while True:
        gaps = {entry.number: 0 for entry in ranked}
        for first, second in pairs_of(ranked):
            pairing = pairings.get((first.number, second.number))
            if pairing is None or pairing.groups < MIN_GROUPS:
                gaps[first.number] += 1
                gaps[second.number] += 1
        if not any(gaps.values()):
            return ranked if len(ranked) > 1 else []
        worst = max(ranked, key=lambda entry: (gaps[entry.number], entry.number))
        ranked.remove(worst)


def _ratings(rates: np.ndarray) -> dict[str, np.ndarray]:
    """Return every rating of all entries, by name: float64[num_entries] each; ValueError without Nash average."""
    try:
        average = nash_average(rates)
    except ArithmeticError as error:
        raise ValueError(f"there are no standings: {error}") from None
    return {
        "mbb_per_hand": field_means(rates),
        "nash_share": average.shares,
        "nash_rating": average.ratings,
        "alpha_rank": alpha_rank(rates),
    }


def _intervals(
    table: Crosstable, pairings: Mapping[Pair, Pairing], seed: int, num_resamples: int
) -> dict[str, np.ndarray]:
    """Return the ends of every rating's bootstrap interval, by name: float64[2, num_entries] each."""
    size = len(table.numbers)
    resampled = np.zeros((num_resamples, size, size))
    for row in range(size):
        for column in range(row + 1, size):
            pair = table.numbers[row], table.numbers[column]
            means = bootstrap_means(pairings[pair].rates_mbb, np.random.default_rng((seed, *pair)), num_resamples)
            resampled[:, row, column], resampled[:, column, row] = means, -means
    samples = []
    for rates in resampled:
        with contextlib.suppress(ValueError):  # a resample without a Nash average is left out
            samples.append(_ratings(rates))
    if not samples:
        raise ValueError("there are no standings: no resample of the groups has a Nash average")
    return {name: np.quantile([each[name] for each in samples], [0.025, 0.975], axis=0) for name in samples[0]}


def _cell(table: Crosstable, pairings: Mapping[Pair, Pairing], row: int, column: int) -> dict[str, Any] | None:
    if row == column:
        return None
    one, other = sorted((table.numbers[row], table.numbers[column]))
    return {
        "mbb_per_hand": float(table.rates[row, column]),
        "ci95": float(table.ci95[row, column]),
        "sequential_ci95": _finite(float(table.always[row, column])),
        "groups": int(table.groups[row, column]),
        "older_groups": pairings[one, other].older_groups,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _digest(entries: Sequence[Entry], pairings: Mapping[Pair, Pairing]) -> str:
    """Return a hash of all groups, by the digests of the entries that played them."""
    digests = {entry.number: entry.digest for entry in entries}
    lines = sorted(f"{digests[one]} {digests[other]} {pairing.digest}" for (one, other), pairing in pairings.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
