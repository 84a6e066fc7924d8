"""The hands that a person has played at a table, in a folder: each is kept before the next one is dealt.

``hands.phhs`` is a PHH file. Games that PHH lacks, such as Leduc poker, are kept as a log of the ACPC's dealer,
``hands.log``, with the game in ``hands.game``. `plurispiel replay` reads both. After each hand a comment states the
person's result, so that the running result continues at the next start. ``table.json`` holds the settings: results of
tables with different settings are not added up.
"""

import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.interrupts import interrupts_held
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.formats.acpc import write_acpc
from plurispiel.tournaments.formats.game_definition import game_definition_text
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.phh import check_phh_game, write_phh
from plurispiel.tournaments.play.luck import TableScore
from plurispiel.tournaments.run.folder_lock import lock_folder, make_folder, unlock_folder

AGENTS_LOG = "agents.txt"
"""The name of the file in a table's folder to which agents from outside print."""

_SETTINGS = "table.json"
_LOG_HEAD = b"# name/game/hands/seed play hands.game 0 0\n"
_HAND = re.compile(rb"^(?:\[|STATE:)", re.MULTILINE)
_RESULT = re.compile(
    rb"^# result of hand ([1-9]\d{0,17}): (-?\d{1,15}\.\d{6}) chips, by AIVAT (-?\d{1,15}\.\d{6}) "
    rb"of a table of (-?\d{1,15}\.\d{6})\n",
    re.MULTILINE,
)
"""The comment after a hand: its number, the person's net chips and AIVAT score, and the sum of the table's scores."""


class Kept(NamedTuple):
    """The result of a kept hand: its number, the person's net chips, and the scores of the table."""

    number: int
    chips: float
    score: TableScore


