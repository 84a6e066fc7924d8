"""Training of networks by PyTorch, on a processor or a GPU.

PyTorch, which the package's extra ``train`` installs, is imported on first use.

The steps are those of `training`: the same first weights, order of situations, error, and Adam. Gradients come from
PyTorch's automatic differentiation. Results differ by rounding alone.
"""

import importlib
from typing import Any

import numpy as np

from plurispiel.agents.values.net import Layers
from plurispiel.agents.values.training import (
    BETAS,
    EPSILON,
    MAX_NORM,
    Learn,
    NetTrainer,
    StepSizes,
    TrainingConfig,
)
from plurispiel.agents.values.training_set import TrainingData, TrainingSet

__all__ = ["TorchTrainer", "find_device"]


def find_device(name: str) -> Any:
    """Return a device of PyTorch by its name (`TrainingConfig.device`).

    For a GPU, this allows the whole process to multiply float32 matrices in TF32, which has fewer digits.

    Raises
    ------
    ValueError
        If PyTorch is not installed, or there is no such device.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ValueError(f"device {name} needs PyTorch: pip install 'plurispiel[train]', or take numpy") from None
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
        if device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = True  # products by matrix units: ten times as fast
    except (RuntimeError, AssertionError) as error:
        told = str(error).strip().splitlines()[0][:200]
        raise ValueError(f"PyTorch finds no device {name} here ({told}); take numpy") from None
    return device


class TorchTrainer(NetTrainer):
    """A network in training by PyTorch, on the device of its settings.

    Parameters and attributes are those of `NetTrainer`.

    Raises
    ------
    ValueError
        If PyTorch is not installed, or has no such device.
    """

    def __init__(self, config: TrainingConfig, data: TrainingData):
        super().__init__(config, data)
        self._device = find_device(config.device)
        self._torch = importlib.import_module("torch")
        self._there: list[Any] = []
        self._known: tuple[TrainingSet, list[Any]] | None = None

    def _begin(self, data: TrainingSet) -> Learn:
        """Move the network's parameters and new situations to the device, and return the function that learns."""
        torch = self._torch
        if self._known is None or self._known[0] is not data:
            self._known = data, [torch.as_tensor(each).to(self._device) for each in data]
        columns = self._known[1]
        numbers, *moments = (
            [torch.tensor(each, device=self._device) for each in rows] for rows in (self.layers.arrays(), *self.moments)
        )
        for each in numbers:
            each.requires_grad_()
        self._there = [numbers, *moments]

        def learn(chosen: np.ndarray, sizes: StepSizes) -> float:
            places = torch.from_numpy(chosen).to(self._device)
            error = self._error(numbers, TrainingSet(*(each[places] for each in columns)))
            gradient = torch.autograd.grad(error, numbers)
            found = float(error.detach())
            if np.isfinite(found):
                self._move(gradient, sizes)
            return found

        return learn

    def _end(self) -> None:
        """Fetch the network's parameters and the moments of Adam from the device."""
        numbers, *moments = ([each.detach().cpu().numpy() for each in rows] for rows in self._there)
        self.layers, self.moments = Layers.of(numbers), moments

    def _error(self, numbers: list[Any], data: Any) -> Any:
        """Return the error of `training.error_and_gradient` as a tensor, for a `TrainingSet` of tensors."""
        torch = self._torch
        layers = Layers.of(numbers)
        found = data.inputs
        for number, (weights, biases) in enumerate(zip(layers.weights, layers.biases, strict=True)):
            found = found @ weights + biases
            if number < len(layers.slopes):
                found = torch.where(found > 0.0, found, layers.slopes[number] * found)
        outputs = found.reshape(data.targets.shape)
        gain = (data.weights * outputs).sum(dim=(1, 2), keepdim=True)
        errors = data.gates[:, None, None] * (outputs - gain) - data.targets
        sizes = errors.abs()
        losses = 0.5 * errors * errors
        if self.config.loss == "huber":
            losses = torch.where(sizes < 1.0, losses, sizes - 0.5)
        shares = data.hands / data.hands.sum(dim=(1, 2), keepdim=True)
        return (shares * losses).sum() / len(data.inputs)

    def _move(self, gradient: Any, sizes: StepSizes) -> None:
        """Take a step of Adam, as `NetTrainer` does."""
        torch = self._torch
        norm = float(sum((each.double() ** 2).sum() for each in gradient)) ** 0.5
        scale = min(1.0, MAX_NORM / max(norm, 1e-300))
        first_beta, second_beta = BETAS
        with torch.no_grad():
            for number, slope, first, second in zip(self._there[0], gradient, *self._there[1:], strict=True):
                slope = slope * scale
                first += (1.0 - first_beta) * (slope - first)
                second += (1.0 - second_beta) * (slope * slope - second)
                number -= sizes.rate * first / (second.sqrt() * sizes.unbiased + EPSILON)
