"""The algorithms of vector CFR: discounts of regrets, and weights of the average strategy.

They are those of `agents.tabular.solvers` with alternating updates and without prediction. In addition,
``dcfr-restarts`` is discounted CFR whose average restarts at each power of 4: the k-th iteration since the restart has
weight k^3. That is the scheme of the postflop-solver of W. Inoue (2022).
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
    restarts : bool
        Whether the average restarts at each power of 4.
    """

    rule: FullWidth
    restarts: bool = False

    @property
    def name(self) -> str:
        """The text that `parse_discounting` reads."""
        return self.rule.name + "-restarts" * self.restarts

    def steps(self, done: int, num_iterations: int) -> np.ndarray:
        """Return the factors of positive regrets, negative regrets and earlier strategy sums: float64[n, 3].

        A weight t^gamma of iteration t is applied as a factor ((t - 1) / t)^gamma to the sums before it. So each
        iteration's own strategy enters with weight 1, and float32 sums stay small.
        """
        gain, loss, _ = self.rule.schedule(done, num_iterations).T
        iteration = np.arange(done + 1.0, done + num_iterations + 1.0)
        begin = np.zeros(num_iterations)
        if self.restarts:
            # The logarithm of a power of 4 may round to just below a whole number.
            power = np.floor(np.log2(iteration) / np.log2(_RESTART_BASE) + 1e-9)
            begin = np.where(iteration > 1.0, float(_RESTART_BASE) ** power - 1.0, 0.0)
        since = iteration - begin
        # Right after a restart `since` is 1: the factor 0 drops all earlier sums. Gamma is then above 0.
        return np.stack([gain, loss, ((since - 1.0) / since) ** self.rule.gamma], axis=1)


def parse_discounting(text: str) -> Discounting:
    """Return the algorithm named by a text.

    A text is ``cfr``, ``cfr+``, ``lcfr``, ``dcfr`` or ``dcfr(ALPHA,BETA,GAMMA)``. With GAMMA above 0, so not after
    ``cfr``, it may be followed by ``-restarts`` for an average that restarts at powers of 4. ``dcfr-restarts`` has the
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
    name, dash, _ = text.strip().lower().partition("-restarts")
    restarts = bool(dash) and text.strip().lower().endswith("-restarts")
    rule = parse_algorithm("dcfr(1.5,0,3)" if restarts and name == "dcfr" else name if restarts else text)
    if not isinstance(rule, FullWidth) or rule.predictive or rule.simultaneous or rule.omitted:
        raise ValueError(
            "a subgame is solved by cfr, cfr+, lcfr, dcfr or dcfr(ALPHA,BETA,GAMMA), "
            f"all but cfr optionally followed by -restarts, got {text!r}"
        )
    if restarts and rule.gamma == 0.0:  # the factor 0 ** 0 would be 1 and drop nothing
        raise ValueError(f"an average restarts only with weights that grow: GAMMA must be above 0, got {text!r}")
    return Discounting(rule, restarts)
