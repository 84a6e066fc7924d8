"""The settings of a tournament, from keyword arguments or a TOML file: checked and completed."""

import dataclasses
import functools
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel import __version__
from plurispiel.abstraction.holdem.openspiel import game_string, parse_game
from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules, no_limit_holdem
from plurispiel.abstraction.machine.settings import read_settings
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.specs import parse_spec, relocate_spec, unique_names
from plurispiel.evaluation.value_choice import choose_values
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.run.default_tournament import DEFAULT_AGENTS
from plurispiel.tournaments.run.stop_rule import StopRule, parse_stop_rule

FORMATS = ("round-robin", "gauntlet", "lineup", "lineup-1v5", "lineup-5v1")
SCORES = ("raw", "duplicate", "aivat", "aivat_duplicate", "aivat_zero_sum")
REFEREES = ("universal_poker", "none")
ON_FAULT = ("forfeit", "repair", "abort")
DEALS = ("shared", "once")
PACKAGE_CODE = "the package's code"
"""The name of `package_digest` in `TournamentConfig.code`."""
DEFAULT_SEED = 1
DEFAULT_DECKS = 500
_CROWD = 10  # by default, up to this number of agents have one seat each; also the largest number of seats
_CROWD_SEATS = 6  # default number of seats for more agents


