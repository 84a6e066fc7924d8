"""The hand viewer: hands of the run step by step, with every seat's range and AIVAT's corrections."""

import contextlib
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.replay import replay_betting, replay_hand
from plurispiel.evaluation.value_functions import Checkdown
from plurispiel.tournaments.report.hand_choice import HandId, choose_hands
from plurispiel.tournaments.report.panel import paragraph
from plurispiel.tournaments.report.replays import replay_groups
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.hand_story import cell_names, cells_across, grid_shares, hand_story, judged, story_text
from plurispiel.tournaments.run.kept_hands import KeptGroup, kept_group
from plurispiel.tournaments.run.results import printable
from plurispiel.tournaments.run.store import RunStore
from plurispiel.tournaments.run.witness import Told

NOTE = (
    "Arrow keys step through a hand (left, right) and from hand to hand (up, down). The grid is the strategy of the "
    "seat that acts at this step, or that acted last. A cell is a class of hole cards, such as AKs. Its filled height "
    "is the share of the class that is still in the seat’s range, relative to the cell with the largest share. The "
    "colours are the actions, and the framed cell is the hand that the seat held. The ledger lists AIVAT’s correction "
    "of each seat’s result at every event. A minus takes good luck out. Below the ledger stand AIVAT’s value function, "
    "and whether the run’s scores contain these corrections. Raises are named by the seat’s chips over the whole hand. "
    "Hands that were not recorded during play are replayed when this page is made, and compared with the stored run. "
    "Strategies of agents from outside, and of agents that are not deterministic, are shown as recorded during play, "
    "or not at all."
)
VIEWER_SCRIPTS = ("elements.js", "table.js", "grid.js", "viewer.js")
"""The viewer's scripts in the order in which a page runs them."""

TERM_COLUMNS = ("run", "hand", "step", "kind", "text", "seat", "agent", "aivat_term_bb", "values", "in_scores")
GRID_COLUMNS = ("run", "hand", "step", "seat", "cell", "reach", "action", "share")
CHOICE_COLUMNS = ("run", "hand", "step", "seat", "agent", "action", "own_probability", "range_share", "played")


@dataclass(frozen=True)
class ShownHand:
    """A hand of the viewer: its name in permalinks, its run's letter, its story, and a remark, which may be empty.

    The story comes from `hand_story.judged`.
    """

    name: str
    letter: str
    story: dict[str, Any]
    remark: str


class LedgerValues(NamedTuple):
    """The value function of a run's *ledgers*. A ledger is the viewer's list of a hand's AIVAT terms.

    `name` is the value function's name. `in_scores` is 1 if the run's scores contain the same terms, else 0.
    """

    name: str
    in_scores: int

    @property
    def text(self) -> str:
        """The sentences below a ledger."""
        if self.in_scores:
            return f"These corrections were computed with {self.name} values, as in the run’s scores."
        return (
            "The run is scored without AIVAT. These corrections were computed for this page, with "
            f"{self.name} values, and no figure of the run contains them."
        )


