"""Frequencies of an agent's play: known leaks, VPIP, PFR and the like, sources of decisions, answers by situation.

The agent plays hands against each kind of opponents (`ProfileSettings`), and `PlayProfile` counts its decisions. Agents
from outside play in processes of their own, which do not show the sources of their decisions.
"""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.base import Agent
from plurispiel.agents.blueprint.fallback import SOURCES
from plurispiel.agents.specs import split_specs, unique_names
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.play_profile import (
    BANDS,
    CALLS,
    FACED,
    FOLDS,
    PLAYERS,
    RAISES,
    SOURCE_PLACES,
    WEIGHT,
    PlayProfile,
)
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.evaluation.watched_agent import LogUniformSizes, WatchedAgent
from plurispiel.tournaments.bench.leak_spots import measure_spot, spots_of
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.contestants.isolation import Isolation, measured_agents

SELF, LOG_UNIFORM = "self", "log-uniform"
_SEPARATOR = " | "
_ANSWERS = ("fold", "call", "raise")
_MIN_SHOWN = 30
"""Situations with fewer decisions are not printed; ``--json`` has all situations."""


@dataclass(frozen=True)
class ProfileSettings:
    """Settings of `bench_bot_profile`.

    Attributes
    ----------
    agents : tuple of str
        Agent specs. Each agent has a column of figures for each kind of opponents.
    game : str
        A preset or an OpenSpiel game string.
    hands : int
        Number of hands against each kind of opponents.
    seed : int
        Seed of the decks and of the agents' random streams.
    opponents : tuple of str
        The kinds of opponents. ``self`` is the agent itself in every seat, and the decisions of all seats are counted.
        ``log-uniform`` is the agent with log-uniform bet sizes in all other seats. An agent spec puts that
        agent in all other seats. Except with ``self``, the counted agent has one seat, which changes from hand to hand.
    own_sizes : float
        The probability, from 0 to 1, that the size of a counted agent's bet or raise is drawn log-uniformly, too.

    Raises
    ------
    ValueError
        If a setting is not allowed.
    """

    agents: tuple[str, ...] = ("blueprint",)
    game: str = "SIXMAX"
    hands: int = 1_000
    seed: int = 1
    opponents: tuple[str, ...] = (SELF, LOG_UNIFORM)
    own_sizes: float = 0.0

    def __post_init__(self):
        if self.hands < 1:
            raise ValueError(f"hands must be at least 1, got {self.hands}")
        if self.seed < 0:
            raise ValueError(f"the seed must not be negative, got {self.seed}")
        if not 0.0 <= self.own_sizes <= 1.0:
            raise ValueError(f"own_sizes must be a probability from 0 to 1, got {self.own_sizes:g}")
        rules = parse_game(self.game)
        if (rules.num_streets, rules.num_hole_cards, len(rules.cards)) != (4, 2, 52):
            raise ValueError(
                f"game must be hold'em with two hole cards, four streets and 52 cards, got {self.game}; "
                "take SIXMAX or HUNL, for example"
            )


def profile_settings(**options: Any) -> ProfileSettings:
    """Return settings from options, in which the lists of agents and opponents are texts separated by commas.

    Raises
    ------
    ValueError
        If a setting is not allowed.
    """
    for name in {"agents", "opponents"} & set(options):
        options[name] = tuple(split_specs(options[name]))
    return ProfileSettings(**options)


def bench_bot_profile(settings: ProfileSettings, isolation: Isolation | None = None) -> list[Measurement]:
    """Return all figures. The name of a figure joins its section, row, answer and column by `` | ``.

    Shares are in per cent. The note gives the number of decisions or hands from which a figure is computed; for a
    source, the number of decisions from this source. The note is empty if that number is 0.

    Parameters
    ----------
    isolation : Isolation, optional
        How agents from outside run; by default without a sandbox.

    Raises
    ------
    ValueError
        As in `play_profile`.
    """
    rules, rows = parse_game(settings.game), []
    for spec, title in zip(settings.agents, unique_names(list(settings.agents)), strict=True):
        for opponents in settings.opponents:
            column = title if len(settings.opponents) == 1 else f"{title}, {opponents}"
            profile = play_profile(spec, rules, opponents, settings, isolation)
            figures = _leaks(profile)
            if opponents == settings.opponents[0]:
                with measured_agents(spec, isolation or Isolation(), rules=rules) as (agent,):
                    figures = _spots(agent, rules, settings.seed) + figures
            for each in figures + _first_look(profile, rules) + _sources(profile) + _situations(profile):
                rows.append(each.measurement(column))
    return rows


