"""Which stand-in an agent gets."""

import json
import sys

import pytest

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants.acpc_bot import AcpcBot
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import Isolation, isolate, split_agents
from plurispiel.tournaments.contestants.line_bot import LineBot
from plurispiel.tournaments.contestants.pokerbots_bot import PokerbotsBot
from plurispiel.tournaments.contestants.supervisor import Contestant


def test_the_stand_in_depends_on_the_spec():
    assert type(isolate("my_bot.py:Bot", Limits())) is Contestant
    assert type(isolate(f"stdio:{sys.executable}", Limits())) is LineBot
    assert type(isolate("acpc:./bot", Limits())) is AcpcBot
    assert type(isolate("pokerbots:bots/mine", Limits())) is PokerbotsBot


def test_only_programs_of_the_line_protocol_are_split():
    assert split_agents(f"stdio:{sys.executable} bot.py", Isolation())[0].name.endswith("bot.py")
    assert type(split_agents(f"acpc:{sys.executable} bot.py", Isolation())[0]) is AcpcBot


LIGHT = """
import sys
from plurispiel.agents import CALL, FOLD, Agent
from plurispiel.abstraction.holdem import cards_text

class Bot(Agent):
    def act(self, view):
        public = view.public
        assert cards_text(view.hole_cards) and public.position and public.to_call >= 0
        assert not {"numba", "llvmlite"} & set(sys.modules)
        return public.raise_by_pot(1.0) if view.hole_cards[0] % 3 else FOLD if public.can_fold else CALL
"""
LOOKS_AHEAD = LIGHT.replace("not {", "{").replace("return", "public.betting().apply(CALL)\n        return")


@pytest.mark.parametrize("text", [LIGHT, LOOKS_AHEAD], ids=["simple", "looks ahead"])
def test_the_process_of_a_simple_agent_needs_no_compiler(tmp_path, capsys, text):
    """numba would double the time to start the process; other agents have it before their first answer."""
    (tmp_path / "bot.py").write_text(text)
    out = ["--out", str(tmp_path / "run"), "--score", "raw", "--workers", "1", "--json"]
    assert main(["tournament", "--agents", f"{tmp_path}/bot.py:Bot,tag", "--decks", "8", *out]) == 0
    assert [agent["faults"] for agent in json.loads(capsys.readouterr().out)["agents"]] == [0, 0]
