"""Training of networks: error, gradient and the steps of Adam, in numpy.

Matrix products are those of numpy's linear algebra library. Runs are equal bit for bit if they have the same seed, the
same library, and the same number of the library's threads.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.agents.values.net import Layers, new_layers
from plurispiel.agents.values.training_set import TrainingData, TrainingSet

__all__ = [
    "BETAS",
    "EPSILON",
    "MAX_NORM",
    "Learn",
    "NetTrainer",
    "StepSizes",
    "TrainingConfig",
    "TrainingStopped",
    "error_and_gradient",
]

_LAST_RATE = 0.01  # of the first rate
_DIVERGED = 10.0

MAX_NORM = 1.0
"""Largest norm of a gradient; a longer one is scaled down."""

BETAS, EPSILON = (0.9, 0.999), 1e-8
"""Constants of Adam."""


class StepSizes(NamedTuple):
    """Factors of a step of Adam.

    Attributes
    ----------
    rate : float
        The learning rate of step t, counted from 1, divided by 1 - beta_1^t.
    unbiased : float
        1 / sqrt(1 - beta_2^t).
    """

    rate: float
    unbiased: float


Learn = Callable[[np.ndarray, StepSizes], float]
"""Takes the indices of situations, learns from these situations, and returns their mean error."""


class TrainingStopped(ValueError):
    """The error of an epoch is not finite, or far above the error of the first epoch."""


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of a training run.

    Attributes
    ----------
    layers, width : int
        Numbers of hidden layers, and of units in each.
    epochs : int
        Passes over all situations.
    batch : int
        Situations of a step.
    rate : float
        The first learning rate; it falls to a hundredth along a cosine.
    seed : int
        Seed of the first weights, and of the order of situations in each epoch.
    loss : {"huber", "squared"}
        The loss of an error e, in units of the pot: e^2 / 2, with ``huber`` linear beyond 1.
    device : str
        "numpy", or with PyTorch "cpu", "cuda" or a numbered GPU, as "cuda:1".

    Raises
    ------
    ValueError
        If a setting is out of range.
    """

    layers: int = 3
    width: int = 128
    epochs: int = 40
    batch: int = 250
    rate: float = 0.003
    seed: int = 1
    loss: str = "huber"
    device: str = "numpy"

    def __post_init__(self):
        for name, least, most in (
            ("layers", 1, 16),
            ("width", 1, 4_096),
            ("epochs", 1, 10_000),
            ("batch", 1, 1_000_000),
            ("seed", 0, 2**63 - 1),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"{name} must be {least} to {most:,}, got {value!r}")
        if self.loss not in ("huber", "squared"):
            raise ValueError(f"loss must be huber or squared, got {self.loss!r}")
        if not re.fullmatch(r"numpy|cpu|cuda(:\d{1,3})?", self.device):
            raise ValueError(f"device must be numpy, cpu, cuda or a numbered GPU as cuda:1, got {self.device!r}")
        if not 0.0 < self.rate <= 1.0:
            raise ValueError(f"rate must be above 0 and at most 1, got {self.rate!r}")


