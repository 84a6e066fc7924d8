"""Where users' files are kept when no folder is named."""

import os
import sys
from pathlib import Path


def user_data_folder() -> Path:
    """Return the folder for what users keep: PLURISPIEL_HOME, else the platform's folder for user data."""
    if chosen := os.environ.get("PLURISPIEL_HOME"):
        return Path(chosen)
    if os.name == "nt":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "plurispiel"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "plurispiel"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plurispiel"


def tables_folder() -> Path:
    """Return the folder of the user's bucket tables, each in a folder with its name."""
    return user_data_folder() / "abstractions"
