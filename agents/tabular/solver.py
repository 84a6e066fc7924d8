"""The common part of all solvers of a game tree."""

import abc
from collections.abc import Mapping
from typing import ClassVar, Protocol

import numpy as np

from plurispiel.abstraction.trees.game_tree import GameTree, uniform_strategy


class NamedAlgorithm(Protocol):
    """The settings of an algorithm: a frozen dataclass. All settings can be read from its name."""

    @property
    def name(self) -> str:
        """The name, which `parse_algorithm` reads."""


class Solver(abc.ABC):
    """The common part of all solvers of a game tree.

    Attributes
    ----------
    tree : GameTree
    algorithm : FullWidth, ExternalSampling or DeepCfr
    seed : int or None
        Seed of the random numbers; None for a full-width algorithm, which samples nothing.
    iteration : int
        Number of iterations done.
    keeps_last_average : bool
        If True, an interrupt may stop `run` at any time. Then `iteration` is that of the last average strategy, and
        `run` refuses to go on. If False, an interrupt has to wait until `run` returns, and `resume` accepts saved
        states.
    """

    keeps_last_average: ClassVar[bool] = False

    def __init__(self, tree: GameTree, algorithm: NamedAlgorithm, seed: int | None):
        self.tree = tree
        self.algorithm = algorithm
        self.seed = seed
        self.iteration = 0

    @abc.abstractmethod
    def run(self, num_iterations: int) -> None:
        """Do `num_iterations` more iterations."""

    @abc.abstractmethod
    def current_strategy(self) -> np.ndarray:
        """Return the strategy that the next iteration begins with: float64[A]."""

    def average_strategy(self) -> np.ndarray:
        """Return the average strategy so far: float64[A].

        In infosets where the weighted sum of strategies is 0, the average is uniform. If the sum is 0 in all infosets,
        as before the first iteration that counts, the current strategy is returned instead.
        """
        sums = self.arrays()["strategy_sum"]
        return normalised(self.tree, sums) if sums.any() else self.current_strategy()

    @abc.abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Return the state of the solver except `iteration`: the solver's own arrays, not copies, by name."""

    def resume(self, iteration: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Continue from a saved state: later iterations are bit for bit those of an uninterrupted run.

        Raises
        ------
        ValueError
            If an array is missing, has another shape or data type, or holds impossible numbers; always if
            `keeps_last_average` is True.
        """
        state = self.arrays()
        for name, values in state.items():
            if name not in arrays or (arrays[name].shape, arrays[name].dtype) != (values.shape, values.dtype):
                raise ValueError(f"{name} is missing or does not belong to {self.algorithm.name} on {self.tree.game}")
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"{name} holds numbers that are not finite")
            if name != "regret" and (arrays[name] < 0).any():
                raise ValueError(f"{name} holds numbers below 0")
        for name, values in state.items():
            values[:] = arrays[name]
        self.iteration = iteration


def normalised(tree: GameTree, sums: np.ndarray) -> np.ndarray:
    """Return the strategy proportional to `sums`, float64[A], none below 0; uniform in infosets with sums of 0."""
    totals = np.repeat(np.add.reduceat(sums, tree.infoset_first[:-1]), np.diff(tree.infoset_first))
    return np.divide(sums, totals, out=uniform_strategy(tree), where=totals > 0.0)
