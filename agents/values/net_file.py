"""Networks on disk: artefacts of float16 numbers, with the origin of their data and their errors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.artefact import Artefact, ArtefactRefused, load_artefact, write_artefact
from plurispiel.agents.values.encoding import num_inputs
from plurispiel.agents.values.levels import Level, find_level
from plurispiel.agents.values.net import Layers, ValueNet

__all__ = ["ENCODING", "KIND", "StoredNet", "load_net", "net_digest", "rounded_layers", "save_net"]

KIND, _FORMAT = "value net", 1
ENCODING = "strength"
"""The name of the encoding (`encoding`), by which networks of a later encoding could be told apart."""

_MAX_LAYERS, _MAX_WIDTH = 17, 8_192


@dataclass(frozen=True, eq=False)
class StoredNet:
    """A network with its origin.

    Attributes
    ----------
    net : ValueNet
    level : Level
        The start or end of the street that the network values.
    record : dict
        ``situations`` (their number), ``data`` (their digest), ``training`` (the settings), ``curve`` (the mean error
        of each epoch) and ``validation`` (`validation.measure`). A network of `make_net` also has ``tenth``: some of
        these figures for a network that was trained with a tenth of the situations. In a record of `distil`, ``data``
        is the teacher's digest, and ``boards`` and ``unseen`` are two of its parameters.
    digest : str
        Identifies the artefact.
    """

    net: ValueNet
    level: Level
    record: dict[str, Any]
    digest: str

    @property
    def num_bytes(self) -> int:
        """Bytes of all numbers in float16."""
        return 2 * self.net.layers.num_parameters


def rounded_layers(layers: Layers) -> Layers:
    """Return layers with the numbers that a file keeps: rounded to float16, and here float32 again."""
    return Layers.of([each.astype(np.float16).astype(np.float32) for each in layers.arrays()])


def save_net(folder: Path, layers: Layers, level: Level, record: dict[str, Any], *, seed: int) -> str:
    """Write a network and return its digest. The numbers are rounded to float16.

    Raises
    ------
    ValueError
        If a number is too large for float16.
    ArtefactRefused
        If the folder is not empty and holds anything but a network.
    """
    with np.errstate(over="ignore"):  # infinite numbers are refused below
        numbers = [each.astype(np.float16) for each in layers.arrays()]
    arrays = dict(zip(_names(len(layers.weights)), numbers, strict=True))
    if not all(np.isfinite(each).all() for each in arrays.values()):
        raise ValueError("a network with numbers above 65,504 cannot be kept in float16; train it at a smaller rate")
    facts = _facts(level, len(layers.biases[-1]) // 2)
    return write_artefact(folder, KIND, _FORMAT, arrays, facts | {"record": record}, seed=seed)


def load_net(folder: Path) -> StoredNet:
    """Return a network after checks of its manifest, its shapes and its numbers.

    Raises
    ------
    ArtefactRefused
        If the folder holds no sound network of a level, menu and encoding of this package.
    """
    artefact = load_artefact(folder, KIND, _FORMAT)
    try:
        level = find_level(str(artefact.config.get("level")), str(artefact.config.get("menu")))
    except ValueError:
        level = None
    bins, record = artefact.config.get("bins"), artefact.config.get("record")
    if level is None or type(bins) is not int or not isinstance(record, dict):
        raise ArtefactRefused(f"{folder} is not a network for a level of this version of plurispiel; give another one")
    facts = {key: value for key, value in artefact.config.items() if key != "record"}
    if facts != _facts(level, bins):
        raise ArtefactRefused(
            f"{folder} is a network for other bets or another encoding of the level {level.name}; train it again"
        )
    layers = _layers(artefact, level, bins)
    if layers is None:
        raise ArtefactRefused(f"{folder} holds impossible layers or numbers; train the network again")
    return StoredNet(ValueNet(layers), level, record, artefact.digest)


def net_digest(folder: Path) -> str:
    """Return the digest of a network; errors are those of `load_net`."""
    return load_net(folder).digest


def _names(num_layers: int) -> list[str]:
    """Return the names of arrays, in the order of `Layers.arrays`."""
    return [*(f"{kind}{number}" for number in range(num_layers) for kind in ("weights", "biases")), "slopes"]


def _facts(level: Level, bins: int) -> dict[str, Any]:
    return {"level": level.name, "street": level.street, "menu": level.menu, "encoding": ENCODING, "bins": bins}


def _layers(artefact: Artefact, level: Level, bins: int) -> Layers | None:
    """Return the layers of an artefact; None if they do not fit the level or each other."""
    arrays = artefact.arrays
    num_layers = len(arrays) // 2
    if not 2 <= num_layers <= _MAX_LAYERS or set(arrays) != set(_names(num_layers)):
        return None
    found = [arrays[name] for name in _names(num_layers)]
    if any(each.dtype != np.float16 or not np.isfinite(each).all() for each in found):
        return None
    fewest, most = level.bin_limits
    if not fewest <= bins <= most or found[-1].shape != (num_layers - 1,):
        return None
    width = num_inputs(level.rules, bins)
    for number in range(num_layers):
        weights, biases = found[2 * number], found[2 * number + 1]
        if weights.ndim != 2 or weights.shape[0] != width or biases.shape != weights.shape[1:]:
            return None
        width = weights.shape[1]
        if not 1 <= width <= _MAX_WIDTH:
            return None
    return Layers.of([each.astype(np.float32) for each in found]) if width == 2 * bins else None
