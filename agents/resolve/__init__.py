"""Solvers of subgames: ranges against ranges, from a public state to the end of the hand."""

from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["Subgame", "VectorSolver"]
