"""Speed of solving Leduc beside the C++ of OpenSpiel and LiteEFG: CFR, external sampling, exploitability."""

import contextlib
import functools
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pyspiel

from plurispiel.abstraction.trees.game_tree import GameTree, flatten, strategy_from_policy
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import exploitability
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.bench.peer_comparison import (
    Comparison,
    PeerError,
    not_installed,
    peer_module,
    peer_name,
    require_equal,
    timed,
)

GAME = "leduc_poker"
CHECKED_ITERATIONS = 20
SAMPLED_ITERATIONS = 2_000
SAMPLED_SEEDS = 4
_SAMPLED_FACTOR = 1.25
_TOLERANCE = 1e-9
_BATCH = 200
_SAMPLED_BATCH = 10_000
"""Our iterations in a turn: more than `_BATCH`, as a sampled iteration is tens of times as fast as a full one."""

Solve = Callable[[int], np.ndarray]
"""Runs a new solver for some iterations and returns its average strategy: float64[A], as in `GameTree`."""


def solver_comparisons() -> Iterator[Comparison | Measurement]:
    """Yield the comparisons on Leduc; the row of LiteEFG has no value where LiteEFG is not installed."""
    tree = flatten(GAME)
    openspiel = peer_name("open_spiel")
    for title, algorithm, kind in (("CFR", "cfr", pyspiel.CFRSolver), ("CFR+", "cfr+", pyspiel.CFRPlusSolver)):
        solve = functools.partial(_solve_by_openspiel, tree, kind)
        step = kind(tree.openspiel_game).evaluate_and_update_policy
        check = functools.partial(_check_iterations, tree, algorithm, solve)
        yield _comparison(f"Leduc, {title}: OpenSpiel", openspiel, tree, algorithm, timed(step, 1), check)
    name, module = "Leduc, CFR: LiteEFG", peer_module("LiteEFG")
    if module is None:
        yield not_installed(name, "LiteEFG")
    else:
        peer = LiteEFG(module, tree)
        peer.restart()
        check = functools.partial(_check_iterations, tree, "cfr:simultaneous", peer.solve)
        work = timed(functools.partial(peer.run, 20), 20)
        yield _comparison(name, peer_name("LiteEFG"), tree, "cfr:simultaneous", work, check)
    sampled = pyspiel.ExternalSamplingMCCFRSolver(tree.openspiel_game, 1)
    yield _comparison(
        "Leduc, external sampling: OpenSpiel",
        openspiel,
        tree,
        "mccfr",
        timed(lambda: [sampled.run_iteration() for _ in range(_BATCH)], _BATCH),
        lambda: require_like_our_sampling(tree, functools.partial(_sample_by_openspiel, tree)),
    )
    yield _exploitability(tree, openspiel)


class LiteEFG:
    """LiteEFG's CFR on a game; both players update simultaneously.

    Attributes
    ----------
    environment : LiteEFG.OpenSpielEnv
        LiteEFG's copy of the game. To make the copy, LiteEFG writes the game into the user's home, for which a
        temporary folder stands in here.
    """

    def __init__(self, module: ModuleType, tree: GameTree):
        self._cfr = module.baselines.CFR
        self._tree = tree
        self._graph: Any = None
        home = os.environ.get("HOME")
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.environ["HOME"] = folder
            try:
                self.environment = module.OpenSpielEnv(tree.openspiel_game)
            finally:
                if home is None:
                    del os.environ["HOME"]
                else:
                    os.environ["HOME"] = home

    def restart(self) -> None:
        """Forget all iterations."""
        with contextlib.redirect_stdout(io.StringIO()):  # each graph prints its name
            self._graph = self._cfr.graph()
        self.environment.set_graph(self._graph)

    def run(self, num_iterations: int) -> None:
        """Do more iterations. The average has the strategy with which each iteration began, as in our solver."""
        environment, graph = self.environment, self._graph
        for _ in range(num_iterations):
            environment.update_strategy(graph.current_strategy())
            graph.update_graph(environment)

    def solve(self, num_iterations: int) -> np.ndarray:
        """Return the average strategy of a new run: float64[A], as in `GameTree`."""
        self.restart()
        self.run(num_iterations)
        policy, _ = self.environment.get_strategy(self._graph.current_strategy(), "avg-iterate")
        return strategy_from_policy(self._tree, policy)


