"""A solved game on disk, as an agent, as an OpenSpiel policy; and what is refused."""

import json

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms import expected_game_score

from plurispiel.abstraction.holdem.rules import KUHN, LEDUC
from plurispiel.abstraction.machine import artefact
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact
from plurispiel.abstraction.trees.game_tree import flatten, strategy_from_policy
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.factory import make_agent
from plurispiel.agents.openspiel import agent_policy
from plurispiel.agents.specs import relocate_spec, unique_names
from plurispiel.agents.tabular.solution import (
    FORMAT_VERSION,
    KIND,
    TabularAgent,
    load_solution,
    resume_solver,
    save_solution,
    solution_digest,
    solution_of,
)
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import expected_values, exploitability
from plurispiel.evaluation.hand import deal_deck, play_hand

GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=3,points_order=descending))"
FORGETFUL = (
    "universal_poker(numRounds=3,blind=1 1,stack=4 4,firstPlayer=1 1 1,numSuits=1,numRanks=5,numBoardCards=0 1 1)"
)
GAMES = ["kuhn", "kuhn3", "leduc", "liars_dice(dice_sides=3)", GOOFSPIEL, FORGETFUL]


def solved(game, algorithm="cfr+", iterations=30):
    solver = make_solver(flatten(game), algorithm, seed=2)
    solver.run(iterations)
    return solver


def save(folder, game="leduc", algorithm="cfr+", iterations=30):
    solver = solved(game, algorithm, iterations)
    save_solution(folder, solver, np.array([[10, 0.1, 0.5], [30, 0.2, 0.25]]))
    return solver


@pytest.mark.parametrize("game", GAMES)
def test_round_trip(tmp_path, game):
    solver = save(tmp_path / "x", game)
    found = load_solution(tmp_path / "x")
    assert (found.game, found.algorithm, found.iterations, found.seed) == (solver.tree.game, "cfr+", 30, None)
    np.testing.assert_array_equal(found.strategy, solver.average_strategy())
    assert found.infoset_keys == solver.tree.infoset_keys
    # Asked state by state it is the same strategy, also where OpenSpiel's information states forget.
    np.testing.assert_allclose(strategy_from_policy(solver.tree, found), found.strategy, atol=1e-15)


def test_the_forgetful_game_is_one():
    tree = flatten(FORGETFUL)
    assert not tree.openspiel_recall
    assert len(set(tree.infoset_keys)) < tree.num_infosets


@pytest.mark.parametrize("game", GAMES)
def test_openspiel_measures_the_same(game):
    solver = solved(game)
    found = exploitability(solver.tree, solver.average_strategy())
    ours = solution_of(solver.tree, solver).openspiel_policy()
    loaded = solver.tree.openspiel_game
    values = expected_game_score.policy_value(loaded.new_initial_state(), [ours] * loaded.num_players())
    np.testing.assert_allclose(values, found.values, atol=1e-9)
    if solver.tree.openspiel_recall:
        assert isinstance(ours, policy.TabularPolicy)
        theirs = pyspiel.nash_conv(loaded, policy.python_policy_to_pyspiel_policy(ours))
        assert theirs == pytest.approx(found.nash_conv, abs=1e-9)


