"""Deep CFR equals OpenSpiel's, iteration by iteration, and is read out at our infosets; nothing else needs PyTorch."""

import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from plurispiel.abstraction.trees.game_tree import flatten, strategy_from_policy
from plurispiel.agents.search.exact.search import GameTreeSearch
from plurispiel.agents.tabular import deep_cfr
from plurispiel.agents.tabular.deep_cfr import DeepCfr, DeepCfrSolver, parse_deep_cfr
from plurispiel.agents.tabular.solution import load_solution
from plurispiel.agents.tabular.solvers import make_solver, parse_algorithm
from plurispiel.evaluation.best_response import exploitability
from plurispiel.tournaments.cli import main

ABSENT = "raise ImportError(f'no module {__name__}')"
"""A module in the place of one that is not installed. None in ``sys.modules`` would confuse scipy."""

SMALL = DeepCfr(3, 20, layers=(16, 8), advantage_steps=30, policy_steps=40, batch=16)


@pytest.fixture
def networks():
    """The module that imports PyTorch, where PyTorch is installed."""
    pytest.importorskip("torch")
    pytest.importorskip("tree")
    return importlib.import_module("plurispiel.agents.tabular._deep_cfr_networks")


@pytest.fixture
def peer(networks):
    """OpenSpiel's own solver with the settings of `SMALL`, after its iterations."""
    from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

    def solved(game, seed):
        with networks.generators_kept():
            solver = DeepCFRSolver(
                game,
                policy_network_layers=SMALL.layers,
                advantage_network_layers=SMALL.layers,
                num_iterations=SMALL.iterations,
                num_traversals=SMALL.traversals,
                learning_rate=SMALL.rate,
                batch_size_advantage=SMALL.batch,
                batch_size_strategy=SMALL.batch,
                memory_capacity=SMALL.memory,
                policy_network_train_steps=SMALL.policy_steps,
                advantage_network_train_steps=SMALL.advantage_steps,
                seed=networks._word(seed, 0),
            )
            solver.solve()
        return solver

    return solved


def test_names():
    assert parse_algorithm("deep-cfr(10,375)") == DeepCfr(10, 375)
    settings = DeepCfr(7, 8, (32, 16), 3, 4, 5, 1_000_000, 1e-05)
    assert parse_deep_cfr(settings.name) == parse_algorithm(f" {settings.name.upper()} ") == settings
    expected = "deep-cfr(7,8,layers=32x16,advantage-steps=3,policy-steps=4,batch=5,memory=1000000,rate=1e-05)"
    assert settings.name == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deep-cfr", "is written deep-cfr(ITERATIONS,TRAVERSALS,NAME=VALUE,...)"),
        ("deep-cfr(10)", "is written deep-cfr("),
        ("deep-cfr(10,20):simultaneous", "is written deep-cfr("),
        ("deep-cfr(10,1.5)", "is written deep-cfr("),
        ("deep-cfr(0,20)", "iterations must be 1..1,000,000, got 0"),
        ("deep-cfr(1,20,width=3)", "takes layers, advantage-steps, policy-steps, batch, memory, rate, each at most"),
        ("deep-cfr(1,20,batch=3,batch=4)", "once, got 'batch=4'"),
        ("deep-cfr(1,20,layers=)", "layers is written like 64x64, got ''"),
        ("deep-cfr(1,20,layers=64x0)", "widths of 1..4,096, got 64x0"),
        ("deep-cfr(1,20,layers=1x1x1x1x1x1x1x1x1)", "layers are 1..8 widths"),
        ("deep-cfr(1,20,batch=11,memory=10)", "batch <= memory <= 10,000,000, got a batch of 11"),
        ("deep-cfr(1,20,rate=0)", "rate must be above 0"),
        ("deep-cfr(1,20,rate=1.2.3)", "rate is a number, got '1.2.3'"),
        ("deep-cfr(1,20,rate=nan)", "rate is written like 0.001, got 'nan'"),
    ],
)
def test_refused_names(text, message):
    with pytest.raises(ValueError) as error:
        parse_algorithm(text)
    assert message in str(error.value)


