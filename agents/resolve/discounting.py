"""The algorithms of vector CFR: discounts of regrets, and weights of the average strategy.

The algorithms are the full-width algorithms of `agents.tabular.solvers` that have alternating updates, make no
prediction, and average all iterations. The average may also restart at powers of 4: the iteration number in its weights
then counts from 1 again. The default, ``dcfr-restarts``, is discounted CFR with such restarts and the weights k^3, with
k counted from the restart. The scheme is that of the program postflop-solver by W. Inoue (2022), with one difference.
In that program, iteration p = 4, 16, 64, ... drops all earlier iterations from the average, which is then a single
strategy. On random rivers, exploitability doubles at iteration 64. Here the restart at iteration p takes effect only in
iteration 2p - 1, when more than half of the iterations so far came at or after p. No iteration is dropped: those before
2p - 1 keep their weights relative to each other, and all shrink by one factor relative to later iterations.
"""

from dataclasses import dataclass

import numpy as np

from plurispiel.agents.tabular.solvers import FullWidth, parse_algorithm

__all__ = ["DEFAULT", "Discounting", "parse_discounting"]

DEFAULT = "dcfr-restarts"

_RESTART_BASE = 4


@dataclass(frozen=True)
class Discounting:
    """An algorithm of vector CFR.

    Attributes
    ----------
    rule : FullWidth
        The discounts of regrets, and the exponent gamma of the average's weights.
    restarts : bool
        Whether the average's weights count from a restart: the latest of the iterations p = 4, 16, 64, ... for which
        iteration 2 p - 1 has been reached.
    """

    rule: FullWidth
    restarts: bool = False

    @property
    def name(self) -> str:
        """The text that `parse_discounting` reads."""
        return self.rule.name + "-restarts" * self.restarts

    def steps(self, done: int, num_iterations: int) -> np.ndarray:
        """Return the factors of the next iterations, after `done` iterations: float64[num_iterations, 3].

        The columns are the factors of positive regrets, of negative regrets and of the strategy sums so far. To give
        iteration t the weight t^gamma, the sums so far are multiplied by ((t - 1) / t)^gamma in that iteration. So each
        iteration adds its strategy with weight 1, and float32 sums stay small. With restarts, t counts from the
        restart.
        """
        gain, loss, _ = self.rule.schedule(done, num_iterations).T
        since = np.arange(done + 1.0, done + num_iterations + 1.0)
        if self.restarts:
            # The logarithm of a power of 4 may round to just below a whole number.
            power = np.floor(np.log2((since + 1.0) / 2.0) / np.log2(_RESTART_BASE) + 1e-9)
            since -= np.where(power > 0.0, float(_RESTART_BASE) ** power - 1.0, 0.0)
        return np.stack([gain, loss, ((since - 1.0) / since) ** self.rule.gamma], axis=1)


def parse_discounting(text: str) -> Discounting:
    """Return the algorithm named by a text.

    A text is ``cfr``, ``cfr+``, ``lcfr``, ``dcfr`` or ``dcfr(ALPHA,BETA,GAMMA)``. The suffix ``-restarts`` restarts the
    average's weights at powers of 4. It needs a gamma above 0, so ``cfr`` takes no suffix. ``dcfr-restarts`` has the
    exponents 1.5, 0 and 3.

    Raises
    ------
    ValueError
        If the text names none of these algorithms.

    Examples
    --------
    >>> parse_discounting("dcfr-restarts").rule.gamma
    3.0
    """
    given = text.strip().lower()
    name = given.removesuffix("-restarts")
    restarts = name != given
    rule = parse_algorithm("dcfr(1.5,0,3)" if restarts and name == "dcfr" else name)
    if not isinstance(rule, FullWidth) or rule.predictive or rule.simultaneous or rule.omitted:
        raise ValueError(
            "a subgame is solved by cfr, cfr+, lcfr, dcfr or dcfr(ALPHA,BETA,GAMMA), "
            f"all but cfr optionally followed by -restarts, got {text!r}"
        )
    if restarts and rule.gamma == 0.0:  # weights that are all equal
        raise ValueError(f"an average restarts only with weights that grow: GAMMA must be above 0, got {text!r}")
    return Discounting(rule, restarts)
