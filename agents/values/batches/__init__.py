"""Many situations at once, by PyTorch: solutions, distilled values and encoding. PyTorch is an extra (`train`)."""

from plurispiel.agents.values.batches.hand_orders import HandOrders, order_rows
from plurispiel.agents.values.batches.solver import BatchSolver, Start

__all__ = ["BatchSolver", "HandOrders", "Start", "order_rows"]
