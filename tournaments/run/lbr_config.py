"""The settings of a run of local best response, and how it is played."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from plurispiel.abstraction.holdem.openspiel import game_string, parse_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.factory import game_note
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.local_best_response import MENUS, Prober
from plurispiel.evaluation.streams import Keyed, Seeded, Source
from plurispiel.tournaments.contestants.isolation import Isolation
from plurispiel.tournaments.run.config import DEALS, DEFAULT_SEED, package_digest
from plurispiel.tournaments.run.run_key import RunKey

__all__ = ["LbrConduct", "LbrConfig"]

PROCESSES = ("rotation", "one")


@dataclass(frozen=True)
class LbrConfig:
    """Settings of a run of local best response.

    Attributes
    ----------
    agent : str
        Spec of the measured agent.
    menu : str
        A name of `MENUS`.
    game : str
        A preset or an OpenSpiel game string with two seats.
    seed : int or None
        Seed of the decks and of all random choices. None is `DEFAULT_SEED` for an agent of this package; with an agent
        from outside, None makes the run draw a secret key instead.
    aivat : bool
        Whether payoffs are also corrected by AIVAT.
    deals : {"shared", "once"}
        ``shared``: all hands of a group are dealt the same deck. ``once``: each hand has its own deck.

    Raises
    ------
    ValueError
        If there is no such menu or game, or a setting is not allowed.
    """

    agent: str
    menu: str = "fcpa"
    game: str = "HUNL"
    seed: int | None = None
    aivat: bool = False
    deals: str = "shared"

    def __post_init__(self):
        if not self.is_outside and self.seed is None:
            object.__setattr__(self, "seed", DEFAULT_SEED)
        if self.menu not in MENUS:
            raise ValueError(f"the menu is one of {', '.join(MENUS)}, got {self.menu!r}")
        if self.rules.num_seats != 2:
            raise ValueError(f"local best response plays heads-up, and {self.game} has {self.rules.num_seats} seats")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"the seed must not be negative, got {self.seed}")
        if self.deals not in DEALS:
            raise ValueError(f"deals are one of {', '.join(DEALS)}, got {self.deals!r}")

    @property
    def is_outside(self) -> bool:
        """Whether the agent is from outside this package."""
        return parse_spec(self.agent).is_foreign

    @property
    def rules(self) -> HoldemRules:
        """The rules of the game."""
        return parse_game(self.game)

    @property
    def note(self) -> str:
        """Notes, in words, on how the agent plays the game (`game_note`); may be empty."""
        return game_note(self.agent, self.rules)

    def record(self) -> dict[str, Any]:
        """Return everything that decides the result of a group, as plain values."""
        return {
            "agent": parse_spec(self.agent).title,
            "menu": self.menu,
            "game": game_string(self.rules),
            "seed": self.seed,
            "aivat": self.aivat,
            "deals": self.deals,
            "source": agent_digest(self.agent),
            "package": package_digest(),
        }

    @property
    def digest(self) -> str:
        """A hash of `record`: 12 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.record(), sort_keys=True).encode()).hexdigest()[:12]

    def source(self, key: RunKey | None) -> Source:
        """Return the origin of the decks and of all random choices; only a run without a seed needs its `key`."""
        if self.seed is None:
            assert key is not None
            return Keyed(key.keys)
        return Keyed(((0, self.seed),)) if self.is_outside else Seeded(self.seed)


@dataclass(frozen=True)
class LbrConduct:
    """How a run is played. No field changes the results, unless the agent remembers hands, or depends on time or files.

    Attributes
    ----------
    workers : int
        The number of worker processes. With 0 or 1, this process plays the hands. In any case an agent from outside has
        processes of its own.
    isolation : Isolation
        How the processes of an agent from outside run.
    processes : {"rotation", "one"}
        How many processes of an outside agent play hands in each worker. ``rotation``: one for each hand of a group, so
        that no process sees a deck twice. ``one``: one for all hands, for agents that are trusted to forget, or if no
        deck is dealt twice. Each worker has one further process of the agent, which reports the agent's strategy and
        never sees hole cards.

    Raises
    ------
    ValueError
        If `processes` is neither of these texts.
    """

    workers: int = 1
    isolation: Isolation = Isolation()
    processes: str = "rotation"

    def __post_init__(self):
        if self.processes not in PROCESSES:
            raise ValueError(f"processes must be one of {', '.join(PROCESSES)}, got {self.processes!r}")

    @property
    def num_players(self) -> int:
        """The number of processes with which an outside agent plays hands in each worker."""
        return Prober.hands_per_group if self.processes == "rotation" else 1

    @property
    def num_processes(self) -> int:
        """The largest number of processes of an outside agent in all workers: those that play and those that report."""
        return max(self.workers, 1) * (self.num_players + 1)
