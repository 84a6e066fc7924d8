"""Values of hands at nodes against a count of every pair of hands, every card and every action."""

import functools
import json
import os

import numpy as np
import pytest
from reference.hand_rank import strength
from reference.spot_ev import PairValues, hand_values

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.spots import Spot, solve_spot
from plurispiel.agents.spots.spot_file import EXAMPLES, load_spot_solution, read_spot, save_spot_solution
from plurispiel.agents.spots.spot_solution import equity

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

SIZES = {"bet": "50% allin", "raise": "allin"}
RIVER = Spot("Td 9d 6h Qc 7s", 100, 300, "AdKd,9c9h,Jc8c:0.5,4c4d", "QdJd,8c8h,AcKs,ThTc", {"river": SIZES})
TURN = Spot("Td 9d 6h Qc", 100, 100, "AdKd,9c9h,J8s:0.5", "QdJd,8c8h,KcJc", {"turn": SIZES, "river": {"bet": "allin"}})
LOCKED = Spot(
    "Td 9d 6h Qc", 101, 100, "AdKd,9c9h", "QdJd,8c8h", {"turn": SIZES, "river": {"bet": "allin"}},
    lock={"c c *": {"allin": "9c9h"}},
)  # fmt: skip


def pair_values(solution):
    ranked = functools.cache(lambda held, board: strength((*held, *board)))
    return PairValues(solution, ranked, lambda combo: tuple(HUNL.combos[combo].tolist()))


@pytest.mark.parametrize(
    ("spot", "node", "pot", "put_in", "words"),
    [
        (RIVER, "", 100, (0, 0), []),
        (RIVER, "c", 100, (0, 0), ["c"]),
        (RIVER, "b50%", 100, (50, 0), ["b50%"]),
        (RIVER, "b50% allin", 100, (50, 300), ["b50%", "allin"]),
        pytest.param(TURN, "", 100, (0, 0), [], marks=pytest.mark.slow),
        (TURN, "c b50%", 100, (0, 50), ["c", "b50%"]),
        (TURN, "c c 2s", 100, (0, 0), []),
        (TURN, "c b50% c Ad c", 200, (0, 0), ["c"]),
        (LOCKED, "c c 2s", 101, (0, 0), []),
        (LOCKED, "c c 2s allin", 101, (100, 0), ["allin"]),
    ],
)
def test_every_pair_of_hands(spot, node, pot, put_in, words):
    solution = solve_spot(spot, target_pct=1e-9, max_iterations=7)
    found, pairs = solution.node_ev(node), pair_values(solution)
    board = parse_cards(spot.board) + tuple(parse_cards("".join(w for w in node.split() if w in ("2s", "Ad"))))
    expected = hand_values(pairs, node, found.weights, board, pot, put_in, words)
    for mine, known in zip(found.combo_ev.values(), expected, strict=True):
        assert mine == pytest.approx(known, abs=1e-4) and mine
    seat, taken = ("oop", "ip").index(found.player), solution.strategy(node).probabilities
    below = pairs.values
    for column, name in enumerate(found.actions):

        def values(start, *given, name=name):
            return pairs.after(start, name, *given, seat) if start == node else below(start, *given)

        pairs.values = values
        chosen = hand_values(pairs, node, found.weights, board, pot, put_in, words)[seat]
        for combo in np.flatnonzero(taken[:, column] > 0.0):  # the others have no strategy behind the action
            assert found.action_ev[combo, column] == pytest.approx(chosen[combo_text(int(combo))], abs=1e-4)


@functools.cache
def example(name):
    spot, _ = read_spot(EXAMPLES / f"{name}.toml")
    return spot, solve_spot(spot, max_iterations=20)


@pytest.mark.parametrize("name", ["river", "turn"])
def test_the_sum_over_hands_and_actions_is_the_value_of_the_spot(name):
    """To a millionth of the pot; and the mean of all hands' equities is that of the range."""
    spot, solution = example(name)
    found, shown = solution.node_ev(), solution.strategy()
    pairs = np.nansum(found.weights[0] * found.facing[0])
    mixed = np.nansum(found.action_ev * shown.probabilities, axis=1)
    assert np.nansum(found.weights[0] * found.facing[0] * mixed) / pairs == pytest.approx(
        solution.ev[0], abs=1e-6 * spot.pot
    )
    for seat in range(2):
        weights = found.weights[seat] * found.facing[seat]
        assert np.nansum(weights * found.ev[seat]) / pairs == pytest.approx(solution.ev[seat], abs=1e-6 * spot.pot)
    assert (~np.isnan(found.ev) == (found.weights > 0.0)).all()
    board = parse_cards(spot.board)
    if len(board) == 5:
        share = np.nansum(found.weights[0] * found.facing[0] * found.equity[0]) / pairs
        assert share == pytest.approx(equity(board, found.weights, HUNL), abs=1e-12)


def test_behind_the_first_street_players_hands_sum_to_the_pot():
    spot, solution = example("turn")
    for node, pot in (("c c 2c", spot.pot), ("c c 3d", spot.pot)):
        found = solution.node_ev(node)
        shown = solution.strategy(node)
        totals = [np.nansum(found.weights[k] * found.facing[k] * found.ev[k]) for k in range(2)]
        pairs = np.nansum(found.weights[0] * found.facing[0])
        assert sum(totals) / pairs == pytest.approx(pot, abs=1e-4 * pot)
        seat = ("oop", "ip").index(found.player)
        mixed = np.nansum(found.action_ev * shown.probabilities, axis=1)
        np.testing.assert_allclose(mixed[shown.weights > 0.0], found.ev[seat][shown.weights > 0.0], atol=1e-3)


def test_a_node_that_nobody_reaches():
    spot = Spot("3c 4d 8h 9s Kc", 100, 100, "KdKh", "JJ", {"river": {"bet": "allin"}}, lock={"": {"c": "KK"}})
    found = solve_spot(spot, max_iterations=4).node_ev("allin")
    assert np.isnan(found.ev[1]).all() and np.isnan(found.action_ev).all() and found.combo_ev == {"oop": {}, "ip": {}}


def test_files_and_json(tmp_path):
    """A solution that was kept has the same values; the record has those of each combo shown, as text."""
    solution = solve_spot(RIVER, max_iterations=10)
    save_spot_solution(tmp_path / "river", solution)
    again = load_spot_solution(tmp_path / "river")
    record = json.loads(json.dumps(again.record("c")))
    assert record["combo_ev"] == solution.node_ev("c").combo_ev
    assert set(record["combo_ev"]["ip"]) == set(record["strategy"]["combos"]) and len(record["combo_ev"]["oop"]) == 4
    three, _ = read_spot(EXAMPLES / "three-way-river.toml")
    shown = solve_spot(three, max_iterations=1)
    assert "combo_ev" not in shown.record()
    with pytest.raises(ValueError, match="for two players"):
        shown.node_ev()
