"""Finds the networks that come with the package."""

from pathlib import Path

from plurispiel.abstraction.machine.artefact import holds_artefact

__all__ = ["BUNDLED", "bundled_nets", "find_net", "find_nets"]

BUNDLED = "bundled"
"""The text that stands for the folder of the networks that come with the package."""

_FOLDER = Path(__file__).with_name("nets")


def bundled_nets() -> list[str]:
    """Return the names of the networks that come with the package; each has the name of its level."""
    return sorted(each.name for each in _FOLDER.iterdir() if holds_artefact(each))


def find_net(text: str) -> Path:
    """Return the folder of a network, given by its name if it comes with the package, else by the folder itself.

    >>> find_net("turn").name
    'turn'
    """
    return _FOLDER / text if text in bundled_nets() else Path(text)


def find_nets(text: str) -> Path:
    """Return a folder with networks in subfolders named by their levels: the package's for `BUNDLED`, else the folder.

    >>> find_nets("bundled") / "turn" == find_net("turn")
    True
    """
    return _FOLDER if text == BUNDLED else Path(text)
