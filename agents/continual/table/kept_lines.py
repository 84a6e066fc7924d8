"""Solutions before the flop, kept in the user's cache: the same betting recurs in every match.

A *line* is the betting before a solution's root. DeepStack also caches the result of every preflop situation. Before
the flop all hands of a class are alike, so a solution is kept by the 169 classes. The solution of the start of a hand
takes 3 MB. A new solution is rounded as if it had been read from the cache, so that play does not depend on the cache.
"""

import contextlib
import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel import __version__
from plurispiel.abstraction.cards.preflop import NUM_CLASSES, preflop_classes
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact
from plurispiel.abstraction.machine.jit import user_cache_folder
from plurispiel.agents.continual.lookahead import Lookahead, SolvedLookahead

__all__ = ["keep_line", "line_place", "read_line"]

_KIND, _FORMAT = "preflop line", 2  # raised whenever solutions before the flop get other numbers
_MAX_PAIRS = 16
_MAX_LINES = 64
"""The most lines kept for the same networks and settings; bets of any size allow an endless number of lines."""


def line_place(settings: tuple[Any, ...], start: tuple[Any, ...]) -> Path:
    """Return the folder of a solution in the cache.

    Parameters
    ----------
    settings : tuple
        Shared by all solves of an agent: the digests of its networks and the settings that change numbers.
    start : tuple
        Different in each solve: the rules and the actions before the root.
    """
    facts = (*settings, _FORMAT, __version__), start
    shared, own = (hashlib.sha256(repr(each).encode()).hexdigest()[:24] for each in facts)
    return user_cache_folder() / "preflop-lines" / shared / own


def read_line(place: Path, lookahead: Lookahead) -> SolvedLookahead | None:
    """Return the kept solution of a lookahead; None if there is none, or if it is damaged."""
    try:
        arrays = load_artefact(place, _KIND, _FORMAT).arrays
    except (OSError, ArtefactRefused):
        return None
    nodes, ends = len(lookahead.betting.nodes.kind), len(lookahead.betting.end_states)
    shapes = {"values": (2, nodes), "reached": (nodes - 1,), "pairs": (2, ends)}  # "pairs": one for each kept iteration
    if arrays.keys() != shapes.keys() or not arrays["pairs"].ndim or not 1 <= len(arrays["pairs"]) <= _MAX_PAIRS:
        return None
    for name, shape in shapes.items():
        found = arrays[name]
        expected = (*found.shape[:1], *shape) if name == "pairs" else shape
        if found.shape != (*expected, NUM_CLASSES) or found.dtype != np.float32 or not np.isfinite(found).all():
            return None
    if min(arrays["reached"].min(initial=0.0), arrays["pairs"].min(initial=0.0)) < 0.0:
        return None
    return _restored(lookahead, arrays["values"], arrays["reached"], arrays["pairs"])


def keep_line(place: Path | None, lookahead: Lookahead, solved: SolvedLookahead) -> SolvedLookahead:
    """Write a solution to the cache, if there is one, and return the solution as `read_line` would."""
    classes = preflop_classes()
    first = np.searchsorted(classes[order := np.argsort(classes, kind="stable")], np.arange(NUM_CLASSES))
    found = [
        each[..., order[first]].astype(np.float32) for each in (solved.means.values, solved.reached, solved.end_pairs)
    ]
    arrays = dict(zip(("values", "reached", "pairs"), found, strict=True))
    with contextlib.suppress(OSError, ArtefactRefused):  # a cache that cannot be written is no reason to fail
        if place is not None and (not place.parent.is_dir() or len(list(place.parent.glob("[!.]*"))) < _MAX_LINES):
            _write(place, arrays)
    return _restored(lookahead, *found)


def _write(place: Path, arrays: dict[str, np.ndarray]) -> None:
    try:
        write_artefact(place, _KIND, _FORMAT, arrays, {})
    except ArtefactRefused:  # the folder has a damaged manifest; it belongs to the cache alone
        shutil.rmtree(place)
        write_artefact(place, _KIND, _FORMAT, arrays, {})


def _restored(lookahead: Lookahead, *rows: np.ndarray) -> SolvedLookahead:
    values, reached, pairs = (each[..., preflop_classes()] for each in rows)
    return lookahead.restored(values.astype(np.float64), reached.astype(np.float64), pairs)
