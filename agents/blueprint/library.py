"""Where blueprints are: in folders and files that are named, among the user's, in the package."""

import difflib
from pathlib import Path

from plurispiel.abstraction.artefact import holds_artefact
from plurispiel.abstraction.folders import user_data_folder
from plurispiel.agents.blueprint.blueprint import FOLDER
from plurispiel.agents.blueprint.bundle import SUFFIX, unpacked_folder

__all__ = ["blueprints_folder", "bundled_names", "find_blueprint"]

_BOTS = Path(__file__).with_name("bots")


def blueprints_folder() -> Path:
    """Return the folder of the user's blueprints, each run in a folder with its name."""
    return user_data_folder() / "blueprints"


def bundled_names() -> list[str]:
    """Return the names of the blueprints that come with the package."""
    return sorted(path.stem for path in _BOTS.glob(f"*{SUFFIX}"))


def find_blueprint(text: str) -> Path:
    """Return the folder of a blueprint.

    Parameters
    ----------
    text : str
        Its path, that of its run, or that of a packed one, which is unpacked into the user's cache; or a name among the
        user's or the package's.

    Raises
    ------
    ValueError
        If there is none.
    ArtefactRefused
        If a packed one is damaged.
    """
    for folder in (Path(text), Path(text) / FOLDER, blueprints_folder() / text / FOLDER):
        if holds_artefact(folder):
            return folder
    if Path(text).suffix == SUFFIX and Path(text).is_file():
        return unpacked_folder(Path(text))
    if text in bundled_names():
        return unpacked_folder(_BOTS / f"{text}{SUFFIX}")
    home = blueprints_folder()
    own = [path.name for path in home.iterdir() if holds_artefact(path / FOLDER)] if home.is_dir() else []
    names = sorted({*own, *bundled_names()})
    known = f"there are {', '.join(names)}" if names else f"there is none yet in {home}"
    close = difflib.get_close_matches(text, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"{text!r} is no folder of a blueprint, nor the name of one: {known}{hint}")
