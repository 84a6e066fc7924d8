"""Small games, solved over the whole game tree: solvers of the CFR family, and stored solutions."""

from plurispiel.agents.tabular.solution import Solution, load_solution, save_solution
from plurispiel.agents.tabular.solver import Solver
from plurispiel.agents.tabular.solvers import make_solver

__all__ = ["Solution", "Solver", "load_solution", "make_solver", "save_solution"]
