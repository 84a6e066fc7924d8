"""The bench of peers with made-up peers: right ones, wrong ones and missing ones."""

import json
import math
import os
import sys
import types

import pytest
from reference.hand_rank import strength

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.tournaments.bench import peer_comparison, peer_hands, peer_playouts, peer_solvers, peers
from plurispiel.tournaments.bench.peer_comparison import Comparison, PeerError, PeerRatio, compare, require_same_order
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import bench as bench_command

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


class Policy:
    """A policy of OpenSpiel from a strategy of a tree."""

    def __init__(self, tree, strategy):
        firsts = tree.infoset_first.tolist()
        pairs = list(zip(tree.action_ids.tolist(), strategy.tolist(), strict=True))
        self.rows = {key: pairs[firsts[k] : firsts[k + 1]] for k, key in enumerate(tree.infoset_keys)}

    def action_probabilities(self, state):
        return dict(self.rows[state.information_state_string()])


def lite_efg(algorithm):
    """A module like LiteEFG, whose "CFR" is one of our algorithms, and which writes and prints as LiteEFG does."""

    class Graph:
        def __init__(self):
            print("Graph is ready")
            self.solver = make_solver(flatten(peer_solvers.GAME), algorithm)

        def current_strategy(self):
            return self

        def update_graph(self, environment):
            assert environment.updated == self.solver.iteration + 1
            self.solver.run(1)

    class Environment:
        def __init__(self, game):
            print("Generating")
            os.mkdir(os.path.join(os.path.expanduser("~"), "game_instances"))

        def set_graph(self, graph):
            self.updated = 0

        def update_strategy(self, graph):
            self.updated += 1

        def get_strategy(self, graph, kind):
            assert kind == "avg-iterate"
            return Policy(graph.solver.tree, graph.solver.average_strategy()), []

    baselines = types.SimpleNamespace(CFR=types.SimpleNamespace(graph=Graph))
    return types.SimpleNamespace(OpenSpielEnv=Environment, baselines=baselines)


def rank_number(hand):
    """The rank of the reference as one number."""
    return sum(part << 4 * (5 - place) for place, part in enumerate(strength(hand)))


def eval7(rank):
    return types.SimpleNamespace(Card=lambda text: parse_cards(text)[0], evaluate=lambda hand: rank(sorted(hand)))


