"""Nodes, boards and memory of spots that are not solved, against the solver's own."""

import dataclasses

import pytest

from plurispiel.agents.resolve import VectorSolver
from plurispiel.agents.spots import Spot
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot
from plurispiel.agents.spots.spot_size import spot_size
from plurispiel.agents.spots.spot_solution import new_solver

SIZES = {"bet": "50% allin", "raise": ["50%", "allin"]}
TURN = Spot("Td 9d 6h Qc", 101, 500, "AdKd,99+,J8s:0.5,A5s", "QJ,88,KJs,T9s", {"turn": SIZES, "river": SIZES})


class _Enough(Exception):
    pass


def needed_by_the_solver(spot, threads=2):
    told = []

    def stop(num_bytes):
        told.append(num_bytes)
        raise _Enough

    with pytest.raises(_Enough):
        new_solver(spot, threads=threads, on_memory=stop)
    return told[0]


@pytest.mark.parametrize(
    "spot",
    [
        TURN,
        dataclasses.replace(TURN, bets={}),
        dataclasses.replace(TURN, bets={"river": {"ip": {"bet": "1p"}}}),
        dataclasses.replace(TURN, lock={"c c *": {"hands": "AdKd", "c": "", "b50%": "AdKd:0.5"}}),
        dataclasses.replace(TURN, lock={"c": {"hands": "QhJh", "c": "", "b50%": "QhJh"}}),
        dataclasses.replace(TURN, board="Td 9d 6h Qc 2c", oop="random"),
        Spot("Td 9d 6h Qc 7s", 90, (60, 20, 100), "QQ,99", "77,QJs", {"river": SIZES}, middle="AA,KJs"),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_is_that_of_the_solver(spot, threads):
    assert spot_size(spot, threads=threads).memory_bytes == needed_by_the_solver(spot, threads)


@pytest.mark.parametrize("name", ["river", "turn", "flop"])
def test_counts_are_those_of_the_tree(name):
    spot, _ = read_spot(EXAMPLES / f"{name}.toml")
    found = spot_size(spot)
    streets = spot.subgame().betting()
    assert list(found.nodes.values()) == [len(each.nodes.kind) for each in streets]
    assert list(found.nodes) == ["flop", "turn", "river"][-len(streets) :]
    assert found.boards == dict(
        {"river": {"river": 1}, "turn": {"turn": 1, "river": 48}, "flop": {"flop": 1, "turn": 36, "river": 1429}}[name]
    )
    assert found.refusal() is None


@pytest.mark.parametrize("name", ["turn", "flop"])
def test_large_betting_is_measured_within_a_few_percent(name, monkeypatch):
    spot, _ = read_spot(EXAMPLES / f"{name}.toml")
    exact = spot_size(spot).memory_bytes
    monkeypatch.setattr("plurispiel.agents.spots.spot_size._EXACT_NODES", 0)
    assert spot_size(spot).memory_bytes == pytest.approx(exact, rel=0.06)


def test_a_large_tree_is_counted_and_refused_with_the_street_to_cut(monkeypatch):
    many = {"bet": "30% 60% 90% 120% allin", "raise": "30% 60% 90% allin"}
    spot = Spot("Qs Jh 2h", 180, 4_000, "22+,A2s+", "22+,A2s+", {"flop": many, "turn": many, "river": many})
    found = spot_size(spot)
    assert found.nodes["river"] == 274_805 and found.memory_bytes > 2**38
    assert found.street_to_cut == min(found.smaller_bytes, key=found.smaller_bytes.get)
    assert found.smaller_bytes[found.street_to_cut] < 0.6 * found.memory_bytes
    assert f"take fewer bet sizes on the {found.street_to_cut} (that could need " in found.refusal()
    monkeypatch.setattr("plurispiel.agents.spots.spot_size.MAX_NODES", 100_000)
    assert "the river has 274,805 nodes, at most 100,000 fit: take fewer bet sizes on the river or" in found.refusal()


@pytest.mark.parametrize(
    ("bets", "fewer"),
    [
        ({"bet": "50% allin", "raise": ["50%", "allin"]}, {"bet": "allin", "raise": ["50%", "allin"]}),
        ({"bet": "1p", "raise": "allin"}, {"bet": "1p", "raise": []}),
        ({"bet": "1p"}, {}),
        ({"oop": {"bet": "50% 1p"}, "ip": {"bet": "1p"}}, {"oop": {"bet": "1p"}, "ip": {"bet": "1p"}}),
    ],
)
def test_one_size_fewer(bets, fewer):
    spot = dataclasses.replace(TURN, board="Td 9d 6h Qc 2c", bets={"river": bets})
    smaller = dataclasses.replace(spot, bets={"river": fewer})
    assert spot_size(spot).smaller_bytes == {"river": spot_size(smaller).memory_bytes}


def test_malformed_spots_are_refused_as_by_the_solver():
    for changes, message in (({"oop": "ZZ"}, "oop: "), ({"bets": {"turn": {"bet": "x"}}}, "bet sizes are written")):
        with pytest.raises(ValueError, match=message):
            spot_size(dataclasses.replace(TURN, **changes))
        with pytest.raises(ValueError, match=message):
            VectorSolver(dataclasses.replace(TURN, **changes).subgame())
