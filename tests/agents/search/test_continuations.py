import numpy as np
import pytest

from plurispiel.agents.search.continuations import CONTINUATIONS, continuation_strategies


def policies_of_a_row(row, actions, bias):
    """Each version of one infoset's probabilities, as the paper words it."""
    found = [list(row)]
    for preferred in (lambda a: a == 0, lambda a: a == 1, lambda a: a > 1):
        if any(p > 0.0 for a, p in zip(actions, row, strict=True) if preferred(a)):
            weights = [bias * p if preferred(a) else p for a, p in zip(actions, row, strict=True)]
            found.append([weight / sum(weights) for weight in weights])
        else:
            found.append(list(row))
    return found


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
def test_continuations_of_infosets_side_by_side(dtype):
    rng = np.random.default_rng(5)
    infosets = [(0, 1, 300, 900), (1, 300, 900), (0, 1), (1,), (1, 200)]
    actions = np.concatenate([np.array(infoset) for infoset in infosets])
    first = np.cumsum([0, *map(len, infosets)])
    strategy = np.concatenate([rng.dirichlet(np.ones(len(i)), size=(2, 3)) for i in infosets], axis=-1)
    strategy[0, 1, :4] = 0.0, 0.25, 0.75, 0.0  # never folds, has no other raise
    strategy[1, 2, 4:7] = 1.0, 0.0, 0.0
    strategy = strategy.astype(dtype)
    actual = continuation_strategies(strategy, actions, first=first, bias=3.0)
    assert actual.shape == (4, 2, 3, 12) and actual.dtype == dtype
    for row in np.ndindex(2, 3):
        for begin, end in zip(first, first[1:], strict=False):
            expected = policies_of_a_row(strategy[row][begin:end].tolist(), actions[begin:end], 3.0)
            np.testing.assert_allclose(actual[:, *row, begin:end], expected, rtol=50 * np.finfo(dtype).eps)


def test_where_the_class_is_illegal_the_policy_is_the_blueprint_bit_for_bit():
    rng = np.random.default_rng(6)
    strategy = rng.dirichlet(np.ones(2), size=1000)
    policies = continuation_strategies(strategy, np.array([1, 400]))
    assert CONTINUATIONS[1] == "fold"
    np.testing.assert_array_equal(policies[1], strategy)
    assert (policies[2] != strategy).any() and (policies[3] != strategy).any()


def test_fewer_continuations_and_rows_without_a_strategy():
    strategy = np.array([[0.2, 0.8], [0.0, 0.0]])
    policies = continuation_strategies(strategy, np.array([0, 1]), num_continuations=2)
    np.testing.assert_allclose(policies, [strategy, [[1 / 1.8, 0.8 / 1.8], [0.0, 0.0]]])


@pytest.mark.parametrize(
    ("options", "message"),
    (
        ({"num_continuations": 5}, "1..4 continuations, got 5"),
        ({"bias": 0.0}, "bias must be positive"),
        ({"first": np.array([0, 1])}, "offsets that must ascend"),
    ),
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        continuation_strategies(np.array([0.5, 0.5]), np.array([0, 1]), **options)
    with pytest.raises(ValueError, match="needs an action for each entry"):
        continuation_strategies(np.array([0.5, 0.5]), np.array([0, 1, 2]))
