import contextlib

from played_run import play

from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.agents.factory import make_agent
from plurispiel.tournaments.run import block_player
from plurispiel.tournaments.run.results import make_results
from plurispiel.tournaments.run.store import RunStore


class Told(CallAgent):
    """Tells that a blueprint took every other decision, and networks the rest."""

    def __init__(self):
        self.taken = 0

    @property
    def origins(self):
        return {"blueprint": (self.taken + 1) // 2, "solver": 0, "nets": self.taken // 2}

    @property
    def clamped(self):
        return 3 * self.taken

    def act(self, view):
        self.taken += 1
        return super().act(view)


def test_decisions_are_counted_by_their_origin(tmp_path, monkeypatch):
    """In all blocks together, also after an extension; null for agents that do not tell."""
    made = []

    def make(spec):
        agent = make_agent(spec) if spec == "tag" else Told()
        made.append(agent)
        return agent

    monkeypatch.setattr(block_player, "make_agent", make)
    play(tmp_path, agents=("call", "tag"), seats=2, decks=70, format="gauntlet", score="raw", keep="none")
    play(tmp_path, agents=("call", "tag"), seats=2, decks=90, format="gauntlet", score="raw", keep="none")
    with contextlib.closing(RunStore.reading(tmp_path)) as store:
        told, other = make_results(store.config, store)["agents"]
    total = sum(agent.taken for agent in made if isinstance(agent, Told))
    assert told["decisions"]["solver"] == 0 and sum(told["decisions"].values()) == total > 300
    assert told["decisions"]["blueprint"] - told["decisions"]["nets"] in (0, 1, 2)
    assert told["clamped"] == 3 * total
    assert other["decisions"] is None and other["clamped"] == 0