def play_profile(
    spec: str, rules: HoldemRules, opponents: str, settings: ProfileSettings, isolation: Isolation | None = None
) -> PlayProfile:
    """Return the counts of an agent's play against one kind of opponents.

    Parameters
    ----------
    isolation : Isolation, optional
        As in `bench_bot_profile`.

    Raises
    ------
    ValueError
        If an agent commits a fault, or a spec names no agent.
    """
    with contextlib.ExitStack() as processes:

        def agents(name: str) -> list[Agent]:
            seated = measured_agents(name, isolation or Isolation(), rules.num_seats, rules=rules)
            return processes.enter_context(seated)

        others: list[Agent] = []
        if opponents == LOG_UNIFORM:
            others = [LogUniformSizes(agent) for agent in agents(spec)]
        elif opponents != SELF:
            others = agents(opponents)
        return _counted(spec, agents(spec), rules, opponents, others, settings)


def _counted(
    spec: str, agents: list[Agent], rules: HoldemRules, opponents: str, others: list[Agent], settings: ProfileSettings
) -> PlayProfile:
    """Return the counts of an agent's play.

    `agents` has an object of the counted agent for each seat. `others` has an opponent for each seat, or is empty. With
    opponents, the counted agent has one seat, which changes from hand to hand. Without opponents, the counted agent has
    all seats, and the decisions of all seats are counted.
    """
    profile, num_seats = PlayProfile(rules.num_seats, rules.num_streets), rules.num_seats
    watched: list[Agent] = [WatchedAgent(agent, profile) for agent in agents]
    if settings.own_sizes:
        watched = [LogUniformSizes(agent, settings.own_sizes) for agent in watched]
    bar = progress_bar(range(settings.hands), unit="hand", desc=f"{spec} against {opponents}", leave=False)
    for number in bar:
        seats = [number % num_seats] if others else list(range(num_seats))
        table = [watched[seat] if seat in seats else others[seat] for seat in range(num_seats)]
        deck = deal_deck(rules, np.random.default_rng((settings.seed, 0, number)))
        rngs = [np.random.default_rng((settings.seed, 1, number, seat)) for seat in range(num_seats)]
        hand = play_hand(rules, table, deck, rngs)
        if hand.faults:
            fault = hand.faults[0]
            raise ValueError(f"{spec} against {opponents}: seat {fault.seat} is at fault ({fault.message})")
        for seat in seats:
            profile.see_hand(hand, seat)
    return profile


def bot_profile_text(rows: list[Measurement]) -> str:
    """Return the figures as text tables, with a column for each agent and kind of opponents."""
    columns = list(dict.fromkeys(row.name.split(_SEPARATOR)[3] for row in rows))
    table: dict[tuple[str, str], dict[str, list[Measurement]]] = {}
    for row in rows:
        section, name, _, column = row.name.split(_SEPARATOR)
        table.setdefault((section, name), {}).setdefault(column, []).append(row)
    shown = {key: cells for key, cells in table.items() if key[0] != "situations" or _is_shown(cells)}
    width = max(len(name) for _, name in shown)
    texts = {key: [_cell(cells.get(column, [])) for column in columns] for key, cells in shown.items()}
    widths = [max(len(column), *(len(cells[k]) for cells in texts.values())) for k, column in enumerate(columns)]
    lines, last = [], ""
    for (section, name), cells in texts.items():
        if section != last:
            heads = [column.rjust(size) for column, size in zip(columns, widths, strict=True)]
            lines += ["", "  ".join([_TITLES[section].ljust(width), *heads])]
            last = section
        lines.append("  ".join([name.ljust(width), *(c.rjust(size) for c, size in zip(cells, widths, strict=True))]))
    return "\n".join(lines[1:])


