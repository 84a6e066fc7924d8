import dataclasses
import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import PublicState
from plurispiel.agents.continual import ContinualConfig, continual_strategy
from plurispiel.agents.continual.agent import SmallGameAgent
from plurispiel.agents.continual.table import TableAgent
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.compliance import check_agent
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

LIMIT = dataclasses.replace(
    HUNL, betting="limit", stacks=None, raise_sizes=(100, 100, 200, 200), betting_abstraction="fcpa"
)


def test_the_agent_plays_what_is_measured():
    tree = flatten("leduc_poker")
    expected, counts = continual_strategy(tree, ContinualConfig(iterations=20, purge=0.05))
    agent = make_agent("continual?iterations=20&purge=0.05")
    np.testing.assert_allclose(strategy_from_agent(tree, agent), expected, atol=1e-9)
    assert agent.counts == counts


def test_compliance():
    found = check_agent(lambda: make_agent("continual?iterations=10"), [LEDUC, KUHN], num_hands=6, num_decks=2)
    assert not found.violations and found.tells_range


def test_specs():
    assert not parse_spec("continual?iterations=3").is_foreign
    with pytest.raises(ValueError, match="takes no argument"):
        make_agent("continual:somewhere")
    with pytest.raises(ValueError, match="did you mean 'purge'"):
        make_agent("continual?purg=0.1")


@pytest.mark.parametrize(
    ("spec", "rules", "message"),
    [
        (
            "continual?threads=0",
            SIXMAX,
            "heads-up no-limit hold'em, and two-seat games of one or two streets, got a no-l",
        ),
        ("continual", LIMIT, "got a limit game of 2 seats"),
        (
            "continual",
            dataclasses.replace(LEDUC, board_cards=(1, 1)),
            "without board cards on the first street, got 1 hole cards and 1 board cards",
        ),
        ("continual", dataclasses.replace(LEDUC, num_hole_cards=3, num_ranks=4), "got 3 hole cards and 0 board cards"),
        ("continual?noise=0.1", HUNL, "these options of continual are for small games; with 4 streets the options are"),
        (
            "continual?time=1",
            LEDUC,
            "these options of continual are for hold'em; with 2 streets the options are iterations, v",
        ),
    ],
)
def test_games_and_options_that_do_not_fit(spec, rules, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec).restart(rules, 0, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("time=1&noise=0.1", "time is an option in hold'em, and noise in small games"),
        ("time=fast", "time is a number, got 'fast'"),
        ("iterations=1", "iterations must be 2 to 1,000,000"),
        ("iterations=10&time=1", "give iterations or time, not both"),
        ("thread=1", "did you mean 'threads'"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        make_agent(f"continual?{options}")


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ("continual,call,tag", "got a no-limit game of 3 seats and 4 streets"),
        ("continual?time=0.2,call", "time is 1 (with nets 0.3) to 3600 seconds, got 0.2"),
    ],
)
def test_commands_refuse_in_one_line(tmp_path, capsys, agents, message):
    assert main(["tournament", "--agents", agents, "--decks", "1", "--out", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_one_agent_for_both_kinds_of_games():
    agent = make_agent("continual?iterations=10")
    assert agent.is_deterministic and not make_agent("continual?time=1").is_deterministic
    for rules, kind in ((LEDUC, SmallGameAgent), (HUNL, TableAgent), (KUHN, SmallGameAgent)):
        agent.restart(rules, 0, np.random.default_rng(1))
        assert isinstance(agent.agent, kind) and agent.agent.config.iterations == 10
    public = PublicState(KUHN, BettingState(KUHN).array.tolist())
    assert agent.explain(public) == "solved by 10 iterations, 2 actions on offer; no bounds carried to the decision"
