"""The data of a run that the report shows, read once from the run's folder."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.evaluation.play_statistics import PlayStatistics
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import make_results, printable
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, make_lineups
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.stop_watch import StopWatch
from plurispiel.tournaments.run.store import AnswerTimes, RunRefused, RunStore


@dataclass(frozen=True)
class RunRecord:
    """A run as it stands in its folder.

    Attributes
    ----------
    letter : str
        The run's short name on the page, from A.
    folder : Path
        The folder from which the run was read.
    config : TournamentConfig
        The settings with which the run is played.
    results : dict
        The content of ``results.json``, computed from the stored groups when the run is read.
    rows : schema.SCORES[num_rows]
        One row for every agent in every group, in the order of the schedule. The Control (see `tournaments.run`) has
        the agent number ``len(config.agents)``.
    scores : RunScores
        The scores of every agent, computed from `rows`.
    play : dict of int to PlayStatistics
        Frequencies of play, by the agent's number.
    times : dict of int to AnswerTimes
        The number of decisions and their times, by the agent's number.
    first_faults : dict of int to str
        The message of the first fault, by the agent's number; agents without faults are missing.
    facts : dict
        Version, digest and machine of the run (`RunStore.facts`).
    num_groups, num_wanted : int
        The number of groups played so far, and the number that the settings ask for.
    num_kept : int
        The number of groups whose hands are kept.
    seat_sums : float64[num_rows, num_seats, 1 or 3]
        For each row of `rows` and each seat: the sum of the net chips. With AIVAT, the sums of the full and of the
        reduced estimates follow (`duplicate.AgentScore.seat_sums`).
    """

    letter: str
    folder: Path
    config: TournamentConfig
    results: dict[str, Any]
    rows: np.ndarray
    scores: RunScores
    play: Mapping[int, PlayStatistics]
    times: Mapping[int, AnswerTimes]
    first_faults: Mapping[int, str]
    facts: Mapping[str, Any]
    num_groups: int
    num_wanted: int
    num_kept: int
    seat_sums: np.ndarray

    @property
    def title(self) -> str:
        """The folder's name."""
        return printable(self.folder.absolute().name)

    @property
    def names(self) -> list[str]:
        """The agents' names, fit to print."""
        return [printable(name) for name in self.config.names]

    @property
    def ranking(self) -> list[int]:
        """The agents' numbers, best first; agents without a hand come last."""
        rates = [agent["mbb_per_hand"] for agent in self.results["agents"]]
        return sorted(range(len(rates)), key=lambda number: (rates[number] is None, -(rates[number] or 0.0)))

    @property
    def is_finished(self) -> bool:
        """Whether all decks were played, or the stop rule ended the run."""
        return self.results["stopped"] or self.num_groups >= self.num_wanted


def read_run(folder: Path, letter: str) -> RunRecord:
    """Read a run, finished or not.

    Raises
    ------
    RunRefused
        If the folder holds no run, or if the run is damaged or was written by another version.
    ValueError
        If the settings in ``config.toml`` cannot be read or are not allowed.
    """
    with contextlib.closing(RunStore.reading(folder)) as store:
        store.check()
        config = store.config
        StopWatch(config, store).is_over()  # hides groups stored after the rule had ended the run
        rows = store.scores()
        num_lineups = len(make_lineups(config))
        if len(rows) and not 0 <= rows["lineup"].min() <= rows["lineup"].max() < num_lineups:
            raise RunRefused(f"{folder} is damaged: its config.toml does not fit its run.sqlite")
        order = np.lexsort((rows["agent"], rows["deck"], rows["lineup"], rows["deck"] // BLOCK_DECKS))
        rows = rows[order]
        return RunRecord(
            letter=letter,
            folder=folder,
            config=config,
            results=make_results(config, store),
            rows=rows,
            scores=RunScores(config, store, rows),
            play={number: PlayStatistics(counts) for number, counts in store.play_counts().items()},
            times=store.answer_times(),
            first_faults=store.first_faults(),
            facts=store.facts,
            num_groups=len(np.unique(rows[["lineup", "deck"]])),
            num_wanted=num_lineups * config.decks,
            num_kept=store.num_kept(),
            seat_sums=store.seat_sums()[order],
        )
