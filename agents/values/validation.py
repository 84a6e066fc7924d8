"""The errors of a network on situations that it never saw: over all situations, and by stratum.

An error is the network's expected value of a hand minus the exact one, in pots. All hands that are compatible with some
hand of the other seat's range count equally; other hands do not count. The same errors compare two solutions of the
same situations: the exact one, and one whose values at the end of a street are a network's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.drawn_situation import is_from_play
from plurispiel.agents.values.encoding import bins_of, gate, inputs
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.net import ValueNet
from plurispiel.agents.values.training_set import by_board
from plurispiel.agents.values.zero_sum import without_gain

__all__ = ["STACKS", "compare", "entropies", "measure", "net_evs"]

STACKS = (0.0, 1.0, 4.0, 25.0, np.inf)
"""Limits of the strata by chips behind, in pots."""

_QUARTERS = 4


NetEvs = Callable[[ValueNet, Level, Situations], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""A function with the arguments and results of `net_evs`."""


def measure(net: ValueNet, level: Level, situations: Situations, values: NetEvs | None = None) -> dict[str, Any]:
    """Return the errors of a network on situations, in pots; `values` stands in for `net_evs`.

    The situations have to be a split's from number 0 on, in order: their numbers tell which of them are from play.

    Returns
    -------
    dict
        The entries, where e is the error of a hand:

        - ``situations``: the number of situations;
        - ``mae``: the mean absolute error;
        - ``rms``: the root mean square error;
        - ``huber``: the mean of Huber's error: e^2 / 2 where abs(e) < 1, elsewhere abs(e) - 1/2;
        - ``mae_checkdown``: the mean absolute error if each hand had the value of checking down;
        - ``mae_constant``: the mean absolute error if all hands of a seat had the mean of the seat's exact values;
        - ``strata``: a list of dicts with these figures for parts of the situations.

        Parts are by chips behind (``spr``: limits in pots), and by the smaller one of both ranges' entropies
        (``entropy``: limits in bits, quarters of the situations). At a level with situations from play, parts are also
        by ``source`` ("random" or "play"). A part without situations is left out.
    """
    return _figures(level, situations, *(values or net_evs)(net, level, situations))


def compare(level: Level, situations: Situations, other: Situations) -> dict[str, Any]:
    """Return the errors of other values of the same situations, in pots: the entries of `measure`.

    Raises
    ------
    ValueError
        If the situations are not the same.
    """
    given = ("boards", "pots", "behind", "roots")
    if not all(np.array_equal(getattr(situations, name), getattr(other, name)) for name in given):
        raise ValueError("the two folders have different situations; draw both with one level and one seed")
    checked_down, masses = (np.zeros(situations.evs.shape) for _ in range(2))
    for some in by_board(level, situations):
        matching, down = some.ordered.checkdown(situations.ranges(some.rows))
        checked_down[some.rows], masses[some.rows] = down.transpose(1, 0, 2), matching.transpose(1, 0, 2)
    return _figures(level, situations, other.evs.astype(np.float64), checked_down, masses)


def _figures(
    level: Level, situations: Situations, evs: np.ndarray, checked_down: np.ndarray, masses: np.ndarray
) -> dict[str, Any]:
    """Return the figures of `measure` for values and the other two arrays of `net_evs`."""
    exact = situations.evs.astype(np.float64)
    counted = masses > 0.0
    spr, entropy = situations.spr, entropies(situations)

    def errors(chosen: np.ndarray) -> dict[str, Any]:
        valid = counted[chosen]
        missed = np.abs(evs[chosen] - exact[chosen])[valid]
        means = np.where(valid, exact[chosen], 0.0).sum(axis=2) / np.maximum(valid.sum(axis=2), 1)
        constant = np.abs(exact[chosen] - means[:, :, None])[valid]
        return {
            "situations": int(chosen.sum()),
            "mae": float(missed.mean()),
            "rms": float(np.sqrt((missed**2).mean())),
            "huber": float(np.where(missed < 1.0, missed**2 / 2.0, missed - 0.5).mean()),
            "mae_checkdown": float(np.abs(checked_down[chosen] - exact[chosen])[valid].mean()),
            "mae_constant": float(constant.mean()),
        }

    strata = []
    for low, high in zip(STACKS, STACKS[1:], strict=False):
        chosen = (spr >= low) & (spr < high)
        if chosen.any():
            strata.append({"spr": [low, high if np.isfinite(high) else None]} | errors(chosen))
    limits = np.quantile(entropy, np.linspace(0.0, 1.0, _QUARTERS + 1))
    for quarter, (low, high) in enumerate(zip(limits, limits[1:], strict=False)):
        chosen = (entropy >= low) & ((entropy < high) | (quarter == _QUARTERS - 1))
        if chosen.any():
            strata.append({"entropy": [float(low), float(high)]} | errors(chosen))
    from_play = is_from_play(level, np.arange(len(spr)))
    for source, chosen in (("random", ~from_play), ("play", from_play)):
        if from_play.any() and chosen.any():
            strata.append({"source": source} | errors(chosen))
    return errors(np.ones(len(spr), bool)) | {"strata": strata}


def net_evs(net: ValueNet, level: Level, situations: Situations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays, each float64[n, 2, num_hands].

    The first has a network's expected values, in pots, and the second the values of checking down. The third has, for
    each hand, the weight of the other seat's compatible hands.

    Raises
    ------
    ArtefactRefused
        If an output of the network is not finite.
    """
    shape = situations.evs.shape
    evs, checked_down, masses = (np.zeros(shape) for _ in range(3))
    for some in by_board(level, situations):
        bins, ranges = bins_of(some.ordered.hands, net.num_bins), situations.ranges(some.rows)
        spr = situations.spr[some.rows]
        matching, down = some.ordered.checkdown(ranges)
        outputs = net.outputs(inputs(bins, ranges, spr, some.features)).transpose(1, 0, 2).astype(np.float64)
        if not np.isfinite(outputs).all():
            raise ArtefactRefused("the network has outputs that are not finite; train it again")
        values = without_gain((down + gate(spr)[:, None] * bins.spread(outputs)) * matching, ranges, matching)
        found = np.divide(values, matching, out=np.zeros_like(values), where=matching > 0.0)
        for target, rows in ((evs, found), (checked_down, down), (masses, matching)):
            target[some.rows] = rows.transpose(1, 0, 2)
    return evs, checked_down, masses


def entropies(situations: Situations) -> np.ndarray:
    """Return the smaller one of both ranges' entropies, in bits: float64[n]."""
    ranges = situations.ranges(slice(None))
    logs = np.log2(ranges, out=np.zeros_like(ranges), where=ranges > 0.0)
    return (-ranges * logs).sum(axis=2).min(axis=0)