@dataclass(frozen=True)
class TournamentConfig:
    """Settings of a tournament.

    The defaults are those of a command line that chooses agents or a table; for other command lines see
    `default_tournament`. If a setting's default is an empty text or 0, the text below tells what this default means. On
    construction the defaults of `seats`, `format`, `seed`, `deals` and `values` are filled in.

    Attributes
    ----------
    agents : tuple of str
        The specs of the agents; an agent's number is its index here.
    game : str
        A preset's name or an OpenSpiel game string; by default HUNL (200 big blinds) for two seats, and
        no-limit hold'em with blinds 50/100 and 100 big blinds for more.
    seats : int
        Seats at a table. By default the game's; without a game, one for each agent, or six for more than ten agents and
        for the formats ``lineup-1v5`` and ``lineup-5v1``.
    format : {"round-robin", "gauntlet", "lineup", "lineup-1v5", "lineup-5v1"}
        ``round-robin``: all line-ups of different agents. ``gauntlet``: the first agent against the others. ``lineup``:
        one table of all agents. ``lineup-1v5``: the first of two agents among copies of the second. ``lineup-5v1``: the
        second among copies of the first. There every hand is played again with a further copy, the Control, in the
        second agent's seat; the second agent's score is the difference from the Control's. By default ``lineup`` if
        there are as many agents as seats, else ``round-robin``.
    copies : bool
        Gauntlet only: the first agent against copies of one other agent at a time. This is also the rule if the other
        agents are too few for a table.
    lineups : int
        Largest number of line-ups, by default 100. If the format has more, this number is drawn at random. Gauntlets
        with copies have no limit.
    decks : int
        Decks for each line-up; each is played in every seat rotation.
    seed : int or None
        Seed of all cards and random choices. None is `DEFAULT_SEED` if all agents are of this package. With an outside
        agent, None makes the run draw a secret key instead (`run.run_key`).
    deals : {"shared", "once"}
        ``shared``: all rotations of a group are dealt the same deck. ``once``: each rotation has its own deck. The
        default is ``shared``; `RunOptions` tells which runs with outside agents take ``once`` instead.
    believe : tuple of str
        Outside agents, by name or spec. Each one's reported strategy corrects its own scores ``aivat`` and
        ``aivat_duplicate``.
    referee : {"universal_poker", "none"}
        Engine in which every hand is replayed and checked; ``none`` for no check.
    on_fault : {"forfeit", "repair", "abort"}
        Penalty for a fault. ``forfeit``: the agent checks or folds for the rest of the hand. ``repair``: an illegal
        action becomes the nearest legal action, and an exception becomes a check or fold; after other faults the agent
        forfeits the hand. ``abort``: the run ends.
    score : {"raw", "duplicate", "aivat", "aivat_duplicate", "aivat_zero_sum"}
        The score that ranks the agents. By default ``aivat_zero_sum``; ``duplicate`` if AIVAT could score no agent.
        AIVAT is computed unless the score is ``raw`` or ``duplicate``.
    values : str
        Value estimates of AIVAT: ``checkdown``, ``blueprint`` (the blueprint bundled for this game) or
        ``blueprint:NAME`` (or a folder). By default ``blueprint`` if there is one that needs no bucket table or whose
        bucket table has been built, else ``checkdown``. Empty if the score needs no AIVAT.
    stop_when : str
        ``ci<=X``: stop when every agent's interval is within X mbb/hand of its mean; ``significant``: when no interval
        contains 0. Intervals are anytime-valid, with groups as samples, and are computed after whole blocks of decks.
        Only the agents in `measured` count. Empty: play all decks.
    max_faults : int
        Number of faults after which an agent's seat only folds.
    time_limit : float
        Seconds for each answer of an agent in its own process.
    memory_limit : int
        MiB of memory for an agent in its own process (`Limits`).

    Raises
    ------
    ValueError
        If a setting is not allowed, or settings contradict each other.
    """

    agents: tuple[str, ...] = DEFAULT_AGENTS
    game: str = ""
    seats: int = 0
    format: str = ""
    copies: bool = False
    lineups: int = 0
    decks: int = DEFAULT_DECKS
    seed: int | None = None
    deals: str = ""
    believe: tuple[str, ...] = ()
    referee: str = "universal_poker"
    on_fault: str = "forfeit"
    score: str = ""
    values: str = ""
    stop_when: str = ""
    max_faults: int = 20
    time_limit: float = 30.0
    memory_limit: int = 2048

    def __post_init__(self):
        for name in ("agents", "believe"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        if type(self.time_limit) is int:
            object.__setattr__(self, "time_limit", float(self.time_limit))
        _check_types(self)
        if not self.agents:
            raise ValueError("a tournament needs agents, got none; give their specs as the option agents")
        for spec in self.agents:
            parse_spec(spec)
        if self.decks < 1:
            raise ValueError(f"decks must be at least 1, got {self.decks}")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"the seed must not be negative, got {self.seed}")
        if self.lineups < 0:
            raise ValueError(f"lineups must not be negative, got {self.lineups}")
        if self.deals not in ("", *DEALS):
            raise ValueError(f"deals are one of {', '.join(DEALS)}, got {self.deals!r}")
        if self.referee not in REFEREES:
            raise ValueError(f"the referee is one of {', '.join(REFEREES)}, got {self.referee!r}")
        if self.on_fault not in ON_FAULT:
            raise ValueError(f"on_fault is one of {', '.join(ON_FAULT)}, got {self.on_fault!r}")
        if self.score not in ("", *SCORES):
            raise ValueError(f"the score is one of {', '.join(SCORES)}, got {self.score!r}")
        if self.stop_when:
            parse_stop_rule(self.stop_when)
        if self.max_faults < 1:
            raise ValueError(f"max_faults must be at least 1, got {self.max_faults}")
        Limits(self.time_limit, self.memory_limit)  # checks both
        if self.format not in ("", *FORMATS):
            raise ValueError(f"the format is one of {', '.join(FORMATS)}, got {self.format!r}")
        _fill(self)
        if self.copies and self.format != "gauntlet":
            raise ValueError(f"copies belong to the gauntlet format, got format {self.format!r}")
        _check_contestants(self)

    @functools.cached_property
    def rules(self) -> HoldemRules:
        """The rules of the game."""
        return parse_game(self.game) if self.game else default_rules(self.seats)

    @functools.cached_property
    def outsiders(self) -> frozenset[int]:
        """The numbers of the agents from outside this package."""
        return frozenset(number for number, spec in enumerate(self.agents) if parse_spec(spec).is_foreign)

    @property
    def draws_key(self) -> bool:
        """Whether the run draws a secret key in place of a seed."""
        return self.seed is None

    @property
    def public_seed(self) -> int:
        """The seed of random choices that reveal no cards: drawn line-ups, bootstrap intervals."""
        return DEFAULT_SEED if self.seed is None else self.seed

    @functools.cached_property
    def believed(self) -> frozenset[int]:
        """The numbers of the outside agents whose reported strategies correct their own scores (`believe`)."""
        return frozenset(n for n in self.outsiders if {self.names[n], self.agents[n]} & {*self.believe})

    @property
    def uses_aivat(self) -> bool:
        """Whether AIVAT corrects hands for luck."""
        return self.score not in ("raw", "duplicate")

    @property
    def controlled(self) -> int | None:
        """The number of the agent whose hands the Control plays again; None for formats without a Control."""
        return 1 if self.format == "lineup-5v1" else None

    @property
    def stop_rule(self) -> StopRule | None:
        """The rule that may stop the run before its last deck."""
        return parse_stop_rule(self.stop_when) if self.stop_when else None

    @property
    def measured(self) -> list[int]:
        """The numbers of the agents that the tournament measures: one agent in some formats, else all agents.

        ``gauntlet`` and ``lineup-1v5`` measure the first agent, ``lineup-5v1`` measures the second.
        """
        one = {"gauntlet": 0, "lineup-1v5": 0, "lineup-5v1": 1}.get(self.format)
        return list(range(len(self.agents))) if one is None else [one]

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each agent in the results (`unique_names`)."""
        return tuple(unique_names(list(self.agents)))

    @functools.cached_property
    def sources(self) -> dict[str, str]:
        """Hash of the file or stored strategy of each agent and of the values, by spec; empty if a spec has neither."""
        return {spec: agent_digest(spec) for spec in {*self.agents, *filter(None, [self.values])}}

    @property
    def code(self) -> dict[str, str]:
        """Hashes of the code and the strategies that decide results, by a name for messages."""
        known = {f"the file of {parse_spec(spec).title}": digest for spec, digest in self.sources.items() if digest}
        return {PACKAGE_CODE: package_digest(), **dict(sorted(known.items()))}

    def differences(self, begun: "TournamentConfig") -> list[str]:
        """Return in words each difference from the settings of the `begun` run that changes the results of groups."""
        pairs = {
            field.name: (getattr(begun, field.name), getattr(self, field.name)) for field in dataclasses.fields(self)
        }
        del pairs["decks"], pairs["stop_when"]
        pairs["game"] = (game_string(begun.rules), game_string(self.rules))
        pairs["agents"] = (",".join(begun.names), ",".join(self.names))
        if begun.uses_aivat == self.uses_aivat:
            del pairs["score"]
        titles = [parse_spec(config.values).title if config.values else "none" for config in (begun, self)]
        pairs["values"] = (titles[0], titles[1])
        return [f"{name} was {old}, and is {new} now" for name, (old, new) in pairs.items() if old != new]

    @functools.cached_property
    def digest(self) -> str:
        """Hash of everything that decides the scores of a group; a run is resumed only with the same digest."""
        settings = dataclasses.asdict(self) | {"game": game_string(self.rules), "agents": self.names}
        # The number of decks, the stop rule and the choice among scores with AIVAT may change when a run is resumed.
        settings |= {"decks": 0, "stop_when": "", "score": self.uses_aivat}
        settings["values"] = parse_spec(self.values).title if self.values else ""
        settings["sources"] = [self.sources[spec] for spec in (*self.agents, *filter(None, [self.values]))]
        settings["believe"] = sorted(self.believed)
        settings["package"] = package_digest()
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]

    def to_toml(self) -> str:
        """Return the settings as TOML for `read_config`, with absolute paths, so that the file can be moved."""
        settings = dataclasses.asdict(self)
        settings["agents"] = [relocate_spec(spec, Path.cwd()) for spec in self.agents]
        settings["believe"] = [self.names[number] for number in sorted(self.believed)]
        settings["values"] = relocate_spec(self.values, Path.cwd()) if self.values else ""
        lines = []
        for field in dataclasses.fields(self):
            if settings[field.name] is None:
                continue  # TOML has no null
            text = json.dumps(settings[field.name], ensure_ascii=False)  # TOML allows no escaped surrogates
            lines.append(f"{field.name} = {text}")
        return "\n".join(lines).replace("\x7f", "\\u007f") + "\n"


def read_config(path: Path) -> dict[str, Any]:
    """Return the settings in a TOML file, as keyword arguments of `TournamentConfig`.

    Paths of agents and values are relative to the folder of the settings file.

    Raises
    ------
    ValueError
        If the file cannot be read, is not TOML, or holds an unknown setting.
    """
    settings = read_settings(path)
    known = [field.name for field in dataclasses.fields(TournamentConfig)]
    for key in settings:
        if key not in known:
            raise ValueError(f"{path}: no setting {key!r}{suggestion(key, known)} (settings are {', '.join(known)})")
    agents = settings.get("agents")
    if isinstance(agents, list):
        moved = {spec: relocate_spec(spec, path.parent) for spec in agents if isinstance(spec, str) and spec.strip()}
        for key in ("agents", "believe"):  # an agent to believe may be given by its spec
            if isinstance(given := settings.get(key), list):
                settings[key] = [moved.get(each, each) if isinstance(each, str) else each for each in given]
    if isinstance(values := settings.get("values"), str) and values.strip():
        settings["values"] = relocate_spec(values, path.parent)
    return settings


@functools.cache
def package_digest() -> str:
    """Return a hash of this package's sources: changed code may change results."""
    digest = hashlib.sha256(__version__.encode())
    package = Path(__file__).resolve().parents[2]
    for folder in ("abstraction", "agents", "evaluation", "tournaments"):
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _check_types(config: TournamentConfig) -> None:
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        expected = int if field.name == "seed" else type(field.default)
        if field.name == "seed" and value is None:
            continue
        if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
            raise ValueError(f"{field.name} must be {_TYPE_NAMES[expected]}, got {value!r}")
    for name in ("agents", "believe"):
        if not all(isinstance(spec, str) for spec in getattr(config, name)):
            raise ValueError(f"{name} must be a list of texts, got {list(getattr(config, name))}")


