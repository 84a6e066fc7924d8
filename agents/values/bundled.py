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
    """Return the folder of a network. `text` is the name of a network that comes with the package, or else a folder.

    >>> find_net("turn").name
    'turn'
    """
    return _FOLDER / text if text in bundled_nets() else Path(text)


def find_nets(text: str) -> Path:
    """Return a folder that has a subfolder for each network, named by the network's level.

    It is the package's own folder if `text` is `BUNDLED`, else the folder `text`.

    >>> find_nets("bundled") / "turn" == find_net("turn")
    True
    """
    return _FOLDER if text == BUNDLED else Path(text)