_TITLES = {
    "leaks": "LEAKS, % (decisions)",
    "first look": "FIRST LOOK, % (decisions or hands)",
    "sources": "SOURCES, % of decisions",
    "situations": "FOLD / CALL / RAISE, % (decisions)",
}


@dataclass(frozen=True)
class _Figure:
    """A figure of one agent: `value`, in `unit`, was computed from `count` decisions or hands (0 if none were counted).

    For a source, `count` is the number of decisions from this source. `counted` is the noun of `count`.
    """

    section: str
    name: str
    value: float
    count: float
    answer: str = ""
    unit: str = "%"
    counted: str = "decisions"

    def measurement(self, column: str) -> Measurement:
        name = _SEPARATOR.join([self.section, self.name, self.answer, column])
        return Measurement(name, self.value, self.unit, f"{self.count:,.1f} {self.counted}" if self.count else "")


def _share(section: str, name: str, counts: np.ndarray, *columns: int) -> _Figure:
    """Return the share, in per cent, of the answers in `columns` in a row of counts; NaN without decisions."""
    weight = float(counts[WEIGHT])
    value = 100.0 * float(counts[list(columns)].sum()) / weight if weight > 0.0 else math.nan
    return _Figure(section, name, value, weight)


def _leaks(profile: PlayProfile) -> list[_Figure]:
    def row(name: str, counts: np.ndarray, *columns: int) -> _Figure:
        return _share("leaks", name, counts, *columns)

    table, occasion = profile.situations, profile.occasion
    flop, river, bets = 1, 3, slice(1, 6)
    figures = []
    for tree in ("off the tree", "on the tree"):
        top = "last on the river, top hands"
        figures += [
            row(f"{tree}, last on the river, top 2 %: checks back", occasion(f"{tree}, {top}"), CALLS),
            row(f"{tree}, nobody has bet: bets", occasion(f"{tree}, nobody has bet"), RAISES),
            row(f"{tree}, facing a bet: calls", occasion(f"{tree}, facing a bet"), CALLS),
            row(f"{tree}, facing a bet: raises", occasion(f"{tree}, facing a bet"), RAISES),
        ]
    strong, weak = BANDS.index("> 0.85"), BANDS.index("0.25-0.45")
    figures += [
        row("flop, 3 players, a bet, equity > 0.85: raises", table[flop, 1, bets, strong].sum(axis=0), RAISES),
        row("flop, 3 or more, a bet, equity 0.25-0.45: calls", table[flop, 1:, bets, weak].sum(axis=(0, 1)), CALLS),
        row("flop, 2 players, a bet, equity 0.25-0.45: calls", table[flop, 0, bets, weak].sum(axis=0), CALLS),
        row("river, one bet: calls", table[river, :, bets].sum(axis=(0, 1, 2)), CALLS),
    ]
    for name in ("big blind, raise", "big blind, raise and call"):
        figures += [row(f"{name}: calls", occasion(name), CALLS), row(f"{name}: raises", occasion(name), RAISES)]
    for hand in ("AJo", "AQo", "KQo"):
        for position in ("CO", "BTN"):
            counts = occasion(f"cold {hand}", position)
            figures += [
                row(f"{hand}, {position}, one raise: calls", counts, CALLS),
                row(f"{hand}, {position}, one raise: raises", counts, RAISES),
            ]
    number = profile.num_after_flop
    for name, count in zip(("fold", "call", "raise", "one action, with its size,"), profile.certain, strict=True):
        share = 100.0 * float(count) / number if number else math.nan
        figures.append(_Figure("leaks", f"after the flop, {name} above 0.99", share, number))
    return figures


def _spots(agent: Agent, rules: HoldemRules, seed: int) -> list[_Figure]:
    """Return, for each spot, the shares of 72o and of the agent's range that do not fold, in per cent.

    An agent that reports no strategy has no figures.
    """
    figures = []
    for spot in progress_bar(spots_of(rules), unit="spot", desc="spots", leave=False):
        for hands, share in (measure_spot(agent, rules, spot, seed) or {}).items():
            figures.append(_Figure("leaks", f"{spot.name}: {hands} goes on", 100.0 * share, 0.0))
    return figures


