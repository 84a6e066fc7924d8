"""Alpha-rank: the share of time that a population spends with each agent, while better agents replace worse ones.

OpenSpiel computes the shares. Its module also imports drawing tools; only these tools need further packages.
"""

import functools
import importlib.util
import sys
from types import ModuleType

import numpy as np

_DRAWING = "open_spiel.python.egt.alpharank_visualizer"


def alpha_rank(payoffs: np.ndarray) -> np.ndarray:
    """Return the stationary distribution of alpha-rank.

    Parameters
    ----------
    payoffs : float64[num_agents, num_agents]
        The mean payoff of the row's agent against the column's agent.

    Returns
    -------
    float64[num_agents]
        The share of time that the population spends with each agent. Of the payoffs of two agents
        against each other, only counts which is the greater.

    Raises
    ------
    ValueError
        If the matrix is not square or not finite.

    Notes
    -----
    S. Omidshafiei et al.: Alpha-Rank: Multi-Agent Evaluation by Evolution, Scientific Reports 9 (2019). There is one
    population, in the limit of infinite ranking intensity. By OpenSpiel's noise of 1 %, a worse agent may replace a
    better one.

    >>> alpha_rank(np.array([[0.0, 5.0], [-5.0, 0.0]])).round(6).tolist()
    [0.99, 0.01]
    """
    payoffs = np.asarray(payoffs, dtype=np.float64)
    if payoffs.ndim != 2 or payoffs.shape[0] != payoffs.shape[1] or not np.isfinite(payoffs).all():
        raise ValueError(f"payoffs are a square matrix of finite numbers, got the shape {payoffs.shape}")
    is_equal = np.isclose(payoffs, payoffs.T, atol=1e-14)  # as OpenSpiel compares them
    signs = np.where(is_equal, 0.0, np.sign(payoffs - payoffs.T))
    return _shares(signs.tobytes(), len(payoffs)).copy()


@functools.lru_cache(1024)
def _shares(signs: bytes, num_agents: int) -> np.ndarray:
    """Return the shares for payoffs of -1, 0 and 1: the resamples of a league have few such matrices."""
    payoffs = np.frombuffer(signs).reshape(num_agents, num_agents)
    _, _, shares, *_ = _openspiel().compute([payoffs], use_inf_alpha=True)
    return shares


@functools.cache
def _openspiel() -> ModuleType:
    """Return OpenSpiel's module without its drawing tools, which may lack packages and take a second to import.

    The module is one of our own: whoever imports OpenSpiel's gets the drawing tools.
    """
    spec = importlib.util.find_spec("open_spiel.python.egt.alpharank")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    drawing = sys.modules.get(_DRAWING)
    sys.modules[_DRAWING] = drawing or ModuleType(_DRAWING)
    try:
        spec.loader.exec_module(module)
    finally:
        if drawing is None:
            del sys.modules[_DRAWING]
    return module