def require_like_our_sampling(tree: GameTree, sample: Callable[[int, int], np.ndarray]) -> str:
    """Refuse a peer's external sampling if its mean exploitability over seeds is not within a factor of 1.25 of ours.

    Parameters
    ----------
    sample : callable
        Takes a number of iterations and a seed, and returns the average strategy: float64[A].

    Returns
    -------
    str
        The text of `Comparison.check`.

    Raises
    ------
    PeerError
        If the peer's exploitability is refused.
    """
    found = [0.0, 0.0]
    for seed in range(1, SAMPLED_SEEDS + 1):
        solver = make_solver(tree, "mccfr", seed=seed)
        solver.run(SAMPLED_ITERATIONS)
        for side, strategy in enumerate((solver.average_strategy(), sample(SAMPLED_ITERATIONS, seed))):
            found[side] += exploitability(tree, strategy).nash_conv / 2.0 / SAMPLED_SEEDS
    ours, theirs = found
    what = f"after {SAMPLED_ITERATIONS:,} iterations"
    if not ours / _SAMPLED_FACTOR <= theirs <= ours * _SAMPLED_FACTOR:
        raise PeerError(f"exploitability {what} is {theirs:.3g}, ours is {ours:.3g}")
    return f"exploitability {what}, {ours:.3g} and {theirs:.3g} chips"


def _comparison(
    name: str, peer: str, tree: GameTree, algorithm: str, theirs: Callable[[], float], check: Callable[[], str]
) -> Comparison:
    solver = make_solver(tree, algorithm)
    batch = _SAMPLED_BATCH if algorithm == "mccfr" else _BATCH
    return Comparison(name, peer, "iterations", timed(lambda: solver.run(batch), batch), theirs, check)


def _check_iterations(tree: GameTree, algorithm: str, solve: Solve) -> str:
    """Check that both sides' average strategies are equally exploitable after the same number of iterations."""
    solver = make_solver(tree, algorithm)
    solver.run(CHECKED_ITERATIONS)
    ours, theirs = (exploitability(tree, s) for s in (solver.average_strategy(), solve(CHECKED_ITERATIONS)))
    what = f"after {CHECKED_ITERATIONS} iterations"
    require_equal(f"NashConv {what}", ours.nash_conv, theirs.nash_conv, _TOLERANCE)
    require_equal(f"the first player's value {what}", ours.values[0], theirs.values[0], _TOLERANCE)
    return f"exploitability {what}, {ours.nash_conv / 2.0:.6g} chips"


def _solve_by_openspiel(tree: GameTree, kind: Any, num_iterations: int) -> np.ndarray:
    solver = kind(tree.openspiel_game)
    for _ in range(num_iterations):
        solver.evaluate_and_update_policy()
    return strategy_from_policy(tree, solver.average_policy())


def _sample_by_openspiel(tree: GameTree, num_iterations: int, seed: int) -> np.ndarray:
    solver = pyspiel.ExternalSamplingMCCFRSolver(tree.openspiel_game, seed)
    for _ in range(num_iterations):
        solver.run_iteration()
    return strategy_from_policy(tree, solver.average_policy())


def _exploitability(tree: GameTree, openspiel: str) -> Comparison:
    """Return the comparison of the NashConv of a random strategy."""
    strategy = np.random.default_rng(0).random(tree.num_actions) + 0.1
    strategy /= np.repeat(np.add.reduceat(strategy, tree.infoset_first[:-1]), np.diff(tree.infoset_first))
    firsts = tree.infoset_first.tolist()
    pairs = list(zip(tree.action_ids.tolist(), strategy.tolist(), strict=True))
    policy = pyspiel.TabularPolicy(
        {key: pairs[firsts[number] : firsts[number + 1]] for number, key in enumerate(tree.infoset_keys)}
    )

    def check() -> str:
        ours = exploitability(tree, strategy).nash_conv
        require_equal("NashConv", ours, pyspiel.nash_conv(tree.openspiel_game, policy), _TOLERANCE)
        return f"NashConv of a random strategy, {ours:.6g} chips"

    return Comparison(
        "Leduc, NashConv: OpenSpiel",
        openspiel,
        "strategies",
        timed(lambda: [exploitability(tree, strategy) for _ in range(20)], 20),
        timed(lambda: pyspiel.nash_conv(tree.openspiel_game, policy), 1),
        check,
    )
