"""The CFR family: solvers that keep a regret for every action of every infoset of a game tree.

Arrays of shape [A] have an entry for each action of each infoset, infoset after infoset, as `GameTree` numbers them.

The full-width solvers (CFR, CFR+, LCFR, DCFR, PCFR+, DeepStack's hybrid) share one algorithm with three exponents. In
iteration t = 1, 2, ... one player after another adds counterfactual regrets to the totals R. Then positive R are
multiplied by ``t^alpha / (t^alpha + 1)``, negative R by ``t^beta / (t^beta + 1)``. The next strategy is proportional
to the positive R, or uniform if no R is positive. The result is the average strategy: iteration t has the weight
``t^gamma``, and each probability is also weighted by the player's own reach. A *plan* is a strategy in the form of
these reaches, one for each sequence of the player's own actions.

CFR+ has alpha = infinity, beta = -infinity and gamma = 1, so its factors are 1 and 0. PCFR+ has the same alpha and
beta, and gamma = 2. Its next strategy is computed from R plus a prediction, which R does not keep. The hybrid updates
all players simultaneously and averages late iterations only.

External sampling samples chance and the other players' actions, and follows every action of the traverser. Deep CFR
(`deep_cfr`) fits networks to the samples of external sampling.

References
----------
N. Brown and T. Sandholm: Solving imperfect-information games via discounted regret minimization. AAAI (2019).
M. Lanctot, K. Waugh, M. Zinkevich and M. Bowling: Monte Carlo sampling for regret minimization in extensive games.
NIPS (2009).
"""

import dataclasses
import math
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.abstraction.trees.game_tree import GameTree, flatten, uniform_strategy
from plurispiel.abstraction.trees.sequence_form import sequence_form
from plurispiel.agents.tabular import _solvers_kernels as kernels
from plurispiel.agents.tabular.deep_cfr import NAME as DEEP_CFR
from plurispiel.agents.tabular.deep_cfr import DeepCfr, DeepCfrSolver, parse_deep_cfr
from plurispiel.agents.tabular.solver import Solver, normalised

_MAX_GAMMA = 16.0
_BATCH = 1 << 16


@dataclass(frozen=True)
class FullWidth:
    """A full-width algorithm: every iteration visits the whole game.

    Attributes
    ----------
    name : str
    alpha, beta : float
        Exponents of the discounts of positive and of negative regrets: with infinity the regrets stay as they are,
        with minus infinity they become 0.
    gamma : float
        Exponent of the weight t^gamma of iteration t in the average.
    predictive : bool
        Whether this iteration's regrets serve as a prediction of the next iteration's regrets: they are added once more
        for the next strategy only, and R does not keep the prediction. Source: Farina, Kroer and Sandholm, "Faster game
        solving via predictive Blackwell approachability", 2021.
    simultaneous : bool
        Whether all players update against the strategies of the iteration before. If not, player 0 updates first, then
        player 1 and so on, each against the newest strategies.
    omitted : int
        Number of iterations at the start that have weight 0 in the average.
    """

    name: str
    alpha: float = math.inf
    beta: float = math.inf
    gamma: float = 0.0
    predictive: bool = False
    simultaneous: bool = False
    omitted: int = 0

    def schedule(self, done: int, num_iterations: int) -> np.ndarray:
        """Return the factors and weights of the next iterations, after `done` iterations.

        Returns
        -------
        float64[num_iterations, 3]
            For each iteration: the factor of positive regrets, the factor of negative regrets, and the weight of the
            plan in the average.
        """
        t = np.arange(done + 1.0, done + num_iterations + 1.0)
        weights = np.where(t > self.omitted, t**self.gamma, 0.0)
        return np.stack([_discount(t, self.alpha), _discount(t, self.beta), weights], axis=1)


@dataclass(frozen=True)
class ExternalSampling:
    """MCCFR by external sampling.

    Attributes
    ----------
    name : str
    gamma : float
        Exponent of the weight t^gamma that iteration t has in the regrets and in the average: with 0 all iterations
        count equally, 1 gives linear MCCFR.
    """

    name: str
    gamma: float = 0.0


Algorithm = FullWidth | ExternalSampling | DeepCfr

ALGORITHMS: dict[str, FullWidth | ExternalSampling] = {
    algorithm.name: algorithm
    for algorithm in (
        FullWidth("cfr"),
        FullWidth("cfr+", beta=-math.inf, gamma=1.0),
        FullWidth("lcfr", alpha=1.0, beta=1.0, gamma=1.0),
        FullWidth("dcfr", alpha=1.5, beta=0.0, gamma=2.0),  # recommended by Brown and Sandholm (2019)
        FullWidth("pcfr+", beta=-math.inf, gamma=2.0, predictive=True),
        # DeepStack's flop and turn omit 500 of 1,000 iterations (table S3).
        FullWidth("hybrid", beta=-math.inf, simultaneous=True, omitted=500),
        ExternalSampling("mccfr"),
        ExternalSampling("linear-mccfr", gamma=1.0),
    )
}
"""The algorithms by name, all but Deep CFR; `parse_algorithm` describes how texts name variants of them."""

