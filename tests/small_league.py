"""A league that tests play within moments: few decks of Leduc poker, no AIVAT and no referee."""

from plurispiel.tournaments.league.config import LeagueConfig
from plurispiel.tournaments.league.folder import League, create_league
from plurispiel.tournaments.league.player import LeaguePlayer, PlayLimits

SETTINGS = {"game": "leduc_poker", "placement": 8, "score": "duplicate", "referee": "none", "processes": "one"}

BOT = """
from plurispiel.agents.base import Agent

class Bot(Agent):
    def act(self, view):
        return {action}
"""


def small_league(folder, *specs, **settings) -> League:
    """Begin a league with some agents."""
    league = create_league(folder, LeagueConfig(**SETTINGS | settings))
    for spec in specs:
        league.add(spec, print, print)
    return league


def play_on(league, *, clock=None, **limits) -> list[str]:
    """Play a league in this process, and return what is said."""
    said: list[str] = []
    options = {} if clock is None else {"clock": clock}
    with league.playing():
        LeaguePlayer(league, PlayLimits(**limits), 1, said.append, said.append, **options).play(progress=False)
    return said


def groups_of(league):
    """Return the number of groups of each pairing that was played, by the names of its entries."""
    entries = league.entries
    pairs = [(one, other) for k, other in enumerate(entries) for one in entries[:k]]
    found = {(one.name, other.name): league.pairing(one, other) for one, other in pairs}
    return {pair: pairing.groups for pair, pairing in found.items() if pairing}
