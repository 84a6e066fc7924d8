"""The log of a match in the form of the ACPC's dealer. If the process is killed, the log keeps all finished hands."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.tournaments.formats.acpc import one_word, write_acpc, write_header, write_score
from plurispiel.tournaments.formats.game_definition import built_in_name, game_definition_text
from plurispiel.tournaments.formats.history import HandHistory


def game_beside(path: Path, rules: HoldemRules) -> str:
    """Return the game's name for the first line of a log; write its definition beside the log unless it is built in.

    Raises
    ------
    ValueError
        If a file beside the log has the name of this game's definition, but holds another definition.
    """
    if (known := built_in_name(rules)) is not None:
        return known
    name = f"{one_word(path.stem)}.game"
    beside, text = path.with_name(name), game_definition_text(rules)
    if not beside.exists():
        write_atomically(beside, text)
    elif beside.read_bytes() != text.encode():
        raise ValueError(f"{beside} is the file of another game; choose another folder")
    return name


class MatchLog:
    """A log to which hands are appended; each hand is passed to the operating system when it is added.

    Parameters
    ----------
    path : Path
        The log. If it exists, the match is appended under a header of its own. Its folder is created. If the game is
        not in `game_definition.BUILT_IN`, its definition is written beside the log.
    rules : HoldemRules
        The game of the match.
    num_hands : int
        Number of hands for the header; 0 if it is not known.
    seed : int or str
        Seed for the header.
    comments : sequence of str
        Further lines of the header; each has to begin with ``#``.

    Raises
    ------
    ValueError
        If a file beside the log has the name of this game's definition, but holds another definition.
    OSError
        If the log cannot be written.
    """

    def __init__(
        self, path: Path, rules: HoldemRules, num_hands: int, seed: int | str = 0, comments: tuple[str, ...] = ()
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        game = game_beside(path, rules)
        self.path = path
        self._stream = path.open("a", encoding="utf-8")
        write_header(self._stream, path.stem, game, num_hands, seed)
        self._stream.writelines(f"{comment}\n" for comment in comments)
        self._stream.flush()

    def add(self, history: HandHistory) -> None:
        """Append a hand; its label has to be its number.

        Raises
        ------
        ValueError
            If a log cannot hold the hand (`write_acpc`).
        """
        write_acpc(self._stream, [history])
        self._stream.flush()

    def add_score(self, totals: Sequence[float], names: Sequence[str]) -> None:
        """Append the result: the net chips of all hands, by player (`write_score`)."""
        write_score(self._stream, totals, names)
        self._stream.flush()

    def add_comment(self, comment: str) -> None:
        """Append a line of comment."""
        self._stream.write(f"# {comment}\n")
        self._stream.flush()

    def close(self) -> None:
        """Wait until the bytes of the log have reached the disk, and close the log."""
        if not self._stream.closed:
            os.fsync(self._stream.fileno())
            self._stream.close()

    def __enter__(self) -> "MatchLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
