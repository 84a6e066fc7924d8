"""Policies and learners of OpenSpiel from files, as agents."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import tabular_qlearner

from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.agent_files import agent_digest, agent_file
from plurispiel.agents.factory import make_agent
from plurispiel.agents.learners import LearnerAgent
from plurispiel.agents.openspiel import LearnedAgent, PolicyAgent, make_environment
from plurispiel.agents.specs import parse_spec, relocate_spec, unique_names
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.tournaments import run_tournament

FILE = """\
import numpy as np
import pyspiel
from open_spiel.python import policy, rl_agent

def uniform(game, tilt=0):
    return policy.UniformRandomPolicy(game)

def native(game):
    return policy.UniformRandomPolicy(pyspiel.load_game("leduc_poker"))

class Caller(rl_agent.AbstractAgent):
    def __init__(self, player=0, **others): self.player = player
    def step(self, step, is_evaluation=False):
        assert is_evaluation and step.current_player() == self.player
        return rl_agent.StepOutput(1, [])

def caller(game): return Caller()
def callers(game): return [Caller(player) for player in range(game.num_players())]
def three(game): return [Caller(player) for player in range(3)]
def bot(game): return pyspiel.make_uniform_random_bot(0, 1)
def nothing(game): return None
def raises(game): raise KeyError("no values")
def no_game(): return None
number = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "guest.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class HashLearner:
    """Probabilities that depend on every entry of its player's observation."""

    def __init__(self, player=0):
        self.player = player

    def step(self, step, is_evaluation=False):
        (legal,) = {tuple(step.observations["legal_actions"][k]) for k in (self.player, 0)}
        seen = np.array(step.observations["info_state"][self.player], np.float32)
        probabilities = np.zeros(3)
        probabilities[list(legal)] = by_hash(seen[None], None)[0, list(legal)]
        answer = probabilities / probabilities.sum()
        return tabular_qlearner.rl_agent.StepOutput(int(answer.argmax()), answer)


def by_hash(observations, mask):
    seen = observations.astype(np.float64) @ np.sin(np.arange(1.0, observations.shape[1] + 1.0))
    return 0.01 + np.abs(np.sin(seen[:, None] * np.arange(1.0, 4.0)))


def read_out(agent):
    tree = flatten("leduc")
    return tree, strategy_from_agent(tree, agent)


def test_learners_see_at_the_table_what_they_saw_in_the_environment():
    """In all 936 infosets of Leduc, with either seat; alone, or one for each seat."""
    expected = read_out(LearnedAgent(by_hash))[1]
    for made in (HashLearner(), [HashLearner(0), HashLearner(1)]):
        found = read_out(LearnerAgent(lambda game, made=made: made))[1]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_policy_of_a_solver_plays_as_it_is():
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game("leduc_poker"))
    for _ in range(20):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    agent = LearnerAgent(lambda game: policy, "leduc_poker")
    np.testing.assert_array_equal(read_out(agent)[1], read_out(PolicyAgent(policy, "leduc_poker"))[1])


@pytest.mark.parametrize("name", ["uniform", "native", "uniform?tilt=2", "uniform?game=leduc_poker"])
def test_a_file_hands_over_a_policy(folder, name):
    tree, strategy = read_out(make_agent(f"openspiel:guest.py:{name}"))
    assert exploitability(tree, strategy).nash_conv == pytest.approx(1709 / 360)


@pytest.mark.parametrize("name", ["caller", "callers"])
def test_a_file_hands_over_learners(folder, name):
    np.testing.assert_array_equal(
        read_out(make_agent(f"openspiel:guest.py:{name}"))[1], read_out(make_agent("call"))[1]
    )


def test_what_q_learning_learnt_is_played():
    """The greedy choice of each state that was met, in the numbers that the environment showed."""
    learner = tabular_qlearner.QLearner(0, num_actions=3)
    environment = make_environment("kuhn", ["call"], seed=1)
    np.random.seed(1)  # noqa: NPY002 - the learner of OpenSpiel draws from the global generator
    for _ in range(400):
        step = environment.reset()
        while not step.last():
            step = environment.step([learner.step(step).action])
        learner.step(step)
    agent, table = LearnerAgent(lambda game: learner), environment.table
    for _ in range(20):
        step = environment.reset()
        seat = table.seat_of(0)
        hole = KUHN.combo_id([int(table.deck[seat])])
        feed = next(iter(table._feeds.values()))
        feed.follow([*feed.seen[:1], *table._later])
        agent.restart(KUHN, seat, np.random.default_rng(0))
        wanted = learner.step(step, is_evaluation=True).action
        strategy = agent.strategy(feed.public(), np.array([hole]))
        assert strategy.probability(table.total(wanted))[0] == 1.0


