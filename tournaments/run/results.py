"""The results of a run: the record in results.json, and their table as text."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.base import ORIGINS
from plurispiel.evaluation.play_statistics import PlayStatistics
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.run.block_rows import DECIDED
from plurispiel.tournaments.run.config import SCORES, TournamentConfig
from plurispiel.tournaments.run.machines import machine_notes, machine_records
from plurispiel.tournaments.run.schedule import make_lineups
from plurispiel.tournaments.run.scores import CHANCE_ONLY, RunScores, best_estimates
from plurispiel.tournaments.run.store import RunStore

_SEPARATE = (
    "AIVAT estimates both sides of a pairing separately: the estimates need not sum to 0, only their expectations do"
)

MIXED = "machines with other arithmetic were admitted (--mixed): AIVAT can be repeated to about 12 digits only"

BELIEVED = "†"
"""The sign of an outside agent whose reported strategy corrects its scores `aivat` and `aivat_duplicate`."""


class Tally:
    """Running totals for the progress bar: for each agent the number of groups, and sums of rates and squared rates.

    Parameters
    ----------
    num_agents : int
    big_blind : float
        In chips; rates are in mbb/hand.
    """

    def __init__(self, num_agents: int, big_blind: float):
        self._per_chip = 1000.0 / big_blind
        self._sums = np.zeros((3, num_agents))

    def add(self, rows: np.ndarray) -> None:
        """Count the rows of a block (`block_rows.row_type`), with the best known estimates of the chips."""
        # Leave out the rows of the Control (package `run`), which has the agent number `num_agents`.
        own = rows[rows["agent"] < self._sums.shape[1]]
        rates = best_estimates(own) / own["hands"] * self._per_chip
        for sums, weights in zip(self._sums, (np.ones(len(own)), rates, rates * rates), strict=True):
            sums += np.bincount(own["agent"], weights, minlength=len(sums))

    def leader(self) -> int:
        """Return the number of the agent with the highest mean among those with a group."""
        groups, totals, _ = self._sums
        return int(np.argmax(np.where(groups > 0, totals / np.maximum(groups, 1), -np.inf)))

    def text(self, number: int) -> str:
        """Return an agent's mean and the half-width of its 95 % interval as text; the mean alone for one group."""
        groups, total, squares = self._sums[:, number].tolist()
        mean = total / groups
        if groups < 2:
            return f"{mean:+.0f}"
        variance = max(0.0, (squares - groups * mean * mean) / (groups - 1))
        return f"{mean:+.0f} ± {1.96 * (variance / groups) ** 0.5:.0f}"


def make_results(config: TournamentConfig, store: RunStore) -> dict[str, Any]:
    """Return the record of a run, the content of results.json; scores do not depend on the order of play."""
    scores = store.scores()
    play = store.play_counts()
    kinds = store.fault_kinds()
    events = store.events()
    seconds = store.seconds()
    judged = RunScores(config, store, scores)
    agents = []
    silent = store.facts.get("silent", "").split(", ")
    for number, name in enumerate(config.names):
        rows = scores[scores["agent"] == number]
        hands = int(rows["hands"].sum())
        record = judged.record(number)
        faults = int(rows["faults"].sum())
        agents.append(
            {
                "name": name,
                "mbb_per_hand": record.pop("mbb_per_hand"),
                "ci95": record.pop("ci95"),
                "hands": hands,
                "groups": len(rows),
                "faults": faults,
                "faults_by_kind": dict(sorted(kinds.get(number, {}).items())),
                "retired": faults >= config.max_faults,
                "fallbacks": events[number, "fallbacks"],
                "restarts": (
                    events[number, "starts"] - events[number, "processes"] if events[number, "processes"] else None
                ),
                "decisions": _decisions(events, number),
                "clamped": events[number, "clamped"],
                **record,
                "from_outside": number in config.outsiders,
                "believed": number in config.believed,
                "silent": str(number) in silent,
                "stats": PlayStatistics(play[number]).record(config.rules),
            }
        )
    groups = len(np.unique(scores[["lineup", "deck"]]))
    hands = groups * config.seats
    machines = machine_records(config, scores, *store.machines())
    return {
        "game": game_name(config.rules),
        "format": config.format,
        "seats": config.seats,
        "seed": config.seed,
        "keys": store.published_key.record() if store.published_key else None,
        "deals": config.deals,
        "processes": store.facts.get("processes"),
        "sandbox": store.facts.get("sandbox"),
        "decks": store.decks,
        "stop_when": config.stop_when or None,
        "stopped": store.decks < config.decks,
        "hands": hands,
        "seconds": seconds,
        "hands_per_second": hands / seconds if seconds > 0 else None,
        "score": judged.headline,
        "value_function": store.values() if config.uses_aivat else None,
        "agents": agents,
        "matrix": _matrix(config, scores, judged) if config.seats == 2 else None,
        "referee": config.referee,
        "machines": machines,
        "mixed": store.facts.get("arithmetic") == "mixed",
        "digest": store.facts["digest"],
    }