class NetTrainer:
    """A network in training.

    Parameters
    ----------
    config : TrainingConfig
    data : TrainingData

    Attributes
    ----------
    layers : Layers
    epoch : int
        Epochs done.
    errors : list of float
        The mean error of each epoch, measured during its steps.
    moments : list of list of float32 arrays
        The first and second moments of Adam, in the order of `Layers.arrays`.
    """

    def __init__(self, config: TrainingConfig, data: TrainingData):
        self.config, self._data = config, data
        widths = data.num_inputs, *(config.width,) * config.layers, 2 * data.num_bins
        self.layers = new_layers(widths, np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(0,))))
        self.epoch = 0
        self.errors: list[float] = []
        self.moments = [[np.zeros_like(each) for each in self.layers.arrays()] for _ in range(2)]

    def run_epoch(self) -> float:
        """Do one pass over all situations, and return its mean error.

        Raises
        ------
        TrainingStopped
            If the error is not finite, or more than ten times that of the first epoch.
        """
        number, batch = self.epoch + 1, self.config.batch
        data = self._data.of_epoch(number)
        count = len(data.inputs)
        learn = self._begin(data)
        order = np.random.default_rng(np.random.SeedSequence(self.config.seed, spawn_key=(number,))).permutation(count)
        steps = -(-count // batch)
        total = 0.0
        for step in range(steps):
            chosen = order[step * batch : (step + 1) * batch]
            error = learn(chosen, self._step_sizes(self.epoch * steps + step, self.config.epochs * steps))
            total += error * len(chosen)
            if not math.isfinite(error):
                break
        error = total / count
        if not math.isfinite(error) or (self.errors and error > _DIVERGED * self.errors[0]):
            raise TrainingStopped(
                f"the error of epoch {number} is {error:.3g}: training has diverged; take a rate below "
                f"{self.config.rate:g}"
            )
        self._end()
        self.errors.append(error)
        self.epoch = number
        return error

    def _begin(self, data: TrainingSet) -> Learn:
        """Return the function that learns from situations of an epoch."""

        def learn(chosen: np.ndarray, sizes: StepSizes) -> float:
            some = TrainingSet(*(each[chosen] for each in data))
            error, gradient = error_and_gradient(self.layers, some, squared=self.config.loss == "squared")
            if math.isfinite(error):
                self._step(gradient, sizes)
            return error

        return learn

    def _end(self) -> None:
        """End an epoch: a subclass that trains elsewhere copies its results to `layers` and `moments` here."""

    def _step_sizes(self, done: int, total: int) -> StepSizes:
        """Return the factors of a step of Adam, after `done` of `total` steps."""
        fall = _LAST_RATE + (1.0 - _LAST_RATE) * 0.5 * (1.0 + math.cos(math.pi * done / total))
        first_beta, second_beta = BETAS
        rate = self.config.rate * fall / (1.0 - first_beta ** (done + 1))
        return StepSizes(rate, 1.0 / math.sqrt(1.0 - second_beta ** (done + 1)))

    def _step(self, gradient: list[np.ndarray], sizes: StepSizes) -> None:
        """Take a step of Adam, with the gradient scaled down to a norm of at most `MAX_NORM`."""
        norm = math.sqrt(sum(float(np.square(each, dtype=np.float64).sum()) for each in gradient))
        scale = min(1.0, MAX_NORM / max(norm, 1e-300))
        first_beta, second_beta = BETAS
        for numbers, slope, first, second in zip(self.layers.arrays(), gradient, *self.moments, strict=True):
            slope = slope * np.float32(scale)
            first += np.float32(1.0 - first_beta) * (slope - first)
            second += np.float32(1.0 - second_beta) * (slope * slope - second)
            root = np.sqrt(second) * np.float32(sizes.unbiased) + np.float32(EPSILON)
            numbers -= np.float32(sizes.rate) * first / root


def error_and_gradient(layers: Layers, data: TrainingSet, *, squared: bool = False) -> tuple[float, list[np.ndarray]]:
    """Return the mean error of values in pots, over all bins of all situations, and its gradient.

    The error of a bin counts by its number of hands in `TrainingSet.hands`; all situations count equally. Values enter
    the error after the correction that makes both seats' values sum to 0.

    Parameters
    ----------
    layers : Layers
        Of float32, or of float64 to check gradients.
    data : TrainingSet
    squared : bool
        Whether the error of a difference is half its square. If not, it is the Huber error, which is linear beyond one
        pot. If targets are random and right on average, the squared error is least where answers are the exact values.

    Returns
    -------
    error : float
    gradient : list of float[...]
        In the order of `Layers.arrays`.
    """
    count = len(data.inputs)
    sides, found = [data.inputs], []
    for number, (weights, biases) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        before = sides[-1] @ weights + biases
        found.append(before)
        if number < len(layers.slopes):
            sides.append(np.where(before > 0.0, before, layers.slopes[number] * before))
    outputs = found[-1].reshape(data.targets.shape)
    gain = (data.weights * outputs).sum(axis=(1, 2), keepdims=True)
    gates = data.gates[:, None, None]
    errors = gates * (outputs - gain) - data.targets
    share = data.hands / (data.hands.sum(axis=(1, 2), keepdims=True) * count)
    bent = errors if squared else np.clip(errors, -1.0, 1.0)
    error = float((share * bent * (errors - 0.5 * bent)).sum(dtype=np.float64))
    slope = share * bent * gates
    slope -= data.weights * slope.sum(axis=(1, 2), keepdims=True)
    slope = slope.reshape(count, -1)
    parts: list[np.ndarray] = []
    slopes = np.zeros_like(layers.slopes)
    for number in range(len(layers.weights) - 1, -1, -1):
        parts[:0] = [sides[number].T @ slope, slope.sum(axis=0)]
        if number:
            before = found[number - 1]
            slope = slope @ layers.weights[number].T
            negative = before <= 0.0
            slopes[number - 1] = (slope * before * negative).sum()
            slope = np.where(negative, layers.slopes[number - 1] * slope, slope)
    return error, [*parts, slopes]