_ALGORITHM_TEXT = re.compile(r"([a-z+-]+)(?:\(([^()]*)\))?(?::(\w+))?")


def parse_algorithm(text: str) -> Algorithm:
    """Return the algorithm named by a text.

    A text is a name of `ALGORITHMS`, ``dcfr(ALPHA,BETA,GAMMA)`` with other exponents, or ``hybrid(N)`` with N omitted
    iterations. The name of a full-width algorithm may be followed by ``:simultaneous`` or ``:alternating``. Texts for
    Deep CFR are described at `parse_deep_cfr`.

    Raises
    ------
    ValueError
        If the text names no algorithm, or the algorithm does not take what follows its name.

    Examples
    --------
    >>> parse_algorithm("cfr:simultaneous").simultaneous
    True
    >>> parse_algorithm("dcfr(1.5, 0.5, 2)").beta
    0.5
    """
    match = _ALGORITHM_TEXT.fullmatch(text.strip().lower())
    if not match or match[1] not in (*ALGORITHMS, DEEP_CFR):
        raise ValueError(f"unknown algorithm {text!r}: choose from {', '.join([*ALGORITHMS, DEEP_CFR])}")
    name, numbers, updates = match.groups()
    if name == DEEP_CFR:
        return parse_deep_cfr(text)
    algorithm = ALGORITHMS[name]
    if isinstance(algorithm, ExternalSampling):
        if numbers is not None or updates is not None:
            raise ValueError(f"{name} takes neither numbers nor :alternating or :simultaneous, got {text!r}")
        return algorithm
    if numbers is not None:
        algorithm = _with_numbers(algorithm, numbers.split(","), text)
    if updates is not None:
        if updates not in ("alternating", "simultaneous"):
            raise ValueError(f"updates are alternating or simultaneous, got {updates!r} in {text!r}")
        algorithm = dataclasses.replace(algorithm, simultaneous=updates == "simultaneous")
    if algorithm.simultaneous != ALGORITHMS[name].simultaneous:  # type: ignore[union-attr]
        algorithm = dataclasses.replace(algorithm, name=f"{algorithm.name}:{updates}")
    return algorithm


class FullWidthSolver(Solver):
    """A solver by a full-width algorithm.

    Parameters
    ----------
    tree : GameTree
    algorithm : FullWidth
    """

    algorithm: FullWidth

    def __init__(self, tree: GameTree, algorithm: FullWidth):
        super().__init__(tree, algorithm, None)
        self._form = sequence_form(tree)
        num_actions, num_sequences = tree.num_actions, tree.num_actions + tree.num_players
        self._tables = kernels.Tables(
            regret=np.zeros(num_actions),
            strategy=uniform_strategy(tree),
            strategy_sum=np.zeros(num_actions),
            reach=np.ones(num_sequences),
            value=np.empty(num_sequences),
        )
        self._plan()

    def run(self, num_iterations: int) -> None:
        """Do `num_iterations` more iterations."""
        for count in _batches(num_iterations):
            schedule = self.algorithm.schedule(self.iteration, count)
            kernels.iterate(self._form, self._tables, schedule, self.algorithm.predictive, self.algorithm.simultaneous)
            self.iteration += count

    def current_strategy(self) -> np.ndarray:
        """Return the strategy that the next iteration begins with: float64[A]."""
        return self._tables.strategy.copy()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the regrets, the weighted sum of plans and the current strategy, by name."""
        return {name: getattr(self._tables, name) for name in ("regret", "strategy_sum", "strategy")}

    def resume(self, iteration: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Continue from a saved state."""
        super().resume(iteration, arrays)
        self._plan()  # the reach is computed from the strategy, so it is not saved

    def _plan(self) -> None:
        """Compute the reach of every sequence under the current strategy."""
        # With weight 0, `plan` adds nothing to the strategy sums.
        for player in range(self.tree.num_players):
            kernels.plan(self._form, self._tables, player, 0.0)