class PlayHistory:
    """The folder of a table, which this process alone may use until `close`.

    Parameters
    ----------
    folder : Path
        The folder; it is created if it does not exist.
    rules : HoldemRules
        The game.
    settings : dict
        The settings of the table as plain values.

    Raises
    ------
    ValueError
        If another process plays at the table, the folder belongs to another table or holds something else, or a file
        in it is damaged. Also if the folder cannot be created.
    OSError
        If its files cannot be written.

    Attributes
    ----------
    path : Path
        The file of hands.
    kept : list of Kept
        The hands in the folder, in order.
    was_cut : bool
        Whether the file ended within a hand, as after a loss of power. That hand was removed.
    """

    def __init__(self, folder: Path, rules: HoldemRules, settings: dict[str, Any]):
        make_folder(folder)
        self._rules = rules
        self._is_phh = True
        try:
            check_phh_game(rules)
        except ValueError:
            self._is_phh = False
        self.path = folder / ("hands.phhs" if self._is_phh else "hands.log")
        try:
            self._lock = lock_folder(folder)
        except BlockingIOError:
            raise ValueError(f"another process plays at the table in {folder}; end it, or give another --out") from None
        self._file = -1
        try:
            self._check_settings(folder, settings)
            self.kept, self.was_cut = self._read()
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            if not self._is_phh and not self.path.stat().st_size:
                write_atomically(folder / "hands.game", game_definition_text(rules))
                self._write(_LOG_HEAD)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the folder."""
        if self._file >= 0:
            os.close(self._file)
        unlock_folder(self._lock)
        self._file, self._lock = -1, None

    @property
    def next_number(self) -> int:
        """The number of the next hand; the first is 1."""
        return self.kept[-1].number + 1 if self.kept else 1

    def keep(self, hand: Hand, names: Sequence[str], seat: int, score: TableScore) -> Kept:
        """Append a hand to the file, and return its result.

        Parameters
        ----------
        names : sequence of str
            The player in each seat.
        seat : int
            The person's seat.
        score : TableScore
            The scores of the hand.
        """
        number = self.next_number
        kept = Kept(number, hand.payoffs[seat], score)
        stream = io.StringIO()
        history = history_of(hand, names, str(number))
        if self._is_phh:
            write_phh(stream, [history], first=number)
        else:
            write_acpc(stream, [history])
        scores = f"by AIVAT {score.own:.6f} of a table of {score.total:.6f}"
        stream.write(f"# result of hand {number}: {kept.chips:.6f} chips, {scores}\n" + "\n" * self._is_phh)
        with interrupts_held():
            self._write(stream.getvalue().encode("utf-8", errors="replace"))
            self.kept.append(kept)
        return kept

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)

    def _check_settings(self, folder: Path, settings: dict[str, Any]) -> None:
        path = folder / _SETTINGS
        if not path.exists():
            if found := sorted(each.name for each in folder.iterdir() if each.name != AGENTS_LOG):
                raise ValueError(f"{folder} is no table: it holds {found[0]!r} and no {_SETTINGS}; give another --out")
            write_atomically(path, json.dumps(settings, indent=1) + "\n")
            return
        try:
            there = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            raise ValueError(f"{path} is damaged; give another --out") from None
        there = _titled(there) if isinstance(there, dict) else {}
        settings = _titled(settings)
        if there != settings:
            differing = [key for key in settings if there.get(key) != settings[key]]
            raise ValueError(
                f"{folder} is another table: {', '.join(differing) or 'its settings'} differ; give another --out"
            )

    def _read(self) -> tuple[list[Kept], bool]:
        """Return the kept hands, and whether a hand that was cut off was removed from the file's end."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return [], False
        kept: list[Kept] = []
        end = 0
        for match in _RESULT.finditer(data):
            kept.append(Kept(int(match[1]), float(match[2]), TableScore(float(match[3]), float(match[4]))))
            end = match.end()
            if len(kept) > 1 and kept[-1].number <= kept[-2].number:
                raise ValueError(f"{self.path} is damaged: hand {kept[-1].number} after hand {kept[-2].number}")
        if not kept and not self._is_phh:
            end = len(_LOG_HEAD) if data.startswith(_LOG_HEAD) else 0
        rest = data[end:].strip(b"\n")
        if not rest:
            return kept, False
        number = kept[-1].number + 1 if kept else 1
        begins = [f"[{number}]\n".encode() if self._is_phh else f"STATE:{number}:".encode()]
        begins += [_LOG_HEAD] * (not self._is_phh and not end)
        if len(_HAND.findall(rest)) > 1 or not any(rest.startswith(b) or b.startswith(rest) for b in begins):
            where = f"after hand {kept[-1].number}, " if kept else ""
            text = f"{self.path} has text that is no hand of this table; remove the text, or give another --out"
            raise ValueError(where + text)
        os.truncate(self.path, end)
        return kept, True


def _titled(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a table with the titles of its agents; earlier versions kept their specs."""
    agents = settings.get("agents")
    found = {"agents": [_title(spec) for spec in agents] if isinstance(agents, list) else agents}
    return settings | found | {"hint": _title(settings.get("hint"))}


def _title(spec: Any) -> Any:
    """Return the title of an agent; anything that is no agent's spec stays as it is."""
    try:
        return parse_spec(spec).title if isinstance(spec, str) else spec
    except ValueError:
        return spec


def history_of(hand: Hand, names: Sequence[str], label: str) -> HandHistory:
    """Return a hand as a history with the hole cards of all seats, and the board cards that were dealt."""
    rules = hand.rules
    cards = hand.deck.tolist()
    num_hole = rules.num_hole_cards
    last = max((action.street for action in hand.actions), default=0)
    size = rules.num_board_cards if hand.showdown else rules.board_size(last)
    return HandHistory(
        rules,
        tuple(names),
        tuple(tuple(cards[seat * num_hole : (seat + 1) * num_hole]) for seat in range(rules.num_seats)),
        tuple(cards[rules.num_seats * num_hole :][:size]),
        tuple(action.action for action in hand.actions),
        hand.payoffs,
        label,
    )
