import os
from pathlib import Path

from spy import FOLDER, TARGETS
from spy import Bot as Spy

SECRET = ("run.sqlite", "config.toml", "settings.toml", "key", "rival", "diary")


class Bot(Spy):
    """Looks for the run's files, a rival's and the user's own, from its folder up and where it was told to look."""

    def attempt(self):
        places = [FOLDER, *FOLDER.parents[:2], *map(Path, TARGETS.get("folders", ()))]
        for place in dict.fromkeys(places):
            for folder, _, names in os.walk(place):
                for name in names:
                    if not name.startswith(SECRET):
                        continue
                    try:
                        if Path(folder, name).read_bytes():
                            yield Path(folder, name)
                    except OSError:
                        continue
