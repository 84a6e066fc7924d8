"""Configuration of a card abstraction: for each street the number of buckets, the features and the distance."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.abstraction.machine import settings
from plurispiel.abstraction.machine.settings import make_record, require_name

BUCKETED_STREETS = STREETS[1:]
"""Flop, turn and river; before the flop each of the 169 starting hands has its own bucket."""

FEATURES: dict[str, tuple[str, ...]] = {
    "ehs": BUCKETED_STREETS,
    "ehs2": ("flop", "turn"),
    "histogram": ("flop", "turn"),
    "potential": ("flop", "turn"),
    "ochs": ("river",),
}
"""The streets on which each kind of features can be used; `StreetConfig` explains the features."""

DISTANCES: dict[str, tuple[str, ...]] = {
    "ehs": ("percentile",),
    "ehs2": ("percentile",),
    "histogram": ("emd", "cramer"),
    "potential": ("greedy-emd",),
    "ochs": ("euclidean",),
}
"""The distances by which each kind of features can be divided into buckets, the default first.

``percentile`` is not a distance: each hand has a single number, and percentiles of these numbers separate the buckets.
The other names are distances for k-means, see `distances`. ``emd`` is the earth mover's distance, and ``greedy-emd`` an
upper bound of the earth mover's distance.
"""

MAX_BUCKETS = 5_000
"""Greatest number of buckets of a street."""


@dataclass(frozen=True)
class StreetConfig:
    """The buckets of one street.

    Attributes
    ----------
    buckets : int
        Number of buckets, 1 to `MAX_BUCKETS`; the street gets fewer if there are fewer different features.
    features : str
        ``ehs``: mean river equity; ``ehs2``: mean of the squared river equity; ``histogram``: histogram of river
        equity; ``ochs``: equities against eight clusters of hands; ``potential``: histogram over the next street's
        buckets.
    distance : str
        One of the names that `DISTANCES` lists for the features; an empty text becomes the first of these names.

    Raises
    ------
    ValueError
        If a value is not as described here.
    """

    buckets: int
    features: str
    distance: str = ""

    def __post_init__(self):
        if type(self.buckets) is not int or not 1 <= self.buckets <= MAX_BUCKETS:
            raise ValueError(f"a street has 1 to {MAX_BUCKETS} buckets, got {self.buckets!r}")
        if not isinstance(self.features, str) or self.features not in FEATURES:
            raise ValueError(f"features are {', '.join(FEATURES)}, got {self.features!r}")
        if self.distance == "":
            object.__setattr__(self, "distance", DISTANCES[self.features][0])
        if self.distance not in DISTANCES[self.features]:
            raise ValueError(
                f"{self.features} goes with the distance {' or '.join(DISTANCES[self.features])}, got {self.distance!r}"
            )


@dataclass(frozen=True)
class AbstractionConfig:
    """A whole card abstraction.

    Attributes
    ----------
    name : str
        Name of the bucket table and of its folder, checked by `settings.require_name`.
    flop, turn, river : StreetConfig
        The buckets of each street.
    seed : int
        Seed of the drawn boards and of k-means.
    fit_points : int
        Approximate number of (hand, board) pairs to which centroids or percentiles are fitted. Boards are drawn at
        random, and all hands on these boards are taken. Afterwards every pair of the street gets a bucket.
    rounds : int
        Greatest number of rounds of k-means.

    Raises
    ------
    ValueError
        If a value is out of range, or a street's features cannot be used on the street (`FEATURES`).
    """

    name: str
    flop: StreetConfig
    turn: StreetConfig
    river: StreetConfig
    seed: int = 1
    fit_points: int = 2_000_000
    rounds: int = 30

    def __post_init__(self):
        require_name(self.name)
        for street in BUCKETED_STREETS:
            if street not in FEATURES[self.street(street).features]:
                allowed = [name for name, streets in FEATURES.items() if street in streets]
                raise ValueError(
                    f"features of the {street} are {', '.join(allowed)}, got {self.street(street).features!r}"
                )
        if type(self.seed) is not int or self.seed < 0:
            raise ValueError(f"seed is a whole number from 0, got {self.seed!r}")
        if type(self.fit_points) is not int or not 10_000 <= self.fit_points <= 200_000_000:
            raise ValueError(f"fit_points are 10,000 to 200,000,000, got {self.fit_points!r}")
        if type(self.rounds) is not int or not 0 <= self.rounds <= 1000:
            raise ValueError(f"rounds are 0 to 1,000, got {self.rounds!r}")

    def street(self, name: str) -> StreetConfig:
        """Return the configuration of a street."""
        return getattr(self, name)

    def as_dict(self) -> dict[str, Any]:
        """Return the record that `config_from_dict` reads."""
        return dataclasses.asdict(self)


def config_from_dict(record: Mapping[str, Any]) -> AbstractionConfig:
    """Return the configuration of a record such as `AbstractionConfig.as_dict` returns.

    Raises
    ------
    ValueError
        If a setting is missing, unknown or out of range.
    """
    given = dict(record)
    for street in BUCKETED_STREETS:
        if not isinstance(given.get(street), Mapping):
            raise ValueError(
                f"a card abstraction has the sections {', '.join(BUCKETED_STREETS)}; [{street}] is missing"
            )
        given[street] = make_record(StreetConfig, given[street], f"[{street}]")
    return make_record(AbstractionConfig, given, "the card abstraction")


def read_config(path: Path) -> AbstractionConfig:
    """Return the configuration of a TOML file; without a setting ``name``, the file's name without ending is taken.

    Raises
    ------
    ValueError
        If the file cannot be read, or a setting is missing, unknown or out of range.
    """
    return settings.read_config(path, config_from_dict)


PRESETS = {
    config.name: config
    for config in (
        AbstractionConfig(
            "pluribus",
            flop=StreetConfig(200, "histogram"),
            turn=StreetConfig(200, "histogram"),
            river=StreetConfig(200, "ochs"),
        ),
        AbstractionConfig(
            "small",
            flop=StreetConfig(50, "histogram"),
            turn=StreetConfig(50, "histogram"),
            river=StreetConfig(50, "ochs"),
        ),
        AbstractionConfig(
            "compact",
            flop=StreetConfig(150, "histogram"),
            turn=StreetConfig(100, "histogram"),
            river=StreetConfig(75, "ochs"),
        ),
        AbstractionConfig(
            "medium",
            flop=StreetConfig(300, "histogram"),
            turn=StreetConfig(200, "histogram"),
            river=StreetConfig(150, "ochs"),
        ),
        AbstractionConfig(
            "fine",
            flop=StreetConfig(500, "histogram"),
            turn=StreetConfig(400, "histogram"),
            river=StreetConfig(300, "ochs"),
        ),
        AbstractionConfig(
            "ehs",
            flop=StreetConfig(200, "ehs"),
            turn=StreetConfig(200, "ehs"),
            river=StreetConfig(200, "ehs"),
        ),
    )
}
