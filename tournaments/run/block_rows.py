"""The rows of a block: one array with a row for each agent in each group.

The worker that has played a block packs the block's scores into such an array (`pack_rows`). In this form the block
crosses the pipe to the main process, is counted and stored there (`store`), and is read again for the results. The main
process handles no single row: with many workers, the main process would otherwise be the slowest part of a run. Texts
have no fixed size, and few rows have any. A row's texts are therefore kept apart from the array, as a `Remark`.
"""

import operator
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields

from plurispiel.evaluation.calibration import Calibration
from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schema import SCORE_TYPES

Group = Mapping[int, AgentScore]
"""The scores of a group by agent number. The Control (package `run`) has the number after the last agent."""

DECIDED = "decided by "
"""The prefix of the kinds of events that count decisions by origin."""

_KEY = ("lineup", "deck", "agent")
_TIMES = {"answers": "i8", "answer_seconds": "f8", "slowest_answer": "f8"}
_TEXTS = ("first_fault", "fault_kinds", "refused")
_texts = operator.attrgetter(*_TEXTS)


class Remark(NamedTuple):
    """The texts of one agent in one group, fields of `AgentScore`; at least one of the texts is not empty."""

    lineup: int
    deck: int
    agent: int
    first_fault: str
    fault_kinds: str
    refused: str


class Played(NamedTuple):
    """The result of a block.

    Attributes
    ----------
    rows : row_type(config)[num_rows]
        The rows of the block's groups, sorted by deck and agent number.
    remarks : sequence of Remark
        The texts of the rows that have any.
    hands, stories : mapping of int to bytes
        The packed hands and stories (`kept_hands`) of the groups whose hands or stories are kept, by deck. A *story* is
        the record of a hand for the hand viewer (`hand_story`).
    events : mapping of (int, str) to int
        Counts by agent number and kind. ``fallbacks`` counts answers that a program marks as fallbacks, because it
        could not find the answer that it meant. For agents that learn, ``starts`` counts all starts of their processes,
        and ``processes`` only the first start of each; the difference is the number of restarts. For agents that tell
        the origins of their decisions, the kind `DECIDED` + ORIGIN counts the decisions of an origin, and ``clamped``
        is the count `base.TellsOrigins.clamped`.
    machine : str
        The name of the computer that played the block.
    """

    rows: np.ndarray
    remarks: Sequence[Remark] = ()
    hands: Mapping[int, bytes] = {}
    stories: Mapping[int, bytes] = {}
    events: Mapping[tuple[int, str], int] = {}
    machine: str = ""

    def until(self, deck: int) -> "Played":
        """Return the result without the groups after a deck; the events stay."""
        return self._replace(
            rows=self.rows[self.rows["deck"] <= deck],
            remarks=[remark for remark in self.remarks if remark.deck <= deck],
            hands={number: packed for number, packed in self.hands.items() if number <= deck},
            stories={number: packed for number, packed in self.stories.items() if number <= deck},
        )


def row_type(config: TournamentConfig) -> np.dtype:
    """Return the dtype of a row: the fields of `schema.SCORES`, and the other fields of `AgentScore` except the texts.

    A number is NaN where `AgentScore` has None. The fields that are bytes in `AgentScore` (``play, seat_sums,
    calibration``) are arrays in a row, with the shapes that `AgentScore` describes. Without AIVAT, ``calibration`` is
    missing.
    """
    arrays: list[tuple] = [
        ("play", "u1", (config.seats, len(COUNTERS))),
        ("seat_sums", "f8", (config.seats, 3 if config.uses_aivat else 1)),
    ]
    if config.uses_aivat:
        arrays.append(("calibration", "f8", Calibration().sums.shape))
    return np.dtype([*SCORE_TYPES.items(), *_TIMES.items(), *arrays])


def pack_rows(
    config: TournamentConfig, lineup: int, first: int, groups: Sequence[Group]
) -> tuple[np.ndarray, list[Remark]]:
    """Return the rows and the remarks of the groups of a line-up on consecutive decks, beginning with deck `first`."""
    kind = row_type(config)
    numbers = operator.attrgetter(*kind.names[len(_KEY) :])  # type: ignore[index]
    scores = [(deck, agent, group[agent]) for deck, group in enumerate(groups, start=first) for agent in sorted(group)]
    values = [(lineup, deck, agent, *numbers(score)) for deck, agent, score in scores]
    rows = np.array(values, _with_bytes(kind)).view(kind)  # None becomes NaN
    remarks = [Remark(lineup, deck, agent, *_texts(score)) for deck, agent, score in scores if any(_texts(score))]
    return rows, remarks


def without_times(rows: np.ndarray) -> np.ndarray:
    """Return rows without the number and the times of answers (`_TIMES`)."""
    names = [name for name in rows.dtype.names or () if name not in _TIMES]
    return repack_fields(rows[names])  # without the gaps, whose bytes are arbitrary


def unpack_rows(rows: np.ndarray, remarks: Sequence[Remark]) -> Iterator[tuple[int, int, int, AgentScore]]:
    """Yield (line-up, deck, agent number, score) of each row: the inverse of `pack_rows`."""
    texts = {remark[:3]: dict(zip(_TEXTS, remark[3:], strict=True)) for remark in remarks}
    names = rows.dtype.names or ()
    for values in rows.view(_with_bytes(rows.dtype)).tolist():
        known = {
            name: value
            for name, value in zip(names, values, strict=True)
            if not (isinstance(value, float) and isnan(value))
        }
        lineup, deck, agent = (known.pop(name) for name in _KEY)
        yield lineup, deck, agent, AgentScore(**known | texts.get((lineup, deck, agent), {}))


def _with_bytes(kind: np.dtype) -> np.dtype:
    """Return the dtype with each array field replaced by bytes of its size; numpy pads shorter values with zeros."""
    fields = ((name, kind[name]) for name in kind.names or ())
    return np.dtype([(name, f"V{field.itemsize}" if field.shape else field) for name, field in fields])
