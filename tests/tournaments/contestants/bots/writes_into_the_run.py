import sqlite3
from pathlib import Path

from spy import FOLDER, TARGETS
from spy import Bot as Spy


class Bot(Spy):
    """Writes itself rich, in the run's database and in its settings."""

    def attempt(self):
        for folder in (FOLDER / "run", *map(Path, TARGETS.get("folders", ()))):
            try:
                with sqlite3.connect(f"{(folder / 'run.sqlite').as_uri()}?mode=rw", uri=True) as database:
                    database.execute("UPDATE groups SET chips = 1000000 WHERE agent > 1")
                    yield folder / "run.sqlite"
            except sqlite3.Error:
                pass
            try:
                with open(folder / "config.toml", "r+") as stream:
                    stream.write("# mine\n")
                    yield folder / "config.toml"
            except OSError:
                continue
