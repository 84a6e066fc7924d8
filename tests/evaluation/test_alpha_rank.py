"""Alpha-rank by OpenSpiel's module, whose drawing tools need packages that this project does not."""

import subprocess
import sys

import numpy as np
import pytest

from plurispiel.evaluation import alpha_rank as alpha_rank_module
from plurispiel.evaluation.alpha_rank import alpha_rank

WITHOUT_DRAWING = """
import sys

sys.modules["networkx"] = None  # as if it were not installed
import numpy as np
from plurispiel.evaluation.alpha_rank import alpha_rank

print(alpha_rank(np.zeros((2, 2))).round(6).tolist())
assert not {"matplotlib", *(f"open_spiel.python.egt.alpharank{end}" for end in ("", "_visualizer"))} & set(sys.modules)
"""


def test_a_cycle_has_equal_shares():
    cycle = np.array([[0.0, -700.0, 10.0], [700.0, 0.0, -1.0], [-10.0, 1.0, 0.0]])
    assert alpha_rank(cycle) == pytest.approx([1 / 3] * 3)


def test_the_agent_that_beats_all_others_has_most():
    shares = alpha_rank(np.array([[0.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, -1.0, 0.0]]))
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] > 0.95 and shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize(
    "payoffs", [np.zeros((2, 2)), np.array([[0.0, 1e-16], [-1e-16, 0.0]]), np.array([[0, 2], [1, 0]])]
)
def test_equal_to_openspiel_on_ties_and_on_payoffs_that_are_not_antisymmetric(payoffs):
    _, _, shares, *_ = alpha_rank_module._openspiel().compute([payoffs], use_inf_alpha=True)
    assert alpha_rank(payoffs).tolist() == shares.tolist()


def test_equal_to_openspiel_on_random_payoffs():
    rng = np.random.default_rng(3)
    for size in (2, 3, 5):
        payoffs = rng.normal(size=(size, size)).round(1)
        _, _, shares, *_ = alpha_rank_module._openspiel().compute([payoffs], use_inf_alpha=True)
        assert alpha_rank(payoffs).tolist() == shares.tolist()


def test_one_agent_is_alone():
    assert alpha_rank(np.zeros((1, 1))).tolist() == [1.0]


@pytest.mark.parametrize("payoffs", [np.zeros((2, 3)), np.full((2, 2), np.nan)])
def test_other_matrices_are_refused(payoffs):
    with pytest.raises(ValueError, match="payoffs"):
        alpha_rank(payoffs)


def test_drawing_tools_are_not_needed():
    done = subprocess.run([sys.executable, "-c", WITHOUT_DRAWING], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[0.5, 0.5]\n", done.stderr
