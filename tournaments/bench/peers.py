"""Speed of our functions beside peers: libraries, and programs of the user, that do the same work in the same run."""

import itertools
from collections.abc import Mapping
from pathlib import Path

from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.bench.peer_comparison import compare
from plurispiel.tournaments.bench.peer_hands import hand_comparisons
from plurispiel.tournaments.bench.peer_playouts import playout_comparisons
from plurispiel.tournaments.bench.peer_programs import program_comparisons
from plurispiel.tournaments.bench.peer_solvers import solver_comparisons


def bench_peers(seconds: float = 1.0, programs: Mapping[str, Path] | None = None) -> list[Measurement]:
    """Return a row for each kind of work and peer; a row of a peer that is missing or wrong has no value.

    Parameters
    ----------
    seconds : float
        Time for each side of a row; each side has at least five turns.
    programs : mapping, optional
        The user's programs by job, see `peer_programs`.
    """
    found = itertools.chain(
        hand_comparisons(), solver_comparisons(), playout_comparisons(), program_comparisons(programs or {})
    )
    return [each if isinstance(each, Measurement) else compare(each, seconds) for each in found]