@pytest.mark.parametrize("game", ["kuhn3", "leduc", "liars_dice(dice_sides=3)"])
def test_tabular_policy_round_trip(game):
    solver = solved(game, "mccfr", 500)
    ours = solution_of(solver.tree, solver).openspiel_policy()
    np.testing.assert_allclose(ours.action_probability_array.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(strategy_from_policy(solver.tree, ours), solver.average_strategy(), atol=1e-15)


def test_unknown_states_have_no_probabilities():
    solver = solved("kuhn")
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    state.apply_action(0)
    state.apply_action(1)
    assert solution_of(solver.tree, solver).action_probabilities(state) == {}


# The agent.


@pytest.mark.parametrize(("game", "rules"), [("leduc", LEDUC), ("kuhn", KUHN)])
def test_the_agent_plays_what_was_solved(tmp_path, game, rules):
    solver = save(tmp_path / "x", game)
    agent = make_agent(f"tabular:{tmp_path / 'x'}")
    assert isinstance(agent, TabularAgent)
    told = agent_policy(agent, solver.tree.openspiel_game)
    np.testing.assert_allclose(strategy_from_policy(solver.tree, told), solver.average_strategy(), atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(50):  # at our table, whose game is universal_poker
        assert not play_hand(rules, [agent, agent], deal_deck(rules, rng), rng.spawn(2)).faults


def test_the_agents_hands_are_worth_what_the_tree_says(tmp_path):
    solver = save(tmp_path / "x", "kuhn", iterations=200)
    agent = make_agent(f"tabular:{tmp_path / 'x'}")
    rng = np.random.default_rng(2)
    payoffs = [play_hand(KUHN, [agent, agent], deal_deck(KUHN, rng), rng.spawn(2)).payoffs[0] for _ in range(4_000)]
    expected = expected_values(solver.tree, solver.average_strategy())[0]
    assert np.mean(payoffs) == pytest.approx(expected, abs=4 * np.std(payoffs) / np.sqrt(len(payoffs)))


def test_the_agent_at_other_tables(tmp_path):
    save(tmp_path / "x", "kuhn")
    with pytest.raises(ValueError, match="other rules than the table"):
        make_agent(f"tabular:{tmp_path / 'x'}").restart(LEDUC, 0, np.random.default_rng(0))
    save(tmp_path / "y", "liars_dice(dice_sides=3)")
    with pytest.raises(ValueError, match="hold'em rules can be read from .*, got liars_dice"):
        make_agent(f"tabular:{tmp_path / 'y'}")


def test_agent_of_a_universal_poker_game(tmp_path):
    game = "universal_poker(numRounds=2,blind=2 1,stack=6 6,firstPlayer=2 1,numSuits=2,numRanks=3,numBoardCards=0 1)"
    solver = save(tmp_path / "x", game)
    told = agent_policy(make_agent(f"tabular:{tmp_path / 'x'}"), solver.tree.openspiel_game)
    np.testing.assert_allclose(strategy_from_policy(solver.tree, told), solver.average_strategy(), atol=1e-12)


def test_specs(tmp_path, monkeypatch):
    save(tmp_path / "runs" / "leduc" / "policy", "kuhn")
    monkeypatch.chdir(tmp_path)
    assert make_agent("tabular:runs/leduc").name == "tabular:runs/leduc"
    assert make_agent("tabular:runs/leduc/policy").name == "tabular:runs/leduc/policy"
    assert unique_names(["tabular:runs/leduc", "tabular:other/leduc"]) == ["tabular:leduc", "tabular:leduc#2"]
    assert relocate_spec("tabular:runs/leduc", tmp_path) == f"tabular:{tmp_path}/runs/leduc"
    assert relocate_spec("tabular:x?y=1", tmp_path) == f"tabular:{tmp_path}/x?y=1"
    assert relocate_spec("tabular", tmp_path) == "tabular"
    before = agent_digest("tabular:runs/leduc")
    assert before == solution_digest(tmp_path / "runs" / "leduc")
    save(tmp_path / "runs" / "leduc" / "policy", "kuhn", iterations=31)
    assert agent_digest("tabular:runs/leduc") != before
    for spec in ("tabular", "tabular:runs/leduc?x=1"):
        with pytest.raises(ValueError, match="written tabular:FOLDER"):
            make_agent(spec)
    with pytest.raises(ArtefactRefused, match="there is no folder"):
        make_agent("tabular:nowhere")


# Going on.


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "pcfr+", "hybrid(5)", "mccfr", "linear-mccfr"])
@pytest.mark.parametrize("game", ["kuhn3", "leduc"])
def test_resumed_numbers_are_the_same(tmp_path, game, algorithm):
    whole = solved(game, algorithm, 50)
    save(tmp_path / "x", game, algorithm, 20)
    solver = make_solver(whole.tree, algorithm, seed=2)
    curve = resume_solver(tmp_path / "x", solver)
    assert curve.tolist() == [[10, 0.1, 0.5], [30, 0.2, 0.25]]
    assert solver.iteration == 20
    solver.run(30)
    for name, values in whole.arrays().items():
        np.testing.assert_array_equal(solver.arrays()[name], values)
    np.testing.assert_array_equal(solver.average_strategy(), whole.average_strategy())