class SamplingSolver(Solver):
    """MCCFR by external sampling: an iteration is a traversal for each player.

    With more than two players, an iteration has one more walk for each player, which updates the player's average.

    Parameters
    ----------
    tree : GameTree
    algorithm : ExternalSampling
    seed : int
    """

    algorithm: ExternalSampling

    def __init__(self, tree: GameTree, algorithm: ExternalSampling, seed: int):
        super().__init__(tree, algorithm, seed)
        self._samples = empty_samples(tree, seed)

    def run(self, num_iterations: int) -> None:
        """Do `num_iterations` more iterations."""
        for count in _batches(num_iterations):
            t = np.arange(self.iteration + 1.0, self.iteration + count + 1.0)
            with np.errstate(over="ignore"):  # random words wrap around on purpose; uncompiled, numpy would warn
                kernels.sample(self.tree.nodes, self._samples, t**self.algorithm.gamma)
            self.iteration += count

    def current_strategy(self) -> np.ndarray:
        """Return the strategy that the next iteration begins with: float64[A]."""
        return normalised(self.tree, np.maximum(self._samples.regret, 0.0))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the regrets, the weighted sum of strategies and the state of the random numbers, by name."""
        return {name: getattr(self._samples, name) for name in ("regret", "strategy_sum", "stream")}


def empty_samples(tree: GameTree, seed: int) -> kernels.Samples:
    """Return the tables of external sampling before the first traversal, with random numbers from `seed`."""
    depth = len(tree.depth_first)
    return kernels.Samples(
        regret=np.zeros(tree.num_actions),
        strategy_sum=np.zeros(tree.num_actions),
        value=np.empty(tree.num_actions),
        path=np.empty(depth, dtype=np.int32),
        tried=np.empty(depth, dtype=np.int32),
        waiting=np.empty(depth * int(tree.num_children.max()), dtype=np.int32),
        stream=xoshiro_stream(np.random.SeedSequence(seed)),
    )


def make_solver(tree: GameTree, algorithm: Algorithm | str, *, seed: int = 0) -> Solver:
    """Return a solver of a game tree by an algorithm.

    Parameters
    ----------
    tree : GameTree
    algorithm : FullWidth, ExternalSampling, DeepCfr or str
        A text is read by `parse_algorithm`.
    seed : int
        Seed of the sampling; full-width algorithms ignore it.

    Raises
    ------
    ValueError
        If `parse_algorithm` refuses a text, or `DeepCfrSolver` refuses the game or finds no PyTorch.

    Examples
    --------
    >>> solver = make_solver(flatten("kuhn_poker"), "cfr+")
    >>> solver.run(100)
    >>> solver.average_strategy()[:2].round(1)  # player 0 with a jack: pass, bet
    array([0.8, 0.2])
    """
    if isinstance(algorithm, str):
        algorithm = parse_algorithm(algorithm)
    if isinstance(algorithm, FullWidth):
        return FullWidthSolver(tree, algorithm)
    if isinstance(algorithm, DeepCfr):
        return DeepCfrSolver(tree, algorithm, seed)
    return SamplingSolver(tree, algorithm, seed)


def warmup() -> None:
    """Compile every kernel that the solvers call."""
    for game in ("kuhn_poker", "kuhn_poker(players=3)"):
        for algorithm in ("cfr", "mccfr"):
            make_solver(flatten(game), algorithm).run(1)


def _batches(num_iterations: int) -> Iterator[int]:
    """Yield counts of at most `_BATCH` that add up to `num_iterations`, so that arrays of weights stay small.

    Raises
    ------
    TypeError, ValueError
        If the number of iterations is no whole number, or negative.
    """
    if operator.index(num_iterations) < 0:
        raise ValueError(f"the number of iterations must not be negative, got {num_iterations}")
    while num_iterations > 0:
        yield min(num_iterations, _BATCH)
        num_iterations -= _BATCH


def _discount(t: np.ndarray, exponent: float) -> np.ndarray:
    """Return ``t^exponent / (t^exponent + 1)`` for each iteration t; 1 if the exponent is inf, and 0 if it is -inf."""
    if math.isinf(exponent):
        return np.full(len(t), 1.0 if exponent > 0 else 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        power = t**exponent
        # t**exponent may overflow; infinity / infinity would be NaN.
        return np.where(np.isinf(power), 1.0, power / (power + 1.0))


def _with_numbers(algorithm: FullWidth, words: list[str], text: str) -> FullWidth:
    """Return DCFR with other exponents, or the hybrid with another number of omitted iterations.

    `words` are the numbers in parentheses, and `text` is the whole text for error messages.
    """
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    name = f"{algorithm.name}({','.join(word.strip() for word in words)})"
    if algorithm.name == "dcfr":
        if len(numbers) != 3 or any(map(math.isnan, numbers)) or not 0.0 <= numbers[2] <= _MAX_GAMMA:
            raise ValueError(f"dcfr is written dcfr(ALPHA,BETA,GAMMA) with GAMMA in 0..{_MAX_GAMMA:g}, got {text!r}")
        alpha, beta, gamma = numbers
        return dataclasses.replace(algorithm, name=name, alpha=alpha, beta=beta, gamma=gamma)
    if algorithm.name == "hybrid":
        if len(numbers) != 1 or not 0.0 <= numbers[0] < 2**53 or numbers[0] % 1.0:
            raise ValueError(f"hybrid is written hybrid(N), N a whole number of omitted iterations, got {text!r}")
        return dataclasses.replace(algorithm, name=name, omitted=int(numbers[0]))
    raise ValueError(f"{algorithm.name} takes no numbers, got {text!r}")
