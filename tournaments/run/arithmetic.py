"""A digest of a machine's arithmetic, which shows whether two machines compute results with the same last digits.

Additions have a fixed order (`abstraction.machine.sums`), so that the digest is the same on all processors tested.
Another version of numpy or a fault of a processor can change the digest.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from plurispiel.abstraction.machine.versions import package_versions
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot
from plurispiel.agents.spots.spot_solution import solve_spot
from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct, Job
from plurispiel.tournaments.run.block_rows import without_times
from plurispiel.tournaments.run.config import TournamentConfig, package_digest
from plurispiel.tournaments.run.schedule import make_blocks

__all__ = ["ArithmeticWork", "arithmetic_digest", "package_facts"]

_TOURNAMENT = TournamentConfig(
    agents=("search?iterations=20&cards=blueprint&threads=1", "tag"),
    decks=4,
    seed=1,
    score="aivat_duplicate",
    values="checkdown",
)
_ITERATIONS = 50


class ArithmeticWork:
    """Work that computes the digest in another process; its only job is None."""

    @contextmanager
    def begin(self) -> Iterator[Callable[[None], str]]:
        """Yield the function that computes the digest."""
        yield lambda job: arithmetic_digest()


def arithmetic_digest() -> str:
    """Return the SHA-256 of the scores of four groups, in which a search agent plays, and of a solved river."""
    digest = hashlib.sha256()
    streams = Streams(_TOURNAMENT.seats, Seeded(_TOURNAMENT.public_seed))
    with closing(BlockPlayer(_TOURNAMENT, Conduct(), streams)) as player:
        for block in make_blocks(_TOURNAMENT, 1, ()):
            digest.update(without_times(player.play(Job(block, frozenset())).rows).tobytes())
    spot, _ = read_spot(EXAMPLES / "river.toml")
    solution = solve_spot(spot, target_pct=1e-9, max_iterations=_ITERATIONS, threads=1)
    digest.update(repr((solution.ev, solution.equity, solution.exploitability_pct)).encode())
    return digest.hexdigest()


def package_facts() -> dict[str, str]:
    """Return the digest of this package's code and the versions of the libraries that decide results."""
    return {"package": package_digest()[:16]} | package_versions()
