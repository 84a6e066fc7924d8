"""The replay of recorded hands from Python: `replay_hands`."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.tournaments.figures.replay_text import BATCH, ReplayReport
from plurispiel.tournaments.formats.files import hand_files, read_hands
from plurispiel.tournaments.formats.game_definition import game_by_name
from plurispiel.tournaments.run.known_runs import find_run

__all__ = ["ReplayResult", "replay_hands"]


@dataclass(frozen=True)
class ReplayResult:
    """The findings from replaying recorded hands through two engines.

    Attributes
    ----------
    hands : int
        Number of replayed hands; the hands in `errors` do not count.
    mismatches : list of dict
        Hands whose record disagrees with the engines, or on which the engines disagree: ``file, hand, what``, where
        ``what`` is the disagreement.
    errors : list of dict
        Hands and files that cannot be read or replayed: ``file, hand, what``; ``hand`` is None for a whole file.
    odd_chips : int
        Number of hands that disagree in the odd chips of split pots alone; `mismatches` does not list them.
    players : dict
        For each player, by name: ``hands``, ``chips`` (net), ``mbb_per_hand``, ``se`` (the standard error of
        ``mbb_per_hand``) and ``stats``, the frequencies of play.
    files : tuple of Path
        The files that were read, in order.
    """

    hands: int
    mismatches: list[dict[str, str | None]]
    odd_chips: int
    errors: list[dict[str, str | None]]
    players: dict[str, dict[str, Any]]
    files: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the record that ``plurispiel replay --json`` prints."""
        record = asdict(self)
        del record["files"]
        return record


def replay_hands(
    paths: str | Path | Iterable[str | Path], *, game: str | Path | None = None, progress: bool = False
) -> ReplayResult:
    """Replay recorded hands through this package's engine and `universal_poker`, and compare both with the files.

    Parameters
    ----------
    paths : path, or iterable of paths
        Logs of the ACPC's dealer, ``.phh`` and ``.phhs`` files, and folders of such files. A run may also be given
        by its name, or as ``"last"`` for the run that was played most recently.
    game : path, optional
        The game of the ACPC logs: a game file, or the file name of a built-in game. By default the game that each log
        names.
    progress : bool
        Show a progress bar on standard error.

    Raises
    ------
    ValueError
        If a path, run or game does not exist, the game file is broken, or a folder holds no hand-history file.
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    rules = game_by_name(str(game)) if game else None
    files = hand_files([str(find_run(str(path))) for path in given])
    report = ReplayReport()
    with progress_bar(unit="hand", unit_scale=True, disable=not progress) as bar:
        for path in files:
            hands = read_hands(path, rules)
            while batch := list(islice(hands, BATCH)):
                report.add(str(path), batch)
                bar.update(len(batch))
    return ReplayResult(**report.record(), files=tuple(files))
