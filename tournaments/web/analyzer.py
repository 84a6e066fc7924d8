"""Hands as text, turned into the stories that the hand viewer shows.

Hole cards that the text does not state stay unknown: the story holds none for such a seat.
"""

import io
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.evaluation.replay import replay_betting, replay_hand
from plurispiel.tournaments.formats.acpc import read_acpc, write_acpc, write_header
from plurispiel.tournaments.formats.game_definition import built_in_name, game_definition_text
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory
from plurispiel.tournaments.formats.phh import read_phh, write_phh
from plurispiel.tournaments.run.hand_story import cell_names, cells_across, hand_story, judged
from plurispiel.tournaments.run.witness import Told

MAX_HANDS = 100
"""Largest number of hands that are shown of one text."""


def pasted_hands(text: str) -> dict[str, Any]:
    """Return the hands of a text in the PHH format, or of a log of the ACPC's dealer.

    Returns
    -------
    dict
        ``data`` has the hands as `report.viewer.js` takes them. Each hand has a ``text`` from which it can be read
        again; the text is empty if no format can express the hand. The entry ``games`` of ``data`` has the game of each
        hand, for advisers. ``troubles`` has a text for each hand that is broken, not over, or lacks cards that decide
        it. ``left_out`` tells whether there are hands beyond the first 100.
    """
    found = _histories(text)
    stories: list[dict[str, Any]] = []
    names: dict[str, list[str]] = {}
    cells: dict[str, list[str]] = {}
    across: dict[str, int] = {}
    games: dict[str, str] = {}
    troubles = []
    for history in found[:MAX_HANDS]:
        if isinstance(history, BrokenHistory):
            troubles.append(printable(f"hand {history.hand}: {history.what}" if history.hand else history.what)[:400])
            continue
        try:
            story = _story(history)
        except ValueError as error:
            troubles.append(printable(f"hand {history.label}: {error}")[:400])
        else:
            run = str(len(stories))
            names[run] = [printable(name) for name in history.names]
            cells[run], across[run] = cell_names(history.rules), cells_across(history.rules)
            games[run] = game_definition_text(history.rules)
            name = printable(f"hand {history.label}")
            stories.append({"name": name, "run": run, "remark": "", "text": _text(history), **story})
    data = {"names": names, "cells": cells, "across": across, "games": games, "values": {}}
    data |= {"opening": [0, 0], "hands": stories}
    return {"data": data, "troubles": troubles, "left_out": len(found) > MAX_HANDS}


def _histories(text: str) -> list[HandHistory | BrokenHistory]:
    """Return at most 101 hands. The readers get a file in a folder of its own, so that no game file lies beside it."""
    lines = [line.strip() for line in text.splitlines()]
    is_acpc = any(line.startswith(("STATE:", "# name/game/")) for line in lines)
    first = next((line for line in lines if line and not line.startswith("#")), "")
    with tempfile.TemporaryDirectory(prefix="plurispiel-") as folder:
        path = Path(folder) / ("text.log" if is_acpc else "text.phhs" if first.startswith("[") else "text.phh")
        path.write_text(text, encoding="utf-8", errors="replace")
        return list(islice(read_acpc(path) if is_acpc else read_phh(path), MAX_HANDS + 1))


def _story(history: HandHistory) -> dict[str, Any]:
    rules = history.rules
    betting = history.betting or replay_betting(rules, history.actions)
    hand = replay_hand(betting, history.hole_cards, history.board, history.mucked)
    seats = range(rules.num_seats)
    story = judged(hand_story(Told(hand, seats, (), [None for _ in seats])), [None for _ in seats])
    if len(story["board"]) > len(history.board):
        raise ValueError(
            f"{len(history.board)} board cards are stated, and the betting went on to {len(story['board'])}"
        )
    shown = [cards if history.hole_cards[seat] else [] for seat, cards in enumerate(story["cards"])]
    return story | {"cards": shown}


def _text(history: HandHistory) -> str:
    """Return a hand as text: PHH, or a dealer's log of a built-in game; empty if neither can express it."""
    stream = io.StringIO()
    try:
        write_phh(stream, [history])
        return stream.getvalue()
    except ValueError:
        stream = io.StringIO()
    try:
        if name := built_in_name(history.rules):
            write_header(stream, "hand", name, 1)
            write_acpc(stream, [history])
    except ValueError:
        return ""
    return stream.getvalue()
