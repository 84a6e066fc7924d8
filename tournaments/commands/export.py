"""`plurispiel export`: write the hands of a run as a hand-history file."""

import argparse
import contextlib
import sys
from pathlib import Path

from plurispiel.abstraction.machine.files import require_writable, writing_atomically
from plurispiel.tournaments.formats.acpc import LOG_BEGIN, one_word, write_acpc, write_header
from plurispiel.tournaments.formats.game_definition import built_in_name
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.match_log import game_beside
from plurispiel.tournaments.formats.phh import PHH_BEGIN, write_phh
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.known_runs import find_run


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    folder = find_run(options.run)
    first = next(stored_hands(folder), None)
    if first is None:
        raise ValueError(f"{folder} holds no hands: play the tournament, with --hands all or --hands sample")
    out = Path(options.out) if options.out else None
    if out:
        require_writable(out, "give another file (--out)", (LOG_BEGIN, PHH_BEGIN))
    with writing_atomically(out) if out else contextlib.nullcontext(sys.stdout) as stream:
        if options.format == "acpc":
            game = _game_file(first, folder, out)
            num_hands = sum(1 for _ in stored_hands(folder))
            write_header(stream, folder.absolute().name, game, num_hands)
            write_acpc(stream, stored_hands(folder))
        else:
            write_phh(stream, stored_hands(folder))
    if out:
        print(f"wrote {out}", file=sys.stderr)
    return 0


def _game_file(hand: HandHistory, folder: Path, out: Path | None) -> str:
    """Return the game's name for the first line of the log: that of a built-in game, or of a new game file.

    A new game file is written next to the log. Without `out`, a message names the missing game file instead.
    """
    if out is not None:
        return game_beside(out, hand.rules)
    if (known := built_in_name(hand.rules)) is not None:
        return known
    name = f"{one_word(folder.absolute().stem)}.game"
    print(
        f"plurispiel replay needs the game file {name} beside this log; --out FILE.log writes both files",
        file=sys.stderr,
    )
    return name
