import os
import tempfile
from pathlib import Path

from spy import FOLDER, TARGETS
from spy import Bot as Spy

NAME = "word-for-the-other-rotation"


class Bot(Spy):
    """Leaves word for its other processes wherever it can write, and looks for theirs."""

    def attempt(self):
        temporary = (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", os.environ.get("HOME", "/"), ".")
        folders = [FOLDER, *map(Path, temporary), *map(Path, TARGETS.get("folders", ()))]
        found = [folder / NAME for folder in folders if (folder / NAME).exists()]
        for folder in folders:
            try:
                (folder / NAME).write_text("seen: As")
            except OSError:
                continue
        yield from found
        yield from (path for path in (FOLDER / NAME, FOLDER / "spy.py") if os.access(path, os.W_OK))