def _first_look(profile: PlayProfile, rules: HoldemRules) -> list[_Figure]:
    """Return the first look, statistics such as VPIP, PFR and 3-bet, over all positions and then by position."""
    positions = seat_positions(rules)
    figures = []
    for position in (None, *positions):
        seats = [seat for seat, name in enumerate(positions) if position in (None, name)]
        counts, flops = profile.counts[seats].sum(axis=0), profile.flops[seats].sum(axis=0)
        hands = int(counts[COUNTERS.index("hands")])
        place = "" if position is None else f", {position}"

        def whole(name: str, count: int, total: int, place: str = place) -> _Figure:
            share = 100.0 * count / total if total else math.nan
            return _Figure("first look", name + place, share, total, counted="hands")

        figures += [
            whole("VPIP", int(counts[COUNTERS.index("vpip")]), hands),
            whole("PFR", int(counts[COUNTERS.index("raised_preflop")]), hands),
            whole("WTSD", int(flops[1]), int(flops[0])),
        ]
        figures += [
            _share("first look", name + place, profile.occasion(occasion, position), answer)
            for name, occasion, answer in _NAMED
            if profile.occasion(occasion, position)[WEIGHT] > 0.0
        ]
        later = profile.occasion("after the flop", position)
        calls = float(profile.occasion("facing a bet", position)[CALLS])
        factor = float(later[RAISES]) / calls if calls > 0.0 else math.nan
        figures.append(_Figure("first look", f"aggression factor{place}", factor, float(later[WEIGHT]), unit=""))
    return figures


_NAMED = (
    ("raises first in", "first in", RAISES),
    ("limps first in", "first in", CALLS),
    ("3-bet", "a raise", RAISES),
    ("fold to 3-bet", "a 3-bet", FOLDS),
    ("c-bet", "c-bet", RAISES),
    ("fold to c-bet", "facing a c-bet", FOLDS),
    ("donk flop", "donk flop", RAISES),
    ("donk turn", "donk turn", RAISES),
    ("donk river", "donk river", RAISES),
)


def _sources(profile: PlayProfile) -> list[_Figure]:
    names = list(dict.fromkeys([*SOURCES, *(source for source, _ in profile.sources if source)]))
    figures = []
    for place in SOURCE_PLACES:
        total = sum(count for (_, where), count in profile.sources.items() if where == place)
        for name in names:
            count = profile.sources[name, place]
            share = 100.0 * count / total if total else math.nan
            figures.append(_Figure("sources", f"{place}: {name}", share, count))
    return figures


def _situations(profile: PlayProfile) -> list[_Figure]:
    figures = []
    for place in np.argwhere(profile.situations[..., WEIGHT] > 0.0):
        street, players, faced, band = place.tolist()
        counts = profile.situations[street, players, faced, band]
        name = f"{STREETS[street]}, {PLAYERS[players]} players, {FACED[faced]}, {BANDS[band]}"
        for column, answer in enumerate(_ANSWERS):
            share = _share("situations", name, counts, column)
            figures.append(_Figure("situations", name, share.value, share.count, answer))
    return figures


def _number(row: Measurement) -> float:
    """Return the number in a figure's note; 0 if the note is empty."""
    return float(row.note.split()[0].replace(",", "")) if row.note else 0.0


def _is_shown(cells: dict[str, list[Measurement]]) -> bool:
    return any(_number(row) >= _MIN_SHOWN for rows in cells.values() for row in rows)


def _cell(rows: list[Measurement]) -> str:
    if not rows or all(math.isnan(row.value) for row in rows):
        return "-"
    digits: Callable[[float], str] = (lambda value: f"{value:.0f}") if len(rows) > 1 else (lambda value: f"{value:.2f}")
    text = " / ".join(digits(row.value) for row in rows)
    return text + (f" ({_number(rows[0]):,.0f})" if rows[0].note else "")
