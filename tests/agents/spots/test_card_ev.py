"""EVs after each card against the EVs of the decisions behind the cards."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.agents.spots import Spot, solve_spot
from plurispiel.agents.spots.card_ev import card_evs, deals_cards
from plurispiel.agents.spots.node_strategy import find_node

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

SIZES = {"bet": "50%", "raise": "allin"}
FLOP = Spot("Td 9d 6h", 101, 150, "AdKd,9c9h,JTs,T9s,87s:0.5", "QdJd,88,AcKs,KTs", {"flop": SIZES, "turn": SIZES})


@pytest.mark.parametrize(("node", "word", "column"), [("c", "c", 0), ("c b50%", "c", 1), ("b50% c 2s c", "c", 0)])
def test_each_card_is_worth_what_the_decision_behind_it_is(node, word, column):
    solution = solve_spot(FLOP, max_iterations=12)
    place = find_node(FLOP, solution.solver, node)
    assert deals_cards(solution.solver, place, column)
    found = {card_text(each.card): each for each in card_evs(solution.solver, place, column)}
    assert len(found) == 52 - len(place.board)
    scales = []
    for name in ("2c", "Ah", "8s"):
        known = solution.node_ev(f"{node} {word} {name}")
        weights = known.weights * known.facing
        scales.append(found[name].pairs / weights[0].sum())
        assert found[name].ev == pytest.approx(
            np.nansum(weights * known.ev, axis=1) / weights.sum(axis=1), abs=1e-4 * FLOP.pot
        )
    assert scales == pytest.approx(scales[:1] * 3, rel=1e-5)
    if node == "c":  # nothing follows a check by both but the cards
        pairs = sum(each.pairs for each in found.values())
        mean = sum(each.pairs * each.ev for each in found.values()) / pairs
        assert mean.sum() == pytest.approx(FLOP.pot, abs=1e-3)


def test_folds_showdowns_and_all_ins_deal_no_cards():
    solution = solve_spot(FLOP, max_iterations=2)
    place = find_node(FLOP, solution.solver, "b50% allin")
    assert [deals_cards(solution.solver, place, column) for column in range(len(place.names))] == [False, False]
