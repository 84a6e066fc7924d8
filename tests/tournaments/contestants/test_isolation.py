"""Which stand-in an agent gets."""

import sys

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
