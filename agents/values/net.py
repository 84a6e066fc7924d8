"""Networks that value the hands of both seats at the start or the end of a street."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.machine.threads import run_chunks
from plurispiel.agents.values import net_kernels as kernels

__all__ = ["Layers", "ValueNet", "new_layers"]


@dataclass(frozen=True, eq=False)
class Layers:
    """The parameters of a network with L hidden layers, each followed by a parametric rectifier.

    Attributes
    ----------
    weights : list of float[num_inputs, num_outputs]
        L + 1 matrices.
    biases : list of float[num_outputs]
    slopes : float[L]
        The slope of each hidden layer's rectifier below 0.
    """

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    slopes: np.ndarray

    def arrays(self) -> list[np.ndarray]:
        """Return all arrays in one order: the weights and biases of one layer after another, then the slopes."""
        return [*(each for pair in zip(self.weights, self.biases, strict=True) for each in pair), self.slopes]

    @staticmethod
    def of(arrays: list[np.ndarray]) -> "Layers":
        """Return the layers with these arrays, in the order of `arrays`."""
        return Layers(arrays[:-1:2], arrays[1:-1:2], arrays[-1])

    @property
    def num_parameters(self) -> int:
        """Number of weights, biases and slopes."""
        return sum(each.size for each in self.arrays())


def new_layers(widths: tuple[int, ...], rng: np.random.Generator) -> Layers:
    """Return layers of random weights, float32, by He's initialisation; those of the last layer are a tenth as large.

    Parameters
    ----------
    widths : tuple of int
        Numbers of inputs, of hidden units of each layer, and of outputs.
    """
    weights = [
        rng.standard_normal((before, after)) * np.sqrt(2.0 / before)
        for before, after in zip(widths, widths[1:], strict=False)
    ]
    weights[-1] *= 0.1
    return Layers(
        [each.astype(np.float32) for each in weights],
        [np.zeros(width, np.float32) for width in widths[1:]],
        np.full(len(widths) - 2, 0.25, np.float32),
    )


class ValueNet:
    """A network that maps inputs to outputs by bin, for both seats.

    Parameters
    ----------
    layers : Layers
        Of float32.

    Examples
    --------
    >>> net = ValueNet(new_layers((3, 8, 4), np.random.default_rng(1)))
    >>> net.outputs(np.ones((5, 3), np.float32)).shape
    (5, 2, 2)
    """

    def __init__(self, layers: Layers):
        self.layers = layers
        self._weights = [np.array(each, np.float32, order="C") for each in layers.weights]
        self._biases = [np.array(each, np.float32, order="C") for each in layers.biases]

    @property
    def num_bins(self) -> int:
        """Number of bins; the network has an output for each bin of each seat."""
        return self._weights[-1].shape[1] // 2

    def outputs(self, inputs: np.ndarray, *, threads: int = 1) -> np.ndarray:
        """Return the outputs for rows of inputs, float32[n, num_inputs]: float32[n, 2, num_bins].

        A row's outputs are the same bits in any batch, with any number of threads, and on every processor.
        """
        rows = np.array(inputs, np.float32, order="C")
        if rows.shape[1] != len(self._weights[0]):  # kernels check no bounds
            raise ValueError(f"the network takes {len(self._weights[0]):,} inputs, got {rows.shape[1]:,}")
        found = np.empty((len(rows), 2 * self.num_bins), np.float32)

        def make_worker() -> Callable[[slice], None]:
            return lambda part: np.copyto(found[part], self._outputs(rows[part]))

        run_chunks(make_worker, len(rows), chunk=max(1, -(-len(rows) // threads)), threads=threads)
        return found.reshape(len(rows), 2, -1)

    def _outputs(self, found: np.ndarray) -> np.ndarray:
        for number, (weights, biases) in enumerate(zip(self._weights, self._biases, strict=True)):
            following = np.empty((len(found), weights.shape[1]), np.float32)
            kernels.fill_layer(found, weights, biases, following)
            if number < len(self._weights) - 1:
                kernels.activate(following, self.layers.slopes[number])
            found = following
        return found


def warmup() -> None:
    """Compile every kernel that this module calls."""
    ValueNet(new_layers((2, 2, 2), np.random.default_rng(0))).outputs(np.ones((1, 2), np.float32))
