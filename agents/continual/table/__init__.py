"""Continual re-solving of heads-up no-limit hold'em at the table, with or without networks."""

from plurispiel.agents.continual.table.agent import TableAgent
from plurispiel.agents.continual.table.config import TableConfig

__all__ = ["TableAgent", "TableConfig"]
