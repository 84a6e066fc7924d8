"""The run of `plurispiel lbr`, played by worker processes and stored block by block, so that it can be resumed.

A *group* is four hands (`Prober`), by default of one deck. A block is up to `BLOCK_GROUPS` groups, and fewer if the
agent takes long, so that a run that is stopped loses little. As in tournaments, an agent from outside has processes of
its own, and its run without a seed deals from a secret key. Where `run_key` speaks of decks, a run of local best
response has groups.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.local_best_response import MENUS, GroupScore, Prober
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.streams import Source
from plurispiel.evaluation.zero_sum import prior_coefficients, zero_sum_scores
from plurispiel.tournaments.contestants.isolated import IsolatedAgent
from plurispiel.tournaments.contestants.isolation import isolate, split_agents
from plurispiel.tournaments.contestants.speaker import SplitAgent
from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import as_done
from plurispiel.tournaments.labour.travel import Outsiders, Site, absolute_spec, moved_spec, paths_of
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.run import run_key
from plurispiel.tournaments.run.departure import (
    Departure,
    is_fickle,
    missing_tables,
    moved_sandbox,
    outsiders_in,
    try_here,
)
from plurispiel.tournaments.run.folder_lock import make_folder
from plurispiel.tournaments.run.lbr_config import LbrConduct, LbrConfig
from plurispiel.tournaments.run.run_key import RunKey, draw_key, read_key, write_key

__all__ = ["LbrRun", "LbrWork"]

BLOCK_GROUPS = 8
_STORED_EVERY = 10.0
"""Seconds between two stored blocks, as far as blocks of one group to `BLOCK_GROUPS` allow."""

_CONFIG, _GROUPS = "config.json", "groups.csv"
_COLUMNS = ("group", *GroupScore._fields, "checksum")


class LbrRun:
    """A run of local best response in a folder; if the folder holds the run already, it is resumed.

    Parameters
    ----------
    folder : Path
        The run folder; created if missing.
    config : LbrConfig
        The settings of the run.
    fresh : bool
        Discard the run that the folder holds.

    Raises
    ------
    ValueError
        If the folder holds another run or other files, or its scores or its key are damaged or missing. Also if the
        agent's stored strategy is damaged or missing, or the folder cannot be created.
    """

    def __init__(self, folder: Path, config: LbrConfig, *, fresh: bool = False):
        self.folder = folder
        self.config = config
        record = json.dumps(config.record(), indent=1) + "\n"  # may be refused, so before the folder is made
        make_folder(folder)
        path = folder / _CONFIG
        if fresh or not path.exists():
            is_run = path.exists() and (folder / _GROUPS).exists()  # else they may be a user's own files
            if not is_run and any(folder.iterdir()):
                raise ValueError(f"{folder} holds other files; give another folder (--out)")
            write_atomically(folder / _GROUPS, ",".join(_COLUMNS) + "\n")
            (folder / run_key.NAME).unlink(missing_ok=True)
            if config.seed is None:
                write_key(folder, draw_key())
            write_atomically(path, record)
        elif path.read_text(encoding="utf-8") != record:
            what = _differences(path, config)
            raise ValueError(f"{folder} holds another run{what}; give another folder (--out), or start over (--fresh)")
        self._key = self._read_key() if config.seed is None else None
        self._scores = self._read()

    def play(
        self,
        num_groups: int,
        conduct: LbrConduct | None = None,
        on_block: Callable[[int], None] = lambda num_played: None,
        labour: Labour | None = None,
    ) -> None:
        """Play the missing groups among the first `num_groups`; each block is stored as soon as it is played.

        Parameters
        ----------
        conduct : LbrConduct, optional
            How to play; by default in this process, with an agent from outside in processes without a sandbox.
        on_block : callable
            Called after each block with its number of groups.
        labour : Labour, optional
            The executor that plays the groups; by default this process or worker processes (`LbrConduct.workers`).

        Raises
        ------
        ValueError
            If the agent does not report its strategy, or commits a fault.
        WorkerFailed
            If a worker process dies and is not replaced, or a part of the program fails in it.
        """
        conduct = conduct or LbrConduct()
        self._renew_key(num_groups)
        missing = (number for number in range(num_groups) if number not in self._scores)
        size, num_stored, start = 1, 0, time.monotonic()
        blocks = iter(lambda: list(itertools.islice(missing, size)), [])
        num_blocks = -(-(num_groups - self.num_played(num_groups)) // BLOCK_GROUPS)
        work = LbrWork(self.config, conduct, self.config.source(self._key))
        with (
            open(self.folder / _GROUPS, "a", encoding="utf-8", newline="") as file,
            contextlib.nullcontext(labour) if labour else local_labour(min(conduct.workers, num_blocks)) as players,
            contextlib.closing(as_done(players, work, blocks)) as played,
        ):
            for numbers, scores in played:
                for number, score in zip(numbers, scores, strict=True):
                    text = ",".join(map(repr, (number, *score)))
                    file.write(f"{text},{_checksum(text)}\n")
                file.flush()
                os.fsync(file.fileno())
                self._scores.update(zip(numbers, scores, strict=True))
                on_block(len(numbers))
                num_stored += len(numbers)
                pace = num_stored / max(time.monotonic() - start, 1e-9)
                size = max(1, min(int(_STORED_EVERY * pace), BLOCK_GROUPS))

    def publish_key(self, num_groups: int) -> None:
        """Publish the key if exactly the first `num_groups` groups are stored: then the run has ended."""
        is_over = len(self._scores) == num_groups == max(self._scores, default=-1) + 1
        if is_over and self._key is not None and not self._key.is_published:
            self._key = self._key.published()
            write_key(self.folder, self._key)

    def num_played(self, num_groups: int) -> int:
        """Return how many of the first `num_groups` groups are stored."""
        return sum(number < num_groups for number in self._scores)

    def results(self, num_groups: int) -> dict[str, Any]:
        """Return the results over the stored groups among the first `num_groups`.

        Returns
        -------
        dict
            The attributes of `LbrResult` except ``seconds``, ``hands_per_second`` and ``folder``.

        Raises
        ------
        ValueError
            If none of these groups is stored.
        """
        numbers = sorted(number for number in self._scores if number < num_groups)
        played = np.array([self._scores[number] for number in numbers])
        unit = 1000.0 / self.config.rules.big_blind
        played = played.reshape(-1, len(GroupScore._fields))
        paid, expected, corrected = (estimate_mean(column * unit) for column in played.T[:3])
        zero_sum = estimate_mean(self._zero_sum(np.array(numbers), played) * unit)
        return {
            "agent": parse_spec(self.config.agent).title,
            "menu": self.config.menu,
            "hands": len(played) * Prober.hands_per_group,
            "mbb_per_hand": expected.mean,
            "ci95": expected.ci95,
            "sd": float(played[:, 1].std(ddof=1) * unit) if len(played) > 1 else None,
            "paid_mbb_per_hand": paid.mean,
            "paid_ci95": paid.ci95,
            "aivat_mbb_per_hand": corrected.mean if self.config.aivat else None,
            "aivat_ci95": corrected.ci95 if self.config.aivat else None,
            "aivat_zero_sum_mbb_per_hand": zero_sum.mean if self.config.aivat else None,
            "aivat_zero_sum_ci95": zero_sum.ci95 if self.config.aivat else None,
            "game": game_name(self.config.rules),
            "seed": self.config.seed,
            "keys": self._key.record() if self._key is not None and self._key.is_published else None,
            "deals": self.config.deals,
            "from_outside": self.config.is_outside,
            "digest": self.config.digest,
        }

    def _zero_sum(self, numbers: np.ndarray, played: np.ndarray) -> np.ndarray:
        """Return local best response's chips per hand in each group, by AIVAT + zero-sum: float64[num_groups].

        An agent from outside counts without its own report, as in tournaments.

        Parameters
        ----------
        numbers : int64[num_groups]
            The groups, ascending.
        played : float64[num_groups, 5]
            The groups' `GroupScore`.
        """
        is_outside = self.config.is_outside
        _, _, corrected, reduced, own = played.T
        scores = np.stack([own, -(reduced if is_outside else corrected)], axis=1)
        num_earlier = np.searchsorted(numbers, numbers // BLOCK_GROUPS * BLOCK_GROUPS)
        prior = prior_coefficients(np.ones(2), np.array([True, is_outside]))
        return zero_sum_scores(scores, num_earlier, prior)[:, 0]

    def _renew_key(self, num_groups: int) -> None:
        """Draw another key for further groups if the present key was published."""
        first = max(self._scores, default=-1) + 1
        if self._key is not None and self._key.is_published and first < num_groups:
            self._key = self._key.extended_from(first)
            write_key(self.folder, self._key)

    def _read_key(self) -> RunKey:
        """Return the key in the folder.

        Raises
        ------
        ValueError
            If the key is damaged or missing.
        """
        try:
            key = read_key(self.folder)
        except ValueError as error:
            raise ValueError(f"{error}; start over (--fresh)") from None
        if key is None:
            raise ValueError(
                f"{self.folder / run_key.NAME} is missing: without this key no hand can be dealt again; start over "
                "(--fresh)"
            )
        return key

    def _read(self) -> dict[int, GroupScore]:
        """Return the stored scores by group number. An incomplete last line, left by a killed run, is cut off the file.

        Raises
        ------
        ValueError
            If the file is damaged.
        """
        path = self.folder / _GROUPS
        content = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        whole = content[: content.rfind("\n") + 1]
        header, *lines = whole.splitlines() or [""]
        if header != ",".join(_COLUMNS):
            raise ValueError(f"{path} is damaged; start over (--fresh)")
        scores = {}
        for place, line in enumerate(lines, start=2):
            text, _, checksum = line.rpartition(",")
            if checksum != _checksum(text):
                raise ValueError(f"{path} is damaged in line {place}; start over (--fresh)")
            number, *chips = text.split(",")
            scores[int(number)] = GroupScore(*map(float, chips))
        if whole != content:
            with open(path, "r+", encoding="utf-8") as file:
                file.truncate(len(whole.encode()))
        return scores


def _checksum(text: str) -> str:
    return str(zlib.crc32(text.encode()))


def _differences(path: Path, config: LbrConfig) -> str:
    """Return in words how the stored run differs from the settings; empty if the file of the run cannot be read."""
    try:
        begun = dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        return ""
    pairs = {name: (begun.get(name), now) for name, now in config.record().items() if begun.get(name) != now}
    code = {"package": "the package's code", "source": f"the file of {parse_spec(config.agent).title}"}
    if "agent" in pairs:
        pairs.pop("source", None)
    found = [f"{name} was {old}, and is {new} now" for name, (old, new) in pairs.items() if name not in code]
    found = found or [f"{code[name]} has changed since" for name in pairs]
    return f": {', '.join(found)}" if found else ""


@dataclass(frozen=True)
class LbrWork:
    """The groups of a run: a job is a list of group numbers, and its result the list of their scores.

    Attributes
    ----------
    config : LbrConfig
        The settings, which decide the results.
    conduct : LbrConduct
        How the groups are played.
    source : Source
        The source of decks and random numbers.
    departure : Departure or None
        The facts that must be equal on another machine; None if the work stays on the run's own machine.
    """

    config: LbrConfig
    conduct: LbrConduct
    source: Source
    departure: Departure | None = None

    @contextmanager
    def begin(self) -> Iterator[Callable[[list[int]], list[GroupScore]]]:
        """Build the `Prober` that plays the groups; the processes of an agent from outside end with the context."""
        config = self.config
        if self.departure is not None and config.is_outside:
            isolation = self.conduct.isolation
            try_here(isolate(config.agent, isolation.limits, isolation.log, isolation.sandbox), config.rules)
        agent, *others = self._agents()
        once = config.deals == "once"
        prober = Prober(
            config.rules, agent, MENUS[config.menu], self.source, others=others, once=once, aivat=config.aivat
        )
        try:
            yield lambda numbers: [prober.play(number) for number in numbers]
        finally:
            for each in prober.agents:
                if isinstance(each, SplitAgent | IsolatedAgent):
                    each.close()

    def _agents(self) -> Sequence[Agent]:
        """Return the measured agent; an agent from outside once for each of its processes that play."""
        if not self.config.is_outside:
            return [make_agent(self.config.agent)]
        return split_agents(self.config.agent, self.conduct.isolation, self.conduct.num_players)

    @property
    def paths(self) -> list[Path]:
        """The agent's file or stored strategy."""
        return paths_of([self.config.agent])

    @property
    def logs(self) -> Path | None:
        """The folder of the agent's log."""
        return self.conduct.isolation.log and self.conduct.isolation.log.parent

    @property
    def outsiders(self) -> Outsiders | None:
        """How an agent from outside plays. At most one answer can be late, because the first fault ends the run."""
        isolation = self.conduct.isolation
        return outsiders_in(isolation.sandbox, isolation.limits.seconds) if self.config.is_outside else None

    def departing(self) -> "LbrWork":
        """Return the work with absolute paths, and with the facts that must be equal on the other machine."""
        config = dataclasses.replace(self.config, agent=absolute_spec(self.config.agent))
        return dataclasses.replace(
            self, config=config, departure=Departure(self.config.digest, missing_tables([config.agent], config.rules))
        )

    def moved(self, site: Site) -> "LbrWork":
        """Return the work made by `departing`, with the paths of this machine; errors as in `TournamentWork`."""
        assert self.departure is not None
        config = dataclasses.replace(self.config, agent=moved_spec(self.config.agent, site))
        self.departure.check(config.digest, config.rules, site)
        old = self.conduct.isolation
        log = old.log and site.logs / old.log.name
        isolation = dataclasses.replace(old, log=log, sandbox=moved_sandbox(old.sandbox, site))
        return dataclasses.replace(self, config=config, conduct=dataclasses.replace(self.conduct, isolation=isolation))

    def essence(self, result: list[GroupScore]) -> bytes | None:
        """Return the scores; None with an agent that may play differently elsewhere."""
        return None if is_fickle(self.config.agent) else repr(result).encode()
