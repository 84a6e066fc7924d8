import sqlite3
from pathlib import Path

from spy import FOLDER, TARGETS
from spy import Bot as Spy


class Bot(Spy):
    """Erases all scores in the run's database, and writes into its settings."""

    def attempt(self):
        for folder in (FOLDER / "run", *map(Path, TARGETS.get("folders", ()))):
            try:
                with sqlite3.connect(f"{(folder / 'run.sqlite').as_uri()}?mode=rw", uri=True) as database:
                    database.execute("UPDATE blocks SET rows = zeroblob(length(rows))")
                    yield folder / "run.sqlite"
            except sqlite3.Error:
                pass
            try:
                with open(folder / "config.toml", "r+") as stream:
                    stream.write("# mine\n")
                    yield folder / "config.toml"
            except OSError:
                continue
