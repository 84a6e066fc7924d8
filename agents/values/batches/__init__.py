"""Solves, distils and encodes many situations together, by PyTorch, which the package's extra ``train`` installs."""

from plurispiel.agents.values.batches.hand_orders import HandOrders, order_rows
from plurispiel.agents.values.batches.solver import BatchSolver, Start

__all__ = ["BatchSolver", "HandOrders", "Start", "order_rows"]
