"""Solvers of subgames: ranges against ranges, from a public state to the end of the hand.

`VectorSolver` solves subgames of two players from any street on. `ThreeWaySolver` solves subgames of three players on
the last street. ``agents/spots/README.md`` describes the method.
"""

from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.three_way_cfr import ThreeWaySolver
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["Subgame", "ThreeWaySolver", "VectorSolver"]
