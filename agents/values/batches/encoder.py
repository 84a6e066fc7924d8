"""Encodes situations and computes networks' values on a device, in place of numpy on the processor."""

import numpy as np

from plurispiel.agents.values.batches.hand_orders import HandOrders
from plurispiel.agents.values.batches.networks import BatchNet
from plurispiel.agents.values.batches.shards import start_of
from plurispiel.agents.values.batches.solver import BatchSolver, SolvedBatch
from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.net import ValueNet
from plurispiel.agents.values.training_run import Encoder
from plurispiel.agents.values.training_set import TrainingSet

__all__ = ["DeviceEncoder"]


class DeviceEncoder(Encoder):
    """Computes `training_set` and `net_evs` on a device.

    Parameters
    ----------
    orders : HandOrders
    """

    def __init__(self, orders: HandOrders):
        self._orders = orders

    def training_set(self, level: Level, situations: Situations, num_bins: int) -> TrainingSet:  # type: ignore[override]
        """Return situations encoded for a number of bins, as tensors on the device."""
        solved = SolvedBatch(situations.evs, situations.slack, situations.iterations)
        return BatchSolver(level, self._orders).encode(start_of(situations), solved, num_bins)

    def net_evs(  # type: ignore[override]
        self, net: ValueNet, level: Level, situations: Situations
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the arrays of `validation.net_evs`."""
        return BatchSolver(level, self._orders).net_evs(start_of(situations), BatchNet(net, self._orders.device))
