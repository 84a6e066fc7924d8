"""Finds the networks that come with the package."""

from pathlib import Path

from plurispiel.abstraction.machine.artefact import holds_artefact

__all__ = ["bundled_nets", "find_net"]

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