@dataclass(frozen=True)
class HandViewer:
    """The hands that the viewer shows, from all runs.

    Attributes
    ----------
    hands : sequence of ShownHand
        The hands in the order of the viewer.
    names : dict of str to sequence of str
        The agents' names, by the run's letter.
    cells : dict of str to sequence of str
        The names of a grid's cells (`hand_story.cell_names`), by the run's letter.
    across : dict of str to int
        The number of cells in a row of a grid, by the run's letter.
    values : dict of str to LedgerValues
        The value function of AIVAT, by the run's letter.
    rankings : dict of str to sequence of int
        The agents' numbers, best first, by the run's letter.
    remarks : sequence of str
        Why hands are missing: a sentence for each run with missing hands.
    """

    hands: Sequence[ShownHand]
    names: dict[str, list[str]]
    cells: dict[str, list[str]]
    across: dict[str, int]
    values: dict[str, LedgerValues]
    rankings: dict[str, list[int]]
    remarks: Sequence[str]

    @property
    def opening(self) -> tuple[int, int]:
        """The indices of the hand and the step that are shown first.

        Only hands of the first hand's run are considered. Among the agents with a known strategy in one of these hands,
        the best-ranked is chosen. The step is the decision at which this agent's strategy is most mixed. Without a
        known strategy, the first hand is shown from its start.
        """
        found: dict[int, list[tuple[float, tuple[int, int]]]] = {}
        for number, hand in enumerate(self.hands):
            if hand.letter == self.hands[0].letter:
                for place, step in enumerate(hand.story["steps"]):
                    if grid := step.get("grid"):
                        agent = hand.story["agents"][step["seat"]]
                        found.setdefault(agent, []).append((_mixing_bits(grid), (number, -place)))
        for agent in self.rankings[self.hands[0].letter] if self.hands else ():
            if agent in found:
                number, place = max(found[agent])[1]
                return number, -place
        return 0, 0

    @property
    def files(self) -> dict[str, list[tuple]]:
        """The rows of each CSV file, by the file's name without its suffix; the first row names the columns."""
        terms: list[tuple] = []
        choices: list[tuple] = []
        grids: list[tuple] = []
        for hand in self.hands:
            agents = [self.names[hand.letter][number] for number in hand.story["agents"]]
            big_blind = hand.story["bb"]
            for number, step in enumerate(hand.story["steps"]):
                for seat, chips in enumerate(step["terms"]):
                    if hand.story["forms"][seat]:
                        where = (hand.letter, hand.name, number, step["kind"], step["text"])
                        terms.append((*where, seat, agents[seat], chips / big_blind, *self.values[hand.letter]))
                if grid := step.get("grid"):
                    seat = step["seat"]
                    for cell, (reach, *shares) in zip(self.cells[hand.letter], grid_shares(grid).tolist(), strict=True):
                        for label, share in zip(grid["actions"], shares, strict=True):
                            if share:
                                cells = (hand.letter, hand.name, number, seat, cell, round(reach, 3))
                                grids.append((*cells, label, round(share, 3)))
                    for k, label in enumerate(grid["actions"]):
                        decision = (hand.letter, hand.name, number, seat, agents[seat], label)
                        choices.append((*decision, grid["own"][k], grid["totals"][k], int(k == grid["played"])))
        return {
            "hand_terms": [TERM_COLUMNS, *terms],
            "hand_choices": [CHOICE_COLUMNS, *choices],
            "hand_grids": [GRID_COLUMNS, *grids],
        }

    @property
    def data(self) -> dict[str, Any]:
        """The data that ``viewer.js`` shows, as plain values."""
        return {
            "names": self.names,
            "cells": self.cells,
            "across": self.across,
            "values": {letter: values.text for letter, values in self.values.items()},
            "opening": self.opening,
            "hands": [
                {"name": hand.name, "run": hand.letter, "remark": hand.remark, **hand.story} for hand in self.hands
            ],
        }

    def html(self) -> str:
        """Return the section's body: the viewer, which needs JavaScript, and the hands as text, which need none."""
        remarks = "".join(map(paragraph, self.remarks))
        if not self.hands:
            return remarks or paragraph("The run holds no hand yet.")
        texts = "".join(
            f"<details><summary>{html.escape(hand.name)} {html.escape(hand.remark)}</summary>"
            f"<pre>{html.escape(story_text(hand.story, self.names[hand.letter]))}</pre></details>"
            for hand in self.hands
        )
        # A text that holds "</script>" would end the script, so "<", ">" and "&" are escaped in all texts.
        text = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        for letter in "<>&":
            text = text.replace(letter, f"\\u{ord(letter):04x}")
        return (
            f'<div id="viewer"></div>{remarks}'
            f'<details class="texts"><summary>The hands as text</summary>{texts}</details>'
            f'<script type="application/json" id="hands-data">{text}</script>'
        )


