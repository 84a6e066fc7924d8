"""The dry run, `--dry-run`: predicts intervals, hands needed and time from a *pilot*, a short run on other decks."""

import dataclasses
import math
from typing import Any

import numpy as np

from plurispiel.evaluation.statistics import (
    expected_half_width,
    samples_for_half_width,
    samples_for_sequential_half_width,
    samples_to_detect,
    sequential_half_width,
)
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import aligned, number_text, printable
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, make_lineups
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.store import RunStore

DEFAULT_CI95_MBB = 20.0
DIFFERENCE_MBB = 50.0
_PILOT_GROUPS = 192  # smallest number of groups of the pilot over all line-ups, unless the tournament has fewer
_PILOT_SEED = 1 << 64  # added to the seed, so that the pilot deals none of the planned decks


def pilot_of(config: TournamentConfig) -> TournamentConfig:
    """Return the pilot's settings: the tournament's, but with another seed or key, not more decks and no stop rule."""
    decks = -(-_PILOT_GROUPS // len(make_lineups(config)))
    decks = min(config.decks, -(-decks // BLOCK_DECKS) * BLOCK_DECKS)
    seed = None if config.draws_key else config.public_seed + _PILOT_SEED
    return dataclasses.replace(config, decks=decks, seed=seed, stop_when="")


def expect(config: TournamentConfig, pilot: TournamentConfig, store: RunStore) -> dict[str, Any]:
    """Return the predictions for a tournament from its pilot.

    Parameters
    ----------
    config, pilot : TournamentConfig
        The settings of the tournament, and those of its pilot.
    store : RunStore
        The run of the pilot, which has been played.

    Returns
    -------
    dict
        The record that ``plurispiel tournament --dry-run --json`` prints. For each agent, ``sd_bb`` is the standard
        deviation of a group's rate, in big blinds per hand. ``ci95`` and ``sequential_ci95`` are the half-widths of the
        95 % interval and of the anytime-valid interval at the end of the tournament. ``hands_for_ci95`` and
        ``hands_for_sequential_ci95`` are the hands after which these half-widths are ``target_ci95``.
        ``hands_to_detect`` are the hands that detect a win rate of ``difference``. These hands are those of all
        line-ups together. Half-widths and win rates are in mbb/hand. An agent's predictions are None if it played fewer
        than two groups of the pilot.
    """
    rows = store.scores()
    scores = RunScores(pilot, store, rows)
    groups = len(np.unique(rows[["lineup", "deck"]]))
    seconds_per_hand = store.seconds() / (groups * config.seats)
    hands = len(make_lineups(config)) * config.decks * config.seats
    rule = config.stop_rule
    target = rule.limit_mbb if rule and rule.limit_mbb else DEFAULT_CI95_MBB
    agents = []
    for number, name in enumerate(config.names):
        rates = scores.group_rates(number)
        sd = float(rates.std(ddof=1)) if len(rates) > 1 else None
        hands_each = groups * config.seats / max(1, len(rates))
        agents.append({"name": name} | _expectation(sd, hands, hands_each, target))
    return {
        "dry_run": True,
        "score": scores.headline,
        "decks": config.decks,
        "hands": hands,
        "seconds": hands * seconds_per_hand,
        "hands_per_second": 1.0 / seconds_per_hand if seconds_per_hand > 0.0 else None,
        "pilot_hands": groups * config.seats,
        "target_ci95": target,
        "difference": DIFFERENCE_MBB,
        "agents": agents,
    }


def _expectation(sd: float | None, hands: int, hands_each: float, target: float) -> dict[str, Any]:
    """Return the predictions for an agent from the standard deviation of its groups.

    Parameters
    ----------
    sd : float or None
        Standard deviation of a group's rate, in mbb/hand.
    hands : int
        Hands of the planned tournament, all line-ups together.
    hands_each : float
        Hands of the pilot, all line-ups together, divided by the number of groups that the agent played.
    target : float
        The half-width aimed at, in mbb/hand.
    """
    keys = ("sd_bb", "ci95", "sequential_ci95", "hands_for_ci95", "hands_for_sequential_ci95", "hands_to_detect")
    if sd is None:
        return dict.fromkeys(keys)
    groups = round(hands / hands_each)
    always = sequential_half_width(sd, groups)
    needed = (
        samples_for_half_width(sd, target),
        samples_for_sequential_half_width(sd, target),
        samples_to_detect(sd, DIFFERENCE_MBB),
    )
    values = (
        sd / 1000.0,
        expected_half_width(sd, groups) if groups > 1 else None,
        always if math.isfinite(always) else None,
        *(math.ceil(count * hands_each) for count in needed),
    )
    return dict(zip(keys, values, strict=True))


def dry_run_text(expected: dict[str, Any]) -> str:
    """Return the predictions as a table."""
    target = f"{expected['target_ci95']:g}"
    rows: list[tuple[str, ...]] = [
        (
            "agent",
            "sd bb/group",
            "± 95 %",
            "± always",
            f"hands to ± {target}",
            f"± {target} always",
            f"to find {expected['difference']:g}",
        )
    ]
    for agent in expected["agents"]:
        rows.append(
            (
                printable(agent["name"]),
                number_text(agent["sd_bb"], ",.2f"),
                number_text(agent["ci95"], ",.1f"),
                number_text(agent["sequential_ci95"], ",.1f"),
                *(
                    number_text(agent[key], ",")
                    for key in ("hands_for_ci95", "hands_for_sequential_ci95", "hands_to_detect")
                ),
            )
        )
    rate = number_text(expected["hands_per_second"], ",.0f")
    return "\n".join(
        [
            *aligned(rows),
            "",
            f"{expected['hands']:,} hands would take about {expected['seconds']:,.0f} s "
            f"({rate} hands/s, from a pilot of {expected['pilot_hands']:,} hands)",
            f"in mbb/hand by {expected['score'].replace('_', '+')}, with groups as samples; hands of all agents "
            "together; 'sd bb/group': standard deviation of a group's mean, in bb/hand; "
            "'always': an interval that holds at any time; "
            f"'to find {expected['difference']:g}': by a one-tailed test at 5 % with power 80 %",
        ]
    )