def _decisions(events: Counter[tuple[int, str]], agent: int) -> dict[str, int] | None:
    """Return an agent's decisions by origin; None if it does not report them."""
    found = {origin: events[agent, f"{DECIDED}{origin}"] for origin in ORIGINS}
    return found if any(found.values()) else None


def event_notes(agent: dict[str, Any]) -> list[str]:
    """Return in words the restarts and the fallbacks of an agent of a record; usually nothing."""
    notes = []
    if agent["restarts"] is not None:
        notes.append(
            f"it learns during the match; its processes were started again {agent['restarts']:,} times, and forgot "
            "what they had learnt"
            if agent["restarts"]
            else "it learns during the match; none of its processes was started again"
        )
    if agent["fallbacks"]:
        number = f"{agent['fallbacks']:,}"
        notes.append(f"{number} of its answers were fallbacks: it could not find the answer that was meant")
    return notes


def results_text(results: dict[str, Any]) -> str:
    """Return the record as the text of results.json."""
    return json.dumps(results, indent=1, allow_nan=False) + "\n"


def table_text(results: dict[str, Any]) -> str:
    """Return the table of results, best agent first; in a heads-up gauntlet, the first agent against each other one."""
    is_duel = results["format"] == "gauntlet" and results["seats"] == 2
    lines = _gauntlet_lines(results) if is_duel else _ranking_lines(results)
    rate = number_text(results["hands_per_second"], ",.0f")
    lines.append("")
    if results["stop_when"]:
        lines.append(_stop_line(results))
    if found := results["value_function"]:
        digest = f", digest {found['digest']}" if found["digest"] else ""
        lines.append(f"AIVAT with {printable(found['name'])} values{digest}")
    lines.append(f"{results['hands']:,} hands in {results['seconds']:,.1f} s ({rate} hands/s), {_dealt_text(results)}")
    lines += map(printable, machine_notes(results["machines"]))
    if results["mixed"]:
        lines.append(MIXED)
    return "\n".join(lines)


def _dealt_text(results: dict[str, Any]) -> str:
    """Return in words the source of the cards (seed or keys), how they were dealt, and the agents' processes."""
    keys = [
        f"key {entry['key']}" + f" from deck {entry['first_deck']}" * (k > 0)
        for k, entry in enumerate(results["keys"] or ())
    ]
    parts = [f"seed {results['seed']}" if results["seed"] is not None else ", ".join(keys) or "a secret key"]
    if results["deals"] == "once":
        parts.append("each rotation with its own deck")
    if results["processes"] == "one" and results["deals"] == "shared":
        parts.append("one process for all rotations: agents may remember decks")
    if results["sandbox"]:
        parts.append(f"sandbox {results['sandbox']}")
    return ", ".join(parts)