def make_hand_viewer(runs: Sequence[RunRecord], count: int, wanted: Sequence[tuple[str, HandId]]) -> HandViewer:
    """Return the viewer of some hands of every run, recorded during play or replayed now.

    Parameters
    ----------
    count : int
        Number of hands to show of each run. If `wanted` holds more hands of a run, all of them are shown.
    wanted : sequence of (letter, HandId)
        Hands that must be shown, each with the letter of its run.

    Raises
    ------
    ValueError
        If a run does not hold a wanted hand, or its folder is damaged or is of another version.
    """
    hands: list[ShownHand] = []
    remarks: list[str] = []
    for run in runs:
        with contextlib.closing(RunStore.reading(run.folder)) as store:
            store.decks = run.results["decks"]
            chosen = choose_hands(run, store, count, [hand for letter, hand in wanted if letter == run.letter])
            _add_hands(run, store, chosen, hands, remarks)
    return HandViewer(
        hands,
        {run.letter: run.names for run in runs},
        {run.letter: cell_names(run.config.rules) for run in runs},
        {run.letter: cells_across(run.config.rules) for run in runs},
        {run.letter: _ledger_values(run) for run in runs},
        {run.letter: run.ranking for run in runs},
        remarks,
    )


def _mixing_bits(grid: dict[str, Any]) -> float:
    """Return the entropy of the actions in bits, the mean over the cells weighted by reach; 0 for pure strategies."""
    shares = grid_shares(grid)
    reach, actions = shares[:, 0], shares[:, 1:]
    chances = normalised(actions, 0.0)
    bits = -(chances * np.log2(np.where(chances > 0.0, chances, 1.0))).sum(axis=1)
    return float(reach @ bits / reach.sum()) if reach.any() else 0.0


def _ledger_values(run: RunRecord) -> LedgerValues:
    name = parse_spec(run.config.values).title if run.config.uses_aivat else Checkdown.name
    return LedgerValues(printable(name), int(run.config.uses_aivat))


def _add_hands(
    run: RunRecord, store: RunStore, chosen: Sequence[HandId], hands: list[ShownHand], remarks: list[str]
) -> None:
    """Add the chosen hands of a run. `hands` and `remarks` are modified in place."""
    groups = list(dict.fromkeys((hand.lineup, hand.deck) for hand in chosen))
    causes: dict[str, int] = {}
    progress = progress_bar(
        replay_groups(run, store, groups), total=len(groups), unit="group", desc="hands", leave=False
    )
    for replay in progress:
        kept = kept_group(store, replay.lineup, replay.deck)
        for hand in chosen:
            if (hand.lineup, hand.deck) != (replay.lineup, replay.deck):
                continue
            story = replay.stories[hand.rotation] if replay.stories else _untold(run, kept, hand)
            if story is None:
                causes[replay.trouble] = causes.get(replay.trouble, 0) + 1
                continue
            forms = [agent.form for agent in run.scores.agents]
            how = "This hand as the run kept it" if not replay.stories else "Note"
            remark = f"{how}: {replay.trouble}." if replay.trouble else ""
            hands.append(ShownHand(hand.text(run.letter), run.letter, judged(story, forms), remark))
    if causes:
        remarks.append(
            f"{sum(causes.values()):,} chosen hands of {run.title} are not shown: they were not kept, and "
            f"{'; '.join(causes)}."
        )


def _untold(run: RunRecord, kept: KeptGroup | None, hand: HandId) -> dict[str, Any] | None:
    """Return the story of a kept hand, without strategies and AIVAT terms; None if the hand was not kept."""
    if kept is None or hand.rotation >= len(kept.hands):
        return None
    rules, found = run.config.rules, kept.hands[hand.rotation]
    size, seats = rules.num_hole_cards, rules.num_seats
    holes = [found.cards[seat * size : (seat + 1) * size] for seat in range(seats)]
    played = replay_hand(replay_betting(rules, found.actions), holes, found.cards[seats * size :])
    return hand_story(Told(played, found.agents, (), [None] * seats))
