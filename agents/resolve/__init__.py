"""Solvers of subgames: ranges against ranges, from a public state to the end of the hand."""

from plurispiel.agents.resolve.spot import Spot
from plurispiel.agents.resolve.spot_solution import SpotSolution, solve_spot
from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["Spot", "SpotSolution", "Subgame", "VectorSolver", "solve_spot"]
