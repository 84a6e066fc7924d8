"""The example bots of the line protocol, which `plurispiel deal --example` writes for the user to change."""

import os
import shlex
from importlib import resources
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.tournaments.contestants import examples

__all__ = ["EXAMPLES", "write_example"]

EXAMPLES = {
    "python": ("bot.py",),
    "c": ("bot.c",),
    "sh": ("bot.sh",),
    "llm": ("llm_bot.py", "llm.toml"),
}
"""The files of each example; the first is the bot."""

_OWNER_ONLY = ("llm.toml",)  # readable by its owner only, because it will hold a key


def write_example(name: str, folder: Path) -> list[str]:
    """Write the files of an example into a folder, and return the commands that try the bot.

    Parameters
    ----------
    name : str
        A key of `EXAMPLES`.
    folder : Path
        Created if it does not exist.

    Raises
    ------
    ValueError
        If a file of the example exists.
    """
    targets = [folder / file for file in EXAMPLES[name]]
    for target in targets:
        if target.exists():
            raise ValueError(f"{target} exists; give another folder, or move the file away")
    folder.mkdir(parents=True, exist_ok=True)
    for target in targets:
        text = (resources.files(examples) / target.name).read_text(encoding="utf-8")
        mode = 0o600 if target.name in _OWNER_ONLY else 0o755 if text.startswith("#!") else 0o644
        write_atomically(target, text, mode=mode)
    bot = targets[0].with_suffix("") if name == "c" else targets[0]
    path = str(bot) if os.sep in str(bot) else f".{os.sep}{bot}"
    spec = shlex.quote(f"stdio:{shlex.quote(path)}")
    compiled = [f"cc -O2 -o {shlex.quote(path)} {shlex.quote(str(targets[0]))}"] if name == "c" else []
    network = " --agent-network" if name == "llm" else ""
    few = " --hands 10" if name == "llm" else ""
    return [
        *compiled,
        f"plurispiel compliance {spec}{few}{network}",
        f"plurispiel tournament --agents {spec} --agents tag --decks 100{network}",
    ]