def _ranking_lines(results: dict[str, Any]) -> list[str]:
    """Return the tables of all agents: ranking, crosstable (heads-up), and the scores with and without AIVAT."""
    rows: list[tuple[str, ...]] = [
        ("agent", "mbb/hand", "± 95 %", "hands", "groups", "faults", "VPIP", "PFR", "showdown")
    ]
    ranked = sorted(results["agents"], key=lambda agent: -(agent["mbb_per_hand"] or 0.0))
    for agent in ranked:
        rows.append(
            (
                printable(agent["name"]),
                number_text(agent["mbb_per_hand"], "+,.1f"),
                number_text(agent["ci95"], ",.1f"),
                f"{agent['hands']:,}",
                f"{agent['groups']:,}",
                f"{agent['faults']:,}",
                *(number_text(agent["stats"][key], ".0%") for key in ("vpip", "pfr", "showdown")),
            )
        )
    lines = aligned(rows)
    if results["matrix"] and len(ranked) > 2:
        lines += ["", "mbb/hand of the row against the column, ± 95 %:", *aligned(_matrix_rows(results, ranked))]
    lines += ["", *_score_lines(results, ranked)]
    if results["matrix"] and results["score"] in ("aivat", "aivat_duplicate"):
        lines.append(_SEPARATE)
    return lines


def _gauntlet_lines(results: dict[str, Any]) -> list[str]:
    """Return the table of a heads-up gauntlet, one row for each opponent.

    A row names the winner, unless the interval contains 0.
    """
    first, *others = results["agents"]
    name = printable(first["name"])
    rows: list[tuple[str, ...]] = [("against", "wins", "mbb/hand", "± 95 %", "hands", "faults")]
    for other, cell in zip(others, results["matrix"][0][1:], strict=True):
        if cell is not None:
            winner = name if cell["mbb_per_hand"] > 0.0 else printable(other["name"])
            rows.append(
                (
                    printable(other["name"]),
                    winner if _is_decided(cell) else "not decided",
                    number_text(cell["mbb_per_hand"], "+,.1f"),
                    number_text(cell["ci95"], ",.1f"),
                    f"{other['hands']:,}",
                    f"{other['faults']:,}",
                )
            )
    total = f"{number_text(first['mbb_per_hand'], '+,.1f')} ± {number_text(first['ci95'], ',.1f')}"
    if results["stop_when"]:
        total += f" (± {number_text(first['sequential_ci95'], ',.1f')} always)"
    lines = [f"{name}, mbb/hand by {_title(results['score'])}:", "", *aligned(rows, num_texts=2)]
    lines += ["", f"in all {total}, {first['hands']:,} hands, {first['faults']:,} faults"]
    return lines + reduced_form_lines(results["agents"])


def _is_decided(cell: dict[str, Any]) -> bool:
    """Return whether the interval of an entry of the matrix excludes 0."""
    return cell["ci95"] is not None and abs(cell["mbb_per_hand"]) > cell["ci95"]


def _stop_line(results: dict[str, Any]) -> str:
    """Return a line on the stop rule: the rule, whether it ended the run, and after how many decks."""
    verdict = "stopped after" if results["stopped"] else "not reached in"
    return (
        f"{results['stop_when']}: {verdict} {results['decks']:,} decks of each line-up; the rule was checked many "
        "times, so '± always' holds, but not '± 95 %' and p"
    )


def _score_lines(results: dict[str, Any], ranked: list[dict]) -> list[str]:
    """Return the table of all scores that any agent has, and notes on the agents (`reduced_form_lines`)."""
    names = [name for name in SCORES if any(agent["scores"][name] for agent in ranked)]
    head = (
        f"mbb/hand by {_title(results['score'])}",
        *(_title(name) for name in names),
        "sd bb",
        "sd raw",
        "ratio",
        "p",
        *(["± always"] if results["stop_when"] else []),
    )
    rows: list[tuple[str, ...]] = [head]
    for agent in ranked:
        scores = agent["scores"]
        rows.append(
            (
                printable(agent["name"]) + ("*" if agent["aivat"] == CHANCE_ONLY else BELIEVED * agent["believed"]),
                *(interval_text(scores[name]) for name in names),
                number_text((scores[results["score"]] or {}).get("sd_bb"), ",.2f"),
                number_text((scores["raw"] or {}).get("sd_bb"), ",.2f"),
                number_text(agent["variance_ratio"], ".1f"),
                number_text(agent["p_value"], ".3f"),
                *([number_text(agent["sequential_ci95"], ",.1f")] if results["stop_when"] else []),
            )
        )
    lines = aligned(rows)
    return lines + reduced_form_lines(ranked)


