import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.first_in import first_in, shares


def test_first_in_are_the_rows_behind_folds():
    rules = no_limit_holdem(6)
    blueprint = random_blueprint(rules)
    grids = first_in(blueprint)
    assert list(grids) == ["UTG", "HJ", "CO", "BTN", "SB"]
    node = 0
    for strategy in grids.values():
        rows = blueprint.strategy(node, np.arange(169))
        assert np.allclose(strategy.probabilities, rows, atol=1e-6)
        assert np.array_equal(strategy.actions, blueprint.tree.actions(node))
        hands = shares(strategy)
        assert len(hands) == 169 and all(sum(row.values()) == pytest.approx(1.0) for row in hands.values())
        assert hands["AA"]["fold"] == pytest.approx(rows[-1][0], abs=1e-6)  # the last class by equity
        node = int(blueprint.tree.first_child[node])
    assert list(first_in(random_blueprint(no_limit_holdem(2)))) == ["BTN"]