def test_other_runs_are_not_gone_on_with(tmp_path):
    save(tmp_path / "x", "kuhn", "mccfr")
    for game, algorithm, seed, message in [
        ("kuhn", "cfr", 2, "a solution by the algorithm mccfr, not cfr"),
        ("kuhn", "mccfr", 3, "a solution with the seed 2, not 3"),
        ("kuhn3", "mccfr", 2, r"a solution of the game kuhn_poker\(\), not kuhn_poker\(players=3\)"),
    ]:
        solver = make_solver(flatten(game), algorithm, seed=seed)
        with pytest.raises(ValueError, match=message):
            resume_solver(tmp_path / "x", solver)
        assert solver.iteration == 0


# Damage that only a forger could do: the artefact itself is sound.


def forged(folder, **changes):
    """Write the artefact of a solution again with other arrays or settings."""
    found = load_artefact(folder, KIND, FORMAT_VERSION)
    arrays = {name: changes.pop(name, values) for name, values in found.arrays.items()}
    arrays = {name: np.array(values) for name, values in arrays.items() if values is not None}
    config = found.config | changes
    artefact.write_artefact(folder, KIND, FORMAT_VERSION, arrays, config, seed=found.seed, source=found.source)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strategy": None}, "strategy"),
        ({"strategy": np.ones(24)}, "do not sum to 1"),
        ({"strategy": np.tile([-1.0, 2.0], 12)}, "do not sum to 1"),
        ({"strategy": np.full(24, np.nan)}, "do not sum to 1"),
        ({"strategy": np.full(20, 0.5)}, "out of order"),
        ({"strategy": np.full(24, 0.5, dtype=np.float32)}, "strategy has the wrong type or shape, float32"),
        ({"infoset_first": np.zeros(13, dtype=np.int32)}, "out of order"),
        ({"infoset_first": np.zeros(0, dtype=np.int32)}, "or shape, int64|out of order"),
        ({"infoset_first": -np.arange(13, dtype=np.int32)}, "out of order"),
        ({"infoset_parent": np.zeros(5, dtype=np.int32)}, "infoset_parent has the wrong"),
        ({"infoset_player": np.zeros((12, 1), dtype=np.int8)}, "infoset_player has the wrong"),
        ({"action_ids": np.zeros(3, dtype=np.int32)}, "action_ids has the wrong"),
        ({"key_first": np.arange(13, dtype=np.int64) * 10**12}, "out of order"),
        ({"key_bytes": np.full(18, 0xFF, dtype=np.uint8)}, "utf-8|out of order"),
        ({"game": 7}, "game is missing"),
        ({"iterations": -1}, "iterations is below 0, -1"),
        ({"iterations": 1.5}, "iterations is missing"),
        ({"openspiel_recall": "yes"}, "openspiel_recall is missing"),
    ],
)
def test_unsound_solutions(tmp_path, changes, message):
    save(tmp_path / "x", "kuhn")
    forged(tmp_path / "x", **changes)
    with pytest.raises(ArtefactRefused, match=f"is no sound solution: .*({message}).*; solve the game again"):
        load_solution(tmp_path / "x")


@pytest.mark.parametrize("changes", [{"solver_regret": None}, {"solver_regret": np.zeros(3)}, {"curve": np.zeros(3)}])
def test_unsound_states(tmp_path, changes):
    save(tmp_path / "x", "kuhn")
    forged(tmp_path / "x", **changes)
    with pytest.raises(ArtefactRefused, match="is no sound solution"):
        resume_solver(tmp_path / "x", make_solver(flatten("kuhn"), "cfr+"))


def test_other_artefacts_are_refused(tmp_path):
    artefact.write_artefact(tmp_path / "x", "bucket table", 1, {}, {})
    with pytest.raises(ArtefactRefused, match="holds a 'bucket table', not a solution"):
        load_solution(tmp_path / "x")
    save(tmp_path / "y", "kuhn")
    manifest = tmp_path / "y" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"seed": 5}))
    with pytest.raises(ArtefactRefused, match="manifest.json is damaged"):
        load_solution(tmp_path / "y")