def reduced_form_lines(agents: Sequence[dict]) -> list[str]:
    """Return a note on each agent whose score is corrected without its own strategy, or by a believed report."""
    lines = []
    for agent in agents:
        name = printable(agent["name"])
        if agent["aivat"] == CHANCE_ONLY:
            if agent["aivat_complaint"]:
                why = f"its strategy cannot be trusted: {printable(agent['aivat_complaint'])}"
            elif agent["silent"]:
                why = "it reports no strategy"
            elif agent["from_outside"] and not agent["believed"]:
                why = f"reports of outside agents are not used (the option believe={name} uses them)"
            else:
                why = "its strategy is not known"
            lines.append(f"* {name}: corrected only for chance and for actions of this package's agents, as {why}")
        elif agent["believed"] and agent["aivat"]:
            scores = "in aivat and aivat+duplicate"
            lines.append(f"{BELIEVED} {name}: corrected by its own reported strategy (option believe) {scores}")
    return lines


def _title(name: str) -> str:
    return name.replace("_", "+", 1).replace("_", "-")


def interval_text(score: dict | None) -> str:
    """Return the rate and half-width of a score (`Sample.record`) as text, or a dash for None."""
    if score is None:
        return "-"
    return f"{number_text(score['mbb_per_hand'], '+,.0f')} ± {number_text(score['ci95'], ',.0f')}"


def _matrix_rows(results: dict[str, Any], ranked: list[dict]) -> list[tuple[str, ...]]:
    """Return the rows of the crosstable, with the agents in the order of the ranking."""
    order = [results["agents"].index(agent) for agent in ranked]
    rows: list[tuple[str, ...]] = [("", *(printable(agent["name"]) for agent in ranked))]
    for one in order:
        cells = [results["matrix"][one][other] for other in order]
        texts = ["" if cell is None else interval_text(cell) for cell in cells]
        rows.append((printable(results["agents"][one]["name"]), *texts))
    return rows


def aligned(rows: list[tuple[str, ...]], num_texts: int = 1) -> list[str]:
    """Return the lines of a table whose first row is its head; the first `num_texts` columns are left-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = list(zip(row, widths, strict=True))
        texts = [cell.ljust(width) for cell, width in cells[:num_texts]]
        lines.append("  ".join([*texts, *(cell.rjust(width) for cell, width in cells[num_texts:])]))
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _matrix(config: TournamentConfig, scores: np.ndarray, judged: RunScores) -> list[list[dict | None]]:
    """Return the rate of each row's agent against each column's agent, heads-up, by the score that ranks the agents.

    An entry is a dict of ``mbb_per_hand`` and ``ci95``, or None for a pair that never met.
    """
    per_chip = 1000.0 / config.rules.big_blind
    chips = np.empty(len(scores))
    for number, agent in enumerate(judged.agents):
        chips[scores["agent"] == number] = agent.group_chips(judged.headline)
    lineups = np.array(make_lineups(config))
    opponents = lineups[scores["lineup"]].sum(axis=1) - scores["agent"]
    matrix: list[list[dict | None]] = [[None] * len(config.agents) for _ in config.agents]
    for one, other in {(one, other) for pair in lineups.tolist() for one, other in (pair, pair[::-1])}:
        groups = (scores["agent"] == one) & (opponents == other)
        if groups.any():
            estimate = estimate_mean(chips[groups] / scores["hands"][groups] * per_chip)
            matrix[one][other] = {"mbb_per_hand": estimate.mean, "ci95": estimate.ci95}
    return matrix


def number_text(value: float | None, form: str) -> str:
    """Return a formatted number, or a dash for None."""
    return "-" if value is None else format(value, form)