def test_search_refuses_networks():
    with pytest.raises(ValueError, match="solved by tables of regrets, got 'deep-cfr"):
        GameTreeSearch(algorithm="deep-cfr(1,2)")


@pytest.mark.parametrize("missing", ["torch", "tree"])
def test_without_pytorch(missing, monkeypatch, capsys, tmp_path):
    """The error comes before any work, and names the extra and the smaller build in words."""
    for name in [name for name in sys.modules if name == missing or name.startswith("open_spiel.python.pytorch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, deep_cfr._NETWORKS, raising=False)
    (tmp_path / f"{missing}.py").write_text(ABSENT)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["solve", "leduc", "--algorithm", "deep-cfr(1,2)"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "pip install 'plurispiel[deep]'" in line and "CPU-only build is much smaller" in line
    assert "://" not in line


def test_iterations_are_in_the_name(capsys):
    assert main(["solve", "kuhn", "--algorithm", "deep-cfr(1,2)", "--iterations", "5"]) == 2
    assert "leave --iterations out" in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.parametrize("game", ["kuhn", "leduc", "kuhn3"])
def test_iterations_are_those_of_openspiel(game, networks, peer):
    tree = flatten(game)
    solver, expected = DeepCfrSolver(tree, SMALL, 5), peer(tree.openspiel_game, 5)
    solver.run(SMALL.iterations)
    ours = solver._networks
    for mine, theirs in zip(ours._advantage_networks, expected._advantage_networks, strict=True):
        for found, known in zip(mine.parameters(), theirs.parameters(), strict=True):
            np.testing.assert_array_equal(found.detach().numpy(), known.detach().numpy())
    count = len(expected.strategy_buffer)
    assert len(ours.strategy_buffer) == count > SMALL.batch
    for found, known in zip(ours.strategy_buffer.experience, expected.strategy_buffer.experience, strict=True):
        np.testing.assert_array_equal(found[:count], known[:count])


@pytest.mark.torch
@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem-mini"])
def test_read_out_at_our_infosets(game, networks):
    """The strategies equal OpenSpiel's answers at every infoset, asked one by one."""
    tree = flatten(game)
    assert game != "holdem-mini" or tree.num_infosets == 11_088
    solver = DeepCfrSolver(tree, SMALL, 1)
    solver.run(1)
    ours = solver._networks
    average, current = solver.average_strategy(), solver.current_strategy()
    firsts, ids = tree.infoset_first, tree.action_ids
    for number, state in enumerate(tree.infoset_states()):
        if number % (37 if game == "holdem-mini" else 1):
            continue
        chosen = slice(firsts[number], firsts[number + 1])
        known = np.array([ours.action_probabilities(state)[action] for action in ids[chosen]], np.float64)
        np.testing.assert_allclose(average[chosen], known / known.sum(), rtol=1e-4, atol=1e-7)
        _, matched = ours._sample_action_from_advantage(state, state.current_player())
        np.testing.assert_allclose(current[chosen], matched[ids[chosen]], rtol=1e-4, atol=1e-6)


@pytest.mark.torch
def test_measuring_changes_nothing_later(networks):
    tree = flatten("kuhn")
    measured, plain = DeepCfrSolver(tree, SMALL, 2), DeepCfrSolver(tree, SMALL, 2)
    measured.run(1)
    first = measured.average_strategy()
    np.random.seed(99)  # noqa: NPY002
    measured.run(2)
    plain.run(3)
    np.testing.assert_array_equal(measured.average_strategy(), plain.average_strategy())
    np.testing.assert_array_equal(measured.current_strategy(), plain.current_strategy())
    assert (first != plain.average_strategy()).any()
    other = DeepCfrSolver(tree, SMALL, 3)
    other.run(3)
    assert (other.average_strategy() != plain.average_strategy()).any()


@pytest.mark.torch
def test_global_generators_are_put_back(networks):
    import torch

    threads = torch.get_num_threads()
    np.random.seed(7), torch.manual_seed(8)  # noqa: NPY002
    expected = np.random.random(3), torch.rand(3)  # noqa: NPY002
    np.random.seed(7), torch.manual_seed(8)  # noqa: NPY002
    solver = DeepCfrSolver(flatten("kuhn"), SMALL, 1)
    solver.run(1)
    solver.average_strategy()
    np.testing.assert_array_equal(np.random.random(3), expected[0])  # noqa: NPY002
    assert (torch.rand(3) == expected[1]).all() and torch.get_num_threads() == threads


@pytest.mark.torch
def test_it_learns_and_needs_no_pytorch_afterwards(networks, home, tmp_path, capsys):
    algorithm = "deep-cfr(4,60,layers=32,advantage-steps=60,policy-steps=200,batch=64,rate=0.005)"
    assert main(["solve", "kuhn", "--algorithm", algorithm, "--out", "x", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["algorithm"] == parse_algorithm(algorithm).name and record["iterations"] == 4
    assert [point[0] for point in record["curve"]] == [1, 2, 3, 4]
    assert record["exploitability"] < 0.25  # uniform play: 0.458
    solution = load_solution(tmp_path / "x")
    tree = flatten("kuhn")
    assert exploitability(tree, solution.strategy).nash_conv == record["nash_conv"]
    assert np.array_equal(strategy_from_policy(tree, solution), solution.strategy)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "torch.py").write_text(ABSENT)
    path = os.pathsep.join([str(tmp_path / "hidden"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "plurispiel", "exploitability", "kuhn", "--policy", "x", "--json"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert json.loads(done.stdout)["nash_conv"] == pytest.approx(record["nash_conv"], abs=1e-12), done.stderr
    assert main(["solve", "kuhn", "--algorithm", algorithm, "--out", "x"]) == 2
    assert "cannot be continued" in capsys.readouterr().err


@pytest.mark.torch
def test_an_interrupt_keeps_the_last_average(networks, home, tmp_path, capsys, monkeypatch, usual_signals):
    """Iterations 1 and 2 are measured; the interrupt comes in the traversals of the third."""
    iterate, done = networks.SteppedDeepCfr.iterate, []

    def interrupted(self):
        if len(done) == 2:
            self._traverse_game_tree(self._root_node, 0)
            raise KeyboardInterrupt
        iterate(self)
        done.append(self)

    monkeypatch.setattr(networks.SteppedDeepCfr, "iterate", interrupted)
    name = SMALL.name.replace("(3,", "(50,")
    assert main(["solve", "kuhn", "--algorithm", name, "--out", "x", "--seed", "4"]) == 130
    assert "interrupted after 2 iterations" in capsys.readouterr().err
    monkeypatch.undo()
    solution = load_solution(tmp_path / "x")
    expected = DeepCfrSolver(flatten("kuhn"), SMALL, 4)
    expected.run(2)
    assert solution.iterations == 2 and solution.seed == 4
    np.testing.assert_array_equal(solution.strategy, expected.average_strategy())
    with pytest.raises(ValueError, match="cannot be continued"):
        expected.resume(2, {})
    monkeypatch.setattr(expected._networks, "iterate", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        expected.run(1)
    with pytest.raises(RuntimeError, match="interrupted"):
        expected.run(1)


@pytest.mark.torch
def test_it_is_compared(networks, home, tmp_path, capsys):
    """With two seeds, as an algorithm with random numbers."""
    names = f"cfr+,{SMALL.name}"
    assert main(["solve", "kuhn", "--compare", names, "--seconds", "0.2", "--seeds", "2", "--out", "x", "--json"]) == 0
    exact, sampled = json.loads(capsys.readouterr().out)["algorithms"]
    assert [run["seed"] for run in exact["runs"]] == [None] and [run["seed"] for run in sampled["runs"]] == [1, 2]
    assert sampled["algorithm"] == SMALL.name and exact["mean"] < sampled["mean"]


@pytest.mark.torch
def test_a_game_without_tensors_is_refused(networks):
    with pytest.raises(ValueError, match="has no information state tensor"):
        make_solver(flatten("nim(pile_sizes=1;2)"), SMALL)