_TYPE_NAMES = {tuple: "a list of texts", str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _fill(config: TournamentConfig) -> None:
    """Set the seats, format, values, seed and deals that were not given; refuse seats and values that do not fit."""
    num_agents = len(config.agents)
    if config.game:
        seats = parse_game(config.game).num_seats
        if config.seats not in (0, seats):
            raise ValueError(f"the game has {seats} seats, got seats {config.seats}")
    elif config.seats == 0:
        seats = _CROWD_SEATS if num_agents > _CROWD or config.format.startswith("lineup-") else num_agents
    else:
        seats = config.seats
    if not 2 <= seats <= _CROWD:
        raise ValueError(f"a table has 2..{_CROWD} seats, got {seats}; set seats, or give more agents")
    object.__setattr__(config, "seats", seats)
    if config.uses_aivat:
        object.__setattr__(config, "values", choose_values(config.rules, config.values))
    elif config.values:
        raise ValueError(f"values are for AIVAT, which the score {config.score!r} does not use; leave out values")
    if not config.format:
        object.__setattr__(config, "format", "lineup" if num_agents == seats else "round-robin")
    if config.seed is None and not config.outsiders:
        object.__setattr__(config, "seed", DEFAULT_SEED)
    if not config.deals:
        object.__setattr__(config, "deals", DEALS[0])


def default_rules(seats: int) -> HoldemRules:
    """Return the game that is played if only the number of seats is given: no-limit hold'em, 200 bb heads-up, else 100.

    >>> default_rules(6).stacks[0] // default_rules(6).big_blind
    100
    """
    return HUNL if seats == 2 else no_limit_holdem(seats)


def _check_contestants(config: TournamentConfig) -> None:
    """Refuse names in `believe` that no outside agent has, and a number of agents that the format does not allow."""
    num_agents, seats = len(config.agents), config.seats
    for name in config.believe:
        named = [number for number in range(num_agents) if name in (config.names[number], config.agents[number])]
        if not named:
            raise ValueError(f"believe {name!r}: no agent of that name (the agents are {', '.join(config.names)})")
        if not config.outsiders.issuperset(named):
            raise ValueError(f"believe {name!r}: agents of this package are always believed; leave that name out")
    if config.format == "lineup" and num_agents != seats:
        raise ValueError(f"a lineup needs one agent for each of the {seats} seats, got {num_agents}")
    if config.format == "round-robin" and num_agents < seats:
        raise ValueError(
            f"a round-robin needs at least {seats} agents for {seats} seats, got {num_agents}; "
            f"repeat agents{'' if config.game else ', lower the seats'}, or use the format gauntlet"
        )
    if config.format.startswith("lineup-") and (num_agents != 2 or seats < 3):
        raise ValueError(
            f"{config.format} needs two agents and three seats or more, got {num_agents} agents and {seats} seats"
        )
    if config.format == "gauntlet" and num_agents < 2:
        raise ValueError("a gauntlet needs an agent and at least one opponent")
