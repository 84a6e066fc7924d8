"""The settings of a league, fixed at its creation: the game, the cards, the score and the isolation of agents."""

import dataclasses
import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.settings import make_record, read_settings
from plurispiel.agents.specs import parse_spec, unique_names
from plurispiel.tournaments.league.entries import Entry
from plurispiel.tournaments.run.config import DEFAULT_SEED, TournamentConfig
from plurispiel.tournaments.run.schedule import BLOCK_DECKS
from plurispiel.tournaments.run.tournament_run import RunOptions

_OWN = ("placement", "isolate", "processes", "sandbox", "agent_network")
"""The settings that `TournamentConfig` lacks: the first decks of a pairing, and the isolation of agents."""


@dataclass(frozen=True)
class LeagueConfig:
    """Settings of a league, with the defaults of the command line.

    Attributes
    ----------
    game : str
        A preset's name or an OpenSpiel game string, with two seats; by default HUNL.
    seed : int or None
        The seed from which the seed of each pairing derives. None stands for `DEFAULT_SEED` in pairings of this
        package's agents, and for a secret key of its own in each pairing with an agent from outside.
    placement : int
        Decks that two entries play before `allocation` chooses pairings. Two neighbours can count as separated only
        if each pairing that contains one of them has `statistics.MIN_SEQUENTIAL_SAMPLES` groups or more.
    deals, referee, on_fault, score, values, max_faults, time_limit, memory_limit
        See `TournamentConfig`. An empty `values` is replaced by the default when the league is created, so that bucket
        tables that are built later do not change the value function.
    isolate, processes, sandbox, agent_network
        See `RunOptions`. An empty text for `processes` stands for the default of `RunOptions`.

    Raises
    ------
    ValueError
        If a setting is not allowed.
    """

    game: str = "HUNL"
    seed: int | None = None
    placement: int = 13 * BLOCK_DECKS
    deals: str = ""
    referee: str = "universal_poker"
    on_fault: str = "forfeit"
    score: str = ""
    values: str = ""
    max_faults: int = 20
    time_limit: float = 30.0
    memory_limit: int = 2048
    isolate: str = "foreign"
    processes: str = ""
    sandbox: str = "auto"
    agent_network: bool = False

    def __post_init__(self):
        if type(self.placement) is not int or self.placement < 2:
            raise ValueError(f"placement must be a whole number of decks, at least 2, got {self.placement!r}")
        if type(self.agent_network) is not bool:
            raise ValueError(f"agent_network must be true or false, got {self.agent_network!r}")
        if not all(isinstance(text, str) for text in (self.game, self.isolate, self.processes, self.sandbox)):
            raise ValueError("game, isolate, processes and sandbox must be texts")
        self.options()
        if not self.game:
            raise ValueError("a league needs a game; leave the setting game out for the default, HUNL")
        filled = TournamentConfig(**self._settings(), agents=("call", "fold"), seed=self.seed, decks=1)
        object.__setattr__(self, "values", filled.values)

    def pairing(self, entries: tuple[Entry, Entry], decks: int, *, part: int = 1) -> dict[str, Any]:
        """Return the settings of one part of a pairing as arguments of `TournamentConfig`; a part is a tournament.

        Parameters
        ----------
        entries : (Entry, Entry)
            The two entries, the older one first.
        decks : int
            The number of decks of the part.
        part : int
            The number of the part, from 1. Every part has decks of its own.
        """
        specs = tuple(entry.spec for entry in entries)
        is_secret = self.seed is None and any(parse_spec(spec).is_foreign for spec in specs)
        names = unique_names(list(specs))
        believe = tuple(name for name, entry in zip(names, entries, strict=True) if entry.believe)
        settings = self._settings() | {"agents": specs, "decks": decks, "believe": believe}
        return settings | {"seed": None if is_secret else self._pairing_seed(entries, part)}

    def options(self, **others: Any) -> RunOptions:
        """Return the isolation of a pairing's agents, with further arguments of `RunOptions`."""
        return RunOptions(
            isolate=self.isolate,
            processes=self.processes or None,
            sandbox=self.sandbox,
            agent_network=self.agent_network,
            **others,
        )

    @functools.cached_property
    def rules(self) -> HoldemRules:
        """The rules of the game."""
        return parse_game(self.game)

    @functools.cached_property
    def public_seed(self) -> int:
        """The seed of bootstrap intervals; the cards of pairings without a secret key derive from it, too."""
        return DEFAULT_SEED if self.seed is None else self.seed

    def to_toml(self) -> str:
        """Return the settings as TOML for `read_league_config`."""
        settings = {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
        text = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in settings.items())
        return text.replace("\x7f", "\\u007f")

    def _settings(self) -> dict[str, Any]:
        """Return the settings that all tournaments of the league share."""
        settings = {name: value for name, value in dataclasses.asdict(self).items() if name not in _OWN}
        del settings["seed"]
        return settings | {"seats": 2, "format": "lineup"}

    def _pairing_seed(self, entries: tuple[Entry, Entry], part: int) -> int:
        """Return the seed of a part of a pairing; every part has its own decks, as intervals assume independence."""
        text = " ".join((str(self.public_seed), *(entry.digest for entry in entries))) + f" {part}" * (part > 1)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


def read_league_config(path: Path) -> LeagueConfig:
    """Return the settings of a league from its TOML file.

    Raises
    ------
    ValueError
        If the file cannot be read, or a setting is unknown or not allowed; the message begins with the path.
    """
    settings = read_settings(path)
    try:
        return make_record(LeagueConfig, settings, "a league")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
