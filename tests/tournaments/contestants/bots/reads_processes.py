from pathlib import Path

from spy import TARGETS, others
from spy import Bot as Spy


class Bot(Spy):
    """Looks for the seed, the key and the cards in the processes of others, the run's first of all."""

    def attempt(self):
        for pid in [*others(), *TARGETS.get("victims", ())]:
            folder = Path(f"/proc/{pid}")
            try:
                words = (folder / "cmdline").read_bytes()
                if b"contestants.process" not in words:
                    yield f"{folder}/cmdline: {words!r}"
            except OSError:
                pass
            for name in ("mem", "environ", "maps"):
                try:
                    with open(folder / name, "rb") as stream:
                        if name == "mem" or stream.read(1):
                            yield f"{folder}/{name}"
                except OSError:
                    continue
            try:
                for handle in (folder / "fd").iterdir():
                    yield f"{handle}: {handle.readlink()}"
            except OSError:
                continue
