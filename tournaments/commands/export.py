"""`plurispiel export`: write the hands of a run as a hand-history file."""

import argparse
import contextlib
import re
import sys
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically, writing_atomically
from plurispiel.tournaments.formats.acpc import write_acpc
from plurispiel.tournaments.formats.game_definition import BUILT_IN, game_definition_text
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.phh import write_phh
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.known_runs import find_run


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    folder = find_run(options.run)
    first = next(stored_hands(folder), None)
    if first is None:
        raise ValueError(f"{folder} holds no hands: play the tournament with --hands all or --hands sample")
    out = Path(options.out) if options.out else None
    with writing_atomically(out) if out else contextlib.nullcontext(sys.stdout) as stream:
        if options.format == "acpc":
            game = _game_file(first, folder, out)
            num_hands = sum(1 for _ in stored_hands(folder))
            stream.write(f"# name/game/hands/seed {_word(folder.absolute().name)} {game} {num_hands} 0\n")
            write_acpc(stream, stored_hands(folder))
        else:
            write_phh(stream, stored_hands(folder))
    if out:
        print(f"wrote {out}", file=sys.stderr)
    return 0


def _game_file(hand: HandHistory, folder: Path, out: Path | None) -> str:
    """Return the game's name for the first line of the log: that of a built-in game, or of a new game file.

    A new game file is written next to the log. Without `out` it is not written, and a message tells its name.
    """
    definition = game_definition_text(hand.rules)
    for name, rules in BUILT_IN.items():
        if game_definition_text(rules) == definition:
            return name
    name = f"{_word((out or folder.absolute()).stem)}.game"
    if out is None:
        print(
            f"plurispiel replay needs the game file {name} beside this log: --out FILE.log also writes FILE.game",
            file=sys.stderr,
        )
    else:
        write_atomically(out.parent / name, definition)
    return name


def _word(text: str) -> str:
    """Return a text as one word of ASCII letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII) or "run"
