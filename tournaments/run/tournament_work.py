"""The play of a tournament's blocks as work that other processes and other machines can do."""

import contextlib
import dataclasses
import functools
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plurispiel.evaluation.streams import Streams
from plurispiel.tournaments.labour.travel import Outsiders, Site, absolute_spec, moved_spec, paths_of
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct, Job, make_contestant
from plurispiel.tournaments.run.block_rows import Played, Remark, row_type, without_times
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.departure import (
    Departure,
    is_fickle,
    missing_tables,
    moved_sandbox,
    outsiders_in,
    try_here,
)
from plurispiel.tournaments.run.kernels import PLAY, warmup

__all__ = ["PackedBlock", "TournamentWork"]


class PackedBlock(NamedTuple):
    """A `Played` with its rows as bytes: the dtype of an array would take longer to send than the rows."""

    rows: bytes
    remarks: Sequence[Remark]
    hands: Mapping[int, bytes]
    stories: Mapping[int, bytes]
    events: Mapping[tuple[int, str], int]
    machine: str


@dataclass(frozen=True)
class TournamentWork:
    """The blocks of a tournament: jobs are `Job`, and results `PackedBlock`.

    Attributes
    ----------
    config : TournamentConfig
        The settings, which decide the results.
    conduct : Conduct
        How the blocks are played.
    streams : Streams
        The source of decks and random numbers.
    departure : Departure or None
        The facts that must be equal on another machine; None for work that stays on the run's own machine.
    """

    config: TournamentConfig
    conduct: Conduct
    streams: Streams
    departure: Departure | None = None

    @contextmanager
    def begin(self) -> Iterator[Callable[[Job], PackedBlock]]:
        """Load kernels and build the player of the blocks; the processes of isolated agents end with the context.

        Raises
        ------
        ValueError
            If an agent does not load.
        """
        with contextlib.closing(BlockPlayer(self.config, self.conduct, self.streams)) as player:
            warmup(PLAY)
            if self.departure is not None:
                self._try_agents()
            machine = socket.gethostname()

            def play(job: Job) -> PackedBlock:
                done = player.play(job)
                return PackedBlock(done.rows.tobytes(), done.remarks, done.hands, done.stories, done.events, machine)

            yield play

    def unpacked(self, block: PackedBlock) -> Played:
        """Return the result of a block."""
        return Played(np.frombuffer(block.rows, self._row_type), *block[1:])

    @functools.cached_property
    def _row_type(self) -> np.dtype:
        return row_type(self.config)

    @property
    def paths(self) -> list[Path]:
        """The files and stored strategies of the agents and of the values of AIVAT."""
        return paths_of([*self.config.agents, *filter(None, [self.config.values])])

    @property
    def logs(self) -> Path | None:
        """The folder of the agents' logs."""
        return self.conduct.logs

    @property
    def outsiders(self) -> Outsiders | None:
        """How agents in their own processes play, with time for `max_faults` late answers; None without such agents."""
        if not any(map(self.conduct.is_isolated, self.config.agents)):
            return None
        return outsiders_in(self.conduct.sandbox, self.config.max_faults * self.config.time_limit)

    def departing(self) -> "TournamentWork":
        """Return the work with absolute paths, and with the facts that must be equal on the other machine."""
        config = self._with_specs(absolute_spec)
        missing = missing_tables([*config.agents, config.values], config.rules)
        return dataclasses.replace(self, config=config, departure=Departure(self.config.digest, missing))

    def moved(self, site: Site) -> "TournamentWork":
        """Return the work made by `departing`, with the paths of the machine on which it has arrived.

        Raises
        ------
        ValueError
            If agents, values or bucket tables differ here, or the agents need a sandbox and none works here.
        """
        assert self.departure is not None
        config = self._with_specs(lambda spec: moved_spec(spec, site))
        self.departure.check(config.digest, config.rules, site)
        sandbox = moved_sandbox(self.conduct.sandbox, site)
        conduct = dataclasses.replace(self.conduct, logs=self.conduct.logs and site.logs, sandbox=sandbox)
        return dataclasses.replace(self, config=config, conduct=conduct)

    def essence(self, result: PackedBlock) -> bytes | None:
        """Return the rows without fields on answers; None if an agent may play differently elsewhere."""
        if any(map(is_fickle, self.config.agents)):
            return None
        return without_times(self.unpacked(result).rows).tobytes()

    def _with_specs(self, change: Callable[[str], str]) -> TournamentConfig:
        """Return the settings with the specs of agents and values rewritten by `change`."""
        config = self.config
        return dataclasses.replace(
            config,
            agents=tuple(map(change, config.agents)),
            believe=tuple(config.names[number] for number in sorted(config.believed)),
            values=change(config.values) if config.values else "",
        )

    def _try_agents(self) -> None:
        """Load each isolated agent once: modules that it imports may be missing on this machine."""
        for number, spec in enumerate(self.config.agents):
            if self.conduct.is_isolated(spec) and spec not in self.config.agents[:number]:
                try_here(make_contestant(self.config, self.conduct, number), self.config.rules)
