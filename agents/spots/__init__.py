"""Spots: post-flop situations with a range for each of two or three players and a menu of bets, solved and shown."""

from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_solution import SpotSolution, solve_spot

__all__ = ["Spot", "SpotSolution", "solve_spot"]