def test_the_file_is_part_of_the_spec(folder):
    spec = parse_spec("openspiel:some/guest.py:uniform?tilt=1")
    assert (spec.name, spec.argument, spec.file) == ("openspiel", "some/guest.py:uniform", "some/guest.py")
    assert spec.title == "openspiel:guest.py:uniform?tilt=1" and spec.is_foreign and not spec.is_stored
    assert relocate_spec(spec.text, folder) == f"openspiel:{folder}/some/guest.py:uniform?tilt=1"
    assert parse_spec("openspiel:cfr").file == "" == parse_spec("tag").file
    assert unique_names([spec.text, "openspiel:guest.py:uniform?tilt=1"])[1] == f"{spec.title}#2"
    assert str(agent_file("openspiel:guest.py:uniform")) == "guest.py"
    before = agent_digest("openspiel:guest.py:uniform")
    (folder / "guest.py").write_text(FILE + "\n")
    assert before and agent_digest("openspiel:guest.py:uniform") not in (before, "")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("guest.py", "write openspiel:guest.py:NAME"),
        ("guest.py:", "write openspiel:guest.py:NAME"),
        ("gest.py:uniform", r"no file 'gest.py', did you mean 'guest.py'\?"),
        ("guest.py:uniforn", r"no class 'uniforn', did you mean 'uniform'\?"),
        ("guest.py:number", "'number' in guest.py is not a class"),
        ("guest.py:uniform?tlt=1", r"takes the options tilt, got tlt, did you mean 'tilt'\?"),
        ("guest.py:caller?tilt=1", "takes no options, got tilt"),
        ("guest.py:no_game", "has to take the argument game"),
        ("guest.py:uniform?game=chess", "unknown game 'chess'"),
        ("guest.py:uniform?game=universal_poker(bettingAbstraction=fullgame)", "a menu of raises"),
    ],
)
def test_specs_are_refused_early(folder, spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(f"openspiel:{spec}")


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("uniform", HUNL, "a menu of raises"),
        ("native", KUHN, "other rules than the table"),
        ("uniform?game=leduc_poker", KUHN, "other rules than the table"),
        ("three", LEDUC, "one learner, or one for each of 2 seats, got 3"),
        ("bot", LEDUC, r"return a policy, a learner or a list of learners of OpenSpiel, got .*Bot"),
        ("nothing", LEDUC, "got NoneType"),
        ("raises", LEDUC, r"cannot be built: KeyError: 'no values' \(guest.py, line 22\)"),
    ],
)
def test_the_rest_is_refused_at_the_table(folder, name, rules, message):
    agent = make_agent(f"openspiel:guest.py:{name}")
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            agent.restart(rules, 0, np.random.default_rng(0))


@pytest.mark.slow
def test_a_policy_from_a_file_sits_at_a_tournament(folder):
    """In its own process, from another folder, with the file's folder in its sandbox."""
    (folder / "else").mkdir()
    (folder / "else" / "data.txt").write_text("1")
    (folder / "else" / "reader.py").write_text(
        "import pathlib\nfrom open_spiel.python import policy\n\ndef made(game):\n"
        "    assert pathlib.Path(__file__).with_name('data.txt').read_text() == '1'\n"
        "    return policy.UniformRandomPolicy(game)\n"
    )
    result = run_tournament(["openspiel:else/reader.py:made", "call"], game="leduc_poker", decks=1, workers=1)
    assert result is not None and result["openspiel:reader.py:made"].faults == 0
    with pytest.raises(ValueError, match="KeyError: 'no values'"):
        run_tournament(["openspiel:guest.py:raises", "call"], game="leduc_poker", decks=1, workers=1)
