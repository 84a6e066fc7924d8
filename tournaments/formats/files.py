"""Hand-history files of any format: find them in folders, and read their hands."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.tournaments.formats.acpc import read_acpc
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory
from plurispiel.tournaments.formats.phh import read_phh

_PHH = (".phh", ".phhs")
_LOG_BEGINS = re.compile(rb"^(STATE:|#\s*name/game/hands/seed\s)", re.MULTILINE)


def hand_files(paths: Iterable[str]) -> list[Path]:
    """Return the named files and the hand-history files in named folders and their subfolders, in the order of `paths`.

    The files of a folder are sorted by path. Hand-history files are all files with the suffix ``.phh`` or ``.phhs``,
    and the logs of the ACPC's dealer. A ``*.log`` file may be from another program. It counts as a log of the dealer
    only if a line in its first 4 KiB begins with ``STATE:`` or is the comment ``# name/game/hands/seed ...``. A
    ``*.log`` file that cannot be opened also counts, so that its reader reports the error.

    Raises
    ------
    ValueError
        If a path does not exist, or a folder holds no hand-history file.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if file.is_file() and _holds_hands(file))
            if not found:
                raise ValueError(f"no .phh, .phhs or ACPC .log file in the folder {path}")
            files += found
        elif path.exists():
            files.append(path)
        else:
            raise ValueError(f"no file or folder {path}; name hand-history files, or folders with such files")
    return files


def read_hands(path: Path, rules: HoldemRules | None = None) -> Iterator[HandHistory | BrokenHistory]:
    """Yield the hands of a file, and a `BrokenHistory` for each defect.

    A file with the suffix ``.phh`` or ``.phhs`` is read as PHH, every other file as a log of the ACPC's dealer.

    Parameters
    ----------
    rules : HoldemRules, optional
        The game of a log of the ACPC's dealer; by default the game that the log names.
    """
    return read_phh(path) if path.suffix.lower() in _PHH else read_acpc(path, rules)


def _holds_hands(file: Path) -> bool:
    suffix = file.suffix.lower()
    if suffix != ".log":
        return suffix in _PHH
    try:
        with file.open("rb") as stream:
            return _LOG_BEGINS.search(stream.read(1 << 12)) is not None
    except OSError:  # reading the file will report the error
        return True
