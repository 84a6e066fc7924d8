import re
from pathlib import Path

from spy import Bot as Spy
from spy import others


class Bot(Spy):
    """Looks for the seed on the runner's command line, in its open folder and in its heap."""

    def attempt(self):
        for pid in others():
            process = Path(f"/proc/{pid}")
            try:
                if found := re.search(rb"--seed\0(\d+)", (process / "cmdline").read_bytes()):
                    yield found.group()
                if b"plurispiel" not in (process / "cmdline").read_bytes():
                    continue
                for handle in (process / "fd").iterdir():
                    if (handle / "config.toml").is_file():
                        yield (handle / "config.toml").read_text()
                with open(process / "mem", "rb", 0) as heap:
                    heap.seek(self.first(process))
                    yield heap.read(8)
            except OSError:
                continue

    def first(self, process):
        """Return where the heap begins."""
        text = (process / "maps").read_text()
        return int(next((line for line in text.splitlines() if "[heap]" in line), "0-").partition("-")[0], 16)
