"""Solutions that are stopped, looked at, and gone on from."""

import dataclasses
import itertools
import os

import numpy as np
import pytest

from plurispiel.agents.spots import Spot, solve_spot
from plurispiel.agents.spots.spot_file import EXAMPLES, load_spot_solution, read_spot, save_spot_solution

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

SIZES = {"bet": "50% allin", "raise": "allin"}
RIVER = Spot("Td 9d 6h Qc 7s", 100, 300, "random", "random", {"river": SIZES})
TURN = Spot(
    "Td 9d 6h Qc", 100, 300, "AdKd,99+,J8s:0.5,A5s", "QJ,88,KJs,T9s", {"turn": SIZES, "river": {"bet": "allin"}},
    lock={"c c *": {"allin": "99"}},
)  # fmt: skip
THREE = Spot("Td 9d 6h Qc 7s", 90, 60, "QQ,99", "77,QJs", {"river": {"bet": "0.5p"}}, middle="AA,KJs")


def stopping_after(calls):
    return (number < calls for number in itertools.count()).__next__


@pytest.mark.parametrize(
    ("spot", "target_pct"), [(RIVER, 0.05), (TURN, 0.05), (THREE, 0.5), (dataclasses.replace(RIVER, pot=101), 0.2)]
)
def test_stopped_and_gone_on_equals_straight_bit_for_bit(spot, target_pct):
    straight = solve_spot(spot, target_pct=target_pct)
    found, stops = solve_spot(spot, target_pct=target_pct, goes_on=stopping_after(2)), 0
    while found.iterations < straight.iterations:
        found.strategy()  # a look changes nothing
        stops += 1
        found = found.go_on(target_pct=target_pct, goes_on=stopping_after(5))
    assert stops >= 2
    assert (found.iterations, found.ev) == (straight.iterations, straight.ev)
    assert found.exploitability_pct == straight.exploitability_pct
    if spot.middle is None:
        for mine, theirs in zip(found.solver.streets, straight.solver.streets, strict=True):
            for seat in range(2):
                np.testing.assert_array_equal(mine.sums[seat], theirs.sums[seat])
                np.testing.assert_array_equal(mine.regrets[seat], theirs.regrets[seat])


def test_a_turn_stops_after_one_more_iteration():
    spot, _ = read_spot(EXAMPLES / "turn.toml")
    seen = []

    def goes_on():
        seen.append(None)
        return len(seen) < 3

    found = solve_spot(spot, goes_on=goes_on)
    assert found.iterations == 3 and sum(found.ev) == pytest.approx(spot.pot, abs=1e-3)


def test_what_was_reached_needs_no_more_iterations():
    found = solve_spot(RIVER, target_pct=1.0)
    again = found.go_on(target_pct=1.0)
    assert (again.iterations, again.ev) == (found.iterations, found.ev)
    assert found.go_on(target_pct=0.2).exploitability_pct <= 0.2
    assert found.go_on(target_pct=1e-9, max_iterations=again.iterations + 400).iterations == again.iterations + 400


def test_a_folder_holds_no_regrets_to_go_on_with(tmp_path):
    save_spot_solution(tmp_path / "river", solve_spot(RIVER, max_iterations=4))
    with pytest.raises(ValueError, match="cannot go on"):
        load_spot_solution(tmp_path / "river").go_on()
