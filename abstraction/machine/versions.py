"""Texts that name the machine and the package versions with which a measurement was made."""

import importlib.metadata
import platform

from plurispiel.abstraction.machine.threads import num_processors

MAX_WORKERS = 1_024
"""Greatest number of worker processes that a run accepts."""

PACKAGES = ("plurispiel", "numpy", "numba", "open_spiel")


def machine_name() -> str:
    """Return architecture, system, number of processors and Python version as one line."""
    python = platform.python_version()
    return f"{platform.machine()} {platform.system()}, {num_processors()} processors, Python {python}"


def package_versions() -> dict[str, str]:
    """Return the version of each package that influences results or speed."""
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def machine_text() -> str:
    """Return machine, Python version and package versions as one line."""
    return machine_name() + "".join(f", {name} {version}" for name, version in package_versions().items())
