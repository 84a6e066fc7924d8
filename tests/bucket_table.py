"""The bucket table that several test modules look at."""

import functools

import pytest

from plurispiel.abstraction.cards import build as building
from plurispiel.abstraction.cards.build import build_table, stage_folder
from plurispiel.abstraction.cards.config import AbstractionConfig, StreetConfig
from plurispiel.abstraction.cards.river import all_river_equities

SMALL_TABLE = AbstractionConfig(
    "smallest",
    flop=StreetConfig(12, "histogram", "cramer"),
    turn=StreetConfig(20, "histogram"),
    river=StreetConfig(9, "ochs"),
    fit_points=20_000,
    rounds=3,
)


class Stopped(Exception):
    """Stands for whatever ends a build."""


def build_with_a_stop(folder):
    """Build the table; the first build is stopped after its first street, the second goes on."""
    built = []
    real = building._Builder.build_street

    def build_street(self, street, later):
        if street == "turn" and len(built) == 1:
            built.append("stopped")
            raise Stopped
        built.append(street)
        return real(self, street, later)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building._Builder, "build_street", build_street)
        # Both builds share the river equities, which are the same each time and cost seconds.
        shared = functools.cache(lambda: all_river_equities(threads=2))
        patch.setattr(building, "all_river_equities", lambda **how: shared())
        with pytest.raises(Stopped):
            build_table(SMALL_TABLE, folder, threads=2)
        assert not folder.exists() and (stage_folder(folder) / "river").is_dir()
        build_table(SMALL_TABLE, folder, threads=1)
    assert built == ["river", "stopped", "turn", "flop"]
    assert not stage_folder(folder).exists()