@pytest.fixture
def small(monkeypatch, tmp_path):
    """One turn a row, few hands, and Kuhn poker instead of Leduc."""
    for module, name, value in (
        (peer_comparison, "_MIN_TURNS", 2),
        (peer_hands, "NUM_HANDS", 100),
        (peer_playouts, "_BATCH", 2_000),
        (peer_playouts, "_COUNTED", 50),
        (peer_solvers, "GAME", "kuhn_poker"),
        (peer_solvers, "SAMPLED_ITERATIONS", 50),
        (peer_solvers, "SAMPLED_SEEDS", 20),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_right_peers_and_missing_ones(small, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench_command, "warmup", lambda: None)  # the bench needs few kernels
    monkeypatch.setitem(sys.modules, "phevaluator", None)
    monkeypatch.setitem(sys.modules, "eval7", eval7(rank_number))
    monkeypatch.setitem(sys.modules, "LiteEFG", lite_efg("cfr:simultaneous"))
    assert main(["bench", "peers", "--seconds", "0.001", "--json"]) == 0
    figures = {row["name"]: row for row in json.loads(capsys.readouterr().out)["figures"]}
    measured = [row for row in figures.values() if row["value"] is not None]
    assert len(measured) == 11 and len(figures) == 16
    for row in measured:
        assert 0.0 < row["lowest"] <= row["value"] <= row["highest"] and row["turns"] >= 2 and row["unit"] == "x"
        assert min(row["ours"], row["theirs"]) > 0.0 and "equal: " in row["note"]
    assert "the order of 100 hands" in figures["7-card hands, a batch: eval7"]["note"]
    assert "exploitability after 20 iterations" in figures["Leduc, CFR: LiteEFG"]["note"]
    for name in ("7-card hands, one a call: phevaluator", "7-card hands, a batch: phevaluator"):
        assert figures[name]["note"] == ("left out: phevaluator is not installed: pip install 'plurispiel[peers]'")
    assert "--program training=PATH" in figures["Leduc, external sampling: slumbot2019"]["note"]
    assert os.environ["HOME"] == str(tmp_path) and not list(tmp_path.iterdir())  # LiteEFG wrote elsewhere


def test_wrong_peers_have_no_figure(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "phevaluator", types.SimpleNamespace(evaluate_cards=lambda *hand: sum(hand)))
    monkeypatch.setitem(sys.modules, "eval7", eval7(lambda hand: 0))
    monkeypatch.setitem(sys.modules, "LiteEFG", lite_efg("cfr"))
    draw = peer_playouts.UniversalPoker._draw
    monkeypatch.setattr(peer_playouts.UniversalPoker, "_draw", lambda self: (draw(self)[0], [0.0] * 20))  # folds
    monkeypatch.setattr(
        peer_solvers, "_sample_by_openspiel", lambda tree, n, seed: make_solver(tree, "cfr").average_strategy()
    )
    monkeypatch.setattr(peer_solvers.pyspiel, "nash_conv", lambda game, policy: 0.0)
    rows = {row.name: row for row in peers.bench_peers(0.001)}
    assert {name for name, row in rows.items() if not math.isnan(row.value)} == {
        "Leduc, CFR: OpenSpiel",
        "Leduc, CFR+: OpenSpiel",
        "random actions, heads-up: universal_poker, fcpa",
        "random actions, six seats: universal_poker, fcpa",
    }
    assert "the order of hands differs at" in rows["7-card hands, a batch: phevaluator"].note
    assert "NashConv after 20 iterations is" in rows["Leduc, CFR: LiteEFG"].note
    assert "exploitability after 50 iterations is" in rows["Leduc, external sampling: OpenSpiel"].note
    assert "NashConv is 0, ours is" in rows["Leduc, NashConv: OpenSpiel"].note
    assert "the mean number of actions is 1, ours" in rows["random hands, heads-up: universal_poker"].note


def test_wrong_payoffs(monkeypatch):
    monkeypatch.setattr(peer_playouts, "_PEER_BATCH", 1)
    play = peer_playouts.UniversalPoker._play
    rules = HUNL.with_menu("fcpa")
    assert peer_playouts._check_payoffs(rules, peer_playouts.UniversalPoker(rules)) == "the payoffs of 100 hands"
    wrong = lambda self, *drawn: (hand := play(self, *drawn))._replace(payoffs=hand.payoffs[::-1])  # noqa: E731
    monkeypatch.setattr(peer_playouts.UniversalPoker, "_play", wrong)
    with pytest.raises(PeerError, match="the payoffs of a hand are"):
        peer_playouts._check_payoffs(rules, peer_playouts.UniversalPoker(rules))


def test_ratio_is_the_median_of_turns():
    log, theirs = [], iter([99.0, 2.0, 4.0, 6.0, 8.0, 40.0])

    def side(name, seconds):
        log.append(name)
        return seconds

    found = compare(
        Comparison("work", "peer 1", "hands", lambda: side("o", 2.0), lambda: side("t", next(theirs)), lambda: "sums"),
        1e-9,
    )
    assert isinstance(found, PeerRatio)
    assert (found.value, found.lowest, found.highest) == (3.0, pytest.approx(1.4), pytest.approx(13.6))  # of 1 2 3 4 20
    assert (found.turns, found.ours, found.theirs) == (5, 0.5, pytest.approx(1 / 6))
    assert found.note == "1.4 to 13.6 in 5 turns; peer 1; ours 0.5 hands/s; equal: sums"
    assert "".join(log) == "to" * 6  # the first of six turns is not counted


def test_order_of_hands():
    require_same_order([1, 5, 5, 9], [-40, 0, 0, 7])
    for wrong in ([1, 2, 3, 4], [4, 3, 3, 1], [1, 1, 1, 2]):
        with pytest.raises(PeerError, match="of 4 hands"):
            require_same_order([1, 5, 5, 9], wrong)
