"""Hand-history files, whatever their format: which there are, and the hands in them."""

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
    """Return the files that paths name: themselves, and in order those in folders that hold hands.

    In a folder these are PHH files by their suffix, and files ``*.log`` that begin as the ACPC's do: other programs
    write logs too.

    Raises
    ------
    ValueError
        If there is no such path, or no hand-history file in a folder.
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
            raise ValueError(f"no file or folder {path}")
    return files


def read_hands(path: Path, rules: HoldemRules | None = None) -> Iterator[HandHistory | BrokenHistory]:
    """Yield the hands of a file, and what is broken in between: PHH by its suffix, else a log of the ACPC's dealer.

    Parameters
    ----------
    rules : HoldemRules, optional
        The game of the ACPC's logs; by default each log names its own.
    """
    return read_phh(path) if path.suffix.lower() in _PHH else read_acpc(path, rules)


def _holds_hands(file: Path) -> bool:
    suffix = file.suffix.lower()
    if suffix != ".log":
        return suffix in _PHH
    try:
        with file.open("rb") as stream:
            return _LOG_BEGINS.search(stream.read(1 << 12)) is not None
    except OSError:  # which reading it will report
        return True
