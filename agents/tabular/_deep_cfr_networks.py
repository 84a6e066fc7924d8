"""OpenSpiel's Deep CFR, one iteration at a time. The only module of this folder that imports PyTorch."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from open_spiel.python.pytorch import deep_cfr

from plurispiel.agents.tabular.deep_cfr import DeepCfr

_BATCH = 4_096
"""The most infosets in one pass of a network."""


class SteppedDeepCfr(deep_cfr.DeepCFRSolver):
    """OpenSpiel's solver, whose method ``solve`` is divided into its iterations and the training of its policy.

    There are two differences from OpenSpiel's ``solve``. While a memory holds fewer samples than a batch, a batch is
    smaller; OpenSpiel would not train at all. For each average strategy, the policy network is trained from new
    weights. Its random numbers depend only on the seed and the iteration.

    Parameters
    ----------
    game : pyspiel.Game
    algorithm : DeepCfr
    seed : int
    """

    def __init__(self, game: Any, algorithm: DeepCfr, seed: int):
        self._seed = seed
        self._config = algorithm
        with generators_kept():
            super().__init__(
                game,
                policy_network_layers=algorithm.layers,
                advantage_network_layers=algorithm.layers,
                num_traversals=algorithm.traversals,
                learning_rate=algorithm.rate,
                memory_capacity=algorithm.memory,
                policy_network_train_steps=algorithm.policy_steps,
                advantage_network_train_steps=algorithm.advantage_steps,
                seed=_word(seed, 0),
            )
            self._generators = _state()

    def iterate(self) -> None:
        """Do an iteration: for one player after another, traversals and the training of the advantage network."""
        with generators_kept():
            _set_state(self._generators)
            for player in range(self._num_players):
                for _ in range(self._num_traversals):
                    self._traverse_game_tree(self._root_node, player)
                self._reinitialize_advantage_network(player)
                if self._advantage_memories[player] is not None:  # None for a player who never acts
                    self._batch_size_advantage = min(self._config.batch, len(self._advantage_memories[player]))
                    self._learn_advantage_network(player)
            self._iteration += 1
            self._generators = _state()

    def train_policy(self, iteration: int) -> None:
        """Train the policy network from new weights on the memory of strategies."""
        with generators_kept():
            deep_cfr.set_seed(_word(self._seed, iteration))
            self._reinitialize_policy_network()
            if self._strategy_memories is not None:
                self._batch_size_strategy = min(self._config.batch, len(self._strategy_memories))
                self._learn_strategy_network()

    def advantages(self, player: int, tensors: np.ndarray) -> np.ndarray:
        """Return the outputs of a player's advantage network for information state tensors, one in each row.

        The result is float32[len(tensors), number of OpenSpiel's actions], with all actions, legal or not.
        """
        return _outputs(self._advantage_networks[player], tensors)

    def policy(self, tensors: np.ndarray) -> np.ndarray:
        """Return the policy network's probabilities of all actions, legal or not, shaped as in `advantages`."""
        return _outputs(self._policy_network, tensors)


@contextlib.contextmanager
def generators_kept() -> Iterator[None]:
    """Run a block with one thread of PyTorch; then restore the number of threads and the global random generators.

    OpenSpiel's program draws from the global generators. More threads than one are slower for networks of this size,
    and rounding would depend on the number of threads.
    """
    state, threads = _state(), torch.get_num_threads()
    there = torch.cuda.is_available()
    devices = torch.cuda.get_rng_state_all() if there else []
    flags = torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        _set_state(state)
        if there:  # OpenSpiel seeds these, too, and changes the flags
            torch.cuda.set_rng_state_all(devices)
            torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = flags


def _state() -> tuple[Any, Any]:
    return np.random.get_state(), torch.get_rng_state()  # noqa: NPY002


def _set_state(state: tuple[Any, Any]) -> None:
    np.random.set_state(state[0])  # noqa: NPY002
    torch.set_rng_state(state[1])


def _word(*seeds: int) -> int:
    """Return a seed of 31 bits: OpenSpiel adds a player's number to it, and the sum must fit numpy's 32 bits."""
    return int(np.random.SeedSequence(seeds).generate_state(1)[0] >> 1)


def _outputs(network: Any, tensors: np.ndarray) -> np.ndarray:
    """Return a network's outputs, with a row for each row of `tensors`."""
    parts = np.array_split(tensors, max(1, -(-len(tensors) // _BATCH)))
    with generators_kept(), torch.inference_mode():
        return np.concatenate([network(torch.from_numpy(part)).numpy() for part in parts])
