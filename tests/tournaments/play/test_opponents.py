import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents.baselines.simple import FoldAgent
from plurispiel.evaluation.hand import Fault
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.supervisor import Contestant
from plurispiel.tournaments.play.opponents import MAX_FAULTS, Opponents, with_opponents


def test_agents_fill_the_table_in_turn():
    assert with_opponents(SIXMAX, ["a", "b"]) == ["a", "b", "a", "b", "a"]
    with pytest.raises(ValueError, match="2 agents and you need 3 seats, and this game has 2"):
        with_opponents(HUNL, ["a", "b"])


def test_agents_from_outside_have_processes_which_end_with_the_table(tmp_path):
    (tmp_path / "bot.py").write_text(
        "from plurispiel.agents import Agent\n\n\nclass Bot(Agent):\n    def act(self, view):\n        return 1\n"
    )
    spec = f"{tmp_path / 'bot.py'}:Bot"
    with Opponents(["call", spec], Limits(), None, tmp_path / "agents.txt") as opponents:
        contestant = opponents.agents[1]
        assert opponents.are_trusted == (True, False)
        assert isinstance(contestant, Contestant) and contestant.pid
        faults = [(1, Fault(0, "exception", "x"))]
        assert [opponents.count(faults) for _ in range(MAX_FAULTS)] == [[]] * (MAX_FAULTS - 1) + [[1]]
        assert isinstance(opponents.agents[1], FoldAgent) and contestant.pid is None
    with pytest.raises(ValueError, match="has no class 'None'"):
        Opponents([spec, f"{tmp_path / 'bot.py'}:None"], Limits(), None, tmp_path / "agents.txt")
