"""River spots of three players: solved, kept and read again, and refused where three are not possible."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from plurispiel.agents.spots import Spot, solve_spot
from plurispiel.agents.spots.spot_file import EXAMPLES, load_spot_solution, read_spot, save_spot_solution
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.figures.spot_text import summary_text

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RIVER = {
    "board": "Td 9d 6h Qc 7s",
    "pot": 90,
    "stacks": 60,
    "oop": "QQ,99,KQs",
    "middle": "AA,KJs",
    "ip": "77,QJs,J8s",
    "bets": {"river": {"bet": "0.5p"}},
}


def test_a_river_of_three_is_solved():
    solution = solve_spot(Spot(**RIVER), target_pct=0.3)
    assert solution.exploitability_pct <= 0.3
    assert sum(solution.ev) == pytest.approx(90.0)
    assert sum(solution.equity) == pytest.approx(1.0)
    assert "with three" in summary_text(solution)
    first, facing = solution.strategy(), solution.strategy("c b50%")
    assert (first.player, first.actions, facing.player, facing.actions) == ("oop", ("c", "b50%"), "ip", ("f", "c"))
    assert facing.frequencies.sum() == pytest.approx(1.0)
    assert solution.strategy("c b45").node == "c b50%"  # chips name the same bet


def test_stacks_of_a_chip_leave_everyone_their_equity():
    """The gains of best responses, which win at least the equity less a chip, sum to 0.3 % of the pot at most."""
    river = RIVER | {"pot": 3_000, "stacks": 1, "bets": {"river": {"bet": "allin"}}}
    solution = solve_spot(Spot(**river), target_pct=0.1)
    np.testing.assert_allclose(np.array(solution.ev) / 3_000, solution.equity, rtol=0, atol=0.005)


def test_three_players_without_a_bet_check_down():
    solution = solve_spot(Spot(**RIVER | {"bets": {}}))
    assert solution.iterations == 1
    np.testing.assert_allclose(np.array(solution.ev) / 90.0, solution.equity, atol=1e-12)


def test_a_solution_is_kept(tmp_path):
    solution = solve_spot(Spot(**RIVER), max_iterations=4)
    save_spot_solution(tmp_path / "kept", solution)
    again = load_spot_solution(tmp_path / "kept")
    assert (again.spot.middle, again.ev, again.iterations) == ("AA,KJs", solution.ev, 4)
    np.testing.assert_array_equal(again.strategy("c c").probabilities, solution.strategy("c c").probabilities)


def test_the_example_is_shown_by_the_command(capsys, tmp_path, monkeypatch):
    """With a coarser target: that of the example is reached where the README shows it."""
    monkeypatch.chdir(tmp_path)
    example = (EXAMPLES / "three-way-river.toml").read_text()
    Path("coarse.toml").write_text(example.replace("target_pct = 0.5", "target_pct = 5"))
    assert main(["spot", "coarse.toml", "--node", "c c b50%", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["player"], record["strategy"]["actions"]) == ("oop", ["f", "c", "allin"])
    assert 0.5 < record["exploitability_pct"] <= 5.0
    assert read_spot(EXAMPLES / "three-way-river.toml")[0].players == ("oop", "middle", "ip")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"board": "Td 9d 6h Qc"}, "three players are solved on the river only"),
        ({"pot": 100}, "multiple of 3"),
        ({"stacks": (60, 60)}, "one number or three"),
        ({"lock": {"": {"c": "AA"}}}, "lock is for spots of two players"),
    ],
)
def test_what_three_cannot_do_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Spot(**RIVER | changes)


def test_refusals_of_the_solver():
    with pytest.raises(ValueError, match="no three compatible hands"):
        solve_spot(Spot(**RIVER | {"oop": "AhAs", "middle": "AhAs", "ip": "AhAs"}))
    with pytest.raises(ValueError, match="middle: "):
        solve_spot(Spot(**RIVER | {"middle": "ZZ"}))
    with pytest.raises(ValueError, match="Subgame is for two"):
        Spot(**RIVER).subgame()
    solution = solve_spot(Spot(**RIVER), max_iterations=1)
    with pytest.raises(ValueError, match="the actions are c b50%"):
        solution.strategy("b33%")
    with pytest.raises(ValueError, match="the hand is over"):
        solution.strategy("c c c")
