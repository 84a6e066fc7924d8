"""How many processes agents from outside have, and who shares one."""

import contextlib
from collections import Counter

import pytest

from plurispiel.tournaments.contestants.supervisor import Contestant
from plurispiel.tournaments.run import processes
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct, Job
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import make_blocks, make_lineups
from plurispiel.tournaments.run.store import RunStore

BOT = """
from plurispiel.agents import CALL, Agent

class Bot(Agent):
    def act(self, view):
        return CALL
"""


BELIEVED = ("bot.py:Bot",)


@pytest.mark.parametrize(
    "format, agents, process, believe",
    [
        pytest.param("lineup-5v1", "Bc", "rotation", (), marks=pytest.mark.slow),  # 15 processes
        pytest.param("lineup-5v1", "Bc", "one", BELIEVED, marks=pytest.mark.slow),
        ("lineup-1v5", "cB", "one", ()),
        pytest.param("lineup", "BBc", "rotation", BELIEVED, marks=pytest.mark.slow),
        pytest.param("round-robin", "BBcc", "rotation", (), marks=pytest.mark.slow),
    ],
)
def test_the_processes_of_an_agent_are_as_many_as_announced(tmp_path, format, agents, process, believe):
    (tmp_path / "bot.py").write_text(BOT)
    specs = tuple({"B": f"{tmp_path}/bot.py:Bot", "c": "call"}[letter] for letter in agents)
    config = TournamentConfig(agents=specs, seats=3, format=format, decks=1, believe=believe, referee="none")
    conduct = Conduct(processes=process)
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        player = BlockPlayer(config, conduct, store.streams())
        for block in make_blocks(config, len(make_lineups(config)), ()):
            player.play(Job(block, frozenset()))
    found = player.processes()
    assert Counter(place.number for place, _ in found) == processes.processes_by_agent(config, conduct)
    places = [place for place, agent in found if isinstance(agent, Contestant)]
    if format == "lineup-5v1" and process == "rotation":
        assert sum(place.is_control for place in places) == 9 and len(places) == 15
    assert len({agent.pid for _, agent in found if isinstance(agent, Contestant)}) == len(places)
    player.close()


def test_too_many_processes_are_said_to_be(tmp_path, monkeypatch):
    (tmp_path / "bot.py").write_text(BOT)
    config = TournamentConfig(agents=(f"{tmp_path}/bot.py:Bot",) * 6)
    assert processes.processes_by_agent(config, Conduct(workers=2)) == dict.fromkeys(range(6), 12)
    monkeypatch.setattr(processes, "available_bytes", lambda: 100 * 72 * (60 << 20))
    assert processes.process_notes(config, Conduct(workers=2)) == [
        "processes: bot.py:Bot 12, bot.py:Bot#2 12, bot.py:Bot#3 12, bot.py:Bot#4 12, bot.py:Bot#5 12, bot.py:Bot#6 12"
    ]
    monkeypatch.setattr(processes, "available_bytes", lambda: 1.9 * 72 * (60 << 20))
    (_, warning) = processes.process_notes(config, Conduct(workers=2))
    assert "--workers 1" in warning and "--decks once" in warning and "--processes one" in warning
    assert processes.process_notes(TournamentConfig(agents=("call", "tag")), Conduct(workers=2)) == []
