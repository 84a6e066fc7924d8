"""Named sizes of data and networks."""

from typing import NamedTuple

from plurispiel.abstraction.machine.suggestion import suggestion

__all__ = ["PRESETS", "Preset", "find_preset"]


class Preset(NamedTuple):
    """The number of situations in a data set, and the settings of a training run with that number of situations.

    Attributes
    ----------
    situations : int
    layers, width, epochs, batch, rate, device
        As in `TrainingConfig`.
    """

    situations: int
    layers: int
    width: int
    epochs: int
    batch: int
    rate: float
    device: str


PRESETS = {
    "small": Preset(20_000, 3, 128, 40, 250, 0.003, "numpy"),
    "two-cores": Preset(400_000, 4, 384, 30, 250, 0.001, "numpy"),
    "h200": Preset(1_500_000, 7, 500, 60, 1_000, 0.001, "cuda"),
}


def find_preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    if name not in PRESETS:
        raise ValueError(f"a preset is one of {', '.join(PRESETS)}, got {name!r}{suggestion(name, PRESETS)}")
    return PRESETS[name]
